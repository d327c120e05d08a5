/*
 * A task's place in the tree: root, working directory and umask. Threads may share it (CLONE_FS), so fs->lock guards
 * the paths; the only user of one reads its own without the lock (namei.c). Another task's is looked at under RCU
 * (/proc/<pid>/cwd and root).
 */
#include "files.h"

#include <mm/slab.h>
#include <proc/fork.h>
#include <proc/syscall.h>
#include <sched/sched.h>

struct fs_struct init_fs = {
	.users = ATOMIC_INIT(1),
	.lock = __SPIN_LOCK_UNLOCKED,
	.umask = 022,
};

/*
 * A copy with references of its own. They are taken under the lock: a chdir of another user could otherwise drop the
 * last reference between the copy of the pointer and the count. NULL: no memory.
 */
struct fs_struct *copy_fs_struct(struct fs_struct *old)
{
	struct fs_struct *fs = kmalloc(sizeof(*fs), GFP_KERNEL);

	if (!fs)
		return NULL;
	atomic_set(&fs->users, 1);
	spin_lock_init(&fs->lock);
	spin_lock(&old->lock);
	fs->root = old->root;
	fs->pwd = old->pwd;
	fs->umask = old->umask;
	if (fs->root.dentry) { /* before vfs_init there is no root */
		path_get(&fs->root);
		path_get(&fs->pwd);
	}
	spin_unlock(&old->lock);
	return fs;
}

/* The end of a grace period: no reader under RCU holds the pointer any more. */
static void fs_free_rcu(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct fs_struct, rcu));
	no_tail_call();
}

/* The paths go with the last user; the memory waits for those who look at it under RCU (task_path). */
void put_fs_struct(struct fs_struct *fs)
{
	if (!fs || !atomic_dec_and_test(&fs->users))
		return;
	path_put(&fs->root);
	path_put(&fs->pwd);
	call_rcu(&fs->rcu, fs_free_rcu);
}

/* Another task's fs_struct, with the caller counted as a user; NULL: the task has left it already. */
static struct fs_struct *get_task_fs(struct task_struct *task)
{
	struct fs_struct *fs;

	rcu_read_lock();
	fs = READ_ONCE(task->fs);
	if (fs && !atomic_inc_not_zero(&fs->users))
		fs = NULL;
	rcu_read_unlock();
	return fs;
}

/*
 * Another task's cwd or root, with references. The memory of an fs_struct lasts for a grace period after its last user,
 * but its paths only as long as it has users: so a user is taken first. 0 or -ENOENT.
 */
static int task_path(struct task_struct *task, bool cwd, struct path *out)
{
	struct fs_struct *fs = get_task_fs(task);

	if (!fs)
		return -ENOENT;
	spin_lock(&fs->lock);
	*out = cwd ? fs->pwd : fs->root;
	if (out->dentry)
		path_get(out);
	spin_unlock(&fs->lock);
	put_fs_struct(fs);
	return out->dentry ? 0 : -ENOENT;
}

int task_root(struct task_struct *task, struct path *out)
{
	return task_path(task, false, out);
}

int task_cwd(struct task_struct *task, struct path *out)
{
	return task_path(task, true, out);
}

/* Takes over the references of `to`; those of the old place are dropped outside the lock, because dput() may sleep. */
static void set_fs_path(struct path *slot, struct path to)
{
	struct fs_struct *fs = current->fs;
	struct path old;

	spin_lock(&fs->lock);
	old = *slot;
	*slot = to;
	spin_unlock(&fs->lock);
	path_put(&old);
}

/* Replace each of the two paths if it is the old one. Returns how many references to the old path are left over. */
static int exchange_paths(struct fs_struct *fs, const struct path *old, const struct path *new)
{
	struct path *slots[] = {&fs->root, &fs->pwd};
	int n = 0;

	spin_lock(&dcache_lock); /* the only user of an fs_struct reads its own with this lock alone (namei.c) */
	spin_lock(&fs->lock);
	for (unsigned i = 0; i < ARRAY_SIZE(slots); i++)
		if (slots[i]->dentry == old->dentry && slots[i]->mnt == old->mnt) {
			*slots[i] = *new;
			path_get(new);
			n++;
		}
	spin_unlock(&fs->lock);
	spin_unlock(&dcache_lock);
	return n;
}

/*
 * By number, one task after the other: fs->lock must not be taken under tasklist_lock, which interrupts want. A child
 * that is born meanwhile has a copy of what its parent had; the old root still leads somewhere.
 */
void chroot_fs_refs(const struct path *old, const struct path *new)
{
	for (pid_t pid = 1; pid < PID_MAX; pid++) {
		struct task_struct *task = find_get_task(pid);
		struct fs_struct *fs = task ? get_task_fs(task) : NULL;

		for (int n = fs ? exchange_paths(fs, old, new) : 0; n; n--)
			path_put(old);
		put_fs_struct(fs);
		if (task)
			put_task_struct(task);
	}
}

/* A directory that may not be searched cannot become the working directory: nothing could be reached from it. */
SYSCALL_DEFINE1(chdir, const char __user *, filename)
{
	struct path path;
	int err = user_path_at(AT_FDCWD, filename, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &path);

	if (err)
		return err;
	err = inode_permission(path.dentry->d_inode, MAY_EXEC);
	if (err)
		path_put(&path);
	else
		set_fs_path(&current->fs->pwd, path);
	return err;
}

/* The file's own references are not enough: the working directory outlives the descriptor. */
SYSCALL_DEFINE1(fchdir, unsigned int, fd)
{
	struct fd f = fdget_raw(fd);
	struct path path;
	int err = -ENOTDIR;

	if (!f.file)
		return -EBADF;
	path = file_path(f.file);
	if (S_ISDIR(f.file->f_inode->i_mode))
		err = inode_permission(f.file->f_inode, MAY_EXEC);
	if (!err) {
		path_get(&path);
		set_fs_path(&current->fs->pwd, path);
	}
	fdput(f);
	return err;
}

/*
 * The working directory stays where it is, even outside the new root, as on Linux. The right is asked for last, so that
 * the errors of the path come first.
 */
SYSCALL_DEFINE1(chroot, const char __user *, filename)
{
	struct path path;
	int err;

	err = user_path_at(AT_FDCWD, filename, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &path);
	if (err)
		return err;
	err = inode_permission(path.dentry->d_inode, MAY_EXEC);
	if (!err && !capable(CAP_SYS_CHROOT))
		err = -EPERM;
	if (err)
		path_put(&path);
	else
		set_fs_path(&current->fs->root, path);
	return err;
}

/* One atomic exchange, since threads may share the fs_struct. */
SYSCALL_DEFINE1(umask, int, mask)
{
	return xchg(&current->fs->umask, mask & 0777);
}
