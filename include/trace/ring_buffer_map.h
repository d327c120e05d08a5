/*
 * CPUs' rings that programs read in place, without a copy: trace/output/pages/ring_map.c has the ring's side of it, and
 * trace/output/pages/pipe_raw_map.c that of the address spaces.
 */
#pragma once

#include <trace/ring_buffer.h>

struct trace_buffer_meta;

/*
 * A ring that is mapped. Its pages are numbered as programs see them: the meta page, padding up to the size of a
 * sub-buffer, then the sub-buffers by their id. Locks: s serialised as the functions below; I immutable; r private to
 * map.c.
 */
struct ring_buffer_map {
	unsigned users;				/* [s] */
	unsigned order;				/* [I] of the sub-buffers */
	unsigned nr_subbufs;			/* [I] */
	struct ring_buffer_per_cpu *cpu_buffer; /* [I] */
	struct trace_buffer_meta *meta;		/* [r] a page that programs see */
	void *padding;				/* [I] another, full of zeroes */
	struct buffer_data_page **subbufs;	/* [I] by id */
	u32 *ids;				/* [I] by the index in the ring's pages */
	u64 seq, lost;				/* [r] number of the reader's page, and events lost before it */
};

/*
 * Map the ring of `cpu` once more: *map is the same for all of its users. Events that the CPU would write while the
 * first mapping clears what no event covers count as dropped. unmap: one user less; no page is mapped for it any more.
 *
 * Serialised with each other, and with what changes the ring's size or order. Thread context, interrupts on. 0,
 * -EINVAL (no such CPU), -ENOMEM.
 */
int ring_buffer_map(struct trace_buffer *buffer, int cpu, struct ring_buffer_map **map);
void ring_buffer_unmap(struct ring_buffer_map *map);
/* How many pages of 4 KiB there are in all. Of a map that has users. */
unsigned long ring_buffer_map_pages(const struct ring_buffer_map *map);
/* The address of page number n, which is less than that. Of a map that has users. */
void *ring_buffer_map_page(const struct ring_buffer_map *map, unsigned long n);
/*
 * What the reader's page has counts as read; or, when that was so already, the next page becomes the reader's, and what
 * it has counts as read. The meta page and the commit of the reader's page say what is so now. Thread context. 0,
 * -EINVAL, -ENODEV: the ring is not mapped.
 */
int ring_buffer_map_get_reader(struct trace_buffer *buffer, int cpu);
