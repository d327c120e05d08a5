/* trace_stat/functionN: the profile of a CPU, in Linux's form: what took most time is first. */
#include <lib/string.h>

#include "core/aside.h"
#include "ftrace/internal.h"
#include "tracefs/stat.h"
#include "tracers/graph/graph.h"
#include "profile.h"

/* A function with what was counted for it, as of the moment when the file was opened. */
struct profile_row {
	unsigned rec;
	struct profile_count count;
};

/* Each function may have been called. */
static unsigned profile_max_rows(int cpu)
{
	return ftrace_nr_recs;
}

/* Without a call that began on this CPU there is nothing to divide by. With tracing_thresh, as Linux, what takes less
 * on the average is left out. */
static bool is_shown(const struct profile_count *count)
{
	u64 thresh = READ_ONCE(tracing_thresh);

	return count->hits && (!thresh || count->time / count->hits >= thresh);
}

/* The lock keeps the profile from being switched off, which frees its counts, between two rows. */
static unsigned profile_collect(int cpu, void *to, unsigned max)
{
	struct profile_row *rows = to;
	unsigned n = 0;

	mutex_lock(&trace_types_lock);
	for (unsigned rec = 0; rec < max && profile_read(cpu, rec, &rows[n].count); rec++) {
		rows[n].rec = rec;
		n += is_shown(&rows[n].count);
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

/* Bit by bit: there is no instruction for it, and this is for a reader. */
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

/* (n * sum of squares - square of sum) / (n * (n - 1)), of the calls that returned; at most what 64 bits hold. */
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

/* Four blanks and microseconds with up to three places, as Linux's columns have them. */
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

	seq_printf(m, "  %-30.30s  %10llu", ftrace_rec_name(&ftrace_recs[row->rec]), (unsigned long long)count->hits);
	put_time(m, count->time);
	put_time(m, count->time / count->hits);
	put_time(m, profile_variance(count));
	seq_putc(m, '\n');
}

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
