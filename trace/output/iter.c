/*
 * Walking records: `trace` shows what is in the buffer and leaves it there, trace_pipe consumes and waits for more.
 *
 * Each CPU has a buffer of its own, in order of time. The walk merges them: it looks at the next record of each CPU
 * and takes the oldest. The functions below are the same for both files; only peek_cpu() and step_cpu() differ, by
 * whether the iterator has readers that do not consume (buffer_iter).
 *
 *     trace_find_next_entry -> find_oldest -> peek_cpu     which record is next
 *     trace_print_line                                     its text (line.c)
 *     s_step, trace_consume_entry                          go past it
 *
 * Locks: trace_types_lock from the look at a record until its text is made, so that no other reader, reset or
 * resize takes the page away. Writers are never kept waiting. ftrace_dump() takes no lock: it is alone by then.
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>
#include <uapi/fcntl.h>

#include "core/aside.h"
#include "tracefs/tracefs.h"
#include "tracers/graph/graph.h"
#include "iter.h"
#include "output.h"

/* The next record of one CPU, which is not consumed. Records outside of the window that the file shows are left out. */
static __always_inline struct ring_buffer_event *peek_iter(struct trace_iterator *iter, int cpu, u64 *ts)
{
	struct ring_buffer_iter *rb_iter = iter->buffer_iter[cpu];
	struct ring_buffer_event *event;

	if (!rb_iter)
		return NULL;
	while ((event = ring_buffer_iter_peek(rb_iter, ts)) && *ts < iter->from)
		ring_buffer_iter_advance(rb_iter);
	return event && *ts <= iter->until ? event : NULL;
}

/*
 * The next record of one CPU, not taken yet. NULL: the CPU has none, or none of the window that the file shows.
 * *lost is set only for a reader that consumes.
 */
static __always_inline struct ring_buffer_event *peek_cpu(struct trace_iterator *iter, int cpu, u64 *ts,
							  unsigned long *lost)
{
	return iter->buffer_iter ? peek_iter(iter, cpu, ts) : ring_buffer_peek(iter->buffer, cpu, ts, lost);
}

/* The oldest of all CPUs' next records, its CPU and stamp; NULL and stamp 0 at the end. trace_types_lock held. */
static __always_inline struct ring_buffer_event *find_oldest(struct trace_iterator *iter, int *best_cpu, u64 *best_ts,
							     unsigned long *best_lost)
{
	struct ring_buffer_event *event, *best = NULL;
	unsigned long lost = 0, lost_there = 0;
	u64 ts, oldest = 0;
	unsigned cpu;

	for_each_possible_cpu(cpu) {
		if (iter->cpu_file != RING_BUFFER_ALL_CPUS_FILE && iter->cpu_file != (int)cpu)
			continue;
		event = peek_cpu(iter, cpu, &ts, &lost);
		if (!event || (best && ts >= oldest))
			continue;
		best = event;
		oldest = ts;
		lost_there = lost;
		*best_cpu = cpu;
	}
	*best_ts = oldest;
	*best_lost = lost_there;
	return best;
}

/* Go past the record that peek_cpu() gave for iter->cpu. */
static void step_cpu(struct trace_iterator *iter)
{
	if (iter->buffer_iter)
		ring_buffer_iter_advance(iter->buffer_iter[iter->cpu]);
	else
		ring_buffer_consume(iter->buffer, iter->cpu, NULL, NULL);
}

/* Were records of the CPU lost before the one that peek_cpu() has just given, with *lost? */
static bool was_lost_before(const struct trace_iterator *iter, unsigned long lost)
{
	return iter->buffer_iter ? ring_buffer_iter_has_dropped(iter->buffer_iter[iter->cpu]) : lost;
}

/*
 * A call whose return is the CPU's next record: both become one line, so the return is stepped over, too. Behind a loss
 * it may be the return of another call, and the loss has a line of its own. In the forms for programs each record is
 * one.
 */
