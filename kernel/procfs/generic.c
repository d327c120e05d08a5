/*
 * Files of modules in /proc (<fs/proc_fs.h>).
 *
 * Every mount of proc has a tree of its own, so an entry here is what all of them show: a list of entries by path, and
 * a list of trees. Whatever comes is attached to each tree, and a new tree gets all that there is.
 *
 * Locks: m proc_tree_mutex, outside the i_lock of directories. It is not held while the operations of a file are waited
 * for: these may come here themselves.
 */
#include "internal.h"

#include <fs/proc_fs.h>
#include <fs/removable.h>
#include <kernel/export.h>
#include <kernel/printk.h>
#include <lib/string.h>
#include <mm/slab.h>

/* Locks: m proc_tree_mutex; I immutable. */
struct proc_dir_entry {
	struct removable_file file; /* must be first */
	struct list_head list;	    /* [m] a directory before what is in it */
	bool is_dir;		    /* [I] */
	void *data;		    /* [I] i_private */
	loff_t size;		    /* [m] */
	uid_t uid;		    /* [m] */
	gid_t gid;		    /* [m] */
	struct file_operations fop;
	int (*show)(struct seq_file *m, void *v); /* [I] of a file of one text */
	const struct seq_operations *seq_ops;	  /* [I] of a file of records */
	char path[];				  /* [I] without a / before it */
};
struct proc_tree {
	struct list_head list; /* [m] */
	struct super_block *sb;
};

static DEFINE_MUTEX(proc_tree_mutex);
static LIST_HEAD(entries); /* [m] */
static LIST_HEAD(trees);   /* [m] */

/* ---- In one tree */

/* [m] The dentry of the first `len` bytes of a path, with a reference; NULL: there is none. */
static struct dentry *find_dentry(struct super_block *sb, const char *path, size_t len)
{
	struct dentry *d = dget(sb->s_root), *next;

	while (d && len) {
		size_t part = 0;

		while (part < len && path[part] != '/')
			part++;
		next = d_find_child(d, path, part);
		dput(d);
		d = next;
		part += part < len;
		path += part;
		len -= part;
	}
	return d;
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* [m] */
static void copy_attributes(struct inode *inode, const struct proc_dir_entry *e)
{
	mutex_lock(&inode->i_lock);
	inode->i_uid = e->uid;
	inode->i_gid = e->gid;
	inode->i_size = e->size;
	mutex_unlock(&inode->i_lock);
}

/* [m] 0 or -errno */
static int proc_attach_entry(struct super_block *sb, struct proc_dir_entry *e)
{
	const char *name = last_name(e->path);
	struct dentry *dir = find_dentry(sb, e->path, max_t(ssize_t, name - e->path - 1, 0)), *d;

	if (!dir)
		return -ENOENT;
	if (!S_ISDIR(dir->d_inode->i_mode))
		d = ERR_PTR(-ENOTDIR);
	else if (e->is_dir)
		d = simple_create_dir(dir, name, e->file.text.mode, NULL);
	else
		d = removable_attach(dir, name, &e->file, e->data);
	if (!IS_ERR(d))
		copy_attributes(d->d_inode, e);
	dput(dir);
	return IS_ERR(d) ? PTR_ERR(d) : 0;
}

/* [m] With what is below it. */
static void proc_detach_entry(struct super_block *sb, const char *path)
{
	struct dentry *d = find_dentry(sb, path, strlen(path));

	if (!d)
		return;
	simple_remove(d);
	dput(d);
}

/* ---- All trees */

/*
 * A new mount of /proc gets every entry that is registered, and is in the list of trees before that, under the same
 * mutex: an entry that comes later is attached to it by its own registration. An error leaves a part, which goes with
 * the super block.
 */
int proc_add_super(struct super_block *sb)
{
	struct proc_tree *tree = kzalloc(sizeof(*tree), GFP_KERNEL);
	struct proc_dir_entry *e;
	int err = 0;

	if (!tree)
		return -ENOMEM;
	tree->sb = sb;
	mutex_lock(&proc_tree_mutex);
	sb->s_fs_info = tree;
	list_add_tail(&tree->list, &trees);
	list_for_each_entry(e, &entries, list) {
		err = proc_attach_entry(sb, e);
		if (err)
			break;
	}
	mutex_unlock(&proc_tree_mutex);
	return err;
}

void proc_begin_put(struct super_block *sb)
{
	struct proc_tree *tree = sb->s_fs_info;

	if (!tree)
		return;
	mutex_lock(&proc_tree_mutex);
	list_del(&tree->list);
	mutex_unlock(&proc_tree_mutex);
}

void proc_put_super(struct super_block *sb)
{
	kfree(sb->s_fs_info);
}

/* [m] */
static struct proc_dir_entry *find_entry(const char *path)
{
	struct proc_dir_entry *e;

