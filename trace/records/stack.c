/*
 * Kernel stacks as records. How many frames there are is known only at the end of the walk, and a reservation cannot
 * shrink: so frames are collected first, then room is reserved for exactly them.
 */
#include <kernel/percpu.h>
#include <kernel/stacktrace.h>
#include <lib/string.h>
#include <sched/sched.h>

#include "core/record.h"
#include "output/iter.h"
#include "records.h"

#define STACK_FRAMES_MAX 128 /* frames beyond are left out; the deepest paths of this kernel have about 60 */

/* Where frames are collected. Nesting: trace_nest_enter. [this CPU] */
struct stack_frames {
	unsigned depth;
	unsigned long callers[TRACE_NEST_MAX][STACK_FRAMES_MAX];
};
static DEFINE_PER_CPU(struct stack_frames, stack_frames);

/*
 * Put `n` collected frames into a record. pc and flags are those of the code whose stack it is: by now the tracer
 * itself has changed the preempt count. Context: preemption off.
 */
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

/*
 * Walks from the frame record at fp and leaves out the first `skip` callers. Code that interrupts this one on the
 * same CPU takes the next row of `callers`; when all rows are taken, the stack is not recorded.
 */
void trace_stack_from(struct trace_array *tr, u32 pc, unsigned long flags, unsigned skip, unsigned long fp)
{
	struct stack_frames *frames = this_cpu_ptr(&stack_frames);
	unsigned depth = trace_nest_enter(&frames->depth), n;

	if (unlikely(depth == TRACE_NEST_MAX))
		return;
	n = stack_trace_save_fp(fp, frames->callers[depth], STACK_FRAMES_MAX, skip);
	if (n)
		record_stack(tr, pc, flags, frames->callers[depth], n);
	trace_nest_leave(&frames->depth, depth);
}

void __trace_stacks(struct trace_array *tr, u32 pc, unsigned long flags, unsigned skip, unsigned long fp)
{
	u64 options = READ_ONCE(tr->trace_flags);

	if (options & TRACE_ITER(STACKTRACE))
		trace_stack_from(tr, pc, flags, skip, fp);
	if (options & TRACE_ITER(USERSTACKTRACE))
		trace_user_stack(tr, pc, flags);
}

extern const char __entry_text_start[], __entry_text_end[];

/*
 * A return address stands behind its call, and when that call never returns it may be the first of the next
 * function, so the caller is found by the byte before. The frame below the machine's entry code is different: it is
 * the exact place where an exception came from, so there the address itself counts.
 */
static void print_caller(struct seq_file *s, struct trace_array *tr, unsigned long ip, bool exact)
{
	if (exact)
		seq_print_ip_sym(s, tr, ip);
	else
		seq_print_caller_sym(s, tr, ip);
}

/* One line a frame, the innermost first. */
static void trace_stack_print(struct seq_file *s, struct trace_iterator *iter)
{
	const struct stack_entry *field = (const void *)iter->ent;
	bool in_entry = false;

	seq_puts(s, "<stack trace>\n");
	for (int i = 0; i < field->size; i++) {
		unsigned long ip = field->caller[i];

		seq_puts(s, " => ");
		print_caller(s, iter->tr, ip, in_entry);
		seq_putc(s, '\n');
		in_entry = ip >= (unsigned long)__entry_text_start && ip < (unsigned long)__entry_text_end;
	}
}

static const struct trace_event trace_stack_event = {.type = TRACE_STACK, .trace = trace_stack_print};
REGISTER_TRACE_EVENT(trace_stack_event);