static void look_for_leaf(struct trace_iterator *iter)
{
	const struct trace_event *kind;
	struct ring_buffer_event *event;
	unsigned long lost = 0;
	u64 ts;

	iter->leaf = NULL;
	if (!iter->graph || (iter->tr->trace_flags & TRACE_RAW_FORMS))
		return;
	kind = find_trace_event(iter);
	if (!kind || !kind->joins)
		return;
	event = peek_cpu(iter, iter->cpu, &ts, &lost);
	if (!event || was_lost_before(iter, lost) || !kind->joins(iter->ent, ring_buffer_event_data(event)))
		return;
	iter->leaf = memcpy((char *)iter->copy + RB_MAX_EVENT, ring_buffer_event_data(event),
			    sizeof(struct ftrace_graph_ret_entry));
	step_cpu(iter);
}

/*
 * A reader that looks ahead keeps the record itself.
 *
 * A line of the latency format tells how long it took to the next record, and function_graph shows a call that returns
 * at once in one line with its return. But asking for the next record may replace the page that this record lies in. So
 * in these two forms the record is copied before the iterator is moved on; in others nothing is copied and nothing is
 * looked for. trace_pipe cannot know what will come behind the last record that there is, so it marks no delays, as in
 * Linux. A record that is longer than any page of 4 KiB takes (a marker in a larger sub-buffer) is not copied either,
 * and its line shows no delay.
 *
 * A line that did not fit the reader's buffer is made a second time. So what must happen once for each record (noting
 * that a CPU's records have begun) happens when the record is left, not when it is shown.
 */
static noinline void look_ahead(struct trace_iterator *iter)
{
	unsigned long lost;
	int cpu;

	iter->ent = memcpy(iter->copy, iter->ent, iter->ent_size);
	iter->held = true;
	step_cpu(iter);
	look_for_leaf(iter);
	if (iter->buffer_iter && iter->latency_format)
		find_oldest(iter, &cpu, &iter->next_ts, &lost);
}

/*
 * On return iter's fields describe the record. The iterator has not moved past it yet, unless it holds the record as a
 * copy. A consuming reader finds the same record until it calls trace_consume_entry.
 */
struct trace_entry *trace_find_next_entry(struct trace_iterator *iter)
{
	struct ring_buffer_event *event;

	if (iter->held && !iter->buffer_iter)
		return iter->ent;
	event = find_oldest(iter, &iter->cpu, &iter->ts, &iter->lost_events);
	if (!event)
		return iter->ent = NULL;
	if (iter->buffer_iter)
		iter->lost_events = ring_buffer_iter_dropped(iter->buffer_iter[iter->cpu]);
	iter->ent = ring_buffer_event_data(event);
	iter->ent_size = ring_buffer_event_length(event);
	iter->held = false;
	iter->leaf = NULL;
	iter->next_ts = 0;
	if (iter->copy && iter->ent_size <= RB_MAX_EVENT)
		look_ahead(iter);
	return iter->ent;
}

void trace_consume_entry(struct trace_iterator *iter)
{
	if (!iter->held)
		ring_buffer_consume(iter->buffer, iter->cpu, NULL, NULL);
	iter->held = false;
}

/*
 * Let the tracer prepare, and get memory for the record that is kept while the next one is looked at. ftrace_dump()
 * has brought its own memory. 0 or -errno, and then nothing is left to release. May sleep but for ftrace_dump().
 */
int trace_iter_prepare(struct trace_iterator *iter)
{
	int ret = iter->trace->open ? iter->trace->open(iter) : 0;

	if (ret || !(iter->graph || (iter->latency_format && iter->buffer_iter)))
		return ret;
	iter->copy = iter->atomic ? iter->copy : kmalloc(TRACE_ITER_COPY, GFP_KERNEL);
	if (iter->copy)
		return 0;
	trace_iter_release(iter);
	return -ENOMEM;
}

void trace_iter_release(struct trace_iterator *iter)
{
	if (iter->trace && iter->trace->close)
		iter->trace->close(iter);
	if (!iter->atomic)
		kfree(iter->copy);
	iter->copy = NULL;
}

