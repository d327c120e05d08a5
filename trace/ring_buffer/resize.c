/*
 * Operations that must keep a CPU's writers out: resizing, resetting, exchanging the contents of two buffers.
 *
 * A writer takes no lock, so it cannot be locked out. It is asked to stay out (`disabled`), and then an interrupt
 * on its CPU finds out whether one is still inside. Order of locks: the caller's trace_types_lock, the ban
 * (rb_quiesce), then reader_lock. A writer that is refused meanwhile counts its event as dropped and does not wait.
 */
#include <kernel/smp.h>
#include <mm/slab.h>
#include "internal.h"

struct rb_in_flight {
	struct ring_buffer_per_cpu *cpu_buffer;
	bool busy;
};

/* Is a writer in the buffer? On its CPU, in an interrupt or with interrupts off. */
static bool rb_busy(struct ring_buffer_per_cpu *cpu_buffer)
{
	return rb_read(cpu_buffer->committing) || rb_read(cpu_buffer->uncommitted);
}

/* On the buffer's CPU, in an interrupt or with interrupts off. */
static void rb_look_in_flight(void *arg)
{
	struct rb_in_flight *look = arg;

	look->busy = rb_busy(look->cpu_buffer);
}

/*
 * A writer raises `committing` before it looks at `disabled`. This sets `disabled` and then looks at `committing` from
 * an interrupt of the writer's CPU, which sees that CPU's accesses in program order: if it sees zero, every later
 * writer sees `disabled` set. So the writer needs no barrier. The call to that CPU also orders all that its writers did
 * before everything that the caller does afterwards.
 */
void rb_quiesce(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_in_flight look = {.cpu_buffer = cpu_buffer};

	__atomic_fetch_add(&cpu_buffer->disabled, RB_QUIESCE_ONE, __ATOMIC_SEQ_CST);
	for (;;) {
		/* A CPU that is not up has no writers. */
		if (smp_call_function_single(cpu_buffer->cpu, rb_look_in_flight, &look, true) || !look.busy)
			return;
		/* The interrupt came into the middle of a write, which needs a few instructions more. */
		cpu_relax();
	}
}

static void rb_nothing(void *arg)
{
}

/*
 * An interrupt on the CPU separates the changes of the ring from the end of the ban. A writer loads `disabled` and then
 * the ring; a CPU may make these two loads in either order, but not across an interrupt. So a writer that finds the ban
 * lifted also finds the new ring.
 */
void rb_release(struct ring_buffer_per_cpu *cpu_buffer)
{
	int err = smp_call_function_single(cpu_buffer->cpu, rb_nothing, NULL, true);

	/* An error means that the CPU is not up: it needs no interrupt, and it will see everything stored before. */
	if (err)
		smp_mb();
	__atomic_fetch_sub(&cpu_buffer->disabled, RB_QUIESCE_ONE, __ATOMIC_RELEASE);
}

/* Empty a ring whose writers are kept out (rb_quiesce). */
static void rb_reset_quiet(struct ring_buffer_per_cpu *cpu_buffer, u64 now)
{
	unsigned long flags = rb_lock(cpu_buffer);

	rb_ring_reset(&cpu_buffer->ring, cpu_buffer->ring.nr_pages, now);
	rb_write(cpu_buffer->kept_out, 0);
	if (rb_map_of(cpu_buffer))
		rb_map_of(cpu_buffer)->update(cpu_buffer);
	rb_unlock(cpu_buffer, flags);
}

/* What the CPU would have written meanwhile counts as dropped, and is forgotten with the other counts. */
void ring_buffer_reset_cpu(struct trace_buffer *buffer, int cpu)
{
	struct ring_buffer_per_cpu *cpu_buffer = rb_cpu(buffer, cpu);

	if (!cpu_buffer)
		return;
	rb_quiesce(cpu_buffer);
	rb_reset_quiet(cpu_buffer, ring_buffer_time_stamp(buffer));
	rb_release(cpu_buffer);
}

void ring_buffer_begin(struct ring_buffer_per_cpu *cpu_buffer, u64 ts)
{
	rb_ring_reset(&cpu_buffer->ring, rb_touched(&cpu_buffer->ring), ts);
}

struct rb_all_in_flight {
	struct trace_buffer *buffer;
	bool busy; /* written by any CPU that finds a writer */
};

