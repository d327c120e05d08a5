/*
 * Measuring the TSC against another counter.
 *
 *     other counter   ...n n n n n|n+1 n+1 ...
 *     TSC readings        a     b   c              the change was between a and c: the edge, with its slack
 *
 * What is known for certain is when the other counter changed: between the TSC's value before the
 * last reading of the old value and its value after the first reading of the new one. The tighter
 * that bracket, the better. What the host or a system management interrupt steals makes some
 * brackets wide, so of several the tightest is taken. From two such edges come a lower and an upper
 * bound of the frequency, which are true whatever happened in between, unless a narrow counter
 * wrapped unseen: then two measurements are made, and have to overlap.
 *
 * Under QEMU's -icount a reading takes one instruction, a nanosecond: the bracket is a loop's
 * length, and after 200,000 instructions the figure is exact, each time.
 */
#include <asm/clock.h>
#include <lib/errno.h>

#include "calibrate.h"

#define TRIES	    8	      /* edges; the tightest one counts */
#define STUCK_READS 10000     /* a counter that shows the same so many times stands: the slowest ticks each 0.9 us */
#define ENOUGH_PPM  200	      /* the bounds' distance from their middle; that is closer to the truth by far */
#define MIN_TSC	    150000    /* cycles at least: 0.15 ms at 1 GHz, 0.04 ms at 4 GHz */
#define MAX_TSC	    20000000  /* at most, where readings are slow: 20 ms at 1 GHz, 5 ms at 4 GHz */
#define WIDE	    0xffffff  /* a counter of that many bits does not wrap unseen: it would take seconds */
#define ROUND_HZ    100000000 /* the base clock that frequencies are multiples of */
#define FS_PER_SEC  1000000000000000ULL

/* At `tsc`, give or take `slack`, the counter took the value `count`. */
struct edge {
	u64 tsc, slack;
	u32 count;
};
/* So many cycles, give or take `slack`, were so many ticks. */
struct span {
	u64 tsc, slack, ticks;
};

/* a * b / c, where that fits 64 bits though a * b does not: in C it would need the compiler's library. */
static u64 mul_div(u64 a, u64 b, u64 c)
{
	u64 high;

	__asm__("mulq %2\n\tdivq %3" : "+&a"(a), "=&d"(high) : "rm"(b), "rm"(c) : "cc");
	return a;
}

/*
 * Wait for the counter's next change and note when it was. Returns false if the counter stands. Not
 * traced, nor is what reads a counter: a record in the bracket would widen it.
 */
static notrace bool clock_next_edge(const struct calibration_counter *c, struct edge *edge)
{
	u64 before = rdtsc_ordered(), after;
	u32 old = c->read(), count;

	for (unsigned n = 0; n < STUCK_READS; n++) {
		u64 between = rdtsc_ordered();

		count = c->read();
		after = rdtsc_ordered();
		if (count != old) {
			*edge = (struct edge){.tsc = before + (after - before) / 2,
					      .slack = (after - before + 1) / 2,
					      .count = count};
			return true;
		}
		before = between;
	}
	return false;
}

/* The best of several edges: one that nothing interrupted. */
static bool tightest_edge(const struct calibration_counter *c, struct edge *best)
{
	struct edge edge;

	best->slack = U64_MAX;
	for (unsigned n = 0; n < TRIES; n++) {
		if (!clock_next_edge(c, &edge))
			return false;
		if (edge.slack < best->slack)
			*best = edge;
	}
	return true;
}

/* How far the bounds of the span are from its middle, in millionths. */
static u64 ppm(const struct span *s)
{
	return s->slack * 1000000 / s->tsc;
}

/*
 * Measure from one edge on until a second is far enough away for the slack to be small beside the
 * distance. Returns false if the counter stands.
 */
static bool measure_span(const struct calibration_counter *c, struct span *best)
{
	struct edge first = {0}, last = {0};
	struct span span;

	if (!tightest_edge(c, &first))
		return false;
	*best = (struct span){.tsc = 1, .slack = 1};
	do {
		if (!clock_next_edge(c, &last))
			return false;
		span = (struct span){last.tsc - first.tsc, last.slack + first.slack,
				     (last.count - first.count) & c->mask};
		if (span.tsc >= MIN_TSC && span.ticks && ppm(&span) < ppm(best))
			*best = span;
	} while (ppm(best) > ENOUGH_PPM && span.tsc < MAX_TSC);
	return best->ticks;
}

/*
 * Measure and turn the result into a range of Hz by `convert`. Where a wrap could go unseen, a
 * second range must overlap with the first; if it does not, more are tried. Returns 0 or -EIO.
 */
static int measure_range(const struct calibration_counter *c, struct hz_range *range,
			 struct hz_range (*convert)(const struct span *s, u64 unit), u64 unit)
{
	struct hz_range last = {0, c->mask >= WIDE ? U64_MAX : 0}, now;
	struct span span;

	for (unsigned n = 0; n < 5; n++) {
		if (!measure_span(c, &span))
			return -EIO;
		now = convert(&span, unit);
		range->low = max(now.low, last.low);
		range->high = min(now.high, last.high);
		if (range->low <= range->high)
			return 0;
		last = now;
	}
	return -EIO;
}

/* The TSC's frequency from a counter whose period is known. Bounds are rounded outwards. */
static struct hz_range tsc_range(const struct span *s, u64 period_fs)
{
	u64 fs = s->ticks * period_fs;

	return (struct hz_range){mul_div(s->tsc - s->slack, FS_PER_SEC, fs),
				 mul_div(s->tsc + s->slack, FS_PER_SEC, fs) + 1};
}

/* A counter's frequency from the TSC's. Bounds are rounded outwards. */
static struct hz_range counter_range(const struct span *s, u64 tsc_hz)
{
	return (struct hz_range){mul_div(s->ticks, tsc_hz, s->tsc + s->slack),
				 mul_div(s->ticks, tsc_hz, s->tsc - s->slack) + 1};
}

int calibrate_tsc(const struct calibration_counter *c, struct hz_range *range)
{
	return measure_range(c, range, tsc_range, c->period_fs);
}

int calibrate_counter(const struct calibration_counter *c, u64 tsc_hz, struct hz_range *range)
{
	return measure_range(c, range, counter_range, tsc_hz);
}

u64 hz_plausible(struct hz_range range)
{
	u64 middle = range.low + (range.high - range.low) / 2, round = (middle + ROUND_HZ / 2) / ROUND_HZ * ROUND_HZ;

	return round >= range.low && round <= range.high ? round : middle;
}
