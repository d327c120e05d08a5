/*
 * Snapshots from any context. A trigger or a function command may run with interrupts off and locks held, so it cannot
 * wait for the other CPUs. It exchanges its own CPU's part at once and leaves the others pending (core/aside.h): the
 * next writer on each of those CPUs exchanges its part before it writes. So what was recorded before is in the
 * snapshot, what comes later is in the buffer, and nothing is lost in between.
 *
 * A snapshot is taken where no task can wait.
 *
 * A trigger takes one with the run queue locked; an interrupt may take one while another CPU takes one, too.
 *
 * All CPUs are left pending under the max lock, then our own is exchanged. If two CPUs take one at once, the second
 * begins a snapshot of its own, which is the one that is kept; parts that the first had pending are pending again. No
 * part is exchanged twice: the bit in `pending` is cleared with the exchange, under the lock.
 *
 * Which records belong to it? Of our own CPU those before the exchange. Of another CPU all that were written before its
 * next writer comes, because that writer exchanges first. Between our taking it and that writer only code that
 * interrupts a write already under way can record there, and such records are in the snapshot. No record is in both
 * buffers, because the ring that is handed back is empty: it is emptied within the exchange, on its CPU, and no reader
 * has it, since a held object is never the newest.
 *
 * The wish is taken back before the exchange is tried, and made again when that fails. The other way round, a snapshot
 * of another CPU could fall between the exchange and taking back, and its wish would be lost.
 *
 * A latency tracer begins meanwhile. It sets `active` before it empties what is set aside, and a snapshot looks at
 * `active` under the max lock. Either the snapshot sees it and is not taken, or what it took is emptied.
 *
 * The lock is taken from traced functions (schedule:snapshot). The code under it is not traced, and runs with
 * interrupts off; in an NMI no snapshot is taken.
 */
#include <kernel/export.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/sched.h>

#include "aside.h"

/*
 * Each CPU exchanges its own part, at its next record or when it is asked, so this only describes the snapshot and
 * marks all parts as pending. The buffer's own time starts now: what is recorded later belongs to it, and repeats
 * nothing of what it held.
 */
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
	trace_func_repeats_forget(tr);
	for (unsigned i = 0; i < ARRAY_SIZE(max->pending.bits); i++)
		WRITE_ONCE(max->pending.bits[i], cpu_possible_mask.bits[i]);
	return snapshot;
}

/* A CPU whose part is pending learns of it at its next record. Under the max lock. */
static void ask_writers(struct trace_array *tr)
{
	unsigned cpu;

	for_each_cpu(cpu, &tr->max->pending)
		ring_buffer_want_exchange(tr->buffer, cpu, true);
}

/* This CPU's part is exchanged at once, the others' by their writers. */
bool trace_snapshot_take_now(struct trace_array *tr)
{
	unsigned long flags = max_lock(tr->max);
	bool may = !tr->max->active && !tr->max->mapped;
	struct trace_snapshot *snapshot = NULL;

	if (may && trace_max_may_take_any(tr->max))
		snapshot = trace_snapshot_begin(tr, current);

	if (snapshot) {
		/* -EBUSY: we have interrupted a writer. Then the next writer of this CPU exchanges the part. */
		trace_max_exchange_here(tr, snapshot);
		ask_writers(tr);
	}
	max_unlock(tr->max, flags);
	return may;
}

static int alloc_for_snapshot(struct trace_array *tr)
{
	int ret;

	mutex_lock(&trace_types_lock);
	ret = tracing_expand(tr) ?: trace_max_alloc(tr);
	mutex_unlock(&trace_types_lock);
	return ret;
}

/* Memory alone: a call that takes a snapshot finds out by itself whether it may. */
int tracing_alloc_snapshot(void)
{
	return alloc_for_snapshot(&global_trace);
}
EXPORT_SYMBOL(tracing_alloc_snapshot);

/* ---- Snapshots or mappings */

/* `count` goes up, unless `forbids` says no. */
static int snapshot_count_up(struct trace_max *max, unsigned *count, bool (*forbids)(const struct trace_max *max))
{
	unsigned long flags = max_lock(max);
	int ret = forbids(max) ? -EBUSY : 0;

	*count += !ret;
	max_unlock(max, flags);
	return ret;
}

static void snapshot_count_down(struct trace_max *max, unsigned *count)
{
	unsigned long flags = max_lock(max);

	--*count;
	max_unlock(max, flags);
}

static bool rings_are_mapped(const struct trace_max *max)
{
	return max->mapped;
}

/* A part that is pending would have to be exchanged later. */
static bool snapshots_may_come(const struct trace_max *max)
{
	return max->armed || !cpumask_empty(&max->pending);
}

const char trace_rings_are_mapped[] =
	"a program has mapped trace_pipe_raw, so its ring cannot be exchanged; end it first";

int trace_snapshot_arm(struct trace_array *tr)
{
	return snapshot_count_up(tr->max, &tr->max->armed, rings_are_mapped);
}

void trace_snapshot_disarm(struct trace_array *tr)
{
	snapshot_count_down(tr->max, &tr->max->armed);
}

int trace_snapshot_forbid(struct trace_array *tr)
{
	return snapshot_count_up(tr->max, &tr->max->mapped, snapshots_may_come);
}

void trace_snapshot_allow(struct trace_array *tr)
{
	snapshot_count_down(tr->max, &tr->max->mapped);
}

int tracing_arm_snapshot(struct trace_array *tr)
{
	int ret = trace_snapshot_arm(tr);

	if (ret)
		return ret;
	ret = alloc_for_snapshot(tr);
	if (ret)
		trace_snapshot_disarm(tr);
	return ret;
}

/* The trigger or command takes no snapshots any more, so what is pending now is the last. */
void tracing_disarm_snapshot(struct trace_array *tr)
{
	mutex_lock(&trace_types_lock);
	trace_snapshot_settle(tr);
	mutex_unlock(&trace_types_lock);
	trace_snapshot_disarm(tr);
}

/* ---- What was left pending */

/*
 * Called by the next writer of this CPU (ring_buffer_set_exchange). What cannot be done now is left to the one after:
 * an NMI or a debug exception may have interrupted this CPU in a max lock.
 */
static void exchange_at_write(void *arg)
{
	struct trace_array *tr = arg;

	if (in_nmi() || max_locks[smp_processor_id()])
		return;
	/* The wish is taken back first, or a snapshot that comes in between would lose its own. */
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

/*
 * Parts of CPUs that are not online are exchanged from here, since nothing writes to them. Each other CPU is asked to
 * exchange its own. While a program has mapped a ring, none can be exchanged, and its part stays pending.
 */
void trace_snapshot_settle(struct trace_array *tr)
{
	struct settling s = {.tr = tr};
	unsigned long flags;
	unsigned cpu;

	if (!tr->max->newest || tr->max->active)
		return;
	flags = max_lock(tr->max);
	trace_max_exchange_absent(tr, tr->max->newest);
	max_unlock(tr->max, flags);
	for_each_online_cpu(cpu)
		while (cpumask_test_cpu(cpu, &tr->max->pending) && !READ_ONCE(tr->max->mapped)) {
			/* -EBUSY: into the middle of a write, which takes a few instructions more. */
			if (smp_call_function_single(cpu, settle_here, &s, true) || s.err != -EBUSY)
				break;
		}
}

void trace_snapshot_setup(struct trace_array *tr)
{
	ring_buffer_set_exchange(tr->buffer, exchange_at_write, tr);
}
