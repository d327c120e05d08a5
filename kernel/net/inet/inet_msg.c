/*
 * Sending and receiving with sockets of AF_INET.
 *
 * What a program sends is one packet. Its memory counts for the sender, up to SO_SNDBUF, while it is on its way out;
 * then for the receiver, up to SO_RCVBUF, until it is read.
 */
#include "inet.h"

#include <lib/errno.h>
#include <lib/string.h>
#include <sched/current.h>
#include <time/clock.h>
#include <time/posix.h>
#include <trace/events/skb.h>

static int take_error(struct inet_sock *inet)
{
	return -__atomic_exchange_n(&inet->sk.error, 0, __ATOMIC_RELAXED);
}

/* Sleep until `ready`, a signal or the end of the time, and look again: 0; or -EAGAIN, -ERESTARTSYS, -EINTR. */
static int inet_wait(struct inet_sock *inet, s64 *left, bool (*ready)(struct inet_sock *inet))
{
	DEFINE_WAIT(wait);
	int err = 0;

	if (!*left)
		return -EAGAIN;
	prepare_to_wait(&inet->sk.wait, &wait, TASK_INTERRUPTIBLE);
	if (!ready(inet))
		err = sock_sleep(left);
	finish_wait(&inet->sk.wait, &wait);
	return err;
}

/* ---- Sending */

static bool can_send(struct inet_sock *inet)
{
	return atomic_read(&inet->wmem) < READ_ONCE(inet->sk.sndbuf) || READ_ONCE(inet->sk.error) ||
	       READ_ONCE(inet->shutdown) & SEND_SHUTDOWN;
}

/* Wait until the socket may send something more. 0 or -errno; an error of an earlier packet is told here. */
static int wait_to_send(struct inet_sock *inet, unsigned flags)
{
	s64 left = sock_timeout(READ_ONCE(inet->sk.sndtimeo), flags);
	int err;

	for (;;) {
		err = take_error(inet);
		if (!err && READ_ONCE(inet->shutdown) & SEND_SHUTDOWN)
			err = -EPIPE;
		if (err || atomic_read(&inet->wmem) < READ_ONCE(inet->sk.sndbuf))
			return err;
		err = inet_wait(inet, &left, can_send);
		if (err)
			return err;
	}
}

/* A packet for n bytes that counts for the socket. ERR_PTR. */
static struct sk_buff *sock_alloc_send_skb(struct inet_sock *inet, size_t n, unsigned flags)
{
	int err = wait_to_send(inet, flags);
	struct sk_buff *skb;

	if (err)
		return ERR_PTR(err);
	skb = alloc_skb(IP_HEADROOM + inet->proto->header, n, GFP_KERNEL);
	if (!skb)
		return ERR_PTR(-ENOBUFS);
	atomic_inc(&inet->sk.refs);
	skb->sk = &inet->sk;
	atomic_add(skb->truesize, &inet->wmem);
	return skb;
}

/* To an address that the program has named. 0 or -errno. */
static int flow_to_name(struct inet_sock *inet, const struct sock_io *io, struct inet_flow *flow)
{
	const struct sockaddr_in *to = (const struct sockaddr_in *)&io->addr;

	if (io->addr_len < (int)sizeof(*to))
		return -EINVAL;
	if (to->sin_family != AF_INET && to->sin_family != AF_UNSPEC)
		return -EAFNOSUPPORT;
	if (inet->proto->header && !to->sin_port)
		return -EINVAL;
	flow->daddr = to->sin_addr;
	flow->dport = to->sin_port;
	return 0;
}

