/*
 * Tasklets (<irq/tasklet.h>): for each CPU two lists of them, one for HI_SOFTIRQ and one for TASKLET_SOFTIRQ.
 *
 * The code that sets TASKLET_STATE_SCHED may queue the tasklet, and the softirq clears it right before the call: so the
 * tasklet is in one list only. TASKLET_STATE_RUN is a lock: a CPU that finds it taken, since the tasklet runs on
 * another one, puts the tasklet back into its own list and tries again later.
 */
#include <arch/processor.h>
#include <irq/tasklet.h>
#include <kernel/export.h>
#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <sched/cpuhp.h>
#include <sched/wait.h>
#include <trace/events/irq.h>

/* First in, first out. [its CPU, interrupts off] */
struct tasklet_list {
	struct tasklet_struct *first, *last;
};
static DEFINE_PER_CPU(struct tasklet_list, tasklets);
static DEFINE_PER_CPU(struct tasklet_list, hi_tasklets);
/* tasklet_kill() waits here; woken after each tasklet. */
static DECLARE_WAIT_QUEUE_HEAD(tasklet_done);

void tasklet_setup(struct tasklet_struct *t, void (*callback)(struct tasklet_struct *t))
{
	*t = (struct tasklet_struct){.callback = callback};
}
EXPORT_SYMBOL(tasklet_setup);

void tasklet_init(struct tasklet_struct *t, void (*func)(unsigned long data), unsigned long data)
{
	*t = (struct tasklet_struct){.func = func, .data = data};
}
EXPORT_SYMBOL(tasklet_init);

/* Append to a list of this CPU and have it served. Context: interrupts off. */
static void append_tasklet(struct tasklet_list *list, struct tasklet_struct *t, int softirq)
{
	t->next = NULL;
	if (list->first)
		list->last->next = t;
	else
		list->first = t;
	list->last = t;
	raise_softirq_irqoff(softirq);
}

void noinline tasklet_schedule(struct tasklet_struct *t)
{
	unsigned long flags;

	if (test_and_set_bit(TASKLET_STATE_SCHED, &t->state))
		return;
	local_irq_save(flags);
	append_tasklet(this_cpu_ptr(&tasklets), t, TASKLET_SOFTIRQ);
	local_irq_restore(flags);
}
EXPORT_SYMBOL(tasklet_schedule);

void noinline tasklet_hi_schedule(struct tasklet_struct *t)
{
	unsigned long flags;

	if (test_and_set_bit(TASKLET_STATE_SCHED, &t->state))
		return;
	local_irq_save(flags);
	append_tasklet(this_cpu_ptr(&hi_tasklets), t, HI_SOFTIRQ);
	local_irq_restore(flags);
}
EXPORT_SYMBOL(tasklet_hi_schedule);

void tasklet_disable(struct tasklet_struct *t)
{
	atomic_inc(&t->count);
	smp_mb(); /* the count before the look at RUN: pairs with serve_tasklets() */
	while (test_bit(TASKLET_STATE_RUN, &t->state))
		cpu_relax();
	smp_mb();
}
EXPORT_SYMBOL(tasklet_disable);

void tasklet_enable(struct tasklet_struct *t)
{
	WARN_ON(atomic_dec_return(&t->count) < 0);
}
EXPORT_SYMBOL(tasklet_enable);

/*
 * With the SCHED bit set here, the tasklet is in no list and cannot be queued; then only its run is waited for. Another
 * task that kills the same tasklet meanwhile waits for the bit, and no run of the tasklet wakes it any more.
 */
void tasklet_kill(struct tasklet_struct *t)
{
	WARN_ON(in_interrupt());
	wait_event(&tasklet_done, !test_and_set_bit(TASKLET_STATE_SCHED, &t->state));
	wait_event(&tasklet_done, !test_bit(TASKLET_STATE_RUN, &t->state));
	smp_mb(); /* what its function has written is seen by what the caller does next */
	clear_bit(TASKLET_STATE_SCHED, &t->state);
	wake_up_all(&tasklet_done);
}
EXPORT_SYMBOL(tasklet_kill);

/*
 * With RUN held. When RUN is cleared, a task that waits for the tasklet's end may free it. So it is not touched after
 * that, and the waiters are woken through a queue that is not a part of it.
 */
static void run_tasklet(struct tasklet_struct *t)
{
	void *fn = t->callback ? (void *)t->callback : (void *)t->func;

	WARN_ON(!test_and_clear_bit(TASKLET_STATE_SCHED, &t->state));
	trace_tasklet_entry(t, fn);
	if (t->callback)
		t->callback(t);
	else
		t->func(t->data);
	trace_tasklet_exit(t, fn);
	__atomic_fetch_and(&t->state, ~BIT(TASKLET_STATE_RUN), __ATOMIC_RELEASE);
	wake_up_all(&tasklet_done);
}

/*
 * Serve what was in the list when the softirq began. One that is disabled, or runs elsewhere, goes back into the list.
 * Code that disables it raises the count before it looks at RUN, and we take RUN before we look at the count: one of
 * the two sees the other.
 */
static void serve_tasklets(struct tasklet_list *list, int softirq)
{
	struct tasklet_struct *t, *next;

	local_irq_disable();
	t = list->first;
	list->first = NULL;
	local_irq_enable();
	for (; t; t = next) {
		next = t->next;
		if (!test_and_set_bit(TASKLET_STATE_RUN, &t->state)) {
			smp_mb();
			if (!atomic_read(&t->count)) {
				run_tasklet(t);
				continue;
			}
			__atomic_fetch_and(&t->state, ~BIT(TASKLET_STATE_RUN), __ATOMIC_RELEASE);
		}
		local_irq_disable();
		append_tasklet(list, t, softirq);
		local_irq_enable();
	}
}

static void tasklet_action(void)
{
	serve_tasklets(this_cpu_ptr(&tasklets), TASKLET_SOFTIRQ);
}

static void tasklet_hi_action(void)
{
	serve_tasklets(this_cpu_ptr(&hi_tasklets), HI_SOFTIRQ);
}

/* Tasklets of a CPU that is gone are behind this CPU's. Context: interrupts off. */
static void take_over(struct tasklet_list *here, struct tasklet_list *dead, int softirq)
{
	struct tasklet_struct *t, *next;

	for (t = dead->first; t; t = next) {
		next = t->next;
		append_tasklet(here, t, softirq);
	}
	dead->first = NULL;
}

static int tasklets_cpu_dead(unsigned cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	take_over(this_cpu_ptr(&tasklets), per_cpu_ptr(&tasklets, cpu), TASKLET_SOFTIRQ);
	take_over(this_cpu_ptr(&hi_tasklets), per_cpu_ptr(&hi_tasklets, cpu), HI_SOFTIRQ);
	local_irq_restore(flags);
	return 0;
}
static const struct cpuhp_step tasklets_step = {
	.name = "irq:tasklets", .stage = CPUHP_PREPARE, .down = tasklets_cpu_dead};
REGISTER_CPUHP(tasklets_step);

static int tasklets_init(void)
{
	open_softirq(TASKLET_SOFTIRQ, tasklet_action);
	open_softirq(HI_SOFTIRQ, tasklet_hi_action);
	return 0;
}
core_initcall(tasklets_init);
