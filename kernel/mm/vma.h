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
/* [m of old] The tree and the counts of a copy whose list is complete: each area of `old` says which is its
 * own. */
void vma_copy_tree(struct mm_struct *new, const struct mm_struct *old);
/* [m] Another start or end, in whole pages, within what is free around it. */
void vma_set_range(struct vm_area_struct *vma, unsigned long start, unsigned long end);
/* [m] The highest area before `before` (NULL: of all) with a free hole of `len` bytes right below it; NULL.
 */
struct vm_area_struct *vma_above_hole(struct mm_struct *mm, struct vm_area_struct *before, unsigned long len);
int vma_split(struct vm_area_struct *vma, unsigned long addr); /* [m] at addr, a new area above; -ENOMEM */
/* [m] Unite with the neighbours where all is alike; returns the area that holds what `vma` held. */
struct vm_area_struct *vma_merge(struct vm_area_struct *vma);
struct vm_area_struct *vma_prev(struct vm_area_struct *vma); /* [m] NULL: first */
struct vm_area_struct *vma_next(struct vm_area_struct *vma); /* [m] NULL: last */

/* How many areas an address space may have: vm.max_map_count. As on Linux, mmap looks before it adds one. [a]
 */
extern unsigned sysctl_max_map_count;

/* mmap.c. The flags of an area as PROT_* and back. */
unsigned prot_to_vm_flags(unsigned prot);
int unmap_locked(struct mm_struct *mm, unsigned long start,
		 unsigned long end); /* [m] munmap of whole pages */
/* [m] Highest free place of `len` bytes below mmap_base; -ENOMEM. */
long get_unmapped_area(struct mm_struct *mm, unsigned long addr, unsigned long len);

/* limits.c: may so many pages come, as VM_* flags say? The limits are the current process's, also for the memory that
 * exec builds. [m] */
bool may_expand_vm(struct mm_struct *mm, unsigned vm_flags, unsigned long pages);
bool may_expand_data(struct mm_struct *mm, unsigned vm_flags, unsigned long pages); /* RLIMIT_DATA alone */
void count_page_fault(void); /* vmstat.c. Thread context */
/* maps.c: the line of /proc/<pid>/maps. path: a page to work in. [m] */
struct seq_file;
void show_area(struct seq_file *m, const struct vm_area_struct *vma, char *path);

/* zap.c */
void zap_range(struct mm_struct *mm, unsigned long start, unsigned long end); /* [m] */
void exit_mmap(struct mm_struct *mm);					      /* the last user is gone */

/* shm.c: pages of shared anonymous mappings, made as they are touched. */
struct shm_pages *shm_create(unsigned long nr); /* NULL: out of memory */
void shm_get(struct shm_pages *shm);
void shm_put(struct shm_pages *shm);
struct page *shm_get_page(struct shm_pages *shm, unsigned long index); /* with a reference; ERR_PTR */

/*
 * For walks by pte_range() under the page-table lock: as the walk's function returns what this returns, the
 * walk ends with 1 after so many entries, and its caller lets the lock go, so that others can run, before it
 * goes on at `next`. That is safe for who holds the mmap_lock: nobody else makes or takes entries then.
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

/* Where an area begins for those who want to lie below it: a stack may grow, and keeps its distance. */
static inline unsigned long start_with_gap(const struct vm_area_struct *vma)
{
	unsigned long gap = vma->vm_flags & VM_GROWSDOWN ? STACK_GUARD_GAP : 0;

	return vma->vm_start > gap ? vma->vm_start - gap : 0;
}
