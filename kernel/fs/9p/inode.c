/*
 * Names and attributes of 9p: look-ups, making, removing and renaming, and what stat(2) and chmod(2) need.
 *
 * A name that is not in use is not cached, and one that is in use is asked for again at each step of a walk
 * (v9fs_d_revalidate). So there is never an old answer, at the price of two messages a step. Attributes in the inode
 * are those of the last answer; rights are checked with them here, and again by the server, which decides.
 *
 * A server like QEMU's knows a file by its path. After others have removed or replaced it there, our fid leads nowhere
 * or to another file; the qid tells (v9fs_refresh_inode), and the inode counts as removed.
 *
 * Locks: as <fs/vfs.h> has it. i_lock of a directory is held while the server is asked about its names; the wait can be
 * killed. Attributes are stored one by one without i_lock, as each look-up may bring newer ones.
 */
#include "v9fs.h"

#include "../internal.h"

#include <fs/libfs.h>
#include <mm/mm.h>
#include <mm/slab.h>
#include <uapi/fcntl.h>

/*
 * Bits of TSETATTR; the first six are those of struct iattr. The _SET ones bring a time, the others mean now.
 */
#define P9_ATTR_COMMON	  (ATTR_MODE | ATTR_UID | ATTR_GID | ATTR_SIZE | ATTR_ATIME | ATTR_MTIME)
#define P9_ATTR_ATIME_SET 128u
#define P9_ATTR_MTIME_SET 256u

/* O_* of TLCREATE and TLOPEN are Linux's on x86, whatever the machine. */
#define P9_O_RDWR 2u
#define P9_O_EXCL 0200u

/* A device number as Linux gives it to programs, in our form. */
static dev_t decode_rdev(u64 rdev)
{
	return MKDEV((rdev >> 8) & 0xfff, (rdev & 0xff) | ((rdev >> 12) & 0xfff00));
}

/*
 * Release: i_size_read() pairs with it. The type of an inode never changes: another type makes another qid. Its links
 * fit: no file system has 2^32 of them.
 */
static void store_attributes(struct inode *inode, const struct p9_stat *st)
{
	WRITE_ONCE(inode->i_mode, (inode->i_mode & S_IFMT) | (st->mode & 07777));
	WRITE_ONCE(inode->i_nlink, st->nlink);
	WRITE_ONCE(inode->i_uid, st->uid);
	WRITE_ONCE(inode->i_gid, st->gid);
	WRITE_ONCE(inode->i_blocks, st->blocks);
	WRITE_ONCE(inode->i_atime, st->atime);
	WRITE_ONCE(inode->i_mtime, st->mtime);
	WRITE_ONCE(inode->i_ctime, st->ctime);
	__atomic_store_n(&inode->i_size, st->size, __ATOMIC_RELEASE);
}

/* The root is what the server shows there now, even if that was replaced. */
int v9fs_refresh_inode(struct inode *inode)
{
	struct v9fs_inode *v = v9fs_i(inode);
	struct dentry *root = inode->i_sb->s_root;
	struct p9_stat st;
	int err = p9_client_getattr(v->client, v->fid, &st);

	if (!err && !p9_same_file(&st.qid, &v->qid) && root && root->d_inode != inode)
		err = -ENOENT;
	if (!err)
		store_attributes(inode, &st);
	return err;
}

/* What can be done with it, by its type. Devices and fifos are the guest's own, not the server's. */
static void set_operations(struct inode *inode, const struct p9_stat *st)
{
	inode->i_op = &v9fs_file_iops;
	switch (inode->i_mode & S_IFMT) {
	case S_IFDIR:
		inode->i_op = &v9fs_dir_iops;
		inode->i_fop = &v9fs_dir_fops;
		break;
	case S_IFLNK:
		inode->i_op = &v9fs_link_iops;
		break;
	case S_IFREG:
		inode->i_fop = &v9fs_file_fops;
		break;
	default:
		init_special_inode(inode, inode->i_mode, decode_rdev(st->rdev));
	}
}

/*
 * Each look-up makes an inode with a fid of its own, which it keeps until it goes; nothing finds an inode by its
 * number.
 */
struct inode *v9fs_get_inode(struct super_block *sb, struct p9_client *c, u32 fid)
{
	struct v9fs_inode *v = kzalloc(sizeof(*v), GFP_KERNEL);
	struct inode *inode = NULL;
	struct p9_stat st;
	int err = v ? p9_client_getattr(c, fid, &st) : -ENOMEM;

	if (!err) {
		inode = new_inode(sb, st.mode);
		err = inode ? 0 : -ENOMEM;
	}
	if (err) {
		kfree(v);
		p9_client_clunk(c, fid);
		return ERR_PTR(err);
	}
	*v = (struct v9fs_inode){.client = c, .fid = fid, .qid = st.qid};
	inode->i_fs_info = v;
	inode->i_ino = st.qid.path;
	store_attributes(inode, &st);
	set_operations(inode, &st);
	return inode;
}

