/*
 * The maximum of a latency tracer: taken where it ends, kept while readers look at it.
 *
 * The max lock is a bare spinlock with interrupts off: we are called from where interrupts go on and off, with
 * runqueue locks held, and must neither be traced nor measured. What it guards is a handful of words and the
 * exchange of rings; nobody allocates, copies or waits under it.
 */
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>

#include "trace_max.h"

u64 tracing_thresh;

static unsigned long max_lock(struct trace_max *max)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	arch_spin_lock(&max->lock);
	return flags;
}

static void max_unlock(struct trace_max *max, unsigned long flags)
{
	arch_spin_unlock(&max->lock);
	raw_local_irq_restore(flags);
}

int trace_max_init(struct trace_array *tr)
{
	tr->max = kzalloc(sizeof(*tr->max), GFP_KERNEL);
	if (!tr->max)
		return -ENOMEM;
	spin_lock_init(&tr->max->lock);
	tr->max->epoch = 1;
	return 0;
}

/* ---- Taking. Interrupts off, in the section's own CPU. */

/* Ours. The array's buffer keeps what the one set aside held before: older than any section to come. */
static bool exchange_here(struct trace_array *tr, struct trace_snapshot *snapshot)
{
	int cpu = smp_processor_id();

	if (ring_buffer_swap_cpu(tr->buffer, snapshot->buffer, cpu))
		return false;
	cpumask_clear_cpu(cpu, &tr->max->pending);
	tr->cpu_data[cpu].max_exchanges++;
	return true;
}

void trace_max_exchange_pending(struct trace_array *tr)
{
	unsigned long flags = max_lock(tr->max);

	/* A reader may have copied it since we looked, or another maximum have replaced it. */
	if (cpumask_test_cpu(smp_processor_id(), &tr->max->pending))
		exchange_here(tr, tr->max->newest);
	max_unlock(tr->max, flags);
}

/*
 * Was recording on all the time, on each CPU, from trace_max_begin on? The other CPUs' words were written before
 * the section came to us. The barrier: who finds recording on again finds the epoch that came before.
 */
static bool section_is_whole(struct trace_array *tr, const struct trace_section *section)
{
	unsigned cpu;
	u64 epoch;

	for_each_cpu (cpu, &section->cpus)
		if (!ring_buffer_cpu_is_on(tr->cpu_data[cpu].buffer))
			return false;
	smp_rmb();
	epoch = READ_ONCE(tr->max->epoch);
	for_each_cpu (cpu, &section->cpus)
		if (READ_ONCE(tr->cpu_data[cpu].max_epoch) != epoch)
			return false;
	return true;
}

/* Whom readers hold is theirs from now on. NULL: nothing is allocated. Under the max lock. */
static struct trace_snapshot *unheld_newest(struct trace_max *max)
{
	if (max->newest && max->newest->readers) {
		max->newest = max->spare;
		max->spare = NULL;
	}
	return max->newest;
}

/* The fields are the task's own; who changes them meanwhile makes the header say the one or the other. */
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

static void describe(struct trace_array *tr, struct trace_snapshot *snapshot, const struct trace_section *section)
{
	snapshot->cpus = section->cpus;
	snapshot->time_start = section->first ? section->first : section->start;
	snapshot->time_end = trace_clock_now(tr);
	snapshot->latency = section->end - section->start;
	snapshot->critical_start = section->critical_start;
	snapshot->critical_end = section->critical_end;
	snapshot->cpu = smp_processor_id();
	trace_max_describe(snapshot, section->task);
}

void trace_max_take(struct trace_array *tr, const struct trace_section *section)
{
	struct trace_max *max = tr->max;
	struct trace_snapshot *snapshot;
	unsigned long flags = max_lock(max);

	/* Asked again: another CPU may have been quicker with a longer one. */
	if (!trace_max_wanted(tr, section->end - section->start) || !section_is_whole(tr, section))
		goto unlock;
	snapshot = unheld_newest(max);
	if (!snapshot)
		goto unlock;
	describe(tr, snapshot, section);
	WRITE_ONCE(max->latency, snapshot->latency);
	/* What an older maximum had pending is of no use any more: it stays where it is. */
	for (unsigned i = 0; i < ARRAY_SIZE(max->pending.bits); i++)
		WRITE_ONCE(max->pending.bits[i], section->cpus.bits[i]);
	exchange_here(tr, snapshot);
unlock:
	max_unlock(max, flags);
}

void trace_max_set_latency(struct trace_array *tr, u64 ns)
{
	unsigned long flags = max_lock(tr->max);

	WRITE_ONCE(tr->max->latency, ns);
	max_unlock(tr->max, flags);
}

/* ---- Recording is interrupted */

void trace_max_break(struct trace_array *tr)
{
	__atomic_fetch_add(&tr->max->epoch, 1, __ATOMIC_SEQ_CST);
}

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

/*
 * Held objects change their size too: the newest records stay. Not so those that readers still have of older
 * maxima; they will not be used again then (see fits).
 */
