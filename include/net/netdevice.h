/* Network devices. There is one, lo, whose packets come back to this machine (kernel/net/inet/dev.c). */
#pragma once

#include <lib/atomic.h>
#include <net/skbuff.h>
#include <uapi/if.h>

/* Locks: a atomic; I immutable. */
struct net_device {
	char name[IFNAMSIZ];		    /* [I] */
	int ifindex;			    /* [I] */
	unsigned mtu;			    /* [I] bytes */
	u32 addr, netmask;		    /* [I] big-endian */
	unsigned flags;			    /* [a] IFF_* */
	atomic64_t packets, bytes, dropped; /* [a] what is sent is received; lost on the way */
};
extern struct net_device loopback_dev;

/* Send a packet that has all its headers but Ethernet's. Takes it over. 0, -ENETDOWN. Thread context or softirq. */
int dev_queue_xmit(struct sk_buff *skb);
