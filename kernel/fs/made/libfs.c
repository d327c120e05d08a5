/*
 * Trees of files that the kernel makes (tracefs, procfs, sysfs, debugfs): building, listing and removing them.
 *
 * A name in such a tree exists because its dentry does: there is no other record of it. The dentry is pinned, that
 * is, the tree holds a reference to it, so it is not dropped as an unused cache entry would be. Listing a directory
 * is walking over its pinned dentries. i_lock of a directory [its mutex] guards changes of its names, dcache_lock the
 * lists.
 */
#include "../internal.h"

#include <fs/libfs.h>
#include <fs/text_file.h>
#include <mm/slab.h>

/* All names of such a tree are in the cache already, so a name that is asked for does not exist: remember that. */
int simple_lookup(struct inode *dir, struct dentry *dentry)
{
	d_add(dentry, NULL);
	return 0;
}

/*
 * For directories that only the kernel fills: a program that creates a file gets EACCES, or what the super block says.
 * All other operations are missing, which gives EPERM.
 */
int simple_no_create(struct inode *dir, struct dentry *dentry, mode_t mode)
{
	return dir->i_sb->s_create_error ?: -EACCES;
}

static const struct inode_operations simple_dir_iops = {.lookup = simple_lookup, .create = simple_no_create};
static const struct file_operations simple_dir_fops = {.iterate = dcache_readdir};

/* The target was copied when the link was made, so nothing has to be written into the page. */
static const char *simple_get_link(struct dentry *dentry, struct inode *inode, char *buf)
{
	return inode->i_private;
}

static const struct inode_operations simple_link_iops = {.get_link = simple_get_link};

/*
 * The target of a symbolic link, and the data of some files, belong to the inode and go with it. The files of a module
 * count their inodes (<fs/removable.h>).
 */
void simple_evict(struct inode *inode)
{
	const struct text_kind *kind = inode->i_text ? inode->i_text->kind : NULL;

	if (S_ISLNK(inode->i_mode) || (kind && kind->owns_data))
		kfree(inode->i_private);
	if (kind && kind->evict)
		kind->evict(inode);
}

static const struct super_operations simple_super_ops = {.evict_inode = simple_evict};

/*
 * [i_lock of parent] Give the inode a name. Takes over the inode's reference, also on error. Returns the dentry,
 * which the pin holds, or ERR_PTR: -EEXIST, -ENOMEM, -ENAMETOOLONG: names may come from the file of a module.
 */
static struct dentry *attach_locked(struct dentry *parent, const char *name, struct inode *inode)
{
	unsigned len = strlen(name);
	struct dentry *d =
		len > NAME_MAX ? ERR_PTR(-ENAMETOOLONG) : lookup_one(parent, name, len, name_hash(name, len));

	if (!IS_ERR(d) && d->d_inode) {
		dput(d);
		d = ERR_PTR(-EEXIST);
	}
	if (IS_ERR(d)) {
		iput(inode);
		return d;
	}
	d_add(d, inode);
	d_pin(d);
	if (S_ISDIR(inode->i_mode))
		parent->d_inode->i_nlink++;
	dput(d); /* the pin holds it */
	return d;
}

/*
 * Give the inode a name in a directory that the kernel fills, and that directory's owner and group: the dentry
 * stays, pinned, until it is removed. Takes
 * the inode over, also on error; NULL for it is -ENOMEM. Thread context, takes the directory's i_lock.
 */
struct dentry *simple_attach(struct dentry *parent, const char *name, struct inode *inode)
{
	struct dentry *d;

	if (!inode)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&parent->d_inode->i_lock);
	inode_owner_of(inode, parent->d_inode);
	d = attach_locked(parent, name, inode);
	mutex_unlock(&parent->d_inode->i_lock);
	return d;
}

/*
 * A file whose content `fop` makes from `data` (i_private). A mode without a type means a regular file. The dentry,
 * or an ERR_PTR.
 */
struct dentry *simple_create_file(struct dentry *parent, const char *name, mode_t mode,
				  const struct file_operations *fop, void *data)
{
	struct inode *inode = new_inode(parent->d_sb, mode & S_IFMT ? mode : S_IFREG | mode);

	if (inode) {
		inode->i_fop = fop;
		inode->i_private = data;
	}
	return simple_attach(parent, name, inode);
}

/* A directory of such a tree, owned by root. With iop NULL programs can make nothing in it. NULL: no memory. */
struct inode *simple_dir_inode(struct super_block *sb, mode_t mode, const struct inode_operations *iop)
{
	struct inode *inode = new_inode(sb, S_IFDIR | (mode & 07777));

	if (inode) {
		inode->i_op = iop ? iop : &simple_dir_iops;
		inode->i_fop = &simple_dir_fops;
		inode->i_uid = inode->i_gid = 0;
	}
	return inode;
}

struct dentry *simple_create_dir(struct dentry *parent, const char *name, mode_t mode,
				 const struct inode_operations *iop)
{
	return simple_attach(parent, name, simple_dir_inode(parent->d_sb, mode, iop));
}

/* The target is copied. The dentry, or an ERR_PTR. */
struct dentry *simple_create_symlink(struct dentry *parent, const char *name, const char *target)
{
	struct inode *inode = new_inode(parent->d_sb, S_IFLNK | 0777);

	if (inode) {
		inode->i_op = &simple_link_iops;
		inode->i_size = strlen(target);
		inode->i_private = kstrdup(target, GFP_KERNEL);
		if (!inode->i_private) {
			iput(inode);
			inode = NULL;
		}
	}
	return simple_attach(parent, name, inode);
}

