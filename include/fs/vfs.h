/*
 * The virtual file system: super blocks, inodes, dentries, mounts, files, and the operations that a file system
 * supplies.
 *
 * A file has one inode, which holds its attributes and contents, and a dentry for each of its names. A super block is
 * one instance of a file system, and a mount shows it at a place in the tree. struct file is an open file, with a
 * position; descriptors (kernel/fs/file.c) lead to it.
 *
 * Locking order, outermost first: rename_mutex > i_lock of a directory > i_lock of what is in it > a file's i_lock >
 * mmap_lock > dcache_lock > fs_struct.lock, files_struct.lock. dcache_lock is never taken in an interrupt. mount_mutex
 * is outside dcache_lock.
 *
 * Functions run in thread context and may sleep, unless they say otherwise.
 */
#pragma once

#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/list.h>
#include <sched/current.h>
#include <sched/mutex.h>
#include <sched/task.h>
#include <fs/kstat.h>
#include <proc/capability.h>

struct cdev;
struct dentry;
struct epitem;
struct file;
struct file_lock;
struct fown;
struct inode;
struct inotify_watch;
struct iovec;
struct module;
struct mount;
struct page;
struct poll_table;
struct seq_file;
struct super_block;
struct vm_area_struct;

/* A place in the tree: a dentry, and the mount through which it was reached (for `..` and for its name). */
struct path {
	struct mount *mnt;
	struct dentry *dentry;
};

/*
 * The reader of a directory. The file system calls `emit` for each entry from ctx->pos on; emit returns false when the
 * reader's buffer is full.
 */
struct dir_context {
	bool (*emit)(struct dir_context *ctx, const char *name, int len, loff_t pos, u64 ino, unsigned type);
	loff_t pos;
};

/*
 * What an open file can do. Missing ones: read and write give -EINVAL, ioctl -ENOTTY, llseek moves f_pos freely, poll
 * says that the file is always ready.
 */
struct file_operations {
	struct module *owner; /* whose code this is; NULL: the kernel's. An open file holds it */
	int (*open)(struct inode *inode, struct file *file);
	int (*release)(struct inode *inode, struct file *file);
	/* Thread context, no lock held (f_pos is serialised by file->f_pos_lock). Return bytes or -errno. */
	ssize_t (*read)(struct file *file, char __user *buf, size_t n, loff_t *pos);
	ssize_t (*write)(struct file *file, const char __user *buf, size_t n, loff_t *pos);
	loff_t (*llseek)(struct file *file, loff_t off, int whence);
	int (*iterate)(struct file *file, struct dir_context *ctx);
	unsigned (*poll)(struct file *file, struct poll_table *pt);
	/* Called without a lock, as all of these; the name is Linux's. */
	long (*unlocked_ioctl)(struct file *file, unsigned cmd, unsigned long arg);
	int (*mmap)(struct file *file, struct vm_area_struct *vma);
	/* A page of the file for mmap and exec, with a reference for the caller; ERR_PTR. mmap_lock may be held. */
	struct page *(*get_page)(struct file *file, unsigned long pgoff);
	/*
	 * The pages from pgoff on that the file has in memory, up to n of them and to the first that is lacking, each
	 * with a reference; how many. Context as get_page. Missing: the file keeps no pages.
	 */
	unsigned (*find_pages)(struct file *file, unsigned long pgoff, struct page **pages, unsigned n);
	int (*flush)(struct file *file); /* called at each close(2) */
	/* As write, but from kernel memory, for sendfile(2) and the kernel itself. Missing: -EINVAL. */
	ssize_t (*write_kernel)(struct file *file, const void *buf, size_t n, loff_t *pos);
	/* As read, but into kernel memory, for the kernel itself. Missing: page by page through get_page. */
	ssize_t (*read_kernel)(struct file *file, void *buf, size_t n, loff_t *pos);
	/* readv(2) and writev(2) as one piece. Missing: each part is a read or write. */
	ssize_t (*read_write_vec)(struct file *file, const struct iovec *vec, unsigned long n, bool write);
	/* fsync(2), and (datasync) fdatasync(2): 0 or -errno. Missing: what was written is where it will always be. */
	int (*fsync)(struct file *file, bool datasync);
	/* Up to n bytes into a pipe (fs/splice.h); nonblock: without waiting. Missing: by get_page. */
	ssize_t (*splice_read)(struct file *file, loff_t *pos, struct file *pipe, size_t n, bool nonblock);
	/* The leader of the process that the file stands for, with a reference; NULL: the process was waited for. */
	struct task_struct *(*process)(const struct file *file);
	/* The lines that /proc/PID/fdinfo/N has beside those of every file. Thread context. Missing: it has no more. */
	void (*show_fdinfo)(struct seq_file *m, const struct file *file);
	bool sigio; /* O_ASYNC may be set: who wakes pollers sends signals, too (kernel/fs/fasync) */
};
/*
 * What a directory, a link or a file can do. The operations that look up, make and remove names are called with the
 * directory's i_lock held, and setattr with the file's; get_link, get_path, getattr and permission are called without.
 * New dentries are negative. All return 0 or -errno except get_link.
 */