/* On each CPU, interrupts off. */
static void rb_look_here(void *arg)
{
	struct rb_all_in_flight *look = arg;
	struct ring_buffer_per_cpu *cpu_buffer = rb_cpu(look->buffer, smp_processor_id());

	if (cpu_buffer && rb_busy(cpu_buffer))
		WRITE_ONCE(look->busy, true);
}

/* Add `what` to every CPU's word. Sequentially consistent, as in rb_quiesce: the ban comes before the look. */
static void rb_add_disabled(struct trace_buffer *buffer, u32 what)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (rb_cpu(buffer, cpu))
			__atomic_fetch_add(&rb_cpu(buffer, cpu)->disabled, what, __ATOMIC_SEQ_CST);
}

/*
 * rb_quiesce for all CPUs: all of them are interrupted at the same time, not one after the other. A CPU may sleep, or a
 * guest's CPU may wait for its turn on the host, so this takes as long as the slowest CPU and not as long as all of
 * them together.
 */
static void rb_quiesce_all(struct trace_buffer *buffer)
{
	struct rb_all_in_flight look = {.buffer = buffer, .busy = true};

	for (rb_add_disabled(buffer, RB_QUIESCE_ONE); look.busy; cpu_relax()) {
		look.busy = false;
		on_each_cpu(rb_look_here, &look, true);
	}
}

/* rb_release for all CPUs: each has an interrupt between the changes of its ring and the end of the ban. */
static void rb_release_all(struct trace_buffer *buffer)
{
	on_each_cpu(rb_nothing, NULL, true);
	rb_add_disabled(buffer, -RB_QUIESCE_ONE);
}

void ring_buffer_reset(struct trace_buffer *buffer)
{
	int cpu;

	rb_quiesce_all(buffer);
	for_each_possible_cpu(cpu)
		if (rb_cpu(buffer, cpu))
			rb_reset_quiet(rb_cpu(buffer, cpu), ring_buffer_time_stamp(buffer));
	rb_release_all(buffer);
}

/* Move a page of the old ring, with its contents, to place `i` of `to`; the old page gets the memory of that place. */
static struct buffer_page *rb_take_over(struct rb_ring *to, unsigned long i, struct buffer_page *page)
{
	struct buffer_data_page *fresh = to->pages[i].data;

	to->pages[i] = *page;
	page->data = fresh;
	return &to->pages[i];
}

/* The pages in the ring, oldest first, that fit into `to`; the others count as overwritten. */
static void rb_take_over_ring(struct rb_ring *to, struct rb_ring *from)
{
	u64 head = rb_head_seq(from->head), tail = from->tail_page->seq;

	for (; head <= tail; head++) {
		struct buffer_page *page = rb_slot_page(from, head);

		if (tail - head >= to->nr_pages) {
			to->overrun += rb_state_events(page->state);
			to->overrun_bytes += rb_state_bytes(to, page->state);
			continue;
		}
		to->slot[head % to->nr_pages] = head % to->nr_pages;
		rb_take_over(to, head % to->nr_pages, page);
	}
	to->head = rb_head(tail + 1 - min(tail + 1 - rb_head_seq(from->head), (u64)to->nr_pages), RB_NO_SWAP);
}

/* Places of `to` that have no memory get what `from` does not need any more. */
static void rb_take_over_rest(struct rb_ring *to, struct rb_ring *from)
{
	unsigned long spare = 0;

	for (unsigned long i = 0; i <= to->nr_pages; i++) {
		if (to->pages[i].data)
			continue;
		while (!from->pages[spare].data)
			spare++;
		rb_set_data(to, &to->pages[i], from->pages[spare].data);
		from->pages[spare].data = NULL;
	}
}

/*
 * Move everything from one ring to another of a different size, whose pages have the same order. Writers are kept out
 * and reader_lock is held.
 * Afterwards `from` has the pages that `to` had or did not take, for the caller to free.
 */
static void rb_move_ring(struct rb_ring *to, struct rb_ring *from)
{
	struct rb_ring shape = *to;
	u64 tail = from->tail_page->seq;
	bool tail_is_reader = from->tail_page == from->reader_page;

	*to = *from;
	to->pages = shape.pages;
	to->slot = shape.slot;
	to->nr_pages = shape.nr_pages;
	to->size = shape.size;
	to->reader_page = rb_take_over(to, to->nr_pages, from->reader_page);
	rb_take_over_ring(to, from);
	rb_take_over_rest(to, from);
	/* No writer is inside, so everything is committed: the tail and the commit page are the same. */
	to->tail_page = tail_is_reader ? to->reader_page : rb_slot_page(to, tail);
	to->commit_page = to->tail_page;
}

