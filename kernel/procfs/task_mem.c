/* /proc/<pid>: what a process has in memory (maps, smaps, smaps_rollup, auxv), and the memory itself (mem,
 * pagemap). */
#include "internal.h"

#include <mm/mm.h>
#include <mm/page.h>
#include <proc/ptrace.h>

/* Text about an address space: nothing for what has none. */
static int show_mm(struct seq_file *m, struct task_struct *t, int (*show)(struct seq_file *m, struct mm_struct *mm))
{
	struct mm_struct *mm = mm_access(t, PTRACE_MODE_READ_FSCREDS);
	int err;

	if (!mm || IS_ERR(mm))
		return PTR_ERR(mm);
	err = show(m, mm);
	mmput(mm);
	return err;
}

static int maps_show(struct seq_file *m, struct task_struct *t)
{
	return show_mm(m, t, show_maps);
}

static int areas_show(struct seq_file *m, struct mm_struct *mm)
{
	return show_smaps(m, mm, false);
}

static int smaps_show(struct seq_file *m, struct task_struct *t)
{
	return show_mm(m, t, areas_show);
}

static int rollup_show(struct seq_file *m, struct mm_struct *mm)
{
	return show_smaps(m, mm, true);
}

static int smaps_rollup_show(struct seq_file *m, struct task_struct *t)
{
	return show_mm(m, t, rollup_show);
}

static int vector_show(struct seq_file *m, struct mm_struct *mm)
{
	seq_write(m, mm->saved_auxv, mm->nr_auxv * sizeof(mm->saved_auxv[0]));
	return 0;
}

static int auxv_show(struct seq_file *m, struct task_struct *t)
{
	return show_mm(m, t, vector_show);
}

/*
 * mem and pagemap. The right is asked for at the opening, of the address space that is then the file's: after
 * an exec it still is the old one, of which nothing is left. private_data holds its mm_count, so the file
 * does not keep the memory.
 */
static int open_mm(struct inode *inode, struct file *f, unsigned access)
{
	struct task_struct *task = proc_task(inode);
	struct mm_struct *mm;

	if (!task)
		return -ESRCH;
	mm = mm_access(task, access);
	put_task_struct(task);
	if (IS_ERR(mm))
		return PTR_ERR(mm);
	f->private_data = mm;
	if (mm) {
		mmgrab(mm);
		mmput(mm);
	}
	return 0;
}

static int mem_open(struct inode *inode, struct file *f)
{
	return open_mm(inode, f, PTRACE_MODE_ATTACH_FSCREDS);
}

static int pagemap_open(struct inode *inode, struct file *f)
{
	return open_mm(inode, f, PTRACE_MODE_READ_FSCREDS);
}

static int mem_release(struct inode *inode, struct file *f)
{
	if (f->private_data)
		mmdrop(f->private_data);
	return 0;
}

/* Any address is a position; there is no end to seek from. */
static loff_t mem_llseek(struct file *f, loff_t off, int whence)
{
	if (whence == SEEK_CUR)
		off += f->f_pos;
	else if (whence != SEEK_SET)
		return -EINVAL;
	if (off < 0)
		return -EINVAL;
	f->f_pos = off;
	return off;
}

/* At most a page, in `page`. Bytes done, or -errno. */
static ssize_t copy_mem(struct mm_struct *mm, loff_t pos, char __user *buf, size_t n, char *page, bool write)
{
	int got;

	if (write && copy_from_user(page, buf, n))
		return -EFAULT;
	got = access_remote_vm(mm, pos, page, n, write);
	if (got <= 0)
		return -EIO;
	if (!write && copy_to_user(buf, page, got))
		return -EFAULT;
	return got;
}

/* A page at a time, so that no part of the buffer is touched with the other's lock held. -EIO: nothing is
 * there. */
static ssize_t mem_rw(struct file *f, char __user *buf, size_t n, loff_t *pos, bool write)
{
	struct mm_struct *mm = f->private_data;
	ssize_t done = 0, got = 0;
	char *page;

	if (!mm || !n || !mmget_not_zero(mm))
		return 0;
	page = get_free_page(GFP_KERNEL);
	if (!page)
		done = -ENOMEM;
	while (page && done < n) {
		got = copy_mem(mm, *pos, buf + done, min_t(size_t, n - done, PAGE_SIZE), page, write);
		if (got < 0)
			break;
		done += got;
		*pos += got;
	}
	free_page(page);
	mmput(mm);
	return done ? done : got;
}

static ssize_t mem_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	return mem_rw(f, buf, n, pos, false);
}

static ssize_t mem_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	return mem_rw(f, (char __user *)buf, n, pos, true);
}

static const struct file_operations mem_fops = {
	.open = mem_open, .release = mem_release, .read = mem_read, .write = mem_write, .llseek = mem_llseek};

#define PAGEMAP_BATCH 32

/* Eight bytes for each page from address 0 on; frame numbers are for root. */
static ssize_t pagemap_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	struct mm_struct *mm = f->private_data;
	u64 entries[PAGEMAP_BATCH], first = *pos / sizeof(u64), last = TASK_SIZE / PAGE_SIZE;
	size_t done = 0;

	if (*pos % sizeof(u64) || n % sizeof(u64))
		return -EINVAL;
	if (!mm || !n || first >= last || !mmget_not_zero(mm))
		return 0;
	n = min_t(u64, n / sizeof(u64), last - first);
	while (done < n) {
		unsigned part = min_t(size_t, n - done, PAGEMAP_BATCH);

		read_pagemap(mm, (first + done) * PAGE_SIZE, entries, part, current->euid == 0);
		if (copy_to_user(buf + done * sizeof(u64), entries, part * sizeof(u64)))
			break;
		done += part;
	}
	mmput(mm);
	*pos += done * sizeof(u64);
	return done ? (ssize_t)(done * sizeof(u64)) : -EFAULT;
}

static const struct file_operations pagemap_fops = {
	.open = pagemap_open, .release = mem_release, .read = pagemap_read, .llseek = mem_llseek};

static const struct proc_pid_entry maps_entry = {
	.name = "maps", .mode = 0444, .access = PTRACE_MODE_READ_FSCREDS, .show = maps_show};
static const struct proc_pid_entry smaps_entry = {
	.name = "smaps", .mode = 0444, .access = PTRACE_MODE_READ_FSCREDS, .show = smaps_show};
static const struct proc_pid_entry rollup_entry = {
	.name = "smaps_rollup", .mode = 0444, .access = PTRACE_MODE_READ_FSCREDS, .show = smaps_rollup_show};
static const struct proc_pid_entry auxv_entry = {
	.name = "auxv", .mode = 0400, .access = PTRACE_MODE_READ_FSCREDS, .show = auxv_show};
static const struct proc_pid_entry mem_entry = {.name = "mem", .mode = 0600, .fop = &mem_fops};
static const struct proc_pid_entry pagemap_entry = {.name = "pagemap", .mode = 0400, .fop = &pagemap_fops};
REGISTER_PROC_PID(maps_entry);
REGISTER_PROC_PID(smaps_entry);
REGISTER_PROC_PID(rollup_entry);
REGISTER_PROC_PID(auxv_entry);
REGISTER_PROC_PID(mem_entry);
REGISTER_PROC_PID(pagemap_entry);
