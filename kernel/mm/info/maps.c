/* /proc/<pid>/maps, a line for each area in Linux's format. smaps.c prints the same line above its figures. */
#include <fs/seq_file.h>
#include <lib/printf.h>
#include <lib/string.h>

#include "../vma.h"

#define NAME_COLUMN 73 /* Linux: 25 characters and six for each byte of a pointer, then the name */

/* The name of an area that no file backs, or NULL. Shared anonymous memory is named as on Linux. */
static const char *special_name(const struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_HEAP)
		return "[heap]";
	if (vma->vm_flags & VM_STACK)
		return "[stack]";
	if (vma->vm_flags & VM_VDSO)
		return "[vdso]";
	if (vma->vm_flags & VM_VVAR)
		return "[vvar]";
	if (vma->vm_flags & VM_UPROBES)
		return "[uprobes]";
	return vma->vm_shm ? "/dev/zero (deleted)" : NULL;
}

/*
 * Range, rights, offset, device, inode, and the blank behind it. The vDSO's file is in no file system, so it has
 * no device.
 */
static int format_area(char *text, size_t size, const struct vm_area_struct *vma)
{
	const struct inode *inode = vma->vm_file ? vma->vm_file->f_inode : NULL;
	u64 dev = inode && inode->i_sb ? inode->i_sb->s_dev : 0;

	return scnprintf(text, size, "%08lx-%08lx %c%c%c%c %08llx %02x:%02x %llu ", vma->vm_start, vma->vm_end,
			 vma->vm_flags & VM_READ ? 'r' : '-', vma->vm_flags & VM_WRITE ? 'w' : '-',
			 vma->vm_flags & VM_EXEC ? 'x' : '-', vma->vm_flags & VM_SHARED ? 's' : 'p',
			 (unsigned long long)vma->vm_pgoff << PAGE_SHIFT, (unsigned)(dev >> 20),
			 (unsigned)(dev & 0xfffff), (unsigned long long)(inode ? inode->i_ino : 0));
}

/*
 * The name is padded to a column only when there is one, as on Linux. A line feed in it does not end the line: it
 * becomes an escape.
 */
void show_area(struct seq_file *m, const struct vm_area_struct *vma, char *path)
{
	const char *name = special_name(vma);
	char text[96];

	if (!name && vma->vm_file) {
		name = dentry_path(vma->vm_file->f_dentry, path, PAGE_SIZE);
		if (IS_ERR(name))
			name = "(too long)";
	}
	format_area(text, sizeof(text), vma);
	seq_printf(m, "%-*s", name ? NAME_COLUMN : 0, text);
	if (name)
		seq_escape(m, name, "\n");
	seq_putc(m, '\n');
}

/*
 * The path buffer is allocated before mmap_lock is taken. seq_file makes the whole text in its own buffer, so the lock
 * is not held while it is copied to user space.
 */
int show_maps(struct seq_file *m, struct mm_struct *mm)
{
	char *path = get_free_page(GFP_KERNEL);
	struct vm_area_struct *vma;

	if (!path)
		return -ENOMEM;
	mutex_lock(&mm->mmap_lock);
	list_for_each_entry(vma, &mm->area_list, list)
		show_area(m, vma, path);
	mutex_unlock(&mm->mmap_lock);
	free_page(path);
	return 0;
}
