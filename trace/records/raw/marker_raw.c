/*
 * trace_marker_raw: bytes that user programs put into the trace, with a number that says what they are.
 *
 *     written:  1a 00 00 00  01 02 03          a u32, and what the program likes
 *     shown:    # 1a buf: 01 02 03 00          filled up to a whole word with zeros
 *
 * The kernel does not interpret the bytes: programs that write and programs that read agree on the numbers. As with
 * trace_marker, the bytes are copied from the program before preemption goes off, because that copy may fault and
 * sleep.
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "output/iter.h"
#include "output/output.h"
#include "tracefs/refused.h"
#include "tracefs/tracefs.h"
#include "records/records.h"

#define RAW_STACK 256 /* up to here the number and the bytes wait on the stack */

/* The record for bytes that cannot be read has this number and text, as in Linux. */
static const struct {
	u32 id;
	char text[sizeof(TRACE_FAULTED)];
} faulted = {~0U, TRACE_FAULTED};

/*
 * Put `n` bytes, the number included, into a record. Context: preemption off. Returns `n`, or -EBADF when nothing
 * is recorded, as if the file were not open for writing (Linux).
 */
static ssize_t record_raw(struct trace_array *tr, const void *data, size_t n)
{
	size_t words = ALIGN(n, 4);
	struct ring_buffer_event *event;
	struct raw_data_entry *entry = trace_reserve(tr, &event, TRACE_RAW_DATA, sizeof(entry->ent) + words);

	if (!entry)
		return -EBADF;
	/* Records are whole words: the rest of the last one goes to user space, too. */
	memset((char *)&entry->id + words - 4, 0, 4);
	memcpy(&entry->id, data, n);
	trace_commit(tr);
	return n;
}

/*
 * A write has at least the number that it begins with, and no more than a record can hold: bytes cannot be cut as
 * text can. -EINVAL, -ENOMEM, -EBADF; -EFAULT after "<faulted>" was recorded in place of bytes that cannot be read.
 */
static ssize_t raw_mark_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	struct trace_array *tr = tracefs_array(file);
	char small[RAW_STACK], *data = small;
	ssize_t ret;
	bool fault;

	if (!(tr->trace_flags & TRACE_ITER(MARKERS)) || n < sizeof(u32) ||
	    n > ring_buffer_max_event(tr->buffer) - sizeof(struct trace_entry))
		return -EINVAL;
	if (n > sizeof(small)) {
		data = kvmalloc(n, GFP_KERNEL);
		if (!data)
			return -ENOMEM;
	}
	fault = copy_from_user(data, buf, n);
	tracing_record_cmdline(current);
	preempt_disable_notrace();
	ret = record_raw(tr, fault ? &faulted : (void *)data, fault ? sizeof(faulted) : n);
	preempt_enable_notrace();
	if (data != small)
		kvfree(data);
	return fault && ret > 0 ? -EFAULT : ret;
}

static const struct file_operations raw_mark_fops = {
	.read = tracefs_only_written,
	.write = raw_mark_write,
	.llseek = noop_llseek,
};
TRACEFS_FILE(trace_marker_raw, "trace_marker_raw", 0220, TRACEFS_ARRAY, &raw_mark_fops);

/* "# 1a buf: 01 02 03 00": to the end of the last word. */
static void trace_raw_data_print(struct seq_file *s, struct trace_iterator *iter)
{
	const struct raw_data_entry *field = (const void *)iter->ent;
	unsigned n = iter->ent_size - offsetof(struct raw_data_entry, buf);

	seq_printf(s, "# %x buf:", field->id);
	for (unsigned i = 0; i < n; i++)
		seq_printf(s, " %02x", field->buf[i]);
	seq_putc(s, '\n');
}

static const struct trace_event trace_raw_data_event = {
	.type = TRACE_RAW_DATA,
	.trace = trace_raw_data_print,
	.raw = trace_raw_data_print,
};
REGISTER_TRACE_EVENT(trace_raw_data_event);
