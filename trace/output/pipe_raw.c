/*
 * per_cpu/cpuN/trace_pipe_raw: a CPU's records as they lie in the ring buffer, page by page. What is read is gone
 * from the buffer. buffer_percent says how much there must be before readers that wait are woken.
 *
 * trace-cmd record lives on this file. Two ways lead out of it: read() copies, splice() moves a whole page into a
 * pipe without a copy. The format of a page is in events/header_page and events/header_event.
 *
 * Order of locks: the reader's `lock`, inside it trace_types_lock; both are let go of while waiting. For splice:
 * the pipe's lock, inside it trace_types_lock.
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <fs/poll.h>
#include <fs/splice.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>
#include <uapi/fcntl.h>

#include "tracefs/refused.h"
#include "tracefs/tracefs.h"
#include "iter.h"

/* An open file. Locks: l lock, inside it trace_types_lock; I immutable. */
struct raw_reader {
	struct trace_array *tr; /* [I] */
	int cpu;		/* [I] */
	struct mutex lock;
	struct buffer_data_page *page; /* [l] what was taken last */
	size_t read;		       /* [l] bytes of it that are handed out; sizeof(*page): all */
};

/*
 * The tracer stays while the file is open, and it is not a latency tracer, because a maximum would miss what we
 * take, as with trace_pipe. Several such files may be open: trace_ref counts them. 0 or -EBUSY.
 */
static int hold_tracer(struct trace_array *tr)
{
	int ret = -EBUSY;

	mutex_lock(&trace_types_lock);
	if (!tr->current_trace->use_max_tr) {
		tr->trace_ref++;
		ret = 0;
	}
	mutex_unlock(&trace_types_lock);
	return ret;
}

static const struct trace_hint pipe_raw_hint = {.file = "trace_pipe_raw", .explain = trace_pipe_explain};
REGISTER_TRACE_HINT(pipe_raw_hint);

