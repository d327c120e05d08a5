/*
 * Pipes and fifos: a ring of pages between writers and readers. A pipe of pipe(2) and a fifo in a file system work
 * alike; they differ in where the inode comes from and in that opening one end of a fifo waits for the other.
 *
 * Bytes are counted from the beginning of the pipe (head, tail), and byte n has its fixed place in the ring, so both
 * counters only grow and their difference is what the pipe holds. Pages come as they are written to and go as they are
 * read empty, but for one that is kept for the next write.
 *
 *     pages[]   | NULL | page | page | page | NULL | ...
 *                          ^tail          ^head
 *                          read from here, written from here; both go to the right, and round
 *
 * Writes of at most PIPE_BUF bytes are atomic: they wait until they fit as a whole. Longer ones go in parts.
 *
 * Wake-ups: a reader sleeps while the pipe is empty, a writer while less than PIPE_BUF is free (or less than its atomic
 * write). So a read wakes only when it crosses that line. A write wakes whatever is in the queue: when the pipe was not
 * empty that is epoll, which tells of every write if it is edge-triggered, as on Linux. Sleepers join the queue before
 * they release the lock, so waitqueue_active() under the lock does not miss one. Of epoll's exclusive items one is
 * woken, but all when an end is closed.
 *
 * Locks: pipe->lock [l] is a mutex, held while bytes are copied from and to user memory. fifo_mutex is outside of it
 * and keeps an open from finding a ring that the last close is about to free.
 */
#include "pipe.h"

#include <fs/libfs.h>
#include <lib/printf.h>
#include <mm/slab.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <uapi/poll.h>
#include <uapi/statfs.h>
#include <uapi/termios.h>

#define CREATE_TRACE_POINTS
#include <trace/events/pipe.h>

static struct super_block *pipe_sb;

void pipe_free_pages(struct pipe_inode_info *pipe)
{
	for (unsigned i = 0; i <= pipe->mask; i++)
		free_page(pipe->pages[i]);
	if (pipe->pages != pipe->first)
		kvfree(pipe->pages);
}

static bool pipe_charge(struct pipe_inode_info *pipe)
{
	const struct pipe_limits *limits;

	for_each_in_table(pipe_limits, limits)
		return limits->charge(pipe);
	return true;
}

/* A pipe without ends, or NULL: no memory, or the user's pipes hold too much. */
static struct pipe_inode_info *alloc_pipe_info(void)
{
	struct pipe_inode_info *pipe = kzalloc(sizeof(*pipe), GFP_KERNEL);

	if (!pipe)
		return NULL;
	pipe->size = PIPE_SIZE;
	if (!pipe_charge(pipe)) {
		kfree(pipe);
		return NULL;
	}
	mutex_init(&pipe->lock);
	pipe->pages = pipe->first;
	pipe->mask = PIPE_PAGES - 1;
	init_waitqueue_head(&pipe->rd_wait);
	init_waitqueue_head(&pipe->wr_wait);
	return pipe;
}

/* No end is open any more, so no lock is needed. */
static void free_pipe_info(struct pipe_inode_info *pipe)
{
	const struct pipe_limits *limits;

	pipe_free_pages(pipe);
	for_each_in_table(pipe_limits, limits)
		limits->uncharge(pipe);
	kfree(pipe);
}

/*
 * [l] Copy out up to n bytes. A page that is read empty goes, but for one that the next write will want. -EFAULT only
 * when nothing was copied.
 */
static __always_inline ssize_t pipe_drain(struct pipe_inode_info *pipe, char __user *buf, size_t n)
{
	size_t done = 0;

	n = min(n, pipe_used(pipe));
	while (done < n) {
		char **slot = pipe_slot(pipe, pipe->tail);
		unsigned off = pipe->tail & (PAGE_SIZE - 1);
		size_t part = min_t(size_t, n - done, PAGE_SIZE - off);
		size_t left = copy_to_user(buf + done, *slot + off, part);

		pipe->tail += part - left;
		done += part - left;
		if (left)
			return done ? (ssize_t)done : -EFAULT;
		if (off + part == PAGE_SIZE)
			pipe_drop_page(pipe, slot);
	}
	return done;
}

/*
 * Waits until there is something or the last writer is gone (0, the end of file), and returns what there is.
 *
 * Writers are woken only when this read has moved the room from below PIPE_BUF to PIPE_BUF or more, as they sleep only
 * below that line. They are woken after the lock is released, so that they do not run into it.
 */