int trace_max_resize(struct trace_array *tr, unsigned long bytes, int cpu)
{
	struct trace_buffer *buffers[RB_RESIZE_MAX] = {tr->buffer};
	unsigned long flags;
	unsigned n = 1;
	int ret;

	trace_max_pause(tr);
	flags = max_lock(tr->max);
	if (tr->max->newest)
		buffers[n++] = tr->max->newest->buffer;
	if (tr->max->spare)
		buffers[n++] = tr->max->spare->buffer;
	max_unlock(tr->max, flags);
	ret = ring_buffer_resize_together(buffers, n, bytes, cpu);
	trace_max_resume(tr);
	return ret;
}

/* ---- Objects. trace_types_lock held. */

static void snapshot_free(struct trace_snapshot *snapshot)
{
	if (!snapshot)
		return;
	ring_buffer_free(snapshot->buffer);
	kfree(snapshot);
}

static bool fits(struct trace_array *tr, struct trace_snapshot *snapshot)
{
	unsigned cpu;

	for_each_possible_cpu (cpu)
		if (ring_buffer_size(snapshot->buffer, cpu) != ring_buffer_size(tr->buffer, cpu))
			return false;
	return true;
}

static struct trace_snapshot *snapshot_alloc(struct trace_array *tr)
{
	struct trace_snapshot *snapshot = kzalloc(sizeof(*snapshot), GFP_KERNEL);
	unsigned cpu;

	if (!snapshot)
		return NULL;
	snapshot->buffer = ring_buffer_alloc(ring_buffer_size(tr->buffer, 0), RB_FL_OVERWRITE);
	if (!snapshot->buffer)
		goto free_snapshot;
	for_each_possible_cpu (cpu)
		if (ring_buffer_size(tr->buffer, cpu) != ring_buffer_size(tr->buffer, 0) &&
		    ring_buffer_resize(snapshot->buffer, ring_buffer_size(tr->buffer, cpu), cpu))
			goto free_snapshot;
	return snapshot;

free_snapshot:
	snapshot_free(snapshot);
	return NULL;
}

int trace_max_alloc(struct trace_array *tr)
{
	struct trace_snapshot *snapshot;
	unsigned long flags;

	if (tr->max->newest)
		return 0;
	snapshot = snapshot_alloc(tr);
	if (!snapshot)
		return -ENOMEM;
	flags = max_lock(tr->max);
	tr->max->newest = snapshot;
	max_unlock(tr->max, flags);
	return 0;
}

/* A second object, so that a reader can hold the first. */
static int alloc_spare(struct trace_array *tr)
{
	struct trace_snapshot *snapshot;
	unsigned long flags;

	if (tr->max->spare)
		return 0;
	snapshot = snapshot_alloc(tr);
	if (!snapshot)
		return -ENOMEM;
	flags = max_lock(tr->max);
	tr->max->spare = snapshot;
	max_unlock(tr->max, flags);
	return 0;
}

void trace_max_free(struct trace_array *tr)
{
	struct trace_max *max = tr->max;
	unsigned long flags = max_lock(max);
	struct trace_snapshot *newest = max->newest, *spare = max->spare;

	if (newest && newest->readers)
		newest = NULL; /* the last of them frees it */
	max->newest = max->spare = NULL;
	max->pending = (struct cpumask){};
	max_unlock(max, flags);
	snapshot_free(newest);
	snapshot_free(spare);
}

static void clear_all(struct trace_max *max)
{
	struct trace_snapshot *snapshot = unheld_newest(max);

	if (snapshot)
		snapshot->cpus = (struct cpumask){};
	max->pending = (struct cpumask){};
}

void trace_max_clear(struct trace_array *tr, int cpu)
{
	struct trace_max *max = tr->max;
	unsigned long flags = max_lock(max);

	if (cpu == RING_BUFFER_ALL_CPUS_FILE)
		clear_all(max);
	else if (max->newest && cpumask_test_cpu(cpu, &max->newest->cpus)) {
		/* A section without one of its CPUs is none. A snapshot may well do without. */
		if (max->newest->latency)
			clear_all(max);
		else
			cpumask_clear_cpu(cpu, &max->newest->cpus);
	}
	max_unlock(max, flags);
}

void trace_max_reset(struct trace_array *tr)
{
	struct trace_max *max = tr->max;

	trace_max_clear(tr, RING_BUFFER_ALL_CPUS_FILE);
	/* A maximum that comes now finds them being reset and is left pending. */
	if (max->newest)
		ring_buffer_reset(max->newest->buffer);
	if (max->spare)
		ring_buffer_reset(max->spare->buffer);
}

struct trace_snapshot *trace_max_fresh(struct trace_array *tr)
{
	struct trace_snapshot *snapshot;

	trace_max_clear(tr, RING_BUFFER_ALL_CPUS_FILE);
	snapshot = tr->max->newest;
	ring_buffer_reset(snapshot->buffer);
	return snapshot;
}

/* ---- A tracer's begin and end */

