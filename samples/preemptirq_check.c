/*
 * For tests and figures, in debugfs's latency/:
 *
 *	hook_check	the tracer's state of each CPU at places where the truth is known; how often a hook did not fit
 *	hook_cost	what a pair of hooks costs, in ns
 *
 * irqsoff and its like must know at any time whether interrupts and preemption are on (tracers/preemptirq.c). The only
 * way to see that they do is to ask where the answer is known. With irqsoff selected a good line reads:
 *
 *	cpu0: nothing off: on, irqs off: off, preemption off: on, both off: off; lost: 0 begins, 0 ends
 */
#include <fs/libfs.h>
#include <irq/irqflags.h>
#include <irq/workqueue.h>
#include <mm/slab.h>
#include <sched/preempt.h>
#include <time/clock.h>

#include "../trace/tracers/irqsoff.h"

/* The four places at which the CPU's worker looks: nothing is off, one of the two, both. */
enum { CHECK_NONE_OFF, CHECK_IRQS_OFF, CHECK_PREEMPT_OFF, CHECK_BOTH_OFF, NR_CHECKS };
struct cpu_check {
	struct work_struct work;
	u8 state[NR_CHECKS];
};

/* One byte of this CPU. The worker is bound to it, so the right CPU is asked even where nothing is off. */
static u8 state_here(void)
{
	return READ_ONCE(this_cpu(critical_section).state);
}

/*
 * The order takes it through all four: irqs off, both off, preemption off, nothing off.
 *
 * The pair at the beginning makes the first state a certain one. Without it an interrupt that comes between the hook of
 * this worker's last preempt_enable and the change of its count leaves the state unknown, which is right: the interrupt
 * finds a count that no section stands for (tracers/preemptirq.c). Interrupts are off around it, so the same cannot
 * happen here.
 */
static void check_states(struct work_struct *work)
{
	struct cpu_check *check = container_of(work, struct cpu_check, work);

	local_irq_disable();
	preempt_disable();
	preempt_enable();
	local_irq_enable();
	check->state[CHECK_NONE_OFF] = state_here();
	local_irq_disable();
	check->state[CHECK_IRQS_OFF] = state_here();
	preempt_disable();
	check->state[CHECK_BOTH_OFF] = state_here();
	local_irq_enable();
	check->state[CHECK_PREEMPT_OFF] = state_here();
	preempt_enable();
}

/* lost_begins and lost_ends count hooks that did not fit the state, since the tracer was selected. */
static void show_cpu(struct seq_file *m, unsigned cpu, const struct cpu_check *check)
{
	static const char *const names[] = {
		[CRITICAL_NONE] = "unknown",
		[CRITICAL_ON] = "on",
		[CRITICAL_OFF] = "off",
		[CRITICAL_BUSY] = "busy",
	};
	const struct critical *c = per_cpu_ptr(&critical_section, cpu);

	seq_printf(m, "cpu%u: nothing off: %s, irqs off: %s, preemption off: %s, both off: %s", cpu,
		   names[check->state[CHECK_NONE_OFF]], names[check->state[CHECK_IRQS_OFF]],
		   names[check->state[CHECK_PREEMPT_OFF]], names[check->state[CHECK_BOTH_OFF]]);
	seq_printf(m, "; lost: %lu begins, %lu ends\n", READ_ONCE(c->lost_begins), READ_ONCE(c->lost_ends));
}

/*
 * Each CPU is looked at by its worker thread, where nothing is off but what the thread switches off itself. One CPU
 * after the other, as `check` is on this stack.
 */
static int hook_check_show(struct seq_file *m, void *unused)
{
	unsigned cpu;

	for_each_online_cpu(cpu) {
		struct cpu_check check = {};

		INIT_WORK(&check.work, check_states);
		queue_work_on(cpu, &check.work);
		flush_work(&check.work);
		show_cpu(m, cpu, &check);
	}
	return 0;
}

/* ---- What pairs cost, as compiled into code that calls nothing */

/* Many pairs, so that the two readings of the clock do not count. */
#define COST_PAIRS 1000

/* The loop alone, to be subtracted. */
static void noinline no_pairs(void)
{
	for (int i = 0; i < COST_PAIRS; i++)
		barrier();
}

/* The barriers keep the compiler from joining two rounds into one. */
static void noinline irq_pairs(void)
{
	for (int i = 0; i < COST_PAIRS; i++) {
		local_irq_disable();
		barrier();
		local_irq_enable();
	}
}

static void noinline preempt_pairs(void)
{
	for (int i = 0; i < COST_PAIRS; i++) {
		preempt_disable();
		barrier();
		preempt_enable();
	}
}

static u64 time_of(void (*loop)(void))
{
	u64 start = sched_clock();

	loop();
	return sched_clock() - start;
}

/* An interrupt during a loop would be counted, too, so the shortest of five runs is taken, of each loop. In ns. */
static u64 pair_cost(void (*loop)(void))
{
	u64 empty = ~0ULL, full = ~0ULL;

	for (int i = 0; i < 5; i++) {
		empty = min(empty, time_of(no_pairs));
		full = min(full, time_of(loop));
	}
	return full > empty ? (full - empty + COST_PAIRS / 2) / COST_PAIRS : 0;
}

static int hook_cost_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "interrupts off and on %llu ns\n", (unsigned long long)pair_cost(irq_pairs));
	seq_printf(m, "preemption off and on %llu ns\n", (unsigned long long)pair_cost(preempt_pairs));
	return 0;
}

/* A file latency/NAME, shown by NAME_show(). */
#define CHECK_FILE(name)                                                                                           \
	static const struct text_file name##_file = {.path = "latency/" #name, .mode = 0400, .show = name##_show}; \
	REGISTER_DEBUGFS(name##_file)

CHECK_FILE(hook_check);
CHECK_FILE(hook_cost);