/*
 * Exchange a CPU's ring for one of the new size, to which what was recorded has been moved as far as it fits. `other`
 * holds the old one afterwards, for the caller to free.
 */
static void rb_resize(struct ring_buffer_per_cpu *cpu_buffer, struct rb_ring *other)
{
	struct rb_ring old;
	unsigned long flags;

	rb_quiesce(cpu_buffer);
	flags = rb_lock(cpu_buffer);
	old = cpu_buffer->ring;
	rb_move_ring(other, &old);
	cpu_buffer->ring = *other;
	*other = old;
	rb_unlock(cpu_buffer, flags);
	rb_release(cpu_buffer);
}

/* Has a program mapped the ring of this CPU, or of any CPU (RING_BUFFER_ALL_CPUS), of one of the buffers? */
static bool rb_any_mapped(struct trace_buffer *const *buffers, unsigned n, int only)
{
	int cpu;

	for (unsigned i = 0; i < n; i++)
		for_each_possible_cpu(cpu)
			if ((only == RING_BUFFER_ALL_CPUS || cpu == only) && rb_map_of(buffers[i]->cpu[cpu]))
				return true;
	return false;
}

/*
 * A ring of the new size for each CPU that gets one, before anything is changed. Where the number of pages stays,
 * `size` alone is set: it is what another order will go by.
 */
static struct rb_ring *rb_alloc_rings(struct trace_buffer *buffer, unsigned long size, int only)
{
	struct rb_ring *rings = kcalloc(nr_cpu_ids, sizeof(*rings), GFP_KERNEL);
	unsigned long nr_pages, old_pages;
	int cpu;

	if (!rings)
		return NULL;
	for_each_possible_cpu(cpu) {
		nr_pages = rb_pages_for(size, buffer->order);
		old_pages = ring_buffer_size(buffer, cpu) / rb_page_data(buffer->order);
		if (only != RING_BUFFER_ALL_CPUS && cpu != only)
			continue;
		rings[cpu].size = nr_pages * rb_page_data(buffer->order);
		if (old_pages == nr_pages)
			continue;
		if (rb_ring_alloc(&rings[cpu], buffer->order, nr_pages,
				  nr_pages > old_pages ? nr_pages - old_pages : 0))
			goto free_rings;
	}
	return rings;

free_rings:
	while (cpu--)
		rb_ring_free(&rings[cpu]);
	kfree(rings);
	return NULL;
}

/* The ring stays, and `size` was asked for. */
static void rb_note_size(struct ring_buffer_per_cpu *cpu_buffer, unsigned long size)
{
	unsigned long flags = rb_lock(cpu_buffer);

	cpu_buffer->ring.size = size;
	rb_unlock(cpu_buffer, flags);
}

/* Exchange each CPU's ring for the one made for it, if there is one, by `exchange`, and free what is left over. */
static void rb_use_rings(struct trace_buffer *buffer, struct rb_ring *rings,
			 void (*exchange)(struct ring_buffer_per_cpu *cpu_buffer, struct rb_ring *other))
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (exchange && rings[cpu].pages)
			exchange(buffer->cpu[cpu], &rings[cpu]);
		else if (exchange && rings[cpu].size)
			rb_note_size(buffer->cpu[cpu], rings[cpu].size);
		rb_ring_free(&rings[cpu]);
	}
	kfree(rings);
}

/* All rings are allocated before any is put in place: so either all buffers have the new size, or none. */
int ring_buffer_resize_together(struct trace_buffer *const *buffers, unsigned n, unsigned long size, int only)
{
	struct rb_ring *rings[RB_RESIZE_MAX];
	unsigned made;

	if (size == 0 || n > RB_RESIZE_MAX || (only != RING_BUFFER_ALL_CPUS && !rb_cpu(buffers[0], only)))
		return -EINVAL;
	if (rb_any_mapped(buffers, n, only))
		return -EBUSY;
	for (made = 0; made < n; made++) {
		if (!rb_pages_for(size, buffers[made]->order))
			break;
		rings[made] = rb_alloc_rings(buffers[made], size, only);
		if (!rings[made])
			break;
	}
	for (unsigned i = 0; i < made; i++)
		rb_use_rings(buffers[i], rings[i], made == n ? rb_resize : NULL);
	return made == n ? 0 : -ENOMEM;
}

