/* Tracepoints of the ends of packets. Fields and texts are Linux's, but for rx_sk, which is in Linux since 6.11. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM skb

#if !defined(_TRACE_SKB_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_SKB_H

#include <net/skbuff.h>
#include <trace/tracepoint.h>

TRACE_DEFINE_ENUM(SKB_DROP_REASON_NOT_SPECIFIED);
TRACE_DEFINE_ENUM(SKB_DROP_REASON_NO_SOCKET);
TRACE_DEFINE_ENUM(SKB_DROP_REASON_SOCKET_CLOSE);
TRACE_DEFINE_ENUM(SKB_DROP_REASON_SOCKET_RCVBUFF);
TRACE_DEFINE_ENUM(SKB_DROP_REASON_PKT_TOO_SMALL);
TRACE_DEFINE_ENUM(SKB_DROP_REASON_UDP_CSUM);
TRACE_DEFINE_ENUM(SKB_DROP_REASON_ICMP_CSUM);
TRACE_DEFINE_ENUM(SKB_DROP_REASON_IP_NOPROTO);
TRACE_DEFINE_ENUM(SKB_DROP_REASON_CPU_BACKLOG);
TRACE_DEFINE_ENUM(SKB_DROP_REASON_QUEUE_PURGE);
TRACE_DEFINE_ENUM(SKB_DROP_REASON_SKB_UCOPY_FAULT);

#define show_drop_reason(reason)                                                                                  \
	__print_symbolic(reason, { SKB_DROP_REASON_NOT_SPECIFIED, "NOT_SPECIFIED" },                               \
		{ SKB_DROP_REASON_NO_SOCKET, "NO_SOCKET" }, { SKB_DROP_REASON_SOCKET_CLOSE, "SOCKET_CLOSE" },       \
		{ SKB_DROP_REASON_SOCKET_RCVBUFF, "SOCKET_RCVBUFF" },   \
		{ SKB_DROP_REASON_PKT_TOO_SMALL, "PKT_TOO_SMALL" }, { SKB_DROP_REASON_UDP_CSUM, "UDP_CSUM" },       \
		{ SKB_DROP_REASON_ICMP_CSUM, "ICMP_CSUM" }, { SKB_DROP_REASON_IP_NOPROTO, "IP_NOPROTO" },           \
		{ SKB_DROP_REASON_CPU_BACKLOG, "CPU_BACKLOG" }, { SKB_DROP_REASON_QUEUE_PURGE, "QUEUE_PURGE" },     \
		{ SKB_DROP_REASON_SKB_UCOPY_FAULT, "SKB_UCOPY_FAULT" })

/* It is lost, for this reason; location: the code that gave it up. Its memory goes right after. */
TRACE_EVENT(kfree_skb,
	TP_PROTO(struct sk_buff *skb, void *location, enum skb_drop_reason reason),
	TP_ARGS(skb, location, reason),
	TP_STRUCT__entry(
		__field(void *, skbaddr)
		__field(void *, location)
		__field(unsigned short, protocol)
		__field(enum skb_drop_reason, reason)
	),
	TP_fast_assign(
		__entry->skbaddr = skb;
		__entry->location = location;
		__entry->protocol = skb->protocol;
		__entry->reason = reason;
	),
	TP_printk("skbaddr=%p protocol=%u location=%pS reason: %s", __entry->skbaddr, __entry->protocol,
		__entry->location, show_drop_reason(__entry->reason))
);

/* It has done its work. */
TRACE_EVENT(consume_skb,
	TP_PROTO(struct sk_buff *skb, void *location),
	TP_ARGS(skb, location),
	TP_STRUCT__entry(
		__field(void *, skbaddr)
		__field(void *, location)
	),
	TP_fast_assign(
		__entry->skbaddr = skb;
		__entry->location = location;
	),
	TP_printk("skbaddr=%p location=%pS", __entry->skbaddr, __entry->location)
);

/* A program is about to get len bytes of it. */
TRACE_EVENT(skb_copy_datagram_iovec,
	TP_PROTO(const struct sk_buff *skb, int len),
	TP_ARGS(skb, len),
	TP_STRUCT__entry(
		__field(const void *, skbaddr)
		__field(int, len)
	),
	TP_fast_assign(
		__entry->skbaddr = skb;
		__entry->len = len;
	),
	TP_printk("skbaddr=%p len=%d", __entry->skbaddr, __entry->len)
);

#endif

#include <trace/define_trace.h>