struct inode_operations {
	int (*lookup)(struct inode *dir,
		      struct dentry *dentry); /* gives it an inode by d_add(), or leaves it negative (-ENOENT) */
	int (*create)(struct inode *dir, struct dentry *dentry, mode_t mode);
	int (*mkdir)(struct inode *dir, struct dentry *dentry, mode_t mode);
	int (*mknod)(struct inode *dir, struct dentry *dentry, mode_t mode, dev_t dev);
	/* O_TMPFILE: a regular file without a name, with no links. ERR_PTR. Called without the directory's i_lock. */
	struct inode *(*tmpfile)(struct inode *dir, mode_t mode);
	int (*symlink)(struct inode *dir, struct dentry *dentry, const char *target);
	int (*link)(struct dentry *old, struct inode *dir, struct dentry *dentry);
	int (*unlink)(struct inode *dir, struct dentry *dentry);
	int (*rmdir)(struct inode *dir, struct dentry *dentry);
	/* flags: RENAME_*. NOREPLACE only comes when there is no `new`, and EXCHANGE only when there is one. */
	int (*rename)(struct inode *olddir, struct dentry *old, struct inode *newdir, struct dentry *new,
		      unsigned flags);
	/* The target, which is valid while the inode is. May write into buf (PAGE_SIZE bytes). ERR_PTR. */
	const char *(*get_link)(struct dentry *dentry, struct inode *inode, char *buf);
	/* For links that lead to an object and not to a path (/proc/<pid>/fd): the object, with references. */
	int (*get_path)(struct inode *inode, struct path *out);
	int (*setattr)(struct dentry *dentry, const struct iattr *attr);
	int (*getattr)(struct dentry *dentry, struct kstat *stat);
	/* May the current task do `mask` (MAY_*)? Missing: mode_permission(). Any context, dcache_lock may be held. */
	int (*permission)(const struct inode *inode, int mask);
};
/*
 * d_revalidate: is a cached dentry still true? procfs says no for processes that are gone. Missing: always. dcache_lock
 * is held.
 */
struct dentry_operations {
	bool (*d_revalidate)(struct dentry *dentry);
	/*
	 * The same, where the answer has to be waited for: called at each step of a walk in place of d_revalidate, with
	 * i_lock of the directory held and a reference to the dentry. 1: still true; 0: no longer; or -errno.
	 */
	int (*d_revalidate_wait)(struct inode *dir, struct dentry *dentry);
	/* Owner, group, mode or times were set. Missing: nothing to do. i_lock of the inode held */
	void (*d_changed)(struct dentry *dentry);
	/* What /proc calls a file without a place in the tree: "pipe:[4711]". Missing: its d_name. */
	char *(*d_dname)(struct dentry *dentry, char *buf, int len);
};
struct statfs;
/* What a file system as a whole can do. All may be missing. */
struct super_operations {
	void (*evict_inode)(struct inode *inode); /* the last reference is gone: free the file system's part */
	int (*show_options)(struct seq_file *m, struct super_block *sb);
	void (*begin_put)(struct super_block *sb); /* the last mount is gone: make nothing in its tree any more */
	void (*put_super)(struct super_block *sb); /* afterwards, when the tree is gone: free s_fs_info */
	/*
	 * Sizes of what it holds and has free, in units of f_bsize: a page unless it says so. Missing: all 0. 0 or
	 * -errno.
	 */
	int (*statfs)(const struct super_block *sb, struct statfs *to);
	/* mount -o remount with options for the file system; all or nothing. 0 or -errno. [mount_mutex] */
	int (*remount)(struct super_block *sb, const char *options);
};

