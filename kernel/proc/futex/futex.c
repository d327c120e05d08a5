/*
 * Futexes: sleep as long as a word of user memory has a value.
 *
 * Why no wake-up is lost: a waiter enters the queue first and reads the word then. A waker changes the word
 * first and looks through the queue then. Both go through the bucket's lock, so either the waker finds the
 * waiter, or the waiter's read comes after the waker's look and sees the new value. No user memory is touched
 * under the lock.
 */
#include "futex.h"

#include <asm/uaccess.h>
#include <kernel/init.h>
#include <lib/errno.h>
#include <lib/hash.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <proc/fork.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <time/clock.h>
#include <time/ktime.h>
#include <time/posix.h>
#include <time/vdso.h>

#define BUCKET_BITS 8

struct futex_bucket {
	spinlock_t lock;
	struct list_head waiters; /* [lock] in order of arrival */
};
/* A sleeper, on its own stack. */
struct futex_waiter {
	struct list_head list;	     /* [bucket lock] */
	struct futex_bucket *bucket; /* where it is queued; NULL: it was woken [bucket lock; the waiter may read] */
	struct futex_key key;	     /* [bucket lock] requeueing changes it */
	struct task_struct *task;
	u32 bitset;
};
static struct futex_bucket buckets[1 << BUCKET_BITS];

static int futex_init(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(buckets); i++) {
		spin_lock_init(&buckets[i].lock);
		INIT_LIST_HEAD(&buckets[i].waiters);
	}
	return 0;
}
early_initcall(futex_init);

static struct futex_bucket *bucket_of(const struct futex_key *key)
{
	return &buckets[hash_64(key->word ^ (unsigned long)key->space, BUCKET_BITS)];
}

/*
 * The key of a word for a shared operation. The caller has just touched the page, so it is there unless it was
 * unmapped again at this moment (-EAGAIN: try again). 0, -EFAULT, -EAGAIN.
 */
static int shared_key(unsigned long addr, struct futex_key *key)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	int err = -EFAULT;
	pte_t *slot;

	mutex_lock(&mm->mmap_lock);
	vma = find_vma(mm, addr);
	if (!vma || vma->vm_start > addr)
		goto unlock;
	err = 0;
	if (!(vma->vm_flags & VM_SHARED)) {
		key->word = addr + 1;
		goto unlock; /* private memory: no other process can have this word */
	}
	slot = pte_lookup(mm->pgd, addr);
	if (slot && pte_present(*slot))
		*key = (struct futex_key){NULL, pte_phys(*slot) + addr % PAGE_SIZE, phys_to_page(pte_phys(*slot))};
	else
		err = -EAGAIN;
	if (!err)
		hold_futex_key(key); /* mmap_lock keeps the page mapped so far */
unlock:
	mutex_unlock(&mm->mmap_lock);
	return err;
}

/* The page of a shared word is touched first, so that it has a physical address. */
int get_futex_key(u32 __user *uaddr, bool shared, struct futex_key *key)
{
	unsigned long addr = (unsigned long)uaddr;
	u32 word __maybe_unused;

	if (addr % sizeof(u32))
		return -EINVAL;
	if (!access_ok(uaddr, sizeof(u32)))
		return -EFAULT;
	*key = (struct futex_key){current->mm, addr, NULL};
	if (!shared)
		return 0;
	if (get_user(word, uaddr))
		return -EFAULT;
	return shared_key(addr, key);
}

/*
 * Take the waiter off its queue and wake it. Its struct lies on its own stack: as soon as w->bucket is NULL the
 * waiter may return, and the struct is gone. So everything that is needed of it is read before. [bucket lock]
 */
static void wake_waiter(struct futex_waiter *w)
{
	struct task_struct *task = w->task;

	get_task_struct(task);
	list_del(&w->list);
	smp_store_release(&w->bucket, NULL);
	wake_up_state(task, TASK_NORMAL);
	put_task_struct(task);
}

/* The longest waiting first. A waiter that is woken leaves the queue at once, so it is counted once. */
int futex_wake(u32 __user *uaddr, bool shared, int nr, u32 bitset)
{
	struct futex_waiter *w, *next;
	struct futex_bucket *b;
	struct futex_key key;
	int woken = 0, err;

	if (!bitset)
		return -EINVAL;
	err = get_futex_key(uaddr, shared, &key);
	if (err)
		return err;
	nr = max(nr, 1);
	b = bucket_of(&key);
	spin_lock(&b->lock);
	list_for_each_entry_safe(w, next, &b->waiters, list) {
		if (woken >= nr)
			break;
		if (same_futex_key(&w->key, &key) && (w->bitset & bitset)) {
			wake_waiter(w);
			woken++;
		}
	}
	spin_unlock(&b->lock);
	put_futex_key(&key);
	return woken;
}

/*
 * Queue before looking at the word: a task that changes the word and wakes afterwards then finds us, or we see the new
 * value.
 */
