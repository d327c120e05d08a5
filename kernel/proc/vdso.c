/*
 * The vDSO in every address space: a page of code, built from vdso/ and kept in the kernel's image, and below it the
 * page of data that its functions read (kernel/time/vdso_data.c). A signal handler without a restorer of its own
 * returns into that code too, because a program's stack is not executable.
 *
 * Both pages are one for the machine. They are mapped as a private mapping of a file that has no name, so that the
 * usual handling of faults and forks does the rest; a debugger that writes a breakpoint into the code gets a copy of
 * its own.
 */
#include <fs/vfs.h>
#include <kernel/init.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <proc/vdso.h>
#include <time/vdso.h>
#include <uapi/mman.h>

enum { PAGE_DATA, PAGE_CODE, NR_PAGES }; /* of the file, in the order of their addresses */
static_assert(VVAR_BASE + PAGE_SIZE == VDSO_BASE);

extern const char vdso_image_end[];

static struct page *code_page; /* [early boot, then immutable] */

/* A copy, since only memory of the page allocator can be mapped. vdso.lds.S sees to it that the image fits. */
static int vdso_init(void)
{
	code_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!code_page)
		return -ENOMEM;
	memcpy(page_to_virt(code_page), &vdso_image, vdso_image_end - (const char *)&vdso_image);
	arch_sync_icache(page_to_virt(code_page), PAGE_SIZE);
	return 0;
}
early_initcall(vdso_init);

/* A fault on the mapping asks for a page: with a reference, as for any file. ERR_PTR(-EFAULT) where there is none. */
static struct page *vdso_get_page(struct file *file, unsigned long pgoff)
{
	struct page *page = pgoff == PAGE_DATA ? vdso_data_page() : pgoff == PAGE_CODE ? code_page : NULL;

	if (!page)
		return ERR_PTR(-EFAULT);
	get_page(page);
	return page;
}

static const struct file_operations vdso_fops = {.get_page = vdso_get_page};

/* An inode and a file without a name anywhere, which exist because a mapping needs a file. */
static struct inode vdso_inode = {
	.i_mode = S_IFREG | 0555,
	.i_nlink = 1,
	.i_size = NR_PAGES * PAGE_SIZE,
	.i_count = ATOMIC_INIT(1),
	.i_lock = __MUTEX_INIT(vdso_inode.i_lock),
	.i_fop = &vdso_fops,
};
static struct file vdso_file = {
	.f_count = ATOMIC_INIT(1), /* ours: it never falls to zero */
	.f_mode = FMODE_READ,
	.f_pos_lock = __MUTEX_INIT(vdso_file.f_pos_lock),
	.f_op = &vdso_fops,
	.f_inode = &vdso_inode,
};

/*
 * One page of the file. `vm_flag` says to /proc/<pid>/maps which it is. The data must not become a private copy, in
 * which time would stand still, so only the code may be made writable.
 */
static int map_page(struct mm_struct *mm, unsigned long at, unsigned prot, unsigned long pgoff, u32 vm_flag)
{
	struct vm_area_struct *vma;
	long addr = do_mmap(mm, &vdso_file, at, PAGE_SIZE, prot, MAP_PRIVATE | MAP_FIXED, pgoff);

	if (addr < 0)
		return addr;
	mutex_lock(&mm->mmap_lock);
	vma = find_vma(mm, at);
	vma->vm_flags |= vm_flag;
	if (vm_flag == VM_VVAR)
		vma->vm_flags &= ~VM_MAYWRITE;
	mutex_unlock(&mm->mmap_lock);
	return 0;
}

/* The mm is new, and no other task uses it yet. */
int map_vdso(struct mm_struct *mm)
{
	int err = map_page(mm, VVAR_BASE, PROT_READ, PAGE_DATA, VM_VVAR);

	return err ? err : map_page(mm, VDSO_BASE, PROT_READ | PROT_EXEC, PAGE_CODE, VM_VDSO);
}
