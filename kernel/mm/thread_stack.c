/* Kernel stacks: THREAD_SIZE bytes of vmalloc space with a guard page below, and a small cache of them a CPU.
 */
#include <irq/workqueue.h>
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <mm/vmalloc.h>
#include <sched/spinlock.h>

#include "thread_stack.h"

#define STACKS_PER_CPU 2

/*
 * A dead task's stack is freed by whoever switches away from it last, interrupts off, where vfree (which may
 * have to wait for other CPUs) cannot be called. So it goes to this CPU's cache, or else to a list that a
 * worker empties.
 */
static struct stack_cache {
	void *stacks[STACKS_PER_CPU]; /* [c] owning CPU with interrupts off */
	unsigned n;		      /* [c] */
} __cacheline_aligned stack_cache[NR_CPUS];

/* The first words of a stack that waits to be freed. */
struct dead_stack {
	struct dead_stack *next;
};
static struct dead_stack *dead_stacks; /* [a] pushed and taken as a whole */
static atomic_t nr_stacks;	       /* [a] in use or kept */

static void free_dead_stacks(struct work_struct *work)
{
	struct dead_stack *stack = xchg(&dead_stacks, NULL), *next;

	for (; stack; stack = next) {
		next = stack->next;
		vfree_stack(stack);
		atomic_dec(&nr_stacks);
	}
}
static DECLARE_WORK(dead_stack_work, free_dead_stacks);

static void *take_cached_stack(void)
{
	struct stack_cache *cache;
	void *stack = NULL;
	unsigned long flags;

	local_irq_save(flags);
	cache = &stack_cache[smp_processor_id()];
	if (cache->n)
		stack = cache->stacks[--cache->n];
	local_irq_restore(flags);
	return stack;
}

void *alloc_thread_stack(void)
{
	void *stack = take_cached_stack();

	if (stack)
		return stack;
	stack = vmalloc_stack();
	if (stack)
		atomic_inc(&nr_stacks);
	return stack;
}

static bool keep_stack(void *stack)
{
	struct stack_cache *cache;
	unsigned long flags;
	bool kept = false;

	local_irq_save(flags);
	cache = &stack_cache[smp_processor_id()];
	if (cache->n < STACKS_PER_CPU) {
		cache->stacks[cache->n++] = stack;
		kept = true;
	}
	local_irq_restore(flags);
	return kept;
}

void free_thread_stack(void *stack)
{
	struct dead_stack *dead = stack, *first;

	if (keep_stack(stack))
		return;
	do {
		first = READ_ONCE(dead_stacks);
		dead->next = first;
	} while (cmpxchg(&dead_stacks, first, dead) != first);
	schedule_work(&dead_stack_work);
}

unsigned long nr_thread_stacks(void)
{
	return atomic_read(&nr_stacks);
}
