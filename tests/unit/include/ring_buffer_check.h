/*
 * Bookkeeping for the ring buffer's tests: every event that is written is entered here, every event that
 * comes out is held against it, and at the end the buffer's own counts must add up. For one CPU's buffer and
 * one thread.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/ring_buffer.h>

/* What the tests put in an event; `fill` follows, as long as the event is. */
struct check_payload {
	u32 id, length;
	u8 fill[];
};

#define CHECK_MIN sizeof(struct check_payload)

/* A moment is a tick of `now`, which grows with everything that happens. */
struct check_event {
	u64 start, ts; /* when the writer came, and the time it gave */
	u64 claimed;   /* when it had its room */
	u8 state;
};

enum { CHECK_NONE, CHECK_OPEN, CHECK_DONE, CHECK_DISCARDED, CHECK_READ };

#define CHECK_MAX 4096

struct check {
	struct trace_buffer *buffer;
	struct ring_buffer_per_cpu *cpu_buffer;
	int cpu;
	u64 now, step; /* the clock goes on by `step` at each event */
	unsigned written, refused, discarded, read, lost;
	bool lost_unsaid;
	unsigned nr;
	u64 last_ts, last_start;
	struct check_event event[CHECK_MAX];
};

/* Where a test's generator begins: with UNIT_SEED in the environment another number for each. */
static inline u64 check_seed(u64 otherwise)
{
	const char *seed = getenv("UNIT_SEED");

	return otherwise + (seed ? strtoul(seed, NULL, 10) * 1000003 : 0);
}

static inline void check_init(struct check *c, struct trace_buffer *buffer, int cpu)
{
	c->buffer = buffer;
	c->cpu = cpu;
	c->cpu_buffer = ring_buffer_cpu(buffer, cpu);
	c->step = 1;
	c->now = 1;
	c->written = c->refused = c->discarded = c->read = c->lost = c->nr = 0;
	c->last_ts = c->last_start = 0;
	c->lost_unsaid = false;
}

/* A writer comes: its event's number. */
static inline u32 check_begin(struct check *c)
{
	u32 id = c->nr++;

	assert_true(id < CHECK_MAX);
	c->event[id] = (struct check_event){.start = c->now += c->step, .state = CHECK_OPEN};
	c->event[id].ts = c->event[id].start;
	return id;
}

/* It has got room, or was refused; fill it. */
static inline struct ring_buffer_event *check_fill(struct check *c, u32 id, unsigned length,
						   struct ring_buffer_event *event)
{
	struct check_payload *p;

	c->event[id].claimed = c->now;
	if (!event) {
		c->event[id].state = CHECK_NONE;
		c->refused++;
		return NULL;
	}
	assert_int_equal(ring_buffer_event_length(event), (length + 3) & ~3u);
	p = ring_buffer_event_data(event);
	p->id = id;
	p->length = length;
	memset(p->fill, (u8)id, length - CHECK_MIN);
	return event;
}

/* Reserve and fill. NULL when refused. Something may nest in it; the caller commits or discards. */
static inline struct ring_buffer_event *check_reserve(struct check *c, unsigned length, u32 *idp)
{
	u32 id = *idp = check_begin(c);

	return check_fill(c, id, length, ring_buffer_reserve(c->cpu_buffer, length, c->event[id].ts));
}

static inline void check_commit(struct check *c, u32 id)
{
	ring_buffer_commit(c->cpu_buffer);
	c->event[id].state = CHECK_DONE;
	c->written++;
}

static inline void check_discard(struct check *c, u32 id, struct ring_buffer_event *event)
{
	/* First, as a reader at one of its points must not find the event any more. */
	c->event[id].state = CHECK_DISCARDED;
	c->discarded++;
	ring_buffer_discard(c->cpu_buffer, event);
}

/* Returns whether it was recorded. */
static inline bool check_write(struct check *c, unsigned length)
{
	u32 id;

	if (!check_reserve(c, length, &id))
		return false;
	/* From its first look at the counts on, a reader may find it. */
	check_commit(c, id);
	return true;
}

/*
 * The same in 16 bytes, as tracers do it whose usual case is the outermost writer. In the other case they go on with
 * what they have begun, or, `again`, leave it and begin again, as probes of events do.
 */
static inline bool check_write_open(struct check *c, bool again)
{
	u32 id = check_begin(c);
	struct rb_claimed claimed = rb_try_open(c->cpu_buffer, RB_WORDS(16), c->event[id].ts);
	void (*rest)(struct ring_buffer_per_cpu *) = ring_buffer_commit;
	struct ring_buffer_event *event = claimed.event;

	if (!event && again) {
		rb_leave(c->cpu_buffer);
		event = ring_buffer_reserve(c->cpu_buffer, 16, c->event[id].ts);
	} else if (!event) {
		event = rb_reserve_slow(c->cpu_buffer, 16, c->event[id].ts);
	}
	if (!check_fill(c, id, 16, event))
		return false;
	if (claimed.event)
		rest = rb_try_close(c->cpu_buffer, claimed);
	if (rest)
		rest(c->cpu_buffer);
	c->event[id].state = CHECK_DONE;
	c->written++;
	return true;
}

