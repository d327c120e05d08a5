/*
 * Making and removing names: mkdir, mknod, symlink, link, unlink, rmdir. (rename is in rename.c.)
 *
 *     name_op_begin      copy the name, walk to its directory, lock that, look the last component up
 *     mnt_want_write     is the mount writable?
 *     vfs_mkdir, ...     rights, then the file system's operation
 *     name_op_end        unlock, drop the references
 *
 * The lock is the directory's i_lock; struct name_op holds what the calls have in common. The lock makes check and
 * change one step: a name that was free stays free until it is made.
 */
#include "internal.h"

#include <fs/fsnotify.h>
#include <lib/string.h>
#include <proc/syscall.h>

/*
 * May this name be made in the directory? 0, -EEXIST, -EACCES; -ENOENT in a tree of the kernel's own (/proc), and for a
 * directory that was removed while this call waited for its lock: it has no links then. [i_lock of dir]
 */
int may_create(struct inode *dir, struct dentry *dentry)
{
	if (dentry->d_inode)
		return -EEXIST;
	if (!dir->i_nlink || dir->i_sb->s_fixed)
		return -ENOENT;
	return inode_permission(dir, MAY_WRITE | MAY_EXEC);
}

/*
 * May this name be removed? In a sticky directory (/tmp) only the owner of the file or of the directory may do so. A
 * name that something is mounted on stays. 0, -ENOENT, -EACCES, -EPERM, -ENOTDIR, -EISDIR, -EBUSY. [i_lock of dir]
 */
int may_delete(struct inode *dir, struct dentry *victim, bool is_dir)
{
	struct inode *inode = victim->d_inode;
	int err;

	if (!inode)
		return -ENOENT;
	err = inode_permission(dir, MAY_WRITE | MAY_EXEC);
	if (err)
		return err;
	if ((dir->i_mode & S_ISVTX) && current->fsuid != inode->i_uid && current->fsuid != dir->i_uid &&
	    !capable(CAP_FOWNER))
		return -EPERM;
	if (is_dir && !S_ISDIR(inode->i_mode))
		return -ENOTDIR;
	if (!is_dir && S_ISDIR(inode->i_mode))
		return -EISDIR;
	return victim->d_mounted ? -EBUSY : 0;
}

/* Tells inotify of a name that was made, unless `err` says that it was not. Returns `err`. */
static int tell_created(struct inode *dir, struct dentry *dentry, int err)
{
	if (!err)
		fsnotify_name(dir, dentry->d_inode, dentry->d_name.name, IN_CREATE);
	return err;
}

/*
 * The same for a file that was removed. When the caller's reference is the only one left, the file has no other user,
 * and its own end is told first, as on Linux: no walk can find the dentry any more.
 */
static void tell_removed(struct inode *dir, struct dentry *dentry)
{
	if (atomic_read(&dentry->d_count) == 1)
		fsnotify_gone(dentry->d_inode);
	fsnotify_name(dir, dentry->d_inode, dentry->d_name.name, IN_DELETE);
}

/*
 * [i_lock of dir] Make an empty file. The vfs_ functions have Linux's names and are not inlined, because tutorials
 * trace them by these names.
 */
noinline int vfs_create(struct inode *dir, struct dentry *dentry, mode_t mode)
{
	int err = may_create(dir, dentry);

	if (err)
		return err;
	err = dir->i_op->create ? dir->i_op->create(dir, dentry, mode) : -EACCES;
	return tell_created(dir, dentry, err);
}

/* [i_lock of dir] A file system without the operation cannot have directories made in it: -EPERM, as on Linux. */
static noinline int vfs_mkdir(struct inode *dir, struct dentry *dentry, mode_t mode)
{
	int err = may_create(dir, dentry);

	if (err)
		return err;
	err = dir->i_op->mkdir ? dir->i_op->mkdir(dir, dentry, mode) : -EPERM;
	return tell_created(dir, dentry, err);
}

/* [i_lock of dir] Only CAP_MKNOD makes device files, since a device file gives its maker the device. */
static noinline int vfs_mknod(struct inode *dir, struct dentry *dentry, mode_t mode, dev_t dev)
{
	int err = may_create(dir, dentry);

	if (err)
		return err;
	if ((S_ISCHR(mode) || S_ISBLK(mode)) && !capable(CAP_MKNOD))
		return -EPERM;
	err = dir->i_op->mknod ? dir->i_op->mknod(dir, dentry, mode, dev) : -EPERM;
	return tell_created(dir, dentry, err);
}

