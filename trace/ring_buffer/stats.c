/*
 * Counts of a trace ring buffer, per CPU and over all.
 *
 * The writer keeps few counts, because each costs it an instruction: how many events a page holds
 * (buffer_page.state) and the number of the first event of each page it begins. Everything else is a difference:
 *
 *     entries = written - overrun - read        bytes: the same in bytes
 *     written = first event of the commit page + events on that page
 *
 * Readers of counts hold reader_lock, which keeps resize, reset and swap out, but not the writer. So a function
 * that reads two words of the writer checks afterwards that they belong together, and tries again if not.
 */
#include "internal.h"

/* What a ring has recorded, at one moment. */
struct rb_written {
	u64 events, bytes;
};

/*
 * The commit page may change while we look at it, so look until it was the same before and after. Page numbers only
 * grow, so an equal number means that nothing moved; resize, reset and swap are kept out by reader_lock. The loop
 * ends because a writer needs a whole page of events for each change.
 */
static struct rb_written rb_written(struct rb_ring *ring)
{
	struct rb_written w;
	u64 seq;

	do {
		struct buffer_page *page;

		seq = __atomic_load_n(&ring->commit_seq, __ATOMIC_ACQUIRE);
		page = rb_read(ring->commit_page);
		w.events = rb_read(page->first) + rb_state_events(rb_read(page->state));
		w.bytes = rb_read(ring->commit_bytes) + rb_committed(ring, page);
		smp_rmb();
	} while (rb_read(ring->commit_seq) != seq);
	return w;
}

u64 rb_written_events(struct rb_ring *ring)
{
	return rb_written(ring).events;
}

/*
 * a - b, but not below zero: the writer may have changed one of the two between our reading of them, and a count of
 * 2^64 - 1 entries would be worse than one that is a moment old.
 */
