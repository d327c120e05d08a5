/*
 * Pages of every size that buffer_subbuf_size_kb has: what they take, to the word, and what a change of the size does.
 * Nothing nests and nothing runs beside it here (ring_buffer_nest_test.c and ring_buffer_smp_test.c do that).
 */
/* sources: trace/ring_buffer/alloc.c trace/ring_buffer/switch.c trace/ring_buffer/write.c */
/* sources: trace/ring_buffer/event.c trace/ring_buffer/read.c trace/ring_buffer/page.c */
/* sources: trace/ring_buffer/iter.c trace/ring_buffer/stats.c trace/ring_buffer/resize.c */
/* sources: tests/unit/ring_buffer/host_cpu.c */
/* sanitizers: thread */
#include <lib/errno.h>
#include <mm/slab.h>
#include <ring_buffer_check.h>
#include "../../../trace/ring_buffer/internal.h"

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
}

/*
 * Pages of every size: an event of each length near the shortest, near what a page of 4 KiB takes and near the longest
 * comes back byte for byte, by both ways to read; one byte more is refused, and the ring is as it was.
 */
static void test_lengths_of_orders(void **state)
{
	for (unsigned order = 0; order <= RB_ORDER_MAX; order++) {
		unsigned most = (4096u << order) - 24, page = 4096u << order, n = 0;
		struct trace_buffer *buffer = ring_buffer_alloc(3 * RB_DATA_SIZE, RB_FL_OVERWRITE);
		struct buffer_data_page *raw;
		u8 *copy = malloc(most);

		assert_int_equal(ring_buffer_set_order_together(&buffer, 1, order), 0);
		assert_int_equal(ring_buffer_max_event(buffer), most);
		assert_int_equal(ring_buffer_page_size(buffer), page);
		raw = ring_buffer_alloc_read_page(buffer, 0);
		for (unsigned length = 8; length <= most; length += length == 140 ? (most - 140) % 7 + 1 : 1, n++) {
			struct ring_buffer_event *event;

			if (length == 150 && order)
				length = 4050;
			if (length == 4100 && order)
				length = most - 20;
			event = ring_buffer_reserve(ring_buffer_cpu(buffer, 0), length, length);
			assert_non_null(event);
			for (unsigned i = 0; i < length; i++)
				((u8 *)ring_buffer_event_data(event))[i] = copy[i] = i * 7 + i / 251 + length;
			ring_buffer_commit(ring_buffer_cpu(buffer, 0));
			if (n % 2) {
				event = ring_buffer_consume(buffer, 0, NULL, NULL);
			} else {
				assert_int_equal(ring_buffer_read_page(buffer, &raw, page, 0, false), 0);
				event = (void *)raw->data;
				assert_int_equal(raw->commit, rb_event_size(event));
			}
			assert_int_equal(ring_buffer_event_length(event), (length + 3) & ~3u);
			assert_memory_equal(ring_buffer_event_data(event), copy, length);
		}
		assert_null(ring_buffer_reserve(ring_buffer_cpu(buffer, 0), most + 1, 1u << 30));
		assert_true(ring_buffer_empty(buffer));
		assert_int_equal(ring_buffer_dropped_events_cpu(buffer, 0), 0);
		assert_int_equal(ring_buffer_overruns(buffer), 0);
		free(copy);
		ring_buffer_free_read_page(raw, order);
		ring_buffer_free(buffer);
	}
}

/*
 * Pages of every size hold as many events as they have room for, to the word, and a full page is handed out whole. The
 * shortest events are as many as the state can count.
 */
