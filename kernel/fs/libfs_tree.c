/* Trees of files that come and go as a whole, by mkdir and rmdir of user programs. */
#include "internal.h"

#include <fs/libfs.h>

/* ---- Making: the dentry is not hashed, so no walk comes to it or to what is below */

struct dentry *simple_prepare_dir(struct dentry *negative, mode_t mode)
{
	struct dentry *d = d_alloc(negative->d_parent, negative->d_name, negative->d_namelen);

	if (!d)
		return ERR_PTR(-ENOMEM);
	d->d_inode = simple_dir_inode(d->d_sb, mode, NULL);
	if (d->d_inode)
		return d;
	dput(d);
	return ERR_PTR(-ENOMEM);
}

/* Who finds neither of the two in between waits for the parent's i_lock, which our caller holds, and looks again. */
void simple_publish_dir(struct dentry *negative, struct dentry *dir)
{
	d_delete(negative);
	d_add(dir, dir->d_inode);
	d_pin(dir);
	dir->d_parent->d_inode->i_nlink++;
	dput(dir);
}

/* ---- Removing. [dcache_lock] up to simple_remove_unused */

/* The first child behind `at`, which is in the list of dir's children or its head. */
static struct dentry *positive_after(struct dentry *dir, struct list_head *at)
{
	for (at = at->next; at != &dir->d_subdirs; at = at->next) {
		struct dentry *d = list_entry(at, struct dentry, d_child);

		if (d->d_inode)
			return d;
	}
	return NULL;
}

/* Of the tree below top, parents first; NULL: d was the last. */
static struct dentry *next_in_tree(struct dentry *top, struct dentry *d)
{
	struct dentry *next = positive_after(d, &d->d_subdirs);

	for (; !next && d != top; d = d->d_parent)
		next = positive_after(d->d_parent, &d->d_child);
	return next;
}

/* Has it more references than the tree's own: the pin, and each child's, negative ones' too? */
static bool in_use(const struct dentry *d)
{
	int own = d->d_flags & DCACHE_PINNED ? 1 : 0;
	struct list_head *p;

	list_for_each(p, &d->d_subdirs)
		own++;
	return atomic_read(&d->d_count) > own;
}

static bool tree_in_use(struct dentry *top)
{
	struct dentry *d;

	if (top->d_mounted)
		return true;
	for (d = next_in_tree(top, top); d; d = next_in_tree(top, d))
		if (d->d_mounted || in_use(d))
			return true;
	return false;
}

/* Children first. Their pins' references are in the list `gone`, linked by d_child. */
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
 * One hold of dcache_lock from the look at all references to the last name's end: a reference to what has none but the
 * tree's is only had by finding the name, under that lock.
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
