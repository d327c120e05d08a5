/* What futex.c and futex_pi.c share: the name of a futex. */
#pragma once

#include <lib/types.h>
#include <mm/page.h>

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

/* futex_pi.c: FUTEX_LOCK_PI and its relatives. `expires` on the monotonic clock. 0 or -errno. */
int futex_lock_pi(u32 __user *uaddr, bool shared, s64 expires, bool try);
int futex_unlock_pi(u32 __user *uaddr, bool shared);
