/*
 * Workqueues (<irq/workqueue.h>): functions to be called in thread context, by the one worker thread of a pool.
 *
 * An interrupt or a holder of a spinlock queues a work; the worker of the pool calls its function, which may sleep. A
 * lock for each pool, taken with interrupts off, rules its list. Every CPU has a pool, and every workqueue that was
 * allocated (workqueue_own.c).
 *
 * Of several callers that queue a work at the same time, one wins its `state`; the worker clears it right before the
 * call. So a work that is queued while it runs will run once more. It is queued where it runs then: it never runs on
 * two threads at a time.
 *
 * A work remembers its last pool by a number that is never given again. The pool may be gone: then find_pool() finds
 * nothing, and the work does not run, since a pool goes after its last work.
 */
#include "workqueue.h"

#include <arch/processor.h>
#include <kernel/export.h>
#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <sched/cpuhp.h>
#include <trace/events/workqueue.h>

static DEFINE_PER_CPU(struct worker_pool, worker_pools);

/* The pool of this number; NULL: it is gone. It stays while interrupts or preemption are off. */
static struct worker_pool *find_pool(int number)
{
	return number < NR_CPUS ? per_cpu_ptr(&worker_pools, number) : find_own_pool(number);
}

struct worker_pool *cpu_pool(int cpu)
{
	return per_cpu_ptr(&worker_pools, cpu);
}

/* The same pool, locked; NULL also for -1, the number of a work that was never queued. Context: interrupts off. */
static struct worker_pool *lock_pool(int number)
{
	struct worker_pool *pool = number < 0 ? NULL : find_pool(number);

	if (pool)
		spin_lock(&pool->lock);
	return pool;
}

/* Tasks that wait for a work's end: each pool of a CPU has a queue of its own; the others, which may go, share one. */
static wait_queue_head_t *done_queue(int number)
{
	return number < NR_CPUS ? per_cpu_ptr(&worker_pools, number)->done : &own_works_done;
}

/*
 * A work whose last pool has this number was queued, and leaves the pool without having run, or is idle again: the
 * tasks in flush_work() must look again. Called after the change that they are to see.
 */
static void wake_flushers(int number)
{
	if (number >= 0)
		wake_up_all(done_queue(number));
}

/*
 * The pool that w is to be queued in, locked: the one where w runs at this moment, so that it never runs twice at a
 * time, else `pool`. Context: interrupts off.
 */
static struct worker_pool *lock_pool_for(struct work_struct *w, struct worker_pool *pool)
{
	int last = READ_ONCE(w->pool);
	struct worker_pool *old = last == pool->number ? NULL : lock_pool(last);

	if (old) {
		if (old->current_work == w)
			return old;
		spin_unlock(&old->lock);
	}
	spin_lock(&pool->lock);
	WRITE_ONCE(w->pool, pool->number);
	if (last != pool->number)
		wake_flushers(last);
	return pool;
}

/* Put a work that the caller has made WORK_QUEUED into a pool. Context: interrupts off. */
static void insert_work(struct worker_pool *pool, struct work_struct *w)
{
	struct task_struct *worker;
	int req_cpu = pool->cpu;

	pool = lock_pool_for(w, pool);
	trace_workqueue_queue_work(req_cpu, pool->cpu, pool->name, w);
	trace_workqueue_insertion(pool->worker, w);
	list_add_tail(&w->entry, &pool->works);
	trace_workqueue_activate_work(w);
	worker = pool->worker;
	spin_unlock(&pool->lock);
	if (worker)
		wake_up_process(worker);
}

/*
 * Win an idle work. Full order: what the caller prepared comes before; if it was not idle, its run will see that. A
 * task that cancels it sets `canceled` before it looks at the state, and we look after setting the state: one of the
 * two sees the other. Context: interrupts off until it is in its list or its timer is set, since others wait for that
 * by spinning.
 */
