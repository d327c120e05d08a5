/*
 * Events of a page: their lengths, their times, and walking over them.
 *
 *     31              5 4    0
 *    +-----------------+------+------------+------------------+
 *    |   time_delta    | type | [length]   | data, whole words |
 *    +-----------------+------+------------+------------------+
 *
 * Types 1 to 28 say how many words of data follow. Type 0 is a longer event, with its length in the next word. 29
 * is padding (a discarded event), 30 a time extend (a delta of more than 27 bits), 31 an absolute stamp. This is
 * Linux's format, so trace-cmd reads our pages. An event's time is a delta from the event before, so it can be
 * found only by walking from the start of the page.
 */
#include "internal.h"

/* The stored length of a type 0 event counts its own word, which is no data. */
unsigned notrace ring_buffer_event_length(struct ring_buffer_event *event)
{
	return event->type_len ? event->type_len * 4 : event->array[0] - 4;
}

unsigned rb_event_size(const struct ring_buffer_event *event)
{
	switch (event->type_len) {
	case RINGBUF_TYPE_PADDING: /* a discarded event: its length without the header */
	case 0:
		return event->array[0] + 4;
	case RINGBUF_TYPE_TIME_EXTEND:
		return 8;
	default:
		return event->type_len * 4 + 4;
	}
}

/* The time of an event, given that of the one before it. */
static u64 rb_event_stamp(const struct ring_buffer_event *event, u64 before)
{
	u64 delta = event->time_delta;

	if (event->type_len == RINGBUF_TYPE_TIME_EXTEND)
		delta += (u64)event->array[0] << RB_TS_SHIFT;
	return before + delta;
}

/* Every type moves the time on, padding included: the events behind it count from it. */
void rb_cursor_skip(struct rb_cursor *c)
{
	struct ring_buffer_event *event = (struct ring_buffer_event *)(void *)(c->data->data + c->pos);

	c->stamp = rb_event_stamp(event, c->stamp);
	c->pos += rb_event_size(event);
}

struct ring_buffer_event *rb_cursor_event(struct rb_cursor *c, u64 *ts)
{
	while (c->pos < c->size) {
		struct ring_buffer_event *event = (struct ring_buffer_event *)(void *)(c->data->data + c->pos);

		if (event->type_len < RINGBUF_TYPE_PADDING) {
			*ts = rb_event_stamp(event, c->stamp);
			return event;
		}
		rb_cursor_skip(c);
	}
	return NULL;
}

/*
 * The writer may begin the page again while this reads it, so any word may be garbage. Each event is judged by a copy
 * of its first two words (no event is shorter), each step goes forward, and no step leaves the `size` bytes. The caller
 * finds out afterwards whether the answer is good. The race is intended, so ThreadSanitizer does not look here.
 */
__attribute__((no_sanitize("thread"))) u64 rb_first_stamp_racing(const struct buffer_data_page *data, unsigned size)
{
	u64 stamp = READ_ONCE(data->time_stamp);
	unsigned pos = 0, length;

	for (; pos + 8 <= size; pos += length) {
		const u32 *words = (const u32 *)(const void *)(data->data + pos);
		union {
			u32 words[2];
			struct ring_buffer_event event;
		} copy = {.words = {READ_ONCE(words[0]), READ_ONCE(words[1])}};
		const struct ring_buffer_event *event = &copy.event;

		stamp = rb_event_stamp(event, stamp);
		if (event->type_len < RINGBUF_TYPE_PADDING)
			return stamp;
		length = rb_event_size(event);
		if (length < 8 || length > size - pos || length % 4)
			return 0;
	}
	return 0;
}

/*
 * The page of an event that is not committed yet. Only the event's writer may ask: the page then lies between the
 * commit page and the tail, and no other code can reuse or take apart the pages there before that writer commits.
 */
static struct buffer_page *rb_page_of(struct rb_ring *ring, struct ring_buffer_event *event)
{
	struct buffer_page *page = rb_read(ring->commit_page);

	while ((uintptr_t)event - (uintptr_t)page->data->data >= rb_page_data(ring->order))
		page = rb_slot_page(ring, page->seq + 1);
	return page;
}

/*
 * Take the last claim of a page back. False when it is not the last, or the page is closed, because a nested writer has
 * come. One exchange of the state decides, as for a claim. A time extend before the event stays: it is an event of its
 * own, and the state's time is then what it was after that. When a nested writer has moved the page's base behind the
 * event and then taken its own event back, the state's time is 0 and less than the event's: the event stays then.
 */
static bool rb_unclaim(struct buffer_page *page, struct ring_buffer_event *event)
{
	u64 state = rb_read(page->state), words = rb_event_size(event) / 4;

	if ((state & RB_FULL) || (u8 *)event + words * 4 != page->origin + (state & RB_INDEX_MASK) * 4 ||
	    state >> RB_TIME_SHIFT < event->time_delta)
		return false;
	RB_TEST_POINT(40);
	return __atomic_compare_exchange_n(&page->state, &state,
					   state - words - RB_ONE_EVENT - ((u64)event->time_delta << RB_TIME_SHIFT),
					   false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/*
 * The event has been claimed but not committed, so no reader has seen it, and its words are still ours to change.
 * The commit at the end publishes what nested writers have left, and the padding.
 */
void notrace ring_buffer_discard(struct ring_buffer_per_cpu *cpu_buffer, struct ring_buffer_event *event)
{
	struct buffer_page *page = rb_page_of(&cpu_buffer->ring, event);

	if (!rb_unclaim(page, event)) {
		/* The events behind it count their time from it: it stays, as padding, with its time. */
		event->array[0] = rb_event_size(event) - 4;
		event->type_len = RINGBUF_TYPE_PADDING;
		RB_TEST_POINT(41);
		__atomic_fetch_sub(&page->state, RB_ONE_EVENT, __ATOMIC_RELAXED);
	}
	rb_barrier();
	ring_buffer_commit(cpu_buffer);
}
