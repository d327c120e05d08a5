/*
 * The trace ring buffer: per CPU, lock-free for writers in every context, pages in Linux's layout.
 *
 * Contexts. Writers: any (task with preemption off, softirq, irq, nmi), only on the CPU whose buffer they
 * write. They take no lock, allocate nothing, print nothing. Readers: any CPU; they hold the CPU buffer's
 * reader_lock with interrupts off for the time of one call, which copies a page at most. An event pointer from peek
 * or consume stays valid until the next reading, reset, swap or free of that CPU's buffer, so a reader that uses one
 * must keep other readers out (the tracing core's access lock). Functions that say "serialised" must not run twice at
 * the same time on one buffer: hold trace_types_lock. Time stamps are what the caller or the buffer's clock supplies,
 * usually nanoseconds.
 *
 * `cpu` is 0 to nr_cpu_ids - 1, and RING_BUFFER_ALL_CPUS where a function says so. For every other number a function
 * returns -EINVAL, 0 or NULL, by its type.
 */
#pragma once

#include <kernel/smp.h>
#include <trace/ring_buffer_inline.h>

struct trace_buffer;
struct ring_buffer_iter;

#define RING_BUFFER_ALL_CPUS (-1)

/* Flag of ring_buffer_alloc: when full the oldest page makes room; without it new events are dropped. */
#define RB_FL_OVERWRITE 1u

/*
 * Bits in the commit field of a page that is handed out. MISSED_EVENTS: events were lost before this page.
 * MISSED_STORED: their number stands behind the data, as a u64.
 */
#define RB_MISSED_EVENTS (1u << 31)
#define RB_MISSED_STORED (1u << 30)

/* ---- Life. Thread context, may sleep. */

/*
 * A buffer of `size` bytes a CPU, rounded up to pages of 4,080 (at least two), for every possible CPU,
 * recording on. NULL when memory is short.
 */
struct trace_buffer *ring_buffer_alloc(unsigned long size, unsigned flags);
/* A buffer whose rings have as many pages as those of `like`, of the same order. */
struct trace_buffer *ring_buffer_alloc_like(struct trace_buffer *like, unsigned flags);
/* No writer, reader or iterator may be left. NULL is fine. */
void ring_buffer_free(struct trace_buffer *buffer);
/*
 * Make `cpu` (or RING_BUFFER_ALL_CPUS) hold `size` bytes, rounded as above. Keeps the newest events; what a
 * smaller buffer cannot hold counts as overrun, what is written during the change (microseconds) as dropped.
 * Serialised; interrupts on. 0, -EINVAL for a size of 0 or a wrong CPU, -EBUSY while a program has mapped the ring of
 * one of these CPUs, -ENOMEM: then nothing has changed on any CPU.
 */
int ring_buffer_resize(struct trace_buffer *buffer, unsigned long size, int cpu);
/* The same for up to RB_RESIZE_MAX buffers: all of them or, on an error, none. */
#define RB_RESIZE_MAX 3
int ring_buffer_resize_together(struct trace_buffer *const *buffers, unsigned n, unsigned long size, int cpu);
/*
 * Pages of 4 KiB << order, 0 to RB_ORDER_MAX, for up to RB_RESIZE_MAX buffers whose orders are the same: all of them
 * or, on an error, none. Every CPU's ring gets as many new pages as hold the size that was asked for last (at least
 * two), and is empty afterwards: events and counts are forgotten. Nothing happens when the order is the same.
 * Serialised; interrupts on. 0, -EINVAL for a wrong order, -EBUSY while iterators look into one of the buffers or a
 * program has mapped one of its rings, -ENOMEM.
 */
