/*
 * The places of mounts: bind mounts show again what is mounted already, mounts move, and pivot_root(2) exchanges two.
 * mount.c tells of the life of a mount; <fs/vfs.h> of mnt_root, what it shows, and of mnt_at, where.
 */
#include "bind.h"

#include <proc/capability.h>
#include <proc/syscall.h>

/* A walk to the first argument of a bind mount or a move, which is a path. 0 or -errno. */
static int walk_to_source(const char *source, struct path *from)
{
	return source && *source ? kern_path_at(AT_FDCWD, source, LOOKUP_FOLLOW, from) : -EINVAL;
}

/* [mount_mutex] Does the place lie in what `top` shows, at or below the dentry `root`? */
static bool lies_below(const struct mount *mnt, struct dentry *d, const struct mount *top, struct dentry *root)
{
	bool below;

	while (mnt && mnt != top) {
		d = mnt->mnt_at.dentry;
		mnt = mnt->mnt_at.mnt;
	}
	if (!mnt)
		return false;
	spin_lock(&dcache_lock);
	below = d_is_ancestor(root, d);
	spin_unlock(&dcache_lock);
	return below;
}

static struct mount *clone_mount(const struct mount *mnt, struct dentry *root)
{
	struct mount *copy = alloc_mount(mnt->mnt_sb, root, mnt->mnt_source, mnt->mnt_flags);

	if (!copy)
		return NULL;
	copy->mnt_auto = mnt->mnt_auto;
	mount_copy_type(copy, mnt);
	return copy;
}

/*
 * [mount_mutex] Copies of the mounts below the source, for MS_REC: each leads to its copy by mnt_copy, until
 * forget_copies(). Mounts are listed in mount order, so that of its parent is there first. Unbindable mounts, and what
 * is mounted in them, are left out. The copies are chained by mnt_next_here. 0 or -ENOMEM.
 */
static int copy_below(const struct path *from, struct mount *top, struct mount **copies)
{
	struct mount *mnt, *parent;

	list_for_each_entry(mnt, &all_mounts, mnt_list) {
		if (!mnt->mnt_at.mnt || !lies_below(mnt->mnt_at.mnt, mnt->mnt_at.dentry, from->mnt, from->dentry))
			continue;
		parent = mnt->mnt_at.mnt == from->mnt ? top : mnt->mnt_at.mnt->mnt_copy;
		if (!parent || mnt->mnt_unbindable)
			continue;
		mnt->mnt_copy = clone_mount(mnt, mnt->mnt_root);
		if (!mnt->mnt_copy)
			return -ENOMEM;
		mnt->mnt_copy->mnt_at = (struct path){parent, mnt->mnt_at.dentry};
		path_get(&mnt->mnt_copy->mnt_at);
		mnt->mnt_copy->mnt_next_here = *copies;
		*copies = mnt->mnt_copy;
	}
	return 0;
}

/* [mount_mutex] The first of the chain last, so that the list stays in mount order. */
static void attach_copies(struct mount *copies)
{
	struct list_head *before = all_mounts.prev;
	struct mount *next;

	spin_lock(&dcache_lock);
	for (; copies; copies = next) {
		next = copies->mnt_next_here;
		copies->mnt_next_here = copies->mnt_at.dentry->d_mounted;
		copies->mnt_at.dentry->d_mounted = copies;
		list_add(&copies->mnt_list, before);
	}
	spin_unlock(&dcache_lock);
	for (struct list_head *at = before->next; at != &all_mounts; at = at->next)
		mount_join_parent(list_entry(at, struct mount, mnt_list));
}

static void forget_copies(void)
{
	struct mount *mnt;

	list_for_each_entry(mnt, &all_mounts, mnt_list)
		mnt->mnt_copy = NULL;
}

/*
 * [mount_mutex] The mount that shows `from`, and for MS_REC those below it, at `at`, whose references it takes over. A
 * copy that was not attached is in *failed, for the caller to put without the mutex.
 */