static void test_full_pages_of_orders(void **state)
{
	for (unsigned order = 0; order <= RB_ORDER_MAX; order++) {
		unsigned data = (4096u << order) - 16, per_page = data / 8;
		struct trace_buffer *buffer = ring_buffer_alloc(1, RB_FL_OVERWRITE);
		struct buffer_data_page *page;
		u64 ts = 0, lost;

		assert_int_equal(ring_buffer_set_order_together(&buffer, 1, order), 0);
		page = ring_buffer_alloc_read_page(buffer, 0);
		/* Two pages and an event more: the first page is overwritten. */
		for (unsigned n = 0; n < 2 * per_page + 1; n++)
			put(buffer, ts = n * 1000ull, 4, n);
		assert_int_equal(ring_buffer_overruns(buffer), per_page);
		assert_int_equal(ring_buffer_entries(buffer), per_page + 1);
		assert_int_equal(ring_buffer_bytes_cpu(buffer, 0), 8 * (per_page + 1));
		assert_int_equal(ring_buffer_oldest_event_ts(buffer, 0), per_page * 1000ull);
		assert_int_equal(ring_buffer_read_page(buffer, &page, 4096u << order, 0, true), 0);
		assert_int_equal(page->commit & (RB_MISSED_STORED - 1), per_page * 8);
		assert_true(page->commit & RB_MISSED_EVENTS);
		assert_int_equal(!(page->commit & RB_MISSED_STORED), per_page * 8 + 8 > data);
		if (page->commit & RB_MISSED_STORED) {
			memcpy(&lost, page->data + per_page * 8, 8);
			assert_int_equal(lost, per_page);
		}
		assert_int_equal(page->time_stamp, per_page * 1000ull);
		assert_int_equal(word(page, data / 8 * 8 - 4), ((per_page * 2 - 1) & 0xff) * 0x01010101u);
		assert_non_null(ring_buffer_consume(buffer, 0, &ts, NULL));
		assert_int_equal(ts, 2 * per_page * 1000ull);
		assert_true(ring_buffer_empty(buffer));
		assert_int_equal(ring_buffer_read_events_cpu(buffer, 0), per_page + 1);
		ring_buffer_free_read_page(page, order);
		ring_buffer_free(buffer);
	}
}

/* What a change of the size of pages does, and where it is refused, nothing. */
static void test_orders(void **state)
{
	struct trace_buffer *buffers[2];
	struct ring_buffer_iter *iter;

	nr_cpu_ids = 2;
	for (int i = 0; i < 2; i++)
		buffers[i] = ring_buffer_alloc(50 * RB_DATA_SIZE, 0);
	assert_int_equal(ring_buffer_resize_together(buffers, 2, 33 * RB_DATA_SIZE, 1), 0);
	for (unsigned order = 1; order <= RB_ORDER_MAX; order++) {
		unsigned data = (4096u << order) - 16;
		struct trace_buffer *like;
		int err = -ENOMEM;

		put(buffers[0], 1, 8, 1);
		put(buffers[1], 1, 8, 1);
		for (long n = 0; err; n++) {
			host_allocations_left = n;
			err = ring_buffer_set_order_together(buffers, 2, order);
			host_allocations_left = -1;
			assert_true(err == 0 || err == -ENOMEM);
			for (int i = 0; i < 2; i++) {
				assert_int_equal(ring_buffer_order(buffers[i]), err ? order - 1 : order);
				assert_int_equal(ring_buffer_entries(buffers[i]), err ? 1 : 0);
			}
		}
		for (int i = 0; i < 2; i++) {
			assert_int_equal(ring_buffer_size(buffers[i], 0),
					 max((50 * 4080 + data - 1) / data, 2u) * data);
			assert_int_equal(ring_buffer_size(buffers[i], 1),
					 max((33 * 4080 + data - 1) / data, 2u) * data);
			assert_int_equal(ring_buffer_overruns(buffers[i]), 0);
			assert_int_equal(ring_buffer_dropped_events_cpu(buffers[i], 0), 0);
		}
		like = ring_buffer_alloc_like(buffers[0], 0);
		assert_int_equal(ring_buffer_order(like), order);
		for (int cpu = 0; cpu < 2; cpu++)
			assert_int_equal(ring_buffer_size(like, cpu), ring_buffer_size(buffers[0], cpu));
		put(like, 5, 8, 1);
		put(buffers[0], 7, data - 8, 1);
		assert_int_equal(ring_buffer_swap_cpu(buffers[0], like, 0), 0);
		assert_int_equal(ring_buffer_oldest_event_ts(like, 0), 7);
		assert_int_equal(ring_buffer_oldest_event_ts(buffers[0], 0), 5);
		/* A resize keeps what is there, in pages of this size. */
		put(like, 8, data - 8, 2);
		assert_int_equal(ring_buffer_resize(like, 90 * data, 0), 0);
		assert_int_equal(ring_buffer_size(like, 0), 90 * data);
		assert_int_equal(ring_buffer_entries(like), 2);
		assert_int_equal(ring_buffer_resize(like, 2 * data, 0), 0);
		assert_int_equal(ring_buffer_entries(like), 2);
		assert_non_null(ring_buffer_consume(like, 0, NULL, NULL));
		assert_int_equal(ring_buffer_oldest_event_ts(like, 0), 8);
		ring_buffer_free(like);
		/* The same size of pages again changes nothing. */
		host_allocations_left = 0;
		assert_int_equal(ring_buffer_set_order_together(buffers, 2, order), 0);
		host_allocations_left = -1;
		assert_int_equal(ring_buffer_entries(buffers[0]), 1);
		ring_buffer_reset(buffers[0]);
	}
	put(buffers[0], 1, 8, 1);
	assert_int_equal(ring_buffer_set_order_together(buffers, 2, RB_ORDER_MAX + 1), -EINVAL);
	assert_int_equal(ring_buffer_set_order_together(buffers, 2, ~0u), -EINVAL);
	iter = ring_buffer_read_start(buffers[1], 1);
	assert_int_equal(ring_buffer_set_order_together(buffers, 2, 0), -EBUSY);
	ring_buffer_read_finish(iter);
	host_allocations_left = 1;
	assert_null(ring_buffer_read_start(buffers[0], 0)); /* leaves nothing that keeps the size */
	host_allocations_left = -1;
	assert_int_equal(ring_buffer_entries(buffers[0]), 1);
	assert_int_equal(ring_buffer_set_order_together(buffers, 2, 0), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ring_buffer_size(buffers[i], 0), 50 * RB_DATA_SIZE);
		assert_int_equal(ring_buffer_size(buffers[i], 1), 33 * RB_DATA_SIZE);
		ring_buffer_free(buffers[i]);
	}
	nr_cpu_ids = 1;
}

