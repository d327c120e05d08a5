/*
 * Directories whose entries are computed: the owner has a function that says what entry number n is (struct
 * virtual_dir).
 *
 * A directory with thousands of files, such as events/ of tracefs, takes no memory for those that are not open. An
 * inode and a dentry are made when a name is looked up. Files never come or go while their directory is there, so a
 * dentry that was made stays true. A directory may go (is_there): then its name is looked up again.
 */
#include "../internal.h"

#include <fs/libfs.h>
#include <fs/virtual_dir.h>

static const struct inode_operations virtual_dir_iops;
static const struct file_operations virtual_dir_fops;

/* The inode of an entry: a directory of the same kind, or a file with the owner's operations and data. */
static struct inode *virtual_dir_inode(struct super_block *sb, const struct virtual_entry *e)
{
	struct inode *inode = new_inode(sb, (e->dir ? S_IFDIR : S_IFREG) | e->mode);

	if (!inode)
		return NULL;
	if (e->dir) {
		inode->i_op = &virtual_dir_iops;
		inode->i_fop = &virtual_dir_fops;
		inode->i_private = e->dir;
	} else {
		inode->i_fop = text_file_operations(e->text);
		inode->i_text = e->text;
		inode->i_private = e->data;
	}
	return inode;
}

/* A file is reached through its directory, which was asked. */
static bool virtual_dir_revalidate(struct dentry *d)
{
	const struct virtual_dir *dir = d->d_inode && S_ISDIR(d->d_inode->i_mode) ? d->d_inode->i_private : NULL;

	return !dir || !dir->is_there || dir->is_there(dir, d);
}

static bool is_virtual_dir(const struct dentry *d)
{
	return d->d_inode->i_op == &virtual_dir_iops;
}

/* The names never change, so what they stand for is all that is asked. */
bool virtual_dir_is_there(const struct file *f)
{
	struct dentry *d = f->f_dentry->d_parent;

	while (is_virtual_dir(d) && virtual_dir_revalidate(d))
		d = d->d_parent;
	return !is_virtual_dir(d);
}

/* The directory around all computed ones: what it says about owner and group holds for each that nobody has changed. */
static struct dentry *owning_dir(struct dentry *d)
{
	while (is_virtual_dir(d))
		d = d->d_parent;
	return d;
}

/*
 * An inode that nobody uses goes, and what was changed on it would go with it: so the changed one stays, by a pin. The
 * pin goes with the tree. Where a directory may go by itself, with a module, changes last while the file is in use.
 */
static void virtual_dir_changed(struct dentry *dentry)
{
	const struct dentry *d = is_virtual_dir(dentry) ? dentry : dentry->d_parent;

	for (; is_virtual_dir(d); d = d->d_parent)
		if (((const struct virtual_dir *)d->d_inode->i_private)->is_there)
			return;
	d_pin(dentry);
}

static const struct dentry_operations virtual_dir_dops = {
	.d_revalidate = virtual_dir_revalidate,
	.d_changed = virtual_dir_changed,
};

/*
 * Walk over all entries for the name. That is slow only once for each name, since the dentry stays in the cache
 * afterwards. 0, -ENOENT, -ENOMEM. [i_lock of the directory]
 */
static int virtual_dir_lookup(struct inode *inode, struct dentry *dentry)
{
	struct virtual_dir *dir = inode->i_private;
	struct virtual_entry e = {};
	struct inode *found;

	for (unsigned n = 0; dir->entry(dir, n, &e); n++, e = (struct virtual_entry){}) {
		if (strcmp(e.name, dentry->d_name.name))
			continue;
		found = virtual_dir_inode(inode->i_sb, &e);
		if (!found)
			return -ENOMEM;
		inode_owner_of(found, owning_dir(dentry->d_parent)->d_inode);
		dentry->d_op = &virtual_dir_dops;
		d_add(dentry, found);
		return 0;
	}
	return -ENOENT;
}

/*
 * Entry n stands at position n + 2, behind "." and "..". An entry has no inode before it is looked up, so the listed
 * inode number is made from the position.
 */
static int virtual_dir_iterate(struct file *file, struct dir_context *ctx)
{
	struct virtual_dir *dir = file->f_inode->i_private;
	struct virtual_entry e = {};

	if (!dir_emit_dots(file, ctx))
		return 0;
	while (dir->entry(dir, ctx->pos - 2, &e)) {
		if (!ctx->emit(ctx, e.name, strlen(e.name), ctx->pos, file->f_inode->i_ino + ctx->pos,
			       (e.dir ? S_IFDIR : S_IFREG) >> 12))
			break;
		ctx->pos++;
		e = (struct virtual_entry){};
	}
	return 0;
}

static const struct inode_operations virtual_dir_iops = {
	.lookup = virtual_dir_lookup,
	.create = simple_no_create,
};
static const struct file_operations virtual_dir_fops = {.iterate = virtual_dir_iterate};

struct dentry *virtual_dir_create(struct dentry *parent, const char *name, mode_t mode, struct virtual_dir *dir)
{
	const struct virtual_entry e = {.mode = mode, .dir = dir};

	return simple_attach(parent, name, virtual_dir_inode(parent->d_sb, &e));
}
