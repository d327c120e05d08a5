/*
 * splice(2): bytes go between a pipe and another file, or another pipe, without passing through the program's memory.
 * tee(2): the same from pipe to pipe, and the first one keeps them.
 *
 * What a file gives to a pipe goes through pipe/pipe_give.c. Everything is copied once, from the file's page to the
 * pipe's or back, but for pages that a file gives away.
 *
 * Locks: the pipe's lock [l] is held while bytes move. From a file to a pipe, the pipe is locked first and room is
 * waited for. Two pipes are locked in the order of their addresses.
 */
#include <fs/fsnotify.h>
#include <fs/splice.h>
#include <proc/syscall.h>
#include <uapi/uio.h>

#include "../pipe/pipe.h"

/* ---- From a file to a pipe */

/*
 * The pipe is locked and has room for a page. Give it what lies at *pos in one page of the file, at most n bytes.
 * Bytes, 0 at the end, or -errno.
 */
static ssize_t give_part(struct file *in, loff_t pos, struct file *pipe, size_t n)
{
	loff_t left = i_size_read(in->f_inode) - pos;
	unsigned off = pos & (PAGE_SIZE - 1);
	struct page *page;
	ssize_t res;

	if (left <= 0)
		return 0;
	page = in->f_op->get_page(in, pos >> PAGE_SHIFT);
	if (IS_ERR(page))
		return PTR_ERR(page);
	n = min_t(u64, min_t(u64, n, PAGE_SIZE - off), left);
	res = pipe_give_bytes(pipe, (char *)page_to_virt(page) + off, n);
	put_page(page);
	return res;
}

/*
 * The same from a file that the kernel can read, by way of a page of memory. The position in /dev/zero does not move.
 */
static ssize_t give_read(struct file *in, loff_t *pos, struct file *pipe, size_t n)
{
	char *page = get_free_page(GFP_KERNEL);
	loff_t at = *pos;
	ssize_t res = -ENOMEM;

	if (page)
		res = in->f_op->read_kernel(in, page, min(n, PAGE_SIZE), &at);
	if (res > 0)
		res = pipe_give_bytes(pipe, page, res);
	free_page(page);
	if (res > 0 && at != *pos)
		*pos += res; /* the pipe may have taken less than was read */
	return res;
}

/* Part by part. Once something is in the pipe, nothing is waited for. */
static ssize_t splice_parts(struct file *in, loff_t *pos, struct file *pipe, size_t n, bool nonblock)
{
	bool pages = !in->f_op->read_kernel;
	ssize_t done = 0, res = 0;

	while (done < n) {
		res = pipe_lock_room(pipe, nonblock || done);
		if (res)
			break;
		res = pages ? give_part(in, *pos, pipe, n - done) : give_read(in, pos, pipe, n - done);
		pipe_unlock(pipe);
		if (res <= 0)
			break;
		done += res;
		if (pages)
			*pos += res;
	}
	return done ? done : res;
}

/* The file's own splice_read, a read by the kernel, or its pages; files with none of them are -EINVAL. */
static ssize_t splice_from_file(struct file *in, loff_t *pos, struct file *pipe, size_t n, bool nonblock)
{
	ssize_t res = -EINVAL;

	if (*pos < 0)
		return -EINVAL;
	nonblock |= !!(pipe->f_flags & O_NONBLOCK);
	if (in->f_op->splice_read)
		res = in->f_op->splice_read(in, pos, pipe, n, nonblock);
	else if (in->f_op->get_page || in->f_op->read_kernel)
		res = splice_parts(in, pos, pipe, n, nonblock);
	if (res > 0)
		fsnotify_file(in, IN_ACCESS);
	return res;
}

/* ---- From a pipe to a file */

/* [l, released while asleep] Wait until the pipe holds something. 1; 0: no writer is left; -EAGAIN, -ERESTARTSYS. */
static int splice_wait_data(struct pipe_inode_info *pipe, bool nonblock)
{
	while (!pipe_used(pipe)) {
		int err;

		if (!pipe->writers)
			return 0;
		err = nonblock ? -EAGAIN : pipe_sleep(pipe, &pipe->rd_wait);
		if (err)
			return err;
	}
	return 1;
}

/* [l] n bytes of the oldest page have been read. */
static void pipe_advance(struct pipe_inode_info *pipe, size_t n)
{
	char **slot = pipe_slot(pipe, pipe->tail);

	pipe->tail += n;
	if (!(pipe->tail & (PAGE_SIZE - 1)))
		pipe_drop_page(pipe, slot);
}