/* [i_lock of dir] The file lives on while it is open or has other names. */
static noinline int vfs_unlink(struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = dentry->d_inode;
	int err = may_delete(dir, dentry, false);

	if (err)
		return err;
	if (!dir->i_op->unlink)
		return -EPERM;
	err = dir->i_op->unlink(dir, dentry);
	if (!err) {
		fsnotify_inode(inode, IN_ATTRIB);
		tell_removed(dir, dentry);
	}
	return err;
}

/*
 * [i_lock of dir] The victim's own lock is taken as well, the parent's before the child's: nothing may be made in the
 * directory between the check that it is empty and its end. Its cached negative names hold references to it, so they
 * go.
 */
static noinline int vfs_rmdir(struct inode *dir, struct dentry *dentry)
{
	struct inode *victim = dentry->d_inode;
	int err = may_delete(dir, dentry, true);

	if (err)
		return err;
	if (!dir->i_op->rmdir)
		return -EPERM;
	mutex_lock(&victim->i_lock);
	err = dir->i_op->rmdir(dir, dentry);
	mutex_unlock(&victim->i_lock);
	if (!err) {
		shrink_negative_children(dentry);
		tell_removed(dir, dentry);
	}
	return err;
}

/* Making or removing a name: what is held between name_op_begin() and name_op_end(). */
struct name_op {
	struct filename name;
	struct nameidata nd;
	struct path parent;
	struct dentry *dentry; /* with a reference; parent's i_lock is held */
};

/* Give back all that name_op_begin() has taken, in the opposite order. */
static void name_op_end(struct name_op *op)
{
	mutex_unlock(&op->parent.dentry->d_inode->i_lock);
	dput(op->dentry);
	path_put(&op->parent);
	path_free_names(&op->nd);
	putname(&op->name);
}

/*
 * Walk to the parent, lock it, and look the name up. A name may end in ".", ".." or "/", which are no names that
 * could be made or removed; `dot` is the error for these, as each system call has its own. rmdir (-EBUSY)
 * distinguishes them further: "." is -EINVAL, and ".." is not empty. Returns 0 with everything held, or -errno with
 * nothing held.
 */
static int name_op_walk(struct name_op *op, int dfd, int dot)
{
	struct inode *dir;
	int err;

	err = path_parentat(&op->nd, dfd, op->name.name, &op->parent);
	if (err)
		goto put_name;
	err = dot;
	if (op->nd.last_type == LAST_DOT && dot == -EBUSY)
		err = -EINVAL;
	if (op->nd.last_type == LAST_DOTDOT && dot == -EBUSY)
		err = -ENOTEMPTY;
	if (op->nd.last_type != LAST_NORM)
		goto put_parent;
	dir = op->parent.dentry->d_inode;
	mutex_lock(&dir->i_lock);
	op->dentry = lookup_one(op->parent.dentry, op->nd.last, op->nd.last_len, op->nd.last_hash);
	err = IS_ERR(op->dentry) ? PTR_ERR(op->dentry) : 0;
	if (!err)
		return 0;
	mutex_unlock(&dir->i_lock);
put_parent:
	path_put(&op->parent);
	path_free_names(&op->nd);
put_name:
	putname(&op->name);
	return err;
}

/* The same for a name that the program passes. */
static int name_op_begin(struct name_op *op, int dfd, const char __user *path, int dot)
{
	int err = getname(&op->name, path, false);

	return err ? err : name_op_walk(op, dfd, dot);
}

/*
 * For a name that must not exist yet. `dir_ok`: it may end in a slash. That the name exists is reported before a
 * read-only mount is, as on Linux: "mkdir -p" relies on -EEXIST. The caller's vfs_ function asks may_create(), which
 * looks again and checks the rights.
 */
static int name_op_check_new(struct name_op *op, bool dir_ok)
{
	int err;

	if (op->dentry->d_inode)
		err = -EEXIST;
	else if (op->nd.trailing && !dir_ok)
		err = -ENOENT;
	else
		err = mnt_want_write(&op->parent);
	if (err)
		name_op_end(op);
	return err;
}

