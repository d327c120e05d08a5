/*
 * What the files of user memory share among themselves. [m]: mmap_lock held, as in <mm/mm.h>; a function without a mark
 * needs no lock. All run in thread context.
 */
#pragma once

#include <fs/vfs.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <lib/errno.h>
#include <mm/mm.h>
#include <mm/mm_part.h>
#include <mm/page.h>
#include <sched/spinlock.h>

extern struct page *zero_page; /* see mm.c */

/* vma.c */
void vma_init(void); /* boot */
/* A new area, or NULL; it is in no address space yet. */
struct vm_area_struct *vma_alloc(struct mm_struct *mm, unsigned long start, unsigned long end, unsigned flags);
struct vm_area_struct *vma_dup(struct mm_struct *mm, const struct vm_area_struct *vma); /* with its references */
void vma_free(struct vm_area_struct *vma);			   /* drops the references to file and pages */
void vma_insert(struct mm_struct *mm, struct vm_area_struct *vma); /* [m] */
void vma_remove(struct vm_area_struct *vma);			   /* [m] */
/*
 * [m of old] Give a copy, whose list of areas is complete, its tree and its counts. Each area of `old` tells its copy
 * in ->dup.
 */
void vma_copy_tree(struct mm_struct *new, const struct mm_struct *old);
/* [m] Give the area another start or end, in whole pages, within what is free around it. */
void vma_set_range(struct vm_area_struct *vma, unsigned long start, unsigned long end);
/* [m] The highest area before `before` (NULL: of all) with a free hole of `len` bytes right below it, or NULL. */
struct vm_area_struct *vma_above_hole(struct mm_struct *mm, struct vm_area_struct *before, unsigned long len);
void vma_set_lock(struct vm_area_struct *vma, unsigned lock); /* [m] its VM_LOCK flags; counts its pages */
/* [m] Cut the area at addr; the part above becomes a new area. 0, -ENOMEM, -EINVAL (VM_WHOLE). */
int vma_split(struct vm_area_struct *vma, unsigned long addr);
/* [m] Unite the area with its neighbours where all is alike; returns the area that holds what `vma` held. */
struct vm_area_struct *vma_merge(struct vm_area_struct *vma);
struct vm_area_struct *vma_prev(struct vm_area_struct *vma); /* [m] NULL: first */
struct vm_area_struct *vma_next(struct vm_area_struct *vma); /* [m] NULL: last */

/* vm.max_map_count: how many areas an address space may have. As on Linux, mmap compares before it adds one. [a] */
extern unsigned sysctl_max_map_count;

/* mmap.c. The bits of PROT_* as bits of VM_*, which have the same values. */
unsigned prot_to_vm_flags(unsigned prot);
/* [m] munmap of whole pages. 0, or -ENOMEM or -EINVAL (a split failed): then nothing is unmapped. */
int unmap_locked(struct mm_struct *mm, unsigned long start, unsigned long end);

/*
 * limits.c. [m] May so many pages with these VM_* flags come? The limits are the current process's, also for the memory
 * that exec builds.
 */
bool may_expand_vm(struct mm_struct *mm, unsigned vm_flags, unsigned long pages);
/* What is mapped in a range: all pages, and those that RLIMIT_DATA counts. */
struct mapped_pages {
	unsigned long all, data;
};
struct mapped_pages count_mapped(struct mm_struct *mm, unsigned long start, unsigned long end); /* [m] */
/* [m] The same as may_expand_vm when `goes` is unmapped first. */
bool may_replace_vm(struct mm_struct *mm, unsigned vm_flags, unsigned long pages, struct mapped_pages goes);
/*
 * populate.c. [m] May so many pages more be locked, if vm_flags has VM_LOCKED at all? The limit is the current
 * process's.
 */
bool may_lock_more(const struct mm_struct *mm, unsigned vm_flags, unsigned long pages);
bool can_do_mlock(void);   /* may the current process lock anything? */
#define POPULATE_LOCKED 1u /* only areas that are locked, and whose pages are not left to faults */
#define POPULATE_ALL	2u /* an area whose page cannot be had is left, and the next one begun */
/*
 * Make the pages of what is mapped in the range, as the program's accesses would; how: POPULATE_*. 0, or what
 * handle_mm_fault says of the first page that cannot be had; -EINTR: the task is being killed. Takes m.
 */
