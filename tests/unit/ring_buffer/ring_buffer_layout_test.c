/*
 * The ring buffer's bytes and its plain behaviour: what foreign readers rely on, every length, times of every size,
 * memory that runs out, random operations held against a model. Nothing nests and nothing runs beside it here
 * (ring_buffer_nest_test.c and ring_buffer_smp_test.c do that).
 */
/* sources: trace/ring_buffer/alloc.c trace/ring_buffer/switch.c trace/ring_buffer/write.c */
/* sources: trace/ring_buffer/event.c trace/ring_buffer/read.c trace/ring_buffer/page.c */
/* sources: trace/ring_buffer/iter.c trace/ring_buffer/stats.c trace/ring_buffer/resize.c */
/* sources: tests/unit/ring_buffer/host_cpu.c */
#include <lib/errno.h>
#include <mm/slab.h>
#include <ring_buffer_check.h>
#include "../../../trace/ring_buffer/internal.h"

static struct check check;

void rb_test_point(int n)
{
}

static u32 word(const struct buffer_data_page *page, unsigned at)
{
	u32 w;

	memcpy(&w, page->data + at, 4);
	return w;
}

static void put(struct trace_buffer *buffer, u64 ts, unsigned length, u8 fill)
{
	struct ring_buffer_event *event = ring_buffer_reserve(ring_buffer_cpu(buffer, 0), length, ts);

	assert_non_null(event);
	memset(ring_buffer_event_data(event), fill, length);
	ring_buffer_commit(ring_buffer_cpu(buffer, 0));
	if (rb_read(ring_buffer_cpu(buffer, 0)->ring.tail_page->state) & RB_LATE)
		fail_msg("the page's state has LATE after an event of %lu", ts);
}

/* The raw page, word by word, as trace-cmd expects it. */
static void test_raw_page(void **state)
{
	struct trace_buffer *buffer = ring_buffer_alloc(1, RB_FL_OVERWRITE);
	struct buffer_data_page *page = ring_buffer_alloc_read_page(buffer, 0);
	struct ring_buffer_event *event;

	put(buffer, 1000, 24, 1);
	put(buffer, 1007, 1, 2);
	put(buffer, 1007 + (1ull << 27), 112, 3);
	put(buffer, 1008 + (1ull << 27), 113, 4);
	put(buffer, 1009 + (1ull << 27), 0, 5);
	/* Discarded as the last one, it leaves nothing; the next counts from the one before it. */
	event = ring_buffer_reserve(ring_buffer_cpu(buffer, 0), 8, 5000 + (1ull << 27));
	ring_buffer_discard(ring_buffer_cpu(buffer, 0), event);
	put(buffer, 1019 + (1ull << 27), 8, 6);
	assert_int_equal(ring_buffer_bytes_cpu(buffer, 0), 28 + 8 + 8 + 116 + 124 + 8 + 12);

	assert_int_equal(ring_buffer_read_page(buffer, &page, 4096, 0, true), -EAGAIN);
	assert_int_equal(ring_buffer_read_page(buffer, &page, 16, 0, false), -EINVAL);
	assert_int_equal(ring_buffer_read_page(buffer, &page, 40, 0, false), -EINVAL);
	assert_int_equal(ring_buffer_read_page(buffer, &page, 4096, 0, false), 0);
	assert_int_equal(page->commit, 28 + 8 + 8 + 116 + 124 + 8 + 12);
	assert_int_equal(page->time_stamp + (word(page, 0) >> 5), 1000);
	assert_int_equal(word(page, 0) & 31, 6);
	assert_int_equal(word(page, 28), 7 << 5 | 1);
	assert_int_equal(word(page, 36), 0 << 5 | RINGBUF_TYPE_TIME_EXTEND);
	assert_int_equal(word(page, 40), 1);
	assert_int_equal(word(page, 44), 28);
	assert_int_equal(word(page, 160), 1 << 5);
	assert_int_equal(word(page, 164), 120);
	assert_int_equal(word(page, 284), 1 << 5 | 1);
	assert_int_equal(word(page, 292), 10 << 5 | 2);
	for (unsigned i = page->commit; i < RB_DATA_SIZE; i++)
		assert_int_equal(page->data[i], 0);
	assert_int_equal(ring_buffer_read_page(buffer, &page, 4096, 0, false), -EAGAIN);
	ring_buffer_free_read_page(page, ring_buffer_order(buffer));
	ring_buffer_free(buffer);
}

