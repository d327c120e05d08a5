/*
 * Pages of shared anonymous mappings. Parent and child see one set of pages, and each page is made when one of them
 * touches it first. The set is an array of pointers with a count of the areas that hold it; each pointer has a
 * reference to its page, and each mapping of the page has another.
 *
 * A page stays as long as one area holds the set, also when no process maps it any more. So the pages count for the
 * user that has made the mapping, and with them the array, which is there before a page is touched.
 */
#include <lib/atomic.h>
#include <mm/slab.h>
#include <proc/cred.h>
#include <sched/current.h>
#include <sched/sched.h>

#include "vma.h"

/* Locks: a atomic; I immutable. */
struct shm_pages {
	atomic_t count;		  /* [a] areas that hold it */
	unsigned long nr;	  /* [I] */
	struct user_struct *user; /* [I] with a reference */
	struct page *pages[];	  /* [a] NULL until first touched; each holds a reference */
};

static size_t shm_bytes(unsigned long nr)
{
	return sizeof(struct shm_pages) + nr * sizeof(struct page *);
}

/* More pages than there is RAM are refused; the array itself is as large as the mapping, page by page. */
struct shm_pages *shm_create(unsigned long nr)
{
	struct user_struct *user = get_task_user(current);
	struct shm_pages *shm;

	if (nr > totalram_pages() || !user_charge_memory(user, shm_bytes(nr)))
		goto put_user;
	shm = kvzalloc(shm_bytes(nr), GFP_KERNEL);
	if (!shm)
		goto uncharge;
	atomic_set(&shm->count, 1);
	shm->nr = nr;
	shm->user = user;
	return shm;

uncharge:
	user_uncharge_memory(user, shm_bytes(nr));
put_user:
	put_user_struct(user);
	return NULL;
}

void shm_get(struct shm_pages *shm)
{
	atomic_inc(&shm->count);
}

void shm_put(struct shm_pages *shm)
{
	if (!atomic_dec_and_test(&shm->count))
		return;
	for (unsigned long i = 0; i < shm->nr; i++) {
		if (shm->pages[i]) {
			atomic64_add(-1, &shm->user->shared_pages);
			put_page(shm->pages[i]);
		}
	}
	user_uncharge_memory(shm->user, shm_bytes(shm->nr));
	put_user_struct(shm->user);
	kvfree(shm);
}

bool shm_has_page(const struct shm_pages *shm, unsigned long index)
{
	return index < shm->nr && READ_ONCE(shm->pages[index]);
}

/*
 * Faults of different address spaces may come here at once: the exchange lets one page win, and the others are freed.
 * It is fully ordered, so that a CPU that finds the pointer also finds the zeroes.
 */
struct page *shm_get_page(struct shm_pages *shm, unsigned long index)
{
	struct page *page, *winner;

	if (index >= shm->nr)
		return ERR_PTR(-EIO);
	page = smp_load_acquire(&shm->pages[index]);
	if (!page) {
		page = alloc_page(GFP_USER | __GFP_ZERO);
		if (!page)
			return ERR_PTR(-ENOMEM);
		winner = cmpxchg(&shm->pages[index], NULL, page);
		if (winner) {
			put_page(page);
			page = winner;
		} else {
			atomic64_inc(&shm->user->shared_pages);
		}
	}
	get_page(page);
	return page;
}