static int bind_locked(const struct path *from, const struct path *at, bool recursive, struct mount **failed)
{
	struct mount *top, *copies = NULL;
	int err = list_empty(&from->mnt->mnt_list) || from->mnt->mnt_unbindable ? -EINVAL : 0;

	top = err ? NULL : clone_mount(from->mnt, from->dentry);
	if (!err && !top)
		err = -ENOMEM;
	if (!err && recursive)
		err = copy_below(from, top, &copies);
	forget_copies();
	if (!err)
		err = attach_mount(top, at, true);
	if (!err) {
		attach_copies(copies);
		return 0;
	}
	*failed = copies;
	if (top) {
		top->mnt_next_here = copies;
		*failed = top;
	}
	return err;
}

/* MS_BIND: `source` is seen at `at`, too. A file can be bound to a file. 0 or -errno. */
static int do_bind(const struct path *at, const char *source, bool recursive)
{
	struct mount *failed = NULL, *next;
	struct path from;
	int err = walk_to_source(source, &from);

	if (err)
		return err;
	err = at->dentry->d_flags & DCACHE_CANT_MOUNT ? -ENOENT : -ENOTDIR;
	if (S_ISDIR(from.dentry->d_inode->i_mode) == S_ISDIR(at->dentry->d_inode->i_mode)) {
		mutex_lock(&mount_mutex);
		err = bind_locked(&from, at, recursive, &failed);
		mutex_unlock(&mount_mutex);
	}
	for (; failed; failed = next) {
		next = failed->mnt_next_here;
		mntput(failed);
	}
	path_put(&from);
	return err;
}

/* [mount_mutex, dcache_lock] A mount and all below it leave the list for another one, in their order. */
static void list_tree(const struct mount *top, struct list_head *to)
{
	struct mount *mnt, *next;

	list_for_each_entry_safe(mnt, next, &all_mounts, mnt_list)
		if (mount_is_below(mnt, top))
			list_move_tail(&mnt->mnt_list, to);
}

/*
 * [mount_mutex] Hang a mount of the tree to another place of it, whose references it takes over; those of the old
 * place are in *old, for the caller to put. Parents stand before their children in the list, so the mount goes to the
 * end, with all that is mounted in it.
 */
static int rehang(struct mount *mnt, const struct path *at, struct path *old)
{
	LIST_HEAD(moved);
	int err;

	spin_lock(&dcache_lock);
	err = may_attach(mnt, at, true);
	if (!err) {
		*old = mnt->mnt_at;
		list_tree(mnt, &moved);
		unhang(mnt);
		hang_again(mnt, at);
		list_splice_tail_init(&moved, &all_mounts);
	}
	spin_unlock(&dcache_lock);
	return err;
}

/* MS_MOVE: the mount at `source` moves to `at`, with all that is mounted in it. 0 or -errno. */
static int do_move(const struct path *at, const char *source)
{
	struct path from, old = {NULL, NULL};
	int err = walk_to_source(source, &from);

	if (err)
		return err;
	mutex_lock(&mount_mutex);
	if (from.dentry != from.mnt->mnt_root || from.mnt == root_mount || list_empty(&from.mnt->mnt_list) ||
	    from.mnt->mnt_at.mnt->mnt_group)
		err = -EINVAL; /* a shared parent would have to tell its peers, as on Linux */
	else if (S_ISDIR(from.dentry->d_inode->i_mode) != S_ISDIR(at->dentry->d_inode->i_mode))
		err = -EINVAL;
	else if (mount_is_below(at->mnt, from.mnt))
		err = -ELOOP;
	else
		err = rehang(from.mnt, at, &old);
	if (!err)
		mount_join_parent(from.mnt);
	mutex_unlock(&mount_mutex);
	if (!err)
		path_put(&old);
	path_put(&from);
	return err;
}

