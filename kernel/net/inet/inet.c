/*
 * AF_INET: sockets that send packets of IPv4. What they share is here: a socket's life, its names, the address that it
 * is connected to. The kinds differ by their struct inet_proto (udp.c, icmp.c).
 *
 * A socket lives as long as it has references: its file's, one of each packet that it is sending, and those of packets
 * that are just being delivered.
 */
#include "inet.h"

#include <asm/uaccess.h>
#include <fs/poll.h>
#include <fs/vfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/current.h>
#include <uapi/termios.h>

#define PRIVILEGED 1024 /* ports below are root's: net.ipv4.ip_unprivileged_port_start */

static const struct sock_ops inet_ops;

/* The kind of socket that is asked for. *protocol 0: the usual one of its type. ERR_PTR. */
static const struct inet_proto *find_proto(int type, int *protocol)
{
	static const struct inet_proto *const kinds[] = {&udp_proto, &ping_proto, &raw_proto};
	int err = -ESOCKTNOSUPPORT;

	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct inet_proto *p = kinds[i];

		if (p->type != type)
			continue;
		if (*protocol == p->protocol ? *protocol != 0 : p->protocol == 0 && *protocol < IPPROTO_RAW)
			return p;
		if (!*protocol && p->protocol) {
			*protocol = p->protocol;
			return p;
		}
		err = -EPROTONOSUPPORT;
	}
	return ERR_PTR(err);
}

/*
 * A raw socket gets packets from its first moment on, since its number is its protocol; another kind is found only when
 * it has a port or an identifier. Thread context. ERR_PTR.
 */
static struct sock *inet_create(int type, int protocol)
{
	const struct inet_proto *proto;
	struct inet_sock *inet;
	int err;

	if (type == SOCK_PACKET)
		return ERR_PTR(-EAFNOSUPPORT);
	if (protocol < 0 || protocol >= IPPROTO_MAX)
		return ERR_PTR(-EINVAL);
	proto = find_proto(type, &protocol);
	err = IS_ERR(proto) ? PTR_ERR(proto) : proto->allowed();
	if (err)
		return ERR_PTR(err);
	inet = kzalloc(sizeof(*inet), GFP_KERNEL);
	if (!inet)
		return ERR_PTR(-ENOMEM);
	if (sock_init(&inet->sk, &inet_ops, type, sizeof(*inet))) {
		kfree(inet);
		return ERR_PTR(-ENOBUFS);
	}
	inet->sk.protocol = protocol;
	inet->proto = proto;
	spin_lock_init(&inet->queue_lock);
	INIT_LIST_HEAD(&inet->queue);
	INIT_LIST_HEAD(&inet->errors);
	if (!proto->has_num) {
		inet->num = protocol;
		spin_lock_bh(&inet_lock);
		inet_hash(inet);
		spin_unlock_bh(&inet_lock);
	}
	return &inet->sk;
}

void inet_put(struct inet_sock *inet)
{
	if (!inet || !atomic_dec_and_test(&inet->sk.refs))
		return;
	sock_end(&inet->sk);
	kfree(inet);
}

/*
 * Close. The socket leaves the tables first, so no look-up finds it. A packet that is just being delivered holds a
 * reference, and `dead` keeps it out of the queue. The packets are freed without the lock.
 */
static void inet_release(struct sock *sk)
{
	struct inet_sock *inet = inet_sk(sk);
	struct sk_buff *skb, *next;
	LIST_HEAD(left);

	spin_lock_bh(&inet_lock);
	inet_unhash(inet);
	spin_unlock_bh(&inet_lock);
	spin_lock_bh(&inet->queue_lock);
	inet->dead = true;
	list_splice_tail_init(&inet->queue, &left);
	spin_unlock_bh(&inet->queue_lock);
	list_for_each_entry_safe(skb, next, &left, list)
		kfree_skb_reason(skb, SKB_DROP_REASON_QUEUE_PURGE);
	inet_purge_errors(inet);
	inet_put(inet);
}