void v9fs_evict_inode(struct inode *inode)
{
	struct v9fs_inode *v = v9fs_i(inode);

	if (!v)
		return;
	if (v->created)
		p9_client_clunk(v->client, v->created);
	p9_client_clunk(v->client, v->fid);
	kfree(v);
}

/* [i_lock of dir] Give the dentry what the server has under its name. -ENOENT leaves it negative and not cached. */
static int v9fs_vfs_lookup(struct inode *dir, struct dentry *dentry)
{
	struct v9fs_inode *v = v9fs_i(dir);
	struct inode *inode;
	struct p9_qid qid;
	u32 fid;
	int err = p9_client_walk(v->client, v->fid, dentry->d_name.name, &fid, &qid);

	if (err)
		return err;
	inode = v9fs_get_inode(dir->i_sb, v->client, fid);
	if (IS_ERR(inode))
		return PTR_ERR(inode);
	d_add(dentry, inode);
	return 0;
}

/* [i_lock of dir] Does the name still lead to this inode? Its attributes are renewed on the way. */
static int v9fs_d_revalidate(struct inode *dir, struct dentry *dentry)
{
	struct v9fs_inode *v = v9fs_i(dir);
	struct p9_qid qid;
	u32 fid;
	int err = p9_client_walk(v->client, v->fid, dentry->d_name.name, &fid, &qid);

	if (!err) {
		p9_client_clunk(v->client, fid);
		if (!dentry->d_inode || !p9_same_file(&qid, &v9fs_i(dentry->d_inode)->qid))
			return 0;
		err = v9fs_refresh_inode(dentry->d_inode);
	}
	return err == -ENOENT ? 0 : err ? err : 1;
}

const struct dentry_operations v9fs_dentry_ops = {.d_revalidate_wait = v9fs_d_revalidate};

/* ---- Making. [i_lock of dir] The new name is looked up, which brings its fid and attributes. */

/*
 * The server makes the file and opens it, for reading and writing; the open that follows takes that over. If others
 * have made the file before, or have put another file in its place since, the result is -EEXIST: open(2) without O_EXCL
 * walks again then, asks for the rights to it, and opens it.
 */
static int v9fs_vfs_create(struct inode *dir, struct dentry *dentry, mode_t mode)
{
	struct v9fs_inode *v = v9fs_i(dir);
	struct p9_qid qid;
	u32 fid;
	int err = p9_client_walk(v->client, v->fid, NULL, &fid, NULL);

	if (err)
		return err;
	err = p9_client_call(v->client, P9_TLCREATE, "dsddd|Q", fid, dentry->d_name.name, P9_O_RDWR | P9_O_EXCL,
			     (u32)mode & 07777, current->fsgid, &qid);
	if (!err)
		err = v9fs_vfs_lookup(dir, dentry);
	if (err || !p9_same_file(&qid, &v9fs_i(dentry->d_inode)->qid)) {
		p9_client_clunk(v->client, fid);
		return err ? err : -EEXIST;
	}
	v = v9fs_i(dentry->d_inode);
	v->created_by = current;
	smp_store_release(&v->created, fid);
	return 0;
}

static int v9fs_vfs_mkdir(struct inode *dir, struct dentry *dentry, mode_t mode)
{
	struct v9fs_inode *v = v9fs_i(dir);
	int err = p9_client_call(v->client, P9_TMKDIR, "dsdd", v->fid, dentry->d_name.name, (u32)mode & 07777,
				 current->fsgid);

	return err ? err : v9fs_vfs_lookup(dir, dentry);
}

static int v9fs_vfs_mknod(struct inode *dir, struct dentry *dentry, mode_t mode, dev_t dev)
{
	struct v9fs_inode *v = v9fs_i(dir);
	int err = p9_client_call(v->client, P9_TMKNOD, "dsdddd", v->fid, dentry->d_name.name, (u32)mode,
				 (u32)(dev >> 20), (u32)(dev & 0xfffff), current->fsgid);

	return err ? err : v9fs_vfs_lookup(dir, dentry);
}

static int v9fs_vfs_symlink(struct inode *dir, struct dentry *dentry, const char *target)
{
	struct v9fs_inode *v = v9fs_i(dir);
	int err = p9_client_call(v->client, P9_TSYMLINK, "dssd", v->fid, dentry->d_name.name, target, current->fsgid);

	return err ? err : v9fs_vfs_lookup(dir, dentry);
}

static int v9fs_vfs_link(struct dentry *old, struct inode *dir, struct dentry *dentry)
{
	struct v9fs_inode *v = v9fs_i(dir);
	int err = p9_client_call(v->client, P9_TLINK, "dds", v->fid, v9fs_i(old->d_inode)->fid, dentry->d_name.name);

	return err ? err : v9fs_vfs_lookup(dir, dentry);
}

/* ---- Removing and renaming. [i_lock of dir] */

