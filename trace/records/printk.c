/*
 * trace_printk(): how the kernel's own messages are recorded in the trace. records/printk_text.c makes text of
 * messages that are recorded by address. The macros in <trace/trace_printk.h> choose the function:
 *
 *     constant format        __trace_bprintk   TRACE_BPRINT  format's address, arguments as words
 *     constant text          __trace_bputs     TRACE_BPUTS   text's address
 *     any other format       __trace_printk    TRACE_PRINT   finished text
 *     any other text         __trace_puts      TRACE_PRINT   copy of the text
 *
 * Context of all: any, nmi included. No lock is taken and no memory allocated; each CPU has buffers for its nested
 * writers. Preemption is off from the choice of the array to the commit, because an array is freed only after a
 * grace period, and because a record belongs to one CPU.
 */
#include <kernel/export.h>
#include <kernel/percpu.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <sched/sched.h>
#include <trace/trace_printk.h>

#include "core/record.h"
#include "core/tracer.h"

/* Room for a text until it is known how long it becomes. Nesting: trace_nest_enter. [this CPU] */
struct printk_text {
	unsigned depth;
	char text[TRACE_NEST_MAX][TRACE_PRINTK_MAX] __attribute__((aligned(8))); /* or words */
};
static DEFINE_PER_CPU(struct printk_text, printk_text);

/*
 * Record `n` bytes of text as a line, and the stacks that the options ask for, from the frame record at fp. The
 * caller has disabled preemption once; the stack record tells the count of before (PREEMPT_OFFSET less). Returns
 * the length recorded, 0 when nothing was.
 */
static int record_text(struct trace_array *tr, unsigned long ip, const char *text, unsigned n, unsigned long fp)
{
	bool newline = !n || text[n - 1] != '\n';
	struct ring_buffer_event *event;
	struct print_entry *entry = trace_reserve(tr, &event, TRACE_PRINT, sizeof(*entry) + n + newline + 1);

	if (!entry)
		return 0;
	entry->ip = ip;
	memcpy(entry->buf, text, n);
	if (newline)
		entry->buf[n++] = '\n';
	entry->buf[n] = '\0';
	trace_commit(tr);
	trace_stacks_from(tr, preempt_count() - PREEMPT_OFFSET, arch_local_save_flags(), 0, fp);
	return n;
}

/* The option trace_printk is the top array's, for all arrays. There is no buffer in early boot. */
static bool printk_wanted(const struct trace_array *tr)
{
	return READ_ONCE(tr->buffer) && (READ_ONCE(global_trace.trace_flags) & TRACE_ITER(PRINTK));
}

/* The array that messages go to; NULL: they are not wanted. Preemption must stay off while the array is used. */
static struct trace_array *printk_array(void)
{
	struct trace_array *tr = smp_load_acquire(&printk_trace);

	if (!printk_wanted(tr))
		return NULL;
	tracing_record_cmdline(current);
	return tr;
}

/* For record_message: format the message into `text`, and record that. Returns the length. */
static int record_format(struct trace_array *tr, unsigned long ip, char *text, const char *fmt, va_list args,
			 unsigned long fp)
{
	return record_text(tr, ip, text, vscnprintf(text, TRACE_PRINTK_MAX, fmt, args), fp);
}

/*
 * Record the format's address and `n` words of arguments. Returns a number above 0 even without arguments:
 * recorded.
 */
static int record_words(struct trace_array *tr, unsigned long ip, const char *fmt, const u32 *words, unsigned n,
			unsigned long fp)
{
	struct ring_buffer_event *event;
	struct bprint_entry *entry = trace_reserve(tr, &event, TRACE_BPRINT, sizeof(*entry) + n * sizeof(*words));

	if (!entry)
		return 0;
	entry->ip = ip;
	entry->fmt = fmt;
	memcpy(entry->buf, words, n * sizeof(*words));
	trace_commit(tr);
	trace_stacks_from(tr, preempt_count() - PREEMPT_OFFSET, arch_local_save_flags(), 0, fp);
	return 1 + n;
}

