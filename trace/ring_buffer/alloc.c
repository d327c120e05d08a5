/*
 * The life of a trace ring buffer: its pages are made and freed, its switches and its clock set.
 *
 * A buffer has a ring for each possible CPU, and each ring one page more than it shows: the reader's page, which
 * changes places with a page of the ring when that is read. docs/ring-buffer.md draws it. All memory is there before
 * the first event, because a writer may be anywhere, even in the allocator.
 */
#include <kernel/smp.h>
#include <mm/oom.h>
#include <mm/page.h>
#include <mm/slab.h>
#include "internal.h"

static_assert(sizeof(struct buffer_data_page) + RB_DATA_SIZE == 4096, "a page of order 0 is a page");
static_assert(sizeof(struct ring_buffer_event) == 4, "an event header is a word");
static_assert(RB_EVENT_MASK >= ((4096 << RB_ORDER_MAX) - 16) / 8, "a page full of the shortest events can be counted");
static_assert(RB_INDEX_MASK >= (4096 << RB_ORDER_MAX) / 4 - 1, "every word of a page has an index, and so has its end");

/* Texts of events/header_page and events/header_event; offsets and sizes are those of struct buffer_data_page. */
const char ring_buffer_header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				       "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				       "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				       "\tfield: char data;\toffset:16;\tsize:%u;\tsigned:0;\n";
static_assert(offsetof(struct buffer_data_page, commit) == 8, "header_page says so");
static_assert(offsetof(struct buffer_data_page, data) == 16, "header_page says so");

const char ring_buffer_header_event[] = "# compressed entry header\n"
					"\ttype_len    :    5 bits\n"
					"\ttime_delta  :   27 bits\n"
					"\tarray       :   32 bits\n"
					"\n"
					"\tpadding     : type == 29\n"
					"\ttime_extend : type == 30\n"
					"\ttime_stamp : type == 31\n"
					"\tdata max type_len  == 28\n";

/* At least two: the writer is on one, and the reader may hold the page before it. 0: more than the ring can number. */
unsigned long rb_pages_for(unsigned long size, unsigned order)
{
	unsigned long pages = size / rb_page_data(order) + (size % rb_page_data(order) != 0);

	if (size == 0 || pages > RB_MAX_PAGES)
		return 0;
	return max(pages, 2UL);
}

/*
 * Mark the first `n` pages and the reader's (the last one) as out of use, and put the first `n` into their own
 * slots. RB_FULL keeps a writer from claiming on a page that it has not begun; RB_SEQ_NONE is a number that no page
 * has, so the reader does not take an unused page for one with events.
 */
static void rb_ring_clean(struct rb_ring *ring, unsigned long n)
{
	for (unsigned long i = 0; i <= n; i++) {
		struct buffer_page *page = &ring->pages[i < n ? i : ring->nr_pages];

		page->state = page->commit = RB_FULL | ring->bias;
		page->seq = RB_SEQ_NONE;
	}
	for (unsigned long i = 0; i < n; i++)
		ring->slot[i] = i;
}

/* Resetting only these pages is cheap for a large buffer that has recorded little. */
unsigned long rb_touched(const struct rb_ring *ring)
{
	return min(ring->tail_page->seq + 1, (u64)ring->nr_pages);
}

/* Empty the first `n` pages and the reader's; the other pages are as the last reset left them. */
static void rb_forget_pages(struct rb_ring *ring, unsigned long n, u64 now)
{
	for (unsigned long i = 0; i <= n; i++) {
		struct buffer_page *page = &ring->pages[i < n ? i : ring->nr_pages];

		page->data->time_stamp = page->base = now;
		page->first = 0;
	}
	rb_ring_clean(ring, n);
}

/*
 * Everything begins again at `now`, with the writer on page 0 and the reader on its own page. The new generation tells
 * iterators that what they point to is gone. Context: no writer and no reader is in the ring; the caller sees to that.
 */
void rb_ring_reset(struct rb_ring *ring, unsigned long n, u64 now)
{
	static u64 generations; /* [atomic] over all rings, so that a swap too brings another number */

	rb_forget_pages(ring, n, now);
	ring->reader_page = &ring->pages[ring->nr_pages];
	ring->tail_page = ring->commit_page = &ring->pages[0];
	ring->tail_page->state = ring->bias;
	ring->tail_page->seq = 0;
	ring->head = rb_head(0, RB_NO_SWAP);
	ring->commit_seq = ring->commit_bytes = 0;
	ring->overrun = ring->overrun_bytes = ring->commit_overrun = ring->dropped = 0;
	ring->read = 0;
	ring->read_stamp = now;
	ring->next_event = ring->lost_events = ring->read_events = ring->read_bytes = 0;
	ring->generation = __atomic_add_fetch(&generations, 1, __ATOMIC_RELAXED);
}

/*
 * Memory for the first nr_data pages of a ring. The allocator must not warn: a person asked for this size, and the
 * write that asked fails with ENOMEM. 0 or -ENOMEM; what was made stays in the ring.
 */
static int rb_alloc_data(struct rb_ring *ring, unsigned order, unsigned long nr_data)
{
	unsigned long i = 0;

	if (large_request_begin(nr_data << order))
		return -ENOMEM;
	for (; i < nr_data && !large_request_dead(); i++) {
		struct buffer_data_page *data = get_free_pages(GFP_KERNEL | __GFP_NOWARN, order);

		if (!data)
			break;
		rb_set_data(ring, &ring->pages[i], data);
	}
	large_request_end();
	return i < nr_data ? -ENOMEM : 0;
}