static noinline ssize_t pipe_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	struct pipe_inode_info *pipe = f->private_data;
	bool wake = false;
	ssize_t res = 0;

	if (unlikely(!n))
		return 0;
	mutex_lock(&pipe->lock);
	while (!pipe_used(pipe)) {
		if (!pipe->writers)
			goto unlock;
		res = f->f_flags & O_NONBLOCK ? -EAGAIN : pipe_sleep(pipe, &pipe->rd_wait);
		if (res)
			goto unlock;
	}
	wake = pipe_room(pipe) < PIPE_BUF;
	res = pipe_drain(pipe, buf, n);
	trace_pipe_read(f, res, pipe_used(pipe));
	wake = wake && pipe_room(pipe) >= PIPE_BUF && waitqueue_active(&pipe->wr_wait);
unlock:
	mutex_unlock(&pipe->lock);
	if (wake)
		wake_up_interruptible(&pipe->wr_wait);
	return res;
}

/*
 * [l, released while asleep] Wait for room for one piece of a write: for all of an atomic one, for at least PIPE_BUF of
 * another one. Returns how many bytes may be written, or -errno. A non-blocking write takes any room that there is,
 * unless it is atomic.
 */
static ssize_t pipe_wait_room(struct file *f, struct pipe_inode_info *pipe, size_t left, bool atomic)
{
	for (;;) {
		size_t room = pipe_room(pipe);
		int err;

		if (unlikely(!pipe->readers)) {
			send_sig(SIGPIPE, current, 0);
			return -EPIPE;
		}
		if (room >= left)
			return left;
		if (!atomic && room >= PIPE_BUF)
			return room;
		if (f->f_flags & O_NONBLOCK)
			return !atomic && room ? (ssize_t)room : -EAGAIN;
		err = pipe_sleep(pipe, &pipe->wr_wait);
		if (err)
			return err;
	}
}

/*
 * A write from user or kernel memory, in as many pieces as the room demands. Readers are woken after each piece. An
 * error after some bytes is not reported, since the bytes are in the pipe.
 */
static __always_inline ssize_t pipe_write_any(struct file *f, const char *buf, size_t n, bool kernel)
{
	struct pipe_inode_info *pipe = f->private_data;
	bool atomic = n <= PIPE_BUF;
	ssize_t done = 0, res = 0;

	if (unlikely(!n))
		return 0;
	mutex_lock(&pipe->lock);
	while (done < n) {
		bool wake;

		res = n - done;
		if (unlikely(!pipe->readers || pipe_room(pipe) < res))
			res = pipe_wait_room(f, pipe, res, atomic);
		if (res < 0)
			break;
		res = pipe_fill(pipe, buf + done, res, kernel);
		trace_pipe_write(f, res, pipe_used(pipe));
		if (res <= 0)
			break;
		done += res;
		wake = waitqueue_active(&pipe->rd_wait);
		if (likely(done == n)) {
			mutex_unlock(&pipe->lock);
			if (wake)
				wake_up_interruptible(&pipe->rd_wait);
			return done;
		}
		if (wake)
			wake_up_interruptible(&pipe->rd_wait);
	}
	mutex_unlock(&pipe->lock);
	return done ? done : res;
}

static noinline ssize_t pipe_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	return pipe_write_any(f, buf, n, false);
}

static ssize_t pipe_write_kernel(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	return pipe_write_any(f, buf, n, true);
}

/*
 * The lock orders this against a change: either the change comes first and is seen here, or the queue was joined first
 * and the sleeper is woken.
 *
 * POLLHUP needs a writer that was there and left (w_counter): a fifo that no one has opened for writing yet is not hung
 * up.
 */
static unsigned pipe_poll(struct file *f, struct poll_table *pt)
{
	struct pipe_inode_info *pipe = f->private_data;
	unsigned mask = 0;

	if (f->f_mode & FMODE_READ)
		poll_wait(f, &pipe->rd_wait, pt);
	if (f->f_mode & FMODE_WRITE)
		poll_wait(f, &pipe->wr_wait, pt);
	mutex_lock(&pipe->lock);
	if (f->f_mode & FMODE_READ) {
		if (pipe_used(pipe))
			mask |= POLLIN | POLLRDNORM;
		if (!pipe->writers && pipe->w_counter)
			mask |= POLLHUP;
	}
	if (f->f_mode & FMODE_WRITE) {
		if (pipe_room(pipe) >= PIPE_BUF)
			mask |= POLLOUT | POLLWRNORM;
		if (!pipe->readers)
			mask |= POLLERR;
	}
	mutex_unlock(&pipe->lock);
	return mask;
}

