/*
 * /proc/<pid>: a directory for each process and thread, whose files come from one table.
 *
 * A file is a struct proc_pid_entry that its subsystem registers (REGISTER_PROC_PID). A directory is not
 * stored: a look-up of a name in it finds the entry and makes an inode for this task. The inode does not
 * keep the task alive; it names it by number and start time (struct proc_node), and each use looks the task
 * up again.
 *
 * Rights are asked after the fact. A process may begin to run a set-user-id program at any moment, so a
 * check before the text is made says nothing about the text. pid_show() makes the text first, asks then,
 * and drops the text when the answer is no.
 */
#include "internal.h"

#include <fs/removable.h>

#include <lib/printf.h>
#include <mm/mm.h>
#include <mm/slab.h>
#include <proc/ptrace.h>
#include <sched/sched.h>

DECLARE_TABLE(proc_pid, const struct proc_pid_entry);

/*
 * A number may have been given to another task since the inode was made. The start time tells: two tasks
 * with one number cannot have begun at the same nanosecond.
 */
struct task_struct *proc_task(const struct inode *inode)
{
	struct proc_node *n = proc_node(inode);
	struct task_struct *task = find_get_task(n->pid);

	if (task && task->start_time != n->start_time) {
		put_task_struct(task);
		task = NULL;
	}
	return task;
}

/*
 * Set the owner of a file or directory of the task: the task's effective user. What is not open to
 * everybody belongs to root while the task's user may not look into it: its memory is not dumpable, or it
 * has none any more. pi_lock keeps task->mm.
 *
 * Context: the inode is new, or dcache_lock is held, or the file that stands for it is being opened; `task`
 * is held by a reference or RCU.
 */
static void proc_task_owner(struct inode *inode, struct task_struct *task)
{
	bool dumpable = inode->i_mode == (S_IFDIR | 0555);
	unsigned long flags;

	if (!dumpable) {
		spin_lock_irqsave(&task->pi_lock, flags);
		dumpable = task->mm && READ_ONCE(task->mm->dumpable) == SUID_DUMP_USER;
		spin_unlock_irqrestore(&task->pi_lock, flags);
	}
	WRITE_ONCE(inode->i_uid, dumpable ? READ_ONCE(task->euid) : 0);
	WRITE_ONCE(inode->i_gid, dumpable ? READ_ONCE(task->egid) : 0);
}

/*
 * A cached name is good as long as its task can be found. Its owner may have changed, so each look-up sets it.
 * [dcache_lock]
 */
static bool proc_pid_revalidate(struct dentry *d)
{
	struct proc_node *n = proc_node(d->d_inode);
	struct task_struct *task;
	bool res;

	rcu_read_lock();
	task = find_task_by_pid(n->pid);
	res = task && task->start_time == n->start_time;
	if (res)
		proc_task_owner(d->d_inode, task);
	rcu_read_unlock();
	return res;
}

const struct dentry_operations proc_pid_dentry_ops = {.d_revalidate = proc_pid_revalidate};

/*
 * An inode that stands for a process by number and start time: a number that was given again is told apart by the
 * second. NULL: no memory.
 */
struct inode *proc_task_inode(struct super_block *sb, struct task_struct *task, mode_t mode)
{
	struct proc_node *n = kzalloc(sizeof(*n), GFP_KERNEL);
	struct inode *inode = n ? new_inode(sb, mode) : NULL;

	if (!inode) {
		kfree(n);
		return NULL;
	}
	n->pid = task->pid;
	n->start_time = task->start_time;
	inode->i_private = n;
	inode->i_rdev = 1; /* marks the inodes whose i_private is a proc_node */
	proc_task_owner(inode, task);
	return inode;
}

/* Inodes of registered files have no proc_node; those have i_rdev 0. */
void proc_evict_node(struct inode *inode)
{
	if (inode->i_rdev)
		kfree(inode->i_private);
	removable_evict(inode);
}

int proc_attach(struct dentry *dentry, struct inode *inode)
{
	if (!inode)
		return -ENOMEM;
	dentry->d_op = &proc_pid_dentry_ops;
	d_add(dentry, inode);
	return 0;
}

int proc_setattr(struct dentry *dentry, const struct iattr *attr)
{
	return attr->valid & ATTR_MODE ? -EPERM : simple_setattr(dentry, attr);
}

/*
 * The directory of a process or thread is immutable, in Linux's words: nobody may write to it or change an attribute of
 * it. [i_lock]
 */
static int proc_pid_dir_setattr(struct dentry *dentry, const struct iattr *attr)
{
	return -EPERM;
}

/* Any context. */
static int proc_pid_dir_permission(const struct inode *inode, int mask)
{
	return mask & MAY_WRITE ? -EPERM : mode_permission(inode, mask);
}

