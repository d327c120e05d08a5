/*
 * What a hit of a probe event records (probe.h): a record for each array that has the event on. Preemption is off from
 * before the list of arrays is read until the records are complete, as probe.c wants it.
 */
#include <lib/string.h>
#include <sched/sched.h>
#include <arch/regs.h>
#include <asm/ptrace.h>
#include <trace/fgraph.h>

#include "events/event_file.h"
#include "probe.h"

/* The words in front of the arguments, PROBE_HEAD_MAX at most. Records are aligned to 4 alone. */
static __always_inline void put_head(char *record, const unsigned long *head, const struct probe *p)
{
	char *to = record + sizeof(struct trace_entry);
	unsigned size = p->args.head - sizeof(struct trace_entry);

	if (size)
		memcpy(to, &head[0], sizeof(long));
	if (size > sizeof(long))
		memcpy(to + sizeof(long), &head[1], sizeof(long));
}

/* The usual case: nothing but the record is wanted, and it has no strings. False: it is another case. */
static __always_inline bool record_direct(struct trace_event_file *file, const struct probe *p,
					  const struct fetch_source *src, const unsigned long *head)
{
	struct trace_event_opened opened;
	char *record;

	if (!p->direct || !trace_event_is_plain(file))
		return false;
	record = trace_event_open_words(&opened, file, p->direct);
	if (!record) {
		trace_event_leave(file);
		return false;
	}
	put_head(record, head, p);
	if (likely(p->args.plain))
		fetch_registers(&p->args, src->regs, record);
	else
		fetch_run(&p->args, src, record, 0);
	trace_event_close(&opened);
	return true;
}

/*
 * Where the stack of a hit begins: at the probed place, above all that has led to the handler. These are frame records
 * like those of functions. At a function's first instruction its own record is not there yet, so one more stands in for
 * it.
 */
struct probe_stack {
	unsigned long record[3][2];
};

/*
 * The first record's address is left out of the stack, as the one of a tracepoint's probe is. Readers take the second
 * one's for a return address, and look up the byte before it: at a function's first instruction it is one more.
 */
static unsigned long begin_stack(struct probe_stack *stack, const struct pt_regs *regs, bool at_entry)
{
	unsigned long pc = instruction_pointer(regs), fp = frame_pointer(regs), (*record)[2] = stack->record;

	record[0][0] = (unsigned long)record[1];
	record[0][1] = pc;
	record[1][0] = fp;
	record[1][1] = pc + at_entry;
	if (at_entry) {
		record[1][0] = (unsigned long)record[2];
		record[2][0] = fp;
		record[2][1] = fgraph_true_ret(regs_return_address(regs));
	}
	return (unsigned long)record;
}

/* Strings are measured again for each array, because a record has as much room as one measurement has found. */
static noinline void record_general(struct trace_event_file *file, const struct probe *p,
				    const struct fetch_source *src, const unsigned long *head, unsigned long fp)
{
	unsigned room = fetch_strings_size(&p->args, src);
	struct trace_event_buffer buffer;
	struct probe_stack stack;
	char *record = trace_event_begin(&buffer, file, ALIGN(p->args.size + room, 4));

	if (!record)
		return;
	put_head(record, head, p);
	fetch_run(&p->args, src, record, room);
	trace_event_end(&buffer, fp ?: begin_stack(&stack, src->regs, src->at_entry));
}

static __always_inline void record_in(struct trace_event_file *file, const struct probe *p,
				      const struct fetch_source *src, const unsigned long *head, unsigned long fp)
{
	if (!record_direct(file, p, src, head))
		record_general(file, p, src, head, fp);
}

void probe_record_in(struct trace_event_file *file, const struct probe *p, const struct fetch_source *src,
		     const unsigned long *head, unsigned long fp)
{
	record_in(file, p, src, head, fp);
}

void probe_record(const struct probe *p, const struct fetch_source *src, const unsigned long *head, unsigned long fp)
{
	const struct probe_files *files = smp_load_acquire(&p->event->files);

	for (unsigned i = 0; files && i < files->nr; i++) {
		struct trace_event_file *file = READ_ONCE(files->files[i]);

		if (file)
			record_in(file, p, src, head, fp);
	}
}

/*
 * The ways on from probe_record_at(), which has no stack frame because each of its calls is its last. They return 0 for
 * it.
 */
static noinline int record_at_general(const struct probe *p, const struct pt_regs *regs)
{
	const struct fetch_source src = {.regs = regs, .at_entry = p->at_entry};
	unsigned long addr = instruction_pointer(regs);

	probe_record(p, &src, &addr, 0);
	return 0;
}

static noinline int leave_and_record_at(const struct probe *p, const struct pt_regs *regs,
					const struct trace_event_file *file)
{
	trace_event_leave(file);
	return record_at_general(p, regs);
}

static noinline int close_record(struct ring_buffer_per_cpu *buffer, void (*rest)(struct ring_buffer_per_cpu *))
{
	rest(buffer);
	return 0;
}

/* The usual case, of one array, is done here with what a hit has at hand. */
int probe_record_at(const struct probe *p, const struct pt_regs *regs)
{
	struct trace_event_file *file = READ_ONCE(p->quick);
	void (*rest)(struct ring_buffer_per_cpu *);
	struct ring_buffer_per_cpu *buffer;
	struct rb_claimed claimed;
	unsigned long addr;
	char *record;
	u32 head;

	if (unlikely(!file || !trace_event_is_plain(file)))
		return record_at_general(p, regs);
	head = trace_event_head(file); /* now, while few registers hold something */
	buffer = file->buffers[current->cpu];
	claimed = rb_try_open(buffer, p->direct, sched_clock());
	if (unlikely(!claimed.event))
		return leave_and_record_at(p, regs, file);
	record = (void *)claimed.event->array;
	trace_event_fill((void *)record, head);
	addr = instruction_pointer(regs);
	memcpy(record + sizeof(struct trace_entry), &addr, sizeof(addr));
	fetch_registers(&p->args, regs, record);
	rest = rb_try_close(buffer, claimed);
	return unlikely(rest) ? close_record(buffer, rest) : 0;
}
