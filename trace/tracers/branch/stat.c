/*
 * How often the hints of this kernel were right, and in a kernel of `make BRANCH=all` also how often the condition of
 * each `if` was true: the files trace_stat/branch_annotated and branch_all, and the same under the names that Linux
 * 2.6.29 gave them, profile_annotated_branch and profile_branch in tracefs itself.
 *
 * The sites count by themselves (<lib/branch.h>), from the first line of C outside of boot/ on. Each CPU has its own
 * counters, which begin as copies of the per-CPU template, in which the boot CPU has counted until then. So a site's
 * count is that of the template plus what each CPU has beyond it. All numbers are read while they grow.
 */
#include <kernel/percpu.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/sort.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "trace_stat/stat.h"
#include "tracefs/tracefs.h"

DECLARE_TABLE(branch_annotated, const struct branch_site);
DECLARE_TABLE(branch_all, const struct branch_site);

/*
 * The address of this CPU's counter is found first, and the task may be on another CPU by the time it adds; an
 * interrupt may add to the same counter meanwhile. As the addition is atomic, neither loses a count, and because CPUs
 * have counters of their own, no CPU waits for another.
 */
notrace void branch_count(const struct branch_site *site, bool correct)
{
	struct branch_counts *counts = this_cpu_ptr(site->counts);

	__atomic_fetch_add(correct ? &counts->correct : &counts->incorrect, 1, __ATOMIC_RELAXED);
}

struct branch_row {
	const struct branch_site *site;
	u64 correct, incorrect;
};

static u64 percent_wrong(const struct branch_row *row)
{
	u64 all = row->correct + row->incorrect;

	return all ? row->incorrect * 100 / all : 0;
}

/* All CPUs' counts of one site. */
static struct branch_row read_site(const struct branch_site *site)
{
	const struct branch_counts *first = site->counts;
	u64 correct = READ_ONCE(first->correct), incorrect = READ_ONCE(first->incorrect);
	struct branch_row row = {.site = site, .correct = correct, .incorrect = incorrect};
	unsigned cpu;

	for_each_possible_cpu(cpu) {
		const struct branch_counts *counts = per_cpu_ptr(first, cpu);

		row.correct += READ_ONCE(counts->correct) - correct;
		row.incorrect += READ_ONCE(counts->incorrect) - incorrect;
	}
	return row;
}

/* By place: a hint in an inlined function is a site of each file that includes it. */
static int by_place(const void *a, const void *b)
{
	const struct branch_site *x = ((const struct branch_row *)a)->site, *y = ((const struct branch_row *)b)->site;
	int file = strcmp(x->file, y->file);

	if (file)
		return file;
	return x->line != y->line ? (x->line < y->line ? -1 : 1) : strcmp(x->func, y->func);
}

/* Most misses first; of the same number the larger share first, and then by place, so that the order is always one. */
static int by_misses(const void *a, const void *b)
{
	const struct branch_row *x = a, *y = b;

	if (x->incorrect != y->incorrect)
		return x->incorrect > y->incorrect ? -1 : 1;
	if (x->correct != y->correct)
		return x->correct < y->correct ? -1 : 1;
	return by_place(a, b);
}

/* Sites of one place are one row, with the sum of their counts. Returns how many rows there are then. */
static unsigned merge_places(struct branch_row *rows, unsigned n)
{
	unsigned last = 0;

	sort(rows, n, sizeof(*rows), by_place);
	for (unsigned i = 1; i < n; i++) {
		if (by_place(&rows[last], &rows[i]) == 0) {
			rows[last].correct += rows[i].correct;
			rows[last].incorrect += rows[i].incorrect;
		} else {
			rows[++last] = rows[i];
		}
	}
	return n ? last + 1 : 0;
}

static unsigned collect(const struct branch_site *const *from, const struct branch_site *const *to, void *rows)
{
	struct branch_row *row = rows;

	while (from < to)
		*row++ = read_site(*from++);
	return merge_places(rows, row - (struct branch_row *)rows);
}