/* May the current task read this file of `task`? 0 or -EACCES. An entry with access 0 is open to everybody. */
static int pid_may_read(const struct inode *inode, struct task_struct *task)
{
	unsigned mode = proc_node(inode)->entry->access;

	return !mode || ptrace_may_access(task, mode) ? 0 : -EACCES;
}

/*
 * Files: the table's show and store. The checks come after the text is made, and a text that may not be shown is
 * dropped: had they come before, the task could have begun to run a set-user-id program between check and text. A file
 * that is not for everybody shows the program for which it was opened and reads as empty behind an exec: its reader may
 * have got it from another user, who was allowed to see the old program and is not allowed to see the new one.
 */
static int pid_show(struct seq_file *m, void *v)
{
	struct inode *inode = m->private;
	struct task_struct *task = proc_task(inode);
	int err;

	if (!task)
		return -ESRCH;
	err = proc_node(inode)->entry->show(m, task);
	smp_rmb(); /* pairs with the barrier in begin_new_exec: text before number */
	if (err >= 0 && proc_node(inode)->entry->access && m->exec_id != READ_ONCE(task->self_exec_id))
		err = SEQ_SKIP;
	else if (err >= 0 && pid_may_read(inode, task))
		err = -EACCES;
	put_task_struct(task);
	return err;
}

/* The number first: should the task exec meanwhile, the file is of no use, whatever the check then said. */
static int pid_open(struct inode *inode, struct file *f)
{
	struct task_struct *task = proc_task(inode);
	u32 exec_id;
	int err;

	if (!task)
		return -ESRCH;
	exec_id = READ_ONCE(task->self_exec_id);
	smp_rmb();
	err = pid_may_read(inode, task);
	put_task_struct(task);
	if (!err)
		err = single_open(f, pid_show, inode);
	if (!err)
		((struct seq_file *)f->private_data)->exec_id = exec_id;
	return err;
}

/* Entries that can only be written refuse: -EINVAL. */
static ssize_t pid_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	return proc_node(f->f_inode)->entry->show ? seq_read(f, buf, n, pos) : -EINVAL;
}

/*
 * Give the written text, at most 255 bytes, to the entry's store function, in one piece. Returns the number
 * of bytes or -errno.
 */
static ssize_t pid_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	const struct proc_pid_entry *e = proc_node(f->f_inode)->entry;
	char text[256];
	ssize_t len = e->store ? copy_text_from_user(text, sizeof(text), buf, n) : -EINVAL;
	struct task_struct *task;

	if (len < 0)
		return len;
	task = proc_task(f->f_inode);
	if (!task)
		return -ESRCH;
	len = e->store(task, text, len);
	put_task_struct(task);
	return len ? len : (ssize_t)n;
}

static const struct file_operations pid_file_fops = {
	.open = pid_open, .release = single_release, .read = pid_read, .write = pid_write, .llseek = seq_lseek};

/*
 * Follow a link (cwd, root, exe). The right is asked about the task after the path was taken; a path that
 * may not be seen is put back.
 */
static int pid_get_path(struct inode *inode, struct path *out)
{
	struct task_struct *task = proc_task(inode);
	int err;

	if (!task)
		return -ENOENT;
	err = proc_node(inode)->entry->path(task, out);
	if (!ptrace_may_access(task, PTRACE_MODE_READ_FSCREDS)) {
		if (!err)
			path_put(out);
		err = -EACCES;
	}
	put_task_struct(task);
	return err;
}

/* The text of such a link: the path as seen from the reader's root. */
static const char *pid_path_text(struct dentry *dentry, struct inode *inode, char *buf)
{
	struct path path;
	char *name;
	int err = pid_get_path(inode, &path);

	if (err)
		return ERR_PTR(err);
	name = d_path(&path, buf, PAGE_SIZE);
	path_put(&path);
	return name;
}

/* Links whose text an entry computes (no object of the file system stands behind them). */
static const char *pid_link_text(struct dentry *dentry, struct inode *inode, char *buf)
{
	struct task_struct *task = proc_task(inode);
	int err;

	if (!task)
		return ERR_PTR(-ENOENT);
	err = proc_node(inode)->entry->link(task, buf, PAGE_SIZE);
	if (!ptrace_may_access(task, PTRACE_MODE_READ_FSCREDS))
		err = -EACCES;
	put_task_struct(task);
	return err < 0 ? ERR_PTR(err) : buf;
}

static const struct inode_operations pid_path_iops = {
	.get_link = pid_path_text, .get_path = pid_get_path, .setattr = proc_setattr};
static const struct inode_operations pid_link_iops = {.get_link = pid_link_text, .setattr = proc_setattr};
static const struct inode_operations pid_file_iops = {.setattr = proc_setattr};

/*
 * The type of the inode follows from what the entry has: path or link is a symbolic link; else a directory
 * or a file.
 */