/* FIONREAD: how many bytes a read would give now. */
static long pipe_ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	struct pipe_inode_info *pipe = f->private_data;
	int n;

	if (cmd != FIONREAD)
		return -ENOTTY;
	mutex_lock(&pipe->lock);
	n = pipe_used(pipe);
	mutex_unlock(&pipe->lock);
	return put_user(n, (int __user *)arg);
}

/*
 * A fifo's ring hangs on its inode while it is open. An open must not find a ring that the last close is about to free.
 */
static DEFINE_MUTEX(fifo_mutex);

/* [fifo_mutex, l] One open file less. True: it was the last, and the caller must free the ring. */
static bool pipe_put_file(struct inode *inode, struct pipe_inode_info *pipe)
{
	if (--pipe->files)
		return false;
	inode->i_private = NULL;
	return true;
}

/*
 * One end is closed. When the last writer goes, readers that sleep must find the end of the file; when the last
 * reader goes, writers must find EPIPE. fifo_mutex is taken first, since this may free the ring.
 */
static int pipe_release(struct inode *inode, struct file *f)
{
	struct pipe_inode_info *pipe = f->private_data;
	bool last;

	mutex_lock(&fifo_mutex);
	mutex_lock(&pipe->lock);
	if (f->f_mode & FMODE_READ)
		pipe->readers--;
	if (f->f_mode & FMODE_WRITE)
		pipe->writers--;
	if (!pipe->writers && waitqueue_active(&pipe->rd_wait))
		wake_up_interruptible_all(&pipe->rd_wait);
	if (!pipe->readers && waitqueue_active(&pipe->wr_wait))
		wake_up_interruptible_all(&pipe->wr_wait);
	last = pipe_put_file(inode, pipe);
	mutex_unlock(&pipe->lock);
	mutex_unlock(&fifo_mutex);
	if (last)
		free_pipe_info(pipe);
	return 0;
}

static int fifo_open(struct inode *inode, struct file *f);

const struct file_operations fifo_fops = {
	.open = fifo_open,
	.read = pipe_read,
	.write = pipe_write,
	.write_kernel = pipe_write_kernel,
	.poll = pipe_poll,
	.unlocked_ioctl = pipe_ioctl,
	.release = pipe_release,
	.llseek = no_llseek,
	.sigio = true,
};

/* [l] A file becomes one end of the pipe, or both. */
static void pipe_add_ends(struct pipe_inode_info *pipe, struct file *f)
{
	if (f->f_mode & FMODE_READ) {
		pipe->readers++;
		pipe->r_counter++;
	}
	if (f->f_mode & FMODE_WRITE) {
		pipe->writers++;
		pipe->w_counter++;
	}
	pipe->files++;
	f->f_mode |= FMODE_NOSEEK;
	f->private_data = pipe;
}

/*
 * [l, released while asleep] Opening one end of a fifo waits until the other is open. The counter tells also of a
 * partner that came and left while this task slept. 0 or -ERESTARTSYS.
 */
static int fifo_wait_partner(struct pipe_inode_info *pipe, unsigned *ends, unsigned *counter, wait_queue_head_t *q)
{
	unsigned seen = *counter;

	while (!*ends && *counter == seen) {
		int err = pipe_sleep(pipe, q);

		if (err)
			return err;
	}
	return 0;
}

/*
 * [l] Wake those who wait for this end, and wait for the other one. A pipe of pipe(2) that is opened through
 * /proc/<pid>/fd does not wait: its other end was there from the start. Opening a fifo for both directions does not
 * wait either.
 */
static int fifo_open_wait(struct inode *inode, struct pipe_inode_info *pipe, struct file *f)
{
	bool rd = f->f_mode & FMODE_READ, wr = f->f_mode & FMODE_WRITE;
	bool is_pipe = inode->i_sb == pipe_sb;

	if (rd)
		wake_up_interruptible_all(&pipe->wr_wait);
	if (wr)
		wake_up_interruptible_all(&pipe->rd_wait);
	if (is_pipe || (rd && wr))
		return 0;
	if (f->f_flags & O_NONBLOCK)
		return wr && !pipe->readers ? -ENXIO : 0;
	return rd ? fifo_wait_partner(pipe, &pipe->writers, &pipe->w_counter, &pipe->rd_wait)
		  : fifo_wait_partner(pipe, &pipe->readers, &pipe->r_counter, &pipe->wr_wait);
}

/*
 * The first open makes the ring. The ends are counted while fifo_mutex is held; from then on the ring stays, so the
 * mutex is released before the wait. A file that neither reads nor writes would be no end: -EINVAL.
 */
