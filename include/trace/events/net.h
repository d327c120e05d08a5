/* Tracepoints of packets on their way through a device. Fields and texts are Linux's. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM net

#if !defined(_TRACE_NET_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_NET_H

#include <net/netdevice.h>
#include <trace/tracepoint.h>

/* The device has taken it: rc 0. By now the packet may be another's or gone. Softirqs off. */
TRACE_EVENT(net_dev_xmit,
	TP_PROTO(struct sk_buff *skb, int rc, struct net_device *dev, unsigned int skb_len),
	TP_ARGS(skb, rc, dev, skb_len),
	TP_STRUCT__entry(
		__field(void *, skbaddr)
		__field(unsigned int, len)
		__field(int, rc)
		__string(name, dev->name)
	),
	TP_fast_assign(
		__entry->skbaddr = skb;
		__entry->len = skb_len;
		__entry->rc = rc;
		__assign_str(name);
	),
	TP_printk("dev=%s skbaddr=%p len=%u rc=%d", __get_str(name), __entry->skbaddr, __entry->len, __entry->rc)
);

DECLARE_EVENT_CLASS(net_dev_template,
	TP_PROTO(struct sk_buff *skb),
	TP_ARGS(skb),
	TP_STRUCT__entry(
		__field(void *, skbaddr)
		__field(unsigned int, len)
		__string(name, skb->dev->name)
	),
	TP_fast_assign(
		__entry->skbaddr = skb;
		__entry->len = skb->len;
		__assign_str(name);
	),
	TP_printk("dev=%s skbaddr=%p len=%u", __get_str(name), __entry->skbaddr, __entry->len)
);

/* It is about to go out, with the device's header: 14 bytes. Softirqs off. */
DEFINE_EVENT(net_dev_template, net_dev_queue, TP_PROTO(struct sk_buff *skb), TP_ARGS(skb));
/* It has arrived, without that header, and joins the CPU's list. Softirqs off. */
DEFINE_EVENT(net_dev_template, netif_rx, TP_PROTO(struct sk_buff *skb), TP_ARGS(skb));
/* It has left that list and goes up. In the softirq NET_RX. */
DEFINE_EVENT(net_dev_template, netif_receive_skb, TP_PROTO(struct sk_buff *skb), TP_ARGS(skb));

#endif

#include <trace/define_trace.h>
