/* The task that the simulated CPU runs. */
#pragma once

extern struct task_struct *host_current;
#define get_current() host_current
