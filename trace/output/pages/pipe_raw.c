/*
 * per_cpu/cpuN/trace_pipe_raw: a CPU's records as they lie in the ring buffer, page by page. What is read is gone
 * from the buffer. buffer_percent says how much there must be before splice and poll are woken.
 *
 * per_cpu/cpuN/snapshot_raw: the same of the snapshot, which is the newest one at each look.
 *
 * trace-cmd record lives on this file. Two ways lead out of it: read() copies, splice() moves a whole page into a
 * pipe without a copy. The format of a page is in events/header_page and events/header_event.
 *
 * A page is a sub-buffer, whose size buffer_subbuf_size_kb sets for the array. A pipe consists of the machine's pages,
 * and may be smaller than a sub-buffer. So a larger sub-buffer goes through the reader's hand: it is taken whole, and
 * copied into the pipe page by page, by as many calls of splice as that takes.
 *
 * Order of locks: the reader's `lock`, inside it trace_types_lock; both are let go of while waiting. For splice:
 * the pipe's lock, inside it the reader's `lock`, inside it trace_types_lock.
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

#include "core/aside.h"
#include "tracefs/refused.h"
#include "tracefs/tracefs.h"
#include "output/iter.h"

/* A sub-buffer that was taken, and how much of it is handed out. */
struct raw_page {
	struct buffer_data_page *data; /* NULL: none, and size is 0 */
	size_t size;		       /* bytes, the header included: PAGE_SIZE << order */
	size_t read;		       /* bytes that are handed out; size: all */
	unsigned order;
};

/* An open file. Locks: l lock, inside it trace_types_lock; I immutable. */
struct raw_reader {
	struct trace_array *tr; /* [I] */
	int cpu;		/* [I] */
	bool of_snapshot;	/* [I] snapshot_raw */
	struct mutex lock;
	struct raw_page page;	 /* [l] for read */
	struct raw_page spliced; /* [l] for splice: what is begun here is not for read, too */
};

/*
 * The tracer stays while the file is open, and it is not a latency tracer, because a maximum would miss what we
 * take, as with trace_pipe. Several such files may be open: trace_ref counts them. 0 or -EBUSY.
 */
static int hold_tracer(const struct raw_reader *r)
{
	struct trace_array *tr = r->tr;
	int ret = -EBUSY;

	mutex_lock(&trace_types_lock);
	if (!tr->current_trace->use_max_tr) {
		__atomic_fetch_add(&tr->trace_ref, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&tr->snapshot_files, r->of_snapshot, __ATOMIC_RELAXED);
		trace_snapshot_settle(tr); /* or a program could not map the ring */
		ret = 0;
	}
	mutex_unlock(&trace_types_lock);
	return ret;
}

static void free_page_in_hand(struct raw_page *page)
{
	if (page->data)
		ring_buffer_free_read_page(page->data, page->order);
	*page = (struct raw_page){};
}

/* A page of the size that the array's pages have now, with nothing in it. 0, -ENOMEM. trace_types_lock held. */
static int fit_page(const struct raw_reader *r, struct raw_page *page)
{
	unsigned order = ring_buffer_order(r->tr->buffer);

	if (page->data && page->order == order)
		return 0;
	free_page_in_hand(page);
	page->data = ring_buffer_alloc_read_page(r->tr->buffer, r->cpu);
	if (!page->data)
		return -ENOMEM;
	page->order = order;
	page->size = page->read = PAGE_SIZE << order;
	return 0;
}

/* The page begins as read to its end: it holds nothing yet, so the first read takes one. 0, -ENOMEM, -EBUSY. */
static int open_reader(struct file *file, bool of_snapshot)
{
	struct raw_reader *r = kzalloc(sizeof(*r), GFP_KERNEL);
	int ret;

	if (!r)
		return -ENOMEM;
	r->tr = tracefs_array(file);
	r->cpu = tracefs_cpu(file);
	r->of_snapshot = of_snapshot;
	mutex_init(&r->lock);
	mutex_lock(&trace_types_lock);
	ret = fit_page(r, &r->page);
	mutex_unlock(&trace_types_lock);
	if (!ret)
		ret = hold_tracer(r);
	if (!ret) {
		file->private_data = r;
		return 0;
	}
	free_page_in_hand(&r->page);
	kfree(r);
	return tracefs_refused(file, NULL, "", ret);
}

