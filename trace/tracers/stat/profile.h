/* The function profiler: what it counts for each function on each CPU. */
#pragma once

#include <lib/types.h>
#include <trace/fgraph.h>

/* The calls of one function on one CPU. [that CPU, interrupts off; read by anybody] */
struct profile_count {
	u64 hits;	/* entries */
	u64 returns;	/* calls that returned here, wherever they began; time and squares are theirs */
	u64 time;	/* ns */
	u64 squares[2]; /* sum of the squares of those times in ns, low word first: five seconds fill one word */
};

/* The count of a record's function, as of one moment. False: never enabled. trace_types_lock. */
bool profile_read(int cpu, unsigned rec, struct profile_count *count);

/* tracers/stat/profile_show.c: sample variance in ns^2 / 1000; what is shown divides by 1000 once more. */
u64 profile_variance(const struct profile_count *count);