int trace_max_start(struct trace_array *tr)
{
	int ret = tracing_expand(tr);

	if (!ret)
		ret = trace_max_alloc(tr);
	if (ret)
		return ret;
	trace_max_reset(tr);
	trace_max_set_latency(tr, 0);
	tr->max->active = true;
	trace_max_break(tr);
	return 0;
}

void trace_max_stop(struct trace_array *tr)
{
	if (!tr->max->active)
		return;
	tr->max->active = false;
	trace_max_free(tr);
}

/* ---- Readers. trace_types_lock held. */

/* What a reader still has to copy of what it holds. */
struct parts {
	struct cpumask cpus;
	u64 exchanges[NR_CPUS]; /* how often the CPU's ring had been exchanged when we took hold */
};

/* NULL: a maximum has taken the spare one just now, as somebody held the other. */
static struct trace_snapshot *hold(struct trace_array *tr, struct parts *parts)
{
	struct trace_max *max = tr->max;
	unsigned long flags = max_lock(max);
	struct trace_snapshot *snapshot = max->spare ? max->newest : NULL;
	unsigned cpu;

	if (snapshot) {
		snapshot->readers++;
		parts->cpus = max->pending;
		for_each_cpu (cpu, &parts->cpus)
			parts->exchanges[cpu] = tr->cpu_data[cpu].max_exchanges;
		max->pending = (struct cpumask){};
	}
	max_unlock(max, flags);
	return snapshot;
}

/*
 * The section's records on one CPU, from the array's buffer while that is written to. We write to a ring of
 * another CPU: nobody else does, as the object is held and has no CPU pending, and readers wait for us.
 */
static int copy_part(struct trace_array *tr, struct trace_snapshot *snapshot, int cpu)
{
	struct ring_buffer_per_cpu *to = ring_buffer_cpu(snapshot->buffer, cpu);
	struct ring_buffer_iter *iter = ring_buffer_read_start(tr->buffer, cpu);
	struct ring_buffer_event *event, *copy;
	u64 ts;

	if (!iter)
		return -ENOMEM;
	ring_buffer_reset_cpu(snapshot->buffer, cpu);
	for (; (event = ring_buffer_iter_peek(iter, &ts)) && ts <= snapshot->time_end; ring_buffer_iter_advance(iter)) {
		if (ts < snapshot->time_start)
			continue;
		copy = ring_buffer_reserve(to, ring_buffer_event_length(event), ts);
		if (!copy)
			continue; /* counted as dropped */
		memcpy(ring_buffer_event_data(copy), ring_buffer_event_data(event), ring_buffer_event_length(event));
		ring_buffer_commit(to);
	}
	ring_buffer_read_finish(iter);
	return 0;
}

/* It did not come to holding it: what we were to copy is pending again, unless there is a newer maximum. */
static void give_up(struct trace_array *tr, struct trace_snapshot *snapshot, const struct parts *parts)
{
	unsigned long flags = max_lock(tr->max);

	if (tr->max->newest == snapshot)
		tr->max->pending = parts->cpus;
	max_unlock(tr->max, flags);
	trace_snapshot_put(tr, snapshot);
}

/* Has a newer maximum taken away the ring that we were copying from? */
static bool parts_are_stale(struct trace_array *tr, const struct parts *parts)
{
	unsigned long flags = max_lock(tr->max);
	bool stale = false;
	unsigned cpu;

	for_each_cpu (cpu, &parts->cpus)
		stale |= parts->exchanges[cpu] != tr->cpu_data[cpu].max_exchanges;
	max_unlock(tr->max, flags);
	return stale;
}

static int copy_parts(struct trace_array *tr, struct trace_snapshot *snapshot, const struct parts *parts)
{
	unsigned cpu;
	int ret = 0;

	for_each_cpu (cpu, &parts->cpus) {
		ret = copy_part(tr, snapshot, cpu);
		if (ret)
			break;
	}
	return ret;
}

struct trace_snapshot *trace_snapshot_get(struct trace_array *tr)
{
	struct trace_snapshot *snapshot;
	struct parts parts;

	while (tr->max->newest) {
		if (alloc_spare(tr))
			return ERR_PTR(-ENOMEM);
		snapshot = hold(tr, &parts);
		if (!snapshot)
			continue;
		if (copy_parts(tr, snapshot, &parts)) {
			give_up(tr, snapshot, &parts);
			return ERR_PTR(-ENOMEM);
		}
		if (!parts_are_stale(tr, &parts))
			return snapshot;
		/* Only a newer maximum exchanges that ring: show that one. */
		trace_snapshot_put(tr, snapshot);
	}
	return NULL;
}

/* The last reader of what is not `newest` any more leaves it as the spare, or frees it. */
void trace_snapshot_put(struct trace_array *tr, struct trace_snapshot *snapshot)
{
	struct trace_max *max = tr->max;
	bool useful = fits(tr, snapshot), unused;
	unsigned long flags = max_lock(max);

	unused = --snapshot->readers == 0 && snapshot != max->newest;
	if (unused && max->newest && !max->spare && useful) {
		max->spare = snapshot;
		unused = false;
	}
	max_unlock(max, flags);
	if (unused)
		snapshot_free(snapshot);
}
