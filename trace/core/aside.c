/*
 * The buffers that are set aside: made, resized, emptied, and held by readers. Why maxima may come meanwhile:
 * docs/tricks.md, "Maxima are set aside while all CPUs go on".
 */
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "tracefs/tracefs.h"
#include "aside.h"

/* ---- Objects. trace_types_lock held, but for the first. */

struct trace_snapshot *trace_max_unheld(struct trace_max *max)
{
	if (max->newest && max->newest->readers) {
		max->newest = max->spare;
		max->spare = NULL;
	}
	return max->newest;
}

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

	for_each_possible_cpu(cpu)
		if (ring_buffer_size(snapshot->buffer, cpu) != ring_buffer_size(tr->buffer, cpu))
			return false;
	return snapshot->clock_id == tr->clock_id; /* or its old stamps would lie among new ones */
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
	for_each_possible_cpu(cpu)
		if (ring_buffer_size(tr->buffer, cpu) != ring_buffer_size(tr->buffer, 0) &&
		    ring_buffer_resize(snapshot->buffer, ring_buffer_size(tr->buffer, cpu), cpu))
			goto free_snapshot;
	snapshot->clock_id = tr->clock_id;
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
	struct trace_snapshot *snapshot = trace_max_unheld(max);

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

static void reset_rings(struct trace_array *tr, struct trace_snapshot *snapshot)
{
	ring_buffer_reset(snapshot->buffer);
	snapshot->clock_id = tr->clock_id;
}

void trace_max_reset(struct trace_array *tr)
{
	struct trace_max *max = tr->max;

	trace_max_clear(tr, RING_BUFFER_ALL_CPUS_FILE);
	/* A maximum that comes now finds them being reset and is left pending. */
	if (max->newest)
		reset_rings(tr, max->newest);
	if (max->spare)
		reset_rings(tr, max->spare);
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
		for_each_cpu(cpu, &parts->cpus)
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

	for_each_cpu(cpu, &parts->cpus)
		stale |= parts->exchanges[cpu] != tr->cpu_data[cpu].max_exchanges;
	max_unlock(tr->max, flags);
	return stale;
}

static int copy_parts(struct trace_array *tr, struct trace_snapshot *snapshot, const struct parts *parts)
{
	unsigned cpu;
	int ret = 0;

	for_each_cpu(cpu, &parts->cpus) {
		ret = copy_part(tr, snapshot, cpu);
		if (ret)
			break;
	}
	return ret;
}

/* One try: what is newest now, held and complete. NULL: a newer one came meanwhile. ERR_PTR(-ENOMEM). */
static struct trace_snapshot *hold_and_copy(struct trace_array *tr)
{
	struct trace_snapshot *snapshot;
	struct parts parts;

	if (alloc_spare(tr))
		return ERR_PTR(-ENOMEM);
	snapshot = hold(tr, &parts);
	if (!snapshot)
		return NULL;
	if (copy_parts(tr, snapshot, &parts)) {
		give_up(tr, snapshot, &parts);
		return ERR_PTR(-ENOMEM);
	}
	if (!parts_are_stale(tr, &parts))
		return snapshot;
	/* Only a newer maximum exchanges that ring: show that one. */
	trace_snapshot_put(tr, snapshot);
	return NULL;
}

static void hold_off(struct trace_max *max, bool off)
{
	unsigned long flags = max_lock(max);

	max->held_off = off;
	max_unlock(max, flags);
}

/*
 * Newer maxima end by themselves, as each must be longer than the one before. Snapshots do not: a trigger on a function
 * that is called all the time (`*:snapshot`) takes them faster than we copy, and our own copying calls such functions,
 * here and on the CPUs that answer us. Each try then finds its copy stale, for ever, with trace_types_lock held.
 * Sections beyond tracing_thresh come like that, too. So after MAX_TRIES both are held off: one that comes then is not
 * taken. With nothing exchanged the next try finds its copy fresh.
 */
#define MAX_TRIES 3

struct trace_snapshot *trace_snapshot_get(struct trace_array *tr)
{
	struct trace_snapshot *snapshot = NULL;
	unsigned tries = 0;

	while (!snapshot && tr->max->newest) {
		if (tries++ == MAX_TRIES)
			hold_off(tr->max, true);
		snapshot = hold_and_copy(tr);
	}
	if (tries > MAX_TRIES)
		hold_off(tr->max, false);
	return snapshot;
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
