/*
 * For tests and figures, in debugfs's latency/: `hook_check` says what the tracer's state of each CPU is where the
 * truth is known, and how often a hook did not fit the state; `hook_cost` what a pair of hooks costs.
 */
#include <fs/libfs.h>
#include <irq/irqflags.h>
#include <irq/workqueue.h>
#include <mm/slab.h>
#include <sched/preempt.h>
#include <time/clock.h>

#include "../trace/tracers/irqsoff.h"

/* Where a worker of the CPU looks: nothing off, one of the two, both. */
enum { CHECK_NONE_OFF, CHECK_IRQS_OFF, CHECK_PREEMPT_OFF, CHECK_BOTH_OFF, NR_CHECKS };
struct cpu_check {
	struct work_struct work;
	u8 state[NR_CHECKS];
};

static u8 state_here(void)
{
	return READ_ONCE(this_cpu(critical_section).state);
}

static void check_states(struct work_struct *work)
{
	struct cpu_check *check = container_of(work, struct cpu_check, work);

	check->state[CHECK_NONE_OFF] = state_here();
	local_irq_disable();
	check->state[CHECK_IRQS_OFF] = state_here();
	preempt_disable();
	check->state[CHECK_BOTH_OFF] = state_here();
	local_irq_enable();
	check->state[CHECK_PREEMPT_OFF] = state_here();
	preempt_enable();
}

static void show_cpu(struct seq_file *m, unsigned cpu, const struct cpu_check *check)
{
	static const char *const names[] = {
		[CRITICAL_NONE] = "unknown",
		[CRITICAL_ON] = "on",
		[CRITICAL_OFF] = "off",
		[CRITICAL_BUSY] = "busy",
	};
	const struct critical *c = per_cpu_ptr(critical_section, cpu);

	seq_printf(m, "cpu%u: nothing off: %s, irqs off: %s, preemption off: %s, both off: %s", cpu,
		   names[check->state[CHECK_NONE_OFF]], names[check->state[CHECK_IRQS_OFF]],
		   names[check->state[CHECK_PREEMPT_OFF]], names[check->state[CHECK_BOTH_OFF]]);
	seq_printf(m, "; lost: %lu begins, %lu ends\n", READ_ONCE(c->lost_begins), READ_ONCE(c->lost_ends));
}

/* Each CPU is looked at by its worker thread, where nothing is off but what the thread switches off itself. */
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

#define COST_PAIRS 1000

static void noinline no_pairs(void)
{
	for (int i = 0; i < COST_PAIRS; i++)
		barrier();
}

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

/* An interrupt on the way would be counted too: the shortest of some. */
static u64 pair_cost(void (*loop)(void))
{
	u64 shortest = ~0ULL;

	for (int i = 0; i < 5; i++) {
		u64 empty = time_of(no_pairs), full = time_of(loop);

		shortest = min(shortest, full > empty ? full - empty : 0);
	}
	return shortest / COST_PAIRS;
}

static int hook_cost_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "interrupts off and on %llu ns\n", (unsigned long long)pair_cost(irq_pairs));
	seq_printf(m, "preemption off and on %llu ns\n", (unsigned long long)pair_cost(preempt_pairs));
	return 0;
}

#define CHECK_FILE(name)                                                                                           \
	static const struct text_file name##_file = {.path = "latency/" #name, .mode = 0400, .show = name##_show}; \
	REGISTER_DEBUGFS(name##_file)

CHECK_FILE(hook_check);
CHECK_FILE(hook_cost);
