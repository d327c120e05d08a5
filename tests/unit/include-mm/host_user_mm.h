/*
 * All of user memory, compiled for the host: what mm_*_test.c that test address spaces have in common.
 * Include once, after host_test.h.
 */
#pragma once

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>
#include <host_mmu.h>
#include <host_users.h>
#include <uapi/mman.h>

#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/lib/rbtree.c"
#include "../../../kernel/lib/hole_tree.c"
#include "../../../kernel/mm/pages/memblock.c"
#include "../../../kernel/mm/pages/page_alloc.c"
/* What page_alloc.c frees by is looked at first (below). */
#define free_unref_page free_page_unchecked
void free_unref_page(struct page *page, bool zeroed);
#include "../../../kernel/mm/pages/page_pcp.c"
#undef free_unref_page
#include "../../../kernel/mm/pages/page_init.c"
#include "../../../kernel/mm/pages/page_report.c"
#include "../../../kernel/mm/pages/slab.c"
#include "../../../kernel/mm/pages/slab_cache.c"
#include "../../../kernel/mm/slab_debug/slab_debug.c"
#include "../../../kernel/mm/pages/kmalloc.c"
#include "../../../kernel/mm/mm.c"
#include "../../../kernel/mm/vma.c"
#include "../../../kernel/mm/limits.c"
#include "../../../kernel/mm/shm.c"
#include "../../../kernel/mm/zap.c"
#include "../../../kernel/mm/fault.c"
#include "../../../kernel/mm/dup_mm.c"
#include "../../../kernel/mm/mmap.c"
#include "../../../kernel/mm/mprotect.c"
#include "../../../kernel/mm/ranges/mremap.c"
#include "../../../kernel/mm/access.c"
#include "../../../kernel/mm/info/maps.c"

ssize_t strscpy(char *dst, const char *src, size_t size)
{
	snprintf(dst, size, "%s", src);
	return 0;
}
/* Memory that is full stays so: no process can be killed. */
bool out_of_memory(gfp_t gfp, unsigned order)
{
	return false;
}
bool current_is_dying(void)
{
	return false;
}
void *__vmalloc(unsigned long size, gfp_t gfp)
{
	return NULL;
}
void vfree(const void *addr)
{
}
void count_page_fault(void)
{
}
bool is_vmalloc_addr(const void *p)
{
	return false;
}
void _raw_spin_lock_irq(spinlock_t *l)
{
	_raw_spin_lock(l);
}
void _raw_spin_unlock_irq(spinlock_t *l)
{
	_raw_spin_unlock(l);
}
static const char *host_file_name = "/bin/test";
char *dentry_path(struct dentry *dentry, char *buf, int len)
{
	return strcpy(buf, host_file_name);
}
void fput(struct file *f)
{
	atomic_dec(&f->f_count);
}
int deny_write_access(struct file *f)
{
	return 0;
}
void allow_write_access(struct file *f)
{
}
void oom_victim_gone(struct mm_struct *mm)
{
}
/* No program here is probed or locks memory: guests do that. But a test may look when breakpoints would be lifted. */
static void (*host_before_move)(struct mm_struct *mm, unsigned long start, unsigned long end);
static void host_part_before_move(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	if (host_before_move)
		host_before_move(mm, start, end);
}
/* A room that keeps something for address spaces; the table must have an entry. */
static int host_part_dup(struct mm_struct *new, struct mm_struct *old)
{
	return 0;
}
static void host_part_exit(struct mm_struct *mm)
{
}
static const struct mm_part host_mm_part = {
	.dup = host_part_dup,
	.exit = host_part_exit,
	.before_move = host_part_before_move,
};
REGISTER_MM_PART(host_mm_part);
bool can_do_mlock(void)
{
	return true;
}
bool may_lock_more(const struct mm_struct *mm, unsigned vm_flags, unsigned long pages)
{
	return true;
}
int mm_populate(struct mm_struct *mm, unsigned long start, unsigned long end, unsigned how)
{
	return 0;
}

void free_unref_page(struct page *page, bool zeroed)
{
	const u64 *words = page_to_virt(page);

	host_check_freed(page);
	for (unsigned i = 0; zeroed && i < PAGE_SIZE / sizeof(*words); i++)
		assert_int_equal(words[i], 0);
	free_page_unchecked(page, zeroed);
}

/* What an access to this page gives: 0 or -errno. */
static inline int touch_err(struct mm_struct *mm, unsigned long va, unsigned flags)
{
	int err = 0;

	user_touch(mm, va, flags, &err);
	return err;
}

/* The process whose limits bound the areas: it has those of init. */
static struct signal_struct host_signal;

static inline void init_limits(void)
{
	for (int i = 0; i < RLIM_NLIMITS; i++)
		host_signal.rlim[i][0] = host_signal.rlim[i][1] = RLIM_INFINITY;
	host_signal.rlim[RLIMIT_STACK][0] = STACK_LIMIT;
	host_task.signal = &host_signal;
}

/* A stack, as exec makes it. */
static inline void map_stack(struct mm_struct *mm, unsigned long start, unsigned long len)
{
	const unsigned flags = MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_GROWSDOWN;

	assert_int_equal(do_mmap(mm, NULL, start, len, PROT_READ | PROT_WRITE, flags, 0), start);
	find_vma(mm, start)->vm_flags |= VM_STACK | VM_GROWSDOWN;
}
