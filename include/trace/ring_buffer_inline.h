/*
 * The ring buffer's layout and the writer's fast path, inlined into tracers. Use <trace/ring_buffer.h>; the
 * fields here are private to trace/ring_buffer/. The proof that the writer needs one exclusive pair is in
 * docs/ring-buffer.md.
 */
#pragma once

#include <lib/types.h>
#include <sched/spinlock_types.h>
#include <trace/ring_buffer_access.h>

/* Event types in type_len; 1 to 28 is a data length in words, 0 a length in the next u32. (Linux's numbers.)
 */
#define RINGBUF_TYPE_DATA_TYPE_LEN_MAX 28
#define RINGBUF_TYPE_PADDING	       29
#define RINGBUF_TYPE_TIME_EXTEND       30

/* What a record starts with: 5 bits of type and length, 27 bits of time since the event before. */
struct ring_buffer_event {
	union {
		u32 header;
		struct {
			u32 type_len : 5, time_delta : 27;
		};
	};
	u32 array[];
};

/*
 * Sub-buffers, which all files of the ring buffer call pages, have 4 KiB << order. RB_DATA_SIZE is the bytes of data in
 * one of order 0, behind its header of two u64.
 */
#define RB_ORDER_MAX 7
#define RB_DATA_SIZE 4080
#define RB_TS_SHIFT  27

/* A page as readers, trace-cmd and KernelShark see it. Linux's layout, bit for bit. */
struct buffer_data_page {
	u64 time_stamp; /* [w] of the first event, when nothing nested while the page was begun; else just before */
	u64 commit;	/* of a page that is handed out: bytes of data that are complete */
	u8 data[];	/* [w until committed, then nobody] */
};

/*
 * buffer_page.state says in one word where the next event goes and when the last one was, so that one compare
 * and exchange claims both. From bit 0: 17 bits index of the next free word; HOLD: `base` is about to change; FULL: no
 * more claims; 16 bits data events (8 bytes are the shortest, so at most 65534); LIFE: flips each time the page is
 * reused; 27 bits time of the last event, in units of the clock since `base`; LATE, which is never set.
 *
 * The index of a page's end is RB_INDEX_MASK for pages of every size, so a smaller page begins at a greater index
 * (rb_ring.bias). An event that has no room carries into HOLD, and one that is too late for the 27 bits into LATE. So
 * the fast path compares with no size.
 */
#define RB_INDEX_MASK  0x1ffffULL
#define RB_HOLD	       (1ULL << 17)
#define RB_FULL	       (1ULL << 18)
#define RB_EVENT_SHIFT 19
#define RB_ONE_EVENT   (1ULL << RB_EVENT_SHIFT)
#define RB_EVENT_MASK  0xffffULL
#define RB_LIFE	       (1ULL << 35)
#define RB_TIME_SHIFT  36
#define RB_LATE	       (1ULL << 63)

/*
 * Locks: r reader_lock; w writers of the CPU, by compare and exchange where an interrupt could come between;
 * o the outermost writer of the CPU; q changed only with the CPU's writers kept out (rb_quiesce) and
 * reader_lock held.
 */
struct buffer_page {
	u64 state;     /* [w] see above */
	u64 base;      /* [w] time from which the state's counts; only grows */
	u8 *origin;    /* [as data] where index 0 would lie: before the page, unless it is the largest */
	u64 commit;    /* [o, release] the state up to which everything is complete: readers use the index */
	u64 next_base; /* [w] what `base` becomes; good while the state has HOLD */
	struct buffer_data_page *data; /* [r, while the page is the reader's; q] */
	u64 seq;		       /* [w] number of the page since the last reset, counted as pages are begun */
	u64 first;		       /* [o] number of its first event since the last reset */
};

/* What a CPU has recorded and how far it was read: all that ring_buffer_swap_cpu exchanges. */
struct rb_ring {
	struct buffer_page *tail_page;	 /* [w] where events are claimed */
	struct buffer_page *commit_page; /* [o] behind or equal to tail_page */
	u64 commit_seq;			 /* [o, release] commit_page->seq: what readers go by */
	u64 head;			 /* [w r, compare and exchange] oldest page of the ring: see rb_head_seq */
	u64 commit_bytes;		 /* [o] in pages before commit_page */
	u64 overrun, overrun_bytes;	 /* [w, add] events (bytes) overwritten unread */
	u64 commit_overrun, dropped;	 /* [w, add] events that found no room */

	struct buffer_page *pages; /* [q] nr_pages + 1 of them: one is always the reader's */
	u32 *slot;		   /* [r; w stores the same] slot[seq % nr_pages]: index into pages */
	unsigned long nr_pages;	   /* [q] */
	unsigned long size;	   /* [q] bytes that were asked for, in whole pages of the order of that time */
	u32 order;		   /* [q] each page has 4 KiB << order */
	u32 bias;		   /* [q] the index at which each page begins */
	u64 generation;		   /* [q] another number after each reset or swap */

