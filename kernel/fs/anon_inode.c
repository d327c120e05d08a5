/*
 * Files without a place in the tree (<fs/anon_inode.h>). They all have one inode, which says no more than that there is
 * such a file; what a file is stands in its operations and its private_data. Each has a dentry of its own, for its name
 * in /proc.
 */
#include <fs/anon_inode.h>

#include <fs/libfs.h>
#include <fs/vfs.h>
#include <kernel/init.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <uapi/fcntl.h>

#include "internal.h"

#define ANON_INODE_MAGIC 0x09041934

static struct inode *anon_inode; /* [immutable after boot] */

static char *anon_dname(struct dentry *d, char *buf, int len)
{
	int n = snprintf(buf, len, "anon_inode:%s", d->d_name.name);

	return n < len ? buf : ERR_PTR(-ENAMETOOLONG);
}

struct file *anon_inode_file(const char *name, const struct file_operations *fops, void *private_data, unsigned flags)
{
	struct file *f;

	ihold(anon_inode);
	f = alloc_file_pseudo(anon_inode, flags, fops, name);
	if (IS_ERR(f))
		return f;
	f->f_mode |= FMODE_NOSEEK;
	f->private_data = private_data;
	return f;
}

/* The descriptor comes first, since a file that exists could not be taken back without its release(). */
int anon_inode_fd(const char *name, const struct file_operations *fops, void *private_data, unsigned flags)
{
	int fd = get_unused_fd_flags(flags);
	struct file *f;

	if (fd < 0)
		return fd;
	f = anon_inode_file(name, fops, private_data, flags);
	if (IS_ERR(f)) {
		put_unused_fd(fd);
		return PTR_ERR(f);
	}
	fd_install(fd, f);
	return fd;
}

/* One of them would change all. Linux 6.12 refuses it for pidfds, and later ones for every kind. */
static int anon_inode_setattr(struct dentry *dentry, const struct iattr *attr)
{
	return -EOPNOTSUPP;
}

/* As for pipes, a file system that is never mounted. Boot. */
void anon_inode_init(void)
{
	static const struct dentry_operations dentry_ops = {.d_dname = anon_dname};
	static const struct file_system_type type = {.name = "anon_inodefs", .single = true};
	static const struct inode_operations iops = {.setattr = anon_inode_setattr};
	static struct super_block sb = {.s_type = &type, .s_magic = ANON_INODE_MAGIC, .s_dev = MKDEV(0, 254)};

	sb.s_fs_info = (void *)&dentry_ops;
	anon_inode = new_inode(&sb, 0600);
	anon_inode->i_op = &iops;
}
