/*
 * System calls that make and connect sockets, for all families (<net/sock.h>). What is particular to a family is done
 * by its operations, which are called without a lock.
 */
#include "socket.h"

#include <asm/uaccess.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <proc/syscall.h>
#include <uapi/fcntl.h>

struct sockaddr; /* as the calls are declared; the kernel's own is sockaddr_storage */

DECLARE_TABLE(net_families, const struct net_family);

#define SOCK_TYPE_MASK 0xf
#define SOCK_TYPE_MAX  10

static struct sock *sock_create(int family, int type, int protocol)
{
	const struct net_family *f;

	if (type < 0 || type > SOCK_TYPE_MAX)
		return ERR_PTR(-EINVAL);
	for_each_in_table(net_families, f)
		if (f->family == family)
			return f->create(type, protocol);
	return ERR_PTR(-EAFNOSUPPORT);
}

/* A socket with a file. ERR_PTR. */
static struct file *sock_create_file(int family, int type, int protocol)
{
	struct sock *sk;

	if (type & ~(SOCK_TYPE_MASK | SOCK_CLOEXEC | SOCK_NONBLOCK))
		return ERR_PTR(-EINVAL);
	sk = sock_create(family, type & SOCK_TYPE_MASK, protocol);
	return IS_ERR(sk) ? ERR_PTR(PTR_ERR(sk)) : sock_file(sk, type);
}

SYSCALL_DEFINE3(socket, int, family, int, type, int, protocol)
{
	struct file *f = sock_create_file(family, type, protocol);
	int fd;

	if (IS_ERR(f))
		return PTR_ERR(f);
	fd = get_unused_fd_flags(type);
	if (fd < 0)
		fput(f);
	else
		fd_install(fd, f);
	return fd;
}

/* Descriptors for two files, which they get. They are told before they are installed. 0 or -errno. */
static int install_pair(struct file *f[2], unsigned flags, int __user *usockvec)
{
	int fd[2], err;

	fd[0] = err = get_unused_fd_flags(flags);
	if (err < 0)
		return err;
	fd[1] = err = get_unused_fd_flags(flags);
	if (err >= 0)
		err = copy_to_user(usockvec, fd, sizeof(fd)) ? -EFAULT : 0;
	if (!err) {
		fd_install(fd[0], f[0]);
		fd_install(fd[1], f[1]);
		return 0;
	}
	if (fd[1] >= 0)
		put_unused_fd(fd[1]);
	put_unused_fd(fd[0]);
	return err;
}

/*
 * Closing a file ends its socket, so after an error both ends go through fput(). Before the second file exists there is
 * only the first to close.
 */
SYSCALL_DEFINE4(socketpair, int, family, int, type, int, protocol, int __user *, usockvec)
{
	struct file *f[2] = {sock_create_file(family, type, protocol), NULL};
	struct sock *sk;
	int err;

	if (IS_ERR(f[0]))
		return PTR_ERR(f[0]);
	f[1] = sock_create_file(family, type, protocol);
	err = IS_ERR(f[1]) ? PTR_ERR(f[1]) : 0;
	if (!err) {
		sk = f[0]->private_data;
		err = sk->ops->socketpair ? sk->ops->socketpair(sk, f[1]->private_data) : -EOPNOTSUPP;
		if (!err)
			err = install_pair(f, type, usockvec);
		if (err)
			fput(f[1]);
	}
	if (err)
		fput(f[0]);
	return err;
}

int addr_from_user(struct sockaddr_storage *to, const void __user *from, int len)
{
	memset(to, 0, sizeof(*to));
	if (len < 0 || (size_t)len > sizeof(*to))
		return -EINVAL;
	return len && copy_from_user(to, from, len) ? -EFAULT : 0;
}

int addr_to_user(const struct sockaddr_storage *from, int len, void __user *to, int __user *ulen)
{
	int room;

	if (get_user(room, ulen))
		return -EFAULT;
	if (room < 0)
		return -EINVAL;
	if (copy_to_user(to, from, min(room, len)))
		return -EFAULT;
	return put_user(len, ulen);
}

/* bind(2) or connect(2): both get an address. */
static long sock_address_call(int fd, const void __user *uaddr, int len, bool connect)
{
	struct sockaddr_storage addr;
	struct file *f = sock_get(fd);
	const struct sock_ops *ops;
	struct sock *sk;
	int err;

	if (IS_ERR(f))
		return PTR_ERR(f);
	sk = f->private_data;
	ops = sk->ops;
	err = addr_from_user(&addr, uaddr, len);
	if (!err && connect)
		err = ops->connect ? ops->connect(sk, &addr, len, f->f_flags & O_NONBLOCK) : -EOPNOTSUPP;
	else if (!err)
		err = ops->bind ? ops->bind(sk, &addr, len) : -EOPNOTSUPP;
	fput(f);
	return err;
}