/* An address of a program; `wild`: 0 may stand in place of AF_INET if it names no address. 0 or -errno. */
static int check_addr(const struct sockaddr_in *addr, int len, bool wild)
{
	if (len < (int)sizeof(*addr))
		return -EINVAL;
	if (addr->sin_family != AF_INET && !(wild && addr->sin_family == AF_UNSPEC && !addr->sin_addr))
		return -EAFNOSUPPORT;
	return 0;
}

/* A raw socket has its number, and may be bound to another address later. */
static int bind_raw(struct inet_sock *inet, u32 addr)
{
	int err = 0;

	spin_lock_bh(&inet_lock);
	if (inet->connected) {
		err = -EINVAL;
	} else {
		inet->rcv_saddr = inet->saddr = addr;
		inet->bound_addr = addr;
	}
	spin_unlock_bh(&inet_lock);
	return err;
}

/*
 * Linux's order of errors: the address is looked at before rights, and rights before whether the socket has a number
 * already. The look at `num` is early and without the lock; inet_take_num() looks again.
 */
static int inet_bind(struct sock *sk, struct sockaddr_storage *storage, int len)
{
	const struct sockaddr_in *addr = (const struct sockaddr_in *)storage;
	struct inet_sock *inet = inet_sk(sk);
	unsigned num = ntohs(addr->sin_port);
	int err = check_addr(addr, len, true);

	if (err == -EAFNOSUPPORT && !inet->proto->has_num)
		err = 0; /* Linux's raw sockets do not look at the family */
	if (err)
		return err;
	if (addr->sin_addr && !ip_is_local(addr->sin_addr))
		return -EADDRNOTAVAIL;
	if (!inet->proto->has_num)
		return bind_raw(inet, addr->sin_addr);
	if (inet->proto == &udp_proto && num && num < PRIVILEGED && current->euid)
		return -EACCES;
	if (READ_ONCE(inet->num))
		return -EINVAL;
	return inet_take_num(inet, num, addr->sin_addr, num);
}

/* What bind(2) has not chosen is open again. */
static int inet_disconnect(struct inet_sock *inet)
{
	spin_lock_bh(&inet_lock);
	inet->connected = false;
	inet->daddr = 0;
	inet->dport = 0;
	if (!inet->bound_addr)
		inet->rcv_saddr = inet->saddr = 0;
	if (inet->proto->has_num && !inet->bound_num)
		inet_unhash(inet);
	spin_unlock_bh(&inet_lock);
	return 0;
}

/* From now on it sends there, and receives from there alone. */
static int inet_connect(struct sock *sk, struct sockaddr_storage *storage, int len, bool nonblock)
{
	const struct sockaddr_in *addr = (const struct sockaddr_in *)storage;
	struct inet_sock *inet = inet_sk(sk);
	u32 daddr;
	int err;

	if (len < (int)sizeof(addr->sin_family))
		return -EINVAL;
	if (addr->sin_family == AF_UNSPEC)
		return inet_disconnect(inet);
	err = inet->proto->has_num ? inet_autobind(inet) : 0;
	if (!err)
		err = check_addr(addr, len, false);
	if (err)
		return err;
	daddr = addr->sin_addr ? addr->sin_addr : READ_ONCE(inet->saddr) ? READ_ONCE(inet->saddr) : loopback_dev.addr;
	err = ip_route(daddr);
	if (!err && ip_is_broadcast(daddr) && !READ_ONCE(sk->broadcast))
		err = -EACCES;
	if (err)
		return err;
	spin_lock_bh(&inet_lock);
	if (!inet->saddr)
		inet->saddr = loopback_dev.addr;
	if (!inet->rcv_saddr)
		inet->rcv_saddr = inet->saddr;
	inet->daddr = daddr;
	inet->dport = addr->sin_port;
	inet->connected = true;
	spin_unlock_bh(&inet_lock);
	return 0;
}

/*
 * A socket that is bound to no address shows the one that it sends from, if it is connected. A connection to port 0,
 * which a socket without ports has, counts as none here, as on Linux.
 */
