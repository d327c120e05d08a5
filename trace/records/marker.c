/*
 * trace_marker: text that user programs put into the trace, one record a write, with preemption off only while it is
 * copied into the ring.
 *
 * A write may fault on the program's memory, so the text is first copied to the stack, or to memory of its own when it
 * is long. Text that cannot be read leaves the record "<faulted>", as in Linux, and the write fails with EFAULT. The
 * option `markers` refuses all writes.
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "events/event_file.h"
#include "output/iter.h"
#include "tracefs/refused.h"
#include "tracefs/tracefs.h"
#include "records.h"

#define MARKER_MAX   4096 /* bytes of a record's text, as in Linux, where the sub-buffer has room for them */
#define MARKER_STACK 256  /* up to here the text waits on the stack */

/* What a record takes of a text, before the newline and the zero; more is cut off. */
static size_t marker_max(struct trace_array *tr)
{
	return min_t(size_t, MARKER_MAX, ring_buffer_max_event(tr->buffer) - sizeof(struct print_entry) - 2);
}

/*
 * Triggers on the event ftrace:print see the record first (events/print.c).
 *
 * Context: preemption off. -EBADF when nothing is recorded, as if the file were not open for writing (Linux).
 */
static ssize_t record_marker(struct trace_array *tr, unsigned long ip, const char *text, size_t n)
{
	bool newline = !n || text[n - 1] != '\n';
	struct ring_buffer_event *event;
	struct print_entry *entry;

	if (trace_event_marker(tr, ip, text, n))
		return 0;
	entry = trace_reserve(tr, &event, TRACE_PRINT, sizeof(*entry) + n + newline + 1);
	if (!entry)
		return -EBADF;
	entry->ip = ip;
	memcpy(entry->buf, text, n);
	if (newline)
		entry->buf[n++] = '\n';
	entry->buf[n] = '\0';
	trace_commit(tr);
	return 0;
}

/*
 * A write becomes a record. Returns how many bytes were taken: a program writes what does not fit as another record. 0
 * for an empty write; -EINVAL with the option `markers` off; -EBADF: recording is off; -EFAULT, -ENOMEM.
 */
static ssize_t tracing_mark_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	struct trace_array *tr = tracefs_array(file);
	char small[MARKER_STACK], *text = small;
	size_t len = min(n, marker_max(tr));
	ssize_t ret;
	bool fault;

	if (!(tr->trace_flags & TRACE_ITER(MARKERS)))
		return -EINVAL;
	if (!n)
		return 0;
	if (len > sizeof(small)) {
		text = kmalloc(len, GFP_KERNEL);
		if (!text)
			return -ENOMEM;
	}
	fault = copy_from_user(text, buf, len);
	tracing_record_cmdline(current);
	preempt_disable_notrace();
	ret = record_marker(tr, (unsigned long)tracing_mark_write, fault ? TRACE_FAULTED : text,
			    fault ? strlen(TRACE_FAULTED) : len);
	preempt_enable_notrace();
	if (text != small)
		kfree(text);
	return ret ? ret : fault ? -EFAULT : (ssize_t)len;
}

static const struct file_operations tracing_mark_fops = {
	.read = tracefs_only_written,
	.write = tracing_mark_write,
	.llseek = noop_llseek,
};
TRACEFS_FILE(trace_marker, "trace_marker", 0220, TRACEFS_ARRAY, &tracing_mark_fops);

static void trace_print_print(struct seq_file *s, struct trace_iterator *iter)
{
	const struct print_entry *field = (const void *)iter->ent;

	seq_print_ip_sym(s, iter->tr, field->ip);
	seq_puts(s, ": ");
	seq_puts(s, field->buf);
}

/* The option raw: the address in place of the function's name. */
static void trace_print_raw(struct seq_file *s, struct trace_iterator *iter)
{
	const struct print_entry *field = (const void *)iter->ent;

	seq_printf(s, "# %lx %s", field->ip, field->buf);
}

static const struct trace_event trace_print_event = {
	.type = TRACE_PRINT,
	.trace = trace_print_print,
	.raw = trace_print_raw,
};
REGISTER_TRACE_EVENT(trace_print_event);
