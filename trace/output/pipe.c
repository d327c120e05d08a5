/*
 * trace_pipe: a live stream. What is read is gone from the buffer; reading blocks until there is something.
 *
 * A read makes text of as many records as it has room for (fill_text), and hands it out. Text that the program had
 * no room for stays for its next read. Each CPU's records have one reader at a time, since two would get half each.
 *
 * Locks: iter->mutex for the text of this open file, since several tasks may share it; inside it trace_types_lock,
 * while records become text. Neither is held during a wait, or writing to a control file would wait for a reader
 * that sleeps.
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
#include "iter.h"

#define PIPE_TEXT_SIZE 8192 /* room for the lines of one read, until a line needs more */
#define PIPE_RECORDS   1024 /* that are looked at before others have their turn with trace_types_lock */

/*
 * Claim the CPUs of this reader: each CPU has one at a time, as two would get half of its records each. 0, -EBUSY. [t]
 */
static int take_cpus(struct trace_iterator *iter)
{
	struct cpumask *taken = &iter->tr->pipe_cpus;

	if (iter->cpu_file == RING_BUFFER_ALL_CPUS_FILE ? !cpumask_empty(taken)
							: cpumask_test_cpu(iter->cpu_file, taken))
		return -EBUSY;
	if (iter->cpu_file == RING_BUFFER_ALL_CPUS_FILE)
		*taken = cpu_possible_mask;
	else
		cpumask_set_cpu(iter->cpu_file, taken);
	return 0;
}

/* Undo take_cpus(). [trace_types_lock] */
static void give_cpus(struct trace_iterator *iter)
{
	if (iter->cpu_file == RING_BUFFER_ALL_CPUS_FILE)
		iter->tr->pipe_cpus = (struct cpumask){};
	else
		cpumask_clear_cpu(iter->cpu_file, &iter->tr->pipe_cpus);
}

/*
 * The tracer stays as long as the pipe is open. Not a latency tracer: what a reader took would be missing in the
 * maximum that the live buffer becomes.
 */
static int hold_tracer(struct trace_iterator *iter)
{
	struct trace_array *tr = iter->tr;
	int ret;

	mutex_lock(&trace_types_lock);
	iter->trace = tr->current_trace;
	iter->latency_format = tr->trace_flags & TRACE_ITER(LATENCY_FMT);
	ret = iter->trace->use_max_tr ? -EBUSY : take_cpus(iter);
	if (!ret) {
		ret = trace_iter_prepare(iter);
		if (ret)
			give_cpus(iter);
	}
	if (!ret && iter->trace->pipe_open)
		iter->trace->pipe_open(&iter->text, iter);
	__atomic_fetch_add(&tr->trace_ref, !ret, __ATOMIC_RELAXED);
	mutex_unlock(&trace_types_lock);
	return ret;
}

/* 0, -ENOMEM, or -EBUSY. */
static int tracing_open_pipe(struct inode *inode, struct file *file)
{
	struct trace_iterator *iter = kzalloc(sizeof(*iter), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!iter)
		return -ENOMEM;
	iter->text.buf = kmalloc(PIPE_TEXT_SIZE, GFP_KERNEL);
	if (!iter->text.buf)
		goto free_iter;
	iter->text.size = PIPE_TEXT_SIZE;
	iter->tr = tracefs_array(file);
	iter->buffer = iter->tr->buffer;
	iter->cpu_file = tracefs_cpu(file);
	mutex_init(&iter->mutex);
	ret = hold_tracer(iter);
	if (ret)
		goto free_text;
	file->private_data = iter;
	return 0;
free_text:
	kvfree(iter->text.buf);
free_iter:
	kfree(iter);
	return tracefs_refused(file, NULL, "", ret);
}

