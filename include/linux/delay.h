/* Waiting: msleep() sleeps, in thread context; udelay() spins, in any. */
#pragma once

#include <linux/jiffies.h>
#include <time/clock.h>

#define mdelay(ms) ndelay((ms) * (u64)NSEC_PER_MSEC)
#define fsleep(us) usleep_range(us, 2 * (us))
static inline void ssleep(unsigned seconds)
{
	msleep(seconds * 1000);
}