static int name_op_begin_create(struct name_op *op, int dfd, const char __user *path, bool dir_ok)
{
	int err = name_op_begin(op, dfd, path, -EEXIST);

	return err ? err : name_op_check_new(op, dir_ok);
}

/* The sticky bit may be given, the set-id bits may not, as on Linux. */
SYSCALL_DEFINE3(mkdirat, int, dfd, const char __user *, pathname, umode_t, mode)
{
	struct name_op op;
	int err = name_op_begin_create(&op, dfd, pathname, true);

	if (err)
		return err;
	err = vfs_mkdir(op.parent.dentry->d_inode, op.dentry, S_IFDIR | apply_umask(mode & 01777));
	name_op_end(&op);
	return err;
}

SYSCALL_DEFINE2(mkdir, const char __user *, pathname, umode_t, mode)
{
	return sys_mkdirat(AT_FDCWD, (unsigned long)pathname, mode);
}

/*
 * A device number as programs write it (encode_dev() in stat.c). The older form of 16 bits agrees with it for numbers
 * below 256.
 */
static dev_t decode_dev(u32 dev)
{
	return ((u64)((dev >> 8) & 0xfff) << 20) | (dev & 0xff) | ((dev >> 12) & 0xfff00);
}

/* No type means a regular file. A directory is mkdir's business. */
SYSCALL_DEFINE4(mknodat, int, dfd, const char __user *, filename, umode_t, mode, unsigned int, dev)
{
	mode_t type = mode & S_IFMT, full = apply_umask(mode & 07777) | (type ? type : S_IFREG);
	struct inode *dir;
	struct name_op op;
	int err;

	if (type == S_IFDIR)
		return -EPERM;
	if (type && type != S_IFREG && type != S_IFCHR && type != S_IFBLK && type != S_IFIFO && type != S_IFSOCK)
		return -EINVAL;
	err = name_op_begin_create(&op, dfd, filename, false);
	if (err)
		return err;
	dir = op.parent.dentry->d_inode;
	if (S_ISREG(full))
		err = vfs_create(dir, op.dentry, full);
	else
		err = vfs_mknod(dir, op.dentry, full, S_ISCHR(full) || S_ISBLK(full) ? decode_dev(dev) : 0);
	name_op_end(&op);
	return err;
}

/* A new socket can be written to by all users that the umask does not exclude. */
int vfs_make_socket(const char *path, struct path *out)
{
	struct name_op op = {.name = {.name = path}};
	int err = name_op_walk(&op, AT_FDCWD, -EEXIST);

	if (!err)
		err = name_op_check_new(&op, false);
	if (err)
		return err;
	err = vfs_mknod(op.parent.dentry->d_inode, op.dentry, apply_umask(0777) | S_IFSOCK, 0);
	if (!err) {
		*out = (struct path){op.parent.mnt, op.dentry};
		path_get(out);
	}
	name_op_end(&op);
	return err;
}

SYSCALL_DEFINE3(mknod, const char __user *, filename, umode_t, mode, unsigned, dev)
{
	return sys_mknodat(AT_FDCWD, (unsigned long)filename, mode, dev);
}

/*
 * Linux's name for the place to probe: a new name in a directory that name_op_begin_create() has locked. 0 or -errno.
 */
int vfs_symlink(struct inode *dir, struct dentry *dentry, const char *target);
noinline int vfs_symlink(struct inode *dir, struct dentry *dentry, const char *target)
{
	int err = may_create(dir, dentry);

	if (!err)
		err = dir->i_op->symlink ? dir->i_op->symlink(dir, dentry, target) : -EPERM;
	tell_created(dir, dentry, err);
	return err;
}

/*
 * The target is any text that is not empty; it need not name a file. It is copied first, because nothing may fault
 * while the directory is locked.
 */
SYSCALL_DEFINE3(symlinkat, const char __user *, oldname, int, newdfd, const char __user *, newname)
{
	struct filename to;
	struct name_op op;
	int err = getname(&to, oldname, false);

	if (err)
		return err;
	err = name_op_begin_create(&op, newdfd, newname, false);
	if (err)
		goto put_target;
	err = vfs_symlink(op.parent.dentry->d_inode, op.dentry, to.name);
	name_op_end(&op);
put_target:
	putname(&to);
	return err;
}

