/* Workqueues: functions to be called in thread context, by one worker a CPU. */
#include <arch/processor.h>
#include <irq/workqueue.h>
#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <sched/wait.h>
#include <trace/events/workqueue.h>

/*
 * `pending` is won by one of those who queue and cleared by the worker right before the call, so a work that
 * is queued while it runs runs once more. A work that still runs is queued where it runs: it never runs on
 * two CPUs at a time.
 */

/* Locks: p lock, taken with interrupts off; I immutable once `ready`. */
struct worker_pool {
	spinlock_t lock;
	struct list_head works;		  /* [p] */
	struct work_struct *current_work; /* [p] the one that runs; only compared: it may be freed */
	struct task_struct *worker;	  /* [I] NULL before the boot has come so far: works wait */
	wait_queue_head_t done;		  /* flushers; woken after each work */
};
static DEFINE_PER_CPU(struct worker_pool, worker_pools);

/* The pool for w: `cpu`'s, or the one where it runs at the moment. Returned locked. Context: interrupts off.
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

/* On this CPU, or at least one where we just were. */
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

/* Neither queued nor running? */
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

/* Take it out of its pool's list; false when it is not there (idle, runs, or on its way in). */
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

bool cancel_work_sync(struct work_struct *w)
{
	bool was_pending = try_to_grab_pending(w);

	flush_work(w);
	return was_pending;
}

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

bool schedule_delayed_work(struct delayed_work *w, u64 delay_ns)
{
	if (READ_ONCE(w->work.pending) || hrtimer_active(&w->timer))
		return false;
	hrtimer_start(&w->timer, ktime_get() + delay_ns);
	return true;
}

bool cancel_delayed_work_sync(struct delayed_work *w)
{
	bool was_armed = hrtimer_cancel(&w->timer) > 0;

	return cancel_work_sync(&w->work) || was_armed;
}

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

/* kworker/N:0 */
static int workqueue_init(void)
{
	unsigned cpu;

	for_each_online_cpu(cpu)
		start_worker(cpu);
	return 0;
}
core_initcall(workqueue_init);
