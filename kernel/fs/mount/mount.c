/*
 * Mounts: which file systems there are, and where in the tree they are seen.
 *
 * A super block is one instance of a file system; a mount shows it at a place. File systems marked `single` (sysfs,
 * devtmpfs, tracefs) have one super block for all their mounts; the others get a new one for each. A dentry that is
 * covered has a chain of mounts in d_mounted, one for each mount through which it can be reached, and the path walk
 * steps onto the covering root (step_into).
 *
 *     root mount            d_mounted of the dentry "proc"
 *       "/"                          |
 *        +-- "proc" ----------------->  mount: mnt_at = (root mount, "proc"), mnt_root = "/" of procfs
 *        |                                       "/"
 *        +-- "bin"                                +-- "self"
 *
 * A bind mount shows a part of a super block that is mounted elsewhere already: its mnt_root is any dentry of it,
 * also that of a file. Bound mounts and moved ones change the tree of mounts, in which mnt_at is the way up; a path
 * walk reads it under dcache_lock. What is mounted in one place is seen there only (bind/mount_sharing.c).
 *
 * The life of a mount: the tree holds one reference, and each path (cwd, open file, mount on it) another. umount takes
 * the tree's reference away; with MNT_DETACH it does so even while others are held, and the mount then lives on for its
 * users only. The last mount of a super block that is not `single` destroys it.
 *
 * Locks: mount_mutex for mounting and unmounting; dcache_lock as well for what the path walk looks at (d_mounted,
 * mnt_next_here, mnt_at, the list of mounts). A walk that stands in a mount while that is moved or unmounted has a
 * reference to it, or holds dcache_lock; it goes on in it, as if it had passed before.
 */
#include "mount.h"

#include <fs/fsnotify.h>
#include <fs/libfs.h>
#include <kernel/kmod.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/syscall.h>
#include <uapi/mount.h>

DECLARE_TABLE(filesystems, const struct file_system_type);

DEFINE_MUTEX(mount_mutex);
LIST_HEAD(all_mounts);
static unsigned next_dev = 1; /* [mount_mutex] minor numbers of anonymous devices, major 0 */
static unsigned next_id = 1;  /* [mount_mutex] of /proc/<pid>/mountinfo */
struct mount *root_mount;

/* The one super block of each `single` file system. */
#define MAX_SINGLE 16
static struct super_block *single_supers[MAX_SINGLE]; /* [mount_mutex] */

/*
 * MNT_KEPT: the flags that /proc/mounts shows and the kernel looks at. The others of MNT_HARMLESS mean nothing to file
 * systems in memory, and are taken without effect.
 */
#define MNT_KEPT     (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME)
#define MNT_HARMLESS (MNT_KEPT | MS_SILENT | MS_RELATIME | MS_STRICTATIME | MS_SYNCHRONOUS | MS_NODIRATIME)

/* File systems register themselves at compile time (REGISTER_FILESYSTEM). */
static const struct file_system_type *find_filesystem(const char *name)
{
	const struct file_system_type *fs;

	for_each_in_table(filesystems, fs)
		if (!strcmp(fs->name, name))
			return fs;
	return NULL;
}

/* [mount_mutex] The super block of a `single` file system, or NULL when it has no super block yet. */
static struct super_block *find_single(const struct file_system_type *type)
{
	for (unsigned i = 0; i < MAX_SINGLE && single_supers[i]; i++)
		if (single_supers[i]->s_type == type)
			return single_supers[i];
	return NULL;
}

/* [mount_mutex] Remember the super block of a `single` file system. 0 or -ENOSPC. */
static int keep_single(struct super_block *sb)
{
	for (unsigned i = 0; i < MAX_SINGLE; i++)
		if (!single_supers[i]) {
			single_supers[i] = sb;
			return 0;
		}
	return -ENOSPC;
}

/*
 * Free a super block that no mount shows: everything in its tree goes first. Also for one whose fill_super() failed
 * half way.
 */
static void destroy_super(struct super_block *sb)
{
	fsnotify_unmount(sb);
	if (sb->s_op && sb->s_op->begin_put)
		sb->s_op->begin_put(sb);
	if (sb->s_root) {
		simple_remove(sb->s_root);
		dput(sb->s_root);
	}
	if (sb->s_op && sb->s_op->put_super)
		sb->s_op->put_super(sb);
	kfree(sb);
}

