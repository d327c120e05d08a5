/* What the files of AF_INET share. Addresses and ports are big-endian, as in packets, if nothing else is said. */
#pragma once

#include <lib/list.h>
#include <net/netdevice.h>
#include <net/sock.h>
#include <sched/spinlock.h>

struct inet_sock;

/* Both are big-endian machine words of little-endian machines. */
static inline u16 htons(u16 v)
{
	return __builtin_bswap16(v);
}
static inline u32 htonl(u32 v)
{
	return __builtin_bswap32(v);
}
#define ntohs(v) htons(v)
#define ntohl(v) htonl(v)

/* One packet on its way: its two addresses, and what its header says. */
struct inet_flow {
	u32 saddr, daddr;
	u16 sport, dport; /* 0: the protocol has none */
	unsigned num;	  /* arriving: under which number sockets look for it, as inet_sock.num */
	u8 protocol, ttl, tos;
};

/* An error about a packet of ours: the message that tells of it, and what follows from what that quotes. */
struct inet_icmp_error {
	const struct sk_buff *skb; /* `data` at the header of ICMP */
	const u8 *bytes;	   /* of the quoted packet, in skb: what a program gets that asks */
	u32 daddr;		   /* where that packet was to go */
	u16 port;		   /* 0: the protocol has none */
	int error;		   /* above 0 */
};

/* A kind of socket. */
struct inet_proto {
	int type;		  /* SOCK_* */
	int protocol;		  /* IPPROTO_*; 0: any */
	const char *name;	  /* its file in /proc/net */
	bool has_num;		  /* sockets have numbers (ports, identifiers of echos); else it is the protocol's */
	unsigned header;	  /* bytes of a header that the program does not see */
	bool whole;		  /* the program gets packets from their header of IP on */
	int (*allowed)(void);	  /* may the caller make one? 0 or -errno */
	struct hlist_head *table; /* [t] its sockets with a number, HASH_SIZE lists by that number */
	/* Complete a packet that holds what the program wants to send. 0 or -errno. Thread context. */
	int (*prepare)(struct inet_sock *inet, struct sk_buff *skb, const struct inet_flow *flow);
};
extern const struct inet_proto udp_proto, raw_proto, ping_proto;
#define HASH_BITS 8
#define HASH_SIZE (1 << HASH_BITS)

/* Guards the tables of sockets, and the two addresses of each socket. Softirqs off; outside queue_lock. */
extern spinlock_t inet_lock;

/* Locks: t inet_lock; q queue_lock; a atomic, or read and written whole; I immutable. */
struct inet_sock {
	struct sock sk;
	const struct inet_proto *proto; /* [I] */
	struct hlist_node node;		/* [t] in proto->table, once it has a number */
	unsigned num;			/* [t] host's order: its port, identifier or protocol; 0: none yet */
	u32 rcv_saddr;			/* [t] it receives what is sent there; 0: to any address */
	u32 saddr;			/* [t] from where it sends; 0: not said */
	u32 daddr;			/* [t] the address that it is connected to */
	u16 dport;			/* [t] */
	bool connected;			/* [t] */
	bool bound_addr, bound_num;	/* [t] by bind(2): they stay when the connection ends */
	unsigned shutdown;		/* [a] */

	spinlock_t queue_lock;	 /* softirqs off */
	struct list_head queue;	 /* [q] packets for it, oldest first */
	struct list_head errors; /* [q] about packets of its own, oldest first (inet_error.c) */
	bool dead;		 /* [q] its file is gone, so both queues stay empty */
	int rmem;		 /* [q] bytes of memory of those packets and errors */
	atomic_t wmem;		 /* [a] bytes of memory of packets that are on their way out */
	atomic_t drops;		 /* [a] packets that there was no room for */

	bool pktinfo, recvttl, recvtos; /* [a] what programs want to know of a packet (ip(7)) */
	bool recverr;			/* [a] and of each error */
	u8 tos;				/* [a] */
	u8 ttl;				/* [a] 0: the default */
	u32 icmp_filter;		/* [a] raw sockets: types of ICMP that it does not want, a bit each */
};
static inline struct inet_sock *inet_sk(struct sock *sk)
{
	return container_of(sk, struct inet_sock, sk);
}
void inet_put(struct inet_sock *inet); /* NULL is allowed. Thread context or softirq */

/* [q] So many bytes more in its two queues, if its user may have them. */
static inline bool inet_add_rmem(struct inet_sock *inet, unsigned bytes)
{
	if (!sock_memory(&inet->sk, inet->rmem + bytes))
		return false;
	inet->rmem += bytes;
	return true;
}
/* [q] So many less. */
static inline void inet_sub_rmem(struct inet_sock *inet, unsigned bytes)
{
	inet->rmem -= bytes;
	sock_memory(&inet->sk, inet->rmem);
}

