/*
 * /proc/<pid>/oom_score_adj, oom_score and, for old programs, oom_adj: how likely the OOM killer takes the
 * process.
 *
 * The score is computed at each read (oom_badness). oom_score_adj shifts it: -1000 is never, 0 is as it is,
 * 1000 is first. oom_adj is the same value on an older scale of -17 to 15.
 */
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/page.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <sched/current.h>

#include "oom.h"

/* The ends of oom_adj's scale: -17 is never, 15 is first. */
#define OOM_DISABLE    (-17)
#define OOM_ADJUST_MAX 15

/*
 * Thousandths of the memory, on Linux's scale: a process without memory has two thirds of a thousand, and
 * one that is never killed has 0.
 */
static int oom_score_show(struct seq_file *m, struct task_struct *t)
{
	long total = totalram_pages(), badness = oom_badness(t->group_leader, total);

	seq_printf(m, "%ld\n", badness == LONG_MIN ? 0 : (1000 + badness * 1000 / total) * 2 / 3);
	return 0;
}

static int oom_score_adj_show(struct seq_file *m, struct task_struct *t)
{
	seq_printf(m, "%d\n", READ_ONCE(t->signal->oom_score_adj));
	return 0;
}

/* Read a whole number between min and max, with blanks around it or not. Returns 0 or -EINVAL. */
static int parse_number(const char *text, int min, int max, int *v)
{
	char number[16];

	if (strscpy(number, text, sizeof(number)) < 0 || kstrtoint(strim(number), 0, v))
		return -EINVAL;
	return *v < min || *v > max ? -EINVAL : 0;
}

static int oom_score_adj_store(struct task_struct *t, const char *text, size_t len)
{
	int adj, err = parse_number(text, OOM_SCORE_ADJ_MIN, OOM_SCORE_ADJ_MAX, &adj);

	return err ? err : oom_set_score_adj(t, adj, false);
}

/*
 * Convert to the old scale. The upper end is treated apart: 1000 * 17 / 1000 would be 17, which that scale
 * does not have.
 */
static int oom_adj_show(struct seq_file *m, struct task_struct *t)
{
	int adj = READ_ONCE(t->signal->oom_score_adj);

	seq_printf(m, "%d\n",
		   adj == OOM_SCORE_ADJ_MAX ? OOM_ADJUST_MAX
					    : min(adj * -OOM_DISABLE / OOM_SCORE_ADJ_MAX, OOM_ADJUST_MAX));
	return 0;
}

/* Convert from the old scale, and tell once that it is deprecated, in Linux's words. */
static int oom_adj_store(struct task_struct *t, const char *text, size_t len)
{
	int adj, err = parse_number(text, OOM_DISABLE, OOM_ADJUST_MAX, &adj);

	if (err)
		return err;
	pr_warn_once("%s (%d): /proc/%d/oom_adj is deprecated, please use /proc/%d/oom_score_adj instead.\n",
		     current->comm, current->pid, t->pid, t->pid);
	adj = adj == OOM_ADJUST_MAX ? OOM_SCORE_ADJ_MAX : adj * OOM_SCORE_ADJ_MAX / -OOM_DISABLE;
	return oom_set_score_adj(t, adj, true);
}

static const struct proc_pid_entry oom_score_entry = {.name = "oom_score", .mode = 0444, .show = oom_score_show};
static const struct proc_pid_entry oom_score_adj_entry = {
	.name = "oom_score_adj", .mode = 0644, .show = oom_score_adj_show, .store = oom_score_adj_store};
static const struct proc_pid_entry oom_adj_entry = {
	.name = "oom_adj", .mode = 0644, .show = oom_adj_show, .store = oom_adj_store};
REGISTER_PROC_PID(oom_score_entry);
REGISTER_PROC_PID(oom_score_adj_entry);
REGISTER_PROC_PID(oom_adj_entry);
