/*
 * memfd_create(2): a file of ramfs that has no name in any tree. Its pages are those of a file system of its own, which
 * is never mounted, and go with the last descriptor and mapping. Its seals are those of ramfs_seals.c.
 */
#include "../../internal.h"
#include "../ramfs.h"

#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <kernel/init.h>
#include <kernel/panic.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <proc/cred.h>
#include <proc/syscall.h>
#include <uapi/fcntl.h>

#define MFD_CLOEXEC	  0x01u
#define MFD_ALLOW_SEALING 0x02u
#define MFD_NOEXEC_SEAL	  0x08u /* without the right to execute, for ever; allows sealing */
#define MFD_EXEC	  0x10u
#define MFD_NAME_MAX	  249 /* bytes, as on Linux, where "memfd:" and a zero fill the name up */

static struct super_block memfd_sb;

static char *memfd_dname(struct dentry *d, char *buf, int len)
{
	int n = snprintf(buf, len, "/memfd:%s (deleted)", d->d_name.name);

	return n < len ? buf : ERR_PTR(-ENAMETOOLONG);
}

static const struct dentry_operations memfd_dentry_ops = {.d_dname = memfd_dname};

/* The dentry and the file; takes over the inode's reference, also when it fails. ERR_PTR. */
static struct file *memfd_file(struct inode *inode, const char *name)
{
	struct file *f = alloc_empty_file(O_RDWR);
	struct dentry *d = IS_ERR(f) ? NULL : d_alloc(NULL, name, strlen(name));

	if (!d) {
		iput(inode);
		if (IS_ERR(f))
			return f;
		free_empty_file(f);
		return ERR_PTR(-ENOMEM);
	}
	d->d_sb = &memfd_sb;
	d->d_inode = inode;
	d->d_op = &memfd_dentry_ops;
	f->f_op = inode->i_fop;
	f->f_inode = inode;
	f->f_dentry = d;
	return f;
}

/* The mode is Linux's: a task that reaches the file, by its descriptor in /proc, may open it again. */
static struct file *memfd_new(const char *name, unsigned flags)
{
	struct inode *inode = ramfs_file_inode(&memfd_sb, flags & MFD_NOEXEC_SEAL ? 0666 : 0777);

	if (IS_ERR(inode))
		return ERR_PTR(PTR_ERR(inode));
	inode->i_uid = current->fsuid;
	inode->i_gid = current->fsgid;
	inode->i_nlink = 0;
	((struct ramfs_pages *)inode->i_private)->user = get_task_user(current);
	if (flags & (MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL))
		*ramfs_seals(inode) = flags & MFD_NOEXEC_SEAL ? F_SEAL_EXEC : 0;
	return memfd_file(inode, name);
}

/* The name is for /proc only. */
SYSCALL_DEFINE2(memfd_create, const char __user *, uname, unsigned int, flags)
{
	char name[MFD_NAME_MAX + 1];
	struct file *f;
	long n;
	int fd;

	if (flags & ~(MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL | MFD_EXEC) ||
	    (flags & (MFD_NOEXEC_SEAL | MFD_EXEC)) == (MFD_NOEXEC_SEAL | MFD_EXEC))
		return -EINVAL;
	n = strncpy_from_user(name, uname, sizeof(name));
	if (n < 0)
		return n;
	if (n > MFD_NAME_MAX)
		return -EINVAL;
	fd = get_unused_fd_flags(flags & MFD_CLOEXEC ? O_CLOEXEC : 0);
	if (fd < 0)
		return fd;
	f = memfd_new(name, flags);
	if (IS_ERR(f)) {
		put_unused_fd(fd);
		return PTR_ERR(f);
	}
	fd_install(fd, f);
	return fd;
}

/* With the limits of a tmpfs, half of memory. */
static int memfd_init(void)
{
	static const struct file_system_type type = {.name = "tmpfs", .single = true};

	memfd_sb.s_type = &type;
	memfd_sb.s_dev = MKDEV(0, 253);
	if (ramfs_fill_super(&memfd_sb, ""))
		panic("no memory for memfd");
	return 0;
}
fs_initcall(memfd_init);
