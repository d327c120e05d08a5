/*
 * A task's place in the tree: root, working directory and umask. Threads may share it (CLONE_FS), so fs->lock guards
 * the paths; the only user of one reads its own without the lock (namei.c). Another task's is looked at under RCU
 * (/proc/<pid>/cwd and root).
 */
#include "files.h"

#include <mm/slab.h>
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

/*
 * Another task's cwd or root, with references. The memory of an fs_struct lasts for a grace period after its last user,
 * but its paths only as long as it has users: so a user is taken first. 0 or -ENOENT.
 */
static int task_path(struct task_struct *task, bool cwd, struct path *out)
{
	struct fs_struct *fs;

	rcu_read_lock();
	fs = READ_ONCE(task->fs);
	if (fs && !atomic_inc_not_zero(&fs->users))
		fs = NULL;
	rcu_read_unlock();
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
