/* Consuming readers: the reader's page is exchanged for the oldest of the ring, and events are taken from it.
 */
#include "internal.h"

/*
 * The reader page has nothing unread: is it done with for good? It may be the page that the writer is on.
 * Acquire on commit_seq: when the writer has gone on, the page's last commit is there to be seen.
 */
static bool rb_reader_page_done(struct rb_ring *ring)
{
	struct buffer_page *page = ring->reader_page;

	if (page->seq == RB_SEQ_NONE)
		return true;
	RB_TEST_POINT(52);
	return page->seq < __atomic_load_n(&ring->commit_seq, __ATOMIC_ACQUIRE) && ring->read == rb_committed(page);
}

/* What was lost between the reader's last page and the new one. */
static void rb_enter_reader_page(struct rb_ring *ring, struct buffer_page *page)
{
	ring->reader_page = page;
	ring->read = 0;
	ring->read_stamp = page->data->time_stamp;
	ring->lost_events += page->first - ring->next_event;
	ring->next_event = page->first;
}

/*
 * Put the reader's page in the ring for the oldest one. False when the ring has none that is committed. The
 * writer goes on meanwhile; it may be on that very page, and stays on it.
 */
static bool rb_swap_reader_page(struct rb_ring *ring)
{
	struct buffer_page *spare = ring->reader_page, *oldest;
	u64 head, seq;

	head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	do {
		seq = rb_head_seq(head);
		if (seq > __atomic_load_n(&ring->commit_seq, __ATOMIC_ACQUIRE))
			return false;
		oldest = rb_slot_page(ring, seq);
		RB_TEST_POINT(50);
		/* Release: all reading of the spare page comes before the writer's next use of it. */
	} while (!__atomic_compare_exchange_n(&ring->head, &head, rb_head(seq + 1, spare - ring->pages), false,
					      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	RB_TEST_POINT(51);
	rb_write(ring->slot[seq % ring->nr_pages], spare - ring->pages);
	rb_enter_reader_page(ring, oldest);
	return true;
}

struct buffer_page *rb_get_reader_page(struct rb_ring *ring)
{
	for (;;) {
		struct buffer_page *page = ring->reader_page;

		if (page->seq != RB_SEQ_NONE && ring->read < rb_committed(page))
			return page;
		if (!rb_reader_page_done(ring)) {
			/* Not done, and unread bytes after all: they came between the two looks. */
			if (ring->read < rb_committed(page))
				continue;
			return NULL;
		}
		if (!rb_swap_reader_page(ring))
			return NULL;
	}
}

/* The event at the front; ring->read stands at it then, past what is no event. */
static struct ring_buffer_event *rb_front(struct rb_ring *ring, struct rb_cursor *c, u64 *ts)
{
	struct buffer_page *page;

	while ((page = rb_get_reader_page(ring))) {
		struct ring_buffer_event *event;

		*c = (struct rb_cursor){page->data, ring->read, rb_committed(page), ring->read_stamp};
		event = rb_cursor_event(c, ts);
		ring->read_bytes += c->pos - ring->read;
		ring->read = c->pos;
		ring->read_stamp = c->stamp;
		if (event)
			return event;
	}
	return NULL;
}

struct ring_buffer_event *ring_buffer_peek(struct trace_buffer *buffer, int cpu, u64 *ts, unsigned long *lost)
{
	struct ring_buffer_per_cpu *cpu_buffer = rb_cpu(buffer, cpu);
	struct ring_buffer_event *event;
	struct rb_cursor c;
	unsigned long flags;
	u64 stamp = 0;

	if (!cpu_buffer)
		return NULL;
	flags = rb_lock(cpu_buffer);
	event = rb_front(&cpu_buffer->ring, &c, &stamp);
	if (event && lost)
		*lost = cpu_buffer->ring.lost_events;
	rb_unlock(cpu_buffer, flags);
	if (event && ts)
		*ts = stamp;
	return event;
}

static struct ring_buffer_event *rb_consume(struct rb_ring *ring, u64 *ts, unsigned long *lost)
{
	struct rb_cursor c;
	struct ring_buffer_event *event = rb_front(ring, &c, ts);

	if (!event)
		return NULL;
	*lost = ring->lost_events;
	ring->lost_events = 0;
	rb_cursor_skip(&c);
	ring->read_bytes += c.pos - ring->read;
	ring->read = c.pos;
	ring->read_stamp = c.stamp;
	ring->read_events++;
	ring->next_event++;
	return event;
}

struct ring_buffer_event *ring_buffer_consume(struct trace_buffer *buffer, int cpu, u64 *ts, unsigned long *lost)
{
	struct ring_buffer_per_cpu *cpu_buffer = rb_cpu(buffer, cpu);
	struct ring_buffer_event *event;
	unsigned long flags, missed = 0;
	u64 stamp = 0;

	if (!cpu_buffer)
		return NULL;
	flags = rb_lock(cpu_buffer);
	event = rb_consume(&cpu_buffer->ring, &stamp, &missed);
	rb_unlock(cpu_buffer, flags);
	if (event && ts)
		*ts = stamp;
	if (event && lost)
		*lost = missed;
	return event;
}

/*
 * The writer may drop the pages that we look at: then there are newer ones with something in them, and what
 * we take for an answer is one that was right a moment ago.
 */
bool rb_ring_empty(struct rb_ring *ring)
{
	u64 seq, last;

	if (ring->reader_page->seq != RB_SEQ_NONE && ring->read < rb_committed(ring->reader_page))
		return false;
	last = __atomic_load_n(&ring->commit_seq, __ATOMIC_ACQUIRE);
	for (seq = rb_head_seq(__atomic_load_n(&ring->head, __ATOMIC_ACQUIRE)); seq <= last; seq++)
		if (rb_committed(rb_slot_page(ring, seq)))
			return false;
	return true;
}

bool ring_buffer_empty_cpu(struct trace_buffer *buffer, int cpu)
{
	struct ring_buffer_per_cpu *cpu_buffer = rb_cpu(buffer, cpu);
	unsigned long flags;
	bool empty;

	if (!cpu_buffer)
		return true;
	flags = rb_lock(cpu_buffer);
	empty = rb_ring_empty(&cpu_buffer->ring);
	rb_unlock(cpu_buffer, flags);
	return empty;
}

bool ring_buffer_empty(struct trace_buffer *buffer)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (!ring_buffer_empty_cpu(buffer, cpu))
			return false;
	return true;
}
