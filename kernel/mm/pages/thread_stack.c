/*
 * Kernel stacks: THREAD_SIZE bytes of vmalloc space with an unmapped page below, and a small cache of them for each
 * CPU, because mapping and unmapping a stack costs more than the rest of fork.
 *
 * A dead task's stack is freed by the task that runs after it on that CPU, with interrupts off, where vfree() cannot be
 * called: it may have to wait for other CPUs. So the stack goes to this CPU's cache or, when that is full, to a list
 * that a worker empties. New tasks take their stacks from that list, too: the worker is slower than programs that fork
 * and exit, and no limit on the number of tasks counts the stacks that wait for it.
 */
#include <irq/workqueue.h>
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <mm/vmalloc.h>
#include <sched/cpuhp.h>
#include <sched/spinlock.h>

#include "thread_stack.h"

#define STACKS_PER_CPU 2

/* The cache of a CPU. [c] owning CPU, with interrupts off. */
static struct stack_cache {
	void *stacks[STACKS_PER_CPU]; /* [c] */
	unsigned n;		      /* [c] */
} __cacheline_aligned stack_cache[NR_CPUS];

/*
 * The first words of a stack that waits to be freed. Its memory is unused by then, so no other is needed for the list.
 */
struct dead_stack {
	struct dead_stack *next;
};
static DEFINE_SPINLOCK(dead_lock);     /* irqsave; innermost */
static struct dead_stack *dead_stacks; /* [dead_lock] */
static atomic_t nr_stacks;	       /* [a] in use or kept */

/* A stack from the list, or NULL. */
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

/* The worker. */
static void free_dead_stacks(struct work_struct *work)
{
	void *stack;

	while ((stack = take_dead_stack())) {
		vfree_stack(stack);
		atomic_dec(&nr_stacks);
	}
}
static DECLARE_WORK(dead_stack_work, free_dead_stacks);

/* A stack from this CPU's cache, or NULL. */
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

/*
 * Cache, then waiting stacks, then a new one. A look at the list without its lock may miss a stack, which only costs a
 * new one.
 */
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

/* Put a stack into this CPU's cache; false when that is full. */
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

/* The CPU is gone: what it kept is freed. */
static int stacks_cpu_dead(unsigned cpu)
{
	struct stack_cache *cache = &stack_cache[cpu];

	while (cache->n) {
		vfree_stack(cache->stacks[--cache->n]);
		atomic_dec(&nr_stacks);
	}
	return 0;
}
static const struct cpuhp_step stacks_step = {.name = "mm:stacks", .stage = CPUHP_PREPARE, .down = stacks_cpu_dead};
REGISTER_CPUHP(stacks_step);

unsigned long nr_thread_stacks(void)
{
	return atomic_read(&nr_stacks);
}
