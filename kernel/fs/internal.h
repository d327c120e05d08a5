/* What the files of the virtual file system share among themselves. */
#pragma once

#include <asm/uaccess.h>
#include <fs/vfs.h>
#include <lib/string.h>
#include <mm/page.h>
#include <sched/current.h>
#include <uapi/fcntl.h>

/* Every change to the tree of dentries, and every walk that holds no references, is under it. */
extern spinlock_t dcache_lock;
extern struct mutex rename_mutex; /* one rename between directories at a time: ancestry holds still */
extern struct mutex mount_mutex;

/* Hash of a name, computed while it is scanned. */
static inline u32 name_hash_step(u32 hash, unsigned char c)
{
	return (hash + c) * 31 + (hash >> 27);
}
u32 name_hash(const char *name, unsigned len);

/* dcache.c. [dcache_lock] marks what needs it held. */
struct dentry *__d_lookup(struct dentry *parent, const char *name, unsigned len,
			  u32 hash);		      /* [dcache_lock] no reference */
static inline struct dentry *__dget(struct dentry *d) /* [dcache_lock] or a reference is held */
{
	atomic_inc(&d->d_count);
	return d;
}
/* Move `old` to where the (hashed or unhashed, negative or victim) dentry `new` is; `new` is unlinked. */
void d_move(struct dentry *old, struct dentry *new);
void d_exchange(struct dentry *a, struct dentry *b);
bool d_is_ancestor(struct dentry *a, struct dentry *d); /* a == d counts. rename_mutex or dcache_lock held */
/* "." and ".." of a directory; false: the reader has no room. */
/* A new inode (NULL: -ENOMEM) into a tree of libfs.h, taken over: the dentry, which the tree holds, or ERR_PTR. */
struct dentry *simple_attach(struct dentry *parent, const char *name, struct inode *inode);
bool dir_emit_dots(struct file *file, struct dir_context *ctx);
bool d_has_children(struct dentry *dir); /* positive ones. i_lock of dir held */
/* d_delete's part under [dcache_lock]. Returns whether the pin's reference is left for the caller to drop. */
bool __d_drop(struct dentry *d);
struct inode *simple_dir_inode(struct super_block *sb, mode_t mode, const struct inode_operations *iop); /* or NULL */
void shrink_negative_children(struct dentry *dir);
void dcache_init(void);
void inode_init(void);
void files_init(void);
void file_table_init(void);

/* namei.c */
enum last_type {
	LAST_NORM,
	LAST_ROOT,
	LAST_DOT,
	LAST_DOTDOT,
};
/*
 * A walk in progress. Between its steps dcache_lock is held, so `path` needs no references; a step that had
 * to sleep leaves in `base` and `held` the references that kept `path` alive while the lock was dropped.
 */
struct nameidata {
	struct path path;
	struct path base;
	struct dentry *held;
	const char *name; /* what is left to walk */
	const char *last; /* the last component */
	u32 last_len, last_hash;
	enum last_type last_type;
	bool trailing;	/* slashes follow the last component: it must be a directory */
	unsigned links; /* symbolic links followed */
	char *buf;	/* a page that holds `name` once a link was put in */
};
/* A path copied from user space: short ones without allocation. */
struct filename {
	const char *name;
	char *page;
	char iname[128];
};
int getname(struct filename *f, const char __user *path, bool empty_ok);
static inline void putname(struct filename *f)
{
	if (unlikely(f->page))
		free_page(f->page);
	f->page = NULL;
}

/* Start at root, cwd or dfd. Returns with dcache_lock held, or -errno without. */
int path_init(struct nameidata *nd, int dfd, const char *name);
/* All but the last component. On error dcache_lock is still held. [dcache_lock] */
int link_path_walk(struct nameidata *nd);
/* The last component, found in the cache or asked of the file system. NULL: negative; ERR_PTR. [dcache_lock]
 */
struct dentry *walk_last(struct nameidata *nd);
/* Put a link's target before what is left to walk. 0, 1: nd->path is the object itself; -errno. [dcache_lock]
 */