/* From here on another reader may open the file, and another tracer may be set. */
static int tracing_release_pipe(struct inode *inode, struct file *file)
{
	struct trace_iterator *iter = file->private_data;

	mutex_lock(&trace_types_lock);
	give_cpus(iter);
	__atomic_fetch_sub(&iter->tr->trace_ref, 1, __ATOMIC_RELAXED);
	mutex_unlock(&trace_types_lock);
	trace_iter_release(iter);
	kvfree(iter->text.buf);
	kfree(iter);
	return 0;
}

/*
 * Nothing to show at this moment? A record that the iterator holds as a copy is out of the buffer, but not shown
 * yet.
 */
static bool trace_empty(struct trace_iterator *iter)
{
	if (iter->held)
		return false;
	if (iter->cpu_file == RING_BUFFER_ALL_CPUS_FILE)
		return ring_buffer_empty(iter->buffer);
	return ring_buffer_empty_cpu(iter->buffer, iter->cpu_file);
}

/*
 * How often the timer looks for records while a reader waits (wake_readers). A change of tracer wakes readers at once.
 */
#define PIPE_POLL_NS (10 * NSEC_PER_MSEC)

/*
 * The task joins the queue first and looks afterwards: a wake-up between the look and schedule() makes schedule()
 * return at once. 0 may also mean a wake-up for another reader, so the caller looks again.
 */
int trace_wait_for(struct trace_array *tr, bool (*ready)(void *arg), void *arg)
{
	DEFINE_WAIT(wait);

	prepare_to_wait(&tr->wait, &wait, TASK_INTERRUPTIBLE);
	trace_poll_later(tr);
	if (!ready(arg) && !signal_pending(current))
		schedule();
	finish_wait(&tr->wait, &wait);
	return signal_pending(current) ? -ERESTARTSYS : 0;
}

void trace_poll_later(struct trace_array *tr)
{
	if (!__atomic_exchange_n(&tr->poll_armed, 1, __ATOMIC_SEQ_CST))
		hrtimer_start(&tr->poll_timer, ktime_get() + PIPE_POLL_NS);
}

static bool pipe_ready(void *iter)
{
	return !trace_empty(iter);
}

/* When the tracer has changed, or tracing is off after something was read, the reader gets end of file, as in Linux. */
static bool pipe_at_end(struct trace_iterator *iter)
{
	return (!tracer_tracing_is_on(iter->tr) && iter->pos) || iter->trace != READ_ONCE(iter->tr->current_trace);
}

/*
 * Nothing to read: wait a little. 0, 1 for end of file, -EAGAIN, -ERESTARTSYS. Context: iter->mutex held, let go of
 * while waiting.
 */
static int tracing_wait_pipe(struct trace_iterator *iter, bool nonblock)
{
	int ret;

	if (nonblock)
		return -EAGAIN;
	if (pipe_at_end(iter))
		return 1;
	mutex_unlock(&iter->mutex);
	ret = trace_wait_for(iter->tr, pipe_ready, iter);
	mutex_lock(&iter->mutex);
	return ret;
}

/* Twice the room for text, of which there is none yet. False: no memory. iter->mutex held. */
static bool grow_text(struct seq_file *s)
{
	char *buf = kvmalloc(2 * s->size, GFP_KERNEL | __GFP_NOWARN);

	if (!buf)
		return false;
	kvfree(s->buf);
	s->buf = buf;
	s->size *= 2;
	return true;
}

/*
 * Take whole lines while they fit; a line that does not stays in the buffer for the next read. When even an empty
 * buffer is too small for it, it gets a larger one, or is left out for lack of memory. Some records have no line
 * (function_graph's of what its options hide), and they may come faster than we take them: so text or not, after
 * PIPE_RECORDS we let go of the lock.
 */
static void fill_text(struct trace_iterator *iter, size_t want)
{
	struct seq_file *s = &iter->text;

	s->count = 0;
	iter->text_read = 0;
	for (unsigned n = 0; n < PIPE_RECORDS && s->count < want && trace_find_next_entry(iter); n++) {
		size_t before = s->count;

		iter->idx++;
		trace_print_line(s, iter);
		if (seq_has_overflowed(s)) {
			s->count = before;
			if (before)
				break;
			if (grow_text(s))
				continue;
		}
		trace_consume_entry(iter);
		iter->pos++;
	}
}

