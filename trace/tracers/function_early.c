/*
 * The function tracer begins with what was called before there were ring buffers (trace/ftrace/early.c). Each note of
 * that time becomes the record that the tracer would have made: a note holds the counter, the offsets of function and
 * caller from the beginning of the text, and the depth of preempt_count.
 */
#include <kernel/ksyms.h>
#include <proc/fork.h>

#include "ftrace/early.h"
#include "ftrace/internal.h"
#include "function.h"

extern const char _text[];

/*
 * Writes one note as a record. All of them are from the boot CPU's first task with interrupts off, so these parts of
 * the record are constants. A record that finds no room is lost.
 */
static void move_call(struct trace_array *tr, struct ring_buffer_per_cpu *buffer, const struct early_call *call)
{
	u64 ts = trace_clock_at(tr, call->counter);
	struct ring_buffer_event *event = ring_buffer_reserve(buffer, sizeof(struct ftrace_entry), ts);
	struct ftrace_entry *entry;

	if (!event)
		return;
	entry = ring_buffer_event_data(event);
	entry->ent = (struct trace_entry){
		.type = TRACE_FN, .flags = TRACE_FLAG_IRQS_OFF, .preempt_count = call->depth, .pid = init_task.pid};
	entry->ip = (unsigned long)_text + call->ip;
	entry->parent_ip = (unsigned long)_text + call->parent;
	ring_buffer_commit(buffer);
}

/*
 * Notes of functions that the filter leaves out are left out here, too: the filter was set by the command line, and the
 * notes were made without it.
 */
void ftrace_early_move(struct trace_array *tr)
{
	struct ring_buffer_per_cpu *buffer = tr->cpu_data[smp_processor_id()].buffer;
	const struct early_call *call;
	unsigned n = ftrace_early_calls(&call);

	if (!n)
		return;
	/*
	 * The ring's first stamp is that of its last reset, and no event is earlier: so it is reset to the first call.
	 */
	tr->time_start = trace_clock_at(tr, call->counter);
	ring_buffer_begin(buffer, tr->time_start);
	for (; n; n--, call++) {
		long rec = ftrace_rec_of((unsigned long)_text + call->ip);

		if (rec >= 0 && ftrace_ops_wants(tr->ops, rec))
			move_call(tr, buffer, call);
	}
}
