/*
 * Workqueues: functions to be called in thread context, by one worker thread a CPU.
 *
 * An interrupt or a holder of a spinlock queues a work; the worker of the CPU calls its function, which may
 * sleep. The works of one CPU run one after the other, so a work must not wait for another one that is
 * queued behind it. A lock for each pool, taken with interrupts off, rules its list.
 *
 * `pending` is won by one of those who queue and cleared by the worker right before the call, so a work that
 * is queued while it runs runs once more. A work that still runs is queued where it runs: it never runs on
 * two CPUs at a time.
 */
#include <arch/processor.h>
#include <irq/workqueue.h>
#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <sched/wait.h>
#include <trace/events/workqueue.h>

/* Locks: p lock, taken with interrupts off; I immutable once `ready`. */
struct worker_pool {
	spinlock_t lock;
	struct list_head works;		  /* [p] */
	struct work_struct *current_work; /* [p] the one that runs; only compared: it may be freed */
	struct task_struct *worker;	  /* [I] NULL before the boot has come so far: works wait */
	wait_queue_head_t done;		  /* flushers; woken after each work */
};
static DEFINE_PER_CPU(struct worker_pool, worker_pools);

/*
 * The pool that w is to be queued in, locked: the one where w runs at this moment, so that it never runs
 * twice at a time, else that of `cpu`. Context: interrupts off.
 */
static struct worker_pool *lock_pool_for(struct work_struct *w, int cpu)
{
	int last = READ_ONCE(w->cpu);
	struct worker_pool *pool;

	if (last >= 0 && last != cpu) {
		pool = per_cpu_ptr(worker_pools, last);
		spin_lock(&pool->lock);
		if (pool->current_work == w)
			return pool;
		spin_unlock(&pool->lock);
	}
	pool = per_cpu_ptr(worker_pools, cpu);
	spin_lock(&pool->lock);
	WRITE_ONCE(w->cpu, cpu);
	return pool;
}

bool queue_work_on(int cpu, struct work_struct *w)
{
	struct worker_pool *pool;
	struct task_struct *worker;
	unsigned long flags;

	/* Full order: what the caller prepared comes before; if it was pending, its run will see it. */
	if (__atomic_exchange_n(&w->pending, 1UL, __ATOMIC_SEQ_CST))
		return false;
	local_irq_save(flags);
	pool = lock_pool_for(w, cpu);
	trace_workqueue_queue_work(cpu, w->cpu, "events", w);
	list_add_tail(&w->entry, &pool->works);
	trace_workqueue_activate_work(w);
	worker = pool->worker;
	spin_unlock(&pool->lock);
	if (worker)
		wake_up_process(worker);
	local_irq_restore(flags);
	return true;
}

/*
 * Queue on this CPU, or on one where the caller just was: it may be moved between the look and the
 * queueing, which does no harm.
 */
bool noinline schedule_work(struct work_struct *w)
{
	return queue_work_on(READ_ONCE(current->cpu), w);
}

/* Run the first work. Context: p locked with interrupts off; dropped while it runs. */
static void noinline process_one_work(struct worker_pool *pool)
{
	struct work_struct *w = list_first_entry(&pool->works, struct work_struct, entry);
	work_func_t func = w->func;

	list_del_init(&w->entry);
	pool->current_work = w;
	/* Before the call and with full order: who queues it after this, with new data, gets another run. */
	__atomic_exchange_n(&w->pending, 0UL, __ATOMIC_SEQ_CST);
	spin_unlock_irq(&pool->lock);
	trace_workqueue_execute_start(w);
	func(w); /* may free w */
	trace_workqueue_execute_end(w, func);
	cond_resched();
	spin_lock_irq(&pool->lock);
	pool->current_work = NULL;
	wake_up_all(&pool->done);
}

/*
 * The worker sets its state under the lock that a queueing CPU takes before its wake-up. So a work that is
 * queued after the list was found empty finds a sleeper.
 */
static int worker_thread(void *data)
{
	struct worker_pool *pool = data;

	current->flags |= PF_WQ_WORKER;
	spin_lock_irq(&pool->lock);
	for (;;) {
		while (!list_empty(&pool->works))
			process_one_work(pool);
		__set_current_state(TASK_IDLE); /* under the lock that who queues takes before the wake-up */
		spin_unlock_irq(&pool->lock);
		schedule();
		spin_lock_irq(&pool->lock);
	}
	return 0;
}

/*
 * Is w neither queued nor running? `pending` is set before w->cpu by the one that queues, so a negative CPU
 * means never queued.
 */