	list_for_each_entry(e, &entries, list)
		if (!strcmp(e->path, path))
			return e;
	return NULL;
}

/* [m] In all trees, or in none. */
static int proc_publish(struct proc_dir_entry *e)
{
	struct proc_tree *tree, *undo;
	int err = find_entry(e->path) ? -EEXIST : 0;

	if (err)
		return err;
	list_for_each_entry(tree, &trees, list) {
		err = proc_attach_entry(tree->sb, e);
		if (err)
			break;
	}
	if (!err) {
		list_add_tail(&e->list, &entries);
		return 0;
	}
	list_for_each_entry(undo, &trees, list) {
		if (undo == tree)
			break;
		proc_detach_entry(undo->sb, e->path);
	}
	return err;
}

/* ---- Making */

/* An entry that is in no tree yet; NULL: no memory, or no name. */
static struct proc_dir_entry *proc_new_entry(const char *name, mode_t mode, const struct proc_dir_entry *parent,
					     void *data)
{
	size_t before = parent ? strlen(parent->path) + 1 : 0;
	struct proc_dir_entry *e = kzalloc(sizeof(*e) + before + strlen(name) + 1, GFP_KERNEL);

	if (!e)
		return NULL;
	if (parent) {
		memcpy(e->path, parent->path, before - 1);
		e->path[before - 1] = '/';
	}
	memcpy(e->path + before, name, strlen(name) + 1);
	removable_init(&e->file, &e->fop, mode);
	e->data = data;
	return e;
}

/* Takes over the caller's reference to e; NULL when it could not be made. */
static struct proc_dir_entry *proc_add_entry(struct proc_dir_entry *e)
{
	int err;

	if (!e)
		return NULL;
	mutex_lock(&proc_tree_mutex);
	err = proc_publish(e);
	mutex_unlock(&proc_tree_mutex);
	if (!err)
		return e;
	pr_warn("proc: cannot create '%s': error %d\n", e->path, err);
	removable_put(&e->file);
	return NULL;
}

static mode_t file_mode(mode_t mode)
{
	return mode & 07777 ? mode & 07777 : 0444;
}

struct proc_dir_entry *proc_create_data(const char *name, mode_t mode, struct proc_dir_entry *parent,
					const struct proc_ops *ops, void *data)
{
	struct proc_dir_entry *e = proc_new_entry(name, file_mode(mode), parent, data);

	if (e)
		e->fop = (struct file_operations){.open = ops->proc_open,
						  .read = ops->proc_read,
						  .write = ops->proc_write,
						  .llseek = ops->proc_lseek,
						  .release = ops->proc_release,
						  .poll = ops->proc_poll,
						  .unlocked_ioctl = ops->proc_ioctl};
	return proc_add_entry(e);
}
EXPORT_SYMBOL(proc_create_data);

struct proc_dir_entry *proc_create(const char *name, mode_t mode, struct proc_dir_entry *parent,
				   const struct proc_ops *ops)
{
	return proc_create_data(name, mode, parent, ops, NULL);
}
EXPORT_SYMBOL(proc_create);

static struct proc_dir_entry *entry_of(const struct inode *inode)
{
	return container_of(removable_of(inode), struct proc_dir_entry, file);
}

static int proc_single_open(struct inode *inode, struct file *f)
{
	return single_open(f, entry_of(inode)->show, inode->i_private);
}

static int proc_seq_open(struct inode *inode, struct file *f)
{
	return seq_open(f, entry_of(inode)->seq_ops);
}

struct proc_dir_entry *proc_create_single_data(const char *name, mode_t mode, struct proc_dir_entry *parent,
					       int (*show)(struct seq_file *m, void *v), void *data)
{
	struct proc_dir_entry *e = proc_new_entry(name, file_mode(mode), parent, data);

	if (e) {
		e->show = show;
		e->fop = (struct file_operations){
			.open = proc_single_open, .read = seq_read, .llseek = seq_lseek, .release = single_release};
	}
	return proc_add_entry(e);
}
EXPORT_SYMBOL(proc_create_single_data);

struct proc_dir_entry *proc_create_seq_data(const char *name, mode_t mode, struct proc_dir_entry *parent,
					    const struct seq_operations *ops, void *data)
{
	struct proc_dir_entry *e = proc_new_entry(name, file_mode(mode), parent, data);

	if (e) {
		e->seq_ops = ops;
		e->fop = (struct file_operations){
			.open = proc_seq_open, .read = seq_read, .llseek = seq_lseek, .release = seq_release};
	}
	return proc_add_entry(e);
}
EXPORT_SYMBOL(proc_create_seq_data);

struct proc_dir_entry *proc_mkdir(const char *name, struct proc_dir_entry *parent)
{
	struct proc_dir_entry *e = proc_new_entry(name, 0555, parent, NULL);