/*
 * [mount_mutex] The super block to show: the only one of a `single` type, which takes new options as a remount does,
 * else a new one, which fill_super() builds.
 * A super block that could not be built is destroyed with what it has so far. ERR_PTR.
 */
static struct super_block *get_super(const struct file_system_type *type, const char *source, const char *options)
{
	struct super_block *sb = type->single ? find_single(type) : NULL;
	int err;

	if (sb) {
		err = options && *options && sb->s_op->remount ? sb->s_op->remount(sb, options) : 0;
		return err ? ERR_PTR(err) : sb;
	}
	sb = kzalloc(sizeof(*sb), GFP_KERNEL);
	if (!sb)
		return ERR_PTR(-ENOMEM);
	sb->s_type = type;
	sb->s_dev = MKDEV(0, next_dev++);
	sb->s_source = source ? source : "";
	err = type->fill_super(sb, options ? options : "");
	sb->s_source = NULL;
	if (!err && type->single)
		err = keep_single(sb);
	if (!err)
		return sb;
	destroy_super(sb);
	return ERR_PTR(err);
}

struct super_block *single_super(const char *name)
{
	const struct file_system_type *type = find_filesystem(name);
	struct super_block *sb;

	mutex_lock(&mount_mutex);
	sb = get_super(type, NULL, NULL);
	mutex_unlock(&mount_mutex);
	return sb;
}

struct dentry *single_fs_dir(const char *type, const char *name)
{
	struct super_block *sb = single_super(type);
	struct dentry *dir;

	if (IS_ERR(sb))
		return ERR_PTR(PTR_ERR(sb));
	dir = d_find_child(sb->s_root, name, strlen(name));
	return dir ? dir : ERR_PTR(-ENOENT);
}

/* [mount_mutex] A mount that is not in the tree yet; NULL when out of memory. */
struct mount *alloc_mount(struct super_block *sb, struct dentry *root, const char *source, unsigned flags)
{
	struct mount *mnt = kzalloc(sizeof(*mnt), GFP_KERNEL);

	if (!mnt)
		return NULL;
	atomic_set(&mnt->mnt_count, 1);
	mnt->mnt_id = next_id++;
	mnt->mnt_sb = sb;
	mnt->mnt_root = dget(root);
	mnt->mnt_flags = flags & MNT_KEPT;
	strscpy(mnt->mnt_source, source && *source ? source : "none", sizeof(mnt->mnt_source));
	sb->s_mounts++;
	return mnt;
}

/*
 * [mount_mutex, dcache_lock] May the mount be put at this place? It was walked to before the lock was taken, so it is
 * judged again here:
 *
 * -EINVAL: the mount that the place is on has left the tree (umount -l) and lives on for its users alone. No walk could
 * reach a mount on it and take it away again. -EAGAIN: another mount has covered the place just now, and the walk must
 * see that. -EBUSY: the same file system is what is seen there already, as on Linux; a different one covers it, and so
 * does the same one by a bind mount or a move (twice). -ENOENT: the directory was removed, or can bear no mount.
 */
int may_attach(const struct mount *mnt, const struct path *at, bool twice)
{
	const struct dentry *d = at->dentry;

	if (list_empty(&at->mnt->mnt_list))
		return -EINVAL;
	if (mounted_at(at->mnt, d))
		return -EAGAIN;
	if (!twice && d == at->mnt->mnt_root && d == mnt->mnt_root)
		return -EBUSY;
	return d->d_flags & (DCACHE_UNLINKED | DCACHE_CANT_MOUNT) ? -ENOENT : 0;
}

/* [mount_mutex, dcache_lock] Put it there, as the last of the list. Takes over the references of `at`. */
static void hang_mount(struct mount *mnt, const struct path *at)
{
	hang_again(mnt, at);
	list_add_tail(&mnt->mnt_list, &all_mounts);
}

static void mount_joined(struct mount *mnt)
{
	const struct mount_part *part;

	for_each_in_table(mount_parts, part)
		part->joined(mnt);
}

