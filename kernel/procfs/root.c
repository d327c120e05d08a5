/* procfs: the tree of files that subsystems register, and the directories of processes beside them. */
#include "internal.h"

#include <kernel/printk.h>
#include <lib/printf.h>
#include <mm/slab.h>
#include <uapi/statfs.h>

DECLARE_TABLE(proc, const struct text_file);

bool proc_number(const struct dentry *d, unsigned *v)
{
	*v = 0;
	if (d->d_namelen > 9 || (d->d_namelen > 1 && d->d_name[0] == '0'))
		return false;
	for (unsigned i = 0; i < d->d_namelen; i++) {
		if (!isdigit(d->d_name[i]))
			return false;
		*v = *v * 10 + d->d_name[i] - '0';
	}
	return true;
}

/* Names that are not registered: processes. A "no" is not remembered: the next process may have the number.
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

/* Positions of processes in readdir lie above all of the tree's. */
#define PID_POS (1LL << 40)

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

static int proc_no_create(struct inode *dir, struct dentry *dentry, mode_t mode)
{
	return -EACCES;
}

static const struct inode_operations proc_root_iops = {.lookup = proc_root_lookup, .create = proc_no_create};
static const struct file_operations proc_root_fops = {.iterate = proc_root_iterate};

/* /proc/self and /proc/thread-self: links whose text depends on who reads. */
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

static const char *mounts_get_link(struct dentry *dentry, struct inode *inode, char *buf)
{
	return "self/mounts";
}

static const struct inode_operations self_iops = {.get_link = self_get_link};
static const struct inode_operations thread_self_iops = {.get_link = thread_self_get_link};
static const struct inode_operations mounts_iops = {.get_link = mounts_get_link};

static int proc_create_link(struct dentry *root, const char *name, const struct inode_operations *iop)
{
	struct dentry *d = simple_create_file(root, name, S_IFLNK | 0777, NULL, NULL);

	if (IS_ERR(d))
		return PTR_ERR(d);
	d->d_inode->i_op = iop;
	return 0;
}

static const struct super_operations proc_super_ops = {.evict_inode = proc_evict_node};

/* Each mount has a super block of its own. There are no options: hidepid= and gid= would change what others see. */
static int proc_fill_super(struct super_block *sb, const char *options)
{
	const struct text_file *e;
	int err;

	if (*options)
		return -EINVAL;
	sb->s_op = &proc_super_ops;
	err = simple_fill_super(sb, PROC_SUPER_MAGIC, 0555, &proc_root_iops);
	if (err)
		return err;
	sb->s_root->d_inode->i_fop = &proc_root_fops;
	for_each_in_table(proc, e) {
		err = text_file_create(sb->s_root, e, 0555);
		if (err)
			pr_err("proc: cannot create %s: error %d\n", e->path, err);
	}
	err = proc_create_link(sb->s_root, "self", &self_iops);
	if (!err)
		err = proc_create_link(sb->s_root, "thread-self", &thread_self_iops);
	return err ? err : proc_create_link(sb->s_root, "mounts", &mounts_iops);
}

static const struct file_system_type proc_type = {.name = "proc", .nodev = true, .fill_super = proc_fill_super};
REGISTER_FILESYSTEM(proc_type);
