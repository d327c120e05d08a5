/*
 * The maximum of a latency tracer: taken where it ends. What it is taken into is core/aside.c's.
 *
 * A tracer calls trace_max_begin() on each CPU before a section's first record, and trace_max_take() where the
 * section ends. When it is longer than all before, this CPU's ring changes places with the one set aside, and other
 * CPUs' rings are left pending:
 *
 *     CPU 0 (section ends here)   buffer <-> snapshot      at once
 *     CPU 1 (has records of it)   pending: exchanged before its next section, or copied by a reader
 *
 * The max lock is a bare spinlock with interrupts off: we are called from where interrupts go on and off, with
 * runqueue locks held, and must neither be traced nor measured. What it guards is a handful of words and the
 * exchange of rings; no code allocates, copies or waits under it.
 */
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>
#include <trace/tracepoint.h>

#include "aside.h"
#include "tracer.h"

u64 tracing_thresh;
unsigned max_locks[NR_CPUS]; /* of each CPU, how many max locks it holds or waits for */

/* Epochs begin at 1, because 0 in a CPU's max_epoch says that recording was off when the section began. */
int trace_max_init(struct trace_array *tr)
{
	tr->max = kzalloc(sizeof(*tr->max), GFP_KERNEL);
	if (!tr->max)
		return -ENOMEM;
	spin_lock_init(&tr->max->lock);
	tr->max->epoch = 1;
	return 0;
}

void trace_max_exit(struct trace_array *tr)
{
	if (tr->max)
		trace_max_free(tr);
	kfree(tr->max);
}

/* ---- Taking. Interrupts off, on the CPU where the section ends. */

/*
 * A maximum exchanges the rings as they are. A snapshot empties the ring that comes into the buffer. Under the max
 * lock, on `cpu`, or while that is not online.
 */
static int exchange_part(struct trace_array *tr, struct trace_snapshot *snapshot, int cpu)
{
	/*
	 * After a maximum the live buffer gets the old contents of the other one: they are older than any section to
	 * come.
	 */
	int err = snapshot->latency ? ring_buffer_swap_cpu(tr->buffer, snapshot->buffer, cpu)
				    : ring_buffer_swap_empty_cpu(tr->buffer, snapshot->buffer, cpu);

	if (err)
		return err;
	cpumask_clear_cpu(cpu, &tr->max->pending);
	tr->cpu_data[cpu].max_exchanges++;
	return 0;
}

int trace_max_exchange_here(struct trace_array *tr, struct trace_snapshot *snapshot)
{
	return exchange_part(tr, snapshot, smp_processor_id());
}

/*
 * A CPU that is not online does not write, and cannot come while this CPU has interrupts off: so its part may be
 * exchanged from here. One that a reader holds, or that cannot be exchanged now, stays pending.
 */
void trace_max_exchange_absent(struct trace_array *tr, struct trace_snapshot *snapshot)
{
	unsigned cpu;

	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu) && cpumask_test_cpu(cpu, &tr->max->pending))
			exchange_part(tr, snapshot, cpu);
}

/* On the CPU in question, before it records anything new. After an error the part stays pending. */
int trace_max_exchange_pending(struct trace_array *tr)
{
	unsigned long flags = max_lock(tr->max);
	int err = 0;

	/* A reader may have copied it since we looked, or another maximum have replaced it. */
	if (cpumask_test_cpu(smp_processor_id(), &tr->max->pending))
		err = trace_max_exchange_here(tr, tr->max->newest);
	max_unlock(tr->max, flags);
	return err;
}

/*
 * Was recording on all the time, on each CPU, from trace_max_begin on? What the other CPUs noted was written before the
 * section came to this CPU. The barrier makes sure that a CPU that finds recording on again also finds the epoch that
 * was raised before. The head of aside.c has the whole argument.
 */
static bool section_is_whole(struct trace_array *tr, const struct trace_section *section)
{
	unsigned cpu;
	u64 epoch;

	for_each_cpu(cpu, &section->cpus)
		if (!ring_buffer_cpu_is_on(tr->cpu_data[cpu].buffer))
			return false;
	smp_rmb();
	epoch = READ_ONCE(tr->max->epoch);
	for_each_cpu(cpu, &section->cpus)
		if (READ_ONCE(tr->cpu_data[cpu].max_epoch) != epoch)
			return false;
	return true;
}

/* The task may change these fields meanwhile: the header then shows the old value or the new one. */
void trace_max_describe(struct trace_snapshot *snapshot, const struct task_struct *task)
{
	snapshot->pid = task->pid;
	memcpy(snapshot->comm, task->comm, sizeof(snapshot->comm));
	snapshot->comm[sizeof(snapshot->comm) - 1] = '\0';
	snapshot->uid = READ_ONCE(task->uid);
	snapshot->policy = READ_ONCE(task->policy);
	snapshot->rt_priority = READ_ONCE(task->rt_priority);
	snapshot->nice = (int)READ_ONCE(task->static_prio) - (MAX_RT_PRIO + 20);
}

/*
 * Note what the header of `trace` shows, and the window of time and CPUs whose records belong to the section. Under
 * the max lock.
 */
