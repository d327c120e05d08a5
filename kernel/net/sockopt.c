/* Options of sockets: setsockopt(2), getsockopt(2). Each is a word that is read and written whole, without a lock. */
#include "socket.h"

#include <asm/uaccess.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <proc/syscall.h>
#include <time/clock.h>
#include <time/ktime.h>
#include <time/posix.h>

/* 0 means no end, and a negative time not to wait at all; -EDOM for a bad number of microseconds; as on Linux. */
static int sock_set_timeout(s64 *timeo, const void __user *value, int len)
{
	struct timeval tv;
	u64 ns;

	if (len < (int)sizeof(tv))
		return -EINVAL;
	if (copy_from_user(&tv, value, sizeof(tv)))
		return -EFAULT;
	if (tv.tv_usec < 0 || tv.tv_usec >= NSEC_PER_SEC / NSEC_PER_USEC)
		return -EDOM;
	if (tv.tv_sec < 0) {
		WRITE_ONCE(*timeo, 0);
		return 0;
	}
	if (get_timeval_ns(&tv, &ns))
		return -EINVAL;
	WRITE_ONCE(*timeo, ns ? (s64)ns : KTIME_MAX);
	return 0;
}

/* The kernel's own needs count too, so a size is doubled, as on Linux. */
static int buffer_size(int value, unsigned most, unsigned least)
{
	return max(min((unsigned)value, most) * 2, least);
}

/*
 * The values are for the family, which reads them at its next call. A sender that waits for room may go on when there
 * is to be more of it.
 */
static int sock_set_option(struct sock *sk, int optname, int value)
{
	switch (optname) {
	case SO_PASSCRED:
		WRITE_ONCE(sk->passcred, !!value);
		return 0;
	case SO_REUSEADDR:
		WRITE_ONCE(sk->reuseaddr, !!value);
		return 0;
	case SO_KEEPALIVE:
		WRITE_ONCE(sk->keepalive, !!value);
		return 0;
	case SO_BROADCAST:
		WRITE_ONCE(sk->broadcast, !!value);
		return 0;
	case SO_TIMESTAMP:
		WRITE_ONCE(sk->timestamp, !!value);
		return 0;
	case SO_SNDBUF:
		WRITE_ONCE(sk->sndbuf, buffer_size(value, READ_ONCE(sysctl_wmem_max), SOCK_MIN_SNDBUF));
		sk->ops->write_space(sk);
		return 0;
	case SO_RCVBUF:
		WRITE_ONCE(sk->rcvbuf, buffer_size(value, READ_ONCE(sysctl_rmem_max), SOCK_MIN_RCVBUF));
		return 0;
	}
	return -ENOPROTOOPT; /* also those that can only be read */
}

static int do_setsockopt(struct sock *sk, int optname, const void __user *optval, int optlen)
{
	int value;

	if (optname == SO_RCVTIMEO)
		return sock_set_timeout(&sk->rcvtimeo, optval, optlen);
	if (optname == SO_SNDTIMEO)
		return sock_set_timeout(&sk->sndtimeo, optval, optlen);
	if (optlen < (int)sizeof(value))
		return -EINVAL;
	if (get_user(value, (const int __user *)optval))
		return -EFAULT;
	return sock_set_option(sk, optname, value);
}

/* The length is looked at before the descriptor, as on Linux. Levels other than SOL_SOCKET are the family's. */
SYSCALL_DEFINE5(setsockopt, int, fd, int, level, int, optname, char __user *, optval, int, optlen)
{
	struct file *f;
	struct sock *sk;
	int err;

	if (optlen < 0)
		return -EINVAL;
	f = sock_get(fd);
	if (IS_ERR(f))
		return PTR_ERR(f);
	sk = f->private_data;
	if (level == SOL_SOCKET)
		err = do_setsockopt(sk, optname, optval, optlen);
	else
		err = sk->ops->setsockopt ? sk->ops->setsockopt(sk, level, optname, optval, optlen) : -EOPNOTSUPP;
	fput(f);
	return err;
}

/* An option that is a number. 0 or -ENOPROTOOPT. */
static int sock_get_option(struct sock *sk, int optname, int *value)
{
	switch (optname) {
	case SO_TYPE:
		*value = sk->type;
		return 0;
	case SO_DOMAIN:
		*value = sk->ops->family;
		return 0;
	case SO_PROTOCOL:
		*value = sk->protocol;
		return 0;
	case SO_ERROR:
		*value = __atomic_exchange_n(&sk->error, 0, __ATOMIC_RELAXED);
		return 0;
	case SO_ACCEPTCONN:
		*value = sk->ops->listens && sk->ops->listens(sk);
		return 0;
	case SO_PASSCRED:
		*value = READ_ONCE(sk->passcred);
		return 0;
	case SO_REUSEADDR:
		*value = READ_ONCE(sk->reuseaddr);
		return 0;
	case SO_KEEPALIVE:
		*value = READ_ONCE(sk->keepalive);
		return 0;
	case SO_BROADCAST:
		*value = READ_ONCE(sk->broadcast);
		return 0;
	case SO_TIMESTAMP:
		*value = READ_ONCE(sk->timestamp);
		return 0;
	case SO_SNDBUF:
		*value = READ_ONCE(sk->sndbuf);
		return 0;
	case SO_RCVBUF:
		*value = READ_ONCE(sk->rcvbuf);
		return 0;
	}
	return -ENOPROTOOPT;
}

static struct timeval timeout_of(const s64 *timeo)
{
	s64 ns = READ_ONCE(*timeo);

	return ns_to_timeval(ns == KTIME_MAX ? 0 : ns);
}

/* The value of an option, up to 16 bytes; how many it has, or -ENOPROTOOPT. */
static int option_value(struct sock *sk, int optname, void *value)
{
	struct timeval tv;

	switch (optname) {
	case SO_RCVTIMEO:
	case SO_SNDTIMEO:
		tv = timeout_of(optname == SO_RCVTIMEO ? &sk->rcvtimeo : &sk->sndtimeo);
		memcpy(value, &tv, sizeof(tv));
		return sizeof(tv);
	case SO_PEERCRED: {
		struct ucred cred = sk->peercred.pid ? sk->peercred : (struct ucred){0, (u32)-1, (u32)-1};

		memcpy(value, &cred, sizeof(cred));
		return sizeof(cred);
	}
	}
	return sock_get_option(sk, optname, value) ? -ENOPROTOOPT : (int)sizeof(int);
}

static int do_getsockopt(struct sock *sk, int optname, void __user *optval, int __user *optlen)
{
	u64 value[2];
	int room, n;

	if (get_user(room, optlen))
		return -EFAULT;
	if (room < 0)
		return -EINVAL;
	n = option_value(sk, optname, value);
	if (n < 0)
		return n;
	n = min(n, room);
	return copy_to_user(optval, value, n) || put_user(n, optlen) ? -EFAULT : 0;
}

/* Levels other than SOL_SOCKET are the family's, and its function reads and writes the program's memory itself. */
SYSCALL_DEFINE5(getsockopt, int, fd, int, level, int, optname, char __user *, optval, int __user *, optlen)
{
	struct file *f = sock_get(fd);
	struct sock *sk;
	int err;

	if (IS_ERR(f))
		return PTR_ERR(f);
	sk = f->private_data;
	if (level == SOL_SOCKET)
		err = do_getsockopt(sk, optname, optval, optlen);
	else
		err = sk->ops->getsockopt ? sk->ops->getsockopt(sk, level, optname, optval, optlen) : -EOPNOTSUPP;
	fput(f);
	return err;
}