/* The root of a file system that the kernel fills. 0 or -ENOMEM. */
int simple_fill_super(struct super_block *sb, u32 magic, mode_t root_mode, const struct inode_operations *root_iop)
{
	sb->s_magic = magic;
	if (!sb->s_op)
		sb->s_op = &simple_super_ops;
	sb->s_root = d_make_root(sb, simple_dir_inode(sb, root_mode, root_iop));
	return sb->s_root ? 0 : -ENOMEM;
}

/* Any child with an inode, with a reference; NULL when there is none. */
static struct dentry *first_child(struct dentry *dir)
{
	struct dentry *d, *found = NULL;

	spin_lock(&dcache_lock);
	list_for_each_entry(d, &dir->d_subdirs, d_child)
		if (d->d_inode) {
			found = dget(d);
			break;
		}
	spin_unlock(&dcache_lock);
	return found;
}

/*
 * Take one dentry without children out of the tree. A root has no name that could go; it stays until its mount goes.
 * Files that are open live on without a name.
 */
static void unlink_one(struct dentry *d)
{
	struct inode *dir = d->d_parent->d_inode;
	const struct text_file *text = d->d_inode->i_text;

	if (d == d->d_parent) {
		shrink_negative_children(d);
		return;
	}
	mutex_lock(&dir->i_lock);
	d->d_inode->i_nlink = 0;
	if (S_ISDIR(d->d_inode->i_mode))
		dir->i_nlink--;
	d_delete(d);
	mutex_unlock(&dir->i_lock);
	if (text && text->kind && text->kind->gone && d->d_sb->s_type->single) /* else other trees may show it still */
		text->kind->gone(d->d_inode);
	shrink_negative_children(d);
}

/*
 * Depth first and without recursion, since the kernel stack is small: down as long as there are children, then up by
 * d_parent. Each step holds a reference to where it stands.
 */
void simple_remove(struct dentry *top)
{
	struct dentry *d = dget(top), *child;

	for (;;) {
		child = first_child(d);
		if (child) {
			dput(d); /* the child holds it */
			d = child;
			continue;
		}
		child = d;
		if (d != top)
			d = dget(d->d_parent);
		unlink_one(child);
		dput(child);
		if (child == top)
			return;
	}
}

/*
 * [dcache_lock] The first entry at or after position `off`. Only pinned dentries are entries of the directory; others
 * are negative answers in the cache.
 */
static struct dentry *next_entry(struct dentry *dir, u64 off)
{
	struct dentry *d;

	list_for_each_entry(d, &dir->d_subdirs, d_child)
		if ((d->d_flags & DCACHE_PINNED) && d->d_off >= off)
			return d;
	return NULL;
}

/* [dcache_lock] The same, from an entry that was just listed and is still in the directory. */
static struct dentry *next_entry_after(struct dentry *dir, struct dentry *d)
{
	for (struct list_head *p = d->d_child.next; p != &dir->d_subdirs; p = p->next) {
		d = list_entry(p, struct dentry, d_child);
		if (d->d_flags & DCACHE_PINNED)
			return d;
	}
	return NULL;
}

static unsigned type_of(mode_t mode)
{
	return (mode & S_IFMT) >> 12;
}

/* A rename may give the directory another parent at any time, and the old one may go: so the lock is held. */
static u64 parent_ino(const struct dentry *dir)
{
	u64 ino;

	spin_lock(&dcache_lock);
	ino = dir->d_parent->d_inode->i_ino;
	spin_unlock(&dcache_lock);
	return ino;
}

/* The first two entries of every directory, at positions 0 and 1. False: the reader's buffer is full. */
bool dir_emit_dots(struct file *file, struct dir_context *ctx)
{
	struct dentry *dir = file->f_dentry;

	if (ctx->pos == 0) {
		if (!ctx->emit(ctx, ".", 1, 0, dir->d_inode->i_ino, DT_DIR))
			return false;
		ctx->pos = 1;
	}
	if (ctx->pos == 1) {
		if (!ctx->emit(ctx, "..", 2, 1, parent_ino(dir), DT_DIR))
			return false;
		ctx->pos = 2;
	}
	return true;
}

/*
 * [i_lock of the directory: no name comes or goes] The position of an entry is the dentry's own number (d_off), and
 * numbers only grow along the list. So a reader that removes what it lists (rm -r) misses nothing, and one that comes
 * back after a pause goes on behind the last entry it has seen. dcache_lock is released for each emit(), which may
 * fault; a reference keeps the entry meanwhile.
 */
int dcache_readdir(struct file *file, struct dir_context *ctx)
{
	struct dentry *dir = file->f_dentry, *d, *next;

	if (!dir_emit_dots(file, ctx))
		return 0;
	spin_lock(&dcache_lock);
	d = next_entry(dir, ctx->pos);
	if (d)
		dget(d);
	spin_unlock(&dcache_lock);
	while (d) {
		bool more = ctx->emit(ctx, d->d_name.name, d->d_name.len, d->d_off, d->d_inode->i_ino,
				      type_of(d->d_inode->i_mode));

		next = NULL;
		if (more) {
			ctx->pos = d->d_off + 1;
			spin_lock(&dcache_lock);
			next = next_entry_after(dir, d);
			if (next)
				dget(next);
			spin_unlock(&dcache_lock);
		} else {
			ctx->pos = d->d_off;
		}
		dput(d);
		d = next;
	}
	return 0;
}

/* Is there nothing behind the position of this reader? */
bool dcache_readdir_done(struct file *file, struct dir_context *ctx)
{
	struct dentry *d;

	spin_lock(&dcache_lock);
	d = next_entry(file->f_dentry, ctx->pos);
	spin_unlock(&dcache_lock);
	return ctx->pos >= 2 && !d;
}