/* [mount_mutex] Both. 0, and the references of `at` are the mount's; or -errno. */
int attach_mount(struct mount *mnt, const struct path *at, bool twice)
{
	int err;

	spin_lock(&dcache_lock);
	err = may_attach(mnt, at, twice);
	if (!err)
		hang_mount(mnt, at);
	spin_unlock(&dcache_lock);
	if (!err)
		mount_joined(mnt);
	return err;
}

/* The last reference is gone, so no path leads here. Thread context; takes mount_mutex. */
void free_mount(struct mount *mnt)
{
	struct super_block *sb = mnt->mnt_sb;
	bool last;

	path_put(&mnt->mnt_at);
	dput(mnt->mnt_root);
	kfree(mnt);
	mutex_lock(&mount_mutex);
	last = --sb->s_mounts == 0 && !sb->s_type->single;
	mutex_unlock(&mount_mutex);
	if (last)
		destroy_super(sb);
}

/*
 * Mount `type` at a place, whose references it takes over when it succeeds. by_itself: a file system mounts it inside
 * another one.
 *
 * As soon as the mount can be seen it may be unmounted again, so a reference is held until everything is mounted that
 * belongs inside; that runs without mount_mutex, because it mounts in turn. When a step fails, dropping the only
 * reference of the mount destroys a super block that has no other mount.
 */
static int mount_at(const struct path *at, const char *source, const char *type_name, unsigned flags,
		    const char *options, bool by_itself)
{
	const struct file_system_type *type = find_filesystem(type_name);
	struct super_block *sb;
	struct mount *mnt;
	int err;

	if (!type || (type->hidden && type->hidden())) {
		/* A module cannot bring a file system, but it may do what its author wants at a mount of this name. */
		request_module("fs-%s", type_name);
		return -ENODEV;
	}
	mutex_lock(&mount_mutex);
	sb = get_super(type, source, options);
	mnt = IS_ERR(sb) ? NULL : alloc_mount(sb, sb->s_root, source, flags);
	if (mnt)
		mnt->mnt_auto = by_itself;
	err = IS_ERR(sb) ? PTR_ERR(sb) : mnt ? attach_mount(mnt, at, false) : -ENOMEM;
	if (!err && type->mounted)
		atomic_inc(&mnt->mnt_count);
	mutex_unlock(&mount_mutex);
	if (!IS_ERR(sb) && !mnt && !sb->s_mounts && !type->single)
		destroy_super(sb);
	if (err) {
		mntput(mnt);
		return err;
	}
	if (!type->mounted)
		return 0;
	if (type->mounted(mnt))
		pr_warn("%s: could not mount all that belongs inside it\n", type->name);
	mntput(mnt);
	return 0;
}

/* The new mount gets the flags of the mount that it lies in. */
int mount_inside(struct mount *at, struct dentry *dir, const char *source, const char *type)
{
	struct path path = {at, dir};
	int err;

	path_get(&path);
	err = mount_at(&path, source, type, at->mnt_flags, NULL, true);
	if (err)
		path_put(&path);
	return err;
}

/*
 * Options for a file system that has no use for options are ignored. With MS_BIND only the flags of this mount change.
 * 0 or -errno.
 */
static int do_remount(const struct path *at, unsigned flags, const char *options)
{
	struct super_block *sb = at->mnt->mnt_sb;
	int err = 0;

	if (at->dentry != at->mnt->mnt_root)
		return -EINVAL;
	mutex_lock(&mount_mutex);
	if (!(flags & MS_BIND) && options && sb->s_op && sb->s_op->remount)
		err = sb->s_op->remount(sb, options);
	if (!err)
		at->mnt->mnt_flags = flags & MNT_KEPT;
	mutex_unlock(&mount_mutex);
	return err;
}

/*
 * [mount_mutex, dcache_lock] Take the mount out of the tree; the tree's reference becomes the caller's. Its list entry
 * is empty from now on, which attach_mount() looks at.
 */
static void detach_mount(struct mount *mnt)
{
	const struct mount_part *part;

	unhang(mnt);
	list_del_init(&mnt->mnt_list);
	for_each_in_table(mount_parts, part)
		part->left(mnt);
}

/* What mount(2) does besides mounting a file system. -EINVAL: there is no such room. */
static int mount_by_part(const struct path *at, const char *source, unsigned long flags)
{
	const struct mount_part *part;

	for_each_in_table(mount_parts, part)
		return part->mount(at, source, flags);
	return -EINVAL;
}

