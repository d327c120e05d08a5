/* Files of modules in debugfs (<fs/debugfs.h>). */
#include "../../fs/internal.h"

#include <asm/uaccess.h>
#include <fs/debugfs.h>
#include <fs/removable.h>
#include <kernel/export.h>
#include <kernel/module.h>
#include <lib/string.h>
#include <mm/slab.h>

/* The directory that is meant: NULL is the top. ERR_PTR. */
static struct dentry *debugfs_parent(struct dentry *parent)
{
	struct super_block *sb;

	if (IS_ERR(parent))
		return parent;
	if (!debugfs_takes_files())
		return ERR_PTR(-EPERM);
	if (parent)
		return S_ISDIR(parent->d_inode->i_mode) ? parent : ERR_PTR(-ENOTDIR);
	sb = single_super("debugfs");
	return IS_ERR(sb) ? (struct dentry *)sb : sb->s_root;
}

struct dentry *debugfs_create_dir(const char *name, struct dentry *parent)
{
	struct dentry *dir = debugfs_parent(parent);

	return IS_ERR(dir) ? dir : simple_create_dir(dir, name, 0755, NULL);
}
EXPORT_SYMBOL(debugfs_create_dir);

/*
 * A file that may be removed while it is open: what an open file needs is counted, in a struct removable_file. Returns
 * the entry or an error pointer: -ENOMEM, -EEXIST. Thread context.
 */
struct dentry *debugfs_create_file(const char *name, mode_t mode, struct dentry *parent, void *data,
				   const struct file_operations *fops)
{
	struct dentry *dir = debugfs_parent(parent), *d;
	struct removable_file *r;

	if (IS_ERR(dir))
		return dir;
	r = kzalloc(sizeof(*r), GFP_KERNEL);
	if (!r)
		return ERR_PTR(-ENOMEM);
	removable_init(r, fops, mode);
	d = removable_attach(dir, name, r, data);
	removable_put(r);
	return d;
}
EXPORT_SYMBOL(debugfs_create_file);

struct dentry *debugfs_create_symlink(const char *name, struct dentry *parent, const char *target)
{
	struct dentry *dir = debugfs_parent(parent);

	return IS_ERR(dir) ? dir : simple_create_symlink(dir, name, target);
}
EXPORT_SYMBOL(debugfs_create_symlink);

/* The tree is the only one that shows these files, so simple_remove() ends them. */
void debugfs_remove(struct dentry *dentry)
{
	if (dentry && !IS_ERR(dentry))
		simple_remove(dentry);
}
EXPORT_SYMBOL(debugfs_remove);

struct dentry *debugfs_lookup(const char *name, struct dentry *parent)
{
	struct dentry *dir = debugfs_parent(parent);

	return IS_ERR(dir) ? NULL : d_find_child(dir, name, strlen(name));
}
EXPORT_SYMBOL(debugfs_lookup);

void debugfs_lookup_and_remove(const char *name, struct dentry *parent)
{
	struct dentry *d = debugfs_lookup(name, parent);

	if (!d)
		return;
	debugfs_remove(d);
	dput(d);
}
EXPORT_SYMBOL(debugfs_lookup_and_remove);

/* ---- Variables */

/* A write to a file that may not be written, or a read of one that may not be read, has failed at open(2). */
#define DEBUGFS_NUMBER(name, type, format)                                                            \
	static int debugfs_get_##name(void *data, u64 *value)                                         \
	{                                                                                             \
		*value = READ_ONCE(*(type *)data);                                                    \
		return 0;                                                                             \
	}                                                                                             \
	static int debugfs_set_##name(void *data, u64 value)                                          \
	{                                                                                             \
		WRITE_ONCE(*(type *)data, value);                                                     \
		return 0;                                                                             \
	}                                                                                             \
	DEFINE_DEBUGFS_ATTRIBUTE(fops_##name, debugfs_get_##name, debugfs_set_##name, format);        \
	void debugfs_create_##name(const char *file, mode_t mode, struct dentry *parent, type *value) \
	{                                                                                             \
		debugfs_create_file(file, mode, parent, value, &fops_##name);                         \
	}                                                                                             \
	EXPORT_SYMBOL(debugfs_create_##name);

DEBUGFS_NUMBER(u8, u8, "%llu\n")
DEBUGFS_NUMBER(u16, u16, "%llu\n")
DEBUGFS_NUMBER(u32, u32, "%llu\n")
DEBUGFS_NUMBER(u64, u64, "%llu\n")
DEBUGFS_NUMBER(ulong, unsigned long, "%llu\n")
DEBUGFS_NUMBER(size_t, size_t, "%llu\n")
DEBUGFS_NUMBER(x8, u8, "0x%02llx\n")
DEBUGFS_NUMBER(x16, u16, "0x%04llx\n")
DEBUGFS_NUMBER(x32, u32, "0x%08llx\n")
DEBUGFS_NUMBER(x64, u64, "0x%016llx\n")

static int get_atomic_t(void *data, u64 *value)
{
	*value = atomic_read((atomic_t *)data);
	return 0;
}

static int set_atomic_t(void *data, u64 value)
{
	atomic_set((atomic_t *)data, value);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(fops_atomic_t, get_atomic_t, set_atomic_t, "%lld\n");

void debugfs_create_atomic_t(const char *name, mode_t mode, struct dentry *parent, atomic_t *value)
{
	debugfs_create_file(name, mode, parent, value, &fops_atomic_t);
}
EXPORT_SYMBOL(debugfs_create_atomic_t);

static ssize_t bool_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	char text[2] = {READ_ONCE(*(bool *)f->f_inode->i_private) ? 'Y' : 'N', '\n'};

	return simple_read_from_buffer(buf, n, pos, text, sizeof(text));
}

static ssize_t bool_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	char text[16];
	bool value;
	ssize_t err = copy_text_from_user(text, sizeof(text), buf, n);

	if (err >= 0)
		err = kstrtobool(strim(text), &value);
	if (err)
		return err;
	WRITE_ONCE(*(bool *)f->f_inode->i_private, value);
	return n;
}
static const struct file_operations fops_bool = {.read = bool_read, .write = bool_write, .llseek = default_llseek};

void debugfs_create_bool(const char *name, mode_t mode, struct dentry *parent, bool *value)
{
	debugfs_create_file(name, mode, parent, value, &fops_bool);
}
EXPORT_SYMBOL(debugfs_create_bool);

static ssize_t blob_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	const struct debugfs_blob_wrapper *blob = f->f_inode->i_private;

	return simple_read_from_buffer(buf, n, pos, blob->data, blob->size);
}
static const struct file_operations fops_blob = {.read = blob_read, .llseek = default_llseek};

struct dentry *debugfs_create_blob(const char *name, mode_t mode, struct dentry *parent,
				   struct debugfs_blob_wrapper *blob)
{
	return debugfs_create_file(name, mode & 0444, parent, blob, &fops_blob);
}
EXPORT_SYMBOL(debugfs_create_blob);
