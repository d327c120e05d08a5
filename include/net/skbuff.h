/*
 * Packets: struct sk_buff, named as in Linux. A packet is one piece of memory: this head, and behind it the bytes, with
 * room in front of them for the headers that each layer puts there on the way down and takes off on the way up.
 *
 *	head ... | data ... data + len | ... end
 *		 ^ skb_push() moves it back, skb_pull() forth
 */
#pragma once

#include <lib/atomic.h>
#include <lib/list.h>
#include <mm/gfp.h>

struct net_device;
struct sock;

/* Why a packet was given up. The numbers are our own: Linux's change with its versions. Tracers show the names. */
enum skb_drop_reason {
	SKB_DROP_REASON_NOT_SPECIFIED = 2,
	SKB_DROP_REASON_NO_SOCKET,
	SKB_DROP_REASON_SOCKET_CLOSE,
	SKB_DROP_REASON_SOCKET_RCVBUFF,
	SKB_DROP_REASON_PKT_TOO_SMALL,
	SKB_DROP_REASON_UDP_CSUM,
	SKB_DROP_REASON_ICMP_CSUM,
	SKB_DROP_REASON_IP_NOPROTO,
	SKB_DROP_REASON_CPU_BACKLOG,
	SKB_DROP_REASON_QUEUE_PURGE,
	SKB_DROP_REASON_SKB_UCOPY_FAULT,
};

/* Locks: q that of the queue it is in; a atomic; I immutable once it is on its way; else its owner's alone. */
struct sk_buff {
	struct list_head list; /* [q] */
	atomic_t users;	       /* [a] */
	struct sock *sk;       /* the socket whose memory for sending it counts in, with a reference; NULL: none does */
	struct net_device *dev;
	u64 tstamp;	   /* [I] ns of CLOCK_REALTIME at which a socket got it; 0: not asked for */
	unsigned protocol; /* what an Ethernet header says is inside: ETH_P_IP */
	unsigned truesize; /* [I] bytes of memory that it takes */
	unsigned char *network_header;
	unsigned char *data; /* from here on `len` bytes */
	unsigned len;
	unsigned char head[] __attribute__((aligned(8)));
};
#define ETH_P_IP 0x0800

/*
 * A packet with `headroom` bytes of room in front of `size` bytes of data, which are not set yet. NULL: no memory.
 * Thread context or softirq, as gfp says.
 */
struct sk_buff *alloc_skb(unsigned headroom, unsigned size, gfp_t gfp);
/* Another packet with the same bytes, from its network header on; `data` stands at the same place. Softirq. */
struct sk_buff *skb_copy(const struct sk_buff *skb);
static inline struct sk_buff *skb_get(struct sk_buff *skb)
{
	atomic_inc(&skb->users);
	return skb;
}
/* It belongs to nobody from now on, and counts no more. Thread context or softirq. */
void skb_orphan(struct sk_buff *skb);
/* Drop a reference: the packet has done its work, or (kfree_skb_reason) is lost. Thread context or softirq. */
void consume_skb(struct sk_buff *skb);
void kfree_skb_reason(struct sk_buff *skb, enum skb_drop_reason reason);

/* n bytes more in front: where they begin. The maker of the packet has left room. */
static inline void *skb_push(struct sk_buff *skb, unsigned n)
{
	skb->len += n;
	return skb->data -= n;
}
/* n bytes less in front; the packet has them. */
static inline void *skb_pull(struct sk_buff *skb, unsigned n)
{
	skb->len -= n;
	return skb->data += n;
}