/* [l] How many bytes lie at the tail in one page, at most n. */
static size_t piece(const struct pipe_inode_info *pipe, size_t n)
{
	return min_t(size_t, min(n, pipe_used(pipe)), PAGE_SIZE - (pipe->tail & (PAGE_SIZE - 1)));
}

/* [l] The oldest byte. */
static char *tail_data(struct pipe_inode_info *pipe)
{
	return *pipe_slot(pipe, pipe->tail) + (pipe->tail & (PAGE_SIZE - 1));
}

/* Unlock after bytes may have been taken, and wake writers if the pipe has room now. */
static void unlock_taken(struct pipe_inode_info *pipe)
{
	bool wake = pipe_room(pipe) >= PIPE_BUF && waitqueue_active(&pipe->wr_wait);

	mutex_unlock(&pipe->lock);
	if (wake)
		wake_up_interruptible(&pipe->wr_wait);
}

/*
 * Write what is in the pipe to a file until n bytes are through or the pipe is empty; only the first byte is waited
 * for. A short write leaves the rest in the pipe.
 */
static ssize_t splice_to_file(struct file *in, struct file *out, loff_t *pos, size_t n, bool nonblock)
{
	struct pipe_inode_info *pipe = pipe_of(in);
	ssize_t done = 0, res;

	if (!out->f_op->write_kernel || (out->f_flags & O_APPEND) || *pos < 0)
		return -EINVAL;
	mutex_lock(&pipe->lock);
	res = splice_wait_data(pipe, nonblock);
	while (res > 0 && done < n && pipe_used(pipe)) {
		res = out->f_op->write_kernel(out, tail_data(pipe), piece(pipe, n - done), pos);
		if (res > 0) {
			pipe_advance(pipe, res);
			done += res;
		}
	}
	unlock_taken(pipe);
	if (done)
		fsnotify_file(out, IN_MODIFY);
	return done ? done : res;
}

/* ---- From pipe to pipe */

/* What is done with two pipes, both of them locked: bytes that have come to the second, or -errno when none have. */
typedef ssize_t (*pipes_fn)(struct pipe_inode_info *from, struct pipe_inode_info *to, size_t n);

/*
 * [both l] Copy what is in `from` and leave it there, up to n bytes, as far as `to` has room. As move_bytes(), but the
 * tail stands still.
 */
static ssize_t tee_bytes(struct pipe_inode_info *from, struct pipe_inode_info *to, size_t n)
{
	u64 at = from->tail;
	ssize_t res = 1;

	while (res > 0 && at < from->head && at - from->tail < n && pipe_room(to)) {
		unsigned off = at & (PAGE_SIZE - 1);
		size_t part = min_t(u64, n - (at - from->tail), min_t(u64, from->head - at, PAGE_SIZE - off));

		res = pipe_fill(to, *pipe_slot(from, at) + off, min(part, pipe_room(to)), true);
		if (res > 0)
			at += res;
	}
	return at > from->tail ? (ssize_t)(at - from->tail) : min_t(ssize_t, res, 0);
}

/*
 * [both l] Copy until n bytes are through, the source is empty, or the target is full. Only the first failure without
 * a byte is reported: bytes, or -errno.
 */
static ssize_t move_bytes(struct pipe_inode_info *from, struct pipe_inode_info *to, size_t n)
{
	ssize_t done = 0, res = 1;

	while (res > 0 && done < n && pipe_used(from) && pipe_room(to)) {
		res = pipe_fill(to, tail_data(from), min(piece(from, n - done), pipe_room(to)), true);
		if (res > 0) {
			pipe_advance(from, res);
			done += res;
		}
	}
	return done ? done : min_t(ssize_t, res, 0);
}

/*
 * From pipe to pipe. Waiting for data needs one lock and waiting for room the other, and a task must not sleep with
 * both. So the pipes are looked at one by one and then again with both locked, in the order of their addresses so that
 * two splices in opposite directions cannot deadlock. Other tasks may have been faster in between; then it starts
 * again.
 */
static ssize_t splice_pipes(struct file *in, struct file *out, size_t n, bool nonblock, pipes_fn pass)
{
	struct pipe_inode_info *from = pipe_of(in), *to = pipe_of(out);
	ssize_t res;

	if (from == to)
		return -EINVAL;
	do {
		mutex_lock(&from->lock);
		res = splice_wait_data(from, nonblock);
		mutex_unlock(&from->lock);
		if (res > 0)
			res = pipe_lock_room(out, nonblock) ?: 1;
		if (res <= 0)
			return res;
		pipe_unlock(out);
		mutex_lock(from < to ? &from->lock : &to->lock);
		mutex_lock(from < to ? &to->lock : &from->lock);
		/* The last reader may have closed `to` while neither lock was held. */
		if (to->readers) {
			res = pass(from, to, n);
		} else {
			send_sig(SIGPIPE, current, 0);
			res = -EPIPE;
		}
		unlock_taken(from);
		pipe_unlock(out);
	} while (!res);
	return res;
}

