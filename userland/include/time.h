/* newlib's <time.h>, with the kernel's clock numbers and the calls that newlib only declares for some
 * systems. */
#include_next <time.h>
#ifndef VT_TIME_H
#define VT_TIME_H

#include <sys/types.h>
#include <sys/_timespec.h>

#undef CLOCK_REALTIME
#undef CLOCK_MONOTONIC
#undef TIMER_ABSTIME
#include <uapi/clock.h>

/* Return 0, or -1 with errno. */
int clock_gettime(clockid_t clock, struct timespec *now);
int clock_settime(clockid_t clock, const struct timespec *now);
/* left (may be NULL) gets what remains when a signal ends the sleep (errno EINTR). */
int nanosleep(const struct timespec *span, struct timespec *left);
/* Returns 0 or an error number, as POSIX has it; errno is left alone. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *span, struct timespec *left);

#endif