/* A file. Locks: i the inode's i_lock (a mutex); a atomic; I immutable. */
struct inode {
	u64 i_ino;		       /* [I] */
	mode_t i_mode;		       /* [i] type and permissions */
	u32 i_nlink;		       /* [i] */
	uid_t i_uid;		       /* [i] */
	gid_t i_gid;		       /* [i] */
	dev_t i_rdev;		       /* [I] device files */
	loff_t i_size;		       /* [i] bytes */
	u64 i_atime, i_mtime, i_ctime; /* [i] ns since 1970 */
	u32 i_blocks;		       /* [i] of 512 bytes */
	bool i_mapped;		       /* [a] was mapped once; never cleared */
	bool i_linkable;	       /* [a] made without a name (O_TMPFILE), and may still be given the first one */
	atomic_t i_count;	       /* [a] */
	atomic_t i_shared_writers;     /* [a] > 0: shared mappings that may be written; < 0: there must be none */
	atomic_t i_writecount;	       /* [a] > 0: files open for writing; < 0: programs that run it */
	struct mutex i_lock;
	const struct inode_operations *i_op; /* [I] */
	const struct file_operations *i_fop; /* [I] */
	struct super_block *i_sb;	     /* [I] */
	void *i_private;		     /* [I] the file system's or the file's; of a fifo, its pipe's */
	void *i_fs_info;		     /* [I] the file system's own, of any file */
	struct cdev *i_cdev;		     /* [while a file is open] of a device node: the module's device */
	const struct text_file *i_text;	     /* [I] of a file in <fs/text_file.h>: how its text is made */
	struct file_lock *i_locks;	     /* [file_lock_mutex; a look is enough to see that there are none] */
	struct inotify_watch *i_watches;     /* [inotify_mutex; a look is enough to see that there are none] */
};

/*
 * The size, without the lock. A writer stores its bytes before the size that reaches over them (a release in ramfs), so
 * a reader that sees that size sees the bytes. Without the acquire a weakly ordered machine may read them too early.
 */
static inline loff_t i_size_read(const struct inode *inode)
{
	return smp_load_acquire(&inode->i_size);
}
/*
 * A name. Locks: d dcache_lock (a spinlock); a atomic; I immutable. A dentry holds references to its parent and to its
 * inode; its children are not held by it. In file systems that live in memory (ramfs, tracefs, devfs) d_pin keeps it
 * while it is linked. kernel/fs/dcache.c tells its life.
 */
/* d_flags */
#define DCACHE_PINNED	  1u /* linked in a file system that lives in memory: holds a reference to itself */
#define DCACHE_LRU	  2u /* on the list of unused negative dentries */
#define DCACHE_UNLINKED	  4u /* was in the tree and has left it: paths show " (deleted)" */
#define DCACHE_CANT_MOUNT 8u /* comes and goes with what it shows (/proc/PID/fd/N): nothing can be mounted on it */
/* A name, with its length in bytes: it is ended by a zero as well. */
struct qstr {
	u32 len;
	const char *name;
};
struct dentry {
	atomic_t d_count;		      /* [a; 0 -> 1 and 1 -> 0 only under d] */
	u32 d_flags;			      /* [d] DCACHE_* */
	u32 d_namehash;			      /* [d] of the name alone */
	struct dentry *d_parent;	      /* [d] itself at a root */
	struct inode *d_inode;		      /* [d] NULL: negative */
	struct hlist_node d_hash;	      /* [d] by parent and name */
	struct list_head d_child;	      /* [d] in parent's d_subdirs, while hashed */
	struct list_head d_subdirs;	      /* [d] hashed children, newest last: readdir order */
	struct list_head d_lru;		      /* [d] */
	u64 d_off;			      /* [d] readdir position: grows along d_subdirs; 0 while negative */
	struct super_block *d_sb;	      /* [I] */
	const struct dentry_operations *d_op; /* [I] */
	struct mount *d_mounted;	      /* [d] what is mounted here, one for each mount that shows this tree */
	struct qstr d_name;		      /* [d] allocated or d_iname */
	char d_iname[32];		      /* [d] a short name */
};
/* An instance of a file system. Locks: m mount_mutex; I immutable. */
struct super_block {
	const struct file_system_type *s_type; /* [I] */
	const struct super_operations *s_op;   /* [I] */
	struct dentry *s_root;		       /* [I] */
	u32 s_mounts;	      /* [m] how many mounts show it; a super block that is not `single` goes with the last */
	dev_t s_dev;	      /* [I] */
	u32 s_magic, s_flags; /* [I] statfs(2)'s f_type; MS_* */
	void *s_fs_info;      /* [I] the file system's own */
	const char *s_source; /* during fill_super only: mount(2)'s first argument, "" when there was none */
	int s_create_error;   /* [I] of a tree that only the kernel fills: what creating a file gives; 0: -EACCES */
	bool s_write_by_mode; /* [I] root needs permission as well to open a file for writing */
	bool s_fixed;	      /* [I] only the kernel makes names in it: to make one is -ENOENT */
	atomic64_t s_next_ino;
	atomic_t s_watches; /* [a] watches of inotify that hold inodes of it */
};
/*
 * A super block as it is seen at a place. Locks: m mount_mutex; a atomic; I immutable. kernel/fs/mount/mount.c tells
 * its life.
 */