SYSCALL_DEFINE3(bind, int, fd, struct sockaddr __user *, umyaddr, int, addrlen)
{
	return sock_address_call(fd, umyaddr, addrlen, false);
}

SYSCALL_DEFINE3(connect, int, fd, struct sockaddr __user *, uservaddr, int, addrlen)
{
	return sock_address_call(fd, uservaddr, addrlen, true);
}

SYSCALL_DEFINE2(listen, int, fd, int, backlog)
{
	struct file *f = sock_get(fd);
	struct sock *sk;
	int err;

	if (IS_ERR(f))
		return PTR_ERR(f);
	sk = f->private_data;
	err = sk->ops->listen ? sk->ops->listen(sk, min((unsigned)backlog, READ_ONCE(sysctl_somaxconn))) : -EOPNOTSUPP;
	fput(f);
	return err;
}

/* A file for a connection that waits at f; ERR_PTR. */
static struct file *accept_file(struct file *f, unsigned flags)
{
	struct sock *sk = f->private_data, *new;

	new = sk->ops->accept ? sk->ops->accept(sk, f->f_flags & O_NONBLOCK) : ERR_PTR(-EOPNOTSUPP);
	return IS_ERR(new) ? ERR_PTR(PTR_ERR(new)) : sock_file(new, flags);
}

/* The descriptor comes first, so that no connection is lost for want of one. */
static long sock_accept_call(int fd, void __user *upeer, int __user *ulen, unsigned flags)
{
	struct sockaddr_storage addr;
	struct file *f, *new;
	struct sock *sk;
	long newfd;
	int err = 0;

	if (flags & ~(SOCK_CLOEXEC | SOCK_NONBLOCK))
		return -EINVAL;
	f = sock_get(fd);
	if (IS_ERR(f))
		return PTR_ERR(f);
	newfd = get_unused_fd_flags(flags);
	if (newfd < 0)
		goto put_listener;
	new = accept_file(f, flags);
	if (IS_ERR(new)) {
		err = PTR_ERR(new);
	} else if (upeer) {
		sk = new->private_data;
		err = addr_to_user(&addr, sk->ops->getname(sk, &addr, true), upeer, ulen);
		if (err)
			fput(new);
	}
	if (err) {
		put_unused_fd(newfd);
		newfd = err;
	} else {
		fd_install(newfd, new);
	}
put_listener:
	fput(f);
	return newfd;
}

SYSCALL_DEFINE3(accept, int, fd, struct sockaddr __user *, upeer_sockaddr, int __user *, upeer_addrlen)
{
	return sock_accept_call(fd, upeer_sockaddr, upeer_addrlen, 0);
}

SYSCALL_DEFINE4(accept4, int, fd, struct sockaddr __user *, upeer_sockaddr, int __user *, upeer_addrlen, int, flags)
{
	return sock_accept_call(fd, upeer_sockaddr, upeer_addrlen, flags);
}

static long sock_getname_call(int fd, void __user *uaddr, int __user *ulen, bool peer)
{
	struct sockaddr_storage addr;
	struct file *f = sock_get(fd);
	struct sock *sk;
	int len;

	if (IS_ERR(f))
		return PTR_ERR(f);
	sk = f->private_data;
	len = sk->ops->getname(sk, &addr, peer);
	fput(f);
	return len < 0 ? len : addr_to_user(&addr, len, uaddr, ulen);
}

SYSCALL_DEFINE3(getsockname, int, fd, struct sockaddr __user *, usockaddr, int __user *, usockaddr_len)
{
	return sock_getname_call(fd, usockaddr, usockaddr_len, false);
}

SYSCALL_DEFINE3(getpeername, int, fd, struct sockaddr __user *, usockaddr, int __user *, usockaddr_len)
{
	return sock_getname_call(fd, usockaddr, usockaddr_len, true);
}

SYSCALL_DEFINE2(shutdown, int, fd, int, how)
{
	struct file *f = sock_get(fd);
	struct sock *sk;
	int err;

	if (IS_ERR(f))
		return PTR_ERR(f);
	sk = f->private_data;
	err = how < SHUT_RD || how > SHUT_RDWR ? -EINVAL : sk->ops->shutdown ? sk->ops->shutdown(sk, how) : -EOPNOTSUPP;
	fput(f);
	return err;
}
