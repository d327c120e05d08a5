/*
 * What the files of the virtual file system share among themselves. The locks and their order stand in <fs/vfs.h>.
 * Everything here runs in thread context unless it says otherwise; [name] says which lock the caller holds.
 */
#pragma once

#include <asm/uaccess.h>
#include <fs/vfs.h>
#include <lib/string.h>
#include <mm/page.h>
#include <sched/current.h>
#include <uapi/fcntl.h>

/* Held for every change to the tree of dentries, and during walks that hold no references. */
extern spinlock_t dcache_lock;
extern struct mutex rename_mutex; /* one rename between directories at a time, so that ancestors stay ancestors */
extern struct mutex mount_mutex;  /* mounting, unmounting, remounting */

/* The hash of a name, computed byte by byte while the name is scanned. */
static inline u32 name_hash_step(u32 hash, unsigned char c)
{
	return (hash + c) * 31 + (hash >> 27);
}
u32 name_hash(const char *name, unsigned len); /* the step above over all of a name. Any context */

/* dcache.c. [dcache_lock] marks functions that need it held. */
struct dentry *__d_lookup(struct dentry *parent, const char *name, unsigned len,
			  u32 hash);		      /* [dcache_lock] no reference */
static inline struct dentry *__dget(struct dentry *d) /* [dcache_lock] or a reference is held */
{
	atomic_inc(&d->d_count);
	return d;
}

/* Move `old` to the place of `new`, which may be hashed or not, negative or a victim; `new` is unlinked. */
void d_move(struct dentry *old, struct dentry *new);
/* Two names exchange their places. [both i_locks] */
void d_exchange(struct dentry *a, struct dentry *b);
bool d_is_ancestor(struct dentry *a, struct dentry *d); /* a == d counts. rename_mutex or dcache_lock held */
/*
 * The super block of a `single` file system, made if it is not mounted yet: modules may use it before. It is never
 * freed. ERR_PTR. Thread context.
 */
struct super_block *single_super(const char *name);
/*
 * Put a new inode (NULL: -ENOMEM) under a name into a tree of libfs.h; the inode's reference is taken over. Returns the
 * dentry, which the tree holds, or ERR_PTR.
 */
struct dentry *simple_attach(struct dentry *parent, const char *name, struct inode *inode);
/* The owner and the group of a directory for what is made in it. [i_lock of the directory] */
static inline void inode_owner_of(struct inode *inode, const struct inode *dir)
{
	inode->i_uid = READ_ONCE(dir->i_uid);
	inode->i_gid = READ_ONCE(dir->i_gid);
}

void simple_evict(struct inode *inode); /* evict_inode of such a tree */
/* [dcache_lock] The next of the tree below top, parents before children; NULL: d was the last. Begins with d = top. */
struct dentry *simple_next_in_tree(struct dentry *top, struct dentry *d);
/* Emit "." and ".." of a directory; false: the reader has no room. */
bool dir_emit_dots(struct file *file, struct dir_context *ctx);
bool d_has_children(struct dentry *dir); /* positive ones. i_lock of dir held */
/*
 * [dcache_lock] The part of d_delete under the lock. Returns whether the pin's reference is left for the caller to
 * drop.
 */
bool __d_drop(struct dentry *d);
struct inode *simple_dir_inode(struct super_block *sb, mode_t mode, const struct inode_operations *iop); /* or NULL */
/* Free the cached "no such file" entries of a directory that was removed. The caller holds a reference to it. */
void shrink_negative_children(struct dentry *dir);
/* Boot, from vfs_init. */
void dcache_init(void);
void inode_init(void);
void files_init(void);
void file_table_init(void);

/* namei.c. What the last component of a name is: an ordinary name, none at all ("/"), "." or "..". */
enum last_type {
	LAST_NORM,
	LAST_ROOT,
	LAST_DOT,
	LAST_DOTDOT,
};
/*
 * A walk in progress. Between its steps dcache_lock is held, so `path` needs no references. A step that had to sleep
 * leaves in `base` and `held` the references that kept `path` alive while the lock was released.
 */
