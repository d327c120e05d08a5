/*
 * The writer's slow path handles what the inline fast path cannot: nested writers, time that jumps, the step to the
 * next page, long events, and the commit by the outermost writer. docs/ring-buffer.md argues why each step is safe.
 *
 * Context of all functions: any, on the buffer's own CPU, preemption off, with `committing` raised. A "nested" writer
 * is one in an interrupt that came in the middle of the function: it runs to its end before the function goes on.
 */
#include <kernel/export.h>
#include <sched/preempt.h>
#include "internal.h"

/* After this much time on one page the next page is begun. It keeps a delta within the 59 bits of a time extend. */
#define RB_PAGE_TIME (1ULL << 42)
/* The state counts this much time from the page's `base`; an event that is later moves the base. */
#define RB_BASE_TIME (RB_LATE >> RB_TIME_SHIFT)

/* What an event takes, in words, and how it is stamped. */
struct rb_claim {
	unsigned words;	 /* header included, time extend too */
	unsigned length; /* data bytes */
	u64 ts, delta;
	bool extend;
};

/*
 * Relaxed is enough: only writers of this CPU compete for the word, and a CPU sees its own accesses in order. It
 * must be a real compare and exchange all the same, because an interrupt may come between a load and a store.
 */
static inline bool rb_change(u64 *word, u64 old, u64 new)
{
	return __atomic_compare_exchange_n(word, &old, new, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static inline void rb_add(u64 *count, u64 n)
{
	__atomic_fetch_add(count, n, __ATOMIC_RELAXED);
}

/* Drop the oldest page of a full ring. False when the reader took it meanwhile, or a nested writer dropped it. */
static bool rb_drop_oldest(struct rb_ring *ring, u64 head)
{
	u64 seq = rb_head_seq(head);
	u64 state = rb_read(rb_slot_page(ring, seq)->state);

	RB_TEST_POINT(20);
	/* This exchange decides who counts the page's events. `state` is final: the page is before the commit page. */
	if (!__atomic_compare_exchange_n(&ring->head, &head, rb_head(seq + 1, RB_NO_SWAP), false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return false;
	RB_TEST_POINT(21);
	rb_add(&ring->overrun, rb_state_events(state));
	rb_add(&ring->overrun_bytes, rb_state_bytes(ring, state));
	return true;
}

/*
 * The page in the slot for `seq`, which no page of the ring uses now. The reader may have named its replacement in
 * `head` and not yet stored it in the slot; then this stores the same index.
 */
static struct buffer_page *rb_free_slot(struct rb_ring *ring, u64 seq, u64 head)
{
	unsigned long slot = seq % ring->nr_pages;

	if (rb_head_swap(head) != RB_NO_SWAP && rb_head_seq(head) - 1 + ring->nr_pages == seq)
		rb_write(ring->slot[slot], rb_head_swap(head));
	return &ring->pages[rb_read(ring->slot[slot])];
}

/*
 * Make `next` the tail after `page`. A nested writer may do the same between any two steps. Each step either repeats
 * what the nested writer did, with the same value, or fails because the nested writer went further. So the page is
 * begun once, by the writer that comes to the end first, and no event in it is lost.
 */
static void rb_begin_page(struct rb_ring *ring, struct buffer_page *page, struct buffer_page *next, u64 ts)
{
	u64 stamp = rb_read(next->data->time_stamp), base = rb_read(next->base), state = rb_read(next->state);
	u64 now = max(ts, rb_last_stamp(page));

	rb_barrier();
	RB_TEST_POINT(22);
	/* If the tail has moved, the values may be those of a page in use, and no exchange below may use them. */
	if (rb_read(ring->tail_page) != page)
		return;
	RB_TEST_POINT(23);
	/* An iterator that copies the page sees that it has left the ring before it sees a new stamp or event in it. */
	smp_wmb();
	if (!rb_change(&next->data->time_stamp, stamp, now))
		return;
	RB_TEST_POINT(42);
	/* A nested writer that came to its end has set a base that is not earlier, and the exchange fails. */
	if (!rb_change(&next->base, base, now))
		return;
	RB_TEST_POINT(24);
	rb_write(next->seq, page->seq + 1);
	/* No writer can have committed to it while this one is inside the function. */
	rb_write(next->commit, ring->bias);
	RB_TEST_POINT(25);
	/*
	 * A state without FULL means that the interrupted writer has already done this step. LIFE makes the new state
	 * differ from every state that the page can fill up to.
	 */
	if ((state & RB_FULL) && !rb_change(&next->state, state, (~state & RB_LIFE) | ring->bias))
		return;
	RB_TEST_POINT(26);
	__atomic_compare_exchange_n(&ring->tail_page, &page, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	RB_TEST_POINT(27);
}

/*
 * `page` has no room: move the tail on to the next page. False when there is no next page; the event is counted as
 * dropped then. True only means that the caller must look at the tail again.
 */
static bool rb_next_page(struct ring_buffer_per_cpu *cpu_buffer, struct buffer_page *page, u64 ts)
{
	struct rb_ring *ring = &cpu_buffer->ring;
	u64 seq, head;

	__atomic_fetch_or(&page->state, RB_FULL, __ATOMIC_RELAXED);
	rb_barrier();
	RB_TEST_POINT(28);
	if (rb_read(ring->tail_page) != page)
		return true;
	seq = page->seq + 1;
	if (seq - ring->commit_seq >= ring->nr_pages) {
		rb_add(&ring->commit_overrun, 1);
		return false;
	}
	/* Acquire: what the reader did with a page it gave back, and the slots it filled before. */
	head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	if (seq - rb_head_seq(head) >= ring->nr_pages) {
		if (!rb_read(cpu_buffer->buffer->overwrite)) {
			rb_add(&ring->dropped, 1);
			return false;
		}
		if (!rb_drop_oldest(ring, head))
			return true;
		head = rb_head(0, RB_NO_SWAP);
	}
	RB_TEST_POINT(29);
	rb_begin_page(ring, page, rb_free_slot(ring, seq, head), ts);
	/* The commit must follow the tail even if no event is claimed, or its page would block the ring for good. */
	rb_write(cpu_buffer->uncommitted, 1);
	return true;
}

/* Write the claimed event's headers. No other writer touches these words. */
static struct ring_buffer_event *rb_fill_event(u8 *where, const struct rb_claim *claim)
{
	struct ring_buffer_event *event = (struct ring_buffer_event *)(void *)where;
	u32 delta = claim->delta;

	if (claim->extend) {
		event->header = (u32)(claim->delta << 5) | RINGBUF_TYPE_TIME_EXTEND;
		event->array[0] = claim->delta >> RB_TS_SHIFT;
		event += 2;
		delta = 0;
	}
	if (claim->length > RINGBUF_TYPE_DATA_TYPE_LEN_MAX * 4) {
		event->header = delta << 5;
		event->array[0] = ALIGN(claim->length, 4) + 4;
	} else {
		event->header = delta << 5 | DIV_ROUND_UP(claim->length, 4);
	}
	return event;
}

/*
 * The page's state is `held`, which has HOLD: give the page its new base, and let writers go on. The writer that set
 * HOLD does this, and so does every nested one that meets it; that one comes to the end first.
 *
 * Both values are read before the look at the state: while that is `held`, next_base is what belongs to it, and the
 * base is not changed or just has been. Each exchange fails if a nested writer has done more since. A base only grows,
 * and it is less than the next one. A state with HOLD is not met twice either: the event that it claims is not taken
 * back before its writer has left this function.
 */
static void rb_settle(struct buffer_page *page, u64 held)
{
	u64 base = rb_read(page->base), next = rb_read(page->next_base);

	rb_barrier();
	RB_TEST_POINT(43);
	if (rb_read(page->state) != held)
		return;
	RB_TEST_POINT(44);
	if (!rb_change(&page->base, base, next))
		return;
	RB_TEST_POINT(45);
	rb_change(&page->state, held, held & ~RB_HOLD);
	RB_TEST_POINT(46);
}

/*
 * Exchange the page's state for one behind the claim. An event that is too late to count its time from the page's base
 * takes the next base with it: its own time when an extend stands before it, else that of the event before it, so that
 * taking the event back leaves the time right. Until rb_settle the state has HOLD, so no other claim succeeds.
 *
 * next_base belongs to the exchange that sets HOLD. A nested writer that comes in between and stores another one also
 * changes the state for good: it claims with an extend, or it makes a time of 0 out of a time that was not 0. So the
 * exchange fails. False: it has failed.
 */
static bool rb_claim_state(struct buffer_page *page, u64 state, u64 base, const struct rb_claim *claim)
{
	u64 next = state + claim->words + RB_ONE_EVENT, last = claim->ts - claim->delta;

	if (claim->ts - base < RB_BASE_TIME)
		return rb_change(&page->state, state, next + (claim->delta << RB_TIME_SHIFT));
	next &= (1ULL << RB_TIME_SHIFT) - 1;
	next |= RB_HOLD | (claim->extend ? 0 : claim->delta << RB_TIME_SHIFT);
	rb_write(page->next_base, claim->extend ? claim->ts : last);
	rb_barrier();
	RB_TEST_POINT(47);
	if (!rb_change(&page->state, state, next))
		return false;
	rb_barrier();
	RB_TEST_POINT(48);
	rb_settle(page, next);
	return true;
}

/*
 * Claim room on `page` with one exchange of its state. NULL: there is no room, or, with *raced set, a nested writer
 * changed the state in between. The claim is passed by value, since its stamp and size depend on the page.
 *
 * The base is read after the state. If a nested writer has changed it in between, the state has changed, too.
 */
static struct ring_buffer_event *rb_claim_on(struct buffer_page *page, struct rb_claim claim, bool *raced)
{
	u64 state = rb_read(page->state), base, last;

	rb_barrier();
	RB_TEST_POINT(30);
	*raced = state & RB_HOLD;
	if (*raced) {
		rb_settle(page, state);
		return NULL;
	}
	base = rb_read(page->base);
	last = base + (state >> RB_TIME_SHIFT);
	/* A nested writer may have recorded since ts was read: no event is earlier than the one before it. */
	claim.ts = max(claim.ts, last);
	claim.delta = claim.ts - last;
	claim.extend = claim.delta >> RB_TS_SHIFT;
	claim.words += claim.extend ? 2 : 0;
	if ((state & RB_FULL) || (state & RB_INDEX_MASK) + claim.words > RB_INDEX_MASK ||
	    claim.ts - rb_read(page->data->time_stamp) >= RB_PAGE_TIME)
		return NULL;
	*raced = !rb_claim_state(page, state, base, &claim);
	if (*raced)
		return NULL;
	rb_barrier();
	RB_TEST_POINT(31);
	return rb_fill_event(page->origin + (state & RB_INDEX_MASK) * 4, &claim);
}

/* Is the writer kept out? The event is counted as dropped when the only reason is a resize, a reset or a swap. */
static bool rb_kept_out(struct ring_buffer_per_cpu *cpu_buffer)
{
	u32 disabled = rb_read(cpu_buffer->disabled);

	if (likely(!(disabled & RB_STOPPED)))
		return false;
	/* With another reason as well, the event would not have been recorded anyway. */
	if ((disabled & (RB_QUIESCE_ONE - 1)) == 0 && !(disabled & (RB_OFF | RB_CPU_OFF)))
		rb_add(&cpu_buffer->kept_out, 1);
	return true;
}

/*
 * Claim on the tail page, or on the next one when it is full. Each turn of the loop makes progress: either a nested
 * writer recorded an event, or the tail moved, or the event is counted as dropped and the result is NULL.
 */
static struct ring_buffer_event *rb_claim_somewhere(struct ring_buffer_per_cpu *cpu_buffer,
						    const struct rb_claim *claim)
{
	for (;;) {
		struct buffer_page *page = rb_read(cpu_buffer->ring.tail_page);
		struct ring_buffer_event *event;
		bool raced;

		rb_barrier();
		event = rb_claim_on(page, *claim, &raced);
		if (event)
			return event;
		if (!raced && !rb_next_page(cpu_buffer, page, claim->ts))
			return NULL;
	}
}

/* It does not look at the ring unless `uncommitted` is set, since a writer that is kept out must not touch the ring. */
void noinline notrace rb_leave(struct ring_buffer_per_cpu *cpu_buffer)
{
	u32 committing = rb_read(cpu_buffer->committing);

	rb_write(cpu_buffer->committing, committing - 1);
	rb_barrier();
	RB_TEST_POINT(37);
	/* This writer or a nested one moved the tail, or a nested one left its commit to us. rb_quiesce waits. */
	if (committing == 1 && rb_read(cpu_buffer->uncommitted))
		rb_commit_again(cpu_buffer);
}
EXPORT_SYMBOL(rb_leave);

/*
 * Do the swap that was asked for (RB_EXCHANGE). The ring must have no event open, so this writer, which has claimed
 * nothing yet, leaves before the swap and comes back as a new writer after it.
 */
static void rb_let_exchange(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct trace_buffer *buffer = cpu_buffer->buffer;
	void (*exchange)(void *arg) = __atomic_load_n(&buffer->exchange, __ATOMIC_ACQUIRE);

	if (rb_read(cpu_buffer->committing) != 1)
		return; /* nested: the interrupted writer has an event open, so a later writer must do the swap */
	rb_leave(cpu_buffer);
	exchange(buffer->exchange_arg);
	rb_barrier();
	rb_inc(cpu_buffer->committing);
	rb_barrier();
}

/* The fast path has raised `committing` and could not go on. What rb_reserve_slow() refuses, it has also undone. */
struct ring_buffer_event *noinline notrace rb_reserve_slow(struct ring_buffer_per_cpu *cpu_buffer, unsigned long length,
							   u64 ts)
{
	/* The shortest event has a word of data, so that there is room to turn it into padding. */
	struct rb_claim claim = {.ts = ts, .length = length ? length : 1};
	struct ring_buffer_event *event = NULL;

	if (unlikely(rb_read(cpu_buffer->disabled) & RB_EXCHANGE))
		rb_let_exchange(cpu_buffer);
	if (!rb_kept_out(cpu_buffer) && length <= rb_page_data(cpu_buffer->ring.order) - RB_EVENT_HEAD) {
		claim.words = DIV_ROUND_UP(claim.length, 4) + 1;
		claim.words += claim.length > RINGBUF_TYPE_DATA_TYPE_LEN_MAX * 4;
		event = rb_claim_somewhere(cpu_buffer, &claim);
	}
	if (!event)
		rb_leave(cpu_buffer);
	return event;
}

/*
 * Move the commit up to the tail, page by page, so that readers see all events. Only the outermost writer does this:
 * all writers that nested in it have finished by then, so everything that was claimed is filled in.
 */
static void rb_publish(struct rb_ring *ring)
{
	for (;;) {
		struct buffer_page *page = ring->commit_page, *next;
		u64 state = rb_read(page->state);

		/* Pairs with rb_committed. */
		__atomic_store_n(&page->commit, state, __ATOMIC_RELEASE);
		rb_barrier();
		RB_TEST_POINT(32);
		if (rb_read(ring->tail_page) == page)
			return;
		/* The tail has moved on, so the page is closed, but perhaps only since we read its state. */
		state = rb_read(page->state);
		__atomic_store_n(&page->commit, state, __ATOMIC_RELEASE);
		next = rb_slot_page(ring, page->seq + 1);
		rb_write(next->first, page->first + rb_state_events(state));
		rb_write(ring->commit_bytes, ring->commit_bytes + rb_state_bytes(ring, state));
		rb_write(ring->commit_page, next);
		RB_TEST_POINT(33);
		/* Release: a reader that sees the number finds `first`, and the page before it complete. */
		__atomic_store_n(&ring->commit_seq, next->seq, __ATOMIC_RELEASE);
		RB_TEST_POINT(34);
	}
}

/* `uncommitted` is cleared first: a writer that nests while this publishes sets it again, and the caller looks. */
static void rb_publish_all(struct ring_buffer_per_cpu *cpu_buffer)
{
	rb_write(cpu_buffer->uncommitted, 0);
	rb_barrier();
	rb_publish(&cpu_buffer->ring);
	rb_barrier();
	RB_TEST_POINT(35);
}

/* The commit of a nested writer, which leaves publishing to the outermost one, or of a page that is full. */
void noinline notrace rb_commit_slow(struct ring_buffer_per_cpu *cpu_buffer)
{
	u32 committing = rb_read(cpu_buffer->committing);

	if (committing > 1) {
		rb_write(cpu_buffer->uncommitted, 1);
		rb_barrier();
		rb_write(cpu_buffer->committing, committing - 1);
		return;
	}
	rb_publish_all(cpu_buffer);
	rb_write(cpu_buffer->committing, 0);
	rb_barrier();
	RB_TEST_POINT(36);
	if (unlikely(rb_read(cpu_buffer->uncommitted)))
		rb_commit_again(cpu_buffer);
}

/*
 * The outermost writer has lowered `committing` to 0 and then found `uncommitted` set. Since it read that word, an
 * interrupt may have published everything, and rb_quiesce may have found the ring free. So the writer counts itself in
 * again and looks a second time. If the word is set now, it was set all the time, and the ring is still the writer's.
 */
void noinline notrace rb_commit_again(struct ring_buffer_per_cpu *cpu_buffer)
{
	do {
		RB_TEST_POINT(38);
		rb_write(cpu_buffer->committing, 1);
		rb_barrier();
		if (rb_read(cpu_buffer->uncommitted))
			rb_publish_all(cpu_buffer);
		rb_barrier();
		rb_write(cpu_buffer->committing, 0);
		rb_barrier();
		RB_TEST_POINT(39);
		/* A writer that nested before the zero relies on us; one that came after it was outermost itself. */
	} while (unlikely(rb_read(cpu_buffer->uncommitted)));
}
EXPORT_SYMBOL(rb_commit_again);

/*
 * On success preemption stays off until the commit or the discard: a task that moved to another CPU would commit
 * there, in a buffer that it has not reserved in.
 */
struct ring_buffer_event *notrace ring_buffer_lock_reserve(struct trace_buffer *buffer, unsigned long length)
{
	struct ring_buffer_event *event;

	preempt_disable_notrace();
	event = ring_buffer_reserve(buffer->cpu[smp_processor_id()], length, rb_read(buffer->clock)());
	if (!event)
		preempt_enable_notrace();
	return event;
}

void notrace ring_buffer_unlock_commit(struct trace_buffer *buffer)
{
	ring_buffer_commit(buffer->cpu[smp_processor_id()]);
	preempt_enable_notrace();
}

void notrace ring_buffer_discard_commit(struct trace_buffer *buffer, struct ring_buffer_event *event)
{
	ring_buffer_discard(buffer->cpu[smp_processor_id()], event);
	preempt_enable_notrace();
}

int notrace ring_buffer_write(struct trace_buffer *buffer, unsigned long length, const void *data)
{
	struct ring_buffer_event *event = ring_buffer_lock_reserve(buffer, length);

	if (!event)
		return -EBUSY;
	memcpy(ring_buffer_event_data(event), data, length);
	ring_buffer_unlock_commit(buffer);
	return 0;
}
