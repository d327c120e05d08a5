/*
 * Futexes: sleeping on a word of user memory, with Linux's operations. The files share the name of a futex.
 *
 *	futex.c		futex(2), but for locks with priority inheritance
 *	futex_pi.c	those
 *	robust.c	what becomes of a thread's futexes when it ends
 */
#pragma once

#include <lib/types.h>
#include <mm/page.h>
#include <uapi/futex.h>

struct task_struct;

/*
 * What names a futex. Memory that is shared between processes has different addresses in each, so there it is the
 * physical address; else it is the address space and the address. A private and a shared operation on private memory
 * do not meet, as on Linux: the shared one has the address plus 1.
 *
 * A key holds the page of a physical address. Otherwise the page could become another program's when the memory is
 * unmapped, and a task that still waits there would be woken in the place of one of that program.
 */
struct futex_key {
	const void *space; /* mm, or NULL: `word` is physical */
	u64 word;
	struct page *page; /* with a reference; NULL: `word` is not physical */
};

static inline void hold_futex_key(const struct futex_key *key)
{
	if (key->page)
		get_page(key->page);
}
static inline void put_futex_key(const struct futex_key *key)
{
	if (key->page)
		put_page(key->page);
}

static inline bool same_futex_key(const struct futex_key *a, const struct futex_key *b)
{
	return a->space == b->space && a->word == b->word;
}

/*
 * Find the key of a word, for put_futex_key(): 0, -EINVAL for an address that is not aligned, -EFAULT, -EAGAIN. A
 * shared operation may fault and sleep.
 */
int get_futex_key(u32 __user *uaddr, bool shared, struct futex_key *key);

/*
 * One sleep of a waiter whose state is TASK_INTERRUPTIBLE already, until something wakes it or until `expires` on the
 * monotonic clock (KTIME_MAX: never). 0: look again; -EINTR: a signal is pending; -ETIMEDOUT.
 */
int futex_sleep(s64 expires);

/*
 * Wake up to `nr` sleepers on the word, and one when `nr` is less than 1: Linux has always done so, and programs may
 * count on it. Returns how many, -EINVAL, -EFAULT, -EAGAIN. Thread context.
 */
int futex_wake(u32 __user *uaddr, bool shared, int nr, u32 bitset);

/* futex_pi.c: FUTEX_LOCK_PI and its relatives. `expires` on the monotonic clock. 0 or -errno. */
int futex_lock_pi(u32 __user *uaddr, bool shared, s64 expires, bool try);
int futex_unlock_pi(u32 __user *uaddr, bool shared);
/*
 * Locks with priority inheritance that the current thread still has go to those who wait for them. At the thread's end,
 * or in exec, after its robust list was walked. Thread context; takes futex_pi_mutex.
 */
void futex_pi_exit(void);
/* The priority of a task that may wait for such a lock has changed. Thread context; takes futex_pi_mutex. */
void futex_pi_adjust(struct task_struct *p);