/* With `full`: only what the writer has left, but then also the rest of a page that somebody has begun to
 * read. */
static void test_complete_pages(void **state)
{
	struct trace_buffer *buffer = ring_buffer_alloc(4 * RB_DATA_SIZE, RB_FL_OVERWRITE);
	struct buffer_data_page *page = ring_buffer_alloc_read_page(buffer, 0);
	unsigned n = 0, per_page = RB_DATA_SIZE / 28;
	u64 lost;

	assert_false(ring_buffer_filled(buffer, 0, 0));
	put(buffer, n, 24, n);
	n++;
	assert_true(ring_buffer_filled(buffer, 0, 0));
	assert_false(ring_buffer_filled(buffer, 0, 1));
	assert_non_null(ring_buffer_consume(buffer, 0, NULL, NULL));
	for (; n < per_page; n++)
		put(buffer, n, 24, n);
	assert_int_equal(ring_buffer_read_page(buffer, &page, 4096, 0, true), -EAGAIN);
	assert_false(ring_buffer_filled(buffer, 0, 1));
	for (; n < 2 * per_page; n++)
		put(buffer, n, 24, n);
	/* The rest of the first page, and the one that the writer is on: 2 of 4. */
	assert_true(ring_buffer_filled(buffer, 0, 50));
	assert_false(ring_buffer_filled(buffer, 0, 51));
	assert_int_equal(ring_buffer_read_page(buffer, &page, 4096, 0, true), 0);
	assert_int_equal(page->commit, (per_page - 1) * 28);
	assert_int_equal(word(page, 4), 0x01010101);
	assert_false(ring_buffer_filled(buffer, 0, 1));
	assert_int_equal(ring_buffer_read_page(buffer, &page, 4096, 0, true), -EAGAIN);
	/* Full, and then some: the number of those lost stands behind the data, where there is room. */
	for (; n < 8 * per_page; n++)
		put(buffer, n, 24, n);
	assert_true(ring_buffer_filled(buffer, 0, 100));
	/* First the reader's own, before which nothing is missing. */
	assert_int_equal(ring_buffer_read_page(buffer, &page, 4096, 0, true), 0);
	assert_int_equal(page->commit, per_page * 28);
	assert_int_equal(ring_buffer_read_page(buffer, &page, 4096, 0, true), 0);
	assert_int_equal(page->commit & (RB_MISSED_EVENTS | RB_MISSED_STORED), RB_MISSED_EVENTS | RB_MISSED_STORED);
	memcpy(&lost, page->data + per_page * 28, sizeof(lost));
	assert_int_equal(lost, ring_buffer_overrun_cpu(buffer, 0));
	ring_buffer_free_read_page(page, ring_buffer_order(buffer));
	ring_buffer_free(buffer);
}

/* The texts of events/header_page and header_event are Linux's, to the byte: recorded from a 6.12 on arm64.
 */