struct mount {
	atomic_t mnt_count;	     /* [a] the tree's own, cwds and roots, open files, mounts on it */
	struct super_block *mnt_sb;  /* [I] */
	struct dentry *mnt_root;     /* [I] with a reference */
	struct path mnt_at;	     /* [m, dcache_lock] covered place, with references; dentry NULL: none */
	struct mount *mnt_next_here; /* [dcache_lock] on the same dentry, seen through another mount */
	struct mount *mnt_copy;	     /* [m] while mounts are copied for a bind mount */
	unsigned mnt_id;	     /* [I] */
	struct list_head mnt_list;   /* [m] in mount order */
	bool mnt_auto;		     /* [I] made by the file system that it lies in, and unmounted with that */
	u32 mnt_flags;		     /* [m writes; read without] MS_RDONLY, MS_NOSUID, ... as shown in /proc/mounts */
	unsigned mnt_group;	     /* [the same] its group of peers (mount/bind); 0: it is not shared */
	unsigned mnt_master;	     /* [the same] the group whose slave it is; 0: none */
	bool mnt_unbindable;	     /* [the same] */
	char mnt_source[32];	     /* [I] first column of /proc/mounts */
};
/* A kind of file system. One with single=true has a single super block that every mount shows. */
struct file_system_type {
	const char *name;
	bool single; /* tracefs, sysfs, devtmpfs */
	bool nodev;  /* what /proc/filesystems says: it needs no device */
	/* NULL, or: nobody may mount it, and /proc/filesystems does not list it (debugfs=off). Thread context. */
	bool (*hidden)(void);
	int (*fill_super)(struct super_block *sb, const char *options); /* makes s_root */
	/* After a mount of it: may mount others inside (debugfs: tracefs). Failure is only reported. */
	int (*mounted)(struct mount *mnt);
};
#define REGISTER_FILESYSTEM(fs) REGISTER_IN(filesystems, fs)

/* An open file. Locks: p f_pos_lock; a atomic; I immutable after open. */
struct file {
	atomic_t f_count; /* [a] */
	u32 f_flags;	  /* [a] O_* (O_NONBLOCK, O_APPEND may change) */
	u32 f_mode;	  /* [I] FMODE_* */
	loff_t f_pos;	  /* [p] */
	struct mutex f_pos_lock;
	const struct file_operations *f_op; /* [I] */
	struct inode *f_inode;		    /* [I] */
	union {
		struct {
			struct mount *f_mnt;	 /* [I] holds a reference; NULL for files without a name in the tree */
			struct dentry *f_dentry; /* [I] holds a reference */
		};
		struct path f_path; /* both, under the name that modules know */
	};
	struct module *f_owner; /* [I] with a reference: the module that f_op belongs to; NULL: the kernel */
	void *private_data;	/* the file's own */
	struct epitem *f_ep;	/* [epoll_mutex] instances of epoll that watch it */
	struct fown *f_fown;	/* [a: set once] who gets signals about it (kernel/fs/fasync); NULL: nobody ever */
};
static inline struct path file_path(const struct file *f)
{
	return f->f_path;
}
#define __FMODE_EXEC  040 /* beside the O_* of open(2), from execve alone: the file is opened to be executed */
#define FMODE_READ    1u
#define FMODE_WRITE   2u
#define FMODE_NOSEEK  4u  /* pipes, ttys: lseek gives -ESPIPE, reads need no f_pos_lock */
#define FMODE_EXEC    8u  /* opened to be executed */
#define FMODE_WRITER  16u /* counted in i_writecount */
#define FMODE_CREATED 32u /* its open has made the file */

