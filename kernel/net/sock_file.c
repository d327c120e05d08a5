/*
 * Sockets as files: read and write are recvmsg and sendmsg with one buffer, or several, and nothing beside the bytes;
 * the last close is the family's release. A call holds the file, so release never meets another call of the same
 * socket.
 */
#include "socket.h"

#include <asm/uaccess.h>
#include <fs/file_part.h>
#include <fs/libfs.h>
#include <fs/poll.h>
#include <kernel/init.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <time/ktime.h>
#include <trace/events/sock.h>
#include <uapi/fcntl.h>
#include <uapi/termios.h>

#define SOCKFS_MAGIC 0x534f434b

static struct super_block sockfs_sb;
static const struct file_operations socket_fops;

int sock_init(struct sock *sk, const struct sock_ops *ops, int type, unsigned size)
{
	if (sock_begin_memory(sk, size))
		return -ENOMEM;
	atomic_set(&sk->refs, 1);
	sk->ops = ops;
	sk->type = type;
	init_waitqueue_head(&sk->wait);
	sk->sndbuf = READ_ONCE(sysctl_wmem_default);
	sk->rcvbuf = READ_ONCE(sysctl_rmem_default);
	sk->rcvtimeo = sk->sndtimeo = KTIME_MAX;
	return 0;
}

struct sock *sock_of_file(const struct file *f)
{
	return f->f_op == &socket_fops ? f->private_data : NULL;
}

u64 sock_ino(const struct sock *sk)
{
	const struct file *f = smp_load_acquire(&sk->file);

	return f ? f->f_inode->i_ino : 0;
}

int sock_sleep(s64 *left)
{
	bool for_ever = *left == KTIME_MAX;

	if (signal_pending(current))
		;
	else if (for_ever)
		schedule();
	else
		*left = schedule_timeout_ns(*left);
	if (signal_pending(current))
		return for_ever ? -ERESTARTSYS : -EINTR;
	return 0;
}

static void next_part(struct sock_io *io, size_t n)
{
	io->off += n;
	io->left -= n;
	if (io->off == io->vec->iov_len) {
		io->vec++;
		io->off = 0;
	}
}

/* Bytes of the part that the copying stands at, up to n, which is not 0. Empty parts are passed over. */
static size_t this_part(struct sock_io *io, size_t n)
{
	while (io->off == io->vec->iov_len) {
		io->vec++;
		io->off = 0;
	}
	return min(n, io->vec->iov_len - io->off);
}

/* A part may be shorter than what is wanted, so the copy goes from part to part. The caller wants at most `left`. */
int sock_io_from_user(struct sock_io *io, void *to, size_t n)
{
	while (n) {
		size_t part = this_part(io, n);
		const char *from = (const char *)io->vec->iov_base + io->off;

		if (io->kernel)
			memcpy(to, from, part);
		else if (copy_from_user(to, from, part))
			return -EFAULT;
		to = (char *)to + part;
		n -= part;
		next_part(io, part);
	}
	return 0;
}

int sock_io_to_user(struct sock_io *io, const void *from, size_t n)
{
	while (n) {
		size_t part = this_part(io, n);

		if (copy_to_user((char *)io->vec->iov_base + io->off, from, part))
			return -EFAULT;
		from = (const char *)from + part;
		n -= part;
		next_part(io, part);
	}
	return 0;
}

void sock_io_beside(struct sock_io *io, int level, int type, const void *data, unsigned len)
{
	struct sock_beside *b = &io->beside[io->nr_beside++];

	*b = (struct sock_beside){.level = level, .type = type, .len = len};
	memcpy(b->data, data, len);
}

size_t vec_len(const struct iovec *vec, unsigned long n)
{
	size_t len = 0;

	for (unsigned long i = 0; i < n; i++)
		len += vec[i].iov_len;
	return len;
}

/* What /proc/<pid>/fd shows. */
static char *sock_dname(struct dentry *d, char *buf, int len)
{
	int n = snprintf(buf, len, "socket:[%llu]", (unsigned long long)d->d_inode->i_ino);

	return n < len ? buf : ERR_PTR(-ENAMETOOLONG);
}

/*
 * The file is not at a descriptor yet, so no other task reaches the socket before `private_data` is set. The file
 * cannot seek, and the family's release ends the socket whether the file fails here or is closed later.
 */
struct file *sock_file(struct sock *sk, unsigned flags)
{
	struct inode *inode = new_inode(&sockfs_sb, S_IFSOCK | 0777);
	struct file *f = ERR_PTR(-ENOMEM);