int ring_buffer_resize(struct trace_buffer *buffer, unsigned long size, int only)
{
	return ring_buffer_resize_together(&buffer, 1, size, only);
}

/*
 * ---- Pages of another size
 *
 * The events of the old pages cannot go on in the new ones, so each CPU gets an empty ring. It is made before, and it
 * is put in place between rb_quiesce and rb_release, as by a resize:
 *
 * - A writer sees either ring as a whole. It takes `origin`, `bias` and `order` from the ring that it claims in, and no
 *   writer is inside while they change. NMIs are writers like any others: rb_quiesce waits until they are done, and
 *   those that come later are refused and count as dropped.
 * - A reader that consumes holds reader_lock for each step, and takes pointers and sizes from the ring under the lock.
 *   An event that it was given lies in the old ring; the caller keeps such readers out, as for a reset.
 * - An iterator's copy has room for a page of the old size, so the change is refused while there are iterators.
 * - A page for ring_buffer_read_page has the old size, too. Its owner finds out under the lock that serialises this.
 * - A resize, a reset or another change does not come in between: they are serialised. A swap of two rings asks
 *   `disabled`, as for a resize, and compares the orders: between the CPUs' turns those of two buffers may differ.
 */

/* Put an empty ring in place; `other` holds the old one afterwards, for the caller to free. */
static void rb_replace(struct ring_buffer_per_cpu *cpu_buffer, struct rb_ring *other)
{
	struct rb_ring old;
	unsigned long flags;

	rb_quiesce(cpu_buffer);
	rb_ring_reset(other, other->nr_pages, ring_buffer_time_stamp(cpu_buffer->buffer));
	flags = rb_lock(cpu_buffer);
	old = cpu_buffer->ring;
	cpu_buffer->ring = *other;
	*other = old;
	rb_write(cpu_buffer->kept_out, 0);
	rb_unlock(cpu_buffer, flags);
	rb_release(cpu_buffer);
}

/*
 * For each CPU a ring of the new order, for the size that was asked for: so the old order brings the old number of
 * pages back. NULL: no memory.
 */
static struct rb_ring *rb_alloc_rings_of(struct trace_buffer *buffer, unsigned order)
{
	struct rb_ring *rings = kcalloc(nr_cpu_ids, sizeof(*rings), GFP_KERNEL);
	unsigned long nr_pages;
	int cpu;

	if (!rings)
		return NULL;
	for_each_possible_cpu(cpu) {
		nr_pages = rb_pages_for(rb_size_asked(buffer, cpu), order);
		if (!nr_pages || rb_ring_alloc(&rings[cpu], order, nr_pages, nr_pages + 1))
			goto free_rings;
		rings[cpu].size = rb_size_asked(buffer, cpu);
	}
	return rings;

free_rings:
	while (cpu--)
		rb_ring_free(&rings[cpu]);
	kfree(rings);
	return NULL;
}

/*
 * The order of a buffer is set before its rings are replaced. It is what a caller reads without a ring; a writer asks
 * its own ring, and is refused by that when an event that the buffer will take is too long for it yet.
 */
int ring_buffer_set_order_together(struct trace_buffer *const *buffers, unsigned n, unsigned order)
{
	struct rb_ring *rings[RB_RESIZE_MAX];
	unsigned made;

	if (order > RB_ORDER_MAX || n > RB_RESIZE_MAX)
		return -EINVAL;
	if (n == 0 || buffers[0]->order == order)
		return 0;
	if (rb_any_mapped(buffers, n, RING_BUFFER_ALL_CPUS))
		return -EBUSY;
	for (made = 0; made < n; made++)
		if (rb_read(buffers[made]->readers))
			return -EBUSY;
	for (made = 0; made < n; made++) {
		rings[made] = rb_alloc_rings_of(buffers[made], order);
		if (!rings[made])
			break;
	}
	for (unsigned i = 0; i < made; i++) {
		if (made == n)
			rb_write(buffers[i]->order, order);
		rb_use_rings(buffers[i], rings[i], made == n ? rb_replace : NULL);
	}
	return made == n ? 0 : -ENOMEM;
}

/* ---- Swaps */