static bool claim_work(struct work_struct *w, enum work_state state)
{
	if (cmpxchg(&w->state, WORK_IDLE, state) != WORK_IDLE)
		return false;
	smp_mb();
	if (likely(!atomic_read(&w->canceled)))
		return true;
	smp_store_release(&w->state, WORK_IDLE);
	wake_flushers(READ_ONCE(w->pool));
	return false;
}

bool queue_work_in(struct worker_pool *pool, struct work_struct *w)
{
	unsigned long flags;
	bool claimed;

	local_irq_save(flags);
	claimed = claim_work(w, WORK_QUEUED);
	if (claimed)
		insert_work(pool, w);
	local_irq_restore(flags);
	return claimed;
}

bool queue_work_on(int cpu, struct work_struct *w)
{
	return queue_work_in(cpu_pool(cpu), w);
}
EXPORT_SYMBOL(queue_work_on);

/*
 * Queue on this CPU, or on one where the caller just was: it may be moved between the look and the queueing, which does
 * no harm.
 */
bool noinline schedule_work(struct work_struct *w)
{
	return queue_work_on(READ_ONCE(current->cpu), w);
}
EXPORT_SYMBOL(schedule_work);

/* Run the first work. Context: pool locked with interrupts off; the lock is dropped while the work runs. */
static void noinline process_one_work(struct worker_pool *pool)
{
	struct work_struct *w = list_first_entry(&pool->works, struct work_struct, entry);
	work_func_t func = w->func;

	list_del_init(&w->entry);
	pool->current_work = w;
	/* Before the call and with full order: a task that queues it after this, with new data, gets another run. */
	__atomic_exchange_n(&w->state, WORK_IDLE, __ATOMIC_SEQ_CST);
	spin_unlock_irq(&pool->lock);
	trace_workqueue_execution(current, w);
	trace_workqueue_execute_start(w);
	func(w); /* may free w */
	trace_workqueue_execute_end(w, func);
	cond_resched();
	spin_lock_irq(&pool->lock);
	pool->current_work = NULL;
	wake_up_all(pool->done);
}

/*
 * The worker sets its state under the lock that a queueing CPU takes before its wake-up. So a work that is queued after
 * the list was found empty finds a sleeper. kthread_stop() takes no lock of ours: it sets its flag and then looks at
 * the state, so there is a full barrier between our state and our look at the flag. A CPU's worker is never stopped.
 */
