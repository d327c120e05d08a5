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
 * worker empties. New tasks take their stacks from that list, too: the worker is slower than programs that fork
 * and exit, and no limit on the number of tasks counts the stacks that wait for it.
 */
static struct stack_cache {
	void *stacks[STACKS_PER_CPU]; /* [c] owning CPU with interrupts off */
	unsigned n;		      /* [c] */
} __cacheline_aligned stack_cache[NR_CPUS];

/* The first words of a stack that waits to be freed. */
struct dead_stack {
	struct dead_stack *next;
};
static DEFINE_SPINLOCK(dead_lock);     /* irqsave; innermost */
static struct dead_stack *dead_stacks; /* [dead_lock] */
static atomic_t nr_stacks;	       /* [a] in use or kept */

static void *take_dead_stack(void)
{
	struct dead_stack *stack;
	unsigned long flags;

	spin_lock_irqsave(&dead_lock, flags);
	stack = dead_stacks;
	if (stack)
		dead_stacks = stack->next;
	spin_unlock_irqrestore(&dead_lock, flags);
	return stack;
}

static void free_dead_stacks(struct work_struct *work)
{
	void *stack;

	while ((stack = take_dead_stack())) {
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

	if (!stack && READ_ONCE(dead_stacks))
		stack = take_dead_stack();
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
	struct dead_stack *dead = stack;
	unsigned long flags;

	if (keep_stack(stack))
		return;
	spin_lock_irqsave(&dead_lock, flags);
	dead->next = dead_stacks;
	dead_stacks = dead;
	spin_unlock_irqrestore(&dead_lock, flags);
	schedule_work(&dead_stack_work);
}

unsigned long nr_thread_stacks(void)
{
	return atomic_read(&nr_stacks);
}
