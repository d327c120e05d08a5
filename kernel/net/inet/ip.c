/*
 * IPv4, as far as a machine with lo alone needs it. Each packet is made by ip_send_skb() and comes back through
 * ip_rcv() with the header that it got there, so that header is not doubted; what is inside may come from a raw socket
 * and is. The MTU of lo is larger than any packet can be: nothing is ever cut into fragments.
 */
#include "inet.h"

#include <lib/errno.h>
#include <lib/string.h>

bool ip_is_local(u32 addr)
{
	return READ_ONCE(loopback_dev.flags) & IFF_UP &&
	       (addr & loopback_dev.netmask) == (loopback_dev.addr & loopback_dev.netmask);
}

bool ip_is_broadcast(u32 addr)
{
	return addr == (loopback_dev.addr | ~loopback_dev.netmask);
}

int ip_route(u32 daddr)
{
	if (ip_is_local(daddr))
		return 0;
	inet_count(IP_OUTNOROUTES);
	return -ENETUNREACH;
}

unsigned inet_mtu(void)
{
	return min(READ_ONCE(loopback_dev.mtu), IP_MAX_MTU);
}

/* In words of 16 bits, as the sum is defined; a last odd byte is followed by 0. */
u64 csum_partial(const void *bytes, size_t n, u64 sum)
{
	const u8 *p = bytes;
	u16 word;

	for (; n > 1; n -= 2, p += 2) {
		memcpy(&word, p, sizeof(word));
		sum += word;
	}
	return n ? sum + *p : sum;
}

u16 csum_fold(u64 sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/*
 * lo is the only way out, so there is nothing to route here; callers have asked ip_route(). Identifiers count up for
 * all packets together. Messages of ICMP count here, because raw sockets send them too.
 */
int ip_send_skb(struct sk_buff *skb, const struct inet_flow *flow)
{
	static atomic_t last_id;
	struct iphdr *iph;

	if (flow->protocol == IPPROTO_ICMP && skb->len)
		icmp_out_count(skb->data[0]);
	iph = skb_push(skb, sizeof(*iph));
	*iph = (struct iphdr){
		.version_ihl = 0x45,
		.tos = flow->tos,
		.tot_len = htons(skb->len),
		.id = htons(atomic_add_return(1, &last_id)),
		.ttl = flow->ttl ? flow->ttl : IP_DEFAULT_TTL,
		.protocol = flow->protocol,
		.saddr = flow->saddr,
		.daddr = flow->daddr,
	};
	iph->check = csum_fold(csum_partial(iph, sizeof(*iph), 0));
	skb->network_header = skb->data;
	skb->dev = &loopback_dev;
	inet_count(IP_OUTREQUESTS);
	return dev_queue_xmit(skb);
}

/* Copies for raw sockets first, as on Linux; then the protocol's own way. */
void ip_rcv(struct sk_buff *skb)
{
	const struct iphdr *iph = (const struct iphdr *)skb->network_header;
	struct inet_flow flow = {.saddr = iph->saddr, .daddr = iph->daddr, .num = iph->protocol};
	unsigned raw;

	inet_count(IP_INRECEIVES);
	skb_pull(skb, sizeof(*iph));
	raw = inet_deliver_all(&raw_proto, &flow, skb);
	inet_count(IP_INDELIVERS);
	switch (iph->protocol) {
	case IPPROTO_UDP:
		udp_rcv(skb);
		return;
	case IPPROTO_ICMP:
		icmp_rcv(skb);
		return;
	}
	if (raw) {
		consume_skb(skb);
		return;
	}
	inet_count(IP_INUNKNOWNPROTOS);
	icmp_send(skb, ICMP_DEST_UNREACH, ICMP_PROT_UNREACH);
	kfree_skb_reason(skb, SKB_DROP_REASON_IP_NOPROTO);
}
