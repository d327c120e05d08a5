/*
 * Trees of kernel-made files that come and go as a whole, by mkdir and rmdir of user programs: the instances of
 * tracefs.
 *
 * A new tree is built under a dentry that is not in the hash, so no walk can enter it before it is complete; then it
 * gets its name in one step. A tree is removed only when no part of it is in use, and all of its names go in one
 * step, so a program never sees half a tree. dcache_lock makes that one step.
 */
#include "../internal.h"

#include <fs/libfs.h>

/* ---- Making: the dentry is not hashed, so no walk comes to it or to what is below */

/* The dentry has the right parent and name, but no look-up finds it yet. ERR_PTR(-ENOMEM). */
struct dentry *simple_prepare_dir(struct dentry *negative, mode_t mode)
{
	struct dentry *d = d_alloc(negative->d_parent, negative->d_name.name, negative->d_name.len);

	if (!d)
		return ERR_PTR(-ENOMEM);
	d->d_inode = simple_dir_inode(d->d_sb, mode, NULL);
	if (d->d_inode) {
		inode_owner_of(d->d_inode, d->d_parent->d_inode);
		return d;
	}
	dput(d);
	return ERR_PTR(-ENOMEM);
}

/*
 * Between the two steps the name is in the cache neither as missing nor as present. A walk that looks for it just
 * then asks the file system, for which it has to wait for the parent's i_lock, held by our caller, and then looks
 * again.
 */
void simple_publish_dir(struct dentry *negative, struct dentry *dir)
{
	d_delete(negative);
	d_add(dir, dir->d_inode);
	d_pin(dir);
	dir->d_parent->d_inode->i_nlink++;
	dput(dir);
}

/* ---- Removing. [dcache_lock] up to simple_remove_unused */

/*
 * The first child with an inode behind `at`, which is a place in the list of dir's children, or its head. Negative
 * children are only cached answers and not a part of the tree.
 */
static struct dentry *positive_after(struct dentry *dir, struct list_head *at)
{
	for (at = at->next; at != &dir->d_subdirs; at = at->next) {
		struct dentry *d = list_entry(at, struct dentry, d_child);

		if (d->d_inode)
			return d;
	}
	return NULL;
}

struct dentry *simple_next_in_tree(struct dentry *top, struct dentry *d)
{
	struct dentry *next = positive_after(d, &d->d_subdirs);

	for (; !next && d != top; d = d->d_parent)
		next = positive_after(d->d_parent, &d->d_child);
	return next;
}

/*
 * Does anybody outside of the tree hold this dentry? The tree itself accounts for one reference by the pin and one
 * for each child, negative ones included.
 */
static bool in_use(const struct dentry *d)
{
	int own = d->d_flags & DCACHE_PINNED ? 1 : 0;
	struct list_head *p;

	list_for_each(p, &d->d_subdirs)
		own++;
	return atomic_read(&d->d_count) > own;
}

/* Does anybody use any part of the tree, or has anything mounted in it? A walk, an open file, a working directory. */
static bool tree_in_use(struct dentry *top)
{
	struct dentry *d;

	if (top->d_mounted)
		return true;
	for (d = simple_next_in_tree(top, top); d; d = simple_next_in_tree(top, d))
		if (d->d_mounted || in_use(d))
			return true;
	return false;
}

/*
 * Take all names out of the hash, children first. The references of their pins are collected in the list `gone`,
 * linked by d_child, since dput() may sleep and cannot be called here.
 */
static void unhash_tree(struct dentry *top, struct list_head *gone)
{
	struct dentry *d = top, *child, *parent;

	for (;;) {
		child = positive_after(d, &d->d_subdirs);
		if (child) {
			d = child;
			continue;
		}
		parent = d->d_parent;
		if (__d_drop(d))
			list_add_tail(&d->d_child, gone);
		if (d == top)
			return;
		d = parent;
	}
}

/*
 * dcache_lock is held from the look at the references until the last name is gone. No user outside has a reference at
 * that point, and a new one can only be had by finding a name under the same lock. So no part of the tree comes into
 * use in between.
 */
int simple_remove_unused(struct dentry *top)
{
	struct inode *parent = top->d_parent->d_inode;
	struct dentry *d;
	LIST_HEAD(gone);

	spin_lock(&dcache_lock);
	if (tree_in_use(top)) {
		spin_unlock(&dcache_lock);
		return -EBUSY;
	}
	unhash_tree(top, &gone);
	spin_unlock(&dcache_lock);
	while (!list_empty(&gone)) {
		d = list_first_entry(&gone, struct dentry, d_child);
		list_del_init(&d->d_child);
		d->d_inode->i_nlink = 0;
		shrink_negative_children(d);
		if (d == top)
			parent->i_nlink--;
		dput(d);
	}
	return 0;
}