int worker_thread(void *data)
{
	struct worker_pool *pool = data;

	current->flags |= PF_WQ_WORKER;
	spin_lock_irq(&pool->lock);
	for (;;) {
		while (!list_empty(&pool->works))
			process_one_work(pool);
		set_current_state(TASK_IDLE);
		spin_unlock_irq(&pool->lock);
		if (kthread_should_stop())
			break;
		schedule();
		spin_lock_irq(&pool->lock);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/*
 * Is w neither queued nor running? The CPU that queues it sets the state before w->pool, so after another state a
 * negative number means that w was never queued. A timer that is set does not count.
 */
static bool work_idle(struct work_struct *w)
{
	struct worker_pool *pool;
	unsigned long flags;
	bool idle = true;
	int number;

	if (smp_load_acquire(&w->state) == WORK_QUEUED)
		return false;
	number = READ_ONCE(w->pool);
	local_irq_save(flags);
	pool = lock_pool(number);
	if (pool) {
		idle = READ_ONCE(w->state) != WORK_QUEUED && pool->current_work != w;
		spin_unlock(&pool->lock);
	}
	local_irq_restore(flags);
	return idle;
}

/* Looks again each time a work of w's pool ends, or leaves its list. Context: a task that may sleep, not w itself. */
bool flush_work(struct work_struct *w)
{
	bool waited = false;

	while (!work_idle(w)) {
		int number = READ_ONCE(w->pool);

		waited = true;
		if (number < 0)
			cpu_relax(); /* queued at this moment, on its way to a pool */
		else
			wait_event(done_queue(number), work_idle(w) || READ_ONCE(w->pool) != number);
	}
	return waited;
}
EXPORT_SYMBOL(flush_work);

/* Take w out of its pool's list. False when it is not there: it is idle, it runs, or it is on its way into a list. */
static bool try_to_grab_pending(struct work_struct *w)
{
	struct worker_pool *pool;
	unsigned long flags;
	int number = READ_ONCE(w->pool);
	bool grabbed = false;

	local_irq_save(flags);
	pool = lock_pool(number);
	if (pool) {
		if (w->pool == number && READ_ONCE(w->state) == WORK_QUEUED && !list_empty(&w->entry)) {
			list_del_init(&w->entry);
			smp_store_release(&w->state, WORK_IDLE);
			wake_flushers(number);
			grabbed = true;
		}
		spin_unlock(&pool->lock);
	}
	local_irq_restore(flags);
	return grabbed;
}

/* While it is on its way into a list, look again: that takes a few instructions, with interrupts off (claim_work). */
bool cancel_work(struct work_struct *w)
{
	while (READ_ONCE(w->state) == WORK_QUEUED) {
		if (try_to_grab_pending(w))
			return true;
		cpu_relax();
	}
	return false;
}
EXPORT_SYMBOL(cancel_work);

/* While we wait no queueing succeeds, so what flush_work() has waited for was the last run. */
bool cancel_work_sync(struct work_struct *w)
{
	bool was_pending;

	atomic_inc(&w->canceled);
	smp_mb(); /* pairs with claim_work() */
	was_pending = cancel_work(w);
	flush_work(w);
	atomic_dec(&w->canceled);
	return was_pending;
}
EXPORT_SYMBOL(cancel_work_sync);

/* ---- Delayed works */

/* Where it is queued when the delay is over: in its own workqueue, or on this CPU. */
static struct worker_pool *delayed_pool(const struct delayed_work *w)
{
	return w->wq ? own_pool(w->wq) : cpu_pool(current->cpu);
}

/* In the timer interrupt: the delay is over, the work is queued like any other. */
enum hrtimer_restart delayed_work_timer_fn(struct hrtimer *t)
{
	struct delayed_work *w = container_of(t, struct delayed_work, timer);

	smp_store_release(&w->work.state, WORK_QUEUED);
	insert_work(delayed_pool(w), &w->work);
	return HRTIMER_NORESTART;
}
EXPORT_SYMBOL(delayed_work_timer_fn);

void init_delayed_work(struct delayed_work *w, work_func_t f)
{
	INIT_WORK(&w->work, f);
	hrtimer_init(&w->timer, delayed_work_timer_fn);
}
EXPORT_SYMBOL(init_delayed_work);

/* Set the timer. DECLARE_DELAYED_WORK() leaves it without a base: it is made ready here, the first time. */
static void start_delay(struct delayed_work *w, u64 delay_ns)
{
	if (unlikely(!READ_ONCE(w->timer.base)))
		hrtimer_init(&w->timer, delayed_work_timer_fn);
	hrtimer_start(&w->timer, ktime_add_safe(ktime_get(), min_t(u64, delay_ns, KTIME_MAX)));
}

/* Without a delay the work is queued at once, and no timer is set: as on Linux. */
bool noinline queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *w, u64 delay_ns)
{
	unsigned long flags;
	bool claimed;

	local_irq_save(flags);
	claimed = claim_work(&w->work, delay_ns ? WORK_DELAYED : WORK_QUEUED);
	if (claimed) {
		w->wq = wq;
		if (delay_ns)
			start_delay(w, delay_ns);
		else
			insert_work(delayed_pool(w), &w->work);
	}
	local_irq_restore(flags);
	return claimed;
}
EXPORT_SYMBOL(queue_delayed_work);

bool schedule_delayed_work(struct delayed_work *w, u64 delay_ns)
{
	return queue_delayed_work(NULL, w, delay_ns);
}
EXPORT_SYMBOL(schedule_delayed_work);

/*
 * Stop its timer: then it belongs to us and becomes idle. Between the claim and the start of the timer there is nothing
 * to stop yet, so this looks again until the state is another one.
 */
static bool stop_delay(struct delayed_work *w)
{
	while (READ_ONCE(w->work.state) == WORK_DELAYED) {
		if (READ_ONCE(w->timer.base) && hrtimer_cancel(&w->timer) > 0) {
			smp_store_release(&w->work.state, WORK_IDLE);
			return true;
		}
		cpu_relax();
	}
	return false;
}

/* The timer first: once it cannot fire, it does not queue the work any more. */
bool cancel_delayed_work(struct delayed_work *w)
{
	return stop_delay(w) || cancel_work(&w->work);
}
EXPORT_SYMBOL(cancel_delayed_work);

bool cancel_delayed_work_sync(struct delayed_work *w)
{
	bool was_armed;

	atomic_inc(&w->work.canceled);
	smp_mb(); /* pairs with claim_work() */
	was_armed = stop_delay(w);
	was_armed |= cancel_work_sync(&w->work);
	atomic_dec(&w->work.canceled);
	return was_armed;
}
EXPORT_SYMBOL(cancel_delayed_work_sync);

bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *w, u64 delay_ns)
{
	bool was_pending = cancel_delayed_work(w);

	queue_delayed_work(wq, w, delay_ns);
	return was_pending;
}
EXPORT_SYMBOL(mod_delayed_work);

