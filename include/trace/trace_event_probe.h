/*
 * What probes of events are made of: an array's state of an event, and the direct way to a record, inlined into each
 * probe, which calls nothing and so needs no stack frame. Every other case is trace_event_begin's.
 *
 * trace_event_file.flags is EVENT_FILE_ENABLED and nothing else while nothing stands between a hit and its record: no
 * filter, trigger, list of pids, soft switch, stack option, clock of its own. Code that puts one of these in force sets
 * its bit, in the files of all events of the array where it concerns them. A probe reads the word once; what it finds
 * holds for this record, which was under way when the change came.
 *
 * - In other cases the direct way ends with a jump to a function that takes the same arguments. Each class of events
 *   has three of them: for a record that a filter may refuse, for everything else, and for a writer that the ring has
 *   counted already, which leaves the ring (rb_leave) and does what the second does.
 * - A walk of the stack does not see the jump: the general way's frame has the probe's return address.
 *   __traceiter_NAME jumps likewise, to the function that calls several probes. So stacktrace leaves out the same
 *   number of frames whichever way a record took.
 * - Leaving and coming back is no gap. A writer that has left the ring has published what nested in it; what it then
 *   does is another writer's event. ring_buffer_nest_test.c interrupts it everywhere.
 */
#pragma once

#include <fs/virtual_dir.h>
#include <irq/irqflags.h>
#include <sched/preempt.h>
#include <time/clock.h>
#include <trace/ring_buffer_inline.h>
#include <trace/trace_events.h>

/* trace_event_file.flags */
#define EVENT_FILE_ENABLED	 0x1u  /* its probe is registered; alone: nothing stands between a hit and its record */
#define EVENT_FILE_FILTERED	 0x2u  /* records that `filter` refuses are not kept */
#define EVENT_FILE_PIDS		 0x4u  /* nor those of tasks that are not in the array's lists of pids */
#define EVENT_FILE_SOFT_DISABLED 0x8u  /* no record is: another user holds the probe [changed by triggers, too] */
#define EVENT_FILE_TRIGGERS	 0x10u /* has triggers */
#define EVENT_FILE_CONDITIONS	 0x20u /* of which one looks at the record, or acts behind it */
#define EVENT_FILE_PRINTK	 0x40u /* its records are printed, too */
#define EVENT_FILE_STACKS	 0x80u /* the array's options add records of stacks [t] */
#define EVENT_FILE_CLOCK	 0x100u /* the array's clock is not the usual one [t] */
/* Of these alone, nothing need be asked. */
#define EVENT_FILE_PLAIN (EVENT_FILE_ENABLED | EVENT_FILE_STACKS | EVENT_FILE_CLOCK)

/* Locks: e event_mutex; a changed atomically, as triggers change a bit anywhere; t trace_types_lock; I immutable. */
struct trace_event_file {
	struct virtual_dir dir;			    /* [I] events/<system>/<event> */
	const struct trace_event_call *call;	    /* [I; a late one's: e] NULL: a place for a late event */
	struct trace_array *tr;			    /* [I] */
	struct ring_buffer_per_cpu *const *buffers; /* [I] the array's, by CPU */
	u32 flags;				    /* [e, a; read by probes] EVENT_FILE_* */
	unsigned soft_users;			    /* [e] who need the probe, whether it is on or not */
	bool was_enabled;			    /* [e] at some time: there may be records of it */
	bool switched_on;			    /* [e] by the request that is being carried out */
	u16 type;				    /* [I] of its records */
	u16 other_pid;			/* [I] offset of the pid of a second task that it is about; 0: none */
	struct event_filter *filter;	/* [e, RCU; read by probes] NULL: none */
	char *filter_text;		/* [e] what the file `filter` shows; NULL: none */
	struct event_trigger *triggers; /* [e, RCU; read by probes] the newest first; NULL: none */
};

/*
 * The fields common to all records but the pid, as their first word, from the real state of the CPU. preempt_count is
 * what the traced code runs with, `flags` the interrupt state as saved by arch_local_save_flags().
 */