/* The size that was asked for last counts in another order, also when it took as many pages as the one before. */
static void test_size_of_as_many_pages(void **state)
{
	const unsigned long data = 8192 - RB_PAGE_HEAD;
	struct trace_buffer *buffers[2];

	nr_cpu_ids = 2;
	for (int i = 0; i < 2; i++)
		buffers[i] = ring_buffer_alloc(25 * RB_DATA_SIZE, 0);
	assert_int_equal(ring_buffer_set_order_together(buffers, 2, 1), 0);
	assert_int_equal(ring_buffer_size(buffers[0], 0), 13 * data);
	put(buffers[0], 1, 8, 1);
	assert_int_equal(ring_buffer_resize(buffers[0], 13 * data, 0), 0);
	assert_int_equal(ring_buffer_entries(buffers[0]), 1);
	host_allocations_left = 2; /* for the first of the two */
	assert_int_equal(ring_buffer_resize_together(buffers, 2, 13 * data, 1), -ENOMEM);
	host_allocations_left = -1;
	assert_int_equal(ring_buffer_set_order_together(buffers, 2, 0), 0);
	assert_int_equal(ring_buffer_size(buffers[0], 0), 27 * RB_DATA_SIZE);
	assert_int_equal(ring_buffer_size(buffers[0], 1), 25 * RB_DATA_SIZE);
	for (int i = 0; i < 2; i++)
		ring_buffer_free(buffers[i]);
	nr_cpu_ids = 1;
}

/* Rings of pages of two sizes are not exchanged, even when they have as many pages. */
static void test_swap_of_two_orders(void **state)
{
	struct trace_buffer *a = ring_buffer_alloc(2 * RB_DATA_SIZE, 0), *b = ring_buffer_alloc(2 * RB_DATA_SIZE, 0);

	assert_int_equal(ring_buffer_set_order_together(&b, 1, 3), 0);
	assert_int_equal(ring_buffer_swap_cpu(a, b, 0), -EINVAL);
	put(a, 1, RB_MAX_EVENT, 1);
	put(b, 1, 8 * 4096 - 24, 1);
	ring_buffer_free(a);
	ring_buffer_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths_of_orders),
		cmocka_unit_test(test_full_pages_of_orders),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_size_of_as_many_pages),
		cmocka_unit_test(test_swap_of_two_orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
