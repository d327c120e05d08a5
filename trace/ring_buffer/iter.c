/*
 * Iterators: reading without consuming, while writers go on. Each page is copied whole and the copy is used
 * only if the page was still in the ring afterwards; so events handed out never change, and what was
 * overwritten is counted.
 */
#include <mm/page.h>
#include <mm/slab.h>
#include "internal.h"

/* Only its user touches it. The ring that it reads is looked at under the CPU's reader_lock. */
struct ring_buffer_iter {
	struct ring_buffer_per_cpu *cpu_buffer;
	struct rb_cursor cursor; /* in the copy */
	u64 seq;		 /* of the page copied */
	u64 generation;		 /* of the ring it was in */
	u64 first;		 /* number of the first event of the copy */
	u64 next_event;		 /* number of the event at the cursor */
	u64 dropped;		 /* not yet reported */
	bool started;
	unsigned order; /* of the copy: it has room for any page of the ring, whose order stays meanwhile */
};

/*
 * Copy the committed bytes of a page that the writer may reuse meanwhile. The caller looks afterwards whether that has
 * happened, and throws the copy away then. The race is intended, so ThreadSanitizer does not look here.
 */
__attribute__((no_sanitize("thread"))) static void rb_copy_racing(void *to, const void *from, unsigned bytes)
{
	const u64 *src = from;
	u64 *dst = to;

	for (; bytes >= 8; bytes -= 8, src++)
		*dst++ = READ_ONCE(*src);
	if (bytes)
		*(u32 *)dst = READ_ONCE(*(const u32 *)src);
}

/*
 * Copy the ring's page with number `seq`. False when the page has left the ring by the end of the copy, which may then
 * be a mixture of old and new bytes. The fence pairs with the one in rb_begin_page: a reader that saw any of the new
 * contents sees the new head too. reader_lock held.
 */
static bool rb_copy_ring_page(struct ring_buffer_iter *iter, struct rb_ring *ring, u64 seq)
{
	struct buffer_page *page = rb_slot_page(ring, seq);
	unsigned size = min(rb_committed(ring, page), rb_page_data(ring->order));

	iter->first = rb_read(page->first);
	rb_copy_racing(iter->cursor.data, page->data, RB_HEADER_SIZE);
	RB_TEST_POINT(61);
	rb_copy_racing(iter->cursor.data->data, page->data->data, size);
	RB_TEST_POINT(60);
	smp_rmb();
	if (rb_head_seq(rb_read(ring->head)) > seq)
		return false;
	iter->cursor.size = size;
	return true;
}

/* Copy the reader's page. No writer overwrites it, but its first part may be consumed already. reader_lock held. */
static void rb_copy_reader_page(struct ring_buffer_iter *iter, const struct rb_ring *ring)
{
	struct buffer_page *page = ring->reader_page;
	unsigned size = rb_committed(ring, page);

	iter->first = page->first;
	iter->cursor.data->time_stamp = page->data->time_stamp;
	memcpy(iter->cursor.data->data, page->data->data, size);
	iter->cursor.size = size;
}

/*
 * Copy the first page with a number of at least `want`; false when there is none. *at_reader: it is the
 * reader's page. Only the writer moves the head meanwhile, as we hold the lock.
 */
static bool rb_copy_page(struct ring_buffer_iter *iter, struct rb_ring *ring, u64 want, bool *at_reader)
{
	struct buffer_page *reader = ring->reader_page;
	u64 seq;

	*at_reader = reader->seq != RB_SEQ_NONE && want <= reader->seq;
	if (*at_reader) {
		rb_copy_reader_page(iter, ring);
		iter->seq = reader->seq;
		return true;
	}
	do {
		seq = max(want, rb_head_seq(__atomic_load_n(&ring->head, __ATOMIC_ACQUIRE)));
		if (seq > __atomic_load_n(&ring->commit_seq, __ATOMIC_ACQUIRE))
			return false;
	} while (!rb_copy_ring_page(iter, ring, seq));
	iter->seq = seq;
	return true;
}

/* The copy is of another page than before: begin with that page's first event, or the first not consumed. */
static void rb_enter_copy(struct ring_buffer_iter *iter, struct rb_ring *ring, bool at_reader)
{
	u64 first = iter->first;

	iter->cursor.pos = 0;
	iter->cursor.stamp = iter->cursor.data->time_stamp;
	if (at_reader) {
		iter->cursor.pos = ring->read;
		iter->cursor.stamp = ring->read_stamp;
		first = ring->next_event;
	}
	/* Events that a consuming reader took meanwhile count as dropped too: this iterator has not seen them. */
	if (iter->started)
		iter->dropped += first - iter->next_event;
	iter->next_event = first;
	iter->started = true;
	iter->generation = ring->generation;
}

