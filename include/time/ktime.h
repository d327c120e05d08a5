/*
 * Arithmetic of times, without clocks or locks, so that the host can test it. A time is a ktime_t of 0 to
 * KTIME_MAX ns. KTIME_MAX (292 years) means "never". User space can ask for any 64-bit time, so a sum of two times must
 * saturate: one that overflowed would be negative, and a timer that is set to it would always be due.
 */
#pragma once

#include <lib/types.h>

#define KTIME_MAX     S64_MAX
#define KTIME_SEC_MAX (KTIME_MAX / NSEC_PER_SEC)

/* `span` ns after `at`, both 0 or more. */
static inline ktime_t ktime_add_safe(ktime_t at, ktime_t span)
{
	return span > KTIME_MAX - at ? KTIME_MAX : at + span;
}

/* Seconds (0 or more) and 0 to 999,999,999 ns. */
static inline ktime_t ktime_set(s64 sec, s64 nsec)
{
	return sec >= KTIME_SEC_MAX ? KTIME_MAX : sec * NSEC_PER_SEC + nsec;
}

/*
 * Move *expires past `now` by whole intervals of 1 ns or more. Returns how many: 0 when it lies after `now`
 * already. The sum of the intervals that lie in the past is `now` less a remainder, so only the last step can
 * overflow.
 */
static inline u64 ktime_forward(ktime_t *expires, ktime_t now, ktime_t interval)
{
	ktime_t late = now - *expires;

	if (late < 0 || interval <= 0)
		return 0;
	*expires = ktime_add_safe(now - late % interval, interval);
	return (u64)(late / interval) + 1;
}
