/*
 * The option sched-tree of Linux 2.6: at every event of the sched_switch tracer, a record for each task on the
 * runqueue, with its pid, its virtual run time and its CPU time in ns. The runqueue is locked while they are made.
 */
#include <sched/sched.h>

#include "core/record.h"
#include "output/iter.h"
#include "sched_switch.h"

#define SCHED_TREE_MAX 64 /* tasks recorded at an event: the runqueue is locked meanwhile */

/*
 * What the walk over the runqueue passes to its callback: where to record, and the context of the event that asked for
 * it.
 */
struct sched_tree {
	struct trace_array *tr;
	unsigned long flags;
	u32 pc;
	unsigned count;
};

/*
 * Called for each task on the runqueue. True: the walk goes on. It ends early when the ring has no room, or after
 * SCHED_TREE_MAX tasks, because every other CPU that wants this runqueue waits meanwhile. Runqueue locked.
 */
static bool record_queued_task(struct task_struct *p, void *data)
{
	struct sched_tree *tree = data;
	struct ring_buffer_per_cpu *buffer = tree->tr->cpu_data[smp_processor_id()].buffer;
	struct ring_buffer_event *event =
		ring_buffer_reserve(buffer, sizeof(struct special_entry), trace_clock_now(tree->tr));
	struct special_entry *entry;

	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	trace_fill(&entry->ent, TRACE_SPECIAL, current, tree->pc, tree->flags);
	entry->arg1 = p->pid;
	entry->arg2 = p->se.vruntime;
	entry->arg3 = p->se.sum_exec_runtime;
	ring_buffer_commit(buffer);
	return ++tree->count < SCHED_TREE_MAX;
}

/* From a probe of the scheduler, with the runqueue of `cpu` locked. */
void trace_sched_tree(struct trace_array *tr, int cpu, u32 pc, unsigned long flags)
{
	struct sched_tree tree = {.tr = tr, .flags = flags, .pc = pc};

	for_each_queued_task(cpu, record_queued_task, &tree);
}

/*
 * "# PID VRUNTIME SUM_EXEC_RUNTIME", both times in ns; the order of the lines is the order of the runqueue. The tracer
 * sysprof makes such records, too, of numbers of its own.
 */
static void trace_special_print(struct seq_file *s, struct trace_iterator *iter)
{
	const struct special_entry *field = (const void *)iter->ent;

	seq_printf(s, "# %ld %ld %ld\n", (long)field->arg1, (long)field->arg2, (long)field->arg3);
}

static void trace_special_hex(struct seq_file *s, struct trace_iterator *iter)
{
	const struct special_entry *field = (const void *)iter->ent;

	TRACE_PUT_HEX(s, field->arg1);
	TRACE_PUT_HEX(s, field->arg2);
	TRACE_PUT_HEX(s, field->arg3);
}

static void trace_special_bin(struct seq_file *s, struct trace_iterator *iter)
{
	const struct special_entry *field = (const void *)iter->ent;

	TRACE_PUT_BIN(s, field->arg1);
	TRACE_PUT_BIN(s, field->arg2);
	TRACE_PUT_BIN(s, field->arg3);
}

/* The type TRACE_SPECIAL is Linux 2.6's record of three numbers without a meaning of its own. */
static const struct trace_event trace_special_event = {
	.type = TRACE_SPECIAL,
	.trace = trace_special_print,
	.raw = trace_special_print,
	.hex = trace_special_hex,
	.bin = trace_special_bin,
};
REGISTER_TRACE_EVENT(trace_special_event);
