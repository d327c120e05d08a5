/* What the files of the ring buffer share. Private to trace/ring_buffer/. */
#pragma once

#include <irq/irqflags.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/spinlock.h>
#include <trace/ring_buffer.h>

/* Locks: I immutable, s serialised by the caller (ring_buffer.h), a atomic. */
struct trace_buffer {
	u64 (*clock)(void);			  /* [a] */
	bool overwrite;				  /* [a] */
	unsigned order;				  /* [s, a] the order of each ring's pages */
	unsigned readers;			  /* [a] iterators; while there are any the order stays */
	void (*exchange)(void *arg);		  /* [I once there is a wish] */
	void *exchange_arg;			  /* [I once there is a wish] */
	struct ring_buffer_per_cpu *cpu[NR_CPUS]; /* [I] NULL where no CPU is possible */
	struct rb_map *map[NR_CPUS];		  /* [s and reader_lock] NULL: no program has mapped it */
};

/*
 * While programs have mapped a ring (map.c), each of its pages keeps its memory: no page is handed out, and the ring is
 * not resized, replaced or swapped.
 */
struct rb_map {
	void (*update)(struct ring_buffer_per_cpu *cpu_buffer); /* [I] the ring was reset. reader_lock held */
};

#define RB_HEADER_SIZE offsetof(struct buffer_data_page, data)
#define RB_SEQ_NONE    U64_MAX /* the `seq` of a page that was never in the ring */
#define RB_EVENT_HEAD  8       /* bytes of a long event before its data: its header and its length */

/*
 * rb_ring.head holds two numbers: that of the oldest page in the ring, and the index of the page that the reader put
 * into the slot before it (RB_NO_SWAP: the writer dropped the page that left last). They are in one word so that the
 * writer never meets a slot whose page is gone and whose replacement is not there yet. 44 bits of page numbers are
 * enough for 2^56 bytes of trace.
 */
#define RB_HEAD_BITS 20
#define RB_NO_SWAP   ((1u << RB_HEAD_BITS) - 1)
#define RB_MAX_PAGES (RB_NO_SWAP - 1)

/* Bytes of data in a page of this order, and the index at which such a page begins: all end at RB_INDEX_MASK. */
static inline unsigned rb_page_data(unsigned order)
{
	return (4096u << order) - RB_HEADER_SIZE;
}

static inline u32 rb_page_bias(unsigned order)
{
	return RB_INDEX_MASK - rb_page_data(order) / 4;
}

static inline u64 rb_head_seq(u64 head)
{
	return head >> RB_HEAD_BITS;
}

static inline u32 rb_head_swap(u64 head)
{
	return head & RB_NO_SWAP;
}

static inline u64 rb_head(u64 seq, u32 swap)
{
	return seq << RB_HEAD_BITS | swap;
}

/* Bytes that events take of a page of the ring that is, or was, in this state. */
static inline unsigned rb_state_bytes(const struct rb_ring *ring, u64 state)
{
	return ((state & RB_INDEX_MASK) - ring->bias) * 4;
}

static inline unsigned rb_state_events(u64 state)
{
	return (state >> RB_EVENT_SHIFT) & RB_EVENT_MASK;
}

/* Time of the last event claimed on a page that is closed, and that the writer does not reuse meanwhile. */
static inline u64 rb_last_stamp(struct buffer_page *page)
{
	return rb_read(page->base) + (rb_read(page->state) >> RB_TIME_SHIFT);
}

/* Bytes of a page that are complete. Acquire: pairs with the release in the commit, so their contents are
 * there too. */
static inline unsigned rb_committed(const struct rb_ring *ring, struct buffer_page *page)
{
	return rb_state_bytes(ring, __atomic_load_n(&page->commit, __ATOMIC_ACQUIRE));
}

/* Give a page the memory of its data. The pointer stays behind `origin`, which may be no address at all. */
static inline void rb_set_data(const struct rb_ring *ring, struct buffer_page *page, struct buffer_data_page *data)
{
	page->data = data;
	page->origin = (u8 *)((uintptr_t)data->data - 4ul * ring->bias);
}

/* The page in the slot that number `seq` uses. Under reader_lock, for seq within the ring. */
static inline struct buffer_page *rb_slot_page(struct rb_ring *ring, u64 seq)
{
	return &ring->pages[rb_read(ring->slot[seq % ring->nr_pages])];
}

extern int rb_dump_cpu; /* that reads for a dump (ring_buffer_dump_begin); -1: none */
void rb_dump_lock(struct ring_buffer_per_cpu *cpu_buffer);
void rb_dump_unlock(struct ring_buffer_per_cpu *cpu_buffer);

/*
 * The reader's lock. Interrupts are off while it is held, because an interrupt handler on this CPU may read too and
 * would wait for us for ever. The raw functions are used so that the tracer does not trace itself.
 */
