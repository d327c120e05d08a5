/* Of time, what a wait is told: a number of jiffies, or no end. */
#pragma once

#define HZ		     250
#define MAX_SCHEDULE_TIMEOUT LONG_MAX