static mode_t entry_mode(const struct proc_pid_entry *e)
{
	if (e->path || e->link)
		return S_IFLNK | 0777;
	return S_ISDIR(e->mode) ? e->mode : S_IFREG | e->mode;
}

static const struct inode_operations *pid_entry_iops(const struct proc_pid_entry *e)
{
	if (e->path)
		return &pid_path_iops;
	if (e->link)
		return &pid_link_iops;
	return e->iop ? e->iop : &pid_file_iops;
}

/* Make the inode for entry e of the task, and attach it to the name. */
static int pid_entry_lookup(struct inode *dir, struct dentry *dentry, struct task_struct *task,
			    const struct proc_pid_entry *e)
{
	struct inode *inode = proc_task_inode(dir->i_sb, task, entry_mode(e));

	if (inode) {
		proc_node(inode)->entry = e;
		inode->i_op = pid_entry_iops(e);
		inode->i_fop = e->fop ? e->fop : e->show || e->store ? &pid_file_fops : NULL;
	}
	return proc_attach(dentry, inode);
}

/*
 * Does the directory have this entry? <pid>/task/<tid> has what <pid> has, except entries of whole
 * processes: with a `task` directory in it, the tree would have no end.
 */
static bool pid_entry_is_in(const struct inode *dir, const struct proc_pid_entry *e)
{
	return !e->process || dir->i_op != &proc_tid_dir_iops;
}

bool proc_of_thread(const struct seq_file *m)
{
	return m->file->f_dentry->d_parent->d_inode->i_op == &proc_tid_dir_iops;
}

/* Find the name in the table, some thirty entries. -ENOENT when no entry has it. */
static int pid_lookup_task(struct inode *dir, struct dentry *dentry, struct task_struct *task)
{
	const struct proc_pid_entry *e;

	for_each_in_table(proc_pid, e) {
		if (pid_entry_is_in(dir, e) && !strcmp(dentry->d_name.name, e->name))
			return pid_entry_lookup(dir, dentry, task, e);
	}
	return -ENOENT;
}

/* Look up a file of a process or thread that may have ended since its directory was found: -ENOENT then. */
static int proc_pid_dir_lookup(struct inode *dir, struct dentry *dentry)
{
	struct task_struct *task = proc_task(dir);
	int err;

	if (!task)
		return -ENOENT;
	err = pid_lookup_task(dir, dentry, task);
	put_task_struct(task);
	return err;
}

/* List the table. The position is the place in the table + 2, behind "." and "..". */
static int proc_pid_dir_iterate(struct file *f, struct dir_context *ctx)
{
	const struct proc_pid_entry *e;
	loff_t at = 2;

	if (!dir_emit_dots(f, ctx))
		return 0;
	for_each_in_table(proc_pid, e) {
		if (at == ctx->pos) {
			if (pid_entry_is_in(f->f_inode, e) &&
			    !ctx->emit(ctx, e->name, strlen(e->name), at, at, (entry_mode(e) & S_IFMT) >> 12))
				return 0;
			ctx->pos++;
		}
		at++;
	}
	return 0;
}

static struct task_struct *proc_pid_process(const struct file *f)
{
	return proc_task(f->f_inode);
}

const struct inode_operations proc_pid_dir_iops = {
	.lookup = proc_pid_dir_lookup, .permission = proc_pid_dir_permission, .setattr = proc_pid_dir_setattr};
static const struct file_operations proc_pid_dir_fops = {.iterate = proc_pid_dir_iterate, .process = proc_pid_process};

const struct inode_operations proc_tid_dir_iops = {
	.lookup = proc_pid_dir_lookup, .permission = proc_pid_dir_permission, .setattr = proc_pid_dir_setattr};
static const struct file_operations proc_tid_dir_fops = {.iterate = proc_pid_dir_iterate};

/* Make the inode of a directory of a task. The operations say which kind: of a process, or of a thread. */
static int pid_dir_lookup(struct inode *dir, struct dentry *dentry, struct task_struct *task,
			  const struct inode_operations *iop, const struct file_operations *fop)
{
	struct inode *inode = proc_task_inode(dir->i_sb, task, S_IFDIR | 0555);

	if (inode) {
		inode->i_op = iop;
		inode->i_fop = fop;
	}
	return proc_attach(dentry, inode);
}

int proc_tid_lookup(struct inode *dir, struct dentry *dentry, struct task_struct *task)
{
	return pid_dir_lookup(dir, dentry, task, &proc_tid_dir_iops, &proc_tid_dir_fops);
}

int proc_pid_lookup(struct inode *dir, struct dentry *dentry, struct task_struct *task)
{
	return pid_dir_lookup(dir, dentry, task, &proc_pid_dir_iops, &proc_pid_dir_fops);
}