static void describe(struct trace_array *tr, struct trace_snapshot *snapshot, const struct trace_section *section)
{
	snapshot->cpus = section->cpus;
	snapshot->time_start = section->first ? section->first : section->start;
	snapshot->time_zero = min(section->start, snapshot->time_start);
	snapshot->time_end = trace_clock_now(tr);
	snapshot->latency = section->end - section->start;
	snapshot->critical_start = section->critical_start;
	snapshot->critical_end = section->critical_end;
	snapshot->cpu = smp_processor_id();
	trace_max_describe(snapshot, section->task);
}

/*
 * The exchange of this CPU's own ring may fail (-EBUSY: an interrupted writer is inside). Then it stays pending
 * like those of other CPUs, and nothing is lost.
 */
void trace_max_take(struct trace_array *tr, const struct trace_section *section)
{
	struct trace_max *max = tr->max;
	struct trace_snapshot *snapshot;
	unsigned long flags = max_lock(max);

	/* Ask again under the lock: another CPU may have taken a longer one meanwhile. */
	if (!trace_max_wanted(tr, section->end - section->start) || !section_is_whole(tr, section))
		goto unlock;
	if (READ_ONCE(tracing_thresh) && !trace_max_may_take_any(max))
		goto unlock;
	snapshot = trace_max_unheld(max);
	if (!snapshot)
		goto unlock;
	describe(tr, snapshot, section);
	WRITE_ONCE(max->latency, snapshot->latency);
	/* Parts of an older maximum that are still pending belong to nothing any more: they stay where they are. */
	for (unsigned i = 0; i < ARRAY_SIZE(max->pending.bits); i++)
		WRITE_ONCE(max->pending.bits[i], section->cpus.bits[i]);
	trace_max_exchange_here(tr, snapshot);
unlock:
	max_unlock(max, flags);
}

void trace_max_set_latency(struct trace_array *tr, u64 ns)
{
	unsigned long flags = max_lock(tr->max);

	WRITE_ONCE(tr->max->latency, ns);
	max_unlock(tr->max, flags);
}

void trace_max_raise(struct trace_array *tr, u64 ns)
{
	unsigned long flags;

	if (ns <= READ_ONCE(tr->max->latency))
		return;
	flags = max_lock(tr->max);
	WRITE_ONCE(tr->max->latency, max(ns, tr->max->latency));
	max_unlock(tr->max, flags);
}

/* ---- Recording is interrupted */

void trace_max_break(struct trace_array *tr)
{
	__atomic_fetch_add(&tr->max->epoch, 1, __ATOMIC_SEQ_CST);
}

/*
 * Recording first, then the epoch: a section that began before has the old number, and one that begins now finds
 * recording off and notes 0. Neither is taken as whole.
 */
void trace_max_pause(struct trace_array *tr)
{
	if (!tr->max->active)
		return;
	ring_buffer_record_disable(tr->buffer);
	trace_max_break(tr);
}

void trace_max_resume(struct trace_array *tr)
{
	if (!tr->max->active)
		return;
	smp_mb(); /* the new contents, and the epoch, before recording */
	ring_buffer_record_enable(tr->buffer);
}

/* ---- A tracer's begin and end */

/*
 * The order makes every failure harmless: what can fail comes first, and is undone; options are saved before they are
 * changed, since the tracer's end gives them back.
 */
int trace_max_start(struct trace_array *tr)
{
	int ret = trace_clock_measures(tr->clock_id) ? tracing_expand(tr) : -EINVAL;

	if (!ret)
		ret = tracing_start_cmdline_record_later();
	if (ret)
		return ret;
	ret = trace_max_alloc(tr); /* last, because it is large: nothing that may fail comes after it */
	if (ret) {
		tracing_stop_cmdline_record_later();
		tracepoint_switch();
		return ret;
	}
	tr->max->saved_flags = tr->trace_flags;
	set_tracer_flag(tr, OPT_OVERWRITE, true);
	set_tracer_flag(tr, OPT_LATENCY_FMT, true);
	WRITE_ONCE(tr->max->active, true); /* a task that takes a snapshot has done so before the reset, or does not */
	trace_max_reset(tr);
	trace_max_set_latency(tr, 0);
	trace_max_break(tr);
	return 0;
}

void trace_max_restart(struct trace_array *tr)
{
	trace_max_pause(tr);
	trace_max_reset(tr);
	trace_max_set_latency(tr, 0);
	tracing_reset(tr, RING_BUFFER_ALL_CPUS);
	trace_max_resume(tr);
}

void trace_max_reset_live(struct trace_array *tr)
{
	trace_max_pause(tr);
	tracing_reset(tr, RING_BUFFER_ALL_CPUS);
	trace_max_resume(tr);
}

void trace_max_stop(struct trace_array *tr)
{
	u64 flags = tr->max->saved_flags;

	if (!tr->max->active)
		return;
	WRITE_ONCE(tr->max->active, false);
	trace_max_free(tr);
	set_tracer_flag(tr, OPT_LATENCY_FMT, flags & TRACE_ITER(LATENCY_FMT));
	set_tracer_flag(tr, OPT_OVERWRITE, flags & TRACE_ITER(OVERWRITE));
	tracing_stop_cmdline_record_later();
	tracepoint_switch();
}
