/* Building blocks for file systems whose files are made by the kernel: trees of directories and operations. */
#pragma once

#include <fs/seq_file.h>
#include <fs/text_file.h>
#include <fs/vfs.h>

/*
 * Add to a tree that lives in memory. `parent` must be a directory of the same file system; names must be new
 * (-EEXIST as ERR_PTR). `data` becomes inode->i_private. The tree holds the dentry. Thread context.
 */
struct dentry *simple_create_file(struct dentry *parent, const char *name, mode_t mode,
				  const struct file_operations *fop, void *data);
struct dentry *simple_create_dir(
	struct dentry *parent, const char *name, mode_t mode,
	const struct inode_operations *iop); /* iop NULL: mkdir, rm inside give -EPERM, create s_create_error */
struct dentry *simple_create_symlink(struct dentry *parent, const char *name, const char *target);
void simple_remove(struct dentry *dentry); /* with everything below it; open files go on working */
/* Parts of iop for directories that only the kernel fills. */
int simple_lookup(struct inode *dir, struct dentry *dentry);
int simple_no_create(struct inode *dir, struct dentry *dentry, mode_t mode); /* the super block's s_create_error */

/*
 * For an iop->mkdir that makes a whole tree: a directory for the name of the negative dentry that it was given. No walk
 * finds it before simple_publish_dir; in between it is filled like any other. Returns the dentry, whose reference is
 * the caller's, or ERR_PTR. To give it up instead of publishing it: simple_remove_unused, dput.
 */
struct dentry *simple_prepare_dir(struct dentry *negative, mode_t mode);
void simple_publish_dir(struct dentry *negative, struct dentry *dir); /* takes over the caller's reference */
/*
 * For an iop->rmdir, with its locks: remove the directory with everything below it, unless anything below is in use:
 * open, a task's current directory, mounted on, just being looked up. 0: no task uses or finds anything below any more;
 * -EBUSY: nothing has changed. The directory itself may still be in use; it is empty then.
 */
int simple_remove_unused(struct dentry *dir);
/*
 * A directory below the root of a file system that there is once (sysfs, debugfs), whether it is mounted or not. With a
 * reference. ERR_PTR: -ENOENT, -ENOMEM. Thread context.
 */
struct dentry *single_fs_dir(const char *type, const char *name);
int simple_fill_super(struct super_block *sb, u32 magic, mode_t root_mode, const struct inode_operations *root_iop);
/*
 * The same with mode 0700, for a file system that takes the mount options uid=, gid= and mode=. `given` remembers them
 * (valid: which) and lives as long as the super block. 0, -ENOMEM, -EINVAL for a wrong option. Thread context.
 */
int simple_fill_owned(struct super_block *sb, u32 magic, struct iattr *given, const char *options);

/*
 * read(2) and write(2) of `available` bytes in the kernel: as many as there are from *pos on, which moves. The number
 * of bytes, 0 at the end, -EFAULT, -EINVAL for a negative *pos. Thread context.
 */
ssize_t simple_read_from_buffer(char __user *to, size_t n, loff_t *pos, const void *from, size_t available);
ssize_t simple_write_to_buffer(void *to, size_t available, loff_t *pos, const char __user *from, size_t n);
/* Copies a short text from user space, terminates it. Returns its length, -EFAULT, or -EINVAL when it is
 * `size` or longer. */
ssize_t copy_text_from_user(char *buf, size_t size, const char __user *from, size_t n);
int simple_open(struct inode *inode, struct file *file); /* file->private_data = i_private */
loff_t noop_llseek(struct file *file, loff_t off, int whence);
loff_t no_llseek(struct file *file, loff_t off, int whence);
/*
 * RLIMIT_FSIZE of the current process, for file systems that hold data. A write of *n bytes at pos: *n becomes what is
 * left; -EFBIG and SIGXFSZ: nothing is. A new size: 0, or -EFBIG and SIGXFSZ. [i_lock]
 */
int generic_write_checks(loff_t pos, size_t *n);
int inode_newsize_ok(const struct inode *inode, loff_t size);
loff_t default_llseek(struct file *file, loff_t off, int whence);
int dcache_readdir(struct file *file, struct dir_context *ctx); /* iterate() for such trees */
bool dcache_readdir_done(struct file *file,
			 struct dir_context *ctx); /* all was listed ; false: the reader had no room */

/* Files in /proc/<pid>. */
struct proc_pid_entry {
	const char *name;
	mode_t mode;
	/* PTRACE_MODE_* that the reader must have of the process, else -EACCES. 0: anybody may. Links always ask. */
	unsigned access;
	int (*show)(struct seq_file *m, struct task_struct *task);
	/* For links (exe, cwd): the target. */
	int (*link)(struct task_struct *task, char *buf, size_t size);
	/* For links to an object of the tree: its place, with references. */
	int (*path)(struct task_struct *task, struct path *out);
	int (*store)(struct task_struct *task, const char *text, size_t len);
	/* Its own operations instead, which ask for the right themselves; with S_IFDIR in mode, a directory's. */
	const struct file_operations *fop;
	const struct inode_operations *iop; /* of a directory */
	bool process;			    /* not in <pid>/task/<tid> */
};
#define REGISTER_PROC_PID(e) REGISTER_IN(proc_pid, e)

/* Device files in /dev. */
struct device_node {
	const char *name;
	mode_t mode; /* S_IFCHR | permissions */
	dev_t rdev;
	const struct file_operations *fop;
	void *data;
};
#define MKDEV(major, minor) (((u64)(major) << 20) | (minor))
#define MAJOR(d)	    ((unsigned)((d) >> 20))
#define MINOR(d)	    ((unsigned)((d)&0xfffff))
#define REGISTER_DEVICE(d)  REGISTER_IN(devices, d)
/*
 * At run time; boot or thread. device_add: -ENOSPC, -EEXIST. The node must stay for ever: an open may still
 * have it when it is removed, and its fop->open says -ENODEV then. It may be added again.
 */
int device_add(const struct device_node *dev);
/* A second name for an added one until it is removed: a symbolic link folder/name, both kept by the caller. -EEXIST. */
int device_alias(const struct device_node *dev, const char *folder, const char *name);
void device_remove(const struct device_node *dev);
/*
 * A node in /dev whose number leads to a device of <fs/cdev.h>, root's, with these permissions; one folder may stand
 * before the name. devtmpfs_delete_node removes it unless it was replaced by something else. 0 or -errno.
 * Thread context.
 */
int devtmpfs_create_node(const char *name, mode_t mode, dev_t rdev);
void devtmpfs_delete_node(const char *name, dev_t rdev);
/* Each device that there is now, for each value of *at from 0 on, which it moves; NULL: no more. Any context. */
const struct device_node *device_next(unsigned *at);