int ring_buffer_set_order_together(struct trace_buffer *const *buffers, unsigned n, unsigned order);
unsigned ring_buffer_order(const struct trace_buffer *buffer);
/* Bytes of a page, its header of RB_PAGE_HEAD included. */
unsigned ring_buffer_page_size(const struct trace_buffer *buffer);
#define RB_PAGE_HEAD (sizeof(struct buffer_data_page))
/* The longest event. Any context; it may change at once, and then ring_buffer_reserve refuses a longer one. */
unsigned ring_buffer_max_event(const struct trace_buffer *buffer);
/* Bytes of data that the pages of `cpu` can hold. */
unsigned long ring_buffer_size(struct trace_buffer *buffer, int cpu);
/* Forget events and counts. Serialised, interrupts on. */
void ring_buffer_reset_cpu(struct trace_buffer *buffer, int cpu);
void ring_buffer_reset(struct trace_buffer *buffer);
/* Reset one ring whose next event may have the stamp ts, which lies in the past. Boot: nobody else uses the ring. */
void ring_buffer_begin(struct ring_buffer_per_cpu *cpu_buffer, u64 ts);
/*
 * Exchange what two buffers hold for `cpu`, in constant time: so a latency tracer keeps its maximum. Call it on `cpu`,
 * interrupts off, not in an NMI. 0; -EINVAL when the sizes differ; -EAGAIN while either buffer is resized or reset
 * (whether recording is on does not matter); -EBUSY when the interrupted code is writing an event to either, and while
 * a program has mapped one of the two rings.
 */
int ring_buffer_swap_cpu(struct trace_buffer *a, struct trace_buffer *b, int cpu);
/*
 * The same, but what `aside` holds for `cpu` is forgotten before: `buffer` goes on with nothing in it. No reader may be
 * in `aside`. Takes as many steps as the ring has pages.
 */
int ring_buffer_swap_empty_cpu(struct trace_buffer *buffer, struct trace_buffer *aside, int cpu);
/*
 * A CPU for which an exchange is wanted calls `exchange` with `arg` before its next event. `exchange` swaps the ring
 * and takes the wish back, or leaves both to the next writer; it runs in the writer's context. Set it once, before any
 * wish. Wishes can be set and taken back in any context.
 */
void ring_buffer_set_exchange(struct trace_buffer *buffer, void (*exchange)(void *arg), void *arg);
void ring_buffer_want_exchange(struct trace_buffer *buffer, int cpu, bool wanted);
/* Switch RB_FL_OVERWRITE at run time. Any context. */
void ring_buffer_change_overwrite(struct trace_buffer *buffer, bool overwrite);
/*
 * Set the clock of ring_buffer_lock_reserve() and ring_buffer_time_stamp(). The clock must be notrace and work in any
 * context. Reset the buffer afterwards: stamps of two clocks cannot be compared.
 */
void ring_buffer_set_clock(struct trace_buffer *buffer, u64 (*clock)(void));
u64 ring_buffer_time_stamp(struct trace_buffer *buffer);

/* ---- Writing. The fast pair; preemption off between the look-up of the CPU's buffer and the commit. */

/* What ring_buffer_reserve takes; stays the same for the buffer's life, so it can be kept. */
struct ring_buffer_per_cpu *ring_buffer_cpu(struct trace_buffer *buffer, int cpu);
/* All of them, by CPU; they stay the same for the buffer's life. */
struct ring_buffer_per_cpu *const *ring_buffer_cpus(struct trace_buffer *buffer);
/*
 * The pair that writers use is inline, in <trace/ring_buffer_inline.h>:
 *
 *     struct ring_buffer_event *ring_buffer_reserve(struct ring_buffer_per_cpu *, unsigned long length, u64 ts);
 *     void ring_buffer_commit(struct ring_buffer_per_cpu *);
 *
 * ring_buffer_reserve() makes room for an event of `length` bytes, 0 to ring_buffer_max_event(). Its stamp is ts, or
 * that of the newest event when that is later, so stamps never step back. The writer fills in ring_buffer_event_data()
 * and then commits or discards the event, without sleeping in between. NULL means that the event is not recorded, and
 * there is nothing to commit: recording is off, the event is too long (neither is counted), or the buffer is full
 * (counted).
 *
 * RB_MAX_EVENT has room in pages of every order: a page of data (4,080 bytes) without the event's own header and its
 * length.
 */