/*
 * Files and paths (kernel/fs/open.c, namei.c). Paths are kernel strings here. filp_open: a file with a reference, or
 * ERR_PTR. filp_close: close(2)'s part, the file's flush, the record locks of `owner` (a table of files, or NULL)
 * and a reference less; 0 or flush's -errno.
 */
struct file *filp_open(const char *path, int flags, mode_t mode);
struct open_how {
	int flags; /* O_*, __FMODE_EXEC */
	mode_t mode;
	unsigned resolve; /* RESOLVE_* of openat2(2) */
};
/* close(2), by the process that locks know as `owner`: flush(), and one reference less. Returns what flush() does. */
int filp_close(struct file *f, const void *owner);
void fput(struct file *f); /* a reference less; the last one releases the file */
static inline struct file *get_file(struct file *f)
{
	atomic_inc(&f->f_count);
	return f;
}
/*
 * Copy and check a program's vector of n parts, into `fast` (UIO_FASTIOV parts) or into memory that the caller frees;
 * *out tells which, also after an error. The lengths are cut so that they add up to at most MAX_RW_COUNT. 0, -EINVAL,
 * -EFAULT, -ENOMEM. Thread context.
 */
int import_iovec(const struct iovec __user *uvec, unsigned long n, struct iovec *fast, struct iovec **out);
/*
 * Read and write, with kernel (kernel_*) or user (vfs_*) buffers; *pos moves on. They return bytes or -errno.
 * kernel_read reads page by page through get_page and ends at the end of the file; -EINVAL: the file has no pages.
 */
ssize_t vfs_read(struct file *f, char __user *buf, size_t n, loff_t *pos);
ssize_t vfs_write(struct file *f, const char __user *buf, size_t n, loff_t *pos);
ssize_t kernel_read(struct file *f, void *buf, size_t n, loff_t *pos);
ssize_t kernel_write(struct file *f, const void *buf, size_t n, loff_t *pos);
/* The work of lseek(2), whence SEEK_*: the new position or -errno. f_pos_lock is held where the file is shared. */
loff_t vfs_llseek(struct file *f, loff_t off, int whence);
/* A file without a name in the tree, for pipes. Takes over the reference to `inode`. ERR_PTR. */
struct file *alloc_file_pseudo(struct inode *inode, unsigned flags, const struct file_operations *fop,
			       const char *name);

#define LOOKUP_FOLLOW	 1u
#define LOOKUP_DIRECTORY 2u
#define LOOKUP_EMPTY	 4u /* "" is dfd itself (AT_EMPTY_PATH) */
/* The place of an existing path, with references (path_put). dfd as in openat(2), flags LOOKUP_*. 0 or -errno. */
int kern_path_at(int dfd, const char *path, unsigned flags, struct path *out);
int user_path_at(int dfd, const char __user *path, unsigned flags, struct path *out);
/* bind(2): a new socket under a name that does not exist; its place, with references. 0, -EEXIST or another -errno. */
int vfs_make_socket(const char *path, struct path *out);
/* The dentry of an existing path, with a reference. dfd as in openat(2). ERR_PTR. */
struct dentry *path_lookup_at(int dfd, const char *path, unsigned flags);
/*
 * The absolute path of a dentry, written at the end of buf. Returns its start, ERR_PTR(-ENAMETOOLONG) or (its file
 * system is not mounted) ERR_PTR(-ENOENT).
 */
char *dentry_path(struct dentry *dentry, char *buf, int len);
/*
 * The same as seen from the caller's root, through the mount by which it was reached. Paths of deleted files end in "
 * (deleted)". ERR_PTR(-ENAMETOOLONG).
 */