/* An iterator for this open file, which knows its array and its CPU. */
static struct trace_iterator *iterator_alloc(struct file *file)
{
	struct trace_iterator *iter = kzalloc(sizeof(*iter), GFP_KERNEL);

	if (!iter)
		return NULL;
	iter->tr = tracefs_array(file);
	iter->buffer = iter->tr->buffer;
	iter->cpu_file = tracefs_cpu(file);
	mutex_init(&iter->mutex);
	return iter;
}

/* ---- trace ---- */

/* Give back the readers of the CPUs' rings. [trace_types_lock] */
static void iterators_finish(struct trace_iterator *iter)
{
	unsigned cpu;

	for_each_possible_cpu(cpu) {
		if (iter->buffer_iter[cpu])
			ring_buffer_read_finish(iter->buffer_iter[cpu]);
		iter->buffer_iter[cpu] = NULL;
	}
}

/*
 * Does the file show the buffer that is set aside, and not the live one? `snapshot` always does, and `trace` while
 * a latency tracer keeps its maximum there.
 */
static bool shows_aside(const struct trace_iterator *iter)
{
	return iter->of_snapshot || iter->trace->use_max_tr;
}

bool trace_iter_shows(const struct trace_iterator *iter, unsigned cpu)
{
	if (iter->cpu_file != RING_BUFFER_ALL_CPUS_FILE && iter->cpu_file != (int)cpu)
		return false;
	return !shows_aside(iter) || (iter->snapshot && cpumask_test_cpu(cpu, &iter->snapshot->cpus));
}

/*
 * Take hold of the newest snapshot each time that reading begins at the file's start, so that it is not reused while we
 * read. When another tracer has been selected since open, the file keeps showing what it had, or nothing. 0, -EBUSY, or
 * the error of trace_snapshot_get(). [t]
 */
static int take_hold(struct trace_iterator *iter)
{
	struct trace_snapshot *snapshot;

	if (iter->trace != iter->tr->current_trace && (iter->snapshot || !iter->of_snapshot))
		return 0;
	if (iter->of_snapshot && iter->tr->current_trace->use_max_tr)
		return -EBUSY;
	snapshot = trace_snapshot_get(iter->tr);
	if (IS_ERR(snapshot))
		return PTR_ERR(snapshot);
	if (iter->snapshot)
		trace_snapshot_put(iter->tr, iter->snapshot);
	iter->snapshot = snapshot;
	return 0;
}

/*
 * Decide which buffer is shown, and from which stamp to which. For the live buffer the end is now: with the function
 * tracer at work a reader makes more records than it reads, and would never come to an end. 0, or as take_hold(). [t]
 */
static int set_window(struct trace_iterator *iter)
{
	int ret;

	trace_snapshot_settle(iter->tr);
	ret = shows_aside(iter) ? take_hold(iter) : 0;
	if (ret)
		return ret;
	iter->buffer = iter->snapshot ? iter->snapshot->buffer : iter->tr->buffer;
	iter->from = iter->snapshot && iter->snapshot->latency ? iter->snapshot->time_start : 0;
	if (iter->snapshot)
		iter->until = iter->snapshot->latency ? iter->snapshot->time_end : U64_MAX;
	else
		iter->until = trace_clock_now(iter->tr);
	iter->clock_id = iter->tr->clock_id;
	iter->annotate = !shows_aside(iter) && ring_buffer_overruns(iter->buffer) != 0;
	return 0;
}

/* Begin at the oldest record of each CPU. */
static int iterators_start(struct trace_iterator *iter)
{
	unsigned cpu;
	int ret = set_window(iter);

	if (ret)
		return ret;
	for_each_possible_cpu(cpu) {
		if (!trace_iter_shows(iter, cpu))
			continue;
		iter->buffer_iter[cpu] = ring_buffer_read_start(iter->buffer, cpu);
		if (!iter->buffer_iter[cpu]) {
			iterators_finish(iter);
			return -ENOMEM;
		}
	}
	memset(&iter->started, 0, sizeof(iter->started));
	iter->pos = 0;
	iter->idx = 0;
	return 0;
}

