/*
 * /proc/<pid>/fd, fdinfo and task: directories whose entries come and go.
 *
 * Nothing of them is stored. A look-up asks the task's table of files (or the list of threads) and makes an
 * inode; each use of that inode asks again, because the descriptor may be closed and opened as another file
 * meanwhile. The right to look is asked AFTER the object is at hand: what was the user's own may be shown,
 * and what belongs to a program with more rights is seen as such, even if the task executes it between the
 * two steps.
 */
#include "internal.h"

#include <fs/file_part.h>
#include <lib/printf.h>
#include <mm/page.h>
#include <proc/ptrace.h>
#include <sched/sched.h>

/*
 * May the current task see the descriptors of `task`? To be asked after they were taken (see
 * ptrace_may_access).
 */
static bool may_see_fds(struct task_struct *task)
{
	return ptrace_may_access(task, PTRACE_MODE_READ_FSCREDS);
}

/*
 * The open file that a link of fd/ stands for, with a reference. ERR_PTR(-ENOENT): the descriptor is
 * closed, or the process is gone; ERR_PTR(-EACCES): the reader may not look into the process.
 */
static struct file *fd_file(const struct inode *inode)
{
	struct task_struct *task = proc_task(inode);
	struct file *f;

	if (!task)
		return ERR_PTR(-ENOENT);
	f = fget_task(task, proc_node(inode)->fd);
	if (!may_see_fds(task)) {
		if (f)
			fput(f);
		f = ERR_PTR(-EACCES);
	}
	put_task_struct(task);
	return f ? f : ERR_PTR(-ENOENT);
}

/*
 * Follow the link: it leads to the open file itself, even if that file has no name any more. So it is not
 * the same as following the text of the link.
 */
static int fd_get_path(struct inode *inode, struct path *out)
{
	struct file *f = fd_file(inode);

	if (IS_ERR(f))
		return PTR_ERR(f);
	*out = file_path(f);
	path_get(out);
	fput(f);
	return 0;
}

/* The text of the link, as readlink shows it: the path seen from the reader's root, or e.g. "pipe:[17]". */
static const char *fd_get_link(struct dentry *dentry, struct inode *inode, char *buf)
{
	struct path path = {};
	char *name;
	int err = fd_get_path(inode, &path);

	if (err)
		return ERR_PTR(err);
	name = d_path(&path, buf, PAGE_SIZE);
	path_put(&path);
	return name;
}

static const struct inode_operations fd_link_iops = {
	.get_link = fd_get_link, .get_path = fd_get_path, .setattr = proc_setattr};
static const struct inode_operations fdinfo_file_iops = {.setattr = proc_setattr};

/*
 * fdinfo/N: where the descriptor stands, how it is open, by which mount and inode it was found, its locks, and what a
 * file of its kind says.
 */
static int fdinfo_show(struct seq_file *m, void *v)
{
	const struct inode *inode = m->private;
	struct task_struct *task = proc_task(inode);
	unsigned fd = proc_node(inode)->fd;
	struct file *f = fd_file(inode);
	const struct file_part *part;
	u32 flags;

	if (task && !IS_ERR(f)) {
		flags = READ_ONCE(f->f_flags) | (fd_cloexec_task(task, fd) ? O_CLOEXEC : 0);
		seq_printf(m, "pos:\t%lld\nflags:\t0%o\nmnt_id:\t%u\nino:\t%llu\n", (long long)READ_ONCE(f->f_pos),
			   flags, f->f_mnt ? f->f_mnt->mnt_id : 0, (unsigned long long)f->f_inode->i_ino);
		for_each_in_table(file_parts, part)
			if (part->show)
				part->show(m, f, READ_ONCE(task->files));
		if (f->f_op->show_fdinfo)
			f->f_op->show_fdinfo(m, f);
	}
	if (task)
		put_task_struct(task);
	if (IS_ERR(f))
		return PTR_ERR(f);
	fput(f);
	return task ? 0 : -ENOENT;
}

/*
 * Ask for the right once at the opening, so that a refused reader gets an error here and not at its first
 * read.
 */
static int fdinfo_open(struct inode *inode, struct file *f)
{
	struct file *shown = fd_file(inode); /* asks for the right: what is refused cannot be handed on */

	if (IS_ERR(shown))
		return PTR_ERR(shown);
	fput(shown);
	return single_open(f, fdinfo_show, inode);
}

static const struct file_operations fdinfo_fops = {
	.open = fdinfo_open, .release = single_release, .read = seq_read, .llseek = seq_lseek};

static const struct inode_operations fd_dir_iops, fdinfo_dir_iops;

/*
 * Make the inode for descriptor `fd` of the task. The link may stay in the cache after the descriptor is
 * closed; following it fails then, because fd_file() asks again.
 */