struct nameidata {
	struct path path;
	struct path base;
	struct dentry *held;
	const char *name; /* what is left to walk */
	const char *last; /* the last component */
	u32 last_len, last_hash;
	enum last_type last_type;
	bool trailing;	  /* slashes follow the last component: it must be a directory */
	unsigned links;	  /* symbolic links followed */
	char *buf;	  /* a page that holds `name` once a link was put in */
	unsigned resolve; /* RESOLVE_*; the next is for BENEATH and IN_ROOT, with references */
	struct path scope;
};
/* A path that was copied from user space: short ones lie in the structure, long ones in a page. */
struct filename {
	const char *name;
	char *page;
	char iname[128];
};
/* Copy a path from user space. 0, -EFAULT, -ENAMETOOLONG, -ENOENT (empty, and not allowed to be), -ENOMEM. */
int getname(struct filename *f, const char __user *path, bool empty_ok);
static inline void putname(struct filename *f)
{
	if (unlikely(f->page))
		free_page(f->page);
	f->page = NULL;
}

/* Start at root, cwd or dfd. Returns with dcache_lock held, or -errno without. */
int path_init(struct nameidata *nd, int dfd, const char *name);
/* The same for openat2(2). -EXDEV: an absolute name, and it must stay beneath dfd. */
int path_init_resolve(struct nameidata *nd, int dfd, const char *name, unsigned resolve);
/* [dcache_lock] Walk all components but the last. 0 or -errno; the lock is held in both cases. */
int link_path_walk(struct nameidata *nd);
/* [dcache_lock] The last component, from the cache or from the file system. NULL: it does not exist; ERR_PTR. */
struct dentry *walk_last(struct nameidata *nd);
/* [dcache_lock] Put a link's target in front of what is left to walk. 0; 1: nd->path is the object itself; -errno. */
int follow_link(struct nameidata *nd, struct dentry *link);
/* [dcache_lock] Before sleeping: take references for nd->path and release the lock. */
void walk_unlock(struct nameidata *nd);
/*
 * [dcache_lock] The mount that covers d as seen through mnt, or NULL: several mounts may show one tree, and each of
 * them may be covered by others.
 */
static inline struct mount *mounted_at(const struct mount *mnt, const struct dentry *d)
{
	struct mount *over = d->d_mounted;

	while (over && over->mnt_at.mnt != mnt)
		over = over->mnt_next_here;
	return over;
}

/* [dcache_lock] Step onto d, and on to the root of what is mounted there. */
static inline void step_into(struct nameidata *nd, struct dentry *d)
{
	struct mount *over;

	while (unlikely(d->d_mounted) && (over = mounted_at(nd->path.mnt, d))) {
		nd->path.mnt = over;
		d = over->mnt_root;
	}
	nd->path.dentry = d;
}
#define RESOLVE_SCOPED (RESOLVE_BENEATH | RESOLVE_IN_ROOT) /* the walk has a root of its own */
/* [dcache_lock] The caller's root. A second user of the fs_struct may be changing it; a single one is this task. */
static inline struct path current_root(void)
{
	struct fs_struct *fs = current->fs;
	struct path p;

	if (atomic_read(&fs->users) == 1)
		return fs->root;
	spin_lock(&fs->lock);
	p = fs->root;
	spin_unlock(&fs->lock);
	return p;
}

/* [dcache_lock] What the walk takes for the root. */
static inline struct path walk_root(const struct nameidata *nd)
{
	return unlikely(nd->resolve & RESOLVE_SCOPED) ? nd->scope : current_root();
}

/* [dcache_lock] May openat2's walk follow this link at all? 0, -ELOOP or -EXDEV. */
int may_follow(const struct nameidata *nd, const struct dentry *link);
/* [dcache_lock] step_into() if the walk may enter another mount: 0, or -EXDEV. */
static inline int step_within(struct nameidata *nd, struct dentry *d)
{
	struct mount *was = nd->path.mnt;

	step_into(nd, d);
	return unlikely(nd->resolve & RESOLVE_NO_XDEV) && nd->path.mnt != was ? -EXDEV : 0;
}

/* [dcache_lock] one step up, through mounts: 0, or -EXDEV or -EAGAIN where RESOLVE_* forbids it. */
int walk_dotdot(struct nameidata *nd);
void path_finish(struct nameidata *nd); /* releases dcache_lock and what the walk holds */
/* The place of an existing path, with references. 0 or -errno. */
int filename_lookup(int dfd, const char *name, unsigned flags, struct path *out);
/* The directory of a name that is about to be made or removed, with references. On success nd->last is valid until
 * path_free_names. */