/*
 * Allocate the ring and the memory of its first nr_data pages; a resize moves the others over from the old ring. 0, or
 * -ENOMEM with nothing left behind.
 */
int rb_ring_alloc(struct rb_ring *ring, unsigned order, unsigned long nr_pages, unsigned long nr_data)
{
	ring->nr_pages = nr_pages;
	ring->size = nr_pages * rb_page_data(order);
	ring->order = order;
	ring->bias = rb_page_bias(order);
	ring->slot = kvzalloc(nr_pages * sizeof(*ring->slot), GFP_KERNEL | __GFP_NOWARN);
	ring->pages = kvzalloc((nr_pages + 1) * sizeof(*ring->pages), GFP_KERNEL | __GFP_NOWARN);
	if (!ring->slot || !ring->pages || rb_alloc_data(ring, order, nr_data)) {
		rb_ring_free(ring);
		return -ENOMEM;
	}
	rb_ring_clean(ring, nr_pages);
	return 0;
}

/* The ring may be one that was made only in part: kvzalloc has zeroed its pages, and freeing NULL does nothing. */
void rb_ring_free(struct rb_ring *ring)
{
	for (unsigned long i = 0; ring->pages && i <= ring->nr_pages; i++)
		free_pages(ring->pages[i].data, ring->order);
	kvfree(ring->pages);
	kvfree(ring->slot);
	ring->pages = NULL;
	ring->slot = NULL;
}

/* The clock until a real one is set: all stamps are equal, and only the order of events is kept. */
static u64 notrace rb_no_clock(void)
{
	return 0;
}

/* One CPU's part: nr_pages of the buffer's order in the ring and one for the reader. NULL when out of memory. */
static struct ring_buffer_per_cpu *rb_cpu_alloc(struct trace_buffer *buffer, int cpu, unsigned long nr_pages)
{
	struct ring_buffer_per_cpu *cpu_buffer = kzalloc(sizeof(*cpu_buffer), GFP_KERNEL);

	if (!cpu_buffer)
		return NULL;
	if (rb_ring_alloc(&cpu_buffer->ring, buffer->order, nr_pages, nr_pages + 1)) {
		kfree(cpu_buffer);
		return NULL;
	}
	rb_ring_reset(&cpu_buffer->ring, nr_pages, 0);
	spin_lock_init(&cpu_buffer->reader_lock);
	cpu_buffer->cpu = cpu;
	cpu_buffer->buffer = buffer;
	return cpu_buffer;
}

/*
 * All CPUs that are possible get a ring, and not only those online: a CPU that starts later traces from its first
 * instruction, where it cannot allocate. The rings have nr_pages, or as many pages of its order as those of `like`.
 */
static struct trace_buffer *rb_buffer_alloc(unsigned long nr_pages, struct trace_buffer *like, unsigned flags)
{
	struct trace_buffer *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);
	int cpu;

	if (!buffer)
		return NULL;
	buffer->clock = rb_no_clock;
	buffer->overwrite = flags & RB_FL_OVERWRITE;
	buffer->order = like ? like->order : 0;
	for_each_possible_cpu(cpu) {
		if (like)
			nr_pages = ring_buffer_size(like, cpu) / rb_page_data(like->order);
		buffer->cpu[cpu] = rb_cpu_alloc(buffer, cpu, nr_pages);
		if (!buffer->cpu[cpu])
			goto free_buffer;
		if (like)
			buffer->cpu[cpu]->ring.size = rb_size_asked(like, cpu);
	}
	return buffer;

free_buffer:
	ring_buffer_free(buffer);
	return NULL;
}

struct trace_buffer *ring_buffer_alloc(unsigned long size, unsigned flags)
{
	unsigned long nr_pages = rb_pages_for(max(size, 1UL), 0);

	return nr_pages ? rb_buffer_alloc(nr_pages, NULL, flags) : NULL;
}

struct trace_buffer *ring_buffer_alloc_like(struct trace_buffer *like, unsigned flags)
{
	return rb_buffer_alloc(0, like, flags);
}

unsigned ring_buffer_order(const struct trace_buffer *buffer)
{
	return rb_read(buffer->order);
}

unsigned ring_buffer_page_size(const struct trace_buffer *buffer)
{
	return 4096u << rb_read(buffer->order);
}

unsigned ring_buffer_max_event(const struct trace_buffer *buffer)
{
	return rb_page_data(rb_read(buffer->order)) - RB_EVENT_HEAD;
}

void ring_buffer_free(struct trace_buffer *buffer)
{
	int cpu;

	if (!buffer)
		return;
	for_each_possible_cpu(cpu) {
		if (!buffer->cpu[cpu])
			continue;
		rb_ring_free(&buffer->cpu[cpu]->ring);
		kfree(buffer->cpu[cpu]);
	}
	kfree(buffer);
}

struct ring_buffer_per_cpu *ring_buffer_cpu(struct trace_buffer *buffer, int cpu)
{
	return rb_cpu(buffer, cpu);
}

struct ring_buffer_per_cpu *const *ring_buffer_cpus(struct trace_buffer *buffer)
{
	return buffer->cpu;
}

void ring_buffer_change_overwrite(struct trace_buffer *buffer, bool overwrite)
{
	rb_write(buffer->overwrite, overwrite);
}

/*
 * One store: a writer that runs meanwhile stamps by the old clock or by the new one. The reset that follows, by the
 * caller, removes events that were stamped by the old one.
 */
void ring_buffer_set_clock(struct trace_buffer *buffer, u64 (*clock)(void))
{
	rb_write(buffer->clock, clock);
}

u64 ring_buffer_time_stamp(struct trace_buffer *buffer)
{
	return rb_read(buffer->clock)();
}
