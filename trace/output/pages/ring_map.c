/*
 * The ring of a CPU as programs see it that have mapped it, in Linux's layout:
 *
 *     | meta page | padding | sub-buffer 0 | sub-buffer 1 | ... | sub-buffer nr_pages |
 *
 * An id is given to each page when the ring is mapped first, to the reader's page and then to those of the ring from
 * the oldest on. It stays with the page's memory, which nobody exchanges while the ring is mapped: see struct rb_map.
 * The reader's page is the one that a program may read, as in the ring buffer itself: the writer may go on in it, and
 * begins none of its bytes again.
 *
 * The writer does not know of mappings, so it costs a record nothing. It keeps the commit of a page in the page's
 * descriptor; programs find it in the page, where GET_READER puts it for the reader's page.
 *
 * What a program reads, and in which order it must be stored. The events lie in the page before the writer's commit
 * (release, in the writer), which this file loads (acquire) before it stores the commit into the page (release). The id
 * is stored last (release). So a thread that loads the id by acquire finds the commit that belongs to it, and one that
 * loads the commit by acquire finds the events, whichever CPU it runs on: such a chain of releases and acquires holds
 * over three CPUs on aarch64, too. The thread that made the call sees all by program order, and the scheduler's
 * barriers carry that to another CPU. The kernel and the program use different addresses for one page. Both are normal,
 * cacheable, inner shareable memory, and data caches of both machines go by the physical address, so there is nothing
 * to flush; instruction fetch, which differs, is refused with PROT_EXEC.
 *
 * A page of the ring may hold what was in its memory before it was the ring's. A program must not see that, so what no
 * event covers is made zero before the first mapping, with the CPU's writer kept out.
 */
#include <lib/errno.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <trace/ring_buffer_map.h>
#include <uapi/trace_mmap.h>

#include "ring_buffer/internal.h"

static_assert(sizeof(struct trace_buffer_meta) == 80, "the size that Linux 6.12 gives in meta_struct_len");
static_assert(offsetof(struct trace_buffer_meta, entries) == 40, "and its place of the counts");

/* What the other files of the ring buffer know of a mapping, and the mapping. */
struct rb_mapped {
	struct rb_map core;
	struct ring_buffer_map map;
};

static struct ring_buffer_map *rb_mapping(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_map *core = rb_map_of(cpu_buffer);

	return core ? &container_of(core, struct rb_mapped, core)->map : NULL;
}

/*
 * The commit of the reader's page as a program finds it: `size` bytes of events. The number of events that
 * were lost before the page follows them, if the page has room for it and is complete.
 */
static u64 rb_mapped_commit(const struct ring_buffer_map *map, struct rb_ring *ring, unsigned size)
{
	struct buffer_page *page = ring->reader_page;
	bool left = page->seq < __atomic_load_n(&ring->commit_seq, __ATOMIC_ACQUIRE);

	if (!map->lost)
		return size;
	if (!left || size < rb_committed(ring, page) || size + sizeof(map->lost) > rb_page_data(ring->order))
		return size | RB_MISSED_EVENTS;
	memcpy(page->data->data + size, &map->lost, sizeof(map->lost));
	return size | RB_MISSED_EVENTS | RB_MISSED_STORED;
}

/* The reader's page may be another one than at the last look: what was lost before that one has been told. */
static void rb_note_page(struct ring_buffer_map *map, const struct rb_ring *ring)
{
	if (map->seq == ring->reader_page->seq)
		return;
	map->seq = ring->reader_page->seq;
	map->lost = 0;
}

/*
 * Tell programs what is so now, and that they may read `size` bytes of the reader's page. The head of this file has the
 * order. reader_lock held.
 */
static void rb_tell_programs(struct ring_buffer_map *map, struct rb_ring *ring, unsigned size)
{
	struct buffer_page *page = ring->reader_page;
	struct trace_buffer_meta *meta = map->meta;

	rb_note_page(map, ring);
	__atomic_store_n(&page->data->commit, rb_mapped_commit(map, ring, size), __ATOMIC_RELEASE);
	rb_write(meta->entries, rb_written_events(ring));
	rb_write(meta->overrun, rb_read(ring->overrun));
	rb_write(meta->read, ring->read_events);
	rb_write(meta->reader.lost_events, map->lost);
	rb_write(meta->reader.read, ring->read);
	__atomic_store_n(&meta->reader.id, map->ids[page - ring->pages], __ATOMIC_RELEASE);
}

