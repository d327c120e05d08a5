/*
 * The clock: 64-bit nanoseconds since the counter started, monotonic across CPUs, from the machine's free-running
 * counter (<asm/clock.h>) by multiplication. Not traced: it is what time stamps are made of.
 */
#pragma once

#include <asm/clock.h>
#include <lib/types.h>

#define CLOCK_SHIFT 32
extern u64 clock_mult; /* ns = (cycles * mult) >> CLOCK_SHIFT [immutable after clock_init]; 0: the clock stands */

/* Once, as early as the machine knows it: the counter's frequency. From then on sched_clock() runs. */
void clock_init(u64 hz);

/*
 * From one rate of counting to another: clocks_mult(to, from), in Hz, is the factor that clocks_scale()
 * takes. Cut off, not rounded: the error is below one part in 2^32 for `from` up to 4 GHz.
 */
u64 clocks_mult(u64 to, u64 from);
static __always_inline u64 clocks_scale(u64 count, u64 mult)
{
	return (u64)(((unsigned __int128)count * mult) >> CLOCK_SHIFT);
}

/*
 * Nanoseconds since the counter started (under QEMU: since reset). Any context. The product has 128 bits, so it is
 * exact for every value of the counter.
 */
static __always_inline u64 sched_clock(void)
{
	return clocks_scale(arch_read_counter(), clock_mult);
}
ktime_t ktime_get(void); /* the same as a function, for modules */
#define ktime_get() ((ktime_t)sched_clock())
/* Wall clock: nanoseconds since 1970, from the real-time clock read at boot (0 offset when there is none). */
u64 ktime_get_real_ns(void);
void set_wall_clock(u64 ns_since_1970);
void ndelay(u64 ns); /* spins */
#define udelay(us) ndelay((us)*1000ULL)
u64 cycles_to_ns(u64 cycles);
u64 ns_to_cycles(u64 ns); /* rounded up: an event set by it does not come early */