/* ---- The columns, as tutorials of 2.6.30 show them. Those of branch_all say true and false of the condition. */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void annotated_header(struct seq_file *m)
{
	seq_puts(m, " correct incorrect    %      function            file        line\n");
	seq_puts(m, " ------- ----------  ---- ------------------ -------------- -----\n");
}

static void all_header(struct seq_file *m)
{
	seq_puts(m, " miss    hit          %      function            file        line\n");
	seq_puts(m, " ------- ----------  ---- ------------------ -------------- -----\n");
}

static void put_row(struct seq_file *m, u64 first, u64 second, const char *percent, const struct branch_site *site)
{
	seq_printf(m, " %-7llu %-11llu %-5s %-18s %-14s %d\n", (unsigned long long)first, (unsigned long long)second,
		   percent, site->func, base_name(site->file), site->line);
}

/* An X stands where nothing was counted, as in Linux. */
static void annotated_show(struct seq_file *m, const void *v)
{
	const struct branch_row *row = v;
	char percent[24] = "X";

	if (row->correct + row->incorrect)
		snprintf(percent, sizeof(percent), "%llu", (unsigned long long)percent_wrong(row));
	put_row(m, row->correct, row->incorrect, percent, row->site);
}

/* For an `if`, a "hit" means that its condition was true; the share is that of the hits. */
static void all_show(struct seq_file *m, const void *v)
{
	const struct branch_row *row = v;
	char percent[24] = "X";

	if (row->correct + row->incorrect)
		snprintf(percent, sizeof(percent), "%llu",
			 (unsigned long long)(row->correct * 100 / (row->correct + row->incorrect)));
	put_row(m, row->incorrect, row->correct, percent, row->site);
}

static unsigned annotated_max(int cpu)
{
	return __stop_ptrs_branch_annotated - __start_ptrs_branch_annotated;
}

static unsigned annotated_collect(int cpu, void *rows, unsigned max)
{
	return collect(__start_ptrs_branch_annotated, __stop_ptrs_branch_annotated, rows);
}

static unsigned all_max(int cpu)
{
	return __stop_ptrs_branch_all - __start_ptrs_branch_all;
}

static unsigned all_collect(int cpu, void *rows, unsigned max)
{
	return collect(__start_ptrs_branch_all, __stop_ptrs_branch_all, rows);
}

static const struct trace_stat branch_annotated_stat = {
	.name = "branch_annotated",
	.row_size = sizeof(struct branch_row),
	.max_rows = annotated_max,
	.collect = annotated_collect,
	.cmp = by_misses,
	.header = annotated_header,
	.show = annotated_show,
};
static const struct trace_stat branch_all_stat = {
	.name = "branch_all",
	.row_size = sizeof(struct branch_row),
	.max_rows = all_max,
	.collect = all_collect,
	.cmp = by_misses,
	.header = all_header,
	.show = all_show,
};
REGISTER_TRACE_STAT(branch_annotated_stat);
REGISTER_TRACE_STAT(branch_all_stat);

/* ---- The same as files of tracefs, where 2.6.29 had them */

static int show_all_rows(struct seq_file *m, const struct trace_stat *stat)
{
	struct branch_row *rows = kvzalloc((stat->max_rows(-1) + 1) * sizeof(*rows), GFP_KERNEL);
	unsigned n;

	if (!rows)
		return -ENOMEM;
	n = stat->collect(-1, rows, stat->max_rows(-1));
	sort(rows, n, sizeof(*rows), stat->cmp);
	stat->header(m);
	for (unsigned i = 0; i < n; i++)
		stat->show(m, &rows[i]);
	kvfree(rows);
	return 0;
}

static int profile_annotated_branch_show(struct seq_file *m, void *data)
{
	return show_all_rows(m, &branch_annotated_stat);
}

static int profile_branch_show(struct seq_file *m, void *data)
{
	return show_all_rows(m, &branch_all_stat);
}
TRACEFS_TEXT_FILE(profile_annotated_branch, "profile_annotated_branch", 0440, TRACEFS_TOP,
		  profile_annotated_branch_show, NULL);
TRACEFS_TEXT_FILE(profile_branch, "profile_branch", 0440, TRACEFS_TOP, profile_branch_show, NULL);
