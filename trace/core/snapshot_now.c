/*
 * Snapshots from anywhere: from a trigger or a function command, with interrupts off and locks held, nobody can wait
 * for the other CPUs. Our CPU's part is exchanged here and now, the others are left pending (core/aside.h): their
 * rings' next writers exchange them, before they write. So what was recorded before is in the snapshot, what comes
 * later in the buffer, and nothing is lost in between.
 */
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/sched.h>

#include "aside.h"

struct trace_snapshot *trace_snapshot_begin(struct trace_array *tr, const struct task_struct *task)
{
	struct trace_max *max = tr->max;
	struct trace_snapshot *snapshot = trace_max_unheld(max);
	u64 now = trace_clock_now(tr);

	if (!snapshot)
		return NULL;
	snapshot->cpus = cpu_possible_mask;
	snapshot->time_zero = snapshot->time_start = tr->time_start;
	snapshot->time_end = now;
	snapshot->latency = 0;
	snapshot->critical_start = snapshot->critical_end = 0;
	snapshot->cpu = task->cpu;
	trace_max_describe(snapshot, task);
	WRITE_ONCE(tr->time_start, now);
	for (unsigned i = 0; i < ARRAY_SIZE(max->pending.bits); i++)
		WRITE_ONCE(max->pending.bits[i], cpu_possible_mask.bits[i]);
	return snapshot;
}

/* Under the max lock: whose part is pending now shall hear of it with his next record. */
static void ask_writers(struct trace_array *tr)
{
	unsigned cpu;

	for_each_cpu(cpu, &tr->max->pending)
		ring_buffer_want_exchange(tr->buffer, cpu, true);
}

bool trace_snapshot_take_now(struct trace_array *tr)
{
	unsigned long flags = max_lock(tr->max);
	bool may = !tr->max->active;
	struct trace_snapshot *snapshot = NULL;

	if (may && trace_max_may_take_any(tr->max))
		snapshot = trace_snapshot_begin(tr, current);

	if (snapshot) {
		/* -EBUSY: we have interrupted a writer. Then it is the next one here, too. */
		trace_max_exchange_here(tr, snapshot);
		ask_writers(tr);
	}
	max_unlock(tr->max, flags);
	return may;
}

int tracing_arm_snapshot(struct trace_array *tr)
{
	int ret;

	mutex_lock(&trace_types_lock);
	ret = tracing_expand(tr) ?: trace_max_alloc(tr);
	mutex_unlock(&trace_types_lock);
	return ret;
}

int tracing_alloc_snapshot(void)
{
	return tracing_arm_snapshot(&global_trace);
}

/* ---- What was left pending */

/* The next writer of this CPU calls it. What cannot be done now is the next one's. */
static void exchange_at_write(void *arg)
{
	struct trace_array *tr = arg;

	if (in_nmi())
		return;
	/* In this order: a snapshot that comes in between may wish it again. */
	ring_buffer_want_exchange(tr->buffer, smp_processor_id(), false);
	if (trace_max_exchange_pending(tr))
		ring_buffer_want_exchange(tr->buffer, smp_processor_id(), true);
}

struct settling {
	struct trace_array *tr;
	int err;
};

static void settle_here(void *arg)
{
	struct settling *s = arg;

	s->err = trace_max_exchange_pending(s->tr);
}

void trace_snapshot_settle(struct trace_array *tr)
{
	struct settling s = {.tr = tr};
	unsigned cpu;

	if (!tr->max->newest || tr->max->active)
		return;
	for_each_online_cpu(cpu)
		while (cpumask_test_cpu(cpu, &tr->max->pending)) {
			/* -EBUSY: into the middle of a write, which takes a few instructions more. */
			if (smp_call_function_single(cpu, settle_here, &s, true) || s.err != -EBUSY)
				break;
		}
}

void trace_snapshot_setup(struct trace_array *tr)
{
	ring_buffer_set_exchange(tr->buffer, exchange_at_write, tr);
}
