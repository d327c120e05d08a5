/*
 * User address spaces: areas (vma), page faults, fork's copy, mmap.
 *
 * Locks, outermost first:
 *   inode->i_lock        held around user copies, which may fault: so what a fault calls (a file's get_page and mmap)
 *                        must not take it, nor any other lock that is held around a user copy
 *   mm->mmap_lock        mutex: areas, their tree, everything marked [m]. A fault holds it to its end, so munmap and
 *                        fork see no fault half done, and the second of two faults on one page finds the entry
 *   mm->page_table_lock  spinlock: writes of leaf entries. Allocation may happen under it (it never sleeps then)
 * Only fork holds two mmap_locks, first the parent's and then the child's (see dup_mm). A task must not touch user
 * memory while it holds a mmap_lock; a fault that finds its own mmap_lock held takes the fix-up instead.
 *
 * A page's life: its last reference frees it, but never before every TLB has forgotten it: unmapping empties entries,
 * flushes, and only then drops references (kernel/mm/zap.c).
 */
#pragma once

#include <arch/mmu.h>
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <lib/hole_tree.h>
#include <lib/list.h>
#include <mm/pgtable.h>
#include <sched/mutex.h>

struct file;
struct inode;
struct mm_uprobes;
struct page;
struct pt_regs;
struct task_struct;
struct vm_area_struct;

#define VM_READ	       0x01u
#define VM_WRITE       0x02u
#define VM_EXEC	       0x04u
#define VM_SHARED      0x08u
#define VM_MAYWRITE    0x20u /* mprotect may add VM_WRITE: private, or the file was opened for writing */
#define VM_NOEXEC      0x40u /* mprotect may not add VM_EXEC: the file lies on a noexec mount */
#define VM_GROWSDOWN   0x100u
#define VM_LOCKED      0x400u /* mlock(2): all its pages are there, and RLIMIT_MEMLOCK counts them */
#define VM_LOCKONFAULT 0x800u /* with VM_LOCKED: they come when they are touched */
#define VM_LOCK_MASK   (VM_LOCKED | VM_LOCKONFAULT)
#define VM_HEAP	       0x1000u	/* [heap] in maps */
#define VM_STACK       0x2000u	/* [stack] */
#define VM_VDSO	       0x4000u	/* [vdso]: code that the kernel gives to programs */
#define VM_HASANON     0x8000u	/* a private file mapping that holds copies of its own */
#define VM_VVAR	       0x10000u /* [vvar]: the data of that code */
#define VM_UPROBES     0x20000u /* [uprobes]: what probed programs execute elsewhere */
#define VM_WHOLE       0x40000u /* stays as mmap made it: it is not cut, does not grow, and is not copied by fork */

#define STACK_LIMIT	(8UL << 20) /* what RLIMIT_STACK is at first, bytes */
#define STACK_GUARD_GAP (1UL << 20) /* kept free below a growing stack (Linux: 256 pages) */
#define MMAP_MIN_ADDR	0x10000UL   /* nothing may be mapped below: a NULL pointer with an offset must fault */

/* Values of mm->dumpable. */
#define SUID_DUMP_DISABLE 0 /* only root may look into it: it runs, or has run, with rights that its user lacks */
#define SUID_DUMP_USER	  1 /* its user may, too */

#define SAVED_AUXV_MAX 52 /* words: AUXV_MAX and what setup_arg_stack adds */

struct shm_pages;

/* An area: a range of user addresses with one kind of contents. Locks: m mm->mmap_lock; I immutable while mapped. */
struct vm_area_struct {
	unsigned long vm_start, vm_end; /* [m] page aligned, end exclusive */
	u32 vm_flags;			/* [m] VM_* */
	struct hole_node place;		/* [m] by address */
	struct list_head list;		/* [m] by address */
	struct mm_struct *vm_mm;	/* [I] */
	struct file *vm_file;		/* [I once mapped] NULL: anonymous; holds a reference */
	struct shm_pages *vm_shm;	/* [I] pages of a shared anonymous mapping; holds a reference */
	unsigned long vm_pgoff;		/* [m] offset in the file or vm_shm, pages */
	struct vm_area_struct *dup;	/* [m] only while fork runs: the child's copy */
};

/*
 * An address space; mm.c explains the two counts. Locks: m mmap_lock; p page_table_lock; a atomic; I immutable after
 * exec.
 */
