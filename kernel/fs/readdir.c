/* getdents64(2), and getdents(2) of older machines: the entries of a directory. */
#include "files.h"

#include <proc/syscall.h>
#include <uapi/dirent.h>

struct getdents_ctx {
	struct dir_context ctx;
	char __user *to;
	size_t left;
	long last_len; /* of the record before, whose d_off is still to be filled in */
	int error;
	bool old; /* struct linux_dirent: the type stands last in the record, not before the name */
};

/* Each record's d_off is the position of the next: known only when that one comes. */
static bool fill_last_off(struct getdents_ctx *g, loff_t pos)
{
	struct linux_dirent64 __user *last = (void __user *)(g->to - g->last_len);

	return !g->last_len || !put_user(pos, &last->d_off);
}

static bool getdents_emit(struct dir_context *ctx, const char *name, int len, loff_t pos, u64 ino,
			  unsigned type)
{
	struct getdents_ctx *g = container_of(ctx, struct getdents_ctx, ctx);
	const unsigned head = offsetof(struct linux_dirent64, d_type);
	char buf[ALIGN(head + NAME_MAX + 2, 8)] __aligned(8);
	struct linux_dirent64 *d = (void *)buf;
	unsigned reclen = ALIGN(head + len + 2, 8); /* name, zero, type: in either order */

	g->error = -EINVAL; /* the buffer is too small for even one */
	if (reclen > g->left)
		return false;
	memset(buf + reclen - 8, 0, 8); /* what lies behind the name */
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

/* A directory's lock is held while it is listed: no name changes under the reader. */
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
	return err;
}

static long do_getdents(unsigned fd, void __user *dirent, unsigned count, bool old)
{
	struct getdents_ctx g = {.ctx.emit = getdents_emit, .to = dirent, .left = count, .old = old};
	struct fd f = fdget_pos(fd);
	long res;

	if (!f.file)
		return -EBADF;
	res = f.file->f_mode & FMODE_READ ? iterate_dir(f.file, &g.ctx) : -EBADF;
	if (!res && g.last_len)
		res = fill_last_off(&g, g.ctx.pos) ? (long)(count - g.left) : -EFAULT;
	else if (!res)
		res = g.error; /* nothing was emitted: 0 at the end, or why not */
	fdput_pos(f);
	return res;
}

SYSCALL_DEFINE3(getdents64, unsigned, fd, void __user *, dirent, unsigned, count)
{
	return do_getdents(fd, dirent, count, false);
}

SYSCALL_DEFINE3(getdents, unsigned, fd, void __user *, dirent, unsigned, count)
{
	return do_getdents(fd, dirent, count, true);
}
