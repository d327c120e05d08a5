/*
 * The buffers that are set aside, for maxima and snapshots: they are made, resized, emptied and held by readers here.
 *
 * Maxima are set aside while all CPUs go on.
 *
 * trace/core/max.c exchanges the contents of two buffers, CPU by CPU, while every CPU writes and readers read. Why that
 * is safe, case by case:
 *
 * The ring moves only on its own CPU, with interrupts off, and when no writer is inside (ring_buffer_swap_cpu): so a
 * writer never finds its ring changed between reserve and commit. Inside of the exchange only an NMI can come; what
 * it would write is refused and counted as dropped. tests/unit/ring_buffer/ring_buffer_swap_test.c puts writers at
 * every step.
 *
 * Two CPUs end a maximum at once. Both take the max lock, and each asks again under it whether its section still is the
 * longest. The second one, if longer, takes the same object: the first one's ring stays in it and is not shown, because
 * `cpus` names only the CPUs of the second.
 *
 * A maximum ends in an interrupt that came into the middle of a write (EBUSY). Its records are safe in the array's
 * ring: the CPU is left pending, and the exchange is made up for before the next section's first record on that CPU
 * (trace_max_begin). If that again finds the writer interrupted, both sections lie in the one ring, and the time
 * window tells them apart.
 *
 * Why no interrupt that makes the other CPUs exchange at once? It could come into a section that is under way, after
 * its first records: these would leave with the old maximum, and the new one would be torn. So a ring is exchanged at
 * two places only, both on its own CPU: at a section's end, when all of it is in the ring, and before its first
 * record. A reader that comes before the second of these copies the window of that CPU from the array's ring, which
 * takes nothing away from it.
 *
 * A newer maximum comes while the reader copies. It goes to the spare object, because ours is held. If it exchanges the
 * ring that is being copied from, max_exchanges has changed: the reader lets go and takes the newer maximum. That ends,
 * because each time a section must have been longer than all before.
 *
 * Snapshots need not be longer than the one before. With the command *:snapshot each call of a function takes one, also
 * the calls that copying makes, here and on the CPUs that answer our interrupts. So every copy is stale before it is
 * done, with trace_types_lock held. Sections beyond tracing_thresh do the same. After three tries the reader holds both
 * off (held_off, under the max lock): nothing exchanges the rings that it copies from, and the fourth try is the last.
 * A snapshot that would come in that time is not taken; the next one is as good.
 *
 * Writing a copy into a ring of another CPU is against the ring's rule, and harmless: no other code writes there, since
 * the object is held and not pending, and trace_types_lock keeps other readers away until we are done.
 *
 * An older maximum is still pending on some CPUs when a newer one comes from others. `pending` is replaced as a whole.
 * What the older maximum had there stays in the array's ring, older than any window to come.
 *
 * Is there always a spare? Only a reader's hold makes one necessary, and a hold is taken under the max lock only if
 * the spare is there. A maximum may take it in the instant between allocating and holding: then the reader allocates
 * another. So trace_max_take never finds none.
 *
 * A section that was not recorded as a whole is no maximum. Recording may have been off for a part of it: by
 * tracing_on, pause-on-trace, tracing_cpumask or a resize. Code that stops recording sets a bit in the CPU's
 * `disabled` word, then raises `epoch`, and only then may clear the bit. trace_max_begin reads epoch, then disabled;
 * trace_max_take reads disabled, then epoch. Suppose recording was off between these two reads of `disabled`, and both
 * found it on. The second one found the bit cleared, so the epoch that was raised before is seen too (the barrier). It
 * differs from the one at the beginning: if that had been read after the epoch was raised (acquire), the bit would
 * have been seen. This costs each section a load and a store; on x86 the barriers cost nothing.
 *
 * A resize changes the array's buffer and all that is set aside, or none (ring_buffer_resize_together). Between the
 * CPUs' turns the sizes differ: recording is paused meanwhile, so nothing is taken. Another clock would leave stamps
 * of the old one in the rings, and a ring never goes back in time: both sides are emptied. Overwriting is a property
 * of the buffer that is written to, not of its rings; nothing moves with the exchange.
 *
 * The tracer goes while a reader holds the object. The array forgets the object, the reader does not; the last reader
 * frees it, or leaves it as the spare when it still has the right size.
 *
 * The file snapshot takes all CPUs at one moment by stop_machine_each, because every CPU must exchange its own ring: an
 * NMI on a parked CPU is a writer, too. A CPU that is parked is in a thread with preemption off, so no write is under
 * way on it, and the exchange cannot fail with EBUSY. The object is emptied before, so no record is in both buffers
 * (Linux leaves the snapshot before last in the live buffer). The file of one CPU interrupts that CPU, and tries again
 * while the interrupt finds a writer.
 */
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "tracefs/tracefs.h"
#include "aside.h"

DEFINE_MUTEX(trace_shape_lock);

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

	if (ring_buffer_order(snapshot->buffer) != ring_buffer_order(tr->buffer))
		return false;
	for_each_possible_cpu(cpu)
		if (ring_buffer_size(snapshot->buffer, cpu) != ring_buffer_size(tr->buffer, cpu))
			return false;
	return snapshot->clock_id == tr->clock_id; /* else its old stamps would lie among new ones */
}

