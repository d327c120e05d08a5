/*
 * Packets of a socket that did not get to their receiver. An error is told once by the next call, as errno, to a socket
 * with a connection: another one would not know which of its packets it was. A program that sets IP_RECVERR (ip(7)) is
 * told without a connection too, and has a queue beside that of packets, which recvmsg(MSG_ERRQUEUE) reads: each error
 * with the bytes of the packet that it is about, where that was to go, and who says so.
 *
 * Both queues share SO_RCVBUF. An error that there is no room for is told as errno alone.
 */
#include "inet.h"

#include <lib/errno.h>
#include <mm/slab.h>

/* One error in the queue. */
struct inet_error {
	struct list_head list; /* [q] */
	struct sock_extended_err ee;
	struct sockaddr_in to; /* where the packet was to go */
	struct sk_buff *skb;   /* the message of ICMP, `data` at the program's bytes of the packet; NULL: none */
	int truesize;	       /* bytes of memory that it counts for */
};

static void free_error(struct inet_error *e)
{
	if (e->skb)
		consume_skb(e->skb);
	kfree(e);
}

/* To the end of the queue, if it has room. Takes e over. Thread context or softirq. */
static void queue_error(struct inet_sock *inet, struct inet_error *e)
{
	bool queued;

	e->truesize = ksize(e) + (e->skb ? e->skb->truesize : 0);
	spin_lock_bh(&inet->queue_lock);
	queued = !inet->dead && inet->rmem + e->truesize < READ_ONCE(inet->sk.rcvbuf) &&
		 inet_add_rmem(inet, e->truesize);
	if (queued)
		list_add_tail(&e->list, &inet->errors);
	spin_unlock_bh(&inet->queue_lock);
	if (queued)
		wake_up_interruptible_all(&inet->sk.wait);
	else
		free_error(e);
}

/* A message of ICMP becomes an error in the queue; without memory it does not. */
static void queue_icmp_error(struct inet_sock *inet, const struct inet_icmp_error *from)
{
	const struct icmphdr *icmp = (const struct icmphdr *)from->skb->data;
	struct inet_error *e = kzalloc(sizeof(*e), GFP_ATOMIC);

	if (!e)
		return;
	e->skb = skb_copy(from->skb);
	if (!e->skb) {
		kfree(e);
		return;
	}
	skb_pull(e->skb, from->bytes - from->skb->data);
	e->ee = (struct sock_extended_err){
		.ee_errno = from->error,
		.ee_origin = SO_EE_ORIGIN_ICMP,
		.ee_type = icmp->type,
		.ee_code = icmp->code,
	};
	e->to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = from->port, .sin_addr = from->daddr};
	queue_error(inet, e);
}

void inet_icmp_error(struct inet_sock *inet, const struct inet_icmp_error *from)
{
	if (READ_ONCE(inet->recverr))
		queue_icmp_error(inet, from);
	else if (!READ_ONCE(inet->connected))
		return;
	WRITE_ONCE(inet->sk.error, from->error);
	wake_up_interruptible_all(&inet->sk.wait);
}

void inet_local_error(struct inet_sock *inet, int error, u32 daddr, u32 info)
{
	struct inet_error *e = READ_ONCE(inet->recverr) ? kzalloc(sizeof(*e), GFP_KERNEL) : NULL;

	if (!e)
		return;
	e->ee = (struct sock_extended_err){.ee_errno = error, .ee_origin = SO_EE_ORIGIN_LOCAL, .ee_info = info};
	e->to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = READ_ONCE(inet->dport), .sin_addr = daddr};
	queue_error(inet, e);
}

/*
 * The oldest error; NULL. What is told as errno was the last that came: it is now that of the next message of ICMP in
 * the queue, or 0 when there was only this one. As on Linux.
 */
static struct inet_error *first_error(struct inet_sock *inet)
{
	struct inet_error *e, *next = NULL;
	bool icmp_next = false;

	spin_lock_bh(&inet->queue_lock);
	e = list_first_entry_or_null(&inet->errors, struct inet_error, list);
	if (e) {
		list_del(&e->list);
		inet_sub_rmem(inet, e->truesize);
		next = list_first_entry_or_null(&inet->errors, struct inet_error, list);
		icmp_next = next && next->ee.ee_origin == SO_EE_ORIGIN_ICMP;
		if (icmp_next)
			WRITE_ONCE(inet->sk.error, next->ee.ee_errno);
		else if (e->ee.ee_origin == SO_EE_ORIGIN_ICMP)
			WRITE_ONCE(inet->sk.error, 0);
	}
	spin_unlock_bh(&inet->queue_lock);
	if (next)
		wake_up_interruptible_all(&inet->sk.wait);
	return e;
}

/* The error, and the address of the machine that has sent it, if one has. */
static void tell_error(const struct inet_error *e, struct sock_io *io)
{
	struct {
		struct sock_extended_err ee;
		struct sockaddr_in offender;
	} told = {.ee = e->ee};

	if (e->skb) {
		told.offender.sin_family = AF_INET;
		told.offender.sin_addr = ((const struct iphdr *)e->skb->network_header)->saddr;
	}
	sock_io_beside(io, SOL_IP, IP_RECVERR, &told, sizeof(told));
}

/* The bytes are lost when there is no room for them, as with a packet; the error, too, when memory is missing there. */
ssize_t inet_recv_error(struct inet_sock *inet, struct sock_io *io)
{
	struct inet_error *e = first_error(inet);
	size_t all, n;
	int err = 0;

	if (!e)
		return -EAGAIN;
	all = e->skb ? e->skb->len : 0;
	n = min(io->left, all);
	if (n)
		err = sock_io_to_user(io, e->skb->data, n);
	if (!err) {
		*(struct sockaddr_in *)&io->addr = e->to;
		io->addr_len = sizeof(e->to);
		if (e->skb)
			inet_tell_beside(inet, e->skb, io);
		tell_error(e, io);
		io->out_flags |= MSG_ERRQUEUE | (n < all ? MSG_TRUNC : 0);
	}
	free_error(e);
	return err ? err : (ssize_t)n;
}

void inet_purge_errors(struct inet_sock *inet)
{
	struct inet_error *e, *next;
	LIST_HEAD(left);

	spin_lock_bh(&inet->queue_lock);
	list_splice_tail_init(&inet->errors, &left);
	list_for_each_entry(e, &left, list)
		inet_sub_rmem(inet, e->truesize);
	spin_unlock_bh(&inet->queue_lock);
	list_for_each_entry_safe(e, next, &left, list)
		free_error(e);
}