static int fifo_open(struct inode *inode, struct file *f)
{
	struct pipe_inode_info *pipe;
	int err;

	if (!(f->f_mode & (FMODE_READ | FMODE_WRITE)))
		return -EINVAL;
	mutex_lock(&fifo_mutex);
	pipe = inode->i_private;
	if (!pipe)
		pipe = inode->i_private = alloc_pipe_info();
	if (!pipe) {
		mutex_unlock(&fifo_mutex);
		return -ENOMEM;
	}
	mutex_lock(&pipe->lock);
	pipe_add_ends(pipe, f);
	mutex_unlock(&fifo_mutex);
	err = fifo_open_wait(inode, pipe, f);
	mutex_unlock(&pipe->lock);
	if (err)
		pipe_release(inode, f);
	return err;
}

/* What /proc/<pid>/fd shows for a pipe. */
static char *pipe_dname(struct dentry *d, char *buf, int len)
{
	int n = snprintf(buf, len, "pipe:[%llu]", (unsigned long long)d->d_inode->i_ino);

	return n < len ? buf : ERR_PTR(-ENAMETOOLONG);
}

static const struct dentry_operations pipe_dentry_ops = {.d_dname = pipe_dname};

/* One end of a new pipe, or ERR_PTR. No other task knows the pipe yet, so its lock is not needed. */
static struct file *pipe_file(struct inode *inode, struct pipe_inode_info *pipe, unsigned flags)
{
	struct file *f;

	ihold(inode);
	f = alloc_file_pseudo(inode, flags, &fifo_fops, "");
	if (!IS_ERR(f))
		pipe_add_ends(pipe, f);
	return f;
}

/*
 * Both ends of a new pipe. While no file exists the ring is freed here; later the last fput frees it. 0 or -errno;
 * without a ring it is -ENFILE, as on Linux.
 */
static int create_pipe_files(struct file *f[2], unsigned flags)
{
	struct pipe_inode_info *pipe = alloc_pipe_info();
	struct inode *inode = pipe ? new_inode(pipe_sb, S_IFIFO | 0600) : NULL;
	int err = 0;

	if (!inode) {
		if (pipe)
			free_pipe_info(pipe);
		return -ENFILE;
	}
	inode->i_fop = &fifo_fops;
	inode->i_private = pipe;
	f[0] = pipe_file(inode, pipe, O_RDONLY | flags);
	f[1] = IS_ERR(f[0]) ? f[0] : pipe_file(inode, pipe, O_WRONLY | flags);
	if (IS_ERR(f[0])) {
		err = PTR_ERR(f[0]);
		free_pipe_info(pipe);
	} else if (IS_ERR(f[1])) {
		err = PTR_ERR(f[1]);
		fput(f[0]); /* frees the ring */
	}
	iput(inode);
	return err;
}

/*
 * Descriptors for the two files. They are told to the user before they are installed, because that may fail, and an
 * installed file could not be taken back. 0 or -errno.
 */
static int pipe_fds(struct file *f[2], unsigned flags, int __user *fds)
{
	int fd[2] = {get_unused_fd_flags(flags), -1};
	int err = fd[0];

	if (err < 0)
		return err;
	err = fd[1] = get_unused_fd_flags(flags);
	if (err < 0)
		goto put_first;
	err = -EFAULT;
	if (copy_to_user(fds, fd, sizeof(fd)))
		goto put_second;
	fd_install(fd[0], f[0]);
	fd_install(fd[1], f[1]);
	return 0;
put_second:
	put_unused_fd(fd[1]);
put_first:
	put_unused_fd(fd[0]);
	return err;
}

/* Both files exist before a descriptor is asked for; when that fails, dropping them frees the pipe. */
SYSCALL_DEFINE2(pipe2, int __user *, fildes, int, flags)
{
	struct file *f[2];
	int err;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	err = create_pipe_files(f, flags);
	if (err)
		return err;
	err = pipe_fds(f, flags, fildes);
	if (err) {
		fput(f[0]);
		fput(f[1]);
	}
	return err;
}

SYSCALL_DEFINE1(pipe, int __user *, fildes)
{
	return sys_pipe2((unsigned long)fildes, 0);
}

/* The file system that the inodes of pipes belong to. It is never mounted and has no tree. Boot. */
void pipe_init(void)
{
	static const struct file_system_type pipefs = {.name = "pipefs", .single = true};
	static struct super_block sb = {.s_type = &pipefs, .s_magic = PIPEFS_MAGIC, .s_dev = MKDEV(0, 255)};

	sb.s_fs_info = (void *)&pipe_dentry_ops;
	pipe_sb = &sb;
}
