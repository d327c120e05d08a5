/*
 * A ring that programs have mapped: ids, the meta page, what is refused meanwhile; and the reader's page read in place
 * while the CPU writes.
 */
/* sources: trace/ring_buffer/alloc.c trace/ring_buffer/switch.c trace/ring_buffer/write.c */
/* sources: trace/ring_buffer/event.c trace/ring_buffer/read.c trace/ring_buffer/page.c */
/* sources: trace/ring_buffer/iter.c trace/ring_buffer/stats.c trace/ring_buffer/resize.c */
/* sources: trace/output/pages/ring_map.c tests/unit/ring_buffer/host_cpu.c */
/* sanitizers: thread */
#include <lib/errno.h>
#include <pthread.h>
#include <mm/slab.h>
#include <ring_buffer_check.h>
#include <trace/ring_buffer_map.h>
#include <uapi/trace_mmap.h>
#include "../../../trace/ring_buffer/internal.h"

void rb_test_point(int n)
{
}

/* False: it is refused, and counts as dropped. */
static bool try_put(struct trace_buffer *buffer, u64 seq)
{
	struct ring_buffer_event *event = ring_buffer_reserve(ring_buffer_cpu(buffer, 0), sizeof(seq), seq);

	if (!event)
		return false;
	memcpy(ring_buffer_event_data(event), &seq, sizeof(seq));
	ring_buffer_commit(ring_buffer_cpu(buffer, 0));
	return true;
}

static void put(struct trace_buffer *buffer, u64 seq)
{
	assert_true(try_put(buffer, seq));
}

static struct buffer_data_page *reader_page(const struct ring_buffer_map *map)
{
	u32 id = __atomic_load_n(&map->meta->reader.id, __ATOMIC_ACQUIRE);

	return ring_buffer_map_page(map, (id + 1ul) << map->order);
}

/* What a program has seen so far. */
struct seen {
	u64 next, lost, read; /* the number that must come; how many did not, and did */
	u32 at;		      /* bytes of the reader's page that it has walked */
	u64 page_lost;	      /* told with that page */
	struct buffer_data_page *page;
};

/* Bit 31 of the commit: the gap before the page. What is on the page again after a second look is walked once. */
static void note_gap(struct seen *s, const struct ring_buffer_map *map, u64 commit)
{
	u64 lost = map->meta->reader.lost_events, stored;

	assert_int_equal(!!(commit & RB_MISSED_EVENTS), lost != 0);
	if (commit & RB_MISSED_STORED) {
		memcpy(&stored, s->page->data + (commit & 0x7ffffff), sizeof(stored));
		assert_int_equal(stored, lost);
	}
	s->next += lost - s->page_lost;
	s->lost += lost - s->page_lost;
	s->page_lost = lost;
}

/* Walk the reader's page in place, from where the walk before has ended: the numbers come one after the other. */
static void look(struct seen *s, const struct ring_buffer_map *map)
{
	struct buffer_data_page *page = reader_page(map);
	u64 commit = __atomic_load_n(&page->commit, __ATOMIC_ACQUIRE), seq;
	u32 size = commit & 0x7ffffff, head, array;

	if (page != s->page)
		*s = (struct seen){.next = s->next, .lost = s->lost, .read = s->read, .page = page};
	note_gap(s, map, commit);
	assert_true(size >= s->at);
	while (s->at < size) {
		memcpy(&head, page->data + s->at, 4);
		memcpy(&array, page->data + s->at + 4, 4);
		if ((head & 31) == 2) {
			memcpy(&seq, page->data + s->at + 4, sizeof(seq));
			assert_int_equal(seq, s->next);
			s->next++;
			s->read++;
		}
		s->at += (head & 31) == 29 ? 4 + array : (head & 31) == 30 ? 8 : 4 + (head & 31) * 4;
	}
	assert_int_equal(s->at, size);
}

static struct ring_buffer_map *map_of(struct trace_buffer *buffer)
{
	struct ring_buffer_map *map;

