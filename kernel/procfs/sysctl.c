/*
 * The tree /proc/sys: who may open a file of it, and that its attributes cannot be changed.
 *
 * A setting is root's, and its mode says what root may do with it, as on Linux: root needs the permission as well, so
 * an open of a file of mode 0444 for writing is -EACCES. Nobody changes mode or owner of a file here.
 */
#include "internal.h"

#include <proc/cred.h>

/* The group's bits are for processes of group 0. Any context. */
static int proc_sys_permission(const struct inode *inode, int mask)
{
	mode_t mode = READ_ONCE(inode->i_mode);

	if (mask & MAY_EXEC && S_ISREG(mode))
		return -EACCES;
	if (!current->euid)
		mode >>= 6;
	else if (in_group_p(0))
		mode >>= 3;
	return mask & ~mode & 7 ? -EACCES : 0;
}

/* [i_lock] Times can be set. A new size means nothing to a text that is made by reading. */
static int proc_sys_setattr(struct dentry *dentry, const struct iattr *attr)
{
	return attr->valid & (ATTR_MODE | ATTR_UID | ATTR_GID) ? -EPERM : simple_setattr(dentry, attr);
}

static const struct inode_operations proc_sys_file_iops = {
	.permission = proc_sys_permission,
	.setattr = proc_sys_setattr,
};
static const struct inode_operations proc_sys_dir_iops = {
	.lookup = simple_lookup,
	.create = simple_no_create,
	.permission = proc_sys_permission,
	.setattr = proc_sys_setattr,
};

/* The tree is complete and not mounted yet, so no task looks at it. */
void proc_sys_finish(struct dentry *root)
{
	struct dentry *top = d_find_child(root, "sys", 3);

	if (!top)
		return;
	spin_lock(&dcache_lock);
	for (struct dentry *d = top; d; d = simple_next_in_tree(top, d))
		d->d_inode->i_op = S_ISDIR(d->d_inode->i_mode) ? &proc_sys_dir_iops : &proc_sys_file_iops;
	spin_unlock(&dcache_lock);
	dput(top);
}