char *d_path(const struct path *path, char *buf, int len);
/* The names from the root of the dentry's file system on, whatever is mounted where. ERR_PTR(-ENAMETOOLONG). */
char *d_path_in_super(struct dentry *dentry, char *buf, int len);
char *d_path_below_root(const struct path *path, char *buf, int len); /* also -ENOENT: the root does not lie above */
void dput(struct dentry *d); /* a reference less (NULL is allowed); no spinlock held */
static inline struct dentry *dget(struct dentry *d)
{
	atomic_inc(&d->d_count);
	return d;
}
struct dentry *d_alloc(struct dentry *parent, const char *name, int len); /* negative, unhashed; NULL: no memory */
void d_add(struct dentry *dentry, struct inode *inode); /* hash it, with this inode (NULL: negative) */
void d_delete(struct dentry *dentry);			/* unhash: new look-ups do not find it; undoes d_pin */
void d_pin(struct dentry *dentry);			/* keep it while it is linked: memory is its only home */
/* The root of a tree; takes over the inode's reference, also when it returns NULL (out of memory). */
struct dentry *d_make_root(struct super_block *sb, struct inode *inode);
/* A hashed child that has an inode, with a reference, or NULL. */
struct dentry *d_find_child(struct dentry *parent, const char *name, int len);
struct inode *new_inode(struct super_block *sb, mode_t mode); /* one reference; NULL when out of memory */
void iput(struct inode *inode);				      /* a reference less (NULL is allowed); no spinlock held */
void ihold(struct inode *inode);
/*
 * May the caller do `mask` (MAY_*) with it? Looks at mode bits only. CAP_DAC_OVERRIDE allows everything except
 * executing what has no x bit, CAP_DAC_READ_SEARCH reading, and searching directories. 0 or -EACCES. Any context.
 */
#define MAY_EXEC  1
#define MAY_WRITE 2
#define MAY_READ  4
int mode_permission(const struct inode *inode, int mask);
/*
 * May the current task do this (MAY_*)? 0 or -errno. Any context. That CAP_DAC_OVERRIDE allows reading and searching
 * every directory is answered here, because every step of a path walk asks it.
 */
static inline int inode_permission(const struct inode *inode, int mask)
{
	if (likely(!(mask & MAY_WRITE) && capable(CAP_DAC_OVERRIDE) && S_ISDIR(READ_ONCE(inode->i_mode))))
		return 0;
	if (unlikely(inode->i_op && inode->i_op->permission))
		return inode->i_op->permission(inode, mask);
	return mode_permission(inode, mask);
}

/*
 * A running program and the writers of its file exclude each other: the second of the two gets -ETXTBSY. Both are
 * counted in inode->i_writecount, and each get or deny is undone by its put or allow. Any context.
 * (kernel/fs/write_access.c)
 */
int get_write_access(struct inode *inode); /* 0: until put_write_access() it cannot be executed */
void put_write_access(struct inode *inode);
int deny_write_access(struct file *file); /* 0: until allow_write_access() it cannot be opened for writing */
void allow_write_access(struct file *file);
u64 inode_now(void);						     /* for i_*time: ns since 1970 */
int simple_setattr(struct dentry *dentry, const struct iattr *attr); /* all but the size. i_lock held */
/* Attributes from the inode's own fields; and those that the file system says. 0 or -errno. */
void generic_fillattr(const struct inode *inode, struct kstat *stat);
int vfs_getattr(const struct path *path, struct kstat *stat);
int notify_change(struct dentry *dentry, const struct iattr *attr); /* takes i_lock; asks the file system */
int vfs_truncate(struct inode *inode, struct dentry *dentry, loff_t size);

/* The work of mount(2) and umount2(2), without the question who may. 0 or -errno. */
int do_mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data);
int do_umount(const char *target, int flags);
/* For file_system_type.mounted: mount `type` on a directory of `at`. 0 or -errno. */
int mount_inside(struct mount *at, struct dentry *dir, const char *source, const char *type);
void free_mount(struct mount *mnt); /* its last reference is gone */
/* The number of the mount that this one lies in; its own where there is none. A move may change that at any time. */
unsigned mount_parent_id(const struct mount *mnt);
/* " shared:1", " master:2", " unbindable", for mountinfo; nothing for a private mount. Any context. */
void mount_show_type(struct seq_file *m, const struct mount *mnt);
static inline void mntput(struct mount *mnt)
{
	if (mnt && atomic_dec_and_test(&mnt->mnt_count))
		free_mount(mnt);
}