/*
 * A second buffer as large as the array's, CPU by CPU: sizes may differ after a write to a per-CPU
 * buffer_size_kb. Its pages have the same size. NULL: no memory. [t]
 */
static struct trace_snapshot *snapshot_alloc(struct trace_array *tr)
{
	struct trace_snapshot *snapshot = kzalloc(sizeof(*snapshot), GFP_KERNEL);

	if (!snapshot)
		return NULL;
	snapshot->buffer = ring_buffer_alloc_like(tr->buffer, RB_FL_OVERWRITE);
	if (!snapshot->buffer) {
		snapshot_free(snapshot);
		return NULL;
	}
	snapshot->clock_id = tr->clock_id;
	return snapshot;
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

/*
 * The rings are not emptied, because a reader may show them: the CPUs are taken out of `cpus`, so nothing of theirs is
 * shown from now on. The max lock is needed, since a tracer may take the next maximum at any time.
 */
void trace_max_clear(struct trace_array *tr, int cpu)
{
	struct trace_max *max = tr->max;
	unsigned long flags = max_lock(max);

	if (cpu == RING_BUFFER_ALL_CPUS_FILE)
		clear_all(max);
	else if (max->newest && cpumask_test_cpu(cpu, &max->newest->cpus)) {
		/*
		 * A section without one of its CPUs is not complete, so it goes as a whole. A snapshot may lack a CPU.
		 */
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
	/* A maximum that comes now finds the rings being reset (-EAGAIN), so it is left pending. */
	if (max->newest)
		reset_rings(tr, max->newest);
	if (max->spare)
		reset_rings(tr, max->spare);
}

/* The array's buffer and those that change places with it. Returns how many: at most RB_RESIZE_MAX. */
static unsigned buffers_together(struct trace_array *tr, struct trace_buffer **buffers)
{
	unsigned long flags = max_lock(tr->max);
	unsigned n = 0;

	buffers[n++] = tr->buffer;
	if (tr->max->newest)
		buffers[n++] = tr->max->newest->buffer;
	if (tr->max->spare)
		buffers[n++] = tr->max->spare->buffer;
	max_unlock(tr->max, flags);
	return n;
}

/*
 * An object that a reader holds changes its size too, and keeps its newest records. Objects of older maxima that
 * readers still hold keep their size, and are not used again (fits).
 */
int trace_max_resize(struct trace_array *tr, unsigned long bytes, int cpu)
{
	struct trace_buffer *buffers[RB_RESIZE_MAX];
	int ret;

	mutex_lock(&trace_shape_lock);
	trace_max_pause(tr);
	ret = ring_buffer_resize_together(buffers, buffers_together(tr, buffers), bytes, cpu);
	trace_max_resume(tr);
	mutex_unlock(&trace_shape_lock);
	return ret;
}

/* What was set aside is forgotten as well. An object that a reader walks through keeps all as it is (-EBUSY). */
int trace_max_set_order(struct trace_array *tr, unsigned order)
{
	struct trace_buffer *buffers[RB_RESIZE_MAX];
	int ret;

	mutex_lock(&trace_shape_lock);
	trace_max_pause(tr);
	ret = ring_buffer_set_order_together(buffers, buffers_together(tr, buffers), order);
	if (!ret)
		trace_max_clear(tr, RING_BUFFER_ALL_CPUS_FILE);
	trace_max_resume(tr);
	mutex_unlock(&trace_shape_lock);
	return ret;
}

/* ---- Readers. trace_types_lock held. */

/* The parts of the held object that a reader must still copy from the live buffer. */
struct parts {
	struct cpumask cpus;
	u64 exchanges[NR_CPUS]; /* how often the CPU's ring had been exchanged when we took hold */
};

/*
 * Takes hold of the newest object; *parts is what must still be copied into it. NULL: a maximum has just taken the
 * spare one, because another reader held `newest`.
 */
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
 * Copy the section's records of one CPU from the array's buffer, while that is written to. This writes to the ring of
 * another CPU: nothing else does, since the object is held and has no CPU pending, and trace_types_lock keeps other
 * readers away. 0, -ENOMEM.
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

/* The copy failed for lack of memory: its CPUs are pending again, unless there is a newer maximum. */
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

#define MAX_TRIES 3

/*
 * A newer maximum makes a copy stale, and there is another try. Snapshots and sections beyond tracing_thresh may come
 * faster than this copies, so after MAX_TRIES they are held off, and the next try finds its copy fresh. The head of
 * this file says why that is needed.
 */
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

/* A part that is pending is made complete before anything is taken from it, so it counts as filled. */
bool trace_snapshot_filled(struct trace_array *tr, unsigned cpu, unsigned percent)
{
	struct trace_max *max = tr->max;
	unsigned long flags = max_lock(max);
	bool filled = cpumask_test_cpu(cpu, &max->pending);

	if (max->newest && cpumask_test_cpu(cpu, &max->newest->cpus))
		filled |= ring_buffer_filled(max->newest->buffer, cpu, percent);
	max_unlock(max, flags);
	return filled;
}
