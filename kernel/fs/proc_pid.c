/* /proc/<pid>: a directory for each process and thread, its files found through a table. */
#include "proc_internal.h"

#include <lib/printf.h>
#include <mm/mm.h>
#include <mm/slab.h>
#include <sched/sched.h>

DECLARE_TABLE(proc_pid, const struct proc_pid_entry);

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

/* [dcache_lock] As long as the task can be found. */
static bool proc_pid_revalidate(struct dentry *d)
{
	struct proc_node *n = proc_node(d->d_inode);
	struct task_struct *task;
	bool res;

	rcu_read_lock();
	task = find_task_by_pid(n->pid);
	res = task && task->start_time == n->start_time;
	rcu_read_unlock();
	return res;
}

const struct dentry_operations proc_pid_dentry_ops = {.d_revalidate = proc_pid_revalidate};

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
	inode->i_uid = task->euid;
	inode->i_gid = task->egid;
	return inode;
}

void proc_evict_node(struct inode *inode)
{
	if (inode->i_rdev)
		kfree(inode->i_private);
}

int proc_attach(struct dentry *dentry, struct inode *inode)
{
	if (!inode)
		return -ENOMEM;
	dentry->d_op = &proc_pid_dentry_ops;
	d_add(dentry, inode);
	return 0;
}

/* Files: the table's show and store. */
static int pid_show(struct seq_file *m, void *v)
{
	struct inode *inode = m->private;
	struct task_struct *task = proc_task(inode);
	int err;

	if (!task)
		return -ESRCH;
	err = proc_node(inode)->entry->show(m, task);
	put_task_struct(task);
	return err;
}

static int pid_open(struct inode *inode, struct file *f)
{
	return single_open(f, pid_show, inode);
}

static ssize_t pid_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	return proc_node(f->f_inode)->entry->show ? seq_read(f, buf, n, pos) : -EINVAL;
}

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

static const struct file_operations pid_file_fops = {.open = pid_open,
						     .release = single_release,
						     .read = pid_read,
						     .write = pid_write,
						     .llseek = seq_lseek};

/* Links. */
static int pid_get_path(struct inode *inode, struct path *out)
{
	struct task_struct *task = proc_task(inode);
	int err;

	if (!task)
		return -ENOENT;
	err = proc_node(inode)->entry->path(task, out);
	put_task_struct(task);
	return err;
}

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

static const char *pid_link_text(struct dentry *dentry, struct inode *inode, char *buf)
{
	struct task_struct *task = proc_task(inode);
	int err;

	if (!task)
		return ERR_PTR(-ENOENT);
	err = proc_node(inode)->entry->link(task, buf, PAGE_SIZE);
	put_task_struct(task);
	return err < 0 ? ERR_PTR(err) : buf;
}

static const struct inode_operations pid_path_iops = {.get_link = pid_path_text, .get_path = pid_get_path};
static const struct inode_operations pid_link_iops = {.get_link = pid_link_text};

/* An entry of the table becomes an inode. */
static int pid_entry_lookup(struct inode *dir, struct dentry *dentry, struct task_struct *task,
			    const struct proc_pid_entry *e)
{
	bool link = e->path || e->link;
	struct inode *inode = proc_task_inode(dir->i_sb, task, link ? S_IFLNK | 0777 : S_IFREG | e->mode);

	if (inode) {
		proc_node(inode)->entry = e;
		inode->i_op = e->path ? &pid_path_iops : e->link ? &pid_link_iops : NULL;
		inode->i_fop = link ? NULL : &pid_file_fops;
	}
	return proc_attach(dentry, inode);
}

static int pid_subdir_lookup(struct inode *dir, struct dentry *dentry, struct task_struct *task, mode_t mode,
			     const struct inode_operations *iop, const struct file_operations *fop)
{
	struct inode *inode = proc_task_inode(dir->i_sb, task, S_IFDIR | mode);

	if (inode) {
		inode->i_op = iop;
		inode->i_fop = fop;
	}
	return proc_attach(dentry, inode);
}

static bool is_name(const struct dentry *d, const char *name)
{
	return !strcmp(d->d_name, name);
}

/* <pid>/task/<tid> has what <pid> has but for `task`: else the tree would have no end. */
static bool is_thread_dir(const struct inode *dir)
{
	return dir->i_op == &proc_tid_dir_iops;
}

static int pid_lookup_task(struct inode *dir, struct dentry *dentry, struct task_struct *task)
{
	const struct proc_pid_entry *e;

	if (is_name(dentry, "fd"))
		return pid_subdir_lookup(dir, dentry, task, 0500, &proc_fd_dir_iops, &proc_fd_dir_fops);
	if (is_name(dentry, "task") && !is_thread_dir(dir))
		return pid_subdir_lookup(dir, dentry, task, 0555, &proc_task_dir_iops, &proc_task_dir_fops);
	for_each_in_table(proc_pid, e) if (is_name(dentry, e->name)) return pid_entry_lookup(dir, dentry,
											     task, e);
	return -ENOENT;
}

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

static int proc_pid_dir_iterate(struct file *f, struct dir_context *ctx)
{
	const struct proc_pid_entry *e;
	loff_t at = 4;

	if (!dir_emit_dots(f, ctx))
		return 0;
	if (ctx->pos == 2) {
		if (!ctx->emit(ctx, "fd", 2, 2, 2, DT_DIR))
			return 0;
		ctx->pos = 3;
	}
	if (ctx->pos == 3) {
		if (!is_thread_dir(f->f_inode) && !ctx->emit(ctx, "task", 4, 3, 3, DT_DIR))
			return 0;
		ctx->pos = 4;
	}
	for_each_in_table(proc_pid, e)
	{
		if (at == ctx->pos) {
			if (!ctx->emit(ctx, e->name, strlen(e->name), at, at,
				       e->path || e->link ? DT_LNK : DT_REG))
				return 0;
			ctx->pos++;
		}
		at++;
	}
	return 0;
}

const struct inode_operations proc_pid_dir_iops = {.lookup = proc_pid_dir_lookup};
const struct file_operations proc_pid_dir_fops = {.iterate = proc_pid_dir_iterate};

const struct inode_operations proc_tid_dir_iops = {.lookup = proc_pid_dir_lookup};

int proc_tid_lookup(struct inode *dir, struct dentry *dentry, struct task_struct *task)
{
	return pid_subdir_lookup(dir, dentry, task, 0555, &proc_tid_dir_iops, &proc_pid_dir_fops);
}

int proc_pid_lookup(struct inode *dir, struct dentry *dentry, struct task_struct *task)
{
	return pid_subdir_lookup(dir, dentry, task, 0555, &proc_pid_dir_iops, &proc_pid_dir_fops);
}