/* Is another CPU about to take the ring apart? */
static bool rb_quiesced(struct ring_buffer_per_cpu *cpu_buffer)
{
	return rb_read(cpu_buffer->disabled) & (RB_OFF - RB_QUIESCE_ONE);
}

/*
 * The count of what was kept out goes with the ring, though it does not lie in it. An NMI that is kept out now counts
 * in either.
 */
static void rb_swap_kept_out(struct ring_buffer_per_cpu *a, struct ring_buffer_per_cpu *b)
{
	u64 of_a = __atomic_exchange_n(&a->kept_out, 0, __ATOMIC_RELAXED);
	u64 of_b = __atomic_exchange_n(&b->kept_out, 0, __ATOMIC_RELAXED);

	__atomic_fetch_add(&a->kept_out, of_b, __ATOMIC_RELAXED);
	__atomic_fetch_add(&b->kept_out, of_a, __ATOMIC_RELAXED);
}

/*
 * Exchange the contents of the two rings and not the pointers to them, so a writer of this CPU that has looked up its
 * buffer goes on in the same one. `empty` is the ring of the two that is emptied before the exchange, or NULL. 0 or
 * -EBUSY. On the rings' CPU, interrupts off, both reader locks held.
 */
static int rb_swap_rings(struct ring_buffer_per_cpu *a, struct ring_buffer_per_cpu *b,
			 struct ring_buffer_per_cpu *empty)
{
	int err = 0;

	RB_TEST_POINT(70);
	/* Only an NMI can still interrupt this: what it would write counts as dropped. */
	__atomic_fetch_add(&a->disabled, RB_QUIESCE_ONE, __ATOMIC_RELAXED);
	__atomic_fetch_add(&b->disabled, RB_QUIESCE_ONE, __ATOMIC_RELAXED);
	rb_barrier();
	RB_TEST_POINT(71);
	/* If the code that we interrupted was writing, its event is not complete before we return. */
	if (rb_busy(a) || rb_busy(b)) {
		err = -EBUSY;
	} else {
		struct rb_ring was;

		if (empty) {
			rb_ring_reset(&empty->ring, rb_touched(&empty->ring), ring_buffer_time_stamp(empty->buffer));
			rb_write(empty->kept_out, 0);
		}
		was = a->ring;
		RB_TEST_POINT(72);
		a->ring = b->ring;
		RB_TEST_POINT(74);
		b->ring = was;
		rb_swap_kept_out(a, b);
	}
	rb_barrier();
	__atomic_fetch_sub(&a->disabled, RB_QUIESCE_ONE, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&b->disabled, RB_QUIESCE_ONE, __ATOMIC_RELAXED);
	RB_TEST_POINT(73);
	return err;
}

/*
 * Exchange the contents of two CPUs' rings of two buffers. On that CPU, interrupts off, no writer inside. 0, -EINVAL
 * (sizes differ), -EAGAIN (kept out for another operation), -EBUSY (a writer was interrupted, or a ring is mapped).
 */
static int rb_swap_cpu(struct ring_buffer_per_cpu *a, struct ring_buffer_per_cpu *b, struct ring_buffer_per_cpu *empty)
{
	int err;

	if (!a || !b || a == b)
		return -EINVAL;
	if (rb_quiesced(a) || rb_quiesced(b))
		return -EAGAIN;
	/* Readers hold only one reader lock at a time; two swaps must take the two locks in the same order. */
	if (a > b)
		swap(a, b);
	arch_spin_lock(&a->reader_lock);
	arch_spin_lock(&b->reader_lock);
	if (rb_map_of(a) || rb_map_of(b))
		err = -EBUSY;
	else if (a->ring.nr_pages != b->ring.nr_pages || a->ring.order != b->ring.order)
		err = -EINVAL;
	else
		err = rb_swap_rings(a, b, empty);
	arch_spin_unlock(&b->reader_lock);
	arch_spin_unlock(&a->reader_lock);
	return err;
}

int ring_buffer_swap_cpu(struct trace_buffer *buffer_a, struct trace_buffer *buffer_b, int cpu)
{
	return rb_swap_cpu(rb_cpu(buffer_a, cpu), rb_cpu(buffer_b, cpu), NULL);
}

int ring_buffer_swap_empty_cpu(struct trace_buffer *buffer, struct trace_buffer *aside, int cpu)
{
	struct ring_buffer_per_cpu *empty = rb_cpu(aside, cpu);

	return rb_swap_cpu(rb_cpu(buffer, cpu), empty, empty);
}