int path_parentat(struct nameidata *nd, int dfd, const char *name, struct path *parent);
void path_free_names(struct nameidata *nd);
/* The dentry (maybe negative) of a name in `parent`, whose i_lock is held, with a reference; ERR_PTR. */
struct dentry *lookup_one(struct dentry *parent, const char *name, unsigned len, u32 hash);

/* fs_struct.c. Every task whose root or working directory is `old` gets `new` in its place. */
void chroot_fs_refs(const struct path *old, const struct path *new);
/* The n-th mount, in mount order, with a reference; NULL when there are fewer. */
struct mount *nth_mount(unsigned n);
struct mount *mount_of(struct super_block *sb); /* its first mount, with a reference; NULL: not mounted */
void init_special_inode(struct inode *inode, mode_t mode, dev_t rdev); /* operations of devices and fifos */
extern const struct file_operations fifo_fops;
void pipe_init(void);
void anon_inode_init(void);
int rootfs_populate(struct dentry *root); /* /dev/console, for a root without an initramfs of its own */

/* file_table.c: a file that is not open yet. ERR_PTR: -ENFILE (files_max are open, and not for root), -ENOMEM. */
struct file *alloc_empty_file(unsigned flags);
extern u64 files_max;	 /* [read and written whole] sysctl fs.file-max */
u64 nr_open_files(void); /* of the whole system */
void free_empty_file(struct file *f);
int vfs_open(const struct path *path, struct file *f); /* takes over the path's references when it returns 0 */
struct file *do_filp_open(int dfd, const char *name, struct open_how how);
/* A file was read: its access time, unless the file or its mount has none (noatime). As relatime. Thread context. */
void file_accessed(const struct file *f);
bool in_group_p(gid_t gid); /* is the caller in this group, as far as files are concerned? Any context */
/* Does the file belong to the caller, or is the caller root? Any context. */
bool inode_owner_or_capable(const struct inode *inode);
/*
 * For a new inode that goes into `dir`: a set-group-id directory hands its group down. The inode is the caller's alone.
 */
void inode_init_owner(struct inode *inode, const struct inode *dir);
/* [i_lock] Before a write by a user other than root: take the set-id bits from the file. */
void file_remove_privs(struct inode *inode);
static inline bool is_special(const struct inode *inode) /* a device or fifo: its data is not in the file system */
{
	return S_ISCHR(inode->i_mode) || S_ISBLK(inode->i_mode) || S_ISFIFO(inode->i_mode);
}
/* [i_lock of dir] May the caller make, or remove, this name? 0 or -errno. (namei_ops.c) */
int may_create(struct inode *dir, struct dentry *dentry);
int may_delete(struct inode *dir, struct dentry *victim, bool is_dir);
/* [i_lock of dir] Make a regular file under this name. 0 or -errno. */
int vfs_create(struct inode *dir, struct dentry *dentry, mode_t mode);
int mnt_want_write(const struct path *path); /* 0 or -EROFS */

/* Descriptors of current's table. Thread context. 0, or -EBADF for a number that is not open. */
int fd_set_cloexec(unsigned fd, bool on);
int fd_dup(struct file *f, unsigned from, bool cloexec); /* lowest free fd >= from, with a reference of its own */
struct file *fd_take(unsigned fd);			 /* closes: the file, or NULL */
int close_fd(unsigned fd);				 /* close(2): 0, -EBADF, or what flush says */

/*
 * Copy from user or from kernel memory. Returns the bytes that are NOT copied. Unlike copy_from_user() it leaves alone
 * what lies at their place in `to`: that may be what a file holds there.
 */
static inline unsigned long copy_in(void *to, const void *from, unsigned long n, bool kernel)
{
	if (likely(!kernel))
		return likely(access_ok(from, n)) ? __copy_user(to, from, n) : n;
	memcpy(to, from, n);
	return 0;
}

/* A mode without the bits that the caller's umask forbids. */
static inline mode_t apply_umask(mode_t mode)
{
	return mode & ~READ_ONCE(current->fs->umask);
}

/* sysfs_cpuidle.c: the directory cpuidle in the CPU's directory `cpu_dir`. 0 or -errno. Thread context. */
int sysfs_create_cpuidle(struct dentry *root, const char *cpu_dir, unsigned cpu);