/* `read` begins at the page's end: the page holds nothing yet, so the first read takes one. 0, -ENOMEM, -EBUSY. */
static int raw_open(struct inode *inode, struct file *file)
{
	struct raw_reader *r = kzalloc(sizeof(*r), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->tr = tracefs_array(file);
	r->cpu = tracefs_cpu(file);
	mutex_init(&r->lock);
	r->page = ring_buffer_alloc_read_page(r->tr->buffer, r->cpu);
	r->read = sizeof(*r->page);
	if (r->page)
		ret = hold_tracer(r->tr);
	if (!ret) {
		file->private_data = r;
		return 0;
	}
	if (r->page)
		ring_buffer_free_read_page(r->tr->buffer, r->cpu, r->page);
	kfree(r);
	return tracefs_refused(file, NULL, "", ret);
}

/* The last user of the file is gone, so its own lock is not needed. */
static int raw_release(struct inode *inode, struct file *file)
{
	struct raw_reader *r = file->private_data;

	mutex_lock(&trace_types_lock);
	r->tr->trace_ref--;
	mutex_unlock(&trace_types_lock);
	ring_buffer_free_read_page(r->tr->buffer, r->cpu, r->page);
	kfree(r);
	return 0;
}

/* Is there as much as buffer_percent asks for? While recording is off no more will come, so any record is enough. */
static bool raw_ready(void *reader)
{
	const struct raw_reader *r = reader;
	bool on = tracer_tracing_is_on(r->tr);

	return ring_buffer_filled(r->tr->buffer, r->cpu, on ? READ_ONCE(r->tr->buffer_percent) : 0);
}

/*
 * Take one page, or as many of its records as fit into `n` bytes: as ring_buffer_read_page. The lock keeps this from
 * taking a page while trace_pipe shows a record of it.
 */
static int take_page(const struct raw_reader *r, struct buffer_data_page **page, size_t n, bool full)
{
	int ret;

	mutex_lock(&trace_types_lock);
	ret = ring_buffer_read_page(r->tr->buffer, page, n, r->cpu, full);
	mutex_unlock(&trace_types_lock);
	return ret;
}

/* Wait until raw_ready(); with nonblock do not wait: -EAGAIN. 0, -ERESTARTSYS. Context: no lock held. */
static int raw_wait(struct raw_reader *r, bool nonblock)
{
	int ret;

	if (nonblock)
		return -EAGAIN;
	do {
		ret = trace_wait_for(r->tr, raw_ready, r);
	} while (!ret && !raw_ready(r));
	return ret;
}

/*
 * See to it that the page in hand has bytes that are not handed out yet. 0; 1: `n` is too small for the next record,
 * which the reader sees as the end; -errno of raw_wait(). r->lock held, let go of while waiting.
 */
static int next_page(struct file *file, struct raw_reader *r, size_t n)
{
	int ret;

	while (r->read == sizeof(*r->page)) {
		ret = take_page(r, &r->page, n, false);
		if (!ret)
			r->read = 0;
		if (ret != -EAGAIN)
			return ret ? 1 : 0;
		mutex_unlock(&r->lock);
		ret = raw_wait(r, file->f_flags & O_NONBLOCK);
		mutex_lock(&r->lock);
		if (ret)
			return ret;
	}
	return 0;
}

/* Copy what is left of the page in hand, at most `n` bytes. After -EFAULT nothing counts as read. r->lock held. */
static ssize_t hand_out(struct raw_reader *r, char __user *buf, size_t n, loff_t *pos)
{
	n = min(n, sizeof(*r->page) - r->read);
	if (copy_to_user(buf, (const char *)r->page + r->read, n))
		return -EFAULT;
	r->read += n;
	*pos += n;
	return n;
}

/*
 * A stream of whole pages, in reads of any size. A page gets as many records as the first read of it has room for, and
 * the rest is zeros, so small reads waste room. (That is as in Linux: a reader of whole pages gets full ones.)
 */
static ssize_t raw_read(struct file *file, char __user *buf, size_t n, loff_t *pos)
{
	struct raw_reader *r = file->private_data;
	ssize_t ret;

	if (!n)
		return 0;
	mutex_lock(&r->lock);
	ret = next_page(file, r, n);
	if (!ret)
		ret = hand_out(r, buf, n, pos);
	else if (ret > 0)
		ret = 0;
	mutex_unlock(&r->lock);
	return ret;
}

/* One page that the writer has left, into the pipe. 0, -EAGAIN, -ENOMEM, or as pipe_lock_room. */
static int splice_page(struct raw_reader *r, struct file *pipe, bool nonblock)
{
	struct buffer_data_page *page = ring_buffer_alloc_read_page(r->tr->buffer, r->cpu);
	int ret = page ? pipe_lock_room(pipe, nonblock) : -ENOMEM;

	if (!ret) {
		ret = take_page(r, &page, sizeof(*page), true);
		if (!ret) {
			pipe_give_page(pipe, page);
			page = NULL;
		}
		pipe_unlock(pipe);
	}
	if (page)
		ring_buffer_free_read_page(r->tr->buffer, r->cpu, page);
	return ret;
}

/*
 * Move as many whole pages as there are and as `n` asks for. Only the first may wait for room in the pipe: with pages
 * moved already, the caller hears of those at once.
 */
static ssize_t splice_pages(struct raw_reader *r, struct file *pipe, size_t n, bool nonblock)
{
	ssize_t done = 0;
	int ret = 0;

	while (!ret && n - done >= sizeof(*r->page)) {
		ret = splice_page(r, pipe, nonblock || done);
		if (!ret)
			done += sizeof(*r->page);
	}
	return done ? done : ret;
}

/*
 * Whole pages only, which become the pipe's own: records are not copied. What the writer has not left yet is for read.
 * Waits once, then takes what there is: 0 when that is no page (recording went off), as in Linux.
 */
static ssize_t raw_splice(struct file *file, loff_t *pos, struct file *pipe, size_t n, bool nonblock)
{
	struct raw_reader *r = file->private_data;
	ssize_t ret;

	if ((*pos & (sizeof(*r->page) - 1)) || n < sizeof(*r->page))
		return -EINVAL;
	nonblock |= !!(file->f_flags & O_NONBLOCK);
	ret = splice_pages(r, pipe, n, nonblock);
	if (ret == -EAGAIN && !nonblock) {
		ret = raw_wait(r, false);
		if (!ret)
			ret = splice_pages(r, pipe, n, false);
		if (ret == -EAGAIN)
			ret = 0;
	}
	if (ret > 0)
		*pos += ret;
	return ret;
}

/* The queue is joined before the look: in the other order a page that comes in between could be missed. */
static unsigned raw_poll(struct file *file, struct poll_table *pt)
{
	struct raw_reader *r = file->private_data;

	poll_wait(file, &r->tr->wait, pt);
	if (READ_ONCE(r->read) != sizeof(*r->page) || raw_ready(r))
		return POLLIN | POLLRDNORM;
	trace_poll_later(r->tr);
	return 0;
}

static const struct file_operations raw_fops = {
	.open = raw_open,
	.read = raw_read,
	.splice_read = raw_splice,
	.poll = raw_poll,
	.llseek = no_llseek,
	.release = raw_release,
};
TRACEFS_FILE(trace_pipe_raw, "trace_pipe_raw", 0440, TRACEFS_PER_CPU, &raw_fops);

static int buffer_percent_show(struct seq_file *m, void *data)
{
	struct trace_array *tr = trace_file_array(data);

	seq_printf(m, "%u\n", READ_ONCE(tr->buffer_percent));
	return 0;
}

/*
 * 0 wakes at the first record, 100 only with a full buffer. Readers that wait see the new value at the next look of
 * the timer (pipe.c).
 */
static int buffer_percent_store(char *text, void *data)
{
	struct trace_array *tr = trace_file_array(data);
	unsigned long val;
	int ret = kstrtoul(text, 10, &val);

	if (ret)
		return ret;
	if (val > 100)
		return -EINVAL;
	WRITE_ONCE(tr->buffer_percent, val);
	return 0;
}
TRACEFS_TEXT_FILE(buffer_percent, "buffer_percent", 0640, TRACEFS_ARRAY, buffer_percent_show, buffer_percent_store);
TRACEFS_TAKES(buffer_percent, "buffer_percent", "a number from 0 to 100");

/*
 * The buffer's pages are what the machine's are: 4 KiB. Linux can have pages of up to 512. Ours count words, events and
 * time in one word of 64 bits a page, so that a writer claims all with one exchange (ring_buffer_inline.h); pages of
 * another size would take its bits from the time.
 */
#define SUBBUF_KB (sizeof(struct buffer_data_page) >> 10)

static int subbuf_size_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%lu\n", SUBBUF_KB);
	return 0;
}

/* As in Linux the size is rounded up to whole pages. */
static int subbuf_size_store(char *text, void *data)
{
	unsigned long val;
	int ret = kstrtoul(text, 10, &val);

	return ret ? ret : val >= 1 && val <= SUBBUF_KB ? 0 : -EINVAL;
}
TRACEFS_TEXT_FILE(subbuf_size, "buffer_subbuf_size_kb", 0640, TRACEFS_ARRAY, subbuf_size_show, subbuf_size_store);
TRACEFS_TAKES(subbuf_size, "buffer_subbuf_size_kb", "a number of KiB from 1 to 4: the buffer's pages have 4 KiB");

/* Records tell their time as the distance from the one before. (Whole stamps are for Linux's histograms.) */
static int timestamp_mode_show(struct seq_file *m, void *data)
{
	seq_puts(m, "[delta] absolute\n");
	return 0;
}
TRACEFS_TEXT_FILE(timestamp_mode, "timestamp_mode", 0440, TRACEFS_ARRAY, timestamp_mode_show, NULL);