static u64 rb_less(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/*
 * What was written and not overwritten, at one moment: the overrun must be the same before and after, or a page
 * that was dropped in between would count as both written and lost.
 */
static struct rb_written rb_kept(struct rb_ring *ring)
{
	struct rb_written w;
	u64 events, bytes;

	do {
		events = rb_read(ring->overrun);
		bytes = rb_read(ring->overrun_bytes);
		w = rb_written(ring);
	} while (rb_read(ring->overrun) != events);
	w.events = rb_less(w.events, events);
	w.bytes = rb_less(w.bytes, bytes);
	return w;
}

/* The functions from here to rb_oldest each give one count of one ring, for rb_count. reader_lock held. */
static u64 rb_entries(struct rb_ring *ring)
{
	return rb_less(rb_kept(ring).events, ring->read_events);
}

static u64 rb_bytes(struct rb_ring *ring)
{
	return rb_less(rb_kept(ring).bytes, ring->read_bytes);
}

/* Bytes of data; the reader's page is not counted, since it adds no room to the ring. */
static u64 rb_capacity(struct rb_ring *ring)
{
	return ring->nr_pages * rb_page_data(ring->order);
}

/* Unread pages that the writer has left. Neither number goes back, so with the head read first none is missed. */
static u64 rb_complete(struct rb_ring *ring)
{
	struct buffer_page *reader = ring->reader_page;
	u64 head = rb_head_seq(__atomic_load_n(&ring->head, __ATOMIC_ACQUIRE));
	u64 commit = __atomic_load_n(&ring->commit_seq, __ATOMIC_ACQUIRE);
	bool of_reader = reader->seq != RB_SEQ_NONE && reader->seq < commit && ring->read < rb_committed(ring, reader);

	/* The head is past the commit when the writer is on the reader's page. */
	return rb_less(commit, head) + of_reader;
}

static u64 rb_nr_pages(struct rb_ring *ring)
{
	return ring->nr_pages;
}

static u64 rb_overrun(struct rb_ring *ring)
{
	return rb_read(ring->overrun);
}

static u64 rb_commit_overrun(struct rb_ring *ring)
{
	return rb_read(ring->commit_overrun);
}

static u64 rb_dropped(struct rb_ring *ring)
{
	return rb_read(ring->dropped);
}

static u64 rb_read_events(struct rb_ring *ring)
{
	return ring->read_events;
}

/*
 * The time of the first unread event. The page's own stamp is not that: a page that was reset has the time of the
 * reset, or 0 if no clock was set. If the writer dropped the page while we looked, we try again: the fence pairs with
 * the one in rb_begin_page, as in rb_copy_ring_page.
 */
static u64 rb_oldest(struct rb_ring *ring)
{
	struct buffer_page *page = ring->reader_page;
	struct rb_cursor c = {page->data, ring->read, rb_committed(ring, page), ring->read_stamp};
	u64 seq, ts;

	if (page->seq != RB_SEQ_NONE && rb_cursor_event(&c, &ts))
		return ts;
again:
	seq = rb_head_seq(__atomic_load_n(&ring->head, __ATOMIC_ACQUIRE));
	for (; seq <= __atomic_load_n(&ring->commit_seq, __ATOMIC_ACQUIRE); seq++) {
		page = rb_slot_page(ring, seq);
		ts = rb_first_stamp_racing(page->data, min(rb_committed(ring, page), rb_page_data(ring->order)));
		smp_rmb();
		if (rb_head_seq(rb_read(ring->head)) > seq)
			goto again;
		if (ts)
			return ts;
	}
	return 0;
}

/* One of the counts above for a CPU, under its reader_lock. 0 for a CPU that the machine cannot have. */
static u64 rb_count(struct trace_buffer *buffer, int cpu, u64 (*count)(struct rb_ring *))
{
	struct ring_buffer_per_cpu *cpu_buffer = rb_cpu(buffer, cpu);
	unsigned long flags;
	u64 n;

	if (!cpu_buffer)
		return 0;
	flags = rb_lock(cpu_buffer);
	n = count(&cpu_buffer->ring);
	rb_unlock(cpu_buffer, flags);
	return n;
}

/* The sum over all CPUs. Each is exact for its own moment; the locks are taken one after the other, not together. */
static u64 rb_sum(struct trace_buffer *buffer, u64 (*count)(struct rb_ring *))
{
	u64 n = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		n += rb_count(buffer, cpu, count);
	return n;
}

static u64 rb_asked(struct rb_ring *ring)
{
	return ring->size;
}

unsigned long rb_size_asked(struct trace_buffer *buffer, int cpu)
{
	return rb_count(buffer, cpu, rb_asked);
}

unsigned long ring_buffer_size(struct trace_buffer *buffer, int cpu)
{
	return rb_count(buffer, cpu, rb_capacity);
}

/*
 * The page that the writer is on counts as full (+ 1): with 100 per cent a reader would otherwise wait for a page
 * that cannot be complete before events are lost.
 */
bool ring_buffer_filled(struct trace_buffer *buffer, int cpu, unsigned percent)
{
	u64 complete;

	if (!percent)
		return !ring_buffer_empty_cpu(buffer, cpu);
	complete = rb_count(buffer, cpu, rb_complete);
	return complete && (complete + 1) * 100 >= percent * rb_count(buffer, cpu, rb_nr_pages);
}

unsigned long ring_buffer_entries(struct trace_buffer *buffer)
{
	return rb_sum(buffer, rb_entries);
}

unsigned long ring_buffer_entries_cpu(struct trace_buffer *buffer, int cpu)
{
	return rb_count(buffer, cpu, rb_entries);
}

unsigned long ring_buffer_overruns(struct trace_buffer *buffer)
{
	return rb_sum(buffer, rb_overrun);
}

unsigned long ring_buffer_overrun_cpu(struct trace_buffer *buffer, int cpu)
{
	return rb_count(buffer, cpu, rb_overrun);
}

unsigned long ring_buffer_commit_overrun_cpu(struct trace_buffer *buffer, int cpu)
{
	return rb_count(buffer, cpu, rb_commit_overrun);
}

/*
 * kept_out is counted apart from the ring: during rb_quiesce the ring belongs to another CPU, and a writer must
 * not touch it even to count.
 */
unsigned long ring_buffer_dropped_events_cpu(struct trace_buffer *buffer, int cpu)
{
	struct ring_buffer_per_cpu *cpu_buffer = rb_cpu(buffer, cpu);

	return cpu_buffer ? rb_count(buffer, cpu, rb_dropped) + rb_read(cpu_buffer->kept_out) : 0;
}

unsigned long ring_buffer_read_events_cpu(struct trace_buffer *buffer, int cpu)
{
	return rb_count(buffer, cpu, rb_read_events);
}

unsigned long ring_buffer_bytes_cpu(struct trace_buffer *buffer, int cpu)
{
	return rb_count(buffer, cpu, rb_bytes);
}

u64 ring_buffer_oldest_event_ts(struct trace_buffer *buffer, int cpu)
{
	return rb_count(buffer, cpu, rb_oldest);
}