bool flush_delayed_work(struct delayed_work *w)
{
	if (stop_delay(w))
		queue_work(w->wq, &w->work);
	return flush_work(&w->work);
}
EXPORT_SYMBOL(flush_delayed_work);

/* ---- The workers of CPUs */

/* Make the worker of a CPU, unless there is one. 0 or -ENOMEM. */
static int make_worker(unsigned cpu)
{
	struct worker_pool *pool = cpu_pool(cpu);
	struct task_struct *t;

	if (pool->worker)
		return 0;
	t = kthread_create_on_cpu(worker_thread, pool, cpu, "kworker/%u:0", cpu);
	if (IS_ERR(t))
		return PTR_ERR(t);
	spin_lock_irq(&pool->lock);
	pool->worker = t;
	spin_unlock_irq(&pool->lock);
	return 0;
}

/*
 * While its CPU is not there the worker runs on any other one, as on Linux. So the pool works on: no work is lost or
 * has to move, and those that are queued meanwhile or whose delay ends are done.
 */
static int unbind_worker(unsigned cpu)
{
	return sched_setaffinity(cpu_pool(cpu)->worker, &cpu_possible_mask);
}

/* Works that were queued before a new worker's first look are found by it. */
static int bind_worker(unsigned cpu)
{
	struct task_struct *worker = cpu_pool(cpu)->worker;
	int ret = sched_setaffinity(worker, &cpu_bit_masks[cpu]);

	wake_up_process(worker);
	return ret;
}

static const struct cpuhp_step worker_prepare = {.name = "irq:kworker", .stage = CPUHP_PREPARE, .up = make_worker};
static const struct cpuhp_step worker_online = {
	.name = "irq:kworker", .stage = CPUHP_ONLINE, .up = bind_worker, .down = unbind_worker};
REGISTER_CPUHP(worker_prepare);
REGISTER_CPUHP(worker_online);

/* From here on works may be queued; they run when the workers have started. */
void workqueue_init_early(void)
{
	unsigned cpu;

	for_each_possible_cpu(cpu) {
		struct worker_pool *pool = cpu_pool(cpu);

		pool_init(pool, cpu, "events");
		pool->cpu = cpu;
		init_waitqueue_head(&pool->own_done);
		pool->done = &pool->own_done;
	}
}

/* Start the workers, kworker/N:0. */
static int workqueue_init(void)
{
	unsigned cpu;

	for_each_online_cpu(cpu) {
		if (make_worker(cpu))
			panic("cannot start kworker/%u", cpu);
		wake_up_process(cpu_pool(cpu)->worker);
	}
	return 0;
}
core_initcall(workqueue_init);