struct mm_struct {
	pgd_t *pgd;		    /* [I] top level page table, linear address */
	struct rb_root areas;	    /* [m] */
	struct list_head area_list; /* [m] */
	struct list_head mm_list;   /* [mm_list_lock] all that have users, oldest first */
	unsigned nr_areas;	    /* [m] */
	struct mutex mmap_lock;	    /* sleeps; taken by faults, mmap, fork, /proc maps */
	spinlock_t page_table_lock; /* leaf entries */
	atomic_t mm_users;	    /* [a] tasks that use it: last one unmaps all */
	atomic_t mm_count;	    /* [a] mm_users as one, plus borrowers (lazy kernel threads): last one frees */
	unsigned long cpu_bitmap;   /* [a] CPUs that may have it in their TLB */
	unsigned long start_code, end_code, start_data, end_data;	   /* [I] */
	unsigned long start_brk, brk;					   /* [m] */
	unsigned long start_stack, arg_start, arg_end, env_start, env_end; /* [I] */
	unsigned long mmap_base;					   /* [I] */
	atomic_t rss_anon, rss_file;					   /* [a] pages */
	unsigned long total_vm;						   /* [m] pages */
	unsigned long locked_vm;					   /* [m] pages of areas with VM_LOCKED */
	unsigned def_flags;						   /* [m] VM_LOCK* of new areas (mlockall) */
	u64 context_id;							   /* [a] arch: ASID and generation */
	atomic_t membarrier_state;	/* [a] MEMBARRIER_CMD_REGISTER_* commands that were given */
	struct file *exe_file;		/* [I] the program, which cannot be written (set_mm_exe_file) */
	unsigned nr_auxv;		/* [I] words of saved_auxv */
	u64 saved_auxv[SAVED_AUXV_MAX]; /* [I] the auxiliary vector as the program got it */
	struct mm_struct *next_dead;	/* [a] on the list of those that a worker will free (oom_kill.c) */
	struct mm_uprobes *uprobes; /* [m; read with RCU] its probed places (trace/uprobes); NULL: it never had one */
	u32 dumpable;		    /* [a] SUID_DUMP_*: may others of the same user look into it? */
	bool oom_victim;	    /* [a] its processes were killed for its memory, see <mm/oom.h> */
};
extern struct mm_struct init_mm; /* the kernel's own page table */

struct mm_struct *mm_alloc(void);		 /* empty; NULL when out of memory */
struct mm_struct *dup_mm(struct mm_struct *old); /* fork: copy-on-write; NULL when out of memory */
void mmput(struct mm_struct *mm);  /* a user less; the last one unmaps everything. Thread context; may sleep */
void mmdrop(struct mm_struct *mm); /* a borrower less; the last one frees the tables. Any context */
/*
 * A new address space runs this program: takes a reference, and keeps writers out until the last mmput. The caller
 * keeps writers out already, so it cannot fail. Thread context.
 */
void set_mm_exe_file(struct mm_struct *mm, struct file *file);
static inline void mmget(struct mm_struct *mm)
{
	atomic_inc(&mm->mm_users);
}

/* For a holder of mm_count only. False: the last user is gone, and so is what was mapped. */
static inline bool mmget_not_zero(struct mm_struct *mm)
{
	return atomic_inc_not_zero(&mm->mm_users);
}
static inline void mmgrab(struct mm_struct *mm)
{
	atomic_inc(&mm->mm_count);
}

/*
 * For a walk over all address spaces: the one after `mm` (NULL: the first), with a user count for the caller, or NULL
 * at the end. The caller's user count of `mm` is dropped. One that fork copies during the walk comes after the one it
 * is copied from. Thread context; may sleep.
 */
struct mm_struct *mm_next(struct mm_struct *mm);
/*
 * A file ends before its page `from` now (i_size says so already): take that page and all behind it out of every
 * mapping, with the private copies. A later access asks the file again. Thread context; takes m of every address space,
 * one after the other; i_lock may be held.
 */
void unmap_mapping_pages(const struct inode *inode, unsigned long from);
/*
 * The pages from..to - 1 have left the file, which keeps its size: take them out of every mapping, but not the private
 * copies. Context as above, and the pages are out of the file already, so that a fault finds others.
 */
void unmap_file_pages(const struct inode *inode, unsigned long from, unsigned long to);

struct vm_area_struct *find_vma(struct mm_struct *mm, unsigned long addr); /* first that ends above addr [m] */
/* The lowest area that has a part in [start, end), or NULL. [m] */
struct vm_area_struct *find_vma_intersection(struct mm_struct *mm, unsigned long start, unsigned long end);
/* [m] `addr` if it is given and free, else the highest free place of `len` bytes below mmap_base; -ENOMEM. */
long get_unmapped_area(struct mm_struct *mm, unsigned long addr, unsigned long len);
/* The work of mmap(2): flags MAP_*, prot PROT_*. Returns the address or -errno. Takes m. */
long do_mmap(struct mm_struct *mm, struct file *file, unsigned long addr, unsigned long len, unsigned prot,
	     unsigned flags, unsigned long pgoff);
/* The work of munmap(2). 0, -EINVAL, -ENOMEM (too many areas). Takes m. */
int do_munmap(struct mm_struct *mm, unsigned long addr, unsigned long len);
/* The work of mprotect(2). 0, -EINVAL, -ENOMEM (a hole in the range, or too many areas), -EACCES. Takes m. */
int do_mprotect(struct mm_struct *mm, unsigned long addr, unsigned long len, unsigned long prot);
/* Takes m. */
long do_brk(struct mm_struct *mm, unsigned long brk); /* returns the new or, refused, the old break */