/* For record_message: record the format's address and the arguments; those that cannot be kept become text at once. */
static int record_binary(struct trace_array *tr, unsigned long ip, char *text, const char *fmt, va_list args,
			 unsigned long fp)
{
	u32 *words = (u32 *)(void *)text;
	int n = vbin_printf(words, TRACE_PRINTK_MAX / sizeof(*words), fmt, args);

	return likely(n >= 0) ? record_words(tr, ip, fmt, words, n, fp) : record_format(tr, ip, text, fmt, args, fp);
}

/*
 * Call `record` with a buffer of this CPU for the text, or the words. A message from an interrupt that comes
 * meanwhile gets the next buffer; past TRACE_NEST_MAX levels it is left out. `record` is a constant, so the call is
 * direct.
 */
static __always_inline int record_message(unsigned long ip, const char *fmt, va_list args, unsigned long fp,
					  int (*record)(struct trace_array *, unsigned long, char *, const char *,
							va_list, unsigned long))
{
	struct printk_text *texts;
	struct trace_array *tr;
	unsigned depth;
	int n = 0;

	preempt_disable_notrace();
	tr = printk_array();
	if (!tr)
		goto enable;
	texts = this_cpu_ptr(&printk_text);
	depth = trace_nest_enter(&texts->depth);
	if (likely(depth < TRACE_NEST_MAX)) {
		n = record(tr, ip, texts->text[depth], fmt, args, fp);
		trace_nest_leave(&texts->depth, depth);
	}
enable:
	preempt_enable_notrace();
	return n;
}

/* trace_printk() of a format that is not constant: it is formatted now, into the record. */
int __trace_printk(unsigned long ip, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = record_message(ip, fmt, args, arch_caller_fp(), record_format);
	va_end(args);
	return n;
}
EXPORT_SYMBOL(__trace_printk);

/*
 * trace_printk() of a constant format: the record holds the format's address and the arguments, and is formatted when
 * it is read, which costs the traced code a fraction.
 */
int __trace_bprintk(unsigned long ip, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = record_message(ip, fmt, args, arch_caller_fp(), record_binary);
	va_end(args);
	return n;
}
EXPORT_SYMBOL(__trace_bprintk);

/* A constant text: its address is the record. */
int __trace_bputs(unsigned long ip, const char *str)
{
	struct ring_buffer_event *event;
	struct bputs_entry *entry;
	struct trace_array *tr;

	preempt_disable_notrace();
	tr = printk_array();
	entry = tr ? trace_reserve(tr, &event, TRACE_BPUTS, sizeof(*entry)) : NULL;
	if (entry) {
		entry->ip = ip;
		entry->str = str;
		trace_commit(tr);
		trace_stacks_from(tr, preempt_count() - PREEMPT_OFFSET, arch_local_save_flags(), 0, arch_caller_fp());
	}
	preempt_enable_notrace();
	return entry != NULL;
}
EXPORT_SYMBOL(__trace_bputs);

/* Copy a text into a record. Preemption disabled once, as record_text() wants it. */
static int put_text(struct trace_array *tr, unsigned long ip, const char *text, unsigned long fp)
{
	return record_text(tr, ip, text, strnlen(text, TRACE_PRINTK_MAX - 1), fp);
}

/* A text that may be gone when it is read: it is copied. */
int __trace_puts(unsigned long ip, const char *text)
{
	struct trace_array *tr;
	int n;

	preempt_disable_notrace();
	tr = printk_array();
	n = tr ? put_text(tr, ip, text, arch_caller_fp()) : 0;
	preempt_enable_notrace();
	return n;
}
EXPORT_SYMBOL(__trace_puts);

/* The same into a certain array. */
int __trace_array_puts(struct trace_array *tr, unsigned long ip, const char *text)
{
	int n;

	preempt_disable_notrace();
	n = printk_wanted(tr) ? put_text(tr, ip, text, arch_caller_fp()) : 0;
	preempt_enable_notrace();
	return n;
}
