/*
 * The clock: from the counter to nanoseconds, the wall clock, busy waiting. A rate is a factor of 32.32 bits, so a
 * conversion is one multiplication and one shift, without a division. Not traced: time stamps come from here.
 */
#include <arch/processor.h>
#include <kernel/export.h>
#include <lib/atomic.h>
#include <sched/wait.h>
#include <time/clock.h>
#include <time/vdso.h>

u64 clock_mult;
EXPORT_SYMBOL(clock_mult);
static u64 cycles_mult; /* cycles = (ns * mult) >> CLOCK_SHIFT [immutable after clock_init] */
DECLARE_WAIT_QUEUE_HEAD(clock_set_wait);
static u64 wall_offset; /* wall clock minus sched_clock, ns [atomic] */

/*
 * (to << CLOCK_SHIFT) / from, by whole and remainder, because a 128-bit division would need the compiler's library.
 * `from` is below 2^32, or the shift of the remainder would lose bits.
 */
u64 clocks_mult(u64 to, u64 from)
{
	u64 whole = to / from, rest = to % from;

	return (whole << CLOCK_SHIFT) + (rest << CLOCK_SHIFT) / from;
}

/* Before this call clock_mult is 0, and sched_clock() returns 0. */
void clock_init(u64 hz)
{
	cycles_mult = clocks_mult(hz, NSEC_PER_SEC);
	clock_mult = clocks_mult(NSEC_PER_SEC, hz);
}

u64 cycles_to_ns(u64 cycles)
{
	return clocks_scale(cycles, clock_mult);
}

u64 ns_to_cycles(u64 ns)
{
	unsigned __int128 c = (unsigned __int128)ns * cycles_mult + (1ULL << CLOCK_SHIFT) - 1;

	return (u64)(c >> CLOCK_SHIFT);
}

/*
 * The counter and the difference must belong together. A reader that is preempted between the two while the clock is
 * set would add the old counter to the new difference, and return a time before the one that was set. So it looks at
 * the difference again; the counter is read between the two looks.
 */
u64 ktime_get_real_ns(void)
{
	u64 offset, now;

	do {
		offset = READ_ONCE(wall_offset);
		now = sched_clock();
	} while (READ_ONCE(wall_offset) != offset);
	return now + offset;
}
EXPORT_SYMBOL(ktime_get_real_ns);

u64 wall_clock_offset(void)
{
	return READ_ONCE(wall_offset);
}

/*
 * The wall clock is one difference to the counter. It is one aligned word, so readers in the kernel see the old or the
 * new time and need no lock; programs read a copy.
 */
void set_wall_clock(u64 ns_since_1970)
{
	WRITE_ONCE(wall_offset, ns_since_1970 - sched_clock());
	vdso_update_clock();
	wake_up_all(&clock_set_wait);
}

/* The difference is compared as a signed number, so it would hold even when the clock wraps. */
void ndelay(u64 ns)
{
	u64 end = sched_clock() + ns;

	while ((s64)(sched_clock() - end) < 0)
		cpu_relax();
}
EXPORT_SYMBOL(ndelay);
