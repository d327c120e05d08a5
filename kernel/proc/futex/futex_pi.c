/*
 * Futexes with priority inheritance: FUTEX_LOCK_PI, LOCK_PI2, TRYLOCK_PI, UNLOCK_PI.
 *
 * The word of such a lock is 0 or the number of the thread that has it, with FUTEX_WAITERS once another one waits.
 * Without waiters a program takes it and gives it up by itself. With waiters the kernel knows both sides:
 *
 *     task --pi_waits--> waiter --> futex --owner--> task --pi_waits--> waiter --> futex --owner--> ...
 *                                     |
 *                                   waiters: those who want it
 *
 * An owner runs with the best priority of all that wait for what it owns, and of those who wait for them: a change goes
 * along the chain until it changes nothing (adjust_chain). A chain that would lead back to its beginning is EDEADLK. A
 * deadline task that waits lends the highest real-time priority: a budget cannot be lent.
 *
 * A lock is never free while somebody waits. The task that unlocks it writes the number of the next owner, the best
 * waiter, into the word. When an owner ends (or executes another program), the best waiter is told that it owns the
 * lock now, and writes the word itself, with FUTEX_OWNER_DIED, since the dead cannot reach every word: `unsettled`
 * keeps the futex until that is done, so that others who look meanwhile queue up behind the new owner.
 *
 * Locks: futex_pi_mutex [m] guards all of this. User memory is touched under it, so it lies outside mmap_lock; and it
 * is outside pi_lock. Operations that need the kernel are rare, which makes one mutex enough.
 */
#include "futex.h"

#include <asm/uaccess.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <sched/mutex.h>
#include <sched/sched.h>
#include <time/clock.h>
#include <time/ktime.h>

/* A lock that somebody waits for. */
struct pi_futex {
	struct list_head list; /* [m] in futexes */
	struct futex_key key;
	struct task_struct *owner;   /* [m] with a reference */
	struct pi_futex *next_owned; /* [m] of the same owner */
	struct list_head waiters;    /* [m] in order of arrival */
	bool unsettled;		     /* [m] the owner has not written the word yet */
};
/* A waiter; it lies on the stack of the task that waits. */
struct pi_waiter {
	struct list_head list;	/* [m] */
	struct pi_futex *futex; /* [m] what it waits for, or has got */
	struct task_struct *task;
	bool granted;	/* [m writes] it owns the lock now */
	bool unsettled; /* [m] and must write the word */
};

static DEFINE_MUTEX(futex_pi_mutex);
static LIST_HEAD(futexes); /* [m] */

/* [m] */
static struct pi_futex *find_futex(const struct futex_key *key)
{
	struct pi_futex *f;

	list_for_each_entry(f, &futexes, list)
		if (same_futex_key(&f->key, key))
			return f;
	return NULL;
}

/* [m] The one with the best priority, and of equals the first; NULL: nobody waits. */
static struct pi_waiter *best_waiter(const struct pi_futex *f)
{
	struct pi_waiter *w, *best = NULL;

	list_for_each_entry(w, &f->waiters, list)
		if (!best || READ_ONCE(w->task->prio) < READ_ONCE(best->task->prio))
			best = w;
	return best;
}

/* [m] The best priority that waiters lend to a task; MAX_PRIO: none does. */
static int lent_prio(const struct task_struct *t)
{
	int prio = MAX_PRIO;

	for (const struct pi_futex *f = t->pi_owns; f; f = f->next_owned) {
		const struct pi_waiter *w = best_waiter(f);

		if (w)
			prio = min(prio, max(READ_ONCE(w->task->prio), 0));
	}
	return prio;
}

/* [m] The task that this task waits for; NULL: it waits for no task. */
static struct task_struct *waits_for(const struct task_struct *t)
{
	return t->pi_waits ? t->pi_waits->futex->owner : NULL;
}

/* [m] What is lent to `t` may have changed: tell the scheduler, and go on to the one that `t` itself waits for. */
static void adjust_chain(struct task_struct *t)
{
	for (; t; t = waits_for(t)) {
		int prio = lent_prio(t);

		if (prio == t->pi_prio)
			return;
		sched_set_pi_prio(t, prio);
	}
}

/* [m] */
static void set_owner(struct pi_futex *f, struct task_struct *t)
{
	get_task_struct(t);
	f->owner = t;
	f->next_owned = t->pi_owns;
	t->pi_owns = f;
}