static int raw_open(struct inode *inode, struct file *file)
{
	return open_reader(file, false);
}

static int snapshot_raw_open(struct inode *inode, struct file *file)
{
	return open_reader(file, true);
}

/*
 * The last user of the file is gone, so its own lock is not needed. Nor is trace_types_lock, which must not be taken
 * here: the last user may have been a mapping, and then the mmap_lock is held.
 */
static int raw_release(struct inode *inode, struct file *file)
{
	struct raw_reader *r = file->private_data;

	__atomic_fetch_sub(&r->tr->trace_ref, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&r->tr->snapshot_files, r->of_snapshot, __ATOMIC_RELAXED);
	free_page_in_hand(&r->page);
	free_page_in_hand(&r->spliced);
	kfree(r);
	return 0;
}

static bool part_is_filled(const struct raw_reader *r, unsigned percent)
{
	if (r->of_snapshot)
		return trace_snapshot_filled(r->tr, r->cpu, percent);
	return ring_buffer_filled(r->tr->buffer, r->cpu, percent);
}

/* What read waits for: any record. */
static bool has_record(void *reader)
{
	return part_is_filled(reader, 0);
}

/* What poll reports: as much as buffer_percent asks for, and with 0 any record. */
static bool is_filled(const struct raw_reader *r)
{
	return part_is_filled(r, READ_ONCE(r->tr->buffer_percent));
}

/* What splice waits for: the same. While recording is off no more will come, so any record ends the wait. */
static bool worth_splicing(void *reader)
{
	const struct raw_reader *r = reader;

	return is_filled(r) || (!tracer_tracing_is_on(r->tr) && has_record(reader));
}

/*
 * ring_buffer_read_page() of the newest snapshot. It is held, so its rings stay where they are meanwhile. -EAGAIN: no
 * snapshot was taken, or it has no part of this CPU; -ENOMEM. trace_types_lock held.
 */
static int take_of_snapshot(const struct raw_reader *r, struct raw_page *page, size_t n, bool full)
{
	struct trace_snapshot *snapshot;
	int ret = -EAGAIN;

	trace_snapshot_settle(r->tr);
	snapshot = trace_snapshot_get(r->tr);
	if (!snapshot)
		return -EAGAIN;
	if (IS_ERR(snapshot))
		return PTR_ERR(snapshot);
	if (cpumask_test_cpu(r->cpu, &snapshot->cpus))
		ret = ring_buffer_read_page(snapshot->buffer, &page->data, n, r->cpu, full);
	trace_snapshot_put(r->tr, snapshot);
	return ret;
}

/*
 * Take one page, or as many of its records as fit into `n` bytes: as ring_buffer_read_page, or -ENOMEM. The lock keeps
 * this from taking a page while trace_pipe shows a record of it, and from a change of the pages' size.
 */
static int take_page(const struct raw_reader *r, struct raw_page *page, size_t n, bool full)
{
	int ret;

	mutex_lock(&trace_types_lock);
	ret = fit_page(r, page);
	if (!ret && r->of_snapshot)
		ret = take_of_snapshot(r, page, n, full);
	else if (!ret)
		ret = ring_buffer_read_page(r->tr->buffer, &page->data, n, r->cpu, full);
	if (!ret)
		page->read = 0;
	mutex_unlock(&trace_types_lock);
	return ret;
}

/* Wait until ready(r); with nonblock do not wait: -EAGAIN. 0, -ERESTARTSYS. Context: no lock held. */
static int raw_wait(struct raw_reader *r, bool (*ready)(void *reader), bool nonblock)
{
	int ret;

	if (nonblock)
		return -EAGAIN;
	do {
		ret = trace_wait_for(r->tr, ready, r);
	} while (!ret && !ready(r));
	return ret;
}

/*
 * See to it that the page in hand has bytes that are not handed out yet. 0; 1: `n` is too small for the next record,
 * which the reader sees as the end; -ENOMEM; -errno of raw_wait(). r->lock held, let go of while waiting.
 */
