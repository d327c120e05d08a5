/*
 * Files of modules in debugfs, below /sys/kernel/debug (kernel/module/api/debugfs_files.c). Thread context, all of it.
 *
 * Makers return the dentry or an ERR_PTR (-EEXIST, -ENOMEM, -ENOTDIR). `parent` NULL: the top. An ERR_PTR as parent is
 * returned as it is, so that a module need not look at each result.
 *
 * Removal waits for operations that run and closes what is open (<fs/removable.h>), so what a file shows may be in the
 * module's own memory. A file whose operations have an owner holds the module while it is open, instead.
 */
#pragma once

#include <fs/libfs.h>

struct debugfs_blob_wrapper {
	void *data;
	unsigned long size;
};

/* False: debugfs=off is on the command line, and every attempt to make something is -EPERM. Any context after boot. */
bool debugfs_takes_files(void);
/* In `parent`, NULL: at the top. An error pointer: -ENOMEM, -EEXIST, -EPERM. Thread context, as for all of these. */
struct dentry *debugfs_create_dir(const char *name, struct dentry *parent);
/* i_private of its inode is `data`. */
struct dentry *debugfs_create_file(const char *name, mode_t mode, struct dentry *parent, void *data,
				   const struct file_operations *fops);
#define debugfs_create_file_unsafe debugfs_create_file /* here all of them are safe */
struct dentry *debugfs_create_symlink(const char *name, struct dentry *parent, const char *target);
/* A variable as a decimal number, x: in hex, bool: as Y or N; the bytes at blob->data. */
void debugfs_create_u8(const char *name, mode_t mode, struct dentry *parent, u8 *value);
void debugfs_create_u16(const char *name, mode_t mode, struct dentry *parent, u16 *value);
void debugfs_create_u32(const char *name, mode_t mode, struct dentry *parent, u32 *value);
void debugfs_create_u64(const char *name, mode_t mode, struct dentry *parent, u64 *value);
void debugfs_create_ulong(const char *name, mode_t mode, struct dentry *parent, unsigned long *value);
void debugfs_create_size_t(const char *name, mode_t mode, struct dentry *parent, size_t *value);
void debugfs_create_x8(const char *name, mode_t mode, struct dentry *parent, u8 *value);
void debugfs_create_x16(const char *name, mode_t mode, struct dentry *parent, u16 *value);
void debugfs_create_x32(const char *name, mode_t mode, struct dentry *parent, u32 *value);
void debugfs_create_x64(const char *name, mode_t mode, struct dentry *parent, u64 *value);
void debugfs_create_atomic_t(const char *name, mode_t mode, struct dentry *parent, atomic_t *value);
void debugfs_create_bool(const char *name, mode_t mode, struct dentry *parent, bool *value);
struct dentry *debugfs_create_blob(const char *name, mode_t mode, struct dentry *parent,
				   struct debugfs_blob_wrapper *blob);
/* With all below it. NULL and ERR_PTR are allowed. */
void debugfs_remove(struct dentry *dentry);
#define debugfs_remove_recursive debugfs_remove
/* With a reference, for dput(); NULL. */
struct dentry *debugfs_lookup(const char *name, struct dentry *parent);
void debugfs_lookup_and_remove(const char *name, struct dentry *parent);

/*
 * Operations of a file that holds one number, which get() and set() fetch and store; either may be NULL. 0 or -errno.
 * `format` is for a u64. Such a file is read as a text and written as a number in any base.
 */
int simple_attr_open(struct inode *inode, struct file *file, int (*get)(void *data, u64 *value),
		     int (*set)(void *data, u64 value), const char *format);
int simple_attr_release(struct inode *inode, struct file *file);
ssize_t simple_attr_read(struct file *file, char __user *buf, size_t n, loff_t *pos);
ssize_t simple_attr_write(struct file *file, const char __user *buf, size_t n, loff_t *pos);
#define DEFINE_SIMPLE_ATTRIBUTE(name, get, set, format)                             \
	static int name##_open(struct inode *inode, struct file *file)              \
	{                                                                           \
		return simple_attr_open(inode, file, get, set, format);             \
	}                                                                           \
	static const struct file_operations name = {.owner = THIS_MODULE,           \
						    .open = name##_open,            \
						    .release = simple_attr_release, \
						    .read = simple_attr_read,       \
						    .write = simple_attr_write,     \
						    .llseek = default_llseek}
#define DEFINE_DEBUGFS_ATTRIBUTE DEFINE_SIMPLE_ATTRIBUTE
