/* The clock: counter frequency, wall clock, busy waiting. Not traced: time stamps come from here. */
#include <arch/processor.h>
#include <lib/atomic.h>
#include <time/clock.h>

u64 clock_mult;
static u64 cycles_mult; /* cycles = (ns * mult) >> CLOCK_SHIFT [immutable after clock_init] */
static u64 wall_offset; /* wall clock minus sched_clock, ns [atomic] */

/* (to << CLOCK_SHIFT) / from, by whole and remainder: a 128-bit division would need the compiler's library. */
u64 clocks_mult(u64 to, u64 from)
{
	u64 whole = to / from, rest = to % from;

	return (whole << CLOCK_SHIFT) + (rest << CLOCK_SHIFT) / from;
}

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

u64 ktime_get_real_ns(void)
{
	return sched_clock() + READ_ONCE(wall_offset);
}

/* One word: readers see the old or the new time. */
void set_wall_clock(u64 ns_since_1970)
{
	WRITE_ONCE(wall_offset, ns_since_1970 - sched_clock());
}

void ndelay(u64 ns)
{
	u64 end = sched_clock() + ns;

	while ((s64)(sched_clock() - end) < 0)
		cpu_relax();
}
