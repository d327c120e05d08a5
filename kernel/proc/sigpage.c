/*
 * The page with the code that a signal handler returns to (it makes the system call rt_sigreturn). A program's stack
 * cannot hold that code, because stacks are not executable. The page is one for the machine. It is mapped into every
 * process at SIGPAGE, as a private mapping of a file that has no name, so that the usual handling of faults and forks
 * does the rest.
 */
#include <arch/signal.h>
#include <asm/elf.h>
#include <fs/vfs.h>
#include <kernel/panic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <proc/exec.h>
#include <uapi/mman.h>

static struct page *sigpage; /* [cmpxchg once, then immutable] */

/*
 * Make the page when the first process needs it. Two CPUs may do so at once: the compare-and-exchange lets one page
 * win, and the other is freed. Its release order makes the code in the page visible before the pointer.
 * ERR_PTR(-ENOMEM).
 */
static struct page *make_sigpage(void)
{
	struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO), *old = NULL;
	const void *code;
	size_t len;

	if (!page)
		return ERR_PTR(-ENOMEM);
	code = arch_signal_trampoline(&len);
	memcpy(page_to_virt(page), code, len);
	arch_sync_icache(page_to_virt(page), len);
	if (__atomic_compare_exchange_n(&sigpage, &old, page, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return page;
	put_page(page); /* another CPU was faster */
	return old;
}

/* A fault on the mapping asks for the page: with a reference, as for any file. ERR_PTR(-EFAULT) behind its end. */
static struct page *sigpage_get_page(struct file *file, unsigned long pgoff)
{
	struct page *page = smp_load_acquire(&sigpage);

	if (pgoff)
		return ERR_PTR(-EFAULT);
	if (!page)
		page = make_sigpage();
	if (!IS_ERR(page))
		get_page(page);
	return page;
}

static const struct file_operations sigpage_fops = {.get_page = sigpage_get_page};

/* An inode and a file without a name anywhere, which exist because a mapping needs a file. */
static struct inode sigpage_inode = {
	.i_mode = S_IFREG | 0555,
	.i_nlink = 1,
	.i_size = PAGE_SIZE,
	.i_count = ATOMIC_INIT(1),
	.i_lock = __MUTEX_INIT(sigpage_inode.i_lock),
	.i_fop = &sigpage_fops,
};
static struct file sigpage_file = {
	.f_count = ATOMIC_INIT(1), /* ours: it never falls to zero */
	.f_mode = FMODE_READ,
	.f_pos_lock = __MUTEX_INIT(sigpage_file.f_pos_lock),
	.f_op = &sigpage_fops,
	.f_inode = &sigpage_inode,
};

/* The area is marked VM_SIGPAGE so that /proc/<pid>/maps can name it. The mm is new and not used by other tasks yet. */
int map_sigpage(struct mm_struct *mm)
{
	long addr = do_mmap(mm, &sigpage_file, SIGPAGE, PAGE_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, 0);

	if (addr < 0)
		return addr;
	mutex_lock(&mm->mmap_lock);
	find_vma(mm, SIGPAGE)->vm_flags |= VM_SIGPAGE;
	mutex_unlock(&mm->mmap_lock);
	return 0;
}