static bool work_idle(struct work_struct *w)
{
	struct worker_pool *pool;
	unsigned long flags;
	int cpu = READ_ONCE(w->cpu);
	bool idle;

	if (READ_ONCE(w->pending))
		return false;
	if (cpu < 0)
		return true;
	pool = per_cpu_ptr(worker_pools, cpu);
	spin_lock_irqsave(&pool->lock, flags);
	idle = !READ_ONCE(w->pending) && pool->current_work != w;
	spin_unlock_irqrestore(&pool->lock, flags);
	return idle;
}

/*
 * Wait until w is idle. Looks again each time a work of its pool ends. Context: a task that may sleep, not
 * w itself.
 */
bool flush_work(struct work_struct *w)
{
	bool waited = false;

	while (!work_idle(w)) {
		int cpu = READ_ONCE(w->cpu);

		waited = true;
		if (cpu < 0)
			cpu_relax(); /* queued at this moment, on its way to a pool */
		else
			wait_event(&per_cpu_ptr(worker_pools, cpu)->done, work_idle(w) || READ_ONCE(w->cpu) != cpu);
	}
	return waited;
}

/*
 * Take w out of its pool's list. False when it is not there: it is idle, it runs, or it is on its way into
 * a list.
 */
static bool try_to_grab_pending(struct work_struct *w)
{
	struct worker_pool *pool;
	unsigned long flags;
	int cpu = READ_ONCE(w->cpu);
	bool grabbed = false;

	if (cpu < 0)
		return false;
	pool = per_cpu_ptr(worker_pools, cpu);
	spin_lock_irqsave(&pool->lock, flags);
	if (w->cpu == cpu && READ_ONCE(w->pending) && !list_empty(&w->entry)) {
		list_del_init(&w->entry);
		smp_store_release(&w->pending, 0);
		grabbed = true;
	}
	spin_unlock_irqrestore(&pool->lock, flags);
	return grabbed;
}

/* When this returns, w neither is queued nor runs, unless somebody queues it again. */
bool cancel_work_sync(struct work_struct *w)
{
	bool was_pending = try_to_grab_pending(w);

	flush_work(w);
	return was_pending;
}

/* In the timer interrupt: the delay is over, the work is queued like any other. */
static enum hrtimer_restart delayed_work_timer_fn(struct hrtimer *t)
{
	schedule_work(&container_of(t, struct delayed_work, timer)->work);
	return HRTIMER_NORESTART;
}

void init_delayed_work(struct delayed_work *w, work_func_t f)
{
	INIT_WORK(&w->work, f);
	hrtimer_init(&w->timer, delayed_work_timer_fn);
}

/* delay_ns counts from now. False: it is armed or queued already, and keeps its time. */
bool schedule_delayed_work(struct delayed_work *w, u64 delay_ns)
{
	if (READ_ONCE(w->work.pending) || hrtimer_active(&w->timer))
		return false;
	hrtimer_start(&w->timer, ktime_get() + delay_ns);
	return true;
}

/* The timer first: once it cannot fire, it queues the work no more. */
bool cancel_delayed_work_sync(struct delayed_work *w)
{
	bool was_armed = hrtimer_cancel(&w->timer) > 0;

	return cancel_work_sync(&w->work) || was_armed;
}

/* Make and start the worker of a CPU. Works that were queued before are found by its first look. */
static void start_worker(int cpu)
{
	struct worker_pool *pool = per_cpu_ptr(worker_pools, cpu);
	struct task_struct *t = kthread_create_on_cpu(worker_thread, pool, cpu, "kworker/%d:0", cpu);

	if (IS_ERR(t))
		panic("cannot start kworker/%d: %ld", cpu, PTR_ERR(t));
	spin_lock_irq(&pool->lock);
	pool->worker = t;
	spin_unlock_irq(&pool->lock);
	wake_up_process(t);
}

/* From here on works may be queued; they run when the workers have started. */
void workqueue_init_early(void)
{
	unsigned cpu;

	for_each_possible_cpu(cpu) {
		struct worker_pool *pool = per_cpu_ptr(worker_pools, cpu);

		spin_lock_init(&pool->lock);
		INIT_LIST_HEAD(&pool->works);
		init_waitqueue_head(&pool->done);
	}
}

/* Start the workers, kworker/N:0. */
static int workqueue_init(void)
{
	unsigned cpu;

	for_each_online_cpu(cpu)
		start_worker(cpu);
	return 0;
}
core_initcall(workqueue_init);
