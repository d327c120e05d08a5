/*
 * UDP. Datagrams are sent without a checksum, which IPv4 allows: they never leave this machine's memory. One that a raw
 * socket has sent may have one, and then it must be right.
 */
#include "inet.h"

#include <lib/errno.h>
#include <trace/events/udp.h>

static int udp_allowed(void)
{
	return 0;
}

static int udp_prepare(struct inet_sock *inet, struct sk_buff *skb, const struct inet_flow *flow)
{
	struct udphdr *uh = skb_push(skb, sizeof(*uh));

	*uh = (struct udphdr){.source = flow->sport, .dest = flow->dport, .len = htons(skb->len)};
	inet_count(UDP_OUTDATAGRAMS);
	return 0;
}

/* Why a datagram is none, or 0. */
static enum skb_drop_reason udp_check(const struct sk_buff *skb)
{
	const struct iphdr *iph = (const struct iphdr *)skb->network_header;
	const struct udphdr *uh = (const struct udphdr *)skb->data;
	u64 sum;

	if (skb->len < sizeof(*uh) || ntohs(uh->len) < sizeof(*uh) || ntohs(uh->len) > skb->len)
		return SKB_DROP_REASON_PKT_TOO_SMALL;
	if (!uh->check)
		return 0;
	sum = csum_partial(&iph->saddr, 2 * sizeof(iph->saddr), htons(IPPROTO_UDP) + (u64)uh->len);
	return csum_fold(csum_partial(uh, ntohs(uh->len), sum)) ? SKB_DROP_REASON_UDP_CSUM : 0;
}

/* For one socket. */
static void udp_unicast(struct sk_buff *skb, const struct inet_flow *flow)
{
	struct inet_sock *inet = inet_lookup(&udp_proto, flow);
	enum skb_drop_reason reason;

	if (!inet) {
		inet_count(UDP_NOPORTS);
		icmp_send(skb, ICMP_DEST_UNREACH, ICMP_PORT_UNREACH);
		kfree_skb_reason(skb, SKB_DROP_REASON_NO_SOCKET);
		return;
	}
	skb_pull(skb, sizeof(struct udphdr));
	reason = inet_queue_rcv(inet, skb);
	if (reason == SKB_DROP_REASON_SOCKET_RCVBUFF) {
		inet_count(UDP_RCVBUFERRORS);
		inet_count(UDP_INERRORS);
		trace_udp_fail_queue_rcv_skb(-ENOMEM, flow->num);
	}
	if (reason)
		kfree_skb_reason(skb, reason);
	inet_put(inet);
}

/*
 * The length in the header may be less than what came: what lies beyond it does not belong to the datagram. A broadcast
 * goes to all sockets that want it, and it is no error when there are none.
 */
void udp_rcv(struct sk_buff *skb)
{
	const struct iphdr *iph = (const struct iphdr *)skb->network_header;
	const struct udphdr *uh = (const struct udphdr *)skb->data;
	enum skb_drop_reason reason = udp_check(skb);
	struct inet_flow flow;

	if (reason) {
		inet_count(UDP_INERRORS);
		if (reason == SKB_DROP_REASON_UDP_CSUM)
			inet_count(UDP_INCSUMERRORS);
		kfree_skb_reason(skb, reason);
		return;
	}
	skb->len = ntohs(uh->len);
	flow = (struct inet_flow){.saddr = iph->saddr, .daddr = iph->daddr, .sport = uh->source};
	flow.num = ntohs(uh->dest);
	if (!ip_is_broadcast(iph->daddr)) {
		udp_unicast(skb, &flow);
		return;
	}
	skb_pull(skb, sizeof(*uh));
	inet_deliver_all(&udp_proto, &flow, skb);
	consume_skb(skb);
}

static struct hlist_head udp_table[HASH_SIZE]; /* [t] */

const struct inet_proto udp_proto = {
	.type = SOCK_DGRAM,
	.protocol = IPPROTO_UDP,
	.name = "udp",
	.has_num = true,
	.header = sizeof(struct udphdr),
	.allowed = udp_allowed,
	.table = udp_table,
	.prepare = udp_prepare,
};