SYSCALL_DEFINE2(symlink, const char __user *, oldname, const char __user *, newname)
{
	return sys_symlinkat((unsigned long)oldname, AT_FDCWD, (unsigned long)newname);
}

/*
 * [i_lock of dir] A second name for old's file, in the same file system, or the first one for a file that was made
 * without (O_TMPFILE). The file may have lost its last name while the lock was waited for.
 */
static noinline int vfs_link(struct dentry *old, struct inode *dir, struct dentry *new)
{
	struct inode *inode = old->d_inode;
	int err = may_create(dir, new);

	if (err)
		return err;
	if (inode->i_sb != dir->i_sb)
		return -EXDEV;
	if (S_ISDIR(inode->i_mode) || !dir->i_op->link)
		return -EPERM;
	if (!inode->i_nlink && !READ_ONCE(inode->i_linkable))
		return -ENOENT;
	err = dir->i_op->link(old, dir, new);
	if (err)
		return err;
	WRITE_ONCE(inode->i_linkable, false);
	fsnotify_inode(inode, IN_ATTRIB);
	return tell_created(dir, new, err);
}

/*
 * Both names must be seen through one mount, as on Linux, even if two mounts show one file system. A descriptor alone
 * (AT_EMPTY_PATH) is enough for a task with CAP_DAC_READ_SEARCH only: the holder of a descriptor may have no right to
 * the folder that it was found in.
 */
SYSCALL_DEFINE5(linkat, int, olddfd, const char __user *, oldname, int, newdfd, const char __user *, newname, int,
		flags)
{
	unsigned how = flags & AT_SYMLINK_FOLLOW ? LOOKUP_FOLLOW : 0;
	struct path old;
	struct name_op op;
	int err;

	if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (flags & AT_EMPTY_PATH && !capable(CAP_DAC_READ_SEARCH))
		return -ENOENT;
	err = user_path_at(olddfd, oldname, how | (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0), &old);
	if (err)
		return err;
	err = name_op_begin_create(&op, newdfd, newname, false);
	if (err)
		goto put_old;
	err = op.parent.mnt != old.mnt ? -EXDEV : vfs_link(old.dentry, op.parent.dentry->d_inode, op.dentry);
	name_op_end(&op);
put_old:
	path_put(&old);
	return err;
}

SYSCALL_DEFINE2(link, const char __user *, oldname, const char __user *, newname)
{
	return sys_linkat(AT_FDCWD, (unsigned long)oldname, AT_FDCWD, (unsigned long)newname, 0);
}

/* Slashes behind the name are allowed: it must be a directory in any case. A read-only mount is asked about last. */
static long do_rmdir(int dfd, const char __user *path)
{
	struct name_op op;
	int err = name_op_begin(&op, dfd, path, -EBUSY);

	if (err)
		return err;
	err = mnt_want_write(&op.parent);
	if (!err)
		err = vfs_rmdir(op.parent.dentry->d_inode, op.dentry);
	name_op_end(&op);
	return err;
}

/*
 * A name with slashes behind it must be a directory, and a directory cannot be unlinked, so such a name is an error
 * in any case; which one says what the name was. AT_REMOVEDIR makes the call rmdir.
 */
SYSCALL_DEFINE3(unlinkat, int, dfd, const char __user *, pathname, int, flag)
{
	struct name_op op;
	int err;

	if (flag & ~AT_REMOVEDIR)
		return -EINVAL;
	if (flag & AT_REMOVEDIR)
		return do_rmdir(dfd, pathname);
	err = name_op_begin(&op, dfd, pathname, -EISDIR);
	if (err)
		return err;
	if (op.nd.trailing)
		err = !op.dentry->d_inode ? -ENOENT : S_ISDIR(op.dentry->d_inode->i_mode) ? -EISDIR : -ENOTDIR;
	if (!err)
		err = mnt_want_write(&op.parent);
	if (!err)
		err = vfs_unlink(op.parent.dentry->d_inode, op.dentry);
	name_op_end(&op);
	return err;
}

SYSCALL_DEFINE1(unlink, const char __user *, pathname)
{
	return sys_unlinkat(AT_FDCWD, (unsigned long)pathname, 0);
}

SYSCALL_DEFINE1(rmdir, const char __user *, pathname)
{
	return do_rmdir(AT_FDCWD, pathname);
}