	if (e)
		e->is_dir = true;
	return proc_add_entry(e);
}
EXPORT_SYMBOL(proc_mkdir);

/* [m] */
static void update_attributes(const struct proc_dir_entry *e)
{
	struct proc_tree *tree;
	struct dentry *d;

	list_for_each_entry(tree, &trees, list) {
		d = find_dentry(tree->sb, e->path, strlen(e->path));
		if (!d)
			continue;
		copy_attributes(d->d_inode, e);
		dput(d);
	}
}

void proc_set_size(struct proc_dir_entry *e, loff_t size)
{
	mutex_lock(&proc_tree_mutex);
	e->size = size;
	update_attributes(e);
	mutex_unlock(&proc_tree_mutex);
}
EXPORT_SYMBOL(proc_set_size);

void proc_set_user(struct proc_dir_entry *e, uid_t uid, gid_t gid)
{
	mutex_lock(&proc_tree_mutex);
	e->uid = uid;
	e->gid = gid;
	update_attributes(e);
	mutex_unlock(&proc_tree_mutex);
}
EXPORT_SYMBOL(proc_set_user);

/* ---- Removing */

static bool is_below(const struct proc_dir_entry *e, const char *path)
{
	size_t len = strlen(path);

	return !strncmp(e->path, path, len) && (e->path[len] == '/' || !e->path[len]);
}

/* [m] Out of all trees, and into `gone`: e itself and what is below it. */
static void proc_unpublish(const char *path, struct list_head *gone)
{
	struct proc_dir_entry *e, *next;
	struct proc_tree *tree;

	list_for_each_entry(tree, &trees, list)
		proc_detach_entry(tree->sb, path);
	list_for_each_entry_safe(e, next, &entries, list)
		if (is_below(e, path))
			list_move_tail(&e->list, gone);
}

/* They cannot be found any more. A task inside one of their operations is waited for. */
static void end_entries(struct list_head *gone)
{
	struct proc_dir_entry *e, *next;

	list_for_each_entry_safe(e, next, gone, list) {
		removable_end(&e->file);
		removable_put(&e->file);
	}
}

void proc_remove(struct proc_dir_entry *e)
{
	LIST_HEAD(gone);

	if (!e)
		return;
	mutex_lock(&proc_tree_mutex);
	proc_unpublish(e->path, &gone);
	mutex_unlock(&proc_tree_mutex);
	end_entries(&gone);
}
EXPORT_SYMBOL(proc_remove);

/* [m] By name in a directory. Nothing is allocated, as a removal must not fail. */
static struct proc_dir_entry *find_below(const struct proc_dir_entry *parent, const char *name)
{
	size_t before = parent ? strlen(parent->path) + 1 : 0;
	struct proc_dir_entry *e;

	list_for_each_entry(e, &entries, list)
		if (!parent ? !strcmp(e->path, name)
			    : is_below(e, parent->path) && strlen(e->path) >= before && !strcmp(e->path + before, name))
			return e;
	return NULL;
}

int remove_proc_subtree(const char *name, struct proc_dir_entry *parent)
{
	struct proc_dir_entry *e;
	LIST_HEAD(gone);

	mutex_lock(&proc_tree_mutex);
	e = find_below(parent, name);
	if (e)
		proc_unpublish(e->path, &gone);
	mutex_unlock(&proc_tree_mutex);
	end_entries(&gone);
	return e ? 0 : -ENOENT;
}
EXPORT_SYMBOL(remove_proc_subtree);

void remove_proc_entry(const char *name, struct proc_dir_entry *parent)
{
	if (remove_proc_subtree(name, parent))
		pr_warn("proc: cannot remove '%s': it is not there\n", name);
}
EXPORT_SYMBOL(remove_proc_entry);
