/*
 * Pages of shared anonymous mappings. Parent and child see one set of pages, and each page is made when one of them
 * touches it first. The set is an array of pointers with a count of the areas that hold it; each pointer has a
 * reference to its page, and each mapping of the page has another.
 */
#include <lib/atomic.h>
#include <mm/slab.h>

#include "vma.h"

/* Locks: a atomic; I immutable. */
struct shm_pages {
	atomic_t count;	      /* [a] areas that hold it */
	unsigned long nr;     /* [I] */
	struct page *pages[]; /* [a] NULL until first touched; each holds a reference */
};

/* More pages than there is RAM are refused; the array itself is as large as the mapping, page by page. */
struct shm_pages *shm_create(unsigned long nr)
{
	struct shm_pages *shm;

	if (nr > totalram_pages())
		return NULL;
	shm = kvzalloc(sizeof(*shm) + nr * sizeof(shm->pages[0]), GFP_KERNEL);
	if (!shm)
		return NULL;
	atomic_set(&shm->count, 1);
	shm->nr = nr;
	return shm;
}

void shm_get(struct shm_pages *shm)
{
	atomic_inc(&shm->count);
}

void shm_put(struct shm_pages *shm)
{
	if (!atomic_dec_and_test(&shm->count))
		return;
	for (unsigned long i = 0; i < shm->nr; i++)
		if (shm->pages[i])
			put_page(shm->pages[i]);
	kvfree(shm);
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
		}
	}
	get_page(page);
	return page;
}