/* The ring is mapped now, or was emptied: all of the reader's page may be read. reader_lock held. */
static void rb_update_meta_page(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_ring *ring = &cpu_buffer->ring;

	rb_tell_programs(rb_mapping(cpu_buffer), ring, rb_committed(ring, ring->reader_page));
}

/*
 * Everything that is complete on the reader's page counts as read. It is walked, for the time of its last event. What
 * was lost before it is the mapping's to tell from now on, and no longer the next read's.
 */
static void rb_consume_page(struct ring_buffer_map *map, struct rb_ring *ring, struct buffer_page *page)
{
	struct rb_cursor c = {page->data, ring->read, rb_committed(ring, page), ring->read_stamp};
	unsigned events = 0;
	u64 ts;

	for (; rb_cursor_event(&c, &ts); events++)
		rb_cursor_skip(&c);
	rb_page_read(ring, c.pos - ring->read, events);
	ring->read = c.pos;
	ring->read_stamp = c.stamp;
	rb_note_page(map, ring);
	map->lost += ring->lost_events;
	ring->lost_events = 0;
}

/* A program may read what counts as read, no more: what comes in between waits for the next call. */
int ring_buffer_map_get_reader(struct trace_buffer *buffer, int cpu)
{
	struct ring_buffer_per_cpu *cpu_buffer = rb_cpu(buffer, cpu);
	struct ring_buffer_map *map;
	struct buffer_page *page;
	unsigned long flags;

	if (!cpu_buffer)
		return -EINVAL;
	flags = rb_lock(cpu_buffer);
	map = rb_mapping(cpu_buffer);
	if (map) {
		/* With nothing unread the reader keeps its page: a program may still be in it. */
		page = rb_ring_empty(&cpu_buffer->ring) ? NULL : rb_get_reader_page(&cpu_buffer->ring);
		if (page)
			rb_consume_page(map, &cpu_buffer->ring, page);
		rb_tell_programs(map, &cpu_buffer->ring, cpu_buffer->ring.read);
	}
	rb_unlock(cpu_buffer, flags);
	return map ? 0 : -ENODEV;
}

/* ---- Mapping and unmapping */

static void rb_free_mapped(struct rb_mapped *mapped)
{
	free_page(mapped->map.meta);
	free_page(mapped->map.padding);
	kvfree(mapped->map.subbufs);
	kvfree(mapped->map.ids);
	kfree(mapped);
}

/* NULL: no memory. */
static struct rb_mapped *rb_alloc_mapped(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_mapped *mapped = kzalloc(sizeof(*mapped), GFP_KERNEL);
	const struct rb_ring *ring = &cpu_buffer->ring;
	struct ring_buffer_map *map;

	if (!mapped)
		return NULL;
	map = &mapped->map;
	mapped->core.update = rb_update_meta_page;
	map->cpu_buffer = cpu_buffer;
	map->order = ring->order;
	map->nr_subbufs = ring->nr_pages + 1;
	map->seq = RB_SEQ_NONE;
	map->meta = get_free_page(GFP_KERNEL | __GFP_ZERO);
	map->padding = get_free_page(GFP_KERNEL | __GFP_ZERO);
	map->subbufs = kvzalloc(map->nr_subbufs * sizeof(*map->subbufs), GFP_KERNEL | __GFP_NOWARN);
	map->ids = kvzalloc(map->nr_subbufs * sizeof(*map->ids), GFP_KERNEL | __GFP_NOWARN);
	if (map->meta && map->padding && map->subbufs && map->ids)
		return mapped;
	rb_free_mapped(mapped);
	return NULL;
}

static void rb_give_id(struct ring_buffer_map *map, struct rb_ring *ring, u32 index, u32 id)
{
	map->ids[index] = id;
	map->subbufs[id] = ring->pages[index].data;
}

