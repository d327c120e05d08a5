/*
 * Soft lockups: a task that keeps its CPU with preemption off for seconds. Most often it waits for a spinlock that it
 * holds itself, or its loop has no end. Nothing else runs on that CPU, so a session at its prompt just falls silent;
 * the report tells where the task is.
 *
 * Interrupts still come, so the tick counts: one tick after the other that finds the same task with preemption off, and
 * no switch to another in between. What is preempted or runs in user mode does not lock up the CPU however long it
 * runs. With interrupts off there is no tick, and nothing is reported.
 *
 * The file watchdog_thresh is Linux's: a report comes after twice so many seconds, and again after as many; 0: never.
 */
#include <arch/stacktrace.h>
#include <asm/ptrace.h>
#include <fs/libfs.h>
#include <irq/irq.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <time/hrtimer.h>

#include "../sched.h"

#define THRESH_MAX 60
static unsigned watchdog_thresh = 10; /* seconds [a] */

/* Locks: c the CPU itself, in its tick. */
struct stuck {
	u64 switches;	/* [c] rq->nr_switches when this began */
	unsigned ticks; /* [c] so many since then have found preemption off */
};
static DEFINE_PER_CPU(struct stuck, stuck);

static void report(const struct stuck *s, const struct task_struct *curr)
{
	struct pt_regs *regs = get_irq_regs();

	pr_emerg("watchdog: BUG: soft lockup - CPU#%u stuck for %us! [%s:%d]\n", smp_processor_id(), s->ticks / HZ,
		 curr->comm, curr->pid);
	if (regs)
		show_regs(regs);
	show_stack(NULL, regs);
}

void check_soft_lockup(const struct rq *rq, bool user)
{
	unsigned limit = 2 * READ_ONCE(watchdog_thresh) * HZ;
	struct stuck *s = this_cpu_ptr(&stuck);

	if (user || preempt_count() == HARDIRQ_OFFSET || s->switches != rq->nr_switches) {
		s->switches = rq->nr_switches;
		s->ticks = 0;
	} else if (++s->ticks && limit && s->ticks % limit == 0) {
		report(s, rq->curr);
	}
}

static int thresh_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", READ_ONCE(watchdog_thresh));
	return 0;
}

static int thresh_store(char *text, void *data)
{
	unsigned seconds;

	if (kstrtouint(text, 10, &seconds) || seconds > THRESH_MAX)
		return -EINVAL;
	WRITE_ONCE(watchdog_thresh, seconds);
	return 0;
}

static const struct text_file thresh_entry = {
	.path = "sys/kernel/watchdog_thresh", .mode = 0644, .show = thresh_show, .store = thresh_store};
REGISTER_PROC(thresh_entry);