	assert_int_equal(ring_buffer_map(buffer, 0, &map), 0);
	return map;
}

/* One call, as of ioctl(2), and what it has brought. */
static void next(struct seen *s, struct trace_buffer *buffer, const struct ring_buffer_map *map)
{
	assert_int_equal(ring_buffer_map_get_reader(buffer, 0), 0);
	look(s, map);
	assert_int_equal(map->meta->read, s->read);
	assert_int_equal(map->meta->reader.read, s->at);
}

/* Every page of the ring has one id, and its place for as long as it is mapped. The reader's is 0. */
static void test_ids(void **state)
{
	for (unsigned order = 0; order <= 3; order += 3) {
		struct trace_buffer *buffer = ring_buffer_alloc(5 * 4096, RB_FL_OVERWRITE);
		struct ring_buffer_map *map;
		struct seen s = {0};
		void *page[8], *reader;

		assert_int_equal(ring_buffer_set_order_together(&buffer, 1, order), 0);
		for (u64 i = 0; i < 700; i++)
			put(buffer, i);
		reader = ring_buffer_cpu(buffer, 0)->ring.reader_page->data;
		map = map_of(buffer);
		assert_int_equal(map->nr_subbufs, ring_buffer_size(buffer, 0) / rb_page_data(order) + 1);
		assert_int_equal(ring_buffer_map_pages(map), (map->nr_subbufs + 1) << order);
		assert_int_equal(map->meta->reader.id, 0);
		assert_ptr_equal(reader_page(map), reader);
		assert_ptr_equal(ring_buffer_map_page(map, 0), map->meta);
		for (unsigned i = 0; i < map->nr_subbufs; i++) {
			page[i] = ring_buffer_map_page(map, (i + 1ul) << order);
			for (unsigned j = 0; j < i; j++)
				assert_ptr_not_equal(page[i], page[j]);
			if (order)
				assert_ptr_equal(ring_buffer_map_page(map, ((i + 1ul) << order) + 1), page[i] + 4096);
		}
		assert_ptr_equal(map_of(buffer), map); /* another mapping of the same */
		s.next = 0;
		for (u64 i = 700; i < 9000; i++) {
			put(buffer, i);
			if (i % 50 == 0)
				next(&s, buffer, map);
		}
		while (s.next < 9000)
			next(&s, buffer, map);
		assert_int_equal(s.read + s.lost, 9000);
		assert_int_equal(s.lost, ring_buffer_overruns(buffer));
		assert_int_equal(map->meta->entries, 9000);
		assert_int_equal(map->meta->overrun, s.lost);
		for (unsigned i = 0; i < map->nr_subbufs; i++)
			assert_ptr_equal(ring_buffer_map_page(map, (i + 1ul) << order), page[i]);
		ring_buffer_unmap(map);
		assert_int_equal(ring_buffer_map_get_reader(buffer, 0), 0);
		ring_buffer_unmap(map);
		assert_int_equal(ring_buffer_map_get_reader(buffer, 0), -ENODEV);
		ring_buffer_free(buffer);
	}
}