static void test_texts(void **state)
{
	char text[300];

	snprintf(text, sizeof(text), ring_buffer_header_page, 4080);
	assert_string_equal(text, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n");
	assert_string_equal(ring_buffer_header_event, "# compressed entry header\n"
						      "\ttype_len    :    5 bits\n"
						      "\ttime_delta  :   27 bits\n"
						      "\tarray       :   32 bits\n"
						      "\n"
						      "\tpadding     : type == 29\n"
						      "\ttime_extend : type == 30\n"
						      "\ttime_stamp : type == 31\n"
						      "\tdata max type_len  == 28\n");
}

/* Every length from 0 to the longest comes back with its bytes; one more is refused and leaves nothing
 * behind. */
static void test_lengths(void **state)
{
	struct trace_buffer *buffer = ring_buffer_alloc(3 * RB_DATA_SIZE, 0);
	struct ring_buffer_event *event;

	for (unsigned length = 0; length <= RB_MAX_EVENT; length++) {
		put(buffer, length, length, length);
		event = ring_buffer_consume(buffer, 0, NULL, NULL);
		assert_non_null(event);
		assert_int_equal(ring_buffer_event_length(event), length ? (length + 3) & ~3u : 4);
		for (unsigned i = 0; i < length; i++)
			assert_int_equal(((u8 *)ring_buffer_event_data(event))[i], (u8)length);
	}
	assert_null(ring_buffer_reserve(ring_buffer_cpu(buffer, 0), RB_MAX_EVENT + 1, 9999));
	assert_null(ring_buffer_reserve(ring_buffer_cpu(buffer, 0), ~0ul, 9999));
	assert_true(ring_buffer_empty(buffer));
	assert_int_equal(ring_buffer_dropped_events_cpu(buffer, 0), 0);
	put(buffer, 9999, 8, 1);
	assert_int_equal(ring_buffer_entries(buffer), 1);
	ring_buffer_free(buffer);
}

/*
 * Gaps of every power of two between events, also those that need a page of their own, come back exactly. The odd ones
 * are as long as the time from the page's base on: 27 bits of it are in the page's state.
 */
static void test_times(void **state)
{
	struct trace_buffer *buffer = ring_buffer_alloc(90 * RB_DATA_SIZE, 0);
	u64 ts = 5, got, next = 5;

	for (int bit = 0; bit < 62; bit++) {
		put(buffer, ts, 8, bit);
		put(buffer, ts + !(bit & 1), 4000, bit);
		ts += 1ull << bit;
		ts += bit == 0;
	}
	for (int bit = 0; bit < 62; bit++) {
		assert_non_null(ring_buffer_peek(buffer, 0, &got, NULL));
		assert_int_equal(got, ring_buffer_oldest_event_ts(buffer, 0));
		assert_non_null(ring_buffer_consume(buffer, 0, &got, NULL));
		assert_int_equal(got, next);
		assert_non_null(ring_buffer_consume(buffer, 0, &got, NULL));
		assert_int_equal(got, next + !(bit & 1));
		next += (1ull << bit) + (bit == 0);
	}
	ring_buffer_free(buffer);
}

/* The oldest event's time is the event's own: not its page's, nor that of what was discarded before it. */
static void test_oldest(void **state)
{
	struct trace_buffer *buffer = ring_buffer_alloc(2, RB_FL_OVERWRITE);
	struct ring_buffer_per_cpu *cpu_buffer = ring_buffer_cpu(buffer, 0);
	struct ring_buffer_event *first;

	ring_buffer_begin(cpu_buffer, 100); /* what was there is forgotten; the page's stamp is 100 */
	assert_int_equal(ring_buffer_oldest_event_ts(buffer, 0), 0);
	/* A nested event keeps the one around it from being taken back: it is left as padding, 8 bytes in
	 * front. */
	first = ring_buffer_reserve(cpu_buffer, 4, 300);
	put(buffer, 200 + (1ull << 30), 8, 1);
	ring_buffer_discard(cpu_buffer, first);
	assert_int_equal(ring_buffer_oldest_event_ts(buffer, 0), 200 + (1ull << 30));
	put(buffer, 300 + (1ull << 30), 8, 2);
	assert_int_equal(ring_buffer_oldest_event_ts(buffer, 0), 200 + (1ull << 30));
	ring_buffer_free(buffer);
}

/* A page that is being filled again may hold any words when it is looked at. The walk ends, and stays in the
 * page. */
static void test_racing_words(void **state)
{
	struct buffer_data_page *page = malloc(4096);
	const u32 lengths[] = {0, 1, 2, 3, 4, 5, 4072, 4076, 4080, ~0u, ~3u, ~7u, ~11u, 0x80000000u, 0x7ffffffcu};

	for (unsigned i = 0; i < ARRAY_SIZE(lengths); i++) {
		for (unsigned at = 0; at < RB_DATA_SIZE; at += 8) {
			memcpy(page->data + at, (u32[]){RINGBUF_TYPE_PADDING, lengths[i]}, 8);
			page->time_stamp = 7;
		}
		for (unsigned size = 0; size <= RB_DATA_SIZE; size++)
			assert_int_equal(rb_first_stamp_racing(page, size), 0);
	}
	free(page);
}

/* A stamp before the last one is recorded as the last one. */
static void test_time_backwards(void **state)
{
	struct trace_buffer *buffer = ring_buffer_alloc(1, 0);
	u64 ts;

	put(buffer, 100, 8, 1);
	assert_non_null(ring_buffer_reserve(ring_buffer_cpu(buffer, 0), 8, 50));
	ring_buffer_commit(ring_buffer_cpu(buffer, 0));
	put(buffer, 103, 8, 1);
	ring_buffer_consume(buffer, 0, &ts, NULL);
	ring_buffer_consume(buffer, 0, &ts, NULL);
	assert_int_equal(ts, 100);
	ring_buffer_consume(buffer, 0, &ts, NULL);
	assert_int_equal(ts, 103);
	ring_buffer_free(buffer);
}

/* Whichever allocation fails, the call says so and nothing has changed nor leaks. */
static void test_no_memory(void **state)
{
	struct trace_buffer *buffer = NULL;
	struct ring_buffer_iter *iter;
	int err = -ENOMEM;

	nr_cpu_ids = 2;
	for (long n = 1; !buffer; n++) {
		host_allocations_left = n;
		buffer = ring_buffer_alloc(4 * RB_DATA_SIZE, 0);
	}
	host_allocations_left = -1;
	put(buffer, 1, 8, 1);
	for (long n = 1; err; n++) {
		host_allocations_left = n;
		err = ring_buffer_resize(buffer, 7 * RB_DATA_SIZE, RING_BUFFER_ALL_CPUS);
		host_allocations_left = -1;
		assert_true(err == 0 || err == -ENOMEM);
		for (int cpu = 0; cpu < 2; cpu++)
			assert_int_equal(ring_buffer_size(buffer, cpu), (err ? 4 : 7) * RB_DATA_SIZE);
		assert_int_equal(ring_buffer_entries(buffer), 1);
	}
	for (iter = NULL; !iter;) {
		static long n;

		host_allocations_left = ++n;
		iter = ring_buffer_read_start(buffer, 0);
	}
	host_allocations_left = -1;
	ring_buffer_read_finish(iter);
	assert_int_equal(ring_buffer_resize(buffer, 0, 0), -EINVAL);
	assert_int_equal(ring_buffer_resize(buffer, 4096, 2), -EINVAL);
	assert_int_equal(ring_buffer_resize(buffer, 4096, -2), -EINVAL);
	assert_int_equal(ring_buffer_resize(buffer, ~0ul, 0), -ENOMEM);
	assert_null(ring_buffer_consume(buffer, 2, NULL, NULL));
	assert_null(ring_buffer_cpu(buffer, -1));
	ring_buffer_free(buffer);
	nr_cpu_ids = 1;
}

/* One CPU gets another size, and the other one's ring stays as it is; so does each that has the size already. */
static void test_size_of_one(void **state)
{
	struct trace_buffer *buffer;

	nr_cpu_ids = 2;
	buffer = ring_buffer_alloc(4 * RB_DATA_SIZE, 0);
	assert_int_equal(ring_buffer_resize(buffer, 7 * RB_DATA_SIZE, 1), 0);
	assert_int_equal(ring_buffer_size(buffer, 0), 4 * RB_DATA_SIZE);
	assert_int_equal(ring_buffer_size(buffer, 1), 7 * RB_DATA_SIZE);
	host_allocations_left = 2; /* enough for the list of new rings, which is empty */
	if (ring_buffer_resize(buffer, 7 * RB_DATA_SIZE, 1))
		fail_msg("a ring that has the size already is made again");
	host_allocations_left = -1;
	assert_int_equal(ring_buffer_resize(buffer, 7 * RB_DATA_SIZE, RING_BUFFER_ALL_CPUS), 0);
	assert_int_equal(ring_buffer_size(buffer, 0), 7 * RB_DATA_SIZE);
	ring_buffer_free(buffer);
	nr_cpu_ids = 1;
}

/* As many events as there is room for, to the byte. */
static void test_room_for_events(void **state)
{
	struct trace_buffer *buffer = ring_buffer_alloc(1, RB_FL_OVERWRITE);
	struct buffer_data_page *page = ring_buffer_alloc_read_page(buffer, 0);
	unsigned header = offsetof(struct buffer_data_page, data);

	for (unsigned n = 0; n < 5; n++)
		put(buffer, n, 24, n);
	assert_int_equal(ring_buffer_read_page(buffer, &page, header + 2 * 28, 0, false), 0);
	assert_int_equal(page->commit, 2 * 28);
	assert_int_equal(ring_buffer_read_page(buffer, &page, header + 2 * 28 - 1, 0, false), 0);
	assert_int_equal(page->commit, 28);
	assert_int_equal(ring_buffer_read_page(buffer, &page, header + 27, 0, false), -EINVAL);
	assert_int_equal(ring_buffer_read_page(buffer, &page, header + 28, 0, false), 0);
	assert_int_equal(page->commit, 28);
	assert_int_equal(ring_buffer_entries_cpu(buffer, 0), 1);
	ring_buffer_free_read_page(page, ring_buffer_order(buffer));
	ring_buffer_free(buffer);
}

/* Bytes are those of the events that are there, over pages that are filled, overwritten and read. */
static void test_bytes(void **state)
{
	struct trace_buffer *buffer = ring_buffer_alloc(4 * RB_DATA_SIZE, RB_FL_OVERWRITE);
	unsigned per_page = RB_DATA_SIZE / 28;

	for (unsigned n = 0; n < 7 * per_page; n++) {
		put(buffer, n, 24, n);
		assert_int_equal(ring_buffer_bytes_cpu(buffer, 0), 28 * ring_buffer_entries_cpu(buffer, 0));
	}
	assert_true(ring_buffer_overrun_cpu(buffer, 0) > 0);
	while (ring_buffer_consume(buffer, 0, NULL, NULL))
		assert_int_equal(ring_buffer_bytes_cpu(buffer, 0), 28 * ring_buffer_entries_cpu(buffer, 0));
	ring_buffer_free(buffer);
}

/* The exchange refuses what it must, and else moves events and counts. */
static void test_swap(void **state)
{
	struct trace_buffer *a = ring_buffer_alloc(1, 0), *b = ring_buffer_alloc(1, 0);
	struct ring_buffer_event *event;

	put(a, 1, 8, 1);
	event = ring_buffer_reserve(ring_buffer_cpu(a, 0), 8, 2);
	assert_int_equal(ring_buffer_swap_cpu(a, b, 0), -EBUSY);
	assert_int_equal(ring_buffer_swap_cpu(b, a, 0), -EBUSY);
	ring_buffer_discard(ring_buffer_cpu(a, 0), event);
	ring_buffer_cpu(b, 0)->disabled += RB_QUIESCE_ONE;
	assert_int_equal(ring_buffer_swap_cpu(a, b, 0), -EAGAIN);
	assert_int_equal(ring_buffer_swap_cpu(b, a, 0), -EAGAIN);
	ring_buffer_cpu(b, 0)->disabled -= RB_QUIESCE_ONE;
	ring_buffer_record_disable_cpu(b, 0);
	ring_buffer_record_off(a);
	assert_int_equal(ring_buffer_swap_cpu(a, b, 1), -EINVAL);
	assert_int_equal(ring_buffer_swap_cpu(a, a, 0), -EINVAL);
	assert_int_equal(ring_buffer_swap_cpu(a, b, 0), 0);
	assert_int_equal(ring_buffer_entries(a), 0);
	assert_int_equal(ring_buffer_entries(b), 1);
	ring_buffer_record_enable_cpu(b, 0);
	ring_buffer_record_on(a);
	put(a, 5, 8, 1);
	assert_int_equal(ring_buffer_entries(a), 1);
	assert_int_equal(ring_buffer_resize(b, 9 * RB_DATA_SIZE, 0), 0);
	assert_int_equal(ring_buffer_swap_cpu(a, b, 0), -EINVAL);
	assert_true(ring_buffer_record_is_on(a) && ring_buffer_record_is_on(b));
	ring_buffer_free(a);
	ring_buffer_free(b);
}

static u64 seed;

static u64 next_random(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 33;
}

/*
 * One step of a random history: a resize, a change of mode, a reader of some kind, a jump of time, or (half of the
 * steps) an event of any length. The checker notes what was written and compares it with what comes out.
 */
static void random_step(struct buffer_data_page **page, struct ring_buffer_iter *iter)
{
	struct trace_buffer *buffer = check.buffer;
	u64 r = next_random();

	switch (r % 16) {
	case 0:
		assert_int_equal(ring_buffer_resize(buffer, 1 + next_random() % 40000, 0), 0);
		break;
	case 1:
		ring_buffer_change_overwrite(buffer, r / 16 % 2);
		break;
	case 2:
		check_read_page(&check, page, 64 + next_random() % (ring_buffer_page_size(buffer) - 63),
				r / 16 % 4 == 0);
		break;
	case 3:
		check_read_page(&check, page, ring_buffer_page_size(buffer), r / 16 % 2);
		break;
	case 4:
	case 5:
		check_consume(&check);
		break;
	case 6:
		while (ring_buffer_iter_peek(iter, NULL) && next_random() % 16)
			ring_buffer_iter_advance(iter);
		break;
	case 7:
		check.now += 1ull << next_random() % 44;
		break;
	default:
		check_write(&check, r / 16 % 4 ? 8 + next_random() % 60
					       : 8 + next_random() % (ring_buffer_max_event(buffer) - 7));
	}
}

/* Thousands of random operations, resizes among them, many times over: order, contents, times and all counts
 * stay right. */
static void test_random(void **state)
{
	for (u64 run = 1; run < 300; run++) {
		struct trace_buffer *buffer = ring_buffer_alloc(2 * RB_DATA_SIZE, run % 2);
		bool larger = run % 16 / 2 == 7 && !ring_buffer_set_order_together(&buffer, 1, 1 + run % 2);
		struct buffer_data_page *page = ring_buffer_alloc_read_page(buffer, 0);
		struct ring_buffer_iter *iter = ring_buffer_read_start(buffer, 0);

		assert_int_equal(ring_buffer_order(buffer), larger ? 1 + run % 2 : 0);
		seed = check_seed(run);
		check_init(&check, buffer, 0);
		for (int i = 0; i < 1500; i++)
			random_step(&page, iter);
		check_end(&check, false);
		ring_buffer_read_finish(iter);
		ring_buffer_free_read_page(page, ring_buffer_order(buffer));
		ring_buffer_free(buffer);
	}
}

/* What an iterator says it missed and what it saw make up all that was written after its start. */
static void test_iterator_counts(void **state)
{
	struct trace_buffer *buffer = ring_buffer_alloc(3 * RB_DATA_SIZE, RB_FL_OVERWRITE);
	struct ring_buffer_iter *iter = ring_buffer_read_start(buffer, 0);
	unsigned long seen = 0, dropped = 0, n;

	put(buffer, 1, 1000, 1);
	assert_non_null(ring_buffer_iter_peek(iter, NULL));
	for (n = 1; n < 300; n++) {
		put(buffer, n, 900, 1);
		if (n % 40 < 5 && ring_buffer_iter_peek(iter, NULL)) {
			seen++;
			ring_buffer_iter_advance(iter);
		}
		dropped += ring_buffer_iter_dropped(iter);
	}
	while (ring_buffer_iter_peek(iter, NULL)) {
		seen++;
		ring_buffer_iter_advance(iter);
	}
	dropped += ring_buffer_iter_dropped(iter);
	assert_true(dropped > 100);
	assert_int_equal(seen + dropped, n);
	assert_true(ring_buffer_iter_empty(iter));
	ring_buffer_iter_reset(iter);
	assert_false(ring_buffer_iter_empty(iter));
	assert_int_equal(ring_buffer_entries(buffer) + ring_buffer_overruns(buffer), n);
	ring_buffer_read_finish(iter);
	ring_buffer_free(buffer);
}

/* Takes all that the iterator has: that many events, with these stamps in order, and so many missing between
 * them. */
static void iterates(struct ring_buffer_iter *iter, u64 first, unsigned events, unsigned long missing)
{
	unsigned long dropped = 0;
	u64 ts;

	for (unsigned n = 0; n < events; n++) {
		assert_non_null(ring_buffer_iter_peek(iter, &ts));
		assert_int_equal(ts, first + n);
		dropped += ring_buffer_iter_dropped(iter);
		ring_buffer_iter_advance(iter);
	}
	assert_null(ring_buffer_iter_peek(iter, NULL));
	assert_int_equal(dropped + ring_buffer_iter_dropped(iter), missing);
}

/* A reset or an exchange under an open iterator: it sees the other events from the first on, and misses none.
 */
static void test_iterator_of_another_ring(void **state)
{
	struct trace_buffer *a = ring_buffer_alloc(1, 0), *b = ring_buffer_alloc(1, 0);
	struct ring_buffer_iter *iter = ring_buffer_read_start(a, 0);

	for (unsigned n = 0; n < 3; n++)
		put(a, 100 + n, 8, 1);
	for (unsigned n = 0; n < 5; n++)
		put(b, 200 + n, 8, 2);
	iterates(iter, 100, 3, 0);
	assert_int_equal(ring_buffer_swap_cpu(a, b, 0), 0);
	iterates(iter, 200, 5, 0);
	assert_int_equal(ring_buffer_swap_cpu(a, b, 0), 0);
	iterates(iter, 100, 3, 0);
	ring_buffer_reset(a);
	for (unsigned n = 0; n < 4; n++)
		put(a, 300 + n, 8, 3);
	iterates(iter, 300, 4, 0);
	ring_buffer_read_finish(iter);
	ring_buffer_free(a);
	ring_buffer_free(b);
}

/* An iterator that begins on a page whose first events are consumed has not missed these. */
static void test_iterator_after_consumer(void **state)
{
	struct trace_buffer *buffer = ring_buffer_alloc(3 * RB_DATA_SIZE, 0);
	struct ring_buffer_iter *iter;
	unsigned nr = 2 * (RB_DATA_SIZE / 28);

	for (unsigned n = 0; n < nr; n++)
		put(buffer, 100 + n, 24, 1);
	for (unsigned n = 0; n < 3; n++)
		assert_non_null(ring_buffer_consume(buffer, 0, NULL, NULL));
	iter = ring_buffer_read_start(buffer, 0);
	iterates(iter, 103, nr - 3, 0);
	ring_buffer_read_finish(iter);
	ring_buffer_free(buffer);
}

/*
 * A dump reads what is there even if the holder of the lock never lets go, does not release what it has not taken, and
 * says so. With the lock free it takes and releases it.
 */
static void test_dump_without_the_lock(void **state)
{
	struct trace_buffer *buffer = ring_buffer_alloc(8192, RB_FL_OVERWRITE);
	spinlock_t *lock = &buffer->cpu[0]->reader_lock;
	u64 ts;

	for (unsigned i = 0; i < 300; i++)
		put(buffer, 1000 + i, 24, 1);
	arch_spin_lock(lock);
	ring_buffer_dump_begin();
	for (unsigned i = 0; i < 200; i++) {
		assert_non_null(ring_buffer_peek(buffer, 0, &ts, NULL));
		assert_int_equal(ts, 1000 + i);
		assert_non_null(ring_buffer_consume(buffer, 0, &ts, NULL));
	}
	assert_false(ring_buffer_dump_lock(lock));
	assert_true(ring_buffer_dump_end());
	assert_true(lock->locked);
	arch_spin_unlock(lock);
	ring_buffer_dump_begin();
	assert_non_null(ring_buffer_consume(buffer, 0, &ts, NULL));
	assert_int_equal(ts, 1200);
	assert_false(lock->locked);
	assert_false(ring_buffer_dump_end());
	ring_buffer_free(buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw_page),
		cmocka_unit_test(test_dump_without_the_lock),
		cmocka_unit_test(test_complete_pages),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_oldest),
		cmocka_unit_test(test_racing_words),
		cmocka_unit_test(test_time_backwards),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_size_of_one),
		cmocka_unit_test(test_swap),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_iterator_counts),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_room_for_events),
		cmocka_unit_test(test_iterator_of_another_ring),
		cmocka_unit_test(test_iterator_after_consumer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
