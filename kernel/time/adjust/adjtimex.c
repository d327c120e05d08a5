/*
 * adjtimex(2) and clock_adjtime(2), for reading. The wall clock runs by the machine's counter and nobody steers it,
 * so they say what Linux says of a clock that no program has set: not synchronized, and of unknown error. To change
 * its rate is EPERM for everybody, as without CAP_SYS_TIME.
 */
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <proc/syscall.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <time/ktime.h>
#include <time/posix.h>

#define ADJ_OFFSET_SS_READ 0xa001u /* the one mode that only reads */
#define STA_UNSYNC	   0x40
#define TIME_ERROR	   5
#define UNKNOWN_ERROR	   16000000 /* microseconds */
#define MAX_FREQUENCY	   (500L << 16)
#define TICK_US		   10000

/* Linux's struct, 208 bytes. */
struct timex {
	u32 modes;
	s64 offset, freq, maxerror, esterror;
	int status;
	s64 constant, precision, tolerance;
	struct timeval time;
	s64 tick, ppsfreq, jitter;
	int shift;
	s64 stabil, jitcnt, calcnt, errcnt, stbcnt;
	int tai;
	int reserved[11];
};
static_assert(sizeof(struct timex) == 208, "as on Linux");

/* The caller's structure says by its modes what is to be set, and is overwritten by what there is. */
static long do_adjtimex(struct timex __user *utx)
{
	struct timex tx, now = {
				 .maxerror = UNKNOWN_ERROR,
				 .esterror = UNKNOWN_ERROR,
				 .status = STA_UNSYNC,
				 .constant = 2,
				 .precision = 1,
				 .tolerance = MAX_FREQUENCY,
				 .tick = TICK_US,
			 };

	if (copy_from_user(&tx, utx, sizeof(tx)))
		return -EFAULT;
	if (tx.modes && tx.modes != ADJ_OFFSET_SS_READ)
		return -EPERM;
	now.modes = tx.modes;
	now.time = ns_to_timeval(ktime_get_real_ns());
	return copy_to_user(utx, &now, sizeof(now)) ? -EFAULT : TIME_ERROR;
}

SYSCALL_DEFINE1(adjtimex, struct timex __user *, txc_p)
{
	return do_adjtimex(txc_p);
}

/* Only the wall clock can be steered; other clocks that there are give -EOPNOTSUPP. */
SYSCALL_DEFINE2(clock_adjtime, const clockid_t, which_clock, struct timex __user *, utx)
{
	if (which_clock == CLOCK_REALTIME)
		return do_adjtimex(utx);
	return (unsigned)which_clock > CLOCK_TAI || which_clock == 10 ? -EINVAL : -EOPNOTSUPP;
}
