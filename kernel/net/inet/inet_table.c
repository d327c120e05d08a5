/*
 * Which socket a packet is for. Each kind has a table of its sockets by their numbers: ports, identifiers of echos,
 * protocols. Whoever finds a socket takes a reference before inet_lock is released, so it may be closed meanwhile: then
 * its queue takes nothing more.
 */
#include "inet.h"

#include <kernel/random.h>
#include <lib/errno.h>
#include <time/clock.h>
#include <trace/events/sock.h>

DEFINE_SPINLOCK(inet_lock);

static struct hlist_head *bucket(const struct inet_proto *proto, unsigned num)
{
	return &proto->table[num % HASH_SIZE];
}

void inet_hash(struct inet_sock *inet)
{
	hlist_add_head(&inet->node, bucket(inet->proto, inet->num));
}

void inet_unhash(struct inet_sock *inet)
{
	if (inet->node.pprev)
		hlist_del(&inet->node);
	inet->node.pprev = NULL;
	inet->num = 0;
}

/* [t] Has another socket this number, at an address that would be this one's too? */
static bool num_in_use(const struct inet_sock *inet, unsigned num, u32 addr)
{
	const struct inet_sock *other;

	hlist_for_each_entry(other, bucket(inet->proto, num), node)
		if (other->num == num && (!other->rcv_saddr || !addr || other->rcv_saddr == addr) &&
		    !(READ_ONCE(other->sk.reuseaddr) && READ_ONCE(inet->sk.reuseaddr)))
			return true;
	return false;
}

/* -EINVAL: it has a number, which another thread gave it. */
static int take_this_num(struct inet_sock *inet, unsigned num, u32 addr, bool bound)
{
	int err = 0;

	spin_lock_bh(&inet_lock);
	if (inet->num) {
		err = -EINVAL;
	} else if (num_in_use(inet, num, addr)) {
		err = -EADDRINUSE;
	} else {
		inet->num = num;
		if (addr)
			inet->rcv_saddr = inet->saddr = addr;
		inet->bound_addr |= addr;
		inet->bound_num = bound;
		inet_hash(inet);
	}
	spin_unlock_bh(&inet_lock);
	return err;
}

/* A free one is looked for from a random place on. The lock is held for one number at a time. */
int inet_take_num(struct inet_sock *inet, unsigned num, u32 addr, bool bound)
{
	u64 range = READ_ONCE(local_port_range);
	u32 low = range, n = (range >> 32) - low + 1, at;
	int err = -EADDRINUSE;

	if (num)
		return take_this_num(inet, num, addr, bound);
	get_random_bytes(&at, sizeof(at));
	for (u32 i = 0; i < n && err == -EADDRINUSE; i++)
		err = take_this_num(inet, low + (at % n + i) % n, addr, false);
	return err;
}

int inet_autobind(struct inet_sock *inet)
{
	int err = READ_ONCE(inet->num) ? 0 : inet_take_num(inet, 0, 0, false);

	return err && !READ_ONCE(inet->num) ? -EAGAIN : 0;
}

/* [t] How closely a socket asks for such packets, and so before others; -1: it wants none. */
static int score_of(const struct inet_sock *inet, const struct inet_flow *flow)
{
	int score = 0;

	if (inet->num != flow->num || (inet->rcv_saddr && inet->rcv_saddr != flow->daddr))
		return -1;
	score += inet->rcv_saddr != 0;
	if (!inet->connected)
		return score;
	if (inet->daddr != flow->saddr || (inet->dport && flow->sport && inet->dport != flow->sport))
		return -1;
	return score + 2;
}

/* Of those that ask alike it is the one that was bound last. */
struct inet_sock *inet_lookup(const struct inet_proto *proto, const struct inet_flow *flow)
{
	struct inet_sock *inet, *best = NULL;
	int score, best_score = -1;

	spin_lock(&inet_lock);
	hlist_for_each_entry(inet, bucket(proto, flow->num), node) {
		score = score_of(inet, flow);
		if (score > best_score) {
			best = inet;
			best_score = score;
		}
	}
	if (best)
		atomic_inc(&best->sk.refs);
	spin_unlock(&inet_lock);
	return best;
}

/* A raw socket may want only some types of ICMP. */
static bool filtered(const struct inet_sock *inet, const struct sk_buff *skb)
{
	return inet->proto == &raw_proto && inet->num == IPPROTO_ICMP && skb->len && skb->data[0] < 32 &&
	       READ_ONCE(inet->icmp_filter) >> skb->data[0] & 1;
}

/* [t] */
static void deliver_copy(struct inet_sock *inet, const struct sk_buff *skb)
{
	struct sk_buff *copy = skb_copy(skb);
	enum skb_drop_reason reason;

	if (!copy) {
		atomic_inc(&inet->drops);
		return;
	}
	if (inet->proto->whole)
		skb_push(copy, copy->data - copy->network_header);
	reason = inet_queue_rcv(inet, copy);
	if (reason)
		kfree_skb_reason(copy, reason);
}

/* A socket whose filter refuses the packet counts all the same: the protocol is one that somebody listens to. */
unsigned inet_deliver_all(const struct inet_proto *proto, const struct inet_flow *flow, const struct sk_buff *skb)
{
	struct inet_sock *inet;
	unsigned n = 0;

	spin_lock(&inet_lock);
	hlist_for_each_entry(inet, bucket(proto, flow->num), node) {
		if (score_of(inet, flow) < 0)
			continue;
		n++;
		if (!filtered(inet, skb))
			deliver_copy(inet, skb);
	}
	spin_unlock(&inet_lock);
	return n;
}

void inet_error_all(const struct inet_proto *proto, const struct inet_flow *flow, const struct inet_icmp_error *error)
{
	struct inet_sock *inet;

	spin_lock(&inet_lock);
	hlist_for_each_entry(inet, bucket(proto, flow->num), node)
		if (score_of(inet, flow) >= 0)
			inet_icmp_error(inet, error);
	spin_unlock(&inet_lock);
}

/* There is something to receive. */
static void noinline sock_def_readable(struct sock *sk)
{
	trace_sk_data_ready(sk, sock_def_readable);
	wake_up_interruptible_all(&sk->wait);
}

/*
 * A queue takes packets while it has less than SO_RCVBUF bytes, so the last may go beyond, and one always has room: as
 * on Linux. A packet that the socket's user has no memory for is lost in the same way.
 */
enum skb_drop_reason inet_queue_rcv(struct inet_sock *inet, struct sk_buff *skb)
{
	enum skb_drop_reason reason = 0;
	int rcvbuf = READ_ONCE(inet->sk.rcvbuf);

	skb->tstamp = READ_ONCE(inet->sk.timestamp) ? ktime_get_real_ns() : 0;
	spin_lock(&inet->queue_lock);
	if (inet->dead) {
		reason = SKB_DROP_REASON_SOCKET_CLOSE;
	} else if (inet->rmem > rcvbuf || !inet_add_rmem(inet, skb->truesize)) {
		reason = SKB_DROP_REASON_SOCKET_RCVBUFF;
		atomic_inc(&inet->drops);
	} else {
		list_add_tail(&skb->list, &inet->queue);
	}
	spin_unlock(&inet->queue_lock);
	if (!reason)
		sock_def_readable(&inet->sk);
	else if (reason == SKB_DROP_REASON_SOCKET_RCVBUFF)
		trace_sock_rcvqueue_full(READ_ONCE(inet->rmem), skb->truesize, rcvbuf);
	return reason;
}
