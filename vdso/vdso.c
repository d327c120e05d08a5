/*
 * The vDSO: functions that the kernel gives to every program (vdso(7)). They read the clock as the kernel itself does,
 * from the machine's counter and the page `vvar`, and make the system call when the counter is not theirs to read, and
 * for clocks that measure the use of a CPU.
 *
 * This file runs in user mode, linked by itself (vdso.lds.S). It has no data of its own and calls nothing outside.
 */
#include <lib/types.h>
#define VDSO_BUILD
#include <time/vdso.h>
#include <uapi/time.h>

#include "machine.h"

#define NS_PER_SEC 1000000000UL

/* The clocks of posix_clock.c that come from the counter, as bits: all of them, and those of the wall. */
#define COARSE_CLOCKS (1u << CLOCK_REALTIME_COARSE | 1u << CLOCK_MONOTONIC_COARSE)
#define WALL_CLOCKS   (1u << CLOCK_REALTIME | 1u << CLOCK_REALTIME_COARSE | 1u << CLOCK_TAI)
#define ALL_CLOCKS                                                                                        \
	(WALL_CLOCKS | 1u << CLOCK_MONOTONIC | 1u << CLOCK_MONOTONIC_RAW | 1u << CLOCK_MONOTONIC_COARSE | \
	 1u << CLOCK_BOOTTIME)

/* The page below this code (vdso.lds.S). The kernel changes it at any time, hence volatile. */
extern const volatile struct vdso_data vvar __attribute__((visibility("hidden")));

int VDSO(clock_gettime)(int clock, struct timespec *ts);
int VDSO(clock_getres)(int clock, struct timespec *ts);
int VDSO(gettimeofday)(struct timeval *tv, struct timezone *tz);
long VDSO(time)(long *seconds);

static bool is_one_of(int clock, unsigned clocks)
{
	return (unsigned)clock < 32 && clocks >> clock & 1;
}

/*
 * The time in ns. False: ask the kernel. The sequence count is looked at before and after; why no mix of two settings
 * comes out is argued above its writer (kernel/time/vdso_data.c).
 */
static __always_inline bool read_clock(bool wall, u64 *ns)
{
	u64 cycles, mult, offset;
	u32 seq;

	do {
		seq = __atomic_load_n(&vvar.seq, __ATOMIC_ACQUIRE);
		if (!vvar.counter)
			return false;
		mult = vvar.mult;
		offset = vvar.wall_offset;
		cycles = vdso_counter();
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (seq & 1 || vvar.seq != seq);
	*ns = (u64)((unsigned __int128)cycles * mult >> 32) + (wall ? offset : 0);
	return true;
}

int VDSO(clock_gettime)(int clock, struct timespec *ts)
{
	u64 ns;

	if (!is_one_of(clock, ALL_CLOCKS) || !read_clock(is_one_of(clock, WALL_CLOCKS), &ns))
		return vdso_syscall(NR_clock_gettime, clock, (long)ts);
	ts->tv_sec = ns / NS_PER_SEC;
	ts->tv_nsec = ns % NS_PER_SEC;
	return 0;
}

/* One nanosecond, as far as a program can tell. The kernel knows how long a tick is, a coarse clock's resolution. */
int VDSO(clock_getres)(int clock, struct timespec *ts)
{
	if (!is_one_of(clock, ALL_CLOCKS) || is_one_of(clock, COARSE_CLOCKS))
		return vdso_syscall(NR_clock_getres, clock, (long)ts);
	if (ts)
		*ts = (struct timespec){0, 1};
	return 0;
}

/* The time zone is known to the kernel alone, and nearly no program asks for it. */
int VDSO(gettimeofday)(struct timeval *tv, struct timezone *tz)
{
	u64 ns;

	if (!tv || tz || !read_clock(true, &ns))
		return vdso_syscall(NR_gettimeofday, (long)tv, (long)tz);
	tv->tv_sec = ns / NS_PER_SEC;
	tv->tv_usec = ns % NS_PER_SEC / 1000;
	return 0;
}

/* Exported on x86_64 only; elsewhere the linker drops it. */
long VDSO(time)(long *seconds)
{
	u64 ns;
	long now;

	if (read_clock(true, &ns)) {
		now = ns / NS_PER_SEC;
	} else {
		struct timeval tv;

		vdso_syscall(NR_gettimeofday, (long)&tv, 0);
		now = tv.tv_sec;
	}
	if (seconds)
		*seconds = now;
	return now;
}
