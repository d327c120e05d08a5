/*
 * Slots: executable memory in reach of all text, in which probed instructions are executed (<arch/kprobes.h>).
 *
 * WHEN A SLOT MAY BE USED AGAIN. A task can be preempted inside of a slot, or inside of a handler that the slot has
 * called, and it comes back to the slot after the probe has gone. So a slot that is given up is not written before no
 * task is inside of it. That is found out by looking: with all CPUs parked every task is off its CPU, and whoever is
 * inside has an address of the slot on its kernel stack, either as the pc that an interrupt has saved, or as a return
 * address. Any word there that looks like such an address counts. A word that is none only keeps the slot for longer.
 */
#include <arch/patch.h>
#include <arch/stacktrace.h>
#include <kernel/smp.h>
#include <mm/slab.h>
#include <mm/vmalloc.h>
#include <proc/fork.h>
#include <sched/sched.h>
#include <sched/task_inline.h>

#include "internal.h"

#define CHUNK_SLOTS 128u
#define MAX_CHUNKS  256u

struct chunk {
	unsigned long text;
	struct kprobe_slot slots[CHUNK_SLOTS];
};
static struct chunk *chunks[MAX_CHUNKS];	 /* [kprobe_mutex; read with nr_chunks] */
static unsigned nr_chunks;			 /* [kprobe_mutex; read with acquire] */
static struct kprobe_slot *free_slots, *retired; /* [kprobe_mutex] */

/* More slots. False: out of memory. */
static bool add_chunk(void)
{
	struct chunk *c;
	void *text;

	if (nr_chunks == MAX_CHUNKS)
		return false;
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	text = c ? module_alloc(CHUNK_SLOTS * KPROBE_SLOT_SIZE) : NULL;
	if (!text) {
		kfree(c);
		return false;
	}
	vmalloc_protect(text, CHUNK_SLOTS * KPROBE_SLOT_SIZE, PAGE_KERNEL_EXEC);
	c->text = (unsigned long)text;
	for (unsigned i = 0; i < CHUNK_SLOTS; i++) {
		c->slots[i].text = c->text + i * KPROBE_SLOT_SIZE;
		c->slots[i].next = free_slots;
		free_slots = &c->slots[i];
	}
	chunks[nr_chunks] = c;
	smp_store_release(&nr_chunks, nr_chunks + 1);
	return true;
}

struct kprobe_slot *kprobe_slot_get(void)
{
	struct kprobe_slot *slot;

	if (!free_slots && !add_chunk())
		return NULL;
	slot = free_slots;
	free_slots = slot->next;
	return slot;
}

__kprobes void kprobe_slot_put(struct kprobe_slot *slot)
{
	slot->next = free_slots;
	free_slots = slot;
}

__kprobes const struct kprobe_slot *kprobe_slot_at(unsigned long pc)
{
	unsigned n = smp_load_acquire(&nr_chunks);

	for (unsigned i = 0; i < n; i++)
		if (pc - chunks[i]->text < CHUNK_SLOTS * KPROBE_SLOT_SIZE)
			return &chunks[i]->slots[(pc - chunks[i]->text) / KPROBE_SLOT_SIZE];
	return NULL;
}

__kprobes void kprobe_slot_write(const struct kprobe_slot *slot, const struct kprobe_code *code)
{
	arch_patch_copy(slot->text, code->bytes, KPROBE_SLOT_SIZE);
}

__kprobes void kprobe_slot_retire(struct kprobe_slot *slot)
{
	WRITE_ONCE(slot->owner, NULL);
	slot->next = retired;
	retired = slot;
}

/* Has the stack of this task, which is off its CPU, a word in [first, end)? */
static __kprobes bool stack_has(const struct task_struct *t, unsigned long first, unsigned long end)
{
	const unsigned long *word = (const unsigned long *)arch_task_sp(t);

	if (!t->stack)
		return false;
	for (; word < (const unsigned long *)task_stack_end(t); word++)
		if (READ_ONCE(*word) - first < end - first)
			return true;
	return false;
}

struct search {
	unsigned long first, end;
	bool found;
};

/* For for_each_queued_task(). */
static __kprobes bool search_stack(struct task_struct *t, void *data)
{
	struct search *s = data;

	s->found = stack_has(t, s->first, s->end);
	return !s->found;
}

/*
 * A task that has ended may be off the lists of tasks and yet run to its last switch, so the queues are looked at as
 * well. Nobody changes them: the machine is stopped.
 */
__kprobes bool kprobe_task_inside(unsigned long start, unsigned long end)
{
	struct search s = {.first = start + 1, .end = end};
	struct task_struct *p, *t;
	unsigned cpu;

	for_each_process(p)
		for_each_thread(p, t)
			if (!search_stack(t, &s))
				return true;
	for_each_online_cpu(cpu) {
		if (search_stack(idle_task(cpu), &s))
			for_each_queued_task(cpu, search_stack, &s);
		if (s.found)
			return true;
	}
	return false;
}

__kprobes void kprobe_slots_reap(void)
{
	for (struct kprobe_slot **at = &retired; *at;) {
		struct kprobe_slot *slot = *at;

		if (kprobe_task_inside(slot->text - 1, slot->text + KPROBE_SLOT_SIZE)) {
			at = &slot->next;
			continue;
		}
		*at = slot->next;
		kprobe_slot_put(slot);
	}
}

__kprobes bool kprobe_slot_retired(unsigned long start, unsigned long end)
{
	for (const struct kprobe_slot *slot = retired; slot; slot = slot->next)
		if (slot->addr - start < end - start)
			return true;
	return false;
}
