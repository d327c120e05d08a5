/*
 * The root of procfs: how /proc is put together from two kinds of names.
 *
 *     files of subsystems        registered with REGISTER_PROC, made when /proc is mounted; they stay, as an ordinary
 *                                tree in the dentry cache (libfs)
 *     directories of processes   not stored anywhere: a look-up of a number asks the table of pids, and a listing asks
 *                                for one process after the other; they vanish with their process
 *
 * Context of everything here: a task that may sleep. A task that was found is held by a reference while its
 * inode is made.
 */
#include "../fs/made/text_file_ops.h"
#include "internal.h"

#include <kernel/printk.h>
#include <lib/printf.h>
#include <mm/slab.h>
#include <uapi/statfs.h>

DECLARE_TABLE(proc, const struct text_file);

/* Leading zeros are refused: "007" is not another name of process 7. Nine digits fit into an unsigned. */
bool proc_number(const struct dentry *d, unsigned *v)
{
	*v = 0;
	if (d->d_name.len > 9 || (d->d_name.len > 1 && d->d_name.name[0] == '0'))
		return false;
	for (unsigned i = 0; i < d->d_name.len; i++) {
		if (!isdigit(d->d_name.name[i]))
			return false;
		*v = *v * 10 + d->d_name.name[i] - '0';
	}
	return true;
}

/*
 * Look up a name that no subsystem has registered: it can only be a process's. A failed look-up leaves no
 * negative dentry in the cache, since the next process may get this very number.
 */
static int proc_root_lookup(struct inode *dir, struct dentry *dentry)
{
	struct task_struct *task;
	unsigned pid;
	int err;

	if (!proc_number(dentry, &pid))
		return -ENOENT;
	task = find_get_task(pid);
	if (!task)
		return -ENOENT;
	err = proc_pid_lookup(dir, dentry, task);
	put_task_struct(task);
	return err;
}

/*
 * Positions in a listing of /proc. Registered entries have small positions, which dcache_readdir chooses;
 * process `pid` has position PID_POS + pid. So a listing that was interrupted goes on at the right process
 * even when others have begun or ended in between: a process that lives all the time is listed exactly
 * once.
 */
#define PID_POS (1LL << 40)

/*
 * Registered entries first, then processes in the order of their numbers. A return when emit() refuses
 * keeps ctx->pos at the entry that did not fit, so the next call repeats that entry.
 */
static int proc_root_iterate(struct file *f, struct dir_context *ctx)
{
	struct task_struct *p;
	char name[16];

	if (ctx->pos < PID_POS) {
		int err = dcache_readdir(f, ctx);

		if (err || !dcache_readdir_done(f, ctx))
			return err;
		ctx->pos = PID_POS;
	}
	while ((p = next_process(max_t(pid_t, ctx->pos - PID_POS, 1)))) {
		pid_t pid = p->tgid;
		int len = snprintf(name, sizeof(name), "%d", pid);

		put_task_struct(p);
		ctx->pos = PID_POS + pid;
		if (!ctx->emit(ctx, name, len, ctx->pos, PID_POS + pid, DT_DIR))
			return 0;
		ctx->pos++;
	}
	return 0;
}

static const struct inode_operations proc_root_iops = {.lookup = proc_root_lookup, .create = simple_no_create};
static const struct file_operations proc_root_fops = {.iterate = proc_root_iterate};

/*
 * /proc/self and /proc/thread-self: links whose text depends on the task that reads them. Programs open
 * /proc/self/maps without knowing their own number.
 */
static const char *self_get_link(struct dentry *dentry, struct inode *inode, char *buf)
{
	snprintf(buf, PAGE_SIZE, "%d", current->tgid);
	return buf;
}

static const char *thread_self_get_link(struct dentry *dentry, struct inode *inode, char *buf)
{
	snprintf(buf, PAGE_SIZE, "%d/task/%d", current->tgid, current->pid);
	return buf;
}

/*
 * /proc/mounts leads to the reader's own list, since a mount is shown as it is seen from the reader's root
 * directory.
 */
static const char *mounts_get_link(struct dentry *dentry, struct inode *inode, char *buf)
{
	return "self/mounts";
}

static const struct inode_operations self_iops = {.get_link = self_get_link};
static const struct inode_operations thread_self_iops = {.get_link = thread_self_get_link};
static const struct inode_operations mounts_iops = {.get_link = mounts_get_link};

/* A symbolic link in the root whose text `iop->get_link` computes. Returns 0 or -errno. */
static int proc_create_link(struct dentry *root, const char *name, const struct inode_operations *iop)
{
	struct dentry *d = simple_create_file(root, name, S_IFLNK | 0777, NULL, NULL);

	if (IS_ERR(d))
		return PTR_ERR(d);
	d->d_inode->i_op = iop;
	return 0;
}

/*
 * The write of a file of /proc, by Linux's name: a filter or a graph of this function has the writes of /proc and no
 * others. -EIO, as there, for a file that takes no text; else what text_file_write() returns.
 */
static ssize_t proc_reg_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	return f->f_inode->i_text->store ? text_file_write(f, buf, n, pos) : -EIO;
}

/* The mmap of all of them. Files of /proc/sys and of processes have none, which is -ENODEV. -EIO, as on Linux. */
static int proc_reg_mmap(struct file *f, struct vm_area_struct *vma)
{
	return strncmp(f->f_inode->i_text->path, "sys/", 4) ? -EIO : -ENODEV;
}

static const struct file_operations proc_text_fops = {.open = text_file_open,
						      .release = text_file_release,
						      .read = text_file_read,
						      .write = proc_reg_write,
						      .mmap = proc_reg_mmap,
						      .llseek = text_file_llseek};

static const struct super_operations proc_super_ops = {
	.evict_inode = proc_evict_node, .begin_put = proc_begin_put, .put_super = proc_put_super};

/*
 * Fill a new mount of procfs. Each mount has a super block and a tree of its own. Options are refused:
 * Linux has hidepid= and gid=, and a mount that accepted them and did nothing would promise a protection
 * that is not there. A file that cannot be made is reported and left out, since the rest of /proc is useful
 * without it.
 */
static int proc_fill_super(struct super_block *sb, const char *options)
{
	const struct text_file *e;
	int err;

	if (*options)
		return -EINVAL;
	sb->s_op = &proc_super_ops;
	sb->s_fixed = true;
	err = simple_fill_super(sb, PROC_SUPER_MAGIC, 0555, &proc_root_iops);
	if (err)
		return err;
	sb->s_root->d_inode->i_fop = &proc_root_fops;
	for_each_in_table(proc, e) {
		err = text_file_create_with(sb->s_root, e, 0555, &proc_text_fops);
		if (err)
			pr_err("proc: cannot create %s: error %d\n", e->path, err);
	}
	proc_sys_finish(sb->s_root);
	err = proc_create_link(sb->s_root, "self", &self_iops);
	if (!err)
		err = proc_create_link(sb->s_root, "thread-self", &thread_self_iops);
	if (!err)
		err = proc_create_link(sb->s_root, "mounts", &mounts_iops);
	return err ? err : proc_add_super(sb);
}

static const struct file_system_type proc_type = {.name = "proc", .nodev = true, .fill_super = proc_fill_super};
REGISTER_FILESYSTEM(proc_type);