static int next_page(struct file *file, struct raw_reader *r, size_t n)
{
	int ret;

	while (r->page.read == r->page.size) {
		ret = take_page(r, &r->page, n, false);
		if (ret == -ENOMEM)
			return ret;
		if (ret != -EAGAIN)
			return ret ? 1 : 0;
		mutex_unlock(&r->lock);
		__atomic_fetch_add(&r->tr->raw_reads, 1, __ATOMIC_SEQ_CST); /* before the timer of raw_wait() looks */
		ret = raw_wait(r, has_record, file->f_flags & O_NONBLOCK);
		__atomic_fetch_sub(&r->tr->raw_reads, 1, __ATOMIC_SEQ_CST);
		mutex_lock(&r->lock);
		if (ret)
			return ret;
	}
	return 0;
}

/* Copy what is left of the page in hand, at most `n` bytes. After -EFAULT nothing counts as read. r->lock held. */
static ssize_t hand_out(struct raw_reader *r, char __user *buf, size_t n, loff_t *pos)
{
	n = min(n, r->page.size - r->page.read);
	if (copy_to_user(buf, (const char *)r->page.data + r->page.read, n))
		return -EFAULT;
	r->page.read += n;
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

/* What is next of the page in hand, into a pipe that has room for it. 0, -ENOMEM. r->lock held. */
static int give_piece(struct raw_page *page, struct file *pipe)
{
	ssize_t n = PAGE_SIZE;

	if (page->order == 0) {
		pipe_give_page(pipe, page->data);
		*page = (struct raw_page){};
		return 0;
	}
	n = pipe_give_bytes(pipe, (const char *)page->data + page->read, PAGE_SIZE);
	if (n < 0)
		return n;
	page->read += n;
	return 0;
}

/*
 * PAGE_SIZE bytes into the pipe: what is left of a sub-buffer that an earlier call has begun, or the first of one that
 * the writer has left. The pipe's lock is held meanwhile, so that nothing is taken for which there is no room. 0;
 * -EAGAIN; -EINVAL: less than a sub-buffer is asked for, or none ends at this position; -ENOMEM, or as pipe_lock_room.
 */
static int splice_piece(struct raw_reader *r, struct file *pipe, loff_t pos, size_t n, bool nonblock)
{
	int ret = pipe_lock_room(pipe, nonblock);

	if (ret)
		return ret;
	mutex_lock(&r->lock);
	if (r->spliced.read == r->spliced.size) {
		size_t size = ring_buffer_page_size(r->tr->buffer);

		ret = (pos & (size - 1)) || n < size ? -EINVAL : take_page(r, &r->spliced, size, true);
	}
	if (!ret)
		ret = give_piece(&r->spliced, pipe);
	mutex_unlock(&r->lock);
	pipe_unlock(pipe);
	return ret;
}

/*
 * Move as many pages as there are and as `n` asks for. Only the first may wait for room in the pipe: with pages moved
 * already, the caller hears of those at once.
 */
static ssize_t splice_pages(struct raw_reader *r, struct file *pipe, loff_t pos, size_t n, bool nonblock)
{
	ssize_t done = 0;
	int ret = 0;

	while (!ret && n - done >= PAGE_SIZE) {
		ret = splice_piece(r, pipe, pos + done, n - done, nonblock || done);
		if (!ret)
			done += PAGE_SIZE;
	}
	return done ? done : ret;
}

/*
 * Whole sub-buffers only. Those of one page become the pipe's own: records are not copied. What the writer has not left
 * yet is for read. Waits once, then takes what there is: 0 when that is no page (recording went off), as in Linux.
 */
static ssize_t raw_splice(struct file *file, loff_t *pos, struct file *pipe, size_t n, bool nonblock)
{
	struct raw_reader *r = file->private_data;
	ssize_t ret;

	if ((*pos & (PAGE_SIZE - 1)) || n < PAGE_SIZE)
		return -EINVAL;
	nonblock |= !!(file->f_flags & O_NONBLOCK);
	ret = splice_pages(r, pipe, *pos, n, nonblock);
	if (ret == -EAGAIN && !nonblock) {
		ret = raw_wait(r, worth_splicing, false);
		if (!ret)
			ret = splice_pages(r, pipe, *pos, n, false);
		if (ret == -EAGAIN)
			ret = 0;
	}
	if (ret > 0)
		*pos += ret;
	return ret;
}

/* Is a part of it not handed out yet? For poll, which does not take the reader's lock. */
static bool has_rest(const struct raw_page *page)
{
	return READ_ONCE(page->read) != READ_ONCE(page->size);
}

/*
 * The queue is joined before the look: in the other order a page that comes in between could be missed. That recording
 * is off makes nothing ready, as in Linux: trace-cmd's recorder would splice then, and leave at -EAGAIN without the
 * last records, which only read gives.
 */
static unsigned raw_poll(struct file *file, struct poll_table *pt)
{
	struct raw_reader *r = file->private_data;

	poll_wait(file, &r->tr->wait, pt);
	if (has_rest(&r->page) || has_rest(&r->spliced) || is_filled(r))
		return POLLIN | POLLRDNORM;
	trace_poll_later(r->tr);
	return 0;
}

static int raw_mmap(struct file *file, struct vm_area_struct *vma)
{
	const struct trace_raw_map *map;

	for_each_in_table(trace_raw_maps, map)
		return map->mmap(file, vma);
	return -ENODEV;
}

static long raw_ioctl(struct file *file, unsigned cmd, unsigned long arg)
{
	const struct trace_raw_map *map;

	for_each_in_table(trace_raw_maps, map)
		return map->ioctl(file, cmd, arg);
	return -ENOTTY;
}

static const struct file_operations raw_fops = {
	.open = raw_open,
	.read = raw_read,
	.splice_read = raw_splice,
	.poll = raw_poll,
	.mmap = raw_mmap,
	.unlocked_ioctl = raw_ioctl,
	.llseek = no_llseek,
	.release = raw_release,
};
TRACEFS_FILE(trace_pipe_raw, "trace_pipe_raw", 0440, TRACEFS_PER_CPU, &raw_fops);

static const struct file_operations snapshot_raw_fops = {
	.open = snapshot_raw_open,
	.read = raw_read,
	.splice_read = raw_splice,
	.poll = raw_poll,
	.llseek = no_llseek,
	.release = raw_release,
};
TRACEFS_FILE(snapshot_raw, "snapshot_raw", 0440, TRACEFS_PER_CPU, &snapshot_raw_fops);

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
TRACEFS_NUMBER_FILE(buffer_percent, "buffer_percent", 0640, TRACEFS_ARRAY, buffer_percent_show, buffer_percent_store);
TRACEFS_TAKES(buffer_percent, "buffer_percent", "a number from 0 to 100");

static int subbuf_size_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%u\n", ring_buffer_page_size(trace_file_array(data)->buffer) >> 10);
	return 0;
}