/* Drop, and take, the references of a path. path_put: no spinlock held. */
static inline void path_put(const struct path *path)
{
	if (!path->dentry)
		return;
	dput(path->dentry);
	if (path->mnt)
		mntput(path->mnt);
}
static inline void path_get(const struct path *path)
{
	dget(path->dentry);
	if (path->mnt)
		atomic_inc(&path->mnt->mnt_count);
}

extern struct mount *root_mount; /* the root file system [immutable after vfs_init] */
void vfs_init(void);		 /* boot: caches, rootfs */
void console_on_rootfs(void);	 /* process 1, after the initramfs: /dev/console becomes descriptors 0, 1, 2 */
/* Lines of /proc/filesystems. 0. Thread context. */
int show_filesystems(struct seq_file *m);

/* Descriptor tables (kernel/fs/file.c). */
struct files_struct;
extern struct files_struct init_files;	      /* of init_task: never freed */
struct file *fget(unsigned fd);		      /* with a reference; NULL: -EBADF, as for one of O_PATH */
int get_unused_fd_flags(unsigned flags);      /* reserves the lowest free one (O_CLOEXEC); -EMFILE, -ENOMEM */
void put_unused_fd(unsigned fd);	      /* gives back one that was reserved */
void fd_install(unsigned fd, struct file *f); /* the table takes over the caller's reference */
/*
 * A copy of a table, for fork and unshare(2), without the descriptors of `hole` (NULL: with all). ERR_PTR: -ENOMEM;
 * -EMFILE: fs.nr_open has been lowered below what the table holds.
 */
struct fd_range {
	unsigned first, last;
};
struct files_struct *dup_fd(struct files_struct *old, const struct fd_range *hole);
void exit_files(void *task); /* struct task_struct * */
/*
 * Count a user of the table, or stop counting it. put: the last one closes all files, which may sleep; NULL is allowed.
 */
void put_files_struct(struct files_struct *files);
void get_files_struct(struct files_struct *files);
/* Give the current task a table of its own, a copy (dup_fd) when it is shared. 0, or an errno of dup_fd(). */
int unshare_files(const struct fd_range *hole);
extern unsigned sysctl_nr_open;	 /* [read and written whole] fs.nr_open: descriptors are below it */
int fd_get_cloexec(unsigned fd); /* will exec close it? 0, 1, -EBADF. Thread context */
/* exec, after unshare_files: close what is marked so. */
void do_close_on_exec(struct files_struct *files);
/*
 * Another task's descriptors (/proc/<pid>/fd): the file with a reference, or NULL. fget_task_next takes the first one
 * at or above *fd that is open, and sets *fd to it.
 */
struct file *fget_task(struct task_struct *task, unsigned fd);
struct file *fget_task_next(struct task_struct *task, unsigned *fd);
bool fd_cloexec_task(struct task_struct *task, unsigned fd); /* will exec close it? */

/*
 * root, cwd, umask (kernel/fs/fs_struct.c). Locks: l its lock, without which a single user may read its own; a atomic.
 * A task that drops its fs sets task->fs to NULL first, because others look at it under RCU.
 */
struct fs_struct {
	atomic_t users;
	spinlock_t lock;
	struct path root, pwd; /* [l] with references */
	mode_t umask;	       /* [a] */
	struct rcu_head rcu;
};
struct fs_struct *copy_fs_struct(struct fs_struct *old); /* NULL when out of memory */
void put_fs_struct(struct fs_struct *fs);
/* Root or cwd of a task, with references. -ENOENT when it has left them already. */
int task_root(struct task_struct *task, struct path *out);
int task_cwd(struct task_struct *task, struct path *out);
extern struct fs_struct init_fs;

struct wait_queue_head;
/*
 * poll(2) and its like: a file's poll calls poll_wait for each queue that may change the answer. `pt` NULL: only ask.
 */
void poll_wait(struct file *f, struct wait_queue_head *q, struct poll_table *pt);