#define RB_MAX_EVENT 4072
/* Take the event back: it is neither in the buffer nor counted. In place of the commit. */
void ring_buffer_discard(struct ring_buffer_per_cpu *cpu_buffer, struct ring_buffer_event *event);

/* The same for this CPU, stamped by the buffer's clock. Preemption is off from reserve to commit or discard. */
struct ring_buffer_event *ring_buffer_lock_reserve(struct trace_buffer *buffer, unsigned long length);
void ring_buffer_unlock_commit(struct trace_buffer *buffer);
void ring_buffer_discard_commit(struct trace_buffer *buffer, struct ring_buffer_event *event);
/* Reserve, copy `data` and commit. 0, or -EBUSY when the event is not recorded. */
int ring_buffer_write(struct trace_buffer *buffer, unsigned long length, const void *data);

/*
 * ---- Switches. Any context. disable nests: as many calls of enable undo it. off and on are a plain switch beside
 * that, which users see as tracing_on. Events are recorded when neither forbids it.
 */

void ring_buffer_record_disable(struct trace_buffer *buffer);
void ring_buffer_record_enable(struct trace_buffer *buffer);
void ring_buffer_record_disable_cpu(struct trace_buffer *buffer, int cpu);
void ring_buffer_record_enable_cpu(struct trace_buffer *buffer, int cpu);
void ring_buffer_record_off(struct trace_buffer *buffer);
void ring_buffer_record_on(struct trace_buffer *buffer);
void ring_buffer_record_off_cpu(struct trace_buffer *buffer, int cpu);
void ring_buffer_record_on_cpu(struct trace_buffer *buffer, int cpu);
/* Would an event be recorded on every CPU? The second: is the plain switch of the whole buffer on? */
bool ring_buffer_record_is_on(struct trace_buffer *buffer);
bool ring_buffer_record_is_set_on(struct trace_buffer *buffer);

/*
 * ---- Reading in trouble. A dump must not wait for a lock whose holder may have stopped for ever. Between begin and
 * end the calling CPU, with preemption off, waits only some milliseconds for the lock of a reader, and then reads
 * without it. end: true if it has read so; the buffer may be damaged, and nothing should be recorded in it any more.
 * One CPU at a time. Any context.
 */
void ring_buffer_dump_begin(void);
bool ring_buffer_dump_end(void);
/* For another bare lock that a dump takes: take it; a CPU that dumps may give up (false). Interrupts off. */
bool ring_buffer_dump_lock(spinlock_t *lock);

/* ---- Events */

/*
 * The record's bytes, and how many: the length reserved, rounded up to 4. Type 0 has its length in the first word, so
 * its data begins one word later.
 */
static __always_inline void *ring_buffer_event_data(struct ring_buffer_event *event)
{
	return event->type_len ? event->array : event->array + 1;
}
unsigned ring_buffer_event_length(struct ring_buffer_event *event);

/* ---- Consuming */

/*
 * The oldest event of `cpu`, and its stamp; `lost` (both pointers may be NULL) tells how many were
 * overwritten before it unread. consume takes it out and counts it as read. NULL when there is none.
 */
struct ring_buffer_event *ring_buffer_peek(struct trace_buffer *buffer, int cpu, u64 *ts, unsigned long *lost);
struct ring_buffer_event *ring_buffer_consume(struct trace_buffer *buffer, int cpu, u64 *ts, unsigned long *lost);
/* Nothing committed that was not read? */
bool ring_buffer_empty_cpu(struct trace_buffer *buffer, int cpu);
bool ring_buffer_empty(struct trace_buffer *buffer);
/*
 * Are `percent` of the CPU's pages unread and left by the writer, the one that it is on counted in, and at least one?
 * With 0: is anything unread? A moment ago, while somebody writes.
 */