/* [m] The caller adjusts what the old owner is lent. */
static void drop_owner(struct pi_futex *f)
{
	struct pi_futex **link = &f->owner->pi_owns;

	while (*link != f)
		link = &(*link)->next_owned;
	*link = f->next_owned;
	put_task_struct(f->owner);
}

/* [m] A futex that nobody waits for is one that the kernel need not know. */
static void forget_if_idle(struct pi_futex *f)
{
	if (!list_empty(&f->waiters) || f->unsettled)
		return;
	drop_owner(f);
	list_del(&f->list);
	put_futex_key(&f->key);
	kfree(f);
}

/* [m] The caller, which owns the lock, hands it to this waiter. */
static void futex_pi_grant(struct pi_futex *f, struct pi_waiter *w, bool unsettled)
{
	struct task_struct *t = w->task;

	list_del(&w->list);
	drop_owner(f);
	set_owner(f, t);
	f->unsettled = unsettled;
	t->pi_waits = NULL;
	w->unsettled = unsettled;
	WRITE_ONCE(w->granted, true);
	adjust_chain(t);
	wake_up_state(t, TASK_NORMAL);
	forget_if_idle(f);
}

/* Exchange the word if it is `old`: 0, -EAGAIN: it is another one by now; -EFAULT. */
static int change_word(u32 __user *uaddr, u32 old, u32 new)
{
	struct user_value was = __cmpxchg_user_4(old, new, uaddr);

	return was.error ? -EFAULT : was.value == old ? 0 : -EAGAIN;
}

/*
 * [m] The thread whose number is in the word, with a reference. ERR_PTR: -EPERM for one of the kernel's; -ESRCH when
 * there is none, or it has given up all it had and the word still has its number: nobody would ever unlock it.
 */
static struct task_struct *owner_of_word(u32 word)
{
	struct task_struct *t = find_get_task(word & FUTEX_TID_MASK);
	int err = 0;

	if (!t)
		return ERR_PTR(-ESRCH);
	if (t->flags & PF_KTHREAD)
		err = -EPERM;
	else if (t->pi_closed)
		err = -ESRCH;
	if (!err)
		return t;
	put_task_struct(t);
	return ERR_PTR(err);
}

/* [m] The kernel gets to know a lock that was taken without it. ERR_PTR. */
static struct pi_futex *new_futex(const struct futex_key *key, u32 word)
{
	struct task_struct *owner = owner_of_word(word);
	struct pi_futex *f;

	if (IS_ERR(owner))
		return ERR_PTR(PTR_ERR(owner));
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (f) {
		f->key = *key;
		hold_futex_key(key);
		INIT_LIST_HEAD(&f->waiters);
		set_owner(f, owner);
		list_add_tail(&f->list, &futexes);
	}
	put_task_struct(owner);
	return f ? f : ERR_PTR(-ENOMEM);
}

/*
 * [m] Take the lock if it is free: NULL, and it is the caller's. Else the futex to wait for, and FUTEX_WAITERS is in
 * the word. ERR_PTR: -EDEADLK; -EAGAIN: the word has changed meanwhile; -EINVAL: it is free, although somebody waits;
 * and what owner_of_word() says.
 *
 * The word of an owner that is dying has no number any more from the walk along its robust list (exit_robust_list) to
 * futex_pi_exit(), which hands the lock on. A task that comes in between becomes a waiter like those before it.
 */
static struct pi_futex *take_or_find(u32 __user *uaddr, const struct futex_key *key)
{
	struct pi_futex *f = find_futex(key);
	u32 word;
	int err;

	if (get_user(word, uaddr))
		return ERR_PTR(-EFAULT);
	if ((word & FUTEX_TID_MASK) == (u32)current->pid)
		return ERR_PTR(-EDEADLK);
	if (f)
		return word & (FUTEX_TID_MASK | FUTEX_OWNER_DIED) || f->unsettled ? f : ERR_PTR(-EINVAL);
	if (!(word & FUTEX_TID_MASK)) {
		err = change_word(uaddr, word, (word & FUTEX_OWNER_DIED) | (u32)current->pid);
		return err ? ERR_PTR(err) : NULL;
	}
	err = word & FUTEX_WAITERS ? 0 : change_word(uaddr, word, word | FUTEX_WAITERS);
	return err ? ERR_PTR(err) : new_futex(key, word);
}

/* Sleep until the lock is ours: 0, -ETIMEDOUT, or -ERESTARTNOINTR: a signal, after which the call is made again. */
static int sleep_for_lock(const struct pi_waiter *w, s64 expires)
{
	int ret = 0;

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (READ_ONCE(w->granted))
			break;
		ret = futex_sleep(expires);
		if (ret)
			break;
	}
	__set_current_state(TASK_RUNNING);
	return ret == -EINTR ? -ERESTARTNOINTR : ret;
}