static inline unsigned long rb_lock(struct ring_buffer_per_cpu *cpu_buffer)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	if (unlikely(READ_ONCE(rb_dump_cpu) >= 0))
		rb_dump_lock(cpu_buffer);
	else
		arch_spin_lock(&cpu_buffer->reader_lock);
	return flags;
}

static inline void rb_unlock(struct ring_buffer_per_cpu *cpu_buffer, unsigned long flags)
{
	if (unlikely(READ_ONCE(rb_dump_cpu) >= 0))
		rb_dump_unlock(cpu_buffer);
	else
		arch_spin_unlock(&cpu_buffer->reader_lock);
	raw_local_irq_restore(flags);
}

/* Under reader_lock, or serialised with map and unmap. */
static inline struct rb_map *rb_map_of(const struct ring_buffer_per_cpu *cpu_buffer)
{
	return rb_read(cpu_buffer->buffer->map[cpu_buffer->cpu]);
}

static inline struct ring_buffer_per_cpu *rb_cpu(struct trace_buffer *buffer, int cpu)
{
	return (unsigned)cpu < nr_cpu_ids ? buffer->cpu[cpu] : NULL;
}

/* Where a reader stands in a page: its own, or an iterator's copy. */
struct rb_cursor {
	struct buffer_data_page *data;
	u32 pos, size; /* bytes; size: how much is committed */
	u64 stamp;     /* time of the event before pos */
};

/* Bytes that an event of any type takes, header included. */
unsigned rb_event_size(const struct ring_buffer_event *event);
/* The data event at or after c->pos with its time; moves over padding and time events. NULL at the end. */
struct ring_buffer_event *rb_cursor_event(struct rb_cursor *c, u64 *ts);
/* Go past one event of any type. */
void rb_cursor_skip(struct rb_cursor *c);
/*
 * The time of the first data event among the `size` (at most what a page has) committed bytes of a page that the writer
 * may begin again meanwhile: the caller looks afterwards whether it has, and throws the answer away. 0 when there is
 * none.
 */
u64 rb_first_stamp_racing(const struct buffer_data_page *data, unsigned size);

/* Under reader_lock: a reader page with unread bytes, swapping in the next page of the ring as needed; or
 * NULL. */
struct buffer_page *rb_get_reader_page(struct rb_ring *ring);
/* Is nothing committed and unread? Under reader_lock. */
bool rb_ring_empty(struct rb_ring *ring);
/*
 * Count `bytes` and `events` of the reader's page as read. next_event follows, so that the next page can tell by its
 * own first number how many events were lost in between. Under reader_lock.
 */
static inline void rb_page_read(struct rb_ring *ring, unsigned bytes, unsigned events)
{
	ring->read_bytes += bytes;
	ring->read_events += events;
	ring->next_event += events;
}
/* How many events were written since the last reset, read and overwritten ones too. Under reader_lock. */
u64 rb_written_events(struct rb_ring *ring);

/*
 * How many pages, from the first on, have been in use since the last reset. Page number N was begun in slot N, and the
 * page that the reader gave back for it has a smaller index or is the reader's own. So as long as the tail has not come
 * round once, the pages behind it are as the reset left them. No writer may be inside the ring.
 */
unsigned long rb_touched(const struct rb_ring *ring);
/*
 * Empty a ring whose pages are in place; `now` is the stamp of its first page. `n` is how many pages are cleared:
 * nr_pages, or rb_touched() when the clock is still that of the last reset. (A page's old stamp must not be later than
 * the stamp that it will be begun with, because rb_begin_page tells by the stamp whether a nested writer came first.)
 * No writer and no reader may be inside the ring.
 */
void rb_ring_reset(struct rb_ring *ring, unsigned long n, u64 now);
/*
 * A ring for nr_pages of this order, with memory behind the first nr_data of its nr_pages + 1. 0, or -ENOMEM and
 * nothing is left.
 */
int rb_ring_alloc(struct rb_ring *ring, unsigned order, unsigned long nr_pages, unsigned long nr_data);
void rb_ring_free(struct rb_ring *ring);
/* What the CPU's ring was made for: rb_ring.size. */
unsigned long rb_size_asked(struct trace_buffer *buffer, int cpu);
/* Pages of this order for `size` bytes; 0 when `size` is 0 or too large. */
unsigned long rb_pages_for(unsigned long size, unsigned order);

/*
 * Keep writers out of a CPU's buffer, and wait until no writer is inside it. Calls nest. Thread context, interrupts on.
 * rb_release() lets writers in again; its caller has finished changing the ring.
 */
void rb_quiesce(struct ring_buffer_per_cpu *cpu_buffer);
void rb_release(struct ring_buffer_per_cpu *cpu_buffer);