/* What would change the ring's pages is refused, and works again behind the last unmap; whole pages are copied. */
static void test_refused(void **state)
{
	struct trace_buffer *a = ring_buffer_alloc(5 * 4096, RB_FL_OVERWRITE), *b = ring_buffer_alloc_like(a, 0);
	struct ring_buffer_map *map = map_of(a);
	struct buffer_data_page *page = ring_buffer_alloc_read_page(a, 0), *mine = page;

	assert_int_equal(ring_buffer_resize(a, 9 * 4096, RING_BUFFER_ALL_CPUS), -EBUSY);
	assert_int_equal(ring_buffer_resize(a, 9 * 4096, 0), -EBUSY);
	assert_int_equal(ring_buffer_set_order_together(&a, 1, 1), -EBUSY);
	assert_int_equal(ring_buffer_swap_cpu(a, b, 0), -EBUSY);
	assert_int_equal(ring_buffer_swap_cpu(b, a, 0), -EBUSY);
	assert_int_equal(ring_buffer_swap_empty_cpu(a, b, 0), -EBUSY);
	for (u64 i = 0; i < 800; i++)
		put(a, i);
	assert_int_equal(ring_buffer_read_page(a, &page, 4096, 0, true), 0);
	assert_ptr_equal(page, mine);
	ring_buffer_unmap(map);
	assert_int_equal(ring_buffer_read_page(a, &page, 4096, 0, true), 0);
	assert_ptr_not_equal(page, mine);
	assert_int_equal(ring_buffer_swap_cpu(a, b, 0), 0);
	assert_int_equal(ring_buffer_resize(a, 9 * 4096, 0), 0);
	assert_int_equal(ring_buffer_map(a, 1, &map), -EINVAL);
	assert_int_equal(ring_buffer_map_get_reader(a, -1), -EINVAL);
	for (long n = 0; n < 5; n++) {
		host_allocations_left = n;
		assert_int_equal(ring_buffer_map(a, 0, &map), -ENOMEM);
	}
	host_allocations_left = -1;
	assert_int_equal(ring_buffer_map_get_reader(a, 0), -ENODEV);
	ring_buffer_free_read_page(page, 0);
	ring_buffer_free(a);
	ring_buffer_free(b);
}

/* No byte of what the memory held before is there: get_free_pages() fills it with something. Events stay. */
static void test_old_bytes(void **state)
{
	struct trace_buffer *buffer = ring_buffer_alloc(5 * 4096, RB_FL_OVERWRITE);
	struct ring_buffer_map *map;
	struct seen s = {0};

	for (u64 i = 0; i < 600; i++)
		put(buffer, i);
	map = map_of(buffer);
	for (unsigned i = 0; i < map->nr_subbufs; i++) {
		const struct buffer_data_page *page = ring_buffer_map_page(map, i + 1);

		for (unsigned at = 0; at < RB_DATA_SIZE; at += 4)
			assert_int_not_equal(*(const u32 *)(page->data + at), 0xa5a5a5a5);
		assert_int_equal(page->commit, 0);
	}
	while (s.next < 600)
		next(&s, buffer, map);
	ring_buffer_reset(buffer);
	assert_int_equal(map->meta->entries | map->meta->read | map->meta->reader.read, 0);
	assert_int_equal(reader_page(map)->commit, 0);
	ring_buffer_unmap(map);
	ring_buffer_free(buffer);
}

#define STORM 60000

static int written; /* [atomic] the writer is done */

static void *write_all(void *buffer)
{
	host_cpu_start(0);
	for (u64 i = 0; i < STORM;)
		i += try_put(buffer, i);
	__atomic_store_n(&written, 1, __ATOMIC_RELEASE);
	host_cpu_stop();
	return NULL;
}

/*
 * The CPU writes and overwrites while another reads the mapped ring. Each number is read whole or counted as lost. The
 * writer repeats what the first mapping refused.
 */
static void test_reader_beside_writer(void **state)
{
	struct trace_buffer *buffer = ring_buffer_alloc(3 * 4096, RB_FL_OVERWRITE);
	struct ring_buffer_map *map;
	struct seen s = {0};
	pthread_t writer;

	assert_int_equal(pthread_create(&writer, NULL, write_all, buffer), 0);
	map = map_of(buffer);
	while (!__atomic_load_n(&written, __ATOMIC_ACQUIRE))
		next(&s, buffer, map);
	assert_int_equal(pthread_join(writer, NULL), 0);
	do
		next(&s, buffer, map);
	while (!ring_buffer_empty_cpu(buffer, 0));
	assert_int_equal(s.read + s.lost, STORM);
	assert_int_equal(s.lost, ring_buffer_overruns(buffer));
	ring_buffer_unmap(map);
	ring_buffer_free(buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_old_bytes),
		cmocka_unit_test(test_reader_beside_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