/* The two addresses that a packet goes between. 0 or -errno. */
static int flow_of(struct inet_sock *inet, const struct sock_io *io, struct inet_flow *flow)
{
	int err = 0;

	if (io->addr_len || (io->named && inet->proto == &udp_proto)) {
		err = flow_to_name(inet, io, flow);
	} else if (READ_ONCE(inet->connected)) {
		flow->daddr = READ_ONCE(inet->daddr);
		flow->dport = READ_ONCE(inet->dport);
	} else {
		err = -EDESTADDRREQ;
	}
	if (!err)
		err = io->scm.error;
	if (err)
		return err;
	flow->saddr = io->scm.source ? io->scm.source : READ_ONCE(inet->saddr);
	if (!flow->saddr)
		flow->saddr = loopback_dev.addr;
	if (!flow->daddr)
		flow->daddr = flow->saddr;
	flow->sport = htons(READ_ONCE(inet->num));
	flow->protocol = inet->sk.protocol;
	flow->tos = READ_ONCE(inet->tos);
	flow->ttl = io->scm.ttl ? io->scm.ttl : READ_ONCE(inet->ttl);
	if (!ip_is_local(flow->saddr))
		return -ENETUNREACH;
	err = ip_route(flow->daddr);
	return !err && ip_is_broadcast(flow->daddr) && !READ_ONCE(inet->sk.broadcast) ? -EACCES : err;
}

/* Takes skb over. */
static int fill_and_send(struct inet_sock *inet, struct sk_buff *skb, struct sock_io *io, const struct inet_flow *flow)
{
	int err = sock_io_from_user(io, skb->data, skb->len);

	if (!err)
		err = inet->proto->prepare(inet, skb, flow);
	if (!err)
		return ip_send_skb(skb, flow);
	kfree_skb_reason(skb, err == -EFAULT ? SKB_DROP_REASON_SKB_UCOPY_FAULT : SKB_DROP_REASON_NOT_SPECIFIED);
	return err;
}

/*
 * A socket gets its number first, whatever becomes of the call; a length that no packet can have is refused before the
 * address is looked at; as on Linux. With the headers added it is looked at again. The packet is made, and counted,
 * before the bytes are copied into it.
 */
ssize_t inet_sendmsg(struct sock *sk, struct sock_io *io)
{
	struct inet_sock *inet = inet_sk(sk);
	struct inet_flow flow = {};
	size_t n = io->left;
	struct sk_buff *skb;
	int err = 0;

	scm_put_files(io->scm.files); /* Linux's UDP pays no attention to them either */
	io->scm.files = NULL;
	if (inet->proto->has_num)
		err = inet_autobind(inet);
	if (!err && n > IP_MAX_MTU)
		err = -EMSGSIZE;
	else if (!err && io->flags & MSG_OOB)
		err = -EOPNOTSUPP;
	if (!err)
		err = flow_of(inet, io, &flow);
	if (!err && n + inet->proto->header + sizeof(struct iphdr) > IP_MAX_MTU) {
		inet_local_error(inet, EMSGSIZE, flow.daddr, inet_mtu());
		err = -EMSGSIZE;
	}
	if (err)
		return err;
	skb = sock_alloc_send_skb(inet, n, io->flags);
	err = IS_ERR(skb) ? PTR_ERR(skb) : fill_and_send(inet, skb, io, &flow);
	return err ? err : (ssize_t)n;
}

/* ---- Receiving */

static bool can_receive(struct inet_sock *inet)
{
	return !list_empty(&inet->queue) || READ_ONCE(inet->sk.error) || READ_ONCE(inet->shutdown) & RCV_SHUTDOWN;
}

/* The first packet, with a reference; it stays for who peeks. NULL: the queue is empty. */
static struct sk_buff *first_packet(struct inet_sock *inet, bool peek)
{
	struct sk_buff *skb;

	spin_lock_bh(&inet->queue_lock);
	skb = list_first_entry_or_null(&inet->queue, struct sk_buff, list);
	if (skb && peek) {
		skb_get(skb);
	} else if (skb) {
		list_del(&skb->list);
		inet_sub_rmem(inet, skb->truesize);
	}
	spin_unlock_bh(&inet->queue_lock);
	return skb;
}