/*
 * The slots change under reader_lock alone (the writer stores what is there), and each page but the reader's is in one
 * of them. From here on no page is exchanged. reader_lock held.
 */
static void rb_give_ids(struct ring_buffer_map *map, struct rb_ring *ring)
{
	u64 head = rb_head_seq(__atomic_load_n(&ring->head, __ATOMIC_ACQUIRE));

	rb_give_id(map, ring, ring->reader_page - ring->pages, 0);
	for (unsigned long i = 0; i < ring->nr_pages; i++)
		rb_give_id(map, ring, rb_read(ring->slot[(head + i) % ring->nr_pages]), i + 1);
	*map->meta = (struct trace_buffer_meta){.meta_page_size = 4096u << ring->order,
						.meta_struct_len = sizeof(*map->meta),
						.subbuf_size = 4096u << ring->order,
						.nr_subbufs = map->nr_subbufs};
}

/*
 * Old bytes go: all that no event covers. The writer is kept out, so what is committed is all that there is. A reader
 * may come between two pages, hence the lock, which is held for one page at a time.
 */
static void rb_hide_old_bytes(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_ring *ring = &cpu_buffer->ring;

	for (unsigned long i = 0; i <= ring->nr_pages; i++) {
		unsigned long flags = rb_lock(cpu_buffer);
		struct buffer_page *page = &ring->pages[i];
		unsigned used = rb_committed(ring, page);

		page->data->commit = 0;
		memset(page->data->data + used, 0, rb_page_data(ring->order) - used);
		rb_unlock(cpu_buffer, flags);
	}
}

/* The ring is mapped from the store of `core` on; programs reach it when this function has returned. */
static void rb_set_mapped(struct ring_buffer_per_cpu *cpu_buffer, struct rb_mapped *mapped)
{
	unsigned long flags = rb_lock(cpu_buffer);

	rb_give_ids(&mapped->map, &cpu_buffer->ring);
	rb_write(cpu_buffer->buffer->map[cpu_buffer->cpu], &mapped->core);
	rb_unlock(cpu_buffer, flags);

	rb_quiesce(cpu_buffer);
	rb_hide_old_bytes(cpu_buffer);
	rb_release(cpu_buffer);

	flags = rb_lock(cpu_buffer);
	rb_update_meta_page(cpu_buffer);
	rb_unlock(cpu_buffer, flags);
}

/* The first user makes the mapping, and old bytes go. */
int ring_buffer_map(struct trace_buffer *buffer, int cpu, struct ring_buffer_map **map)
{
	struct ring_buffer_per_cpu *cpu_buffer = rb_cpu(buffer, cpu);

	if (!cpu_buffer)
		return -EINVAL;
	if (!rb_mapping(cpu_buffer)) {
		struct rb_mapped *mapped = rb_alloc_mapped(cpu_buffer);

		if (!mapped)
			return -ENOMEM;
		rb_set_mapped(cpu_buffer, mapped);
	}
	*map = rb_mapping(cpu_buffer);
	(*map)->users++;
	return 0;
}

void ring_buffer_unmap(struct ring_buffer_map *map)
{
	struct ring_buffer_per_cpu *cpu_buffer = map->cpu_buffer;
	unsigned long flags;

	if (--map->users)
		return;
	flags = rb_lock(cpu_buffer);
	rb_write(cpu_buffer->buffer->map[cpu_buffer->cpu], NULL);
	rb_unlock(cpu_buffer, flags);
	rb_free_mapped(container_of(map, struct rb_mapped, map));
}

unsigned long ring_buffer_map_pages(const struct ring_buffer_map *map)
{
	return (map->nr_subbufs + 1ul) << map->order;
}

void *ring_buffer_map_page(const struct ring_buffer_map *map, unsigned long n)
{
	unsigned long place = n >> map->order, within = n & ((1ul << map->order) - 1);

	if (place == 0)
		return within ? map->padding : map->meta;
	return (char *)map->subbufs[place - 1] + within * 4096;
}