static int v9fs_remove_name(struct inode *dir, struct dentry *dentry, u32 flags)
{
	struct v9fs_inode *v = v9fs_i(dir);
	struct inode *inode = dentry->d_inode;
	int err = p9_client_call(v->client, P9_TUNLINKAT, "dsd", v->fid, dentry->d_name.name, flags);

	if (err)
		return err;
	WRITE_ONCE(inode->i_nlink, flags ? 0 : inode->i_nlink - !!inode->i_nlink);
	d_delete(dentry);
	return 0;
}

static int v9fs_vfs_unlink(struct inode *dir, struct dentry *dentry)
{
	return v9fs_remove_name(dir, dentry, 0);
}

static int v9fs_vfs_rmdir(struct inode *dir, struct dentry *dentry)
{
	return v9fs_remove_name(dir, dentry, AT_REMOVEDIR);
}

/* TRENAMEAT has no flags, so neither of rename's can be kept: -EINVAL, as on Linux. */
static int v9fs_vfs_rename(struct inode *olddir, struct dentry *old, struct inode *newdir, struct dentry *new,
			   unsigned flags)
{
	struct v9fs_inode *v = v9fs_i(olddir);
	int err;

	if (flags)
		return -EINVAL;
	err = p9_client_call(v->client, P9_TRENAMEAT, "dsds", v->fid, old->d_name.name, v9fs_i(newdir)->fid,
			     new->d_name.name);
	if (!err && new->d_inode)
		WRITE_ONCE(new->d_inode->i_nlink,
			   S_ISDIR(new->d_inode->i_mode) ? 0 : new->d_inode->i_nlink - !!new->d_inode->i_nlink);
	return err;
}

/* ---- Attributes */

/*
 * A file that was removed is still the same file for those who have it open. The server cannot find it by its path, so
 * the attributes that were known last are returned, with the link count that it had, less the names that were removed
 * here.
 */
static int v9fs_vfs_getattr(struct dentry *dentry, struct kstat *stat)
{
	struct inode *inode = dentry->d_inode;
	int err = v9fs_refresh_inode(inode);

	if (err && err != -ENOENT)
		return err;
	generic_fillattr(inode, stat);
	stat->blksize = v9fs_i(inode)->client->msize - P9_IO_HEAD;
	return 0;
}

/*
 * [i_lock] The server changes what has the name now, so it is asked first whether that is still this file. ATTR_TOUCH
 * means now, which is the server's now. Pages behind the new end leave private mappings, as they do on Linux.
 * Afterwards the server is asked for the attributes that result; an error of that request is not an error of the
 * change.
 */
static int v9fs_vfs_setattr(struct dentry *dentry, const struct iattr *attr)
{
	struct inode *inode = dentry->d_inode;
	struct v9fs_inode *v = v9fs_i(inode);
	u32 valid = attr->valid & P9_ATTR_COMMON;
	int err = attr->valid & ATTR_SIZE ? inode_newsize_ok(inode, attr->size) : 0;

	if (err)
		return err;
	if ((valid & ATTR_ATIME) && !(attr->valid & ATTR_TOUCH))
		valid |= P9_ATTR_ATIME_SET;
	if ((valid & ATTR_MTIME) && !(attr->valid & ATTR_TOUCH))
		valid |= P9_ATTR_MTIME_SET;
	err = v9fs_refresh_inode(inode);
	if (err)
		return err;
	err = p9_client_call(v->client, P9_TSETATTR, "dddddqqqqq", v->fid, valid, (u32)attr->mode & 07777, attr->uid,
			     attr->gid, (u64)attr->size, attr->atime / NSEC_PER_SEC, attr->atime % NSEC_PER_SEC,
			     attr->mtime / NSEC_PER_SEC, attr->mtime % NSEC_PER_SEC);
	if (err)
		return err;
	v9fs_refresh_inode(inode);
	if (attr->valid & ATTR_SIZE)
		unmap_mapping_pages(inode, DIV_ROUND_UP((u64)attr->size, PAGE_SIZE));
	return 0;
}

static const char *v9fs_vfs_get_link(struct dentry *dentry, struct inode *inode, char *buf)
{
	struct v9fs_inode *v = v9fs_i(inode);
	int err = p9_client_readlink(v->client, v->fid, buf, PAGE_SIZE);

	return err ? ERR_PTR(err) : buf;
}

const struct inode_operations v9fs_dir_iops = {
	.lookup = v9fs_vfs_lookup,
	.create = v9fs_vfs_create,
	.mkdir = v9fs_vfs_mkdir,
	.mknod = v9fs_vfs_mknod,
	.symlink = v9fs_vfs_symlink,
	.link = v9fs_vfs_link,
	.unlink = v9fs_vfs_unlink,
	.rmdir = v9fs_vfs_rmdir,
	.rename = v9fs_vfs_rename,
	.getattr = v9fs_vfs_getattr,
	.setattr = v9fs_vfs_setattr,
};
const struct inode_operations v9fs_file_iops = {.getattr = v9fs_vfs_getattr, .setattr = v9fs_vfs_setattr};
const struct inode_operations v9fs_link_iops = {
	.get_link = v9fs_vfs_get_link,
	.getattr = v9fs_vfs_getattr,
	.setattr = v9fs_vfs_setattr,
};