static void queue_waiter(struct futex_waiter *w)
{
	struct futex_bucket *b = bucket_of(&w->key);

	spin_lock(&b->lock);
	w->bucket = b;
	list_add_tail(&w->list, &b->waiters);
	spin_unlock(&b->lock);
}

/* False: the task was woken, and is off the list already. */
static bool unqueue_waiter(struct futex_waiter *w)
{
	struct futex_bucket *b;

	while ((b = smp_load_acquire(&w->bucket))) {
		spin_lock(&b->lock);
		if (w->bucket == b) { /* else it was requeued, or woken */
			list_del(&w->list);
			spin_unlock(&b->lock);
			return true;
		}
		spin_unlock(&b->lock);
	}
	return false;
}

int futex_sleep(s64 expires)
{
	s64 left = KTIME_MAX;

	if (signal_pending(current))
		return -EINTR;
	if (expires != KTIME_MAX) {
		left = expires - ktime_get();
		if (left <= 0)
			return -ETIMEDOUT;
	}
	schedule_timeout_ns(left);
	return 0;
}

/* Returns 0: woken; -ETIMEDOUT; -ERESTARTSYS. `expires` on the monotonic clock, KTIME_MAX for ever. */
static int sleep_as_waiter(struct futex_waiter *w, s64 expires)
{
	int ret = 0;

	while (smp_load_acquire(&w->bucket)) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!smp_load_acquire(&w->bucket))
			break;
		ret = futex_sleep(expires);
		if (ret)
			break;
	}
	__set_current_state(TASK_RUNNING);
	return ret == -EINTR ? -ERESTARTSYS : ret;
}

/*
 * Sleep if the word is still `val`. The order decides: queue, then look, then sleep (see queue_waiter). 0 when woken,
 * -EAGAIN, -EFAULT, -EINVAL, -ETIMEDOUT, -ERESTARTSYS.
 */
static int futex_wait(u32 __user *uaddr, bool shared, u32 val, s64 expires, u32 bitset)
{
	struct futex_waiter w = {.task = current, .bitset = bitset};
	u32 now;
	int ret;

	if (!bitset)
		return -EINVAL;
	ret = get_futex_key(uaddr, shared, &w.key);
	if (ret)
		return ret;
	queue_waiter(&w);
	if (get_user(now, uaddr))
		ret = -EFAULT;
	else if (now != val)
		ret = -EAGAIN;
	else
		ret = sleep_as_waiter(&w, expires);
	/* Woken in spite of an error: the waker has counted this task, so it must not return the error. */
	if (!unqueue_waiter(&w))
		ret = 0;
	put_futex_key(&w.key); /* the one that a requeue has left */
	return ret;
}

static long futex_wait_restart(struct task_struct *t);

/*
 * A wait with an end that a signal interrupts goes on with the same end, as often as it takes: a relative time must not
 * start again from the beginning. Behind a handler it is EINTR.
 */
static long futex_wait_until(u32 __user *uaddr, bool shared, u32 val, s64 expires, u32 bitset)
{
	int ret = futex_wait(uaddr, shared, val, expires, bitset);

	if (ret != -ERESTARTSYS || expires == KTIME_MAX)
		return ret;
	current->restart_fn = futex_wait_restart;
	current->restart_data[0] = (u64)uaddr;
	current->restart_data[1] = shared | (u64)bitset << 1;
	current->restart_data[2] = val;
	current->restart_data[3] = expires;
	return -ERESTART_RESTARTBLOCK;
}

static long futex_wait_restart(struct task_struct *t)
{
	return futex_wait_until((u32 __user *)t->restart_data[0], t->restart_data[1] & 1, t->restart_data[2],
				t->restart_data[3], t->restart_data[1] >> 1);
}

/* Two buckets, which may be one: the lower address first. */
static void lock_two(struct futex_bucket *a, struct futex_bucket *b)
{
	spin_lock(a < b ? &a->lock : &b->lock);
	if (a != b)
		spin_lock(a < b ? &b->lock : &a->lock);
}

static void unlock_two(struct futex_bucket *a, struct futex_bucket *b)
{
	if (a != b)
		spin_unlock(&b->lock);
	spin_unlock(&a->lock);
}

/*
 * Wake nr_wake waiters of k1, and move nr_move others to k2 without waking them. A waiter's key holds a page; the
 * caller's keys hold the same pages, so no page is freed here. Gives how many were woken or moved.
 */
static int requeue_waiters(const struct futex_key *k1, const struct futex_key *k2, int nr_wake, int nr_move)
{
	struct futex_bucket *b1 = bucket_of(k1), *b2 = bucket_of(k2);
	struct futex_waiter *w, *next;
	int done = 0;

	lock_two(b1, b2);
	list_for_each_entry_safe(w, next, &b1->waiters, list) {
		if (done >= nr_wake && done - nr_wake >= nr_move) /* their sum may be too large for an int */
			break;
		if (!same_futex_key(&w->key, k1))
			continue;
		if (done++ < nr_wake) {
			wake_waiter(w);
			continue;
		}
		hold_futex_key(k2);
		put_futex_key(&w->key);
		w->key = *k2;
		if (b1 != b2) {
			list_move_tail(&w->list, &b2->waiters);
			smp_store_release(&w->bucket, b2);
		}
	}
	unlock_two(b1, b2);
	return done;
}

