/*
 * getdents64(2), and getdents(2) of older machines: the entries of a directory. The file system walks the directory and
 * calls getdents_emit() for each entry, which lays out a record and copies it to the user's buffer, until the buffer is
 * full. f_pos remembers where the next call goes on.
 */
#include "files.h"

#include <fs/fsnotify.h>
#include <kernel/panic.h>
#include <proc/syscall.h>
#include <uapi/dirent.h>

struct linux_dirent; /* the old layout, which is only written byte by byte */

/* One call. The two layouts have the same length and differ only in where the type stands. */
struct getdents_ctx {
	struct dir_context ctx;
	char __user *to;
	size_t left;
	long last_len; /* length of the record before, whose d_off is not known yet */
	int error;     /* what the call returns when no record was copied */
	bool old;      /* struct linux_dirent: the type stands last in the record, not before the name */
};

/* A record's d_off is the position of the next one, which is known only when that one comes. False: -EFAULT. */
static bool fill_last_off(struct getdents_ctx *g, loff_t pos)
{
	struct linux_dirent64 __user *last = (void __user *)(g->to - g->last_len);

	return !g->last_len || !put_user(pos, &last->d_off);
}

/*
 * The emit function of the walk. False ends the walk, and the entry comes again in the next call. A buffer that is too
 * small for a single record is -EINVAL. The bytes behind the name are zeroed, so that no stack memory reaches the user.
 */
static bool getdents_emit(struct dir_context *ctx, const char *name, int len, loff_t pos, u64 ino, unsigned type)
{
	struct getdents_ctx *g = container_of(ctx, struct getdents_ctx, ctx);
	const unsigned head = offsetof(struct linux_dirent64, d_type);
	char buf[ALIGN(head + NAME_MAX + 2, 8)] __aligned(8);
	struct linux_dirent64 *d = (void *)buf;
	unsigned reclen = ALIGN(head + len + 2, 8); /* name, zero, type: in either order */

	if (WARN_ON_ONCE(len < 0 || len > NAME_MAX))
		return false;
	g->error = -EINVAL; /* what it is when the buffer has no room for a single record */
	if (reclen > g->left)
		return false;
	memset(buf + reclen - 8, 0, 8);
	d->d_ino = ino;
	d->d_off = pos;
	d->d_reclen = reclen;
	buf[g->old ? reclen - 1 : head] = type;
	memcpy(buf + head + !g->old, name, len);
	g->error = -EFAULT;
	if (!fill_last_off(g, pos) || copy_to_user(g->to, buf, reclen))
		return false;
	g->to += reclen;
	g->left -= reclen;
	g->last_len = reclen;
	return true;
}

/*
 * The directory's i_lock is held while it is listed, so no name changes under the reader. User memory is written under
 * it; a fault then takes mmap_lock, which the order of locks allows. A directory that was removed is -ENOENT.
 */
static noinline int iterate_dir(struct file *f, struct dir_context *ctx)
{
	struct inode *inode = f->f_inode;
	int err;

	if (!f->f_op->iterate)
		return -ENOTDIR;
	mutex_lock(&inode->i_lock);
	err = -ENOENT;
	if (inode->i_nlink) {
		ctx->pos = f->f_pos;
		err = f->f_op->iterate(f, ctx);
		f->f_pos = ctx->pos;
	}
	mutex_unlock(&inode->i_lock);
	if (!err)
		fsnotify_file(f, IN_ACCESS);
	return err;
}

/*
 * The last record's d_off is the position at which the walk ended. Records that were emitted are what the call returns,
 * also when an error came behind them: the position is behind them, and the next call meets the error again. When no
 * record was emitted, the error tells why: 0 at the end of the directory.
 */
static long do_getdents(unsigned fd, void __user *dirent, unsigned count, bool old)
{
	struct getdents_ctx g = {.ctx.emit = getdents_emit, .to = dirent, .left = count, .old = old};
	struct fd f = fdget_pos(fd);
	long res;

	if (!f.file)
		return -EBADF;
	res = f.file->f_mode & FMODE_READ ? iterate_dir(f.file, &g.ctx) : -EBADF;
	if (g.last_len)
		res = fill_last_off(&g, g.ctx.pos) ? (long)(count - g.left) : -EFAULT;
	else if (!res)
		res = g.error;
	fdput_pos(f);
	return res;
}

SYSCALL_DEFINE3(getdents64, unsigned int, fd, struct linux_dirent64 __user *, dirent, unsigned int, count)
{
	return do_getdents(fd, dirent, count, false);
}

SYSCALL_DEFINE3(getdents, unsigned int, fd, struct linux_dirent __user *, dirent, unsigned int, count)
{
	return do_getdents(fd, dirent, count, true);
}