/*
 * The size of the array's pages, rounded up to a power of two of the machine's pages, as in Linux. With another size
 * all records are forgotten, also those that are set aside.
 */
static int subbuf_size_store(char *text, void *data)
{
	struct trace_array *tr = trace_file_array(data);
	unsigned long kib;
	unsigned order = 0;
	int ret = kstrtoul(text, 10, &kib);

	if (ret)
		return ret;
	if (!kib || kib > PAGE_SIZE >> 10 << RB_ORDER_MAX)
		return -EINVAL;
	while (kib << 10 > PAGE_SIZE << order)
		order++;
	mutex_lock(&trace_types_lock);
	ret = tracing_set_order(tr, order);
	mutex_unlock(&trace_types_lock);
	return ret;
}
TRACEFS_NUMBER_FILE(subbuf_size, "buffer_subbuf_size_kb", 0640, TRACEFS_ARRAY, subbuf_size_show, subbuf_size_store);

static void explain_subbuf_size(struct trace_refusal *r)
{
	if (r->error == EBUSY)
		r->say(r, "the size stays while the file trace or snapshot is open, or a program has mapped "
			  "trace_pipe_raw: close it first");
	if (r->error != ENOMEM)
		return;
	r->quote(r, "not enough memory for sub-buffers of ", r->text, " KiB");
	r->say(r, ": each needs as much in one piece, and each of %u CPUs at least three", nr_cpu_ids);
}
static const struct trace_hint subbuf_size_hint = {
	.subject = "buffer_subbuf_size_kb", .takes = "a number of KiB from 1 to 512", .explain = explain_subbuf_size};
REGISTER_TRACE_HINT(subbuf_size_hint);

/* Records tell their time as the distance from the one before. (Whole stamps are for Linux's histograms.) */
static int timestamp_mode_show(struct seq_file *m, void *data)
{
	seq_puts(m, "[delta] absolute\n");
	return 0;
}
TRACEFS_TEXT_FILE(timestamp_mode, "timestamp_mode", 0440, TRACEFS_ARRAY, timestamp_mode_show, NULL);