/*
 * For a file's mmap(), on a shared mapping: new memory, full of zeroes, takes the file's place, as that of an anonymous
 * mapping. 0, -ENOMEM: the file is still there. [m]
 */
int vma_share_zeroes(struct vm_area_struct *vma);

#define FAULT_FLAG_WRITE 1u
#define FAULT_FLAG_EXEC	 2u
#define FAULT_FLAG_USER	 4u
#define FAULT_FLAG_FORCE 8u /* a debugger's: in a private area also without the right */
/*
 * Make a faulting access good: demand zero, file page, copy-on-write, stack growth. Context: thread, interrupts on;
 * sleeps; takes m. Returns 0, or -EFAULT (no such area: SIGSEGV MAPERR), -EACCES (SEGV ACCERR), -EIO (SIGBUS), -ENOMEM:
 * memory is full and the caller is being killed; before that it waits for memory, and a process may be killed for it.
 */
int handle_mm_fault(struct mm_struct *mm, unsigned long addr, unsigned flags);
/* The same where the caller holds m. It does not wait: -ENOMEM when memory is full. [m] */
int handle_mm_fault_locked(struct mm_struct *mm, unsigned long addr, unsigned flags);
/*
 * The machine's fault entry calls this for user addresses. It makes the access good, signals the task, or goes on at
 * the fix-up of a kernel access. Interrupts as they were at the fault; sleeps only if they were on.
 */
void do_page_fault(struct pt_regs *regs, unsigned long addr, unsigned flags);

/*
 * The same for a fault of the kernel's own, at any address. Should it be a bug, `what` says what was tried and `code`
 * is the machine's number for it. Interrupts as they were at the fault; sleeps only if they were on.
 */
void do_kernel_fault(struct pt_regs *regs, unsigned long addr, unsigned flags, const char *what, unsigned long code);
/* A kernel access that nothing makes good: report and die. `what` NULL: nothing is mapped there. Any context. */
void die_kernel_fault(struct pt_regs *regs, unsigned long addr, const char *what, unsigned long code) __noreturn;

/*
 * Read or write another process's memory (or the caller's own), for /proc, exec and ptrace: `how` is 0,
 * FAULT_FLAG_WRITE, and FAULT_FLAG_FORCE. Returns how many bytes were done. Thread context; takes m.
 */
int access_process_vm(struct task_struct *t, unsigned long addr, void *buf, int len, unsigned how);
/* The same in an address space that the caller holds a reference to. A write of NULL is one of zeros. Takes m. */
int access_remote_vm(struct mm_struct *mm, unsigned long addr, void *buf, int len, unsigned how);
/* The same where the caller holds m, within a page. False: nothing was done. [m] */
bool access_vm_locked(struct mm_struct *mm, unsigned long addr, void *buf, int len, unsigned how);
/*
 * A page of memory for code that the kernel writes and the program executes, within `reach` bytes below `near`, as an
 * area with `vm_flag`. Its address, or -ENOMEM. [m]
 */
long map_code_page(struct mm_struct *mm, unsigned long near, unsigned long reach, u32 vm_flag);
/*
 * The address space of a task that may be exiting, with a user count (mmput), or NULL. Code that changes p->mm of a
 * running task holds its pi_lock. Any context but nmi.
 */
struct mm_struct *get_task_mm(struct task_struct *p);
void mm_init(void); /* boot, after kmem_cache_init */
/* Load another address space on this CPU. Interrupts off. */
static inline void switch_mm(struct mm_struct *prev, struct mm_struct *next)
{
	unsigned cpu = smp_processor_id();

	if (prev == next)
		return;
	/* Before the tables are loaded: a flush that misses the bit ran before any entry could be cached here. */
	if (next != &init_mm && !test_bit(cpu, &next->cpu_bitmap))
		test_and_set_bit(cpu, &next->cpu_bitmap);
	arch_switch_mm(prev, next, cpu);
}

/* exec: install a fresh address space in the current task and drop the old one. Thread context. */
void exec_mmap(struct mm_struct *mm);
struct seq_file;
/* /proc/meminfo, and /proc/<pid>/maps (which takes m). 0, -ENOMEM. Thread context. */
int meminfo_show(struct seq_file *m);
int show_maps(struct seq_file *m, struct mm_struct *mm);
/* /proc/<pid>/smaps, or (rollup) one sum of all areas. Take m. 0, -ENOMEM. */
int show_smaps(struct seq_file *m, struct mm_struct *mm, bool rollup);
/* What /proc/<pid>/pagemap says of n pages from addr on; pfns: with frame numbers. Takes m. */
void read_pagemap(struct mm_struct *mm, unsigned long addr, u64 *entries, unsigned n, bool pfns);