/* ---- The call */

/* Choose by which of the files are pipes; one of them must be. A position is not looked at where the file is a pipe. */
static ssize_t do_splice(struct file *in, loff_t *pos_in, struct file *out, loff_t *pos_out, size_t n, unsigned flags)
{
	bool nonblock = flags & SPLICE_F_NONBLOCK;

	if (pipe_of(in) && pipe_of(out))
		return splice_pipes(in, out, n, nonblock || ((in->f_flags | out->f_flags) & O_NONBLOCK), move_bytes);
	if (pipe_of(in))
		return splice_to_file(in, out, pos_out, n, nonblock || (in->f_flags & O_NONBLOCK));
	return pipe_of(out) ? splice_from_file(in, pos_in, out, n, nonblock) : -EINVAL;
}

/* The position to use: the caller's or the file's. A pipe has no position, so giving one is an error. 0 or -errno. */
static int splice_get_pos(struct file *f, const loff_t __user *user, loff_t *pos)
{
	*pos = f->f_pos;
	if (!user)
		return 0;
	if (pipe_of(f))
		return -ESPIPE;
	if (f->f_mode & FMODE_NOSEEK)
		return -EINVAL;
	return copy_from_user(pos, user, sizeof(*pos)) ? -EFAULT : 0;
}

/* Bytes have moved: tell the caller the new position, or move the file's own. 0 or -EFAULT. */
static int put_pos(struct file *f, loff_t __user *user, loff_t pos)
{
	if (user)
		return copy_to_user(user, &pos, sizeof(pos)) ? -EFAULT : 0;
	if (!pipe_of(f))
		f->f_pos = pos;
	return 0;
}

/* Rights and positions. The positions are stored only when bytes have moved. */
static ssize_t splice_files(struct file *in, loff_t __user *off_in, struct file *out, loff_t __user *off_out, size_t n,
			    unsigned flags)
{
	loff_t pos_in, pos_out;
	ssize_t res;
	int err;

	if (!(in->f_mode & FMODE_READ) || !(out->f_mode & FMODE_WRITE))
		return -EBADF;
	err = splice_get_pos(in, off_in, &pos_in) ?: splice_get_pos(out, off_out, &pos_out);
	if (err)
		return err;
	res = do_splice(in, &pos_in, out, &pos_out, min(n, MAX_RW_COUNT), flags);
	if (res > 0)
		err = put_pos(in, off_in, pos_in) ?: put_pos(out, off_out, pos_out);
	return err ? err : res;
}

/* References, not borrowed files: the call may sleep for long while other threads close descriptors. */
SYSCALL_DEFINE6(splice, int, fd_in, loff_t __user *, off_in, int, fd_out, loff_t __user *, off_out, size_t, len,
		unsigned int, flags)
{
	struct file *in, *out;
	ssize_t res = -EBADF;

	if (!len)
		return 0;
	if (flags & ~SPLICE_F_ALL)
		return -EINVAL;
	in = fget(fd_in);
	out = fget(fd_out);
	if (in && out)
		res = splice_files(in, off_in, out, off_out, len, flags);
	if (in)
		fput(in);
	if (out)
		fput(out);
	return res;
}

static ssize_t tee_files(struct file *in, struct file *out, size_t n, unsigned flags)
{
	bool nonblock = flags & SPLICE_F_NONBLOCK || (in->f_flags | out->f_flags) & O_NONBLOCK;

	if (!(in->f_mode & FMODE_READ) || !(out->f_mode & FMODE_WRITE))
		return -EBADF;
	return pipe_of(in) && pipe_of(out) ? splice_pipes(in, out, n, nonblock, tee_bytes) : -EINVAL;
}

/* Linux gives the second pipe the pages of the first; here a page belongs to one pipe, so the bytes are copied. */
SYSCALL_DEFINE4(tee, int, fdin, int, fdout, size_t, len, unsigned int, flags)
{
	struct file *in, *out;
	ssize_t res = -EBADF;

	if (flags & ~SPLICE_F_ALL)
		return -EINVAL;
	if (!len)
		return 0;
	in = fget(fdin);
	out = fget(fdout);
	if (in && out)
		res = tee_files(in, out, min(len, MAX_RW_COUNT), flags);
	if (in)
		fput(in);
	if (out)
		fput(out);
	return res;
}