/*
 * A broadcast on a condition variable moves its waiters to the mutex that they all want next. With `expect` only while
 * the word has that value. Gives how many were woken or moved, or -errno.
 */
static int futex_requeue(u32 __user *from, u32 __user *to, bool shared, int nr_wake, int nr_move, const u32 *expect)
{
	struct futex_key k1, k2;
	int res;
	u32 now;

	if (nr_wake < 0 || nr_move < 0)
		return -EINVAL;
	res = get_futex_key(from, shared, &k1);
	if (res)
		return res;
	res = get_futex_key(to, shared, &k2);
	if (res)
		goto put_first;
	/*
	 * The comparison comes before the queue is locked: a change in between is as one right after the
	 * call, which condition variables cope with, since they check their own sequence after waking.
	 */
	if (expect && get_user(now, from))
		res = -EFAULT;
	else if (expect && now != *expect)
		res = -EAGAIN;
	else
		res = requeue_waiters(&k1, &k2, nr_wake, nr_move);
	put_futex_key(&k2);
put_first:
	put_futex_key(&k1);
	return res;
}

/* The absolute monotonic time a wait ends. FUTEX_WAIT's is relative, the bitset kind's absolute, on either
 * clock. */
static int futex_wait_expires(const struct timespec __user *utime, int op, s64 *expires)
{
	u64 ns, offset;
	int ret;

	*expires = KTIME_MAX;
	if (!utime)
		return 0;
	ret = get_timespec_ns(utime, &ns);
	if (ret)
		return ret;
	if ((op & FUTEX_CMD_MASK) == FUTEX_WAIT) {
		*expires = ktime_add_safe(ktime_get(), ns);
		return 0;
	}
	offset = op & FUTEX_CLOCK_REALTIME ? wall_clock_offset() : 0;
	if (ns != KTIME_MAX) /* that is "never", on either clock */
		*expires = ns > offset ? ns - offset : 0;
	return 0;
}

/* The time-out of FUTEX_WAIT is a span, that of FUTEX_WAIT_BITSET a moment (futex_wait_expires). */
static long do_futex_wait(u32 __user *uaddr, int op, u32 val, const struct timespec __user *utime, u32 bitset)
{
	bool shared = !(op & FUTEX_PRIVATE_FLAG);
	s64 expires;
	int ret = futex_wait_expires(utime, op, &expires);

	if (ret)
		return ret;
	return futex_wait_until(uaddr, shared, val, expires, bitset);
}

/* LOCK_PI's time-out is a moment of the wall clock, LOCK_PI2's one of either clock. */
static long do_futex_lock_pi(u32 __user *uaddr, int op, const struct timespec __user *utime)
{
	s64 expires;
	int ret;

	if ((op & FUTEX_CMD_MASK) == FUTEX_LOCK_PI)
		op |= FUTEX_CLOCK_REALTIME;
	ret = futex_wait_expires(utime, op, &expires);
	return ret ? ret : futex_lock_pi(uaddr, !(op & FUTEX_PRIVATE_FLAG), expires, false);
}

/*
 * One call for all operations; those that we lack, WAKE_OP and requeueing to a lock with priority inheritance among
 * them, are -ENOSYS, as on a Linux built without.
 */
SYSCALL_DEFINE6(futex, u32 __user *, uaddr, int, op, u32, val, const struct timespec __user *, utime, u32 __user *,
		uaddr2, u32, val3)
{
	bool shared = !(op & FUTEX_PRIVATE_FLAG);
	int val2 = (int)(unsigned long)utime; /* requeueing has a number there */

	if ((op & FUTEX_CLOCK_REALTIME) && (op & FUTEX_CMD_MASK) != FUTEX_WAIT_BITSET &&
	    (op & FUTEX_CMD_MASK) != FUTEX_LOCK_PI2)
		return -ENOSYS;
	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
		return do_futex_wait(uaddr, op, val, utime, FUTEX_BITSET_ANY);
	case FUTEX_WAIT_BITSET:
		return do_futex_wait(uaddr, op, val, utime, val3);
	case FUTEX_WAKE:
		return futex_wake(uaddr, shared, val, FUTEX_BITSET_ANY);
	case FUTEX_WAKE_BITSET:
		return futex_wake(uaddr, shared, val, val3);
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return do_futex_lock_pi(uaddr, op, utime);
	case FUTEX_TRYLOCK_PI:
		return futex_lock_pi(uaddr, shared, KTIME_MAX, true);
	case FUTEX_UNLOCK_PI:
		return futex_unlock_pi(uaddr, shared);
	case FUTEX_REQUEUE:
		return futex_requeue(uaddr, uaddr2, shared, val, val2, NULL);
	case FUTEX_CMP_REQUEUE:
		return futex_requeue(uaddr, uaddr2, shared, val, val2, &val3);
	}
	return -ENOSYS;
}