bool ring_buffer_filled(struct trace_buffer *buffer, int cpu, unsigned percent);

/*
 * A page for ring_buffer_read_page, or NULL. It has the buffer's present order, which the caller must know when it
 * frees the page; after a change of the order it needs another page. Serialised with that change.
 */
struct buffer_data_page *ring_buffer_alloc_read_page(struct trace_buffer *buffer, int cpu);
void ring_buffer_free_read_page(struct buffer_data_page *page, unsigned order);
/*
 * Consume up to a page of events into *page, in Linux's raw form: `len` bytes of it may be used, header
 * included. A page that the writer has left and nobody has read from is exchanged (*page is another one
 * then) unless a program has mapped the ring, else events are copied. With `full`, only a page that the writer has left
 * is taken, and only whole. The rest of the page is zero. 0; -EAGAIN when there is no such page or event; -EINVAL when
 * `len` cannot hold the next event.
 */
int ring_buffer_read_page(struct trace_buffer *buffer, struct buffer_data_page **page, size_t len, int cpu, bool full);

/* ---- Looking without consuming, for the `trace` file. Writers may go on: what they overwrite is reported as
 * dropped. */

/* An iterator at the oldest event of `cpu`; NULL when memory is short. Thread context. One user at a time. */
struct ring_buffer_iter *ring_buffer_read_start(struct trace_buffer *buffer, int cpu);
void ring_buffer_read_finish(struct ring_buffer_iter *iter);
/* The event it stands at, good until the next call with it; NULL at the end (which may move when more is
 * written). */
struct ring_buffer_event *ring_buffer_iter_peek(struct ring_buffer_iter *iter, u64 *ts);
void ring_buffer_iter_advance(struct ring_buffer_iter *iter);
/* Back to the oldest event. */
void ring_buffer_iter_reset(struct ring_buffer_iter *iter);
bool ring_buffer_iter_empty(struct ring_buffer_iter *iter);
/* How many events were overwritten between the one peeked and the one before it; asking clears it. Were there any? */
unsigned long ring_buffer_iter_dropped(struct ring_buffer_iter *iter);
bool ring_buffer_iter_has_dropped(const struct ring_buffer_iter *iter);

/* ---- Counts. Exact while nobody writes; else each was so within the call. [units: events, bytes, clock] */

/*
 * entries: in the buffer, unread. bytes: what they take, headers and time extends included. overrun:
 * overwritten unread. commit_overrun: dropped because nested writers went once round to the page of an event
 * not yet committed. dropped: for lack of room without overwriting, or during a resize, reset or swap. read:
 * consumed. Every event reserved is in exactly one of entries, overrun and read; every refusal (but for
 * recording being off) in one of commit_overrun and dropped.
 */
unsigned long ring_buffer_entries(struct trace_buffer *buffer);
unsigned long ring_buffer_entries_cpu(struct trace_buffer *buffer, int cpu);
unsigned long ring_buffer_overruns(struct trace_buffer *buffer);
unsigned long ring_buffer_overrun_cpu(struct trace_buffer *buffer, int cpu);
unsigned long ring_buffer_commit_overrun_cpu(struct trace_buffer *buffer, int cpu);
unsigned long ring_buffer_dropped_events_cpu(struct trace_buffer *buffer, int cpu);
unsigned long ring_buffer_read_events_cpu(struct trace_buffer *buffer, int cpu);
unsigned long ring_buffer_bytes_cpu(struct trace_buffer *buffer, int cpu);
/* Stamp of the oldest unread event, 0 when there is none. */
u64 ring_buffer_oldest_event_ts(struct trace_buffer *buffer, int cpu);

/* ---- What events/header_page and events/header_event say. The first is a format: its number is the bytes of data in a
 * page. */
extern const char ring_buffer_header_page[];
extern const char ring_buffer_header_event[];
