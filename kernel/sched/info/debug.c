/*
 * sched/debug in debugfs: what every runqueue holds, in short; and sched/features. Root alone can reach them there.
 */
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>

#include "../sched.h"

/*
 * Read without the runqueue lock, so a line may mix two moments. A lock here would disturb what is looked at, and a
 * file for debugging must work when a runqueue stays locked.
 */
static void show_rq(struct seq_file *m, int cpu)
{
	struct rq *rq = cpu_rq(cpu);
	struct task_struct *curr = READ_ONCE(rq->curr);

	seq_printf(m, "cpu#%d\n", cpu);
	seq_printf(m, "  .nr_running        : %u\n", rq->nr_running);
	seq_printf(m, "  .nr_switches       : %llu\n", (unsigned long long)rq->nr_switches);
	seq_printf(m, "  .nr_uninterruptible: %ld\n", rq->nr_uninterruptible);
	seq_printf(m, "  .clock             : %llu\n", (unsigned long long)rq->clock);
	seq_printf(m, "  .curr              : %s/%d\n", curr->comm, curr->pid);
	seq_printf(m, "  .cfs.nr_running    : %u\n", rq->cfs.nr_running);
	seq_printf(m, "  .cfs.load          : %lu\n", rq->cfs.load);
	seq_printf(m, "  .cfs.min_vruntime  : %lld\n", (long long)rq->cfs.min_vruntime);
	seq_printf(m, "  .rt.nr_running     : %u\n", rq->rt.nr_running);
	seq_printf(m, "  .dl.nr_running     : %u\n", rq->dl.nr_running);
	seq_printf(m, "  .idle_ns           : %llu\n\n", (unsigned long long)rq->idle_ns);
}

static int sched_debug_show(struct seq_file *m, void *v)
{
	unsigned cpu;

	seq_printf(m, "ktime                : %llu\n", (unsigned long long)sched_clock());
	seq_printf(m, "sched_latency_ns     : %ld\n", sched_latency_ns);
	seq_printf(m, "sched_min_granularity: %ld\n", sched_min_granularity_ns);
	seq_printf(m, "dl_total_bw          : %llu\n\n", (unsigned long long)dl_total_bw());
	rcu_read_lock(); /* curr's struct stays */
	for_each_online_cpu(cpu)
		show_rq(m, cpu);
	rcu_read_unlock();
	return 0;
}

static const struct text_file sched_debug_entry = {.path = "sched/debug", .mode = 0444, .show = sched_debug_show};
REGISTER_DEBUGFS(sched_debug_entry);

/*
 * Of Linux's switches of the scheduler those that programs look for, as they stand here for good: a timer ends the
 * budget of a deadline task to the instant, and a tick ends the slice of a fair one.
 */
static const char *const features[] = {"HRTICK_DL", "NO_HRTICK"};

static int sched_features_show(struct seq_file *m, void *v)
{
	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		seq_printf(m, "%s ", features[i]);
	seq_printf(m, "\n");
	return 0;
}

/* What is so already may be asked for. */
static int sched_features_store(char *text, void *v)
{
	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		if (!strcmp(text, features[i]))
			return 0;
	return -EINVAL;
}

static const struct text_file sched_features_entry = {
	.path = "sched/features", .mode = 0644, .show = sched_features_show, .store = sched_features_store};
REGISTER_DEBUGFS(sched_features_entry);