/* NULL: nothing will come, *err is 0 or -errno. A reader that does not wait is not told of the end, as on Linux. */
static struct sk_buff *wait_for_packet(struct inet_sock *inet, unsigned flags, int *err)
{
	s64 left = sock_timeout(READ_ONCE(inet->sk.rcvtimeo), flags);
	struct sk_buff *skb;

	do {
		*err = take_error(inet);
		if (*err)
			return NULL;
		skb = first_packet(inet, flags & MSG_PEEK);
		if (skb || (left && READ_ONCE(inet->shutdown) & RCV_SHUTDOWN))
			return skb;
		*err = inet_wait(inet, &left, can_receive);
	} while (!*err);
	return NULL;
}

/* The sender's address. */
static void tell_sender(const struct inet_sock *inet, const struct sk_buff *skb, struct sock_io *io)
{
	const struct iphdr *iph = (const struct iphdr *)skb->network_header;
	struct sockaddr_in *from = (struct sockaddr_in *)&io->addr;

	*from = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = iph->saddr};
	if (inet->proto->header)
		from->sin_port = ((const struct udphdr *)(iph + 1))->source;
	io->addr_len = sizeof(*from);
}

/* Each option adds its own message, in Linux's order. A packet without a stamp is stamped now. */
void inet_tell_beside(const struct inet_sock *inet, const struct sk_buff *skb, struct sock_io *io)
{
	const struct iphdr *iph = (const struct iphdr *)skb->network_header;
	struct in_pktinfo info = {skb->dev->ifindex, iph->daddr, iph->daddr};
	struct timeval tv;
	int ttl = iph->ttl;

	if (READ_ONCE(inet->sk.timestamp)) {
		tv = ns_to_timeval(skb->tstamp ? skb->tstamp : ktime_get_real_ns());
		sock_io_beside(io, SOL_SOCKET, SO_TIMESTAMP, &tv, sizeof(tv));
	}
	if (READ_ONCE(inet->pktinfo))
		sock_io_beside(io, SOL_IP, IP_PKTINFO, &info, sizeof(info));
	if (READ_ONCE(inet->recvttl))
		sock_io_beside(io, SOL_IP, IP_TTL, &ttl, sizeof(ttl));
	if (READ_ONCE(inet->recvtos))
		sock_io_beside(io, SOL_IP, IP_TOS, &iph->tos, sizeof(iph->tos));
}

/* As many bytes as there is room for; the others are lost, as on Linux also when the program's memory is not there. */
static ssize_t take_packet(struct inet_sock *inet, struct sk_buff *skb, struct sock_io *io)
{
	size_t n = min(io->left, (size_t)skb->len), all = skb->len;
	int err;

	trace_skb_copy_datagram_iovec(skb, n);
	err = sock_io_to_user(io, skb->data, n);
	if (err) {
		kfree_skb_reason(skb, SKB_DROP_REASON_SKB_UCOPY_FAULT);
		return err;
	}
	if (n < all)
		io->out_flags |= MSG_TRUNC;
	tell_sender(inet, skb, io);
	inet_tell_beside(inet, skb, io);
	if (inet->proto == &udp_proto && !(io->flags & MSG_PEEK))
		inet_count(UDP_INDATAGRAMS);
	consume_skb(skb);
	return io->flags & MSG_TRUNC ? all : n;
}

ssize_t inet_recvmsg(struct sock *sk, struct sock_io *io)
{
	struct inet_sock *inet = inet_sk(sk);
	struct sk_buff *skb;
	int err;

	if (io->flags & MSG_OOB && inet->proto != &udp_proto)
		return -EOPNOTSUPP;
	if (io->flags & MSG_ERRQUEUE)
		return inet_recv_error(inet, io);
	skb = wait_for_packet(inet, io->flags, &err);
	return skb ? take_packet(inet, skb, io) : err;
}
