/* Mutexes: one compare-and-exchange when free, spinning while the owner runs, else a queue of sleepers. */
#include <arch/processor.h>
#include <kernel/export.h>
#include <kernel/panic.h>
#include <kernel/smp.h>
#include <sched/mutex.h>
#include <sched/sched.h>
#include <trace/events/lock.h>

struct mutex_waiter {
	struct list_head list;
	struct task_struct *task;
};

bool mutex_is_locked(struct mutex *m)
{
	return mutex_owner(m);
}
EXPORT_SYMBOL(mutex_is_locked);

/* Take it if it is free, keeping the flags of the waiters. Acquire pairs with the release in unlock. */
static bool try_acquire(struct mutex *m)
{
	unsigned long old = READ_ONCE(m->owner);

	while (!owner_task(old))
		if (__atomic_compare_exchange_n(&m->owner, &old, (unsigned long)current | old, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
	return false;
}

/* The same, for a waiter: unlock may also have handed the mutex over to us. */
static bool try_acquire_handoff(struct mutex *m)
{
	if (owner_task(__atomic_load_n(&m->owner, __ATOMIC_ACQUIRE)) == current)
		return true;
	return try_acquire(m);
}

/*
 * Spin while the owner runs on another CPU: it will be through sooner than a sleep and a wake-up take. Not when this
 * task is to be preempted. The owner may exit meanwhile: its task_struct is freed only after a grace period, which does
 * not end while preemption is off here.
 */
static bool mutex_optimistic_spin(struct mutex *m)
{
	struct task_struct *owner;
	bool got = false;

	preempt_disable();
	while (!need_resched()) {
		owner = mutex_owner(m);
		if (!owner) {
			got = try_acquire(m);
			if (got)
				break;
			continue;
		}
		if (!READ_ONCE(owner->on_cpu))
			break;
		cpu_relax();
	}
	preempt_enable();
	return got;
}

/* Sleep until it is ours. Context: wait_lock held, dropped while sleeping. */
static int wait_for_mutex(struct mutex *m, struct mutex_waiter *w, unsigned state)
{
	bool overtaken = false;

	for (;;) {
		if (try_acquire_handoff(m))
			return 0;
		if ((state & TASK_INTERRUPTIBLE) && signal_pending(current))
			return -EINTR;
		if (overtaken && list_first_entry(&m->waiters, struct mutex_waiter, list) == w)
			__atomic_fetch_or(&m->owner, MUTEX_HANDOFF, __ATOMIC_RELAXED);
		/*
		 * The unlocker takes wait_lock to wake us, and we hold that from the store of the state until the
		 * sleep: it finds us asleep. If it cleared the owner before it could see our flags, the retry below
		 * finds the mutex free.
		 */
		set_current_state(state);
		if (try_acquire_handoff(m))
			return 0;
		spin_unlock(&m->wait_lock);
		schedule();
		spin_lock(&m->wait_lock);
		overtaken = true;
	}
}

/*
 * The lock was taken: spin while its owner runs, else queue up and sleep. The bit MUTEX_WAITERS goes into the owner's
 * word under wait_lock and after queueing: an unlock that does not see it cannot have missed us, since wait_for_mutex()
 * tries again before it sleeps. state: what to sleep in. 0 or -EINTR. Thread context.
 */
static int noinline __mutex_lock_slowpath(struct mutex *m, unsigned state)
{
	struct mutex_waiter w = {.task = current};
	int ret;

	BUG_ON(mutex_owner(m) == current);
	trace_contention_begin(m, LCB_F_MUTEX | LCB_F_SPIN);
	if (nr_cpu_ids > 1 && mutex_optimistic_spin(m)) {
		trace_contention_end(m, 0);
		return 0;
	}
	spin_lock(&m->wait_lock);
	list_add_tail(&w.list, &m->waiters);
	__atomic_fetch_or(&m->owner, MUTEX_WAITERS, __ATOMIC_RELAXED);
	trace_contention_begin(m, LCB_F_MUTEX);
	ret = wait_for_mutex(m, &w, state);
	__set_current_state(TASK_RUNNING);
	/* Only the first waiter asks for a hand-over; when it leaves the queue, as owner or not, that is over. */
	if (list_first_entry(&m->waiters, struct mutex_waiter, list) == &w)
		__atomic_fetch_and(&m->owner, ~MUTEX_HANDOFF, __ATOMIC_RELAXED);
	list_del(&w.list);
	if (list_empty(&m->waiters))
		__atomic_fetch_and(&m->owner, ~MUTEX_WAITERS, __ATOMIC_RELAXED);
	trace_contention_end(m, ret);
	spin_unlock(&m->wait_lock);
	return ret;
}

static inline bool mutex_fast_lock(struct mutex *m)
{
	unsigned long zero = 0;

	return __atomic_compare_exchange_n(&m->owner, &zero, (unsigned long)current, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

void mutex_lock(struct mutex *m)
{
	if (unlikely(!mutex_fast_lock(m)))
		__mutex_lock_slowpath(m, TASK_UNINTERRUPTIBLE);
}
EXPORT_SYMBOL(mutex_lock);

int mutex_lock_interruptible(struct mutex *m)
{
	if (likely(mutex_fast_lock(m)))
		return 0;
	return __mutex_lock_slowpath(m, TASK_INTERRUPTIBLE);
}
EXPORT_SYMBOL(mutex_lock_interruptible);

bool mutex_trylock(struct mutex *m)
{
	return mutex_fast_lock(m) || try_acquire(m);
}
EXPORT_SYMBOL(mutex_trylock);

/* There are waiters: set the mutex free or give it to the first of them, and wake that one. Thread context. */
static void noinline __mutex_unlock_slowpath(struct mutex *m)
{
	struct mutex_waiter *w = NULL;
	unsigned long old, next;

	spin_lock(&m->wait_lock);
	if (!list_empty(&m->waiters))
		w = list_first_entry(&m->waiters, struct mutex_waiter, list);
	old = READ_ONCE(m->owner);
	do {
		BUG_ON(owner_task(old) != current);
		next = old & MUTEX_FLAGS;
		if (w && (old & MUTEX_HANDOFF))
			next = (unsigned long)w->task | MUTEX_WAITERS;
	} while (!__atomic_compare_exchange_n(&m->owner, &old, next, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	if (w)
		wake_up_process(w->task);
	spin_unlock(&m->wait_lock);
}

void mutex_unlock(struct mutex *m)
{
	unsigned long old = (unsigned long)current;

	if (unlikely(!__atomic_compare_exchange_n(&m->owner, &old, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)))
		__mutex_unlock_slowpath(m);
}
EXPORT_SYMBOL(mutex_unlock);
