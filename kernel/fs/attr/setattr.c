/*
 * Changing a file's attributes: who may, and which rights a file loses by it. A set-user-id or set-group-id bit gives
 * the owner's rights to every task that runs the file. So the bit goes when the file gets another owner, and when a
 * task without CAP_FSETID changes what is in it.
 *
 * notify_change() is the one way in. It takes i_lock, asks the rules here, and lets the file system do the rest.
 */
#include "../internal.h"

#include <fs/fsnotify.h>

bool inode_owner_or_capable(const struct inode *inode)
{
	return current->fsuid == READ_ONCE(inode->i_uid) || capable(CAP_FOWNER);
}

/* May the caller hand out this group's rights? */
static bool may_give_group(gid_t gid)
{
	return in_group_p(gid) || capable(CAP_FSETID);
}

/*
 * Which bits of a mode go when the file changes. A set-group-id bit without the right to execute gives nothing to
 * runners (it once meant mandatory locks); that one stays for members of the group.
 */
static mode_t privileged_bits(mode_t mode, gid_t gid)
{
	mode_t bits = mode & S_ISUID;

	if ((mode & S_ISGID) && ((mode & 0010) || !may_give_group(gid)))
		bits |= S_ISGID;
	return bits;
}

void file_remove_privs(struct inode *inode)
{
	if (!capable(CAP_FSETID) && S_ISREG(inode->i_mode))
		WRITE_ONCE(inode->i_mode, inode->i_mode & ~privileged_bits(inode->i_mode, inode->i_gid));
}

/*
 * BSD's rule for groups: in a set-group-id directory the directory's group is inherited, and the bit too by
 * directories. A set-group-id program cannot be made for a group that the caller is not in.
 */
void inode_init_owner(struct inode *inode, const struct inode *dir)
{
	if (!(dir->i_mode & S_ISGID))
		return;
	inode->i_gid = dir->i_gid;
	if (S_ISDIR(inode->i_mode))
		inode->i_mode |= S_ISGID;
	else if ((inode->i_mode & 0010) && !may_give_group(inode->i_gid))
		inode->i_mode &= ~S_ISGID;
}

/*
 * No file system is involved. A file whose content the kernel makes when it is read has no size that could be changed:
 * a new one is taken and means nothing, as on Linux.
 */
int simple_setattr(struct dentry *dentry, const struct iattr *attr)
{
	struct inode *inode = dentry->d_inode;

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

/*
 * [i_lock] Do the caller's ids and capabilities allow the change? CAP_FOWNER stands for being the owner, and
 * CAP_CHOWN gives a file to any user and group; the owner may give it only to a group that it is in. Setting both
 * times to now (ATTR_TOUCH) needs only the right to write.
 */
static int setattr_prepare(const struct inode *inode, const struct iattr *attr)
{
	bool owner = inode_owner_or_capable(inode), own = current->fsuid == inode->i_uid, chown = capable(CAP_CHOWN);

	if ((attr->valid & ATTR_UID) && !chown && !(own && attr->uid == inode->i_uid))
		return -EPERM;
	if ((attr->valid & ATTR_GID) && !chown && !(own && (attr->gid == inode->i_gid || in_group_p(attr->gid))))
		return -EPERM;
	if ((attr->valid & ATTR_TOUCH) && !owner)
		return inode_permission(inode, MAY_WRITE);
	if ((attr->valid & (ATTR_MODE | ATTR_ATIME | ATTR_MTIME)) && !owner)
		return -EPERM;
	return 0;
}

/*
 * [i_lock] The bits that the change takes away become a change of mode. A group that the caller is not in gets no
 * set-group-id bit.
 */
static void drop_privileged_bits(const struct inode *inode, struct iattr *attr)
{
	mode_t mode = inode->i_mode, drop;
	gid_t gid = attr->valid & ATTR_GID ? attr->gid : inode->i_gid;

	if ((attr->valid & ATTR_MODE) && (attr->mode & S_ISGID) && !may_give_group(gid))
		attr->mode &= ~S_ISGID;
	drop = attr->valid & ATTR_KILL_PRIV && !S_ISDIR(mode) ? privileged_bits(mode, inode->i_gid) : 0;
	if (drop) {
		attr->valid |= ATTR_MODE;
		attr->mode = mode & 07777 & ~drop;
	}
}

/* [i_lock] Check, add what the change takes away, and let the file system do it. 0 or -errno. */
static int change_inode(struct dentry *dentry, const struct iattr *wanted)
{
	struct inode *inode = dentry->d_inode;
	struct iattr attr = *wanted;
	int err = setattr_prepare(inode, &attr);

	if (err)
		return err;
	if (attr.valid & ATTR_MODE && S_ISLNK(inode->i_mode))
		return -EOPNOTSUPP;
	drop_privileged_bits(inode, &attr);
	/* The caller may make this change, but has no right to take the bits away that go with it. */
	if (attr.valid != wanted->valid && !inode_owner_or_capable(inode) && !(attr.valid & ATTR_SIZE))
		return -EPERM;
	if (inode->i_op && inode->i_op->setattr)
		return inode->i_op->setattr(dentry, &attr);
	err = simple_setattr(dentry, &attr);
	if (!err && dentry->d_op && dentry->d_op->d_changed)
		dentry->d_op->d_changed(dentry);
	return err;
}

/* What inotify tells: one time alone is as if the file had been read or written at that time. */
static u32 events_of(unsigned valid)
{
	u32 mask = 0;

	if (valid & (ATTR_UID | ATTR_GID | ATTR_MODE) || (valid & ATTR_ATIME && valid & ATTR_MTIME))
		mask |= IN_ATTRIB;
	else if (valid & ATTR_ATIME)
		mask |= IN_ACCESS;
	else if (valid & ATTR_MTIME)
		mask |= IN_MODIFY;
	return valid & ATTR_SIZE ? mask | IN_MODIFY : mask;
}

int notify_change(struct dentry *dentry, const struct iattr *attr)
{
	struct inode *inode = dentry->d_inode;
	int err;

	mutex_lock(&inode->i_lock);
	err = change_inode(dentry, attr);
	mutex_unlock(&inode->i_lock);
	if (!err)
		fsnotify_dentry(dentry, events_of(attr->valid));
	return err;
}

/* Only regular files have a size that can be set. */
int vfs_truncate(struct inode *inode, struct dentry *dentry, loff_t size)
{
	struct iattr attr = {.valid = ATTR_SIZE | (capable(CAP_FSETID) ? 0 : ATTR_KILL_PRIV), .size = size};

	if (size < 0)
		return -EINVAL;
	if (S_ISDIR(inode->i_mode))
		return -EISDIR;
	if (!S_ISREG(inode->i_mode))
		return -EINVAL;
	return notify_change(dentry, &attr);
}
