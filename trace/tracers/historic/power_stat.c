/*
 * trace_stat/power: how often and how long each CPU has been in each idle state since the boot. The kernel keeps these
 * numbers in any case (<sched/cpuidle.h>), so there is nothing to switch on.
 *
 *	# CPU STATE NAME      USAGE      TIME us   AVG us   MAX us
 *	# |     |    |          |           |         |        |
 *	   0    1   WFI        1204      5238021     4350    32012
 */
#include <kernel/smp.h>
#include <sched/cpuidle.h>

#include "trace_stat/stat.h"

struct power_row {
	unsigned cpu, state;
	struct cpuidle_usage usage;
};

static unsigned power_max_rows(int cpu)
{
	return nr_cpu_ids * CPUIDLE_STATES;
}

static unsigned power_collect(int cpu, void *to, unsigned max)
{
	struct power_row *rows = to;
	unsigned n = 0, i;

	for_each_online_cpu(i)
		for (unsigned state = 0; state < CPUIDLE_STATES && n < max; state++)
			rows[n++] = (struct power_row){i, state, cpuidle_usage_of(i, state)};
	return n;
}

static int power_cmp(const void *a, const void *b)
{
	const struct power_row *x = a, *y = b;

	return x->cpu != y->cpu ? (int)x->cpu - (int)y->cpu : (int)x->state - (int)y->state;
}

static void power_header(struct seq_file *m)
{
	seq_puts(m, "# CPU STATE NAME      USAGE      TIME us   AVG us   MAX us\n"
		    "# |     |    |          |           |         |        |\n");
}

static void power_show(struct seq_file *m, const void *v)
{
	const struct power_row *row = v;
	const struct cpuidle_usage *u = &row->usage;
	u64 average = u->usage ? u->time_ns / u->usage : 0;

	seq_printf(m, "%4u %4u   %-6s %8llu %12llu %8llu %8llu\n", row->cpu, row->state,
		   cpuidle_states[row->state].name, (unsigned long long)u->usage,
		   (unsigned long long)(u->time_ns / 1000), (unsigned long long)(average / 1000),
		   (unsigned long long)(u->max_ns / 1000));
}

static const struct trace_stat power_stat = {
	.name = "power",
	.row_size = sizeof(struct power_row),
	.max_rows = power_max_rows,
	.collect = power_collect,
	.cmp = power_cmp,
	.header = power_header,
	.show = power_show,
};
REGISTER_TRACE_STAT(power_stat);