/* Copy up to `n` bytes of the text that is made. After -EFAULT the text is still there. iter->mutex held. */
static ssize_t hand_out(struct trace_iterator *iter, char __user *buf, size_t n)
{
	size_t have = iter->text.count - iter->text_read;

	n = min(n, have);
	if (copy_to_user(buf, iter->text.buf + iter->text_read, n))
		return -EFAULT;
	iter->text_read += n;
	return n;
}

/*
 * Make text, and wait until there is some. It loops because records that are there may not become text: another reader
 * takes them first, or none of them has a line. A task that shares the open file may have made text while we waited. 0,
 * or as tracing_wait_pipe. iter->mutex held, let go of while waiting.
 */
static int get_text(struct trace_iterator *iter, size_t want, bool nonblock)
{
	while (iter->text_read == iter->text.count) {
		int ret = trace_empty(iter) ? tracing_wait_pipe(iter, nonblock) : 0;

		if (ret)
			return ret;
		if (iter->text_read != iter->text.count)
			break;
		if (signal_pending(current))
			return -ERESTARTSYS;
		mutex_lock(&trace_types_lock);
		fill_text(iter, want);
		mutex_unlock(&trace_types_lock);
	}
	return 0;
}

/* The number of bytes, 0 for the end (pipe_at_end), -EAGAIN with O_NONBLOCK, -ERESTARTSYS at a signal, -EFAULT. */
static ssize_t tracing_read_pipe(struct file *file, char __user *buf, size_t n, loff_t *pos)
{
	struct trace_iterator *iter = file->private_data;
	ssize_t ret;

	if (!n)
		return 0;
	mutex_lock(&iter->mutex);
	ret = get_text(iter, min(n, (size_t)PIPE_TEXT_SIZE - 1), file->f_flags & O_NONBLOCK);
	if (!ret)
		ret = hand_out(iter, buf, n);
	else if (ret > 0)
		ret = 0;
	mutex_unlock(&iter->mutex);
	return ret;
}

/* Copy up to a page of text into the pipe. 0: the end, or a task that shares the open file was faster; -errno. */
static ssize_t splice_text(struct trace_iterator *iter, struct file *pipe, size_t n, bool nonblock)
{
	ssize_t ret;

	mutex_lock(&iter->mutex);
	ret = get_text(iter, min(n, PAGE_SIZE), nonblock);
	mutex_unlock(&iter->mutex);
	if (!ret)
		ret = pipe_lock_room(pipe, nonblock);
	if (ret)
		return min_t(ssize_t, ret, 0);
	mutex_lock(&iter->mutex);
	n = min(min(n, PAGE_SIZE), iter->text.count - iter->text_read);
	ret = pipe_give_bytes(pipe, iter->text.buf + iter->text_read, n);
	if (ret > 0)
		iter->text_read += ret;
	mutex_unlock(&iter->mutex);
	pipe_unlock(pipe);
	return ret;
}

/* Only the first piece may wait: once something has been moved, the caller gets that at once. */
static ssize_t tracing_splice_pipe(struct file *file, loff_t *pos, struct file *pipe, size_t n, bool nonblock)
{
	ssize_t done = 0, ret = 1;

	nonblock |= !!(file->f_flags & O_NONBLOCK);
	while (ret > 0 && done < n) {
		ret = splice_text(file->private_data, pipe, n - done, nonblock || done);
		if (ret > 0)
			done += ret;
	}
	return done ? done : ret;
}

/*
 * Must the readers be woken? A reader of text waits for any record of its CPUs, as does a read of raw pages; splice and
 * poll wait for as much as buffer_percent says. While recording is off all readers are woken and look for themselves:
 * for some it is the end.
 */
