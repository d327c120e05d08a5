/*
 * The constant-bandwidth server's arithmetic, without locks or clocks, so that the host can test it.
 *
 * L. Abeni, G. Buttazzo: "Integrating Multimedia Applications in Hard Real-Time Systems", RTSS 1998 (the
 * server); L. Abeni, G. Lipari, A. Parri, Y. Sun: "Multicore CPU reclaiming: parallel or sequential?", SAC 2016
 * and Linux's Documentation/scheduler/sched-deadline.rst (deadlines shorter than the period).
 */
#pragma once

#include <sched/dl_params.h>

#define BW_SHIFT 20 /* bandwidths are fractions of 2^20, as Linux has them */
#define BW_UNIT	 (1ULL << BW_SHIFT)

/* runtime / period, rounded down. Times too long for the shift lose low bits: below one part in 2^43. */
static inline u64 to_ratio(u64 period, u64 runtime)
{
	while (runtime >> (64 - BW_SHIFT)) {
		runtime >>= 1;
		period >>= 1;
	}
	return period ? (runtime << BW_SHIFT) / period : 0;
}

/* What sched_setattr(2) takes: 1024 ns <= runtime <= deadline <= period, the period between the two limits. */
static inline bool dl_params_valid(const struct dl_params *dl, u64 min_period, u64 max_period)
{
	if (dl->runtime < 1024 || dl->runtime > dl->deadline || dl->deadline > dl->period)
		return false;
	return !(dl->period >> 63) && dl->period >= min_period && dl->period <= max_period;
}

static inline bool dl_is_implicit(const struct dl_params *dl)
{
	return dl->deadline == dl->period;
}

/*
 * The wake-up rule: would `left` ns until a deadline that is `laxity` ns away be more than runtime / deadline?
 * left / laxity > runtime / deadline, multiplied out: both products are exact in 128 bits.
 */
static inline bool dl_overflow(const struct dl_params *dl, u64 laxity, u64 left)
{
	return (unsigned __int128)left * dl->deadline > (unsigned __int128)laxity * dl->runtime;
}

/* The most that a constrained server may use until its deadline without exceeding its density. */
static inline u64 dl_revised_runtime(const struct dl_params *dl, u64 laxity)
{
	return (u64)(((unsigned __int128)laxity * to_ratio(dl->deadline, dl->runtime)) >> BW_SHIFT);
}

/* Where the period after the one with this deadline begins. */
static inline u64 dl_next_period(const struct dl_params *dl, u64 deadline)
{
	return deadline + (dl->period - dl->deadline);
}

/*
 * Replenish: add whole budgets, each with a period, until something is left; a budget that was overrun is paid for so.
 * It is one division and no loop, since a machine that stood still may owe any number of them. The deadline stays below
 * 2^63.
 */
static inline void dl_postpone(const struct dl_params *dl, s64 *left, u64 *deadline)
{
	unsigned __int128 later;
	u64 n = 0;

	if (!dl->runtime)
		__builtin_unreachable(); /* admission asked for a budget */
	if (*left <= 0)
		n = -(u64)*left / dl->runtime + 1;
	later = (unsigned __int128)n * dl->period + *deadline;
	*left += (s64)(n * dl->runtime);
	*deadline = later >> 63 ? (u64)S64_MAX : (u64)later;
}
