/*
 * Address spaces: how they are made, shared, borrowed and ended.
 *
 * Two counts keep an mm_struct. mm_users counts the tasks that run in it and those that look into it: when it falls to
 * zero, everything is unmapped (mmput). mm_count counts all mm_users together as one, plus the CPUs on which a kernel
 * thread runs with it on loan: when that falls to zero, the tables and the structure go (mmdrop). A kernel thread never
 * touches user addresses, so it may keep the tables of the task before it, and a switch to it and back costs no TLB
 * flush.
 *
 * mm_list holds all address spaces that have users, oldest first, for walks over all of them (mm_next).
 */
#include <mm/mm.h>

#include <arch/mmu.h>
#include <asm/elf.h>
#include <fs/vfs.h>
#include <kernel/smp.h>
#include <mm/oom.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <sched/sched.h>

#include "vma.h"

static struct kmem_cache *mm_cache;
struct page *zero_page; /* [immutable after mm_init] all zero, mapped read-only wherever nothing was written yet */

/* What a CPU has loaded that runs a kernel thread and has no address space to borrow. */
struct mm_struct init_mm = {
	.pgd = swapper_pg_dir,
	.areas = RB_ROOT,
	.area_list = LIST_HEAD_INIT(init_mm.area_list),
	.mmap_lock = __MUTEX_INIT(init_mm.mmap_lock),
	.page_table_lock = __SPIN_LOCK_UNLOCKED,
	/* Each idle task starts with it on loan without having counted it, so the count must never reach zero. */
	.mm_users = ATOMIC_INIT(1 << 30),
	.mm_count = ATOMIC_INIT(1 << 30),
};

/* No other lock is taken inside it. */
static DEFINE_SPINLOCK(mm_list_lock);
static LIST_HEAD(mm_list); /* [mm_list_lock] */

void mm_init(void)
{
	mm_cache = kmem_cache_create("mm_struct", sizeof(struct mm_struct), 0, SLAB_HWCACHE_ALIGN | SLAB_PANIC, NULL);
	vma_init();
	zero_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!zero_page)
		panic("mm_init: out of memory");
	zero_page->flags = PG_RESERVED; /* no reference is counted, and freeing it would be reported */
}

/* The structure enters the list as soon as it can be walked; it has no areas then. */
struct mm_struct *mm_alloc(void)
{
	struct mm_struct *mm = kmem_cache_zalloc(mm_cache, GFP_KERNEL);

	if (!mm)
		return NULL;
	mm->areas = RB_ROOT;
	INIT_LIST_HEAD(&mm->area_list);
	mutex_init(&mm->mmap_lock);
	spin_lock_init(&mm->page_table_lock);
	atomic_set(&mm->mm_users, 1);
	atomic_set(&mm->mm_count, 1);
	mm->dumpable = SUID_DUMP_USER;
	mm->mmap_base = STACK_TOP - STACK_LIMIT - STACK_GUARD_GAP;
	mm->pgd = pgd_alloc();
	if (!mm->pgd)
		goto free_mm;
	if (arch_init_new_context(mm))
		goto free_pgd;
	spin_lock(&mm_list_lock);
	list_add_tail(&mm->mm_list, &mm_list);
	spin_unlock(&mm_list_lock);
	return mm;

free_pgd:
	pgd_free(mm->pgd);
free_mm:
	kmem_cache_free(mm_cache, mm);
	return NULL;
}

void mmdrop(struct mm_struct *mm)
{
	if (!atomic_dec_and_test(&mm->mm_count))
		return;
	arch_destroy_context(mm);
	pgd_free(mm->pgd);
	kmem_cache_free(mm_cache, mm);
}

/*
 * The caller keeps writers out already, so deny_write_access() cannot fail here. If it fails, a caller has broken this
 * rule.
 */
void set_mm_exe_file(struct mm_struct *mm, struct file *file)
{
	if (deny_write_access(file))
		panic("set_mm_exe_file: the program is open for writing");
	mm->exe_file = get_file(file);
}

/*
 * The structure leaves the list before it is taken apart, so mm_next() cannot find it in that state. The program's file
 * is released last, because its mappings are gone only then.
 */
void mmput(struct mm_struct *mm)
{
	if (!atomic_dec_and_test(&mm->mm_users))
		return;
	spin_lock(&mm_list_lock);
	list_del(&mm->mm_list);
	spin_unlock(&mm_list_lock);
	exit_mmap(mm);
	if (unlikely(READ_ONCE(mm->oom_victim)))
		oom_victim_gone(mm);
	if (mm->exe_file) {
		allow_write_access(mm->exe_file);
		fput(mm->exe_file);
	}
	mmdrop(mm);
}

/*
 * The user that the caller holds keeps `mm` in the list until the next one is found. A structure whose users are gone,
 * and which is about to leave the list, is passed over.
 */
struct mm_struct *mm_next(struct mm_struct *mm)
{
	struct list_head *at = mm ? &mm->mm_list : &mm_list;
	struct mm_struct *next = NULL;

	spin_lock(&mm_list_lock);
	while ((at = at->next) != &mm_list && !next) {
		next = list_entry(at, struct mm_struct, mm_list);
		if (!mmget_not_zero(next))
			next = NULL; /* it is about to leave the list */
	}
	spin_unlock(&mm_list_lock);
	if (mm)
		mmput(mm);
	return next;
}

/*
 * pi_lock keeps the task from letting go of its mm between the look and the reference: exit and exec change p->mm under
 * it and drop their reference only afterwards.
 */
struct mm_struct *get_task_mm(struct task_struct *p)
{
	struct mm_struct *mm;
	unsigned long flags;

	spin_lock_irqsave(&p->pi_lock, flags);
	mm = p->flags & PF_KTHREAD ? NULL : p->mm;
	if (mm)
		mmget(mm);
	spin_unlock_irqrestore(&p->pi_lock, flags);
	return mm;
}

/*
 * Thread context. Interrupts are off from the change of the fields to the loading of the tables: a task switch in
 * between would save one address space and load the other.
 */
void exec_mmap(struct mm_struct *mm)
{
	struct task_struct *task = current;
	struct mm_struct *old, *active;

	spin_lock_irq(&task->pi_lock);
	old = task->mm;
	active = task->active_mm;
	task->mm = task->active_mm = mm;
	switch_mm(active ? active : &init_mm, mm);
	spin_unlock_irq(&task->pi_lock);
	if (old)
		mmput(old);
	else if (active)
		mmdrop(active); /* the task was a kernel thread, which had borrowed it */
}
