/*
 * Consuming readers: the reader's page is exchanged for the oldest of the ring, and events are taken from it.
 *
 *     before:  reader: R          ring: [A] [B] [C]      A is the oldest page
 *     after:   reader: A          ring: [R] [B] [C]      R is free for the writer
 *
 * The page that is read is out of the ring, so the writer cannot overwrite it, and the reader needs no copy. One
 * compare and exchange on ring->head decides between a reader that takes the oldest page and a writer that drops it
 * (rb_drop_oldest). The reader holds reader_lock throughout; it excludes other readers, never the writer.
 */
#include <kernel/smp.h>
#include "internal.h"

/*
 * The reader page has nothing unread. Will anything more come on it? Not once the writer has left it, and everything
 * committed was read. Acquire on commit_seq: when the writer has gone on, the page's last commit can be seen.
 */
static bool rb_reader_page_done(struct rb_ring *ring)
{
	struct buffer_page *page = ring->reader_page;

	if (page->seq == RB_SEQ_NONE)
		return true;
	RB_TEST_POINT(52);
	return page->seq < __atomic_load_n(&ring->commit_seq, __ATOMIC_ACQUIRE) &&
	       ring->read == rb_committed(ring, page);
}

/*
 * Begin to read `page`. Events are numbered since the last reset: the gap between the number that the reader
 * expects and the first one of this page is what the writer has overwritten.
 */
static void rb_enter_reader_page(struct rb_ring *ring, struct buffer_page *page)
{
	ring->reader_page = page;
	ring->read = 0;
	ring->read_stamp = page->data->time_stamp;
	ring->lost_events += page->first - ring->next_event;
	ring->next_event = page->first;
}

/*
 * Put the reader's page in the ring for the oldest one. False when the ring has none that is committed. The writer
 * goes on meanwhile; it may be on that very page, and stays on it: the page is then the tail and the reader's at
 * once.
 *
 * The swap is complete with the exchange of `head`, which names the spare page in its low bits. The slot is stored
 * afterwards; a writer that needs the slot before that reads the page's index from `head` instead (rb_free_slot).
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

/*
 * The page in hand is kept until it is read to its end and the writer has left it; only then is it swapped. The order
 * of the looks matters: "is the page done?" comes before the second look for bytes, because the writer adds bytes
 * before it leaves the page.
 */
struct buffer_page *rb_get_reader_page(struct rb_ring *ring)
{
	for (;;) {
		struct buffer_page *page = ring->reader_page;

		if (page->seq != RB_SEQ_NONE && ring->read < rb_committed(ring, page))
			return page;
		if (!rb_reader_page_done(ring)) {
			/* The page is not done; unread bytes may have come between the two looks. */
			if (ring->read < rb_committed(ring, page))
				continue;
			return NULL;
		}
		if (!rb_swap_reader_page(ring))
			return NULL;
	}
}

/*
 * The event at the front. Padding and time events before it are consumed on the way, so ring->read stands at the
 * event on return. NULL at the end. reader_lock held.
 */
static struct ring_buffer_event *rb_front(struct rb_ring *ring, struct rb_cursor *c, u64 *ts)
{
	struct buffer_page *page;

	while ((page = rb_get_reader_page(ring))) {
		struct ring_buffer_event *event;

		*c = (struct rb_cursor){page->data, ring->read, rb_committed(ring, page), ring->read_stamp};
		event = rb_cursor_event(c, ts);
		ring->read_bytes += c->pos - ring->read;
		ring->read = c->pos;
		ring->read_stamp = c->stamp;
		if (event)
			return event;
	}
	return NULL;
}

/* The event stays where it is, in the reader's page: valid until the next call that reads this CPU's buffer. */
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

/*
 * Take the event at the front out. Its bytes stay in the reader's page, so the pointer is good until the next
 * reading. Losses are reported once, with the first event behind the gap. reader_lock held.
 */
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

/* The event is valid until the next call that reads this CPU's buffer: only then can its page go back to the writer. */
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
 * The writer may drop the pages that this function looks at. Newer pages have events then, so "not empty" stays
 * true, and "empty" was true a moment ago.
 */
bool rb_ring_empty(struct rb_ring *ring)
{
	u64 seq, last;

	if (ring->reader_page->seq != RB_SEQ_NONE && ring->read < rb_committed(ring, ring->reader_page))
		return false;
	last = __atomic_load_n(&ring->commit_seq, __ATOMIC_ACQUIRE);
	for (seq = rb_head_seq(__atomic_load_n(&ring->head, __ATOMIC_ACQUIRE)); seq <= last; seq++)
		if (rb_committed(ring, rb_slot_page(ring, seq)))
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

/* ---- Reading in trouble */

int rb_dump_cpu = -1; /* [any: written by that CPU] */
/* The next three are the dumping CPU's, with preemption off. */
static unsigned dump_tries; /* how often it may still try */
static bool dump_has_lock;  /* between rb_lock and rb_unlock: so it must be released */
static bool dump_without;   /* it has read without a lock */

void ring_buffer_dump_begin(void)
{
	dump_tries = RB_DUMP_TRIES;
	dump_without = false;
	WRITE_ONCE(rb_dump_cpu, (int)smp_processor_id());
}

bool ring_buffer_dump_end(void)
{
	WRITE_ONCE(rb_dump_cpu, -1);
	return dump_without;
}

static bool dumps_here(void)
{
	return READ_ONCE(rb_dump_cpu) == (int)smp_processor_id();
}

/*
 * A CPU that dumps may find a lock held by a CPU that an NMI has stopped, or by the code that its own exception has
 * interrupted. It tries for some milliseconds, since the holder may as well be alive, but that once a dump only, and
 * then goes on without the lock. Where the holder has stopped, the ring stays as it is; at worst it was in the middle
 * of an exchange of pages, and one page is lost or shown twice. Every page that can be reached is one of the ring's,
 * and each read goes forward, so a dump comes to its end. The lock is not released then, for it is not ours.
 */
bool ring_buffer_dump_lock(spinlock_t *lock)
{
	if (!dumps_here()) {
		arch_spin_lock(lock);
		return true;
	}
	while (!arch_spin_trylock(lock)) {
		if (!dump_tries)
			return false;
		dump_tries--;
		cpu_relax();
	}
	return true;
}

void rb_dump_lock(struct ring_buffer_per_cpu *cpu_buffer)
{
	bool locked = ring_buffer_dump_lock(&cpu_buffer->reader_lock);

	if (dumps_here()) {
		dump_has_lock = locked;
		dump_without |= !locked;
	}
}

void rb_dump_unlock(struct ring_buffer_per_cpu *cpu_buffer)
{
	if (!dumps_here() || dump_has_lock)
		arch_spin_unlock(&cpu_buffer->reader_lock);
}