	struct buffer_page *reader_page; /* [r] out of the ring; the tail page too may be read so, being written */
	u32 read;			 /* [r] bytes of reader_page consumed */
	u64 read_stamp;			 /* [r] time of the event before `read` */
	u64 next_event;			 /* [r] number of the event that comes at `read` */
	u64 lost_events;		 /* [r] lost before it and not yet reported */
	u64 read_events, read_bytes;	 /* [r] */
};

/* Bits of ring_buffer_per_cpu.disabled: any of them sends a writer to the slow path. */
#define RB_DISABLE_ONE 0x1u	      /* times ring_buffer_record_disable, 16 bits */
#define RB_QUIESCE_ONE 0x10000u	      /* times rb_quiesce, 8 bits: events are counted as dropped */
#define RB_OFF	       0x1000000u     /* ring_buffer_record_off */
#define RB_CPU_OFF     0x2000000u     /* ring_buffer_record_off_cpu */
#define RB_EXCHANGE    0x4000000u     /* not disabled: the next event exchanges the ring first */
#define RB_STOPPED     (~RB_EXCHANGE) /* those that do keep writers out */

struct ring_buffer_per_cpu {
	u32 committing;	 /* [this CPU] writers nested inside each other */
	u32 disabled;	 /* [any CPU, atomic or/add] non-zero: not the fast path */
	u32 uncommitted; /* [this CPU] the outermost writer has to publish: a nested one has left that to it,
			    or the tail has moved */
	struct rb_ring ring;
	u64 kept_out;		/* [this CPU, add] events refused during rb_quiesce, when `ring` is not the writer's */
	spinlock_t reader_lock; /* readers, irqs off. No writer takes it */
	int cpu;		/* [I] */
	struct trace_buffer *buffer; /* [I] */
} __cacheline_aligned;

/* Keeps the compiler from moving accesses; an interrupt of this CPU sees them in program order then. No
 * instruction. */
#define rb_barrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Would an event be recorded now on this CPU, which is ours? */
static __always_inline bool ring_buffer_cpu_is_on(const struct ring_buffer_per_cpu *cpu_buffer)
{
	return !(rb_read(cpu_buffer->disabled) & RB_STOPPED);
}

/*
 * What inline reservations fall back to: a full page, a write within a write, a clock that jumped. NULL: no room, or it
 * is off; the reservation is undone then. commit_slow ends such a write. Any context, preemption off.
 */
struct ring_buffer_event *rb_reserve_slow(struct ring_buffer_per_cpu *cpu_buffer, unsigned long length, u64 ts);
/* Out of a reservation that has come to nothing, in place of rb_reserve_slow. */
void rb_leave(struct ring_buffer_per_cpu *cpu_buffer);
void rb_commit_slow(struct ring_buffer_per_cpu *cpu_buffer);
void rb_commit_again(struct ring_buffer_per_cpu *cpu_buffer);

/* An event that was claimed, and its page's state behind it: what rb_try_close makes known to readers. */
struct rb_claimed {
	struct ring_buffer_event *event; /* NULL: not claimed */
	struct buffer_page *page;
	u64 end;
};

#define RB_WORDS(length) (((length) + 3) / 4) /* words of an event of so many bytes, without its header */

/* Claim room on the tail page for an event of RB_WORDS; the writer is counted. No event: not so easy. */
static __always_inline struct rb_claimed rb_claim(struct ring_buffer_per_cpu *cpu_buffer, u64 words, u64 ts)
{
	struct rb_claimed claimed = {};
	struct buffer_page *page;
	u64 state, delta;

	rb_barrier();
	RB_TEST_POINT(0);
	page = rb_read(cpu_buffer->ring.tail_page);
	RB_TEST_POINT(1);
	state = rb_read(page->state);
	/* `base` comes after `state`: a nested writer that changes it in between has changed the state, too. */
	rb_barrier();
	RB_TEST_POINT(2);
	claimed.page = page;
	/* A stamp before the last one wraps to a great number here. */
	delta = ts - rb_look(page->base) - (state >> RB_TIME_SHIFT);
	claimed.end = state + words + (1 + RB_ONE_EVENT); /* 1: the header */
	if (unlikely((claimed.end & (RB_FULL | RB_HOLD)) || delta >= 1ULL << RB_TS_SHIFT))
		return claimed;
	claimed.end += delta << RB_TIME_SHIFT;
	if (unlikely(claimed.end & RB_LATE))
		return claimed;
	RB_TEST_POINT(3);
	/*
	 * Fails when an interrupt recorded something since `state` was read: this is the one place where that
	 * matters.
	 */
	if (unlikely(!__atomic_compare_exchange_n(&page->state, &state, claimed.end, true, __ATOMIC_RELAXED,
						  __ATOMIC_RELAXED)))
		return claimed;
	rb_barrier();
	RB_TEST_POINT(4);
	claimed.event = (struct ring_buffer_event *)(void *)(page->origin + (state & RB_INDEX_MASK) * 4);
	claimed.event->header = (u32)(delta << 5) | (u32)words;
	return claimed;
}