static int fd_lookup_task(struct inode *dir, struct dentry *dentry, struct task_struct *task, unsigned fd)
{
	bool info = dir->i_op == &fdinfo_dir_iops;
	struct file *f = fget_task(task, fd);
	struct inode *inode;
	mode_t mode = S_IFLNK;

	if (!f || !may_see_fds(task)) {
		if (f)
			fput(f);
		return -ENOENT;
	}
	/* The bits of a link say how the file is open. */
	if (info)
		mode = S_IFREG | 0444;
	else
		mode |= (f->f_mode & FMODE_READ ? 0500 : 0) | (f->f_mode & FMODE_WRITE ? 0300 : 0);
	fput(f);
	inode = proc_task_inode(dir->i_sb, task, mode);
	if (!inode)
		return -ENOMEM;
	proc_node(inode)->fd = fd;
	inode->i_op = info ? &fdinfo_file_iops : &fd_link_iops;
	inode->i_fop = info ? &fdinfo_fops : NULL;
	spin_lock(&dcache_lock);
	dentry->d_flags |= DCACHE_CANT_MOUNT; /* as on Linux since 6.12: a mount there would outlive the descriptor */
	spin_unlock(&dcache_lock);
	return proc_attach(dentry, inode);
}

/* Look up a number in fd or fdinfo. Anything else is no descriptor: -ENOENT. */
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

/*
 * List the descriptors. The position is descriptor + 2, behind "." and "..", so a listing goes on at the
 * right place when descriptors are closed in between. The right is asked again for each one.
 */
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
		if (!may_see_fds(task))
			break;
		ctx->pos = fd + 2;
		more = ctx->emit(ctx, name, snprintf(name, sizeof(name), "%u", fd), ctx->pos, ctx->pos + 1,
				 dirf->f_inode->i_op == &fdinfo_dir_iops ? DT_REG : DT_LNK);
		if (more)
			ctx->pos++;
	}
	put_task_struct(task);
	return 0;
}

/*
 * The threads of the process itself may always look into their own directory. Its mode would keep them out
 * when the process is not dumpable, because the directory belongs to root then. Any context: the task is
 * looked at under RCU.
 */
int proc_fd_permission(const struct inode *inode, int mask)
{
	const struct task_struct *task;
	int err = mode_permission(inode, mask);

	if (!err || (mask & MAY_WRITE))
		return err;
	rcu_read_lock();
	task = find_task_by_pid(proc_node(inode)->pid);
	if (task && task->tgid == current->tgid)
		err = 0;
	rcu_read_unlock();
	return err;
}

static const struct inode_operations fd_dir_iops = {
	.lookup = fd_dir_lookup, .permission = proc_fd_permission, .setattr = proc_setattr};
static const struct inode_operations fdinfo_dir_iops = {
	.lookup = fd_dir_lookup, .permission = proc_fd_permission, .setattr = proc_setattr};
static const struct file_operations fd_dir_fops = {.iterate = fd_dir_iterate};

/* A thread by its number; -ENOENT for a thread of another process, also when that has got the number of this one. */
static int task_dir_lookup(struct inode *dir, struct dentry *dentry)
{
	struct task_struct *leader, *task;
	unsigned tid;
	int err = -ENOENT;

	if (!proc_number(dentry, &tid))
		return -ENOENT;
	leader = proc_task(dir);
	if (!leader)
		return -ENOENT;
	task = find_get_task(tid);
	if (task && task->tgid == leader->tgid)
		err = proc_tid_lookup(dir, dentry, task);
	if (task)
		put_task_struct(task);
	put_task_struct(leader);
	return err;
}

/* List the threads. The position is thread id + 2. */
static int task_dir_iterate(struct file *f, struct dir_context *ctx)
{
	struct task_struct *leader, *task;
	char name[16];
	bool more = true;

	if (!dir_emit_dots(f, ctx))
		return 0;
	leader = proc_task(f->f_inode);
	if (!leader)
		return -ENOENT;
	while (more && (task = next_thread(leader, ctx->pos - 2))) {
		ctx->pos = task->pid + 2;
		more = ctx->emit(ctx, name, snprintf(name, sizeof(name), "%d", task->pid), ctx->pos, ctx->pos, DT_DIR);
		ctx->pos += more;
		put_task_struct(task);
	}
	put_task_struct(leader);
	return 0;
}

static const struct inode_operations task_dir_iops = {.lookup = task_dir_lookup, .setattr = proc_setattr};
static const struct file_operations task_dir_fops = {.iterate = task_dir_iterate};

static const struct proc_pid_entry fd_entry = {
	.name = "fd", .mode = S_IFDIR | 0500, .iop = &fd_dir_iops, .fop = &fd_dir_fops};
static const struct proc_pid_entry fdinfo_entry = {
	.name = "fdinfo", .mode = S_IFDIR | 0500, .iop = &fdinfo_dir_iops, .fop = &fd_dir_fops};
static const struct proc_pid_entry task_entry = {
	.name = "task", .mode = S_IFDIR | 0555, .iop = &task_dir_iops, .fop = &task_dir_fops, .process = true};
REGISTER_PROC_PID(fd_entry);
REGISTER_PROC_PID(fdinfo_entry);
REGISTER_PROC_PID(task_entry);
