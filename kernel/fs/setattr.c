/*
 * Changing a file's attributes: who may, and which rights a file loses by it. A set-user-id or set-group-id bit gives
 * its owner's rights to whoever runs the file; so it goes when the file gets another owner, and when somebody else than
 * root changes what is in it.
 */
#include "internal.h"

bool inode_owner_or_capable(const struct inode *inode)
{
	return current->fsuid == 0 || current->fsuid == READ_ONCE(inode->i_uid);
}

static bool in_group_or_root(gid_t gid)
{
	return current->fsuid == 0 || in_group_p(gid);
}

/*
 * Which of a mode's bits go when the file changes. A set-group-id bit without the right to execute gives nothing to
 * runners (it once meant mandatory locks): that one stays for members of the group.
 */
static mode_t privileged_bits(mode_t mode, gid_t gid)
{
	mode_t bits = mode & S_ISUID;

	if ((mode & S_ISGID) && ((mode & 0010) || !in_group_or_root(gid)))
		bits |= S_ISGID;
	return bits;
}

void file_remove_privs(struct inode *inode)
{
	if (current->fsuid && S_ISREG(inode->i_mode))
		WRITE_ONCE(inode->i_mode, inode->i_mode & ~privileged_bits(inode->i_mode, inode->i_gid));
}

void inode_init_owner(struct inode *inode, const struct inode *dir)
{
	if (!(dir->i_mode & S_ISGID))
		return;
	inode->i_gid = dir->i_gid;
	if (S_ISDIR(inode->i_mode))
		inode->i_mode |= S_ISGID;
	else if ((inode->i_mode & 0010) && !in_group_or_root(inode->i_gid))
		inode->i_mode &= ~S_ISGID;
}

int simple_setattr(struct dentry *dentry, const struct iattr *attr)
{
	struct inode *inode = dentry->d_inode;

	if (attr->valid & ATTR_SIZE)
		return -EINVAL;
	if (attr->valid & ATTR_UID)
		WRITE_ONCE(inode->i_uid, attr->uid);
	if (attr->valid & ATTR_GID)
		WRITE_ONCE(inode->i_gid, attr->gid);
	if (attr->valid & ATTR_MODE)
		WRITE_ONCE(inode->i_mode, (inode->i_mode & S_IFMT) | (attr->mode & 07777));
	if (attr->valid & ATTR_ATIME)
		inode->i_atime = attr->atime;
	if (attr->valid & ATTR_MTIME)
		inode->i_mtime = attr->mtime;
	inode->i_ctime = inode_now();
	return 0;
}

/* Does the caller's identity allow the change? Root may all; others what is theirs. [i_lock] */
static int setattr_prepare(const struct inode *inode, const struct iattr *attr)
{
	bool owner = inode_owner_or_capable(inode);

	if (current->fsuid == 0)
		return 0;
	if ((attr->valid & ATTR_UID) && !(owner && attr->uid == inode->i_uid))
		return -EPERM;
	if ((attr->valid & ATTR_GID) && !(owner && (attr->gid == inode->i_gid || in_group_p(attr->gid))))
		return -EPERM;
	if ((attr->valid & ATTR_TOUCH) && !owner)
		return inode_permission(inode, MAY_WRITE);
	if ((attr->valid & (ATTR_MODE | ATTR_ATIME | ATTR_MTIME)) && !owner)
		return -EPERM;
	return 0;
}

/* The bits that the change takes away become a change of mode. [i_lock] */
static void drop_privileged_bits(const struct inode *inode, struct iattr *attr)
{
	mode_t mode = inode->i_mode, drop;
	gid_t gid = attr->valid & ATTR_GID ? attr->gid : inode->i_gid;

	if ((attr->valid & ATTR_MODE) && (attr->mode & S_ISGID) && !in_group_or_root(gid))
		attr->mode &= ~S_ISGID; /* a group that the caller is not in gets nothing from him */
	drop = attr->valid & ATTR_KILL_PRIV && !S_ISDIR(mode) ? privileged_bits(mode, inode->i_gid) : 0;
	if (drop) {
		attr->valid |= ATTR_MODE;
		attr->mode = mode & 07777 & ~drop;
	}
}

/* [i_lock] */
static int change_inode(struct dentry *dentry, const struct iattr *wanted)
{
	struct inode *inode = dentry->d_inode;
	struct iattr attr = *wanted;
	int err = setattr_prepare(inode, &attr);

	if (err)
		return err;
	drop_privileged_bits(inode, &attr);
	/* A caller who changes only the owner and has no right to the bits that go with it. */
	if (attr.valid != wanted->valid && !inode_owner_or_capable(inode) && !(attr.valid & ATTR_SIZE))
		return -EPERM;
	if (inode->i_op && inode->i_op->setattr)
		return inode->i_op->setattr(dentry, &attr);
	return simple_setattr(dentry, &attr);
}

int notify_change(struct dentry *dentry, const struct iattr *attr)
{
	struct inode *inode = dentry->d_inode;
	int err;

	mutex_lock(&inode->i_lock);
	err = change_inode(dentry, attr);
	mutex_unlock(&inode->i_lock);
	return err;
}

/* Regular files only: others have no size to set. */
int vfs_truncate(struct inode *inode, struct dentry *dentry, loff_t size)
{
	struct iattr attr = {.valid = ATTR_SIZE | (current->fsuid ? ATTR_KILL_PRIV : 0), .size = size};

	if (size < 0)
		return -EINVAL;
	if (S_ISDIR(inode->i_mode))
		return -EISDIR;
	if (!S_ISREG(inode->i_mode))
		return -EINVAL;
	return notify_change(dentry, &attr);
}