	if (inode) {
		inode->i_uid = current->fsuid;
		inode->i_gid = current->fsgid;
		f = alloc_file_pseudo(inode, O_RDWR | (flags & O_NONBLOCK), &socket_fops, "");
	}
	if (IS_ERR(f)) {
		sk->ops->release(sk);
		return f;
	}
	f->f_mode |= FMODE_NOSEEK;
	f->private_data = sk;
	smp_store_release(&sk->file, f); /* a list of sockets may show this one already: the file comes whole */
	return f;
}

static int sock_release(struct inode *inode, struct file *f)
{
	struct sock *sk = f->private_data;

	sk->ops->release(sk);
	return 0;
}

unsigned sock_io_flags(const struct file *f, unsigned flags)
{
	return flags | (f->f_flags & O_NONBLOCK ? MSG_DONTWAIT : 0);
}

ssize_t sock_send(struct file *f, struct sock_io *io)
{
	struct sock *sk = f->private_data;
	ssize_t res;

	io->flags = sock_io_flags(f, io->flags);
	res = sk->ops->sendmsg ? sk->ops->sendmsg(sk, io) : -EOPNOTSUPP;
	trace_sock_send_length(sk, res, 0);
	return res;
}

ssize_t sock_receive(struct file *f, struct sock_io *io)
{
	struct sock *sk = f->private_data;
	ssize_t res;

	io->flags = sock_io_flags(f, io->flags);
	res = sk->ops->recvmsg ? sk->ops->recvmsg(sk, io) : -EOPNOTSUPP;
	trace_sock_recv_length(sk, res, io->flags);
	return res;
}

/* Bytes of a read or write with these buffers. A packet socket's write ends a record. */
static ssize_t plain_io(struct file *f, const struct iovec *vec, unsigned long n, bool write, bool kernel)
{
	struct sock_io io = {.vec = vec, .left = vec_len(vec, n), .kernel = kernel};
	ssize_t res;

	if (!write) {
		if (!io.left)
			return 0;
		res = sock_receive(f, &io);
		scm_put_files(io.scm.files); /* no place to put them */
		return res;
	}
	scm_send(&io.scm, NULL, 0);
	return sock_send(f, &io);
}

static ssize_t sock_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	struct iovec vec = {(void *)buf, n};

	return plain_io(f, &vec, 1, false, false);
}

static ssize_t sock_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	struct iovec vec = {(void *)buf, n};

	return plain_io(f, &vec, 1, true, false);
}

static ssize_t sock_write_kernel(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	struct iovec vec = {(void *)buf, n};

	return plain_io(f, &vec, 1, true, true);
}

static ssize_t sock_vec(struct file *f, const struct iovec *vec, unsigned long n, bool write)
{
	return plain_io(f, vec, n, write, false);
}

static unsigned sock_poll(struct file *f, struct poll_table *pt)
{
	struct sock *sk = f->private_data;

	return sk->ops->poll(sk, f, pt);
}

/* The older names of F_SETOWN and F_GETOWN are those of sockets; other files do not know them. */
static long sock_ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	struct sock *sk = f->private_data;
	int who;

	switch (cmd) {
	case FIOSETOWN:
	case SIOCSPGRP:
		return get_user(who, (const int __user *)arg) ? -EFAULT : fcntl_part(0, f, F_SETOWN, who);
	case FIOGETOWN:
	case SIOCGPGRP:
		return put_user((int)fcntl_part(0, f, F_GETOWN, 0), (int __user *)arg);
	}
	return sk->ops->ioctl ? sk->ops->ioctl(sk, cmd, arg) : -ENOTTY;
}

static const struct file_operations socket_fops = {
	.read = sock_read,
	.write = sock_write,
	.write_kernel = sock_write_kernel,
	.read_write_vec = sock_vec,
	.poll = sock_poll,
	.unlocked_ioctl = sock_ioctl,
	.release = sock_release,
	.sigio = true,
};

struct file *sock_get(int fd)
{
	struct file *f = fget(fd);

	if (!f)
		return ERR_PTR(-EBADF);
	if (sock_of_file(f))
		return f;
	fput(f);
	return ERR_PTR(-ENOTSOCK);
}

/* As for pipes, a file system that is never mounted. */
static int sockfs_init(void)
{
	static const struct dentry_operations dentry_ops = {.d_dname = sock_dname};
	static const struct file_system_type type = {.name = "sockfs", .single = true};

	sockfs_sb.s_type = &type;
	sockfs_sb.s_magic = SOCKFS_MAGIC;
	sockfs_sb.s_dev = MKDEV(0, 252);
	sockfs_sb.s_fs_info = (void *)&dentry_ops;
	return 0;
}
fs_initcall(sockfs_init);
