/*
 * /proc/PID/sched: a task as its scheduling class sees it. The names of the lines are Linux's; times are in
 * milliseconds with six decimals, so the digits behind the point are nanoseconds.
 */
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <lib/printf.h>
#include <proc/signal.h>

#include "../sched.h"

/* A copy of what is shown, taken with the runqueue locked: the lines belong to one moment. */
struct sched_view {
	struct sched_entity se;
	u64 nvcsw, nivcsw;
	unsigned policy;
	int prio;
	s64 dl_left;
	u64 dl_deadline;
};

/*
 * Take the copy under pi_lock and the runqueue lock. It is printed later, as printing takes far longer than a runqueue
 * may stay locked. A running task is charged first, as its times are otherwise those of the last tick or switch.
 */
static void sched_view_take(struct task_struct *p, struct sched_view *v)
{
	unsigned long flags;
	struct rq *rq = task_rq_lock(p, &flags);

	if (task_current(rq, p) && p->on_rq) {
		update_rq_clock(rq);
		p->sched_class->update_curr(rq);
	}
	*v = (struct sched_view){.se = p->se,
				 .nvcsw = p->nvcsw,
				 .nivcsw = p->nivcsw,
				 .policy = p->policy,
				 .prio = p->prio,
				 .dl_left = p->dl.left,
				 .dl_deadline = p->dl.deadline};
	task_rq_unlock(rq, p, flags);
}

/* Milliseconds with six decimals; virtual run times may lie below zero. */
static void show_ns(struct seq_file *m, const char *name, s64 ns)
{
	s64 ms = ns / (s64)NSEC_PER_MSEC, rest = ns % (s64)NSEC_PER_MSEC;

	seq_printf(m, "%-45s:%14lld.%06lld\n", name, (long long)ms, (long long)(rest < 0 ? -rest : rest));
}

static void show_number(struct seq_file *m, const char *name, s64 v)
{
	seq_printf(m, "%-45s:%21lld\n", name, (long long)v);
}

/* Context: a reader of the file, which holds a reference on p. */
static int sched_show(struct seq_file *m, struct task_struct *p)
{
	struct sched_view v;

	sched_view_take(p, &v);
	seq_printf(m, "%s (%d, #threads: %d)\n", p->comm, p->pid, READ_ONCE(p->signal->nr_threads));
	seq_puts(m, "-------------------------------------------------------------------\n");
	show_ns(m, "se.exec_start", v.se.exec_start);
	show_ns(m, "se.vruntime", v.se.vruntime);
	show_ns(m, "se.sum_exec_runtime", v.se.sum_exec_runtime);
	show_number(m, "se.nr_migrations", v.se.nr_migrations);
	show_number(m, "nr_switches", v.nvcsw + v.nivcsw);
	show_number(m, "nr_voluntary_switches", v.nvcsw);
	show_number(m, "nr_involuntary_switches", v.nivcsw);
	show_number(m, "se.load.weight", v.se.weight);
	show_number(m, "policy", v.policy);
	show_number(m, "prio", v.prio);
	if (v.policy == SCHED_DEADLINE) {
		show_number(m, "dl.runtime", v.dl_left);
		show_number(m, "dl.deadline", v.dl_deadline);
	}
	return 0;
}

static const struct proc_pid_entry sched_entry = {.name = "sched", .mode = 0444, .show = sched_show};
REGISTER_PROC_PID(sched_entry);