/* [m] The owner has died: the word becomes ours, and says so. */
static int settle(u32 __user *uaddr, struct pi_futex *f)
{
	u32 word, waiters = list_empty(&f->waiters) ? 0 : FUTEX_WAITERS;
	int err;

	do {
		err = get_user(word, uaddr) ? -EFAULT
					    : change_word(uaddr, word, (u32)current->pid | waiters | FUTEX_OWNER_DIED);
	} while (err == -EAGAIN);
	f->unsettled = false;
	forget_if_idle(f);
	return err;
}

/* [m, released meanwhile] Become a waiter. What the wait was for may be gone when it returns. 0 or -errno. */
static int wait_for_lock(u32 __user *uaddr, struct pi_futex *f, s64 expires)
{
	struct pi_waiter w = {.futex = f, .task = current};
	int ret;

	for (struct task_struct *t = f->owner; t; t = waits_for(t))
		if (t == current) {
			forget_if_idle(f);
			return -EDEADLK;
		}
	list_add_tail(&w.list, &f->waiters);
	current->pi_waits = &w;
	adjust_chain(f->owner);
	mutex_unlock(&futex_pi_mutex);
	ret = sleep_for_lock(&w, expires);
	mutex_lock(&futex_pi_mutex);
	if (w.granted) /* in spite of an error: nobody else will unlock it */
		return w.unsettled ? settle(uaddr, f) : 0;
	list_del(&w.list);
	current->pi_waits = NULL;
	adjust_chain(f->owner);
	forget_if_idle(f);
	return ret;
}

/* The word may change between the look and the exchange: then it is looked at again. */
int futex_lock_pi(u32 __user *uaddr, bool shared, s64 expires, bool try)
{
	struct futex_key key;
	struct pi_futex *f;
	int ret;

	do {
		ret = get_futex_key(uaddr, shared, &key);
		if (ret)
			return ret;
		mutex_lock(&futex_pi_mutex);
		f = take_or_find(uaddr, &key);
		ret = PTR_ERR(f);
		if (f && !IS_ERR(f)) {
			ret = try ? -EWOULDBLOCK : wait_for_lock(uaddr, f, expires);
			if (try)
				forget_if_idle(f);
		}
		mutex_unlock(&futex_pi_mutex);
		put_futex_key(&key);
	} while (ret == -EAGAIN && IS_ERR(f) && !fatal_signal_pending(current));
	return ret;
}

/* [m] Without waiters the word becomes 0, else the number of the next owner. */
static int unlock_locked(u32 __user *uaddr, struct pi_futex *f)
{
	struct pi_waiter *w = f ? best_waiter(f) : NULL;
	u32 word, next = w ? (u32)w->task->pid | FUTEX_WAITERS : 0;
	int err;

	if (get_user(word, uaddr))
		return -EFAULT;
	if ((word & FUTEX_TID_MASK) != (u32)current->pid)
		return -EPERM;
	if (f && f->owner != current)
		return -EINVAL;
	err = change_word(uaddr, word, next);
	if (!err && w) {
		futex_pi_grant(f, w, false);
		adjust_chain(current);
	}
	return err;
}

/* As in futex_lock_pi(), the word may change between the look and the exchange. */
int futex_unlock_pi(u32 __user *uaddr, bool shared)
{
	struct futex_key key;
	int ret;

	do {
		ret = get_futex_key(uaddr, shared, &key);
		if (ret)
			return ret;
		mutex_lock(&futex_pi_mutex);
		ret = unlock_locked(uaddr, find_futex(&key));
		mutex_unlock(&futex_pi_mutex);
		put_futex_key(&key);
	} while (ret == -EAGAIN);
	return ret;
}

/* Its robust list was walked before, so words in that list say already that their owner has died. */
void futex_pi_exit(void)
{
	struct pi_futex *f;

	mutex_lock(&futex_pi_mutex);
	current->pi_closed = true;
	while ((f = current->pi_owns))
		futex_pi_grant(f, best_waiter(f), true);
	adjust_chain(current);
	mutex_unlock(&futex_pi_mutex);
}

void futex_pi_adjust(struct task_struct *p)
{
	mutex_lock(&futex_pi_mutex);
	adjust_chain(waits_for(p));
	mutex_unlock(&futex_pi_mutex);
}