static __always_inline u32 trace_entry_head(u16 type, u32 pc, u32 thread_flags, unsigned long flags)
{
	u32 head = (arch_irqs_disabled_flags(flags) ? TRACE_FLAG_IRQS_OFF : 0);

	if (unlikely(thread_flags & _TIF_NEED_RESCHED)) {
		barrier(); /* branches that are not taken, instead of computing it all */
		head |= TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED;
	}
	if (unlikely(pc > 15)) {
		barrier();
		head |= ((pc & NMI_MASK) ? TRACE_FLAG_NMI : 0) | ((pc & HARDIRQ_MASK) ? TRACE_FLAG_HARDIRQ : 0) |
			((pc & SOFTIRQ_OFFSET) ? TRACE_FLAG_SOFTIRQ : 0) |
			((pc & SOFTIRQ_MASK & ~SOFTIRQ_OFFSET) ? TRACE_FLAG_BH_OFF : 0);
		pc &= PREEMPT_MASK;
		pc = pc > 15 ? 15 : pc;
	}
	return type | head << 16 | pc << 24;
}

/* From trace_event_open to trace_event_close, in registers. */
struct trace_event_opened {
	struct ring_buffer_per_cpu *buffer;
	struct rb_claimed claimed;
};

/* The usual case: nothing but the record is wanted. */
static __always_inline bool trace_event_is_plain(const struct trace_event_file *file)
{
	return likely(READ_ONCE(file->flags) == EVENT_FILE_ENABLED);
}
/* The compiler knows the record's length, and the length needs no word of its own. */
#define TRACE_EVENT_SHORT(len)		 (__builtin_constant_p(len) && (len) <= RINGBUF_TYPE_DATA_TYPE_LEN_MAX * 4)
#define trace_event_is_direct(file, len) (TRACE_EVENT_SHORT(len) && trace_event_is_plain(file))
/* Nothing but such a record and a filter is wanted: trace_event_judge. */
#define trace_event_is_judged(file, len) \
	(TRACE_EVENT_SHORT(len) &&       \
	 READ_ONCE(((struct trace_event_file *)(file))->flags) == (EVENT_FILE_ENABLED | EVENT_FILE_FILTERED))

/* The first word of the common fields. Preemption is off, once by the tracepoint. */
static __always_inline u32 trace_event_head(const struct trace_event_file *file)
{
	const struct task_struct *t = current;

	return trace_entry_head(file->type, READ_ONCE(t->preempt_count) - PREEMPT_OFFSET, READ_ONCE(t->thread_flags),
				arch_local_save_flags());
}

static __always_inline void trace_event_fill(struct trace_entry *entry, u32 head)
{
	*(u32 *)(void *)entry = head;
	entry->pid = current->pid;
}

/*
 * In the usual case: the record of so many bytes (RB_WORDS), with its common fields filled. NULL: the ring is not in
 * its usual state; the caller calls trace_event_leave and goes on with trace_event_begin. Any context, preemption off,
 * once by the tracepoint.
 */
static __always_inline void *trace_event_open_words(struct trace_event_opened *opened,
						    const struct trace_event_file *file, unsigned long words)
{
	struct trace_entry *entry;

	opened->buffer = file->buffers[current->cpu];
	opened->claimed = rb_try_open(opened->buffer, words, sched_clock());
	if (unlikely(!opened->claimed.event))
		return NULL;
	entry = (void *)opened->claimed.event->array;
	trace_event_fill(entry, trace_event_head(file));
	return entry;
}
#define trace_event_open(opened, file, len) trace_event_open_words(opened, file, RB_WORDS(len))

static __always_inline void trace_event_close(const struct trace_event_opened *opened)
{
	void (*rest)(struct ring_buffer_per_cpu *) = rb_try_close(opened->buffer, opened->claimed);

	if (unlikely(rest))
		rest(opened->buffer);
}

/* A probe needs no frame for a call that is its last. So the function from which this is called ends with it. */
static __always_inline void trace_event_leave(const struct trace_event_file *file)
{
	rb_leave(file->buffers[current->cpu]);
}