/* inet_table.c. Thread context. */
/* A number, or with 0 a free one, and the address to receive at. 0 or -EADDRINUSE. */
int inet_take_num(struct inet_sock *inet, unsigned num, u32 addr, bool bound);
int inet_autobind(struct inet_sock *inet); /* any number, if it has none. 0 or -EAGAIN */
void inet_hash(struct inet_sock *inet);	   /* [t] it can be found */
void inet_unhash(struct inet_sock *inet);  /* [t] it cannot any more, and has no number */
/* The socket that a packet is for, with a reference; NULL: there is none. Softirq. */
struct inet_sock *inet_lookup(const struct inet_proto *proto, const struct inet_flow *flow);
/* A copy for each socket that wants it; how many have asked. Softirq. */
unsigned inet_deliver_all(const struct inet_proto *proto, const struct inet_flow *flow, const struct sk_buff *skb);
/* Give the packet to the socket. 0, or the reason why it was not taken: then it stays the caller's. Softirq. */
enum skb_drop_reason inet_queue_rcv(struct inet_sock *inet, struct sk_buff *skb);
/* Tell each socket that could have sent the packet `error` is about: flow is that of an answer to it. Softirq. */
void inet_error_all(const struct inet_proto *proto, const struct inet_flow *flow, const struct inet_icmp_error *error);

/* inet_error.c */
/* A message of ICMP that tells of an error, about a packet that the socket has sent. Softirq. */
void inet_icmp_error(struct inet_sock *inet, const struct inet_icmp_error *from);
/* A packet to daddr that was never sent; info: see struct sock_extended_err. Thread context. */
void inet_local_error(struct inet_sock *inet, int error, u32 daddr, u32 info);
/* recvmsg(MSG_ERRQUEUE): never waits. Bytes of the packet, or -EAGAIN, -EFAULT. Thread context. */
ssize_t inet_recv_error(struct inet_sock *inet, struct sock_io *io);
void inet_purge_errors(struct inet_sock *inet); /* thread context */

/* inet_msg.c */
ssize_t inet_sendmsg(struct sock *sk, struct sock_io *io);
ssize_t inet_recvmsg(struct sock *sk, struct sock_io *io);
/* The control messages about a packet that the program has asked for. Thread context. */
void inet_tell_beside(const struct inet_sock *inet, const struct sk_buff *skb, struct sock_io *io);

/* inet_sockopt.c */
int inet_setsockopt(struct sock *sk, int level, int optname, const void __user *optval, int optlen);
int inet_getsockopt(struct sock *sk, int level, int optname, void __user *optval, int __user *optlen);

/* ip.c */
#define IP_HEADROOM    (16 + sizeof(struct iphdr)) /* of a packet: Ethernet's header, with 2 bytes to align, and IP's */
#define IP_DEFAULT_TTL 64
#define IP_MAX_MTU     0xffffU /* bytes of a packet, whatever the device takes */
unsigned inet_mtu(void);       /* of the longest packet that is sent. Any context */
int ip_route(u32 daddr);       /* 0: to this machine; -ENETUNREACH. Any context */
bool ip_is_broadcast(u32 addr);
bool ip_is_local(u32 addr); /* an address of this machine. Any context */
/* Put the header in front and send. Takes skb over. 0 or -errno. Thread context or softirq. */
int ip_send_skb(struct sk_buff *skb, const struct inet_flow *flow);
void ip_rcv(struct sk_buff *skb); /* takes skb over. Softirq */
/* The sum of RFC 1071 over bytes and an earlier sum; what goes into a header of it. Any context. */
u64 csum_partial(const void *bytes, size_t n, u64 sum);
u16 csum_fold(u64 sum);

/* icmp.c: softirq. */
void icmp_rcv(struct sk_buff *skb);			     /* takes skb over */
void icmp_send(const struct sk_buff *skb, u8 type, u8 code); /* about a packet that arrived */
void icmp_out_count(u8 type);				     /* any context */

/* udp.c: softirq. */
void udp_rcv(struct sk_buff *skb); /* takes skb over */

/* dev.c, dev_ioctl.c */
long dev_ioctl(unsigned cmd, unsigned long arg); /* thread context. 0, -ENOTTY or -errno */

/* inet_proc.c */
enum inet_counter {
	IP_INRECEIVES,
	IP_INUNKNOWNPROTOS,
	IP_INDELIVERS,
	IP_OUTREQUESTS,
	IP_OUTNOROUTES,
	ICMP_INMSGS,
	ICMP_INERRORS,
	ICMP_INCSUMERRORS,
	ICMP_INDESTUNREACHS,
	ICMP_INECHOS,
	ICMP_INECHOREPS,
	ICMP_OUTMSGS,
	ICMP_OUTDESTUNREACHS,
	ICMP_OUTECHOS,
	ICMP_OUTECHOREPS,
	UDP_INDATAGRAMS,
	UDP_NOPORTS,
	UDP_INERRORS,
	UDP_OUTDATAGRAMS,
	UDP_RCVBUFERRORS,
	UDP_INCSUMERRORS,
	NR_INET_COUNTERS,
};
extern atomic64_t inet_counters[NR_INET_COUNTERS];
static inline void inet_count(enum inet_counter c)
{
	atomic64_inc(&inet_counters[c]);
}
/* Two numbers that are read and written as one word: low | high << 32. */
extern u64 ping_group_range, local_port_range; /* [a] */