int follow_link(struct nameidata *nd, struct dentry *link);
/* Before sleeping: references for nd->path, and the lock dropped. [dcache_lock] */
void walk_unlock(struct nameidata *nd);
/* What covers d as seen through mnt: several mounts may show one tree, each covered by others. [dcache_lock] NULL */
static inline struct mount *mounted_at(const struct mount *mnt, const struct dentry *d)
{
	struct mount *over = d->d_mounted;

	while (over && over->mnt_at.mnt != mnt)
		over = over->mnt_next_here;
	return over;
}
/* Into d and what is mounted there. [dcache_lock] */
static inline void step_into(struct nameidata *nd, struct dentry *d)
{
	struct mount *over;

	while (unlikely(d->d_mounted) && (over = mounted_at(nd->path.mnt, d))) {
		nd->path.mnt = over;
		d = over->mnt_root;
	}
	nd->path.dentry = d;
}
void walk_dotdot(struct nameidata *nd);                 /* [dcache_lock] */
void path_finish(struct nameidata *nd);                 /* drops dcache_lock and what the walk holds */
int filename_lookup(int dfd, const char *name, unsigned flags, struct path *out);
/* The directory of a name that shall be made or removed, with references; nd->last is valid until
 * path_free_names. */
int path_parentat(struct nameidata *nd, int dfd, const char *name, struct path *parent);
void path_free_names(struct nameidata *nd);
/* The dentry (maybe negative) of nd->last in parent, whose i_lock is held; with a reference. ERR_PTR. */
struct dentry *lookup_one(struct dentry *parent, const char *name, unsigned len, u32 hash);

/* The n-th mount, in mount order, with a reference; NULL: there are fewer. */
struct mount *nth_mount(unsigned n);
struct mount *mount_of(struct super_block *sb); /* its first mount, with a reference; NULL: not mounted */
void init_special_inode(struct inode *inode, mode_t mode, dev_t rdev); /* operations of devices and fifos */
extern const struct file_operations fifo_fops;
long pipe_size(struct file *f); /* capacity in bytes, -EBADF: no pipe */
void pipe_init(void);
int rootfs_populate(struct dentry *root); /* /dev/console, for a root without an initramfs of its own */

/* File table. */
/* ERR_PTR: -ENFILE (there are files_max, and we are not root), -ENOMEM. */
struct file *alloc_empty_file(unsigned flags);
extern u64 files_max;	   /* [read and written whole] sysctl */
u64 nr_open_files(void);   /* of the whole system */
void free_empty_file(struct file *f);
int vfs_open(const struct path *path, struct file *f); /* takes over the path's references when it returns 0 */
struct file *do_filp_open(int dfd, const char *name, int flags, mode_t mode);
bool in_group_p(gid_t gid); /* is it one of the caller's groups, as they count for files? Any context */
/* Is the file the caller's own, or is he root? Any context. */
bool inode_owner_or_capable(const struct inode *inode);
/* A new inode that goes into `dir`: a set-group-id directory hands its group down. The inode is the caller's alone. */
void inode_init_owner(struct inode *inode, const struct inode *dir);
/* Before a write: somebody else than root takes its set-id bits from the file. [i_lock] */
void file_remove_privs(struct inode *inode);
static inline bool is_special(const struct inode *inode) /* a device or fifo: what is written goes elsewhere */
{
	return S_ISCHR(inode->i_mode) || S_ISBLK(inode->i_mode) || S_ISFIFO(inode->i_mode);
}
int may_create(struct inode *dir, struct dentry *dentry);
int may_delete(struct inode *dir, struct dentry *victim, bool is_dir);
int vfs_create(struct inode *dir, struct dentry *dentry, mode_t mode);
int mnt_want_write(const struct path *path); /* 0 or -EROFS */

int fd_get_cloexec(unsigned fd); /* 0, 1, -EBADF */
int fd_set_cloexec(unsigned fd, bool on);
int fd_dup(struct file *f, unsigned from,
	   bool cloexec);	   /* lowest free fd >= from, with a reference of its own */
struct file *fd_take(unsigned fd); /* closes: the file, or NULL */

/* Bytes NOT copied, from user or from kernel memory. */
static inline unsigned long copy_in(void *to, const void *from, unsigned long n, bool kernel)
{
	if (likely(!kernel))
		return copy_from_user(to, from, n);
	memcpy(to, from, n);
	return 0;
}
/* umask of the caller, applied to a mode. */
static inline mode_t apply_umask(mode_t mode)
{
	return mode & ~READ_ONCE(current->fs->umask);
}