/* One try at a path that was walked to. Its references are taken over by the new mount, or dropped here. */
static int mount_on(struct path *at, const char *source, const char *type, unsigned long flags, const char *data)
{
	int err;

	if (flags & MS_REMOUNT)
		err = do_remount(at, flags, data);
	else if (flags & (MS_BIND | MS_MOVE | MNT_TYPES)) {
		err = mount_by_part(at, source, flags);
		if (!err)
			return 0;
	} else if (!type)
		err = -EINVAL;
	else if (!S_ISDIR(at->dentry->d_inode->i_mode))
		err = at->dentry->d_flags & DCACHE_CANT_MOUNT ? -ENOENT : -ENOTDIR;
	else {
		err = mount_at(at, source, type, flags, data, false);
		if (!err)
			return 0; /* the mount has taken over the references */
	}
	path_put(at);
	return err;
}

/*
 * Walks again when another mount was faster (-EAGAIN). MS_REC goes with a bind mount and with a propagation type; else
 * it has no effect.
 */
int do_mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)
{
	struct path at;
	int err;

	if ((flags & MS_MGC_MSK) == MS_MGC_VAL)
		flags &= ~MS_MGC_MSK;
	do {
		err = kern_path_at(AT_FDCWD, target, LOOKUP_FOLLOW, &at);
		if (err)
			return err;
		if (flags & ~(MNT_HARMLESS | MS_REMOUNT | MS_BIND | MS_MOVE | MS_REC) && !(flags & MNT_TYPES)) {
			path_put(&at);
			return -EINVAL;
		}
		err = mount_on(&at, source, type, flags, data);
	} while (err == -EAGAIN);
	return err;
}

/*
 * [dcache_lock] Does a path walk reach it? Not when it is the root, has left the tree, or is covered by another mount
 * at the same place.
 */
static bool mount_is_seen(const struct mount *mnt)
{
	return mnt->mnt_at.dentry && mounted_at(mnt->mnt_at.mnt, mnt->mnt_at.dentry) == mnt;
}

/*
 * [mount_mutex, dcache_lock] Take a mount and all mounts inside of it out of the tree, each by itself: users of one do
 * not see the others any more, as on Linux. If the inner ones stayed, no walk could reach them and no umount end them.
 * Returns all of them, linked by mnt_next_here, with the tree's references.
 */
static struct mount *detach_tree(const struct mount *top)
{
	struct mount *mnt, *next, *gone = NULL;

	list_for_each_entry_safe(mnt, next, &all_mounts, mnt_list) {
		if (!mount_is_below(mnt, top))
			continue;
		detach_mount(mnt);
		mnt->mnt_next_here = gone;
		gone = mnt;
	}
	return gone;
}

/* [mount_mutex] What the file system has mounted inside itself (debugfs: tracing), if nothing covers it there; NULL. */
static struct mount *automounted_child(struct mount *mnt)
{
	struct mount *child;

	list_for_each_entry(child, &all_mounts, mnt_list)
		if (child->mnt_auto && child->mnt_at.mnt == mnt && mount_is_seen(child))
			return child;
	return NULL;
}

/*
 * Unmount `mnt`, and with it what its file system has mounted inside: both or neither. The caller's walk holds one
 * reference to `mnt`. A mount is busy when it has more references than the tree's, the walk's and that of the child, so
 * it has no other mount inside then. With MNT_DETACH no mount counts as busy, and all that is mounted inside goes, too.
 */
static int umount_tree(struct mount *mnt, int flags)
{
	struct mount *child, *next, *gone = NULL;
	bool lazy = flags & MNT_DETACH;
	int err = 0;

	mutex_lock(&mount_mutex);
	spin_lock(&dcache_lock);
	child = automounted_child(mnt);
	if (!mount_is_seen(mnt))
		err = -EINVAL;
	else if (!lazy && atomic_read(&mnt->mnt_count) > (child ? 3 : 2))
		err = -EBUSY;
	else if (!lazy && child && atomic_read(&child->mnt_count) > 1)
		err = -EBUSY;
	if (!err)
		gone = detach_tree(mnt);
	spin_unlock(&dcache_lock);
	forget_places(gone);
	mutex_unlock(&mount_mutex);
	for (; gone; gone = next) {
		next = gone->mnt_next_here;
		mntput(gone);
	}
	return err;
}

