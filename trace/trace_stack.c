/*
 * Kernel stacks as records. How many frames there are is known only at the end of the walk, and a reservation cannot
 * shrink: so frames are collected first, then room is reserved for exactly them.
 */
#include <kernel/percpu.h>
#include <kernel/stacktrace.h>
#include <lib/string.h>
#include <sched/sched.h>

#include "trace.h"
#include "trace_record.h"

#define STACK_FRAMES_MAX 128 /* frames beyond are left out; the deepest paths of this kernel have about 60 */

/*
 * Where frames are collected: a part for each context that can interrupt another one here (task, softirq, interrupt,
 * nmi). Who finds `depth` at n uses part n, and whoever interrupts puts it back: it is not the context that counts,
 * as an interrupt's entry runs traced code before preempt_count says interrupt. Nothing in between is traced or
 * faults, so a context cannot come twice. [this CPU]
 */
#define STACK_CONTEXTS 4
struct stack_frames {
	unsigned depth;
	unsigned long callers[STACK_CONTEXTS][STACK_FRAMES_MAX];
};
static DEFINE_PER_CPU(struct stack_frames, stack_frames);

static void record_stack(struct trace_array *tr, u32 pc, unsigned long flags, const unsigned long *callers, unsigned n)
{
	struct ring_buffer_per_cpu *buffer = tr->cpu_data[smp_processor_id()].buffer;
	struct ring_buffer_event *event;
	struct stack_entry *entry;

	event = ring_buffer_reserve(buffer, sizeof(*entry) + n * sizeof(long), trace_clock_now(tr));
	if (!event)
		return;
	entry = ring_buffer_event_data(event);
	trace_fill(&entry->ent, TRACE_STACK, current, pc, flags);
	entry->size = n;
	memcpy(entry->caller, callers, n * sizeof(long));
	ring_buffer_commit(buffer);
}

void trace_stack_from(struct trace_array *tr, u32 pc, unsigned long flags, unsigned skip, unsigned long fp)
{
	struct stack_frames *frames = this_cpu_ptr(stack_frames);
	unsigned depth = READ_ONCE(frames->depth), n;

	if (depth == STACK_CONTEXTS)
		return;
	WRITE_ONCE(frames->depth, depth + 1);
	barrier();
	n = stack_trace_save_fp(fp, frames->callers[depth], STACK_FRAMES_MAX, skip);
	if (n)
		record_stack(tr, pc, flags, frames->callers[depth], n);
	barrier();
	WRITE_ONCE(frames->depth, depth);
}

static void trace_stack_print(struct seq_file *s, struct trace_iterator *iter)
{
	const struct stack_entry *field = (const void *)iter->ent;

	seq_puts(s, "<stack trace>\n");
	for (int i = 0; i < field->size; i++) {
		seq_puts(s, " => ");
		seq_print_ip_sym(s, iter->tr, field->caller[i]);
		seq_putc(s, '\n');
	}
}

static const struct trace_event trace_stack_event = { .type = TRACE_STACK, .trace = trace_stack_print };
REGISTER_TRACE_EVENT(trace_stack_event);