int mm_populate(struct mm_struct *mm, unsigned long start, unsigned long end, unsigned how);
bool may_expand_data(struct mm_struct *mm, unsigned vm_flags, unsigned long pages); /* [m] RLIMIT_DATA alone */
/* Faults that a CPU handled. Atomic, since a task may be moved to another CPU in the middle of counting. */
DECLARE_PER_CPU(u64, page_faults);
/* fault.c. Make what a page holds coherent with instruction fetch, and note that (PG_ICACHE). Any context. */
void sync_exec_page(struct page *page);
/* maps.c. [m] The line of /proc/<pid>/maps for an area. path: a page to work in. */
struct seq_file;
void show_area(struct seq_file *m, const struct vm_area_struct *vma, char *path);

/* zap.c: take all pages of a range out; take all pages out of an address space that has no users. */
void zap_range(struct mm_struct *mm, unsigned long start, unsigned long end); /* [m] */
void exit_mmap(struct mm_struct *mm);					      /* the last user is gone */

/* shm.c: pages of shared anonymous mappings, made as they are touched. */
struct shm_pages *shm_create(unsigned long nr); /* NULL: out of memory */
void shm_get(struct shm_pages *shm);
void shm_put(struct shm_pages *shm);
struct page *shm_get_page(struct shm_pages *shm, unsigned long index); /* with a reference; ERR_PTR */
bool shm_has_page(const struct shm_pages *shm, unsigned long index);   /* has somebody touched it? */

/* Which page of what backs the area addr is. */
static inline unsigned long area_index(const struct vm_area_struct *vma, unsigned long addr)
{
	return vma->vm_pgoff + ((addr - vma->vm_start) >> PAGE_SHIFT);
}

#define PAUSE_AFTER 128 /* entries that a walk handles before it releases page_table_lock */
/*
 * For walks by pte_range() under page_table_lock. The function of the walk returns what pte_pause() returns; after
 * PAUSE_AFTER entries that is 1 and ends the walk. Its caller then releases the lock, so that others can run, and goes
 * on at `next`. That is safe while mmap_lock is held: no one else makes or takes entries then.
 */
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

/* [m] Tell the rooms that keep something for address spaces. */
static inline void tell_mapped(struct vm_area_struct *vma)
{
	const struct mm_part *part;

	for_each_in_table(mm_parts, part)
		if (part->mapped)
			part->mapped(vma);
}
static inline void tell_unmapped(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	const struct mm_part *part;

	for_each_in_table(mm_parts, part)
		if (part->unmapped)
			part->unmapped(mm, start, end);
}

/* Of no file, or of one that lends its name alone and has no pages (a private mapping of /dev/zero). */
static inline bool vma_is_anonymous(const struct vm_area_struct *vma)
{
	return vma->vm_file ? !vma->vm_file->f_op->get_page : !vma->vm_shm;
}

/* [p] Count a page in (n = 1) or out (n = -1) of the address space. The zero page does not count. */
static inline void count_page(struct mm_struct *mm, const struct page *page, int n)
{
	if (page != zero_page)
		atomic_add(n, page->flags & PG_ANON ? &mm->rss_anon : &mm->rss_file);
}

/* Is it one of those that inode->i_shared_writers counts? */
static inline bool vma_writes_shared(const struct vm_area_struct *vma)
{
	return vma->vm_file && (vma->vm_flags & (VM_SHARED | VM_MAYWRITE)) == (VM_SHARED | VM_MAYWRITE);
}

/* Count a shared mapping that may be written, unless there must be none. */
static inline bool get_shared_writer(struct inode *inode)
{
	int n, seen = atomic_read(&inode->i_shared_writers);

	do {
		n = seen;
		if (n < 0)
			return false;
		seen = atomic_cmpxchg(&inode->i_shared_writers, n, n + 1);
	} while (seen != n);
	return true;
}

/* Where an area begins for a mapping that wants to lie below it: a stack may grow down, and keeps its distance. */
static inline unsigned long start_with_gap(const struct vm_area_struct *vma)
{
	unsigned long gap = vma->vm_flags & VM_GROWSDOWN ? STACK_GUARD_GAP : 0;

	return vma->vm_start > gap ? vma->vm_start - gap : 0;
}