/* The root of a mount is what a walk ends at; a path to another dentry names no mount. */
int do_umount(const char *target, int flags)
{
	struct path at;
	int err;

	if (flags & ~(MNT_FORCE | MNT_DETACH | UMOUNT_NOFOLLOW))
		return -EINVAL;
	err = kern_path_at(AT_FDCWD, target, flags & UMOUNT_NOFOLLOW ? 0 : LOOKUP_FOLLOW, &at);
	if (err)
		return err;
	if (at.dentry != at.mnt->mnt_root)
		err = -EINVAL;
	else if (at.mnt == root_mount)
		err = -EBUSY;
	else
		err = umount_tree(at.mnt, flags);
	path_put(&at);
	return err;
}

/* A string argument of mount(2), copied into a page; NULL stays NULL. */
static int copy_mount_string(char **to, const char __user *from, char *page)
{
	long len;

	*to = NULL;
	if (!from)
		return 0;
	len = strncpy_from_user(page, from, PAGE_SIZE);
	if (len < 0)
		return len;
	if (len == PAGE_SIZE)
		return -EINVAL;
	*to = page;
	return 0;
}

/* Four pages, one for each string. Only CAP_SYS_ADMIN may mount; that is asked before anything is copied. */
SYSCALL_DEFINE5(mount, char __user *, dev_name, char __user *, dir_name, char __user *, type, unsigned long, flags,
		void __user *, data)
{
	char *pages = get_free_pages(GFP_KERNEL, 2), *src, *tgt, *typ, *opt;
	int err;

	if (!pages)
		return -ENOMEM;
	err = !capable(CAP_SYS_ADMIN) ? -EPERM : copy_mount_string(&src, dev_name, pages);
	if (!err)
		err = copy_mount_string(&tgt, dir_name, pages + PAGE_SIZE);
	if (!err)
		err = copy_mount_string(&typ, type, pages + 2 * PAGE_SIZE);
	if (!err)
		err = copy_mount_string(&opt, data, pages + 3 * PAGE_SIZE);
	if (!err)
		err = tgt ? do_mount(src, tgt, typ, flags, opt) : -EFAULT;
	free_pages(pages, 2);
	return err;
}

/* Only CAP_SYS_ADMIN may unmount, and is asked before the path is looked at. */
SYSCALL_DEFINE2(umount, char __user *, name, int, flags)
{
	struct filename f;
	int err = !capable(CAP_SYS_ADMIN) ? -EPERM : getname(&f, name, false);

	if (err)
		return err;
	err = do_umount(f.name, flags);
	putname(&f);
	return err;
}

/* Boot: mount the root file system, the first thing in the tree. */
static void mount_root(void)
{
	struct super_block *sb = get_super(find_filesystem("rootfs"), NULL, NULL);

	if (IS_ERR(sb))
		panic("vfs: no root file system: %ld", PTR_ERR(sb));
	root_mount = alloc_mount(sb, sb->s_root, "rootfs", 0);
	if (!root_mount)
		panic("vfs: out of memory for the root file system");
	list_add_tail(&root_mount->mnt_list, &all_mounts);
	init_fs.root = (struct path){root_mount, root_mount->mnt_root};
	path_get(&init_fs.root);
	init_fs.pwd = init_fs.root;
	path_get(&init_fs.pwd);
	if (rootfs_populate(sb->s_root))
		pr_err("vfs: out of memory for /dev/console\n");
}

/* The caches first, since the root file system is made of dentries and inodes. */
void vfs_init(void)
{
	dcache_init();
	inode_init();
	files_init();
	file_table_init();
	mutex_lock(&mount_mutex);
	mount_root();
	mutex_unlock(&mount_mutex);
	pipe_init();
	anon_inode_init();
}

/* /proc/filesystems, in Linux's format. */
int show_filesystems(struct seq_file *m)
{
	const struct file_system_type *fs;

	for_each_in_table(filesystems, fs)
		if (!fs->hidden || !fs->hidden())
			seq_printf(m, "%s\t%s\n", fs->nodev ? "nodev" : "", fs->name);
	return 0;
}