bool trace_iter_empty(struct trace_iterator *iter)
{
	unsigned long lost;
	int cpu;
	u64 ts;

	return !find_oldest(iter, &cpu, &ts, &lost);
}

/*
 * Has another clock been set since we began? The buffer was cleared then, and `from` and `until` are stamps of the old
 * clock. Every new record could count as older, and we would skip them under the lock for as long as they come.
 */
static bool clock_has_changed(const struct trace_iterator *iter)
{
	return !shows_aside(iter) && iter->clock_id != iter->tr->clock_id;
}

/* The next record, or NULL: the end. trace_types_lock held. */
static void *s_step(struct trace_iterator *iter)
{
	if (clock_has_changed(iter))
		return iter->ent = NULL;
	/* Done when the record is left: a line that does not fit is made again. */
	if (iter->annotate && iter->ent)
		cpumask_set_cpu(iter->cpu, &iter->started);
	if (iter->ent && !iter->held)
		ring_buffer_iter_advance(iter->buffer_iter[iter->cpu]);
	if (!trace_find_next_entry(iter))
		return NULL;
	/*
	 * If a snapshot exchanges a CPU's records while we read, the walk goes on from this time and not from the
	 * start.
	 */
	iter->from = iter->ts;
	iter->idx++;
	return iter;
}

/*
 * How many records the file will show, for the header of the latency format: the trace is walked once and begun
 * again.
 */
unsigned long trace_count_shown(struct trace_iterator *iter)
{
	unsigned long n = 0;
	u64 from = iter->from;
	unsigned cpu;

	while (s_step(iter))
		n += iter->leaf ? 2 : 1;
	for_each_possible_cpu(cpu)
		if (iter->buffer_iter[cpu])
			ring_buffer_iter_reset(iter->buffer_iter[cpu]);
	memset(&iter->started, 0, sizeof(iter->started));
	iter->from = from;
	iter->idx = 0;
	return n;
}

/*
 * Position 0 is the header, n the n-th record. A read that goes on where the last one stopped continues the walk; going
 * back begins it again. Takes trace_types_lock, which s_stop() gives back, after errors too.
 */
static void *s_start(struct seq_file *m, loff_t *pos)
{
	struct trace_iterator *iter = m->private;
	int ret;

	mutex_lock(&trace_types_lock);
	if (*pos == 0 || *pos < iter->pos) {
		iterators_finish(iter);
		iter->ent = NULL;
		ret = iterators_start(iter);
		if (ret)
			return ERR_PTR(ret);
		if (*pos == 0)
			return m;
	}
	while (iter->pos < *pos) {
		iter->pos++;
		if (!s_step(iter))
			return NULL;
	}
	return iter->ent ? iter : NULL;
}

static void *s_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct trace_iterator *iter = m->private;

	iter->pos = ++*pos;
	return s_step(iter);
}

static void s_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&trace_types_lock);
}

/* One record, or before the first the header, or what an empty snapshot says of itself. */
static int s_show(struct seq_file *m, void *v)
{
	struct trace_iterator *iter = m->private;

	if (v == iter)
		trace_print_line(m, iter);
	else if (iter->of_snapshot && trace_iter_empty(iter))
		trace_snapshot_help(m, iter);
	else
		trace_print_header(m, iter);
	return 0;
}

static const struct seq_operations tracer_seq_ops = {
	.start = s_start,
	.next = s_next,
	.stop = s_stop,
	.show = s_show,
};

/* The iterator may be one that was made only in part. */
static void iterator_free(struct trace_iterator *iter)
{
	if (iter->buffer_iter)
		iterators_finish(iter);
	trace_iter_release(iter);
	kfree(iter->buffer_iter);
	kfree(iter);
}

/*
 * Open `trace` or `snapshot` for reading: the iterator holds the tracer that is selected now, and with pause-on-trace
 * recording stops until the file is closed. 0 or -errno.
 */