static int inet_getname(struct sock *sk, struct sockaddr_storage *storage, bool peer)
{
	struct sockaddr_in *addr = (struct sockaddr_in *)storage;
	struct inet_sock *inet = inet_sk(sk);
	int len = sizeof(*addr);

	memset(storage, 0, sizeof(*storage));
	addr->sin_family = AF_INET;
	spin_lock_bh(&inet_lock);
	if (!peer) {
		addr->sin_addr = inet->rcv_saddr ? inet->rcv_saddr : inet->saddr;
		addr->sin_port = htons(inet->num);
	} else if (inet->connected && inet->dport) {
		addr->sin_addr = inet->daddr;
		addr->sin_port = inet->dport;
	} else {
		len = -ENOTCONN;
	}
	spin_unlock_bh(&inet_lock);
	return len;
}

/* It has its effect also without a connection, whatever the error says; as on Linux. */
static int inet_shutdown(struct sock *sk, int how)
{
	struct inet_sock *inet = inet_sk(sk);

	__atomic_fetch_or(&inet->shutdown, (how + 1) & BOTH_SHUTDOWN, __ATOMIC_RELAXED);
	wake_up_interruptible_all(&sk->wait);
	return READ_ONCE(inet->connected) ? 0 : -ENOTCONN;
}

/*
 * The wait queue is joined before anything is looked at, so no change is missed. POLLOUT says that
 * less than half of SO_SNDBUF is on its way.
 */
static unsigned inet_poll(struct sock *sk, struct file *f, struct poll_table *pt)
{
	struct inet_sock *inet = inet_sk(sk);
	unsigned mask = 0, shutdown;

	poll_wait(f, &sk->wait, pt);
	shutdown = READ_ONCE(inet->shutdown);
	if (shutdown == BOTH_SHUTDOWN)
		mask |= POLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= POLLRDHUP | POLLIN | POLLRDNORM;
	spin_lock_bh(&inet->queue_lock);
	if (!list_empty(&inet->queue))
		mask |= POLLIN | POLLRDNORM;
	if (READ_ONCE(sk->error) || !list_empty(&inet->errors))
		mask |= POLLERR;
	spin_unlock_bh(&inet->queue_lock);
	if (atomic_read(&inet->wmem) < READ_ONCE(sk->sndbuf) / 2)
		mask |= POLLOUT | POLLWRNORM | POLLWRBAND;
	return mask;
}

static int first_length(struct inet_sock *inet)
{
	const struct sk_buff *skb;
	int n;

	spin_lock_bh(&inet->queue_lock);
	skb = list_first_entry_or_null(&inet->queue, struct sk_buff, list);
	n = skb ? skb->len : 0;
	spin_unlock_bh(&inet->queue_lock);
	return n;
}

/* SIOCINQ: bytes of the first packet; SIOCOUTQ: bytes of memory that are on their way out. */
static long inet_ioctl(struct sock *sk, unsigned cmd, unsigned long arg)
{
	struct inet_sock *inet = inet_sk(sk);

	if (cmd == SIOCINQ)
		return put_user(first_length(inet), (int __user *)arg);
	if (cmd == SIOCOUTQ)
		return put_user(atomic_read(&inet->wmem), (int __user *)arg);
	return dev_ioctl(cmd, arg);
}

static void inet_write_space(struct sock *sk)
{
	wake_up_interruptible_all(&sk->wait);
}

static const struct sock_ops inet_ops = {
	.family = AF_INET,
	.bind = inet_bind,
	.connect = inet_connect,
	.getname = inet_getname,
	.shutdown = inet_shutdown,
	.sendmsg = inet_sendmsg,
	.recvmsg = inet_recvmsg,
	.setsockopt = inet_setsockopt,
	.getsockopt = inet_getsockopt,
	.poll = inet_poll,
	.ioctl = inet_ioctl,
	.write_space = inet_write_space,
	.release = inet_release,
};

static const struct net_family inet_family = {.family = AF_INET, .create = inet_create};
REGISTER_NET_FAMILY(inet_family);