static bool news_for_readers(struct trace_array *tr)
{
	unsigned cpu;

	if (!tracer_tracing_is_on(tr))
		return true;
	for_each_possible_cpu(cpu) {
		bool any = READ_ONCE(tr->raw_reads) || cpumask_test_cpu(cpu, &tr->pipe_cpus);
		unsigned percent = any ? 0 : READ_ONCE(tr->buffer_percent);

		if (ring_buffer_filled(tr->buffer, cpu, percent))
			return true;
		if (READ_ONCE(tr->snapshot_files) && trace_snapshot_filled(tr, cpu, percent))
			return true;
	}
	return false;
}

/*
 * Hard interrupt. A reader that finds nothing arms the timer again.
 *
 * Readers of trace_pipe are woken by a timer that may be off.
 *
 * A writer cannot wake a task: it may hold a runqueue's lock. A reader that waits or polls joins the wait queue and
 * arms one timer for all, unless poll_armed says that it is armed. The timer goes off every 10 ms, looks for what the
 * readers wait for, and goes on while there is nothing and a reader waits. It clears poll_armed before it wakes the
 * queue, both with a full barrier: a reader that saw it set had joined the queue before, and is woken; one that comes
 * later sees it clear and arms the timer again. When no reader asks again, it stays off. The timer looks, and not the
 * readers, because a reader that ran in order to find nothing would itself be what the next reader finds.
 */
static enum hrtimer_restart wake_readers(struct hrtimer *timer)
{
	struct trace_array *tr = timer->data;

	if (waitqueue_active(&tr->wait) && !news_for_readers(tr)) {
		hrtimer_forward(timer, ktime_get(), PIPE_POLL_NS);
		return HRTIMER_RESTART;
	}
	/* Before the wake-up, with a full barrier: a reader that saw it set is on the queue by now and is woken. */
	__atomic_exchange_n(&tr->poll_armed, 0, __ATOMIC_SEQ_CST);
	wake_up_all(&tr->wait);
	return HRTIMER_NORESTART;
}

static int trace_pipe_init(struct trace_array *tr)
{
	hrtimer_init(&tr->poll_timer, wake_readers);
	tr->poll_timer.data = tr;
	return 0;
}

/* A reader that waited had a file of the array, so the timer does not start again. */
static void trace_pipe_stop(struct trace_array *tr)
{
	hrtimer_cancel(&tr->poll_timer);
}

static const char *trace_pipe_left(const struct trace_array *tr)
{
	return hrtimer_active(&tr->poll_timer) ? "the timer of trace_pipe's readers" : NULL;
}

static const struct trace_part pipe_part = {.init = trace_pipe_init, .stop = trace_pipe_stop, .left = trace_pipe_left};
REGISTER_TRACE_PART(pipe_part);

/*
 * With the option block, poll always says that there is something to read, and the reader then blocks in read, as in
 * Linux since 2.6. Another task that shares the open file may take what poll has seen.
 */
static unsigned tracing_poll_pipe(struct file *file, struct poll_table *pt)
{
	struct trace_iterator *iter = file->private_data;
	struct trace_array *tr = iter->tr;

	if (tr->trace_flags & TRACE_ITER(BLOCK))
		return POLLIN | POLLRDNORM;
	poll_wait(file, &tr->wait, pt);
	if (READ_ONCE(iter->text_read) != READ_ONCE(iter->text.count) || !trace_empty(iter) || pipe_at_end(iter))
		return POLLIN | POLLRDNORM;
	trace_poll_later(tr);
	return 0;
}

static const struct file_operations tracing_pipe_fops = {
	.open = tracing_open_pipe,
	.read = tracing_read_pipe,
	.splice_read = tracing_splice_pipe,
	.poll = tracing_poll_pipe,
	.llseek = no_llseek,
	.release = tracing_release_pipe,
};
TRACEFS_FILE(trace_pipe, "trace_pipe", 0440, TRACEFS_ARRAY | TRACEFS_PER_CPU, &tracing_pipe_fops);
