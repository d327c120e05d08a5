/*
 * trace_stat/functionN: the profile of CPU N, in Linux's form; the function that took most time comes first:
 *
 *	  Function                               Hit    Time            Avg             s^2
 *	  --------                               ---    ----            ---             ---
 *	  schedule                               124    9021334 us      72752.70 us     103842.1 us
 *
 * The rows are collected and sorted when the file is opened (trace_stat/stat.h), so a reader sees one moment even if it
 * reads slowly. The counts themselves are read without stopping the CPU that counts (profile_read).
 */
#include <lib/string.h>

#include "core/aside.h"
#include "ftrace/internal.h"
#include "trace_stat/stat.h"
#include "tracers/graph/graph.h"
#include "profile.h"

/* A function with what was counted for it, as of the moment when the file was opened. */
struct profile_row {
	unsigned rec;
	struct profile_count count;
};

/* The room to allocate: each function may have been called. */
static unsigned profile_max_rows(int cpu)
{
	return ftrace_nr_recs;
}

/*
 * Was it called on this CPU? Without a hit there is no average. With tracing_thresh, functions whose average is less
 * are left out, as in Linux.
 */
static bool is_shown(const struct profile_count *count)
{
	u64 thresh = READ_ONCE(tracing_thresh);

	return count->hits && (!thresh || count->time / count->hits >= thresh);
}

/*
 * Fills `to` with the rows that are shown, and returns how many. The row behind the last one serves as scratch space
 * until it is known to be shown. The lock keeps the profiler from being enabled again between two rows, which sets its
 * counts to zero.
 */
static unsigned profile_collect(int cpu, void *to, unsigned max)
{
	struct profile_row *rows = to;
	unsigned n = 0;

	mutex_lock(&trace_types_lock);
	for (unsigned rec = 0; rec < max && profile_read(cpu, rec, &rows[n].count); rec++) {
		rows[n].rec = rec;
		n += test_bit(rec, ftrace_present_map) && is_shown(&rows[n].count);
	}
	mutex_unlock(&trace_types_lock);
	return n;
}

/* Most time first; equal ones in the order of addresses, so that two readings agree. */
static int profile_cmp(const void *a, const void *b)
{
	const struct profile_row *x = a, *y = b;

	if (x->count.time != y->count.time)
		return x->count.time > y->count.time ? -1 : 1;
	return x->rec < y->rec ? -1 : x->rec > y->rec;
}

/*
 * Long division, bit by bit. The machines have no instruction for 128 by 64 bits with a 128-bit quotient, and the
 * compiler's library is not linked in. It is slow, but only a reader of the file waits for it.
 */
static unsigned __int128 div_u128(unsigned __int128 n, u64 d)
{
	unsigned __int128 quotient = 0, rest = 0;

	for (int bit = 127; bit >= 0; bit--) {
		rest = rest << 1 | ((n >> bit) & 1);
		if (rest >= d) {
			rest -= d;
			quotient |= (unsigned __int128)1 << bit;
		}
	}
	return quotient;
}

/*
 * The sample variance from the sums alone, without a second pass: (n * sum of squares - square of sum) / (n * (n - 1)),
 * of the calls that returned. Linux divides by 1000 at two places, and so do we: here, and in put_time(). The result is
 * cut to 64 bits.
 */
u64 profile_variance(const struct profile_count *count)
{
	unsigned __int128 squares = (unsigned __int128)count->squares[1] << 64 | count->squares[0];
	u64 n = count->returns;

	if (n <= 1)
		return 0;
	squares = squares * n - (unsigned __int128)count->time * count->time;
	squares = div_u128(div_u128(squares, n), (n - 1) * 1000);
	return min(squares, (unsigned __int128)U64_MAX);
}

static void profile_header(struct seq_file *m)
{
	seq_puts(m, "  Function                               Hit    Time            Avg             s^2\n"
		    "  --------                               ---    ----            ---             ---\n");
}

/* Four blanks and microseconds with up to three decimal places, as in Linux's columns. */
static void put_time(struct seq_file *m, u64 ns)
{
	char text[40];

	seq_puts(m, "    ");
	seq_write(m, text, trace_put_us(text, ns) - text);
}

/* The function had at least one call, so the average exists. */
static void profile_show(struct seq_file *m, const void *v)
{
	const struct profile_row *row = v;
	const struct profile_count *count = &row->count;

	mutex_lock(&ftrace_lock); /* the name of a module's function goes with the module */
	seq_printf(m, "  %-30.30s  %10llu", ftrace_rec_name(&ftrace_recs[row->rec]), (unsigned long long)count->hits);
	mutex_unlock(&ftrace_lock);
	put_time(m, count->time);
	put_time(m, count->time / count->hits);
	put_time(m, profile_variance(count));
	seq_putc(m, '\n');
}

/* One file for each CPU, as the counts are kept by CPU: function0, function1 and so on. */
static const struct trace_stat profile_stat = {
	.name = "function",
	.per_cpu = true,
	.row_size = sizeof(struct profile_row),
	.max_rows = profile_max_rows,
	.collect = profile_collect,
	.cmp = profile_cmp,
	.header = profile_header,
	.show = profile_show,
};
REGISTER_TRACE_STAT(profile_stat);