/* mount_part.mount. MS_REC goes with a bind mount and with a propagation type; else it has no effect. */
static int bind_mount(const struct path *at, const char *source, unsigned long flags)
{
	int err;

	if (flags & MS_BIND)
		return do_bind(at, source, flags & MS_REC);
	if (!(flags & MNT_TYPES))
		return do_move(at, source);
	err = mount_change_type(at, flags);
	if (!err)
		path_put(at);
	return err;
}

static const struct mount_part bind_part = {
	.mount = bind_mount, .joined = mount_join_parent, .left = mount_leave_tree, .show = mount_show_sharing};
REGISTER_MOUNT_PART(bind_part);

/*
 * [mount_mutex] The mount `new` takes the place of `old`, and that hangs at `put_old`, whose references it takes
 * over. The place that `new` had is in *left, for the caller to put. In the list the new tree stands before the old
 * one, which hangs in it.
 */
static int pivot_locked(struct mount *new, struct mount *old, const struct path *put_old, struct path *left)
{
	LIST_HEAD(new_tree);
	LIST_HEAD(old_tree);
	int err;

	spin_lock(&dcache_lock);
	err = may_attach(old, put_old, true);
	if (!err) {
		struct path place = old->mnt_at;

		*left = new->mnt_at;
		list_tree(new, &new_tree);
		list_tree(old, &old_tree);
		unhang(new);
		unhang(old);
		hang_again(new, &place);
		hang_again(old, put_old);
		list_splice_tail_init(&new_tree, &all_mounts);
		list_splice_tail_init(&old_tree, &all_mounts);
	}
	spin_unlock(&dcache_lock);
	return err;
}

/* [mount_mutex] The order of the checks is Linux's. The very first mount has no place, and so cannot be exchanged. */
static int check_pivot(const struct path *new, const struct path *put_old, const struct path *root)
{
	if (list_empty(&new->mnt->mnt_list) || list_empty(&root->mnt->mnt_list) ||
	    new->dentry->d_flags & DCACHE_UNLINKED)
		return -EINVAL;
	if (new->mnt == root->mnt || put_old->mnt == root->mnt)
		return -EBUSY;
	if (root->dentry != root->mnt->mnt_root || !root->mnt->mnt_at.mnt || new->dentry != new->mnt->mnt_root)
		return -EINVAL;
	if (put_old->mnt->mnt_group || root->mnt->mnt_at.mnt->mnt_group ||
	    (new->mnt->mnt_at.mnt &&new->mnt->mnt_at.mnt->mnt_group))
		return -EINVAL;
	if (!lies_below(put_old->mnt, put_old->dentry, new->mnt, new->dentry))
		return -EINVAL;
	return mount_is_below(new->mnt, root->mnt) ? 0 : -EINVAL;
}

/* The caller's root gets another mount, and those whose root or working directory it was go along. 0 or -errno. */
static int do_pivot_root(const struct path *new, const struct path *put_old)
{
	struct path left = {NULL, NULL}, root;
	int err = task_root(current, &root);

	if (err)
		return err;
	mutex_lock(&mount_mutex);
	err = check_pivot(new, put_old, &root);
	if (!err) {
		path_get(put_old);
		err = pivot_locked(new->mnt, root.mnt, put_old, &left);
		if (err)
			left = *put_old;
	}
	mutex_unlock(&mount_mutex);
	path_put(&left);
	if (!err)
		chroot_fs_refs(&root, new);
	path_put(&root);
	return err;
}

/* The right is asked for first, and both must be directories. */
SYSCALL_DEFINE2(pivot_root, const char __user *, new_root, const char __user *, put_old)
{
	struct path new, old;
	int err = capable(CAP_SYS_ADMIN) ? 0 : -EPERM;

	if (!err)
		err = user_path_at(AT_FDCWD, new_root, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &new);
	if (err)
		return err;
	err = user_path_at(AT_FDCWD, put_old, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &old);
	if (!err) {
		err = do_pivot_root(&new, &old);
		path_put(&old);
	}
	path_put(&new);
	return err;
}
