/*
 * /proc/<pid>/map_files: a link for each mapped file, named by the addresses of its area ("400000-452000"). It leads to
 * the file itself, also where that has no name any more; only root may follow it, since the process may have mapped a
 * file to which its user has no way. Shared anonymous memory has no file here, so it is not listed.
 *
 * Nothing is stored: each look-up and each use of a link searches the task's areas again. mm_access() judges the very
 * address space that it returns, so an exec in between does not matter.
 */
#include "internal.h"

#include <lib/printf.h>
#include <mm/mm.h>
#include <proc/capability.h>
#include <proc/ptrace.h>

/* One number of a name: hexadecimal, without leading zeros or capitals, so that an area has one name. */
static bool map_files_number(const char **text, unsigned long *v)
{
	const char *p = *text;

	for (*v = 0; isdigit(*p) || (*p >= 'a' && *p <= 'f'); p++) {
		if (*v >> 60 || (p > *text && **text == '0'))
			return false;
		*v = *v << 4 | (isdigit(*p) ? *p - '0' : *p - 'a' + 10);
	}
	if (p == *text)
		return false;
	*text = p;
	return true;
}

static bool map_files_range(const char *name, unsigned long *start, unsigned long *end)
{
	return map_files_number(&name, start) && *name++ == '-' && map_files_number(&name, end) && !*name;
}

/* The file of the area with exactly these addresses, with a reference. ERR_PTR: -ENOENT, -EACCES. */
static struct file *map_files_file(struct task_struct *task, unsigned long start, unsigned long end)
{
	struct mm_struct *mm = mm_access(task, PTRACE_MODE_READ_FSCREDS);
	struct vm_area_struct *vma;
	struct file *f = ERR_PTR(-ENOENT);

	if (!mm || IS_ERR(mm))
		return mm ? ERR_PTR(PTR_ERR(mm)) : f;
	mutex_lock(&mm->mmap_lock);
	vma = find_vma(mm, start);
	if (vma && vma->vm_start == start && vma->vm_end == end && vma->vm_file)
		f = get_file(vma->vm_file);
	mutex_unlock(&mm->mmap_lock);
	mmput(mm);
	return f;
}

/* The place of the file that a link stands for, with references. 0 or -errno. */
static int map_files_path(const struct inode *inode, struct path *out)
{
	const struct proc_node *n = proc_node(inode);
	struct task_struct *task = proc_task(inode);
	struct file *f;

	if (!task)
		return -ENOENT;
	f = map_files_file(task, n->vm_start, n->vm_end);
	put_task_struct(task);
	if (IS_ERR(f))
		return PTR_ERR(f);
	*out = file_path(f);
	path_get(out);
	fput(f);
	return 0;
}

/* Linux lets CAP_CHECKPOINT_RESTORE do it, too. */
static int map_files_get_path(struct inode *inode, struct path *out)
{
	int err = map_files_path(inode, out);

	if (err || capable(CAP_SYS_ADMIN) || capable(CAP_CHECKPOINT_RESTORE))
		return err;
	path_put(out);
	return -EPERM;
}

/* The text of the link, which everybody who may look into the process can read. */
static const char *map_files_get_link(struct dentry *dentry, struct inode *inode, char *buf)
{
	struct path path = {};
	int err = map_files_path(inode, &path);
	char *name;

	if (err)
		return ERR_PTR(err);
	name = d_path(&path, buf, PAGE_SIZE);
	path_put(&path);
	return name;
}

static const struct inode_operations map_files_link_iops = {
	.get_link = map_files_get_link, .get_path = map_files_get_path, .setattr = proc_setattr};

/* The link's bits say how the file is open. */
static int map_files_lookup_task(struct inode *dir, struct dentry *dentry, struct task_struct *task)
{
	unsigned long start, end;
	struct inode *inode;
	struct file *f;
	u32 mode;

	if (!ptrace_may_access(task, PTRACE_MODE_READ_FSCREDS))
		return -EACCES;
	if (!map_files_range(dentry->d_name.name, &start, &end))
		return -ENOENT;
	f = map_files_file(task, start, end);
	if (IS_ERR(f))
		return PTR_ERR(f);
	mode = f->f_mode;
	fput(f);
	inode = proc_task_inode(dir->i_sb, task,
				S_IFLNK | (mode & FMODE_READ ? 0400 : 0) | (mode & FMODE_WRITE ? 0200 : 0));
	if (!inode)
		return -ENOMEM;
	proc_node(inode)->vm_start = start;
	proc_node(inode)->vm_end = end;
	inode->i_op = &map_files_link_iops;
	inode->i_size = 64; /* as on Linux: more than any text of such a name takes */
	spin_lock(&dcache_lock);
	dentry->d_flags |= DCACHE_CANT_MOUNT; /* as on Linux since 6.12: a mount there would outlive the area */
	spin_unlock(&dcache_lock);
	return proc_attach(dentry, inode);
}

static int map_files_lookup(struct inode *dir, struct dentry *dentry)
{
	struct task_struct *task = proc_task(dir);
	int err;

	if (!task)
		return -ENOENT;
	err = map_files_lookup_task(dir, dentry, task);
	put_task_struct(task);
	return err;
}

/* [m] The first area from `addr` on that has a file, or NULL. */
static struct vm_area_struct *next_mapped_file(struct mm_struct *mm, unsigned long addr)
{
	struct vm_area_struct *vma = find_vma(mm, addr);

	while (vma && !vma->vm_file)
		vma = find_vma(mm, vma->vm_end);
	return vma;
}

/*
 * List from the entry at ctx->pos on, which counts the areas that have a file. The lock is released for each emit(),
 * which may fault; the next area is then found by its address, so what is mapped and unmapped meanwhile does no harm.
 */
static void map_files_list(struct mm_struct *mm, struct dir_context *ctx)
{
	struct vm_area_struct *vma;
	unsigned long start, end = 0;
	char name[40];
	loff_t at = 2;
	int len;

	for (;; at++) {
		mutex_lock(&mm->mmap_lock);
		vma = next_mapped_file(mm, end);
		if (vma) {
			start = vma->vm_start;
			end = vma->vm_end;
		}
		mutex_unlock(&mm->mmap_lock);
		if (!vma)
			return;
		if (at < ctx->pos)
			continue;
		len = scnprintf(name, sizeof(name), "%lx-%lx", start, end);
		if (!ctx->emit(ctx, name, len, at, at + 1, DT_LNK))
			return;
		ctx->pos = at + 1;
	}
}

/* A task without memory has no names but the two dots. 0, -ENOENT, -EACCES. */
static int map_files_iterate(struct file *dirf, struct dir_context *ctx)
{
	struct task_struct *task = proc_task(dirf->f_inode);
	struct mm_struct *mm;

	if (!task)
		return -ENOENT;
	mm = mm_access(task, PTRACE_MODE_READ_FSCREDS);
	put_task_struct(task);
	if (IS_ERR(mm))
		return PTR_ERR(mm);
	if (dir_emit_dots(dirf, ctx) && mm)
		map_files_list(mm, ctx);
	if (mm)
		mmput(mm);
	return 0;
}

static const struct inode_operations map_files_dir_iops = {
	.lookup = map_files_lookup, .permission = proc_fd_permission, .setattr = proc_setattr};
static const struct file_operations map_files_dir_fops = {.iterate = map_files_iterate};
static const struct proc_pid_entry map_files_entry = {.name = "map_files",
						      .mode = S_IFDIR | 0500,
						      .iop = &map_files_dir_iops,
						      .fop = &map_files_dir_fops,
						      .process = true};
REGISTER_PROC_PID(map_files_entry);
