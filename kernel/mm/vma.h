/* What the files of user memory share among themselves. [m] mmap_lock held, as in <mm/mm.h>. */
#pragma once

#include <fs/vfs.h>
#include <kernel/panic.h>
#include <lib/errno.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <sched/spinlock.h>

extern struct page *zero_page;

/* vma.c */
void vma_init(void);
struct vm_area_struct *vma_alloc(struct mm_struct *mm, unsigned long start, unsigned long end,
				 unsigned flags);
struct vm_area_struct *vma_dup(struct mm_struct *mm,
			       const struct vm_area_struct *vma); /* with its references */
void vma_free(struct vm_area_struct *vma);			  /* drops the references to file and pages */
void vma_insert(struct mm_struct *mm, struct vm_area_struct *vma); /* [m] */
void vma_remove(struct vm_area_struct *vma);			   /* [m] */
int vma_split(struct vm_area_struct *vma, unsigned long addr); /* [m] at addr, a new area above; -ENOMEM */
/* [m] Unite with the neighbours where all is alike; returns the area that holds what `vma` held. */
struct vm_area_struct *vma_merge(struct vm_area_struct *vma);
struct vm_area_struct *vma_prev(struct vm_area_struct *vma); /* [m] NULL: first */
struct vm_area_struct *vma_next(struct vm_area_struct *vma); /* [m] NULL: last */

/* mmap.c. The flags of an area as PROT_* and back. */
unsigned prot_to_vm_flags(unsigned prot);
int unmap_locked(struct mm_struct *mm, unsigned long start,
		 unsigned long end); /* [m] munmap of whole pages */
/* [m] Highest free place of `len` bytes below mmap_base; -ENOMEM. */
long get_unmapped_area(struct mm_struct *mm, unsigned long addr, unsigned long len);

/* zap.c */
void zap_range(struct mm_struct *mm, unsigned long start, unsigned long end); /* [m] */
void exit_mmap(struct mm_struct *mm);					      /* the last user is gone */

/* shm.c: pages of shared anonymous mappings, made as they are touched. */
struct shm_pages *shm_create(unsigned long nr); /* NULL: out of memory */
void shm_get(struct shm_pages *shm);
void shm_put(struct shm_pages *shm);
struct page *shm_get_page(struct shm_pages *shm, unsigned long index); /* with a reference; ERR_PTR */

/*
 * For walks by pte_range() under the page-table lock: as the walk's function returns what this returns, the walk ends
 * with 1 after so many entries, and its caller lets the lock go, so that others can run, before it goes on at `next`.
 * That is safe for who holds the mmap_lock: nobody else makes or takes entries then.
 */
#define PAUSE_AFTER 128
struct pte_pause {
	unsigned nr;
	unsigned long next;
};
static inline int pte_pause(struct pte_pause *pause, unsigned long va)
{
	pause->next = va + PAGE_SIZE;
	return ++pause->nr % PAUSE_AFTER == 0;
}

static inline unsigned long vma_pages(const struct vm_area_struct *vma)
{
	return (vma->vm_end - vma->vm_start) >> PAGE_SHIFT;
}
/* Count a page in or out of the address space. [p] */
static inline void count_page(struct mm_struct *mm, const struct page *page, int n)
{
	if (page != zero_page)
		atomic_add(n, page->flags & PG_ANON ? &mm->rss_anon : &mm->rss_file);
}