/*
 * ring_buffer_reserve in the usual case. NULL: not so easy, go on with rb_reserve_slow (the writer is counted already).
 */
static __always_inline struct ring_buffer_event *rb_try_reserve(struct ring_buffer_per_cpu *cpu_buffer,
								unsigned long length, u64 ts)
{
	/*
	 * An interrupt leaves the count as it was, so a plain add does. It comes first: code that disables
	 * looks at it last.
	 */
	rb_barrier();
	rb_inc(cpu_buffer->committing);
	rb_barrier();
	if (unlikely(rb_look(cpu_buffer->disabled) || length - 1 >= RINGBUF_TYPE_DATA_TYPE_LEN_MAX * 4))
		return NULL;
	return rb_claim(cpu_buffer, RB_WORDS(length), ts).event;
}

/*
 * The same for the outermost writer, which knows from it what to publish: rb_try_close does that without another look
 * at the ring. A tracer whose common path makes no calls in between needs no stack frame. `words` is RB_WORDS() of at
 * most 112 bytes. No event: go on with rb_reserve_slow and ring_buffer_commit.
 */
static __always_inline struct rb_claimed rb_try_open(struct ring_buffer_per_cpu *cpu_buffer, unsigned long words,
						     u64 ts)
{
	u32 outside;

	rb_barrier();
	outside = rb_read(cpu_buffer->committing);
	rb_write(cpu_buffer->committing, outside + 1);
	rb_barrier();
	if (unlikely(rb_look(cpu_buffer->disabled) | outside))
		return (struct rb_claimed){};
	return rb_claim(cpu_buffer, words, ts);
}

/*
 * What is left to call to be through, mostly nothing (NULL). Writers that nested since the claim left their commits to
 * us, and their events are behind ours.
 */
static __always_inline void (*rb_try_close(struct ring_buffer_per_cpu *cpu_buffer,
					   struct rb_claimed claimed))(struct ring_buffer_per_cpu *)
{
	rb_barrier();
	RB_TEST_POINT(8);
	/* Pairs with the acquire of readers: they see the events before this count of their bytes. */
	__atomic_store_n(&claimed.page->commit, claimed.end, __ATOMIC_RELEASE);
	rb_barrier();
	RB_TEST_POINT(6);
	rb_write(cpu_buffer->committing, 0);
	rb_barrier();
	RB_TEST_POINT(7);
	return unlikely(rb_look(cpu_buffer->uncommitted)) ? rb_commit_again : NULL;
}

/* See ring_buffer.h. `length` of at most 112 bytes and known to the compiler makes it shortest. */
static __always_inline struct ring_buffer_event *ring_buffer_reserve(struct ring_buffer_per_cpu *cpu_buffer,
								     unsigned long length, u64 ts)
{
	struct ring_buffer_event *event = rb_try_reserve(cpu_buffer, length, ts);

	return likely(event) ? event : rb_reserve_slow(cpu_buffer, length, ts);
}

/*
 * ring_buffer_commit in the usual case: what is left to call to be through, NULL when it was all. Nested
 * writers, a page that has just been filled, a writer that came in between: each has its function.
 */
static __always_inline void (*rb_try_commit(struct ring_buffer_per_cpu *cpu_buffer))(struct ring_buffer_per_cpu *)
{
	struct buffer_page *page = rb_read(cpu_buffer->ring.commit_page);
	u64 state = rb_read(page->state);

	rb_barrier();
	/*
	 * The tail moves only from a full page, so a page that is not full is the tail: nothing between it
	 * and commit.
	 */
	if (unlikely(rb_look(cpu_buffer->committing) != 1 || (state & RB_FULL)))
		return rb_commit_slow;
	RB_TEST_POINT(5);
	/* Pairs with the acquire of readers: they see the events before this count of their bytes. */
	__atomic_store_n(&page->commit, state, __ATOMIC_RELEASE);
	rb_barrier();
	RB_TEST_POINT(6);
	rb_write(cpu_buffer->committing, 0);
	rb_barrier();
	RB_TEST_POINT(7);
	/*
	 * A writer that nested after `state` was read left its commit to us. From the zero on the ring may be
	 * taken apart (rb_quiesce), so look at this word, which also tells rb_quiesce that we are not
	 * through.
	 */
	return unlikely(rb_look(cpu_buffer->uncommitted)) ? rb_commit_again : NULL;
}

/* See ring_buffer.h. */
static __always_inline void ring_buffer_commit(struct ring_buffer_per_cpu *cpu_buffer)
{
	void (*rest)(struct ring_buffer_per_cpu *) = rb_try_commit(cpu_buffer);

	if (unlikely(rest))
		rest(cpu_buffer);
}
