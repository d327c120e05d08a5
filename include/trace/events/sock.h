/* Tracepoints of sockets. Fields and texts are Linux's. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sock

#if !defined(_TRACE_SOCK_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_SOCK_H

#include <net/sock.h>
#include <trace/tracepoint.h>
#include <uapi/in.h>

#define show_family_name(val) __print_symbolic(val, { 2, "AF_INET" })
#define show_inet_protocol_name(val) \
	__print_symbolic(val, { 1, "IPPROTO_ICMP" }, { 6, "IPPROTO_TCP" }, { 17, "IPPROTO_UDP" })

/* A packet finds no room; rmem_alloc: bytes of memory of those that wait. Softirq. */
TRACE_EVENT(sock_rcvqueue_full,
	TP_PROTO(int rmem, unsigned int truesize, int rcvbuf),
	TP_ARGS(rmem, truesize, rcvbuf),
	TP_STRUCT__entry(
		__field(int, rmem_alloc)
		__field(unsigned int, truesize)
		__field(int, sk_rcvbuf)
	),
	TP_fast_assign(
		__entry->rmem_alloc = rmem;
		__entry->truesize = truesize;
		__entry->sk_rcvbuf = rcvbuf;
	),
	TP_printk("rmem_alloc=%d truesize=%u sk_rcvbuf=%d", __entry->rmem_alloc, __entry->truesize,
		__entry->sk_rcvbuf)
);

/* A packet has joined the queue of a socket of AF_INET; func: who tells the program. Softirq. */
TRACE_EVENT(sk_data_ready,
	TP_PROTO(const struct sock *sk, void *func),
	TP_ARGS(sk, func),
	TP_STRUCT__entry(
		__field(const void *, skaddr)
		__field(__u16, family)
		__field(__u16, protocol)
		__field(unsigned long, ip)
	),
	TP_fast_assign(
		__entry->skaddr = sk;
		__entry->family = sk->ops->family;
		__entry->protocol = sk->protocol;
		__entry->ip = (unsigned long)func;
	),
	TP_printk("family=%u protocol=%u func=%ps", __entry->family, __entry->protocol, (void *)__entry->ip)
);

DECLARE_EVENT_CLASS(sock_msg_length,
	TP_PROTO(struct sock *sk, int ret, int flags),
	TP_ARGS(sk, ret, flags),
	TP_STRUCT__entry(
		__field(void *, sk)
		__field(__u16, family)
		__field(__u16, protocol)
		__field(int, ret)
		__field(int, flags)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->family = sk->ops->family;
		__entry->protocol = sk->protocol;
		__entry->ret = ret;
		__entry->flags = flags;
	),
	TP_printk("sk address = %p, family = %s protocol = %s, length = %d, error = %d, flags = 0x%x", __entry->sk,
		show_family_name(__entry->family), show_inet_protocol_name(__entry->protocol),
		!(__entry->flags & 2) ? (__entry->ret > 0 ? __entry->ret : 0) : 0,
		__entry->ret < 0 ? __entry->ret : 0, __entry->flags)
);

/* At the end of each call that sends or receives, of every family. The length is 0 when MSG_PEEK (2) is set. */
DEFINE_EVENT(sock_msg_length, sock_send_length, TP_PROTO(struct sock *sk, int ret, int flags), TP_ARGS(sk, ret, flags));
DEFINE_EVENT(sock_msg_length, sock_recv_length, TP_PROTO(struct sock *sk, int ret, int flags), TP_ARGS(sk, ret, flags));

#endif

#include <trace/define_trace.h>
