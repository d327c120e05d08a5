/* /proc/<pid>/fd and /proc/<pid>/task: directories whose entries come and go. */
#include "proc_internal.h"

#include <lib/printf.h>
#include <mm/page.h>

/* The open file that a link of fd/ stands for, with a reference; NULL: closed, or the process is gone. */
static struct file *fd_file(const struct inode *inode)
{
	struct task_struct *task = proc_task(inode);
	struct file *f;

	if (!task)
		return NULL;
	f = fget_task(task, proc_node(inode)->fd);
	put_task_struct(task);
	return f;
}

static int fd_get_path(struct inode *inode, struct path *out)
{
	struct file *f = fd_file(inode);

	if (!f)
		return -ENOENT;
	*out = file_path(f);
	path_get(out);
	fput(f);
	return 0;
}

static const char *fd_get_link(struct dentry *dentry, struct inode *inode, char *buf)
{
	struct path path;
	char *name;
	int err = fd_get_path(inode, &path);

	if (err)
		return ERR_PTR(err);
	name = d_path(&path, buf, PAGE_SIZE);
	path_put(&path);
	return name;
}

static const struct inode_operations fd_link_iops = {.get_link = fd_get_link, .get_path = fd_get_path};

/* A cached link whose descriptor was closed meanwhile fails when it is followed. */
static int fd_lookup_task(struct inode *dir, struct dentry *dentry, struct task_struct *task, unsigned fd)
{
	struct file *f = fget_task(task, fd);
	struct inode *inode;
	mode_t mode = S_IFLNK;

	if (!f)
		return -ENOENT;
	/* The bits say how the file is open. */
	mode |= (f->f_mode & FMODE_READ ? 0500 : 0) | (f->f_mode & FMODE_WRITE ? 0300 : 0);
	fput(f);
	inode = proc_task_inode(dir->i_sb, task, mode);
	if (!inode)
		return -ENOMEM;
	proc_node(inode)->fd = fd;
	inode->i_op = &fd_link_iops;
	return proc_attach(dentry, inode);
}

static int fd_dir_lookup(struct inode *dir, struct dentry *dentry)
{
	struct task_struct *task;
	unsigned fd;
	int err;

	if (!proc_number(dentry, &fd))
		return -ENOENT;
	task = proc_task(dir);
	if (!task)
		return -ENOENT;
	err = fd_lookup_task(dir, dentry, task, fd);
	put_task_struct(task);
	return err;
}

/* Positions: descriptor + 2. */
static int fd_dir_iterate(struct file *dirf, struct dir_context *ctx)
{
	struct task_struct *task;
	struct file *f;
	char name[16];
	bool more = true;

	if (!dir_emit_dots(dirf, ctx))
		return 0;
	task = proc_task(dirf->f_inode);
	if (!task)
		return -ENOENT;
	while (more) {
		unsigned fd = ctx->pos - 2;

		f = fget_task_next(task, &fd);
		if (!f)
			break;
		fput(f);
		ctx->pos = fd + 2;
		more = ctx->emit(ctx, name, snprintf(name, sizeof(name), "%u", fd), ctx->pos, ctx->pos + 1,
				 DT_LNK);
		if (more)
			ctx->pos++;
	}
	put_task_struct(task);
	return 0;
}

const struct inode_operations proc_fd_dir_iops = {.lookup = fd_dir_lookup};
const struct file_operations proc_fd_dir_fops = {.iterate = fd_dir_iterate};

static int task_dir_lookup(struct inode *dir, struct dentry *dentry)
{
	struct task_struct *task;
	unsigned tid;
	int err = -ENOENT;

	if (!proc_number(dentry, &tid))
		return -ENOENT;
	task = find_get_task(tid);
	if (!task)
		return -ENOENT;
	if (task->tgid == proc_node(dir)->pid)
		err = proc_tid_lookup(dir, dentry, task);
	put_task_struct(task);
	return err;
}

/* The first thread of `leader` with an id >= tid; 0: none. */
static pid_t next_thread_id(struct task_struct *leader, pid_t tid)
{
	struct task_struct *t;
	unsigned long flags;
	pid_t best = 0;

	spin_lock_irqsave(&tasklist_lock, flags);
	for_each_thread(leader, t) if (t->pid >= tid && (!best || t->pid < best)) best = t->pid;
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return best;
}

/* Positions: thread id + 2. */
static int task_dir_iterate(struct file *f, struct dir_context *ctx)
{
	struct task_struct *leader;
	char name[16];
	pid_t tid;

	if (!dir_emit_dots(f, ctx))
		return 0;
	leader = proc_task(f->f_inode);
	if (!leader)
		return -ENOENT;
	while ((tid = next_thread_id(leader, ctx->pos - 2))) {
		ctx->pos = tid + 2;
		if (!ctx->emit(ctx, name, snprintf(name, sizeof(name), "%d", tid), ctx->pos, ctx->pos,
			       DT_DIR))
			break;
		ctx->pos++;
	}
	put_task_struct(leader);
	return 0;
}

const struct inode_operations proc_task_dir_iops = {.lookup = task_dir_lookup};
const struct file_operations proc_task_dir_fops = {.iterate = task_dir_iterate};