int trace_open_for_reading(struct file *file, unsigned how)
{
	struct trace_iterator *iter = iterator_alloc(file);
	int ret = -ENOMEM;

	if (!iter)
		return ret;
	iter->of_snapshot = how & TRACE_OPEN_SNAPSHOT;
	iter->latency_format = (how & TRACE_OPEN_LATENCY) || (iter->tr->trace_flags & TRACE_ITER(LATENCY_FMT));
	iter->buffer_iter = kcalloc(nr_cpu_ids, sizeof(*iter->buffer_iter), GFP_KERNEL);
	if (!iter->buffer_iter)
		goto free_iter;
	ret = seq_open(file, &tracer_seq_ops);
	if (ret)
		goto free_iter;
	((struct seq_file *)file->private_data)->private = iter;
	mutex_lock(&trace_types_lock);
	iter->trace = iter->tr->current_trace;
	ret = trace_iter_prepare(iter);
	if (ret)
		goto unlock;
	iter->paused = (iter->tr->trace_flags & TRACE_ITER(PAUSE_ON_TRACE)) && !iter->of_snapshot;
	if (iter->paused) {
		ring_buffer_record_disable(iter->tr->buffer);
		trace_max_break(iter->tr);
	}
	mutex_unlock(&trace_types_lock);
	return 0;
unlock:
	mutex_unlock(&trace_types_lock);
	seq_release(file->f_inode, file);
free_iter:
	iterator_free(iter);
	return ret;
}

/* Truncating clears what is shown: `echo > trace`, `: > trace`. */
static int tracing_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = tracefs_array(file);
	int cpu = tracefs_cpu(file);

	if ((file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC)) {
		mutex_lock(&trace_types_lock);
		if (tr->current_trace->use_max_tr)
			trace_max_clear(tr, cpu);
		else
			tracing_reset(tr, cpu == RING_BUFFER_ALL_CPUS_FILE ? RING_BUFFER_ALL_CPUS : cpu);
		mutex_unlock(&trace_types_lock);
	}
	return file->f_mode & FMODE_READ ? trace_open_for_reading(file, 0) : 0;
}

static int latency_trace_open(struct inode *inode, struct file *file)
{
	return file->f_mode & FMODE_READ ? trace_open_for_reading(file, TRACE_OPEN_LATENCY) : 0;
}

/* Close it: what open took is given back in the opposite order. */
int tracing_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct trace_iterator *iter;

	if (!(file->f_mode & FMODE_READ))
		return 0;
	iter = m->private;
	if (iter->paused)
		ring_buffer_record_enable(iter->tr->buffer);
	mutex_lock(&trace_types_lock);
	iterators_finish(iter);
	if (iter->snapshot)
		trace_snapshot_put(iter->tr, iter->snapshot);
	mutex_unlock(&trace_types_lock);
	iterator_free(iter);
	return seq_release(inode, file);
}

/* What is written is of no interest: opening has cleared the buffer. */
static ssize_t tracing_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	return n;
}

/* A file that is only written has no seq_file to move in; position 0 is all that it can have. */
loff_t tracing_lseek(struct file *file, loff_t off, int whence)
{
	return file->f_mode & FMODE_READ ? seq_lseek(file, off, whence) : (file->f_pos = 0);
}

const struct file_operations tracing_fops = {
	.open = tracing_open,
	.read = seq_read,
	.write = tracing_write,
	.llseek = tracing_lseek,
	.release = tracing_release,
};
/* Linux 2.6's: the latency format, whatever the option says. */
static const struct file_operations latency_trace_fops = {
	.open = latency_trace_open,
	.read = seq_read,
	.llseek = tracing_lseek,
	.release = tracing_release,
};
TRACEFS_FILE(trace, "trace", 0640, TRACEFS_ARRAY | TRACEFS_PER_CPU, &tracing_fops);
TRACEFS_FILE(latency_trace, "latency_trace", 0440, TRACEFS_ARRAY, &latency_trace_fops);
