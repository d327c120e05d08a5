/*
 * /proc/<pid>: what a process has in memory (maps, smaps, smaps_rollup, auxv), and the memory itself (mem,
 * pagemap).
 *
 * The text files take the address space and ask for the right in one step at each read (mm_access). mem and
 * pagemap do so once, when they are opened: their descriptor keeps the address space it was opened for. Two
 * counts of an mm are used: mm_users keeps the memory (mmget, mmput), mm_count keeps only the struct
 * (mmgrab, mmdrop).
 */
#include "internal.h"

#include <mm/mm.h>
#include <mm/page.h>
#include <proc/capability.h>
#include <proc/ptrace.h>

/*
 * Print something about the task's address space. Nothing is printed for a task without one (a kernel
 * thread, or one that has ended). Returns 0 or -errno: -EACCES when the reader may not look.
 */
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

/* The mappings, a line each, as in Linux's file. */
static int maps_show(struct seq_file *m, struct task_struct *t)
{
	return show_mm(m, t, show_maps);
}

/* smaps: what each mapping has in memory. */
static int areas_show(struct seq_file *m, struct mm_struct *mm)
{
	return show_smaps(m, mm, false);
}

static int smaps_show(struct seq_file *m, struct task_struct *t)
{
	return show_mm(m, t, areas_show);
}

/* smaps_rollup: the sums over all mappings, as one block. */
static int rollup_show(struct seq_file *m, struct mm_struct *mm)
{
	return show_smaps(m, mm, true);
}

static int smaps_rollup_show(struct seq_file *m, struct task_struct *t)
{
	return show_mm(m, t, rollup_show);
}

/* The auxiliary vector, as the bytes that exec has put onto the stack of the program. */
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
 * Open mem or pagemap. The right is asked for the address space that then belongs to the file. After an exec of the
 * task the file still has the old one, whose memory is gone, and reads as empty.
 * private_data holds a mm_count, so an open file does not keep the memory of a process that has ended.
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

/* mem can be written to, so it asks for the right to attach, which is the stronger one. */
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

/*
 * Every address is a position. There is no end of the file that a position could be relative to: SEEK_END
 * is -EINVAL.
 */
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

/*
 * Copy at most a page between the address space and `buf`, by way of `page`. Returns the bytes done or
 * -errno; -EIO: no memory is mapped there.
 */
static ssize_t copy_mem(struct mm_struct *mm, loff_t pos, char __user *buf, size_t n, char *page, bool write)
{
	int got;

	if (write && copy_from_user(page, buf, n))
		return -EFAULT;
	got = access_remote_vm(mm, pos, page, n, FAULT_FLAG_FORCE | (write ? FAULT_FLAG_WRITE : 0));
	if (got <= 0)
		return -EIO;
	if (!write && copy_to_user(buf, page, got))
		return -EFAULT;
	return got;
}

/*
 * Copy a page at a time, through a page of our own: the reader's buffer may fault, and must not be touched
 * while the lock of the other address space is held. Two processes that read each other's memory would wait
 * for each other for ever.
 */
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

/* Entries that are made at a time, on the stack. */
#define PAGEMAP_BATCH 32

/*
 * Eight bytes for each page, beginning with the page at address 0. Frame numbers are shown to root only, as
 * they tell an attacker where things lie in memory (the row-hammer attack needs that); others see the
 * flags.
 */
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

		read_pagemap(mm, (first + done) * PAGE_SIZE, entries, part, capable(CAP_SYS_ADMIN));
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