/*
 * An event came out: it was written and not yet read; its bytes are right; who came first stands first; time
 * does not go back, is not before the writer came nor after it had its room.
 */
static inline void check_read_event(struct check *c, struct ring_buffer_event *event, u64 ts)
{
	struct check_payload *p = ring_buffer_event_data(event);
	struct check_event *e = &c->event[p->id];

	assert_true(p->id < c->nr);
	assert_true(e->state == CHECK_DONE || e->state == CHECK_OPEN);
	e->state = CHECK_READ;
	assert_int_equal(ring_buffer_event_length(event), (p->length + 3) & ~3u);
	/* Each byte is as the one before it: a loop over them takes most of the time of a test. */
	if (p->length > CHECK_MIN) {
		assert_int_equal(p->fill[0], (u8)p->id);
		assert_true(!memcmp(p->fill, p->fill + 1, p->length - CHECK_MIN - 1));
	}
	assert_true(c->last_start <= e->claimed);
	c->last_start = e->start > c->last_start ? e->start : c->last_start;
	assert_true(ts >= c->last_ts);
	assert_true(ts >= e->ts && ts <= e->claimed);
	c->last_ts = ts;
}

static inline bool check_consume(struct check *c)
{
	unsigned long lost = ~0ul;
	u64 ts;
	struct ring_buffer_event *event = ring_buffer_consume(c->buffer, c->cpu, &ts, &lost);

	if (!event)
		return false;
	check_read_event(c, event, ts);
	c->read++;
	c->lost += lost;
	return true;
}

/* Walk a raw page as a foreign reader would; returns how many data events it holds. */
static inline unsigned check_raw_page(struct check *c, struct buffer_data_page *page)
{
	unsigned size = page->commit & 0x7ffffff, pos = 0, events = 0;
	u64 ts = page->time_stamp;

	if (page->commit & RB_MISSED_EVENTS) {
		u64 lost = 0;

		/* A page that is quite full has no room to say how many. */
		assert_int_equal(!(page->commit & RB_MISSED_STORED),
				 size + sizeof(lost) > ring_buffer_page_size(c->buffer) - RB_PAGE_HEAD);
		if (page->commit & RB_MISSED_STORED)
			memcpy(&lost, page->data + size, sizeof(lost));
		else
			c->lost_unsaid = true;
		c->lost += lost;
	}
	while (pos < size) {
		u32 head, array;

		memcpy(&head, page->data + pos, 4);
		memcpy(&array, page->data + pos + 4, 4);
		ts += head >> 5;
		switch (head & 31) {
		case 29:
			pos += 4 + array;
			break;
		case 30:
			ts += (u64)array << 27;
			pos += 8;
			break;
		case 31:
			fail_msg("an absolute stamp, which we do not write");
			break;
		default:
			check_read_event(c, (struct ring_buffer_event *)(void *)(page->data + pos), ts);
			events++;
			pos += 4 + (head & 31 ? (head & 31) * 4 : array);
		}
	}
	assert_int_equal(pos, size);
	return events;
}

static inline bool check_read_page(struct check *c, struct buffer_data_page **page, size_t len, bool full)
{
	if (ring_buffer_read_page(c->buffer, page, len, c->cpu, full))
		return false;
	c->read += check_raw_page(c, *page);
	return true;
}

/* Nobody writes any more: read the rest, and all must add up. `settled`: the last event written was not
 * refused. */
static inline void check_end(struct check *c, bool settled)
{
	unsigned overrun = ring_buffer_overrun_cpu(c->buffer, c->cpu);
	unsigned refused =
		ring_buffer_dropped_events_cpu(c->buffer, c->cpu) + ring_buffer_commit_overrun_cpu(c->buffer, c->cpu);

	assert_int_equal(c->cpu_buffer->committing, 0);
	assert_int_equal(ring_buffer_entries_cpu(c->buffer, c->cpu), c->written - overrun - c->read);
	while (check_consume(c))
		;
	assert_int_equal(c->read + overrun, c->written);
	/* What was overwritten last is told with the next event, which may be still to come. */
	assert_true(c->lost <= overrun);
	if (settled && !c->lost_unsaid)
		assert_int_equal(c->lost, overrun);
	assert_int_equal(c->refused, refused);
	assert_int_equal(ring_buffer_read_events_cpu(c->buffer, c->cpu), c->read);
	assert_int_equal(ring_buffer_entries_cpu(c->buffer, c->cpu), 0);
	assert_int_equal(ring_buffer_bytes_cpu(c->buffer, c->cpu), 0);
	assert_true(ring_buffer_empty_cpu(c->buffer, c->cpu));
	/* An event that was neither read nor overwritten would be seen by the sums; one of both kinds, too.
	 */
}