/*
 * The copy is used up: get more of the same page, or another page. False when there is nothing new. The iterator
 * remembers pages by number and not by pointer, because a page may have been overwritten, consumed or replaced
 * since. reader_lock held.
 */
static bool rb_iter_refill(struct ring_buffer_iter *iter, struct rb_ring *ring)
{
	u64 seq = iter->seq;
	u32 size = iter->cursor.size;
	bool at_reader;

	/* Reset or swapped: other events altogether, from the start. */
	if (iter->generation != ring->generation)
		iter->started = false;
	if (!iter->started) {
		if (!rb_copy_page(iter, ring, 0, &at_reader))
			return false;
		rb_enter_copy(iter, ring, at_reader);
		return true;
	}
	if (!rb_copy_page(iter, ring, seq, &at_reader))
		return false;
	if (iter->seq != seq) {
		rb_enter_copy(iter, ring, at_reader);
		return true;
	}
	if (iter->cursor.size > size)
		return true;
	/* Nothing was added. Behind a page that the writer has left there is another. */
	if (!rb_copy_page(iter, ring, seq + 1, &at_reader))
		return false;
	rb_enter_copy(iter, ring, at_reader);
	return true;
}

/*
 * The lock is held only for a refill, once a page. Between refills the iterator works on its own copy, so a slow
 * reader of `trace` delays no other reader.
 */
struct ring_buffer_event *ring_buffer_iter_peek(struct ring_buffer_iter *iter, u64 *ts)
{
	struct ring_buffer_event *event;
	unsigned long flags;
	u64 stamp;
	bool more;

	while (!(event = rb_cursor_event(&iter->cursor, &stamp))) {
		flags = rb_lock(iter->cpu_buffer);
		more = rb_iter_refill(iter, &iter->cpu_buffer->ring);
		rb_unlock(iter->cpu_buffer, flags);
		if (!more)
			return NULL;
	}
	if (ts)
		*ts = stamp;
	return event;
}

void ring_buffer_iter_advance(struct ring_buffer_iter *iter)
{
	if (!ring_buffer_iter_peek(iter, NULL))
		return;
	rb_cursor_skip(&iter->cursor);
	iter->next_event++;
}

void ring_buffer_iter_reset(struct ring_buffer_iter *iter)
{
	iter->cursor.pos = iter->cursor.size = 0;
	iter->dropped = 0;
	iter->started = false;
}

bool ring_buffer_iter_empty(struct ring_buffer_iter *iter)
{
	return !ring_buffer_iter_peek(iter, NULL);
}

unsigned long ring_buffer_iter_dropped(struct ring_buffer_iter *iter)
{
	u64 dropped = iter->dropped;

	iter->dropped = 0;
	return dropped;
}

bool ring_buffer_iter_has_dropped(const struct ring_buffer_iter *iter)
{
	return iter->dropped;
}

/*
 * The copy starts empty (kzalloc: size 0), so the first peek fetches a page. `readers` keeps the size of pages as it is
 * until the iterator is freed; the caller serialises this function with a change of the size.
 */
struct ring_buffer_iter *ring_buffer_read_start(struct trace_buffer *buffer, int cpu)
{
	struct ring_buffer_per_cpu *cpu_buffer = rb_cpu(buffer, cpu);
	struct ring_buffer_iter *iter;

	if (!cpu_buffer)
		return NULL;
	iter = kzalloc(sizeof(*iter), GFP_KERNEL);
	if (!iter)
		return NULL;
	iter->cpu_buffer = cpu_buffer;
	__atomic_fetch_add(&buffer->readers, 1, __ATOMIC_RELAXED);
	iter->order = buffer->order;
	iter->cursor.data = get_free_pages(GFP_KERNEL | __GFP_NOWARN, iter->order);
	if (!iter->cursor.data)
		goto free_iter;
	return iter;

free_iter:
	ring_buffer_read_finish(iter);
	return NULL;
}

void ring_buffer_read_finish(struct ring_buffer_iter *iter)
{
	if (!iter)
		return;
	__atomic_fetch_sub(&iter->cpu_buffer->buffer->readers, 1, __ATOMIC_RELAXED);
	free_pages(iter->cursor.data, iter->order);
	kfree(iter);
}
