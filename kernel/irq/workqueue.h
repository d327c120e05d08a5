/* What workqueue.c and workqueue_own.c share: the pool of works with its thread. */
#pragma once

#include <irq/workqueue.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <sched/wait.h>

/* Locks: p lock, taken with interrupts off; I immutable once it can be found. */
struct worker_pool {
	spinlock_t lock;
	struct list_head works;		  /* [p] */
	struct work_struct *current_work; /* [p] the one that runs; only compared: it may be freed */
	struct task_struct *worker;	  /* [I] NULL early at boot: works wait */
	int number;			  /* [I] a CPU's: its number; above NR_CPUS: of a workqueue */
	int cpu;			  /* [I] the one that its thread is bound to; -1: any */
	char name[24];			  /* [I] of the queue: events, or what alloc_workqueue() was given */
	wait_queue_head_t own_done;	  /* of a CPU's pool */
	wait_queue_head_t *done;	  /* [I] flushers; woken after each work */
};

static inline void pool_init(struct worker_pool *pool, int number, const char *name)
{
	spin_lock_init(&pool->lock);
	INIT_LIST_HEAD(&pool->works);
	pool->number = number;
	pool->cpu = -1;
	strscpy(pool->name, name, sizeof(pool->name));
}

/* The function of a pool's thread: it runs the works one after the other, until kthread_stop(). */
int worker_thread(void *pool);
struct worker_pool *cpu_pool(int cpu); /* there for good */
/* False: w is not idle, or a task is in cancel_work_sync() for it. Any context but nmi. */
bool queue_work_in(struct worker_pool *pool, struct work_struct *w);

/* workqueue_own.c. The pool of a number from NR_CPUS on, NULL: it is gone. It stays while preemption is off. */
struct worker_pool *find_own_pool(int number);
struct worker_pool *own_pool(struct workqueue_struct *wq);
extern wait_queue_head_t own_works_done; /* flushers of works in any such pool */
