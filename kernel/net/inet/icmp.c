/*
 * ICMP: echos are answered, ports and protocols that nobody listens at are unreachable; and the sockets that programs
 * send echos by, SOCK_RAW for any protocol, and SOCK_DGRAM ("ping sockets") for echos alone, without root's rights.
 */
#include "inet.h"

#include <lib/errno.h>
#include <lib/string.h>
#include <proc/cred.h>
#include <proc/task_alloc.h>
#include <sched/current.h>

#define QUOTED_MAX 548 /* bytes of a packet that an error about it quotes: with its own headers 576, as on Linux */

void icmp_out_count(u8 type)
{
	inet_count(ICMP_OUTMSGS);
	if (type == ICMP_ECHO)
		inet_count(ICMP_OUTECHOS);
	else if (type == ICMP_ECHOREPLY)
		inet_count(ICMP_OUTECHOREPS);
	else if (type == ICMP_DEST_UNREACH)
		inet_count(ICMP_OUTDESTUNREACHS);
}

static void set_checksum(struct sk_buff *skb)
{
	struct icmphdr *icmp = (struct icmphdr *)skb->data;

	icmp->check = 0;
	icmp->check = csum_fold(csum_partial(skb->data, skb->len, 0));
}

/* A message with this header and these bytes goes back to where skb came from. Without memory it is not sent. */
static void icmp_reply(const struct sk_buff *skb, const struct icmphdr *head, const void *bytes, unsigned n)
{
	const struct iphdr *iph = (const struct iphdr *)skb->network_header;
	struct inet_flow flow = {.saddr = iph->daddr, .daddr = iph->saddr, .protocol = IPPROTO_ICMP, .tos = iph->tos};
	struct sk_buff *reply = alloc_skb(IP_HEADROOM, sizeof(*head) + n, GFP_ATOMIC);

	if (!reply)
		return;
	memcpy(reply->data, head, sizeof(*head));
	memcpy(reply->data + sizeof(*head), bytes, n);
	set_checksum(reply);
	ip_send_skb(reply, &flow);
}

/* About a packet of which the header of IP was taken off. Nothing is said of what went to all. */
void icmp_send(const struct sk_buff *skb, u8 type, u8 code)
{
	unsigned len = skb->data - skb->network_header + skb->len;
	struct icmphdr head = {.type = type, .code = code};

	if (!ip_is_broadcast(((const struct iphdr *)skb->network_header)->daddr))
		icmp_reply(skb, &head, skb->network_header, min(len, (unsigned)QUOTED_MAX));
}

static void icmp_echo(const struct sk_buff *skb)
{
	struct icmphdr head = *(const struct icmphdr *)skb->data;

	inet_count(ICMP_INECHOS);
	head.type = ICMP_ECHOREPLY;
	if (!ip_is_broadcast(((const struct iphdr *)skb->network_header)->daddr))
		icmp_reply(skb, &head, skb->data + sizeof(head), skb->len - sizeof(head));
}

/* The socket that has sent the packet which `error` is about; flow is that of an answer to it. */
static void tell_socket(const struct inet_proto *proto, const struct inet_flow *flow,
			const struct inet_icmp_error *error)
{
	struct inet_sock *inet = inet_lookup(proto, flow);

	if (inet)
		inet_icmp_error(inet, error);
	inet_put(inet);
}

/*
 * An error about a packet of ours, which it quotes. A raw socket may send any bytes, so nothing of it is believed. An
 * answer to our packet would have come from where it did not get to. Raw sockets of its protocol are told as well.
 */
static void icmp_unreach(const struct sk_buff *skb)
{
	const struct icmphdr *icmp = (const struct icmphdr *)skb->data;
	const struct iphdr *iph = (const struct iphdr *)(icmp + 1);
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);
	const struct icmphdr *echo = (const struct icmphdr *)uh;
	struct inet_icmp_error error = {.skb = skb, .bytes = (const u8 *)uh};
	struct inet_flow flow;

	inet_count(ICMP_INDESTUNREACHS);
	if (skb->len < sizeof(*icmp) + sizeof(*iph) + sizeof(*uh) || iph->version_ihl != 0x45) {
		inet_count(ICMP_INERRORS);
		return;
	}
	if (icmp->code != ICMP_PORT_UNREACH && icmp->code != ICMP_PROT_UNREACH)
		return; /* no other one is sent here */
	error.error = icmp->code == ICMP_PORT_UNREACH ? ECONNREFUSED : ENOPROTOOPT;
	error.daddr = iph->daddr;
	flow = (struct inet_flow){.saddr = iph->daddr, .daddr = iph->saddr, .num = iph->protocol};
	inet_error_all(&raw_proto, &flow, &error);
	if (iph->protocol == IPPROTO_UDP) {
		error.bytes = (const u8 *)(uh + 1);
		error.port = flow.sport = uh->dest;
		flow.num = ntohs(uh->source);
		tell_socket(&udp_proto, &flow, &error);
	} else if (iph->protocol == IPPROTO_ICMP && echo->type == ICMP_ECHO) {
		flow.num = ntohs(echo->id);
		tell_socket(&ping_proto, &flow, &error);
	}
}

/* True: a ping socket has it. */
static bool ping_rcv(struct sk_buff *skb)
{
	const struct iphdr *iph = (const struct iphdr *)skb->network_header;
	const struct icmphdr *icmp = (const struct icmphdr *)skb->data;
	struct inet_flow flow = {.saddr = iph->saddr, .daddr = iph->daddr, .num = ntohs(icmp->id)};
	enum skb_drop_reason reason;
	struct inet_sock *inet;

	inet_count(ICMP_INECHOREPS);
	inet = inet_lookup(&ping_proto, &flow);
	if (!inet)
		return false;
	reason = inet_queue_rcv(inet, skb);
	if (reason)
		kfree_skb_reason(skb, reason);
	inet_put(inet);
	return true;
}

/*
 * The checksum comes first, because nothing of a damaged message can be believed. An echo's answer may go to a ping
 * socket, which then has the packet; everything else ends here, and raw sockets have had their copies in ip_rcv().
 */
void icmp_rcv(struct sk_buff *skb)
{
	const struct icmphdr *icmp = (const struct icmphdr *)skb->data;

	inet_count(ICMP_INMSGS);
	if (csum_fold(csum_partial(skb->data, skb->len, 0))) {
		inet_count(ICMP_INCSUMERRORS);
		inet_count(ICMP_INERRORS);
		kfree_skb_reason(skb, SKB_DROP_REASON_ICMP_CSUM);
		return;
	}
	if (skb->len < sizeof(*icmp)) {
		inet_count(ICMP_INERRORS);
		kfree_skb_reason(skb, SKB_DROP_REASON_PKT_TOO_SMALL);
		return;
	}
	if (icmp->type == ICMP_ECHO)
		icmp_echo(skb);
	else if (icmp->type == ICMP_DEST_UNREACH)
		icmp_unreach(skb);
	else if (icmp->type == ICMP_ECHOREPLY && ping_rcv(skb))
		return;
	consume_skb(skb);
}

/* ---- Sockets */

static int raw_allowed(void)
{
	return current->euid ? -EPERM : 0;
}

/* net.ipv4.ping_group_range: members of these groups. */
static int ping_allowed(void)
{
	u64 range = READ_ONCE(ping_group_range);
	u32 low = range, high = range >> 32;
	const struct group_info *groups = current->groups;

	if (low <= current->egid && current->egid <= high)
		return 0;
	for (unsigned i = 0; groups && i < groups->ngroups; i++)
		if (low <= groups->gid[i] && groups->gid[i] <= high)
			return 0;
	return -EACCES;
}

/* Echos only, with the socket's own identifier, by which it gets the answers. */
static int ping_prepare(struct inet_sock *inet, struct sk_buff *skb, const struct inet_flow *flow)
{
	struct icmphdr *icmp = (struct icmphdr *)skb->data;

	if (skb->len < sizeof(*icmp) || icmp->type != ICMP_ECHO || icmp->code)
		return -EINVAL;
	icmp->id = flow->sport;
	set_checksum(skb);
	return 0;
}

/* The program has made all of it. Linux looks at type and code of ICMP, and fails so where they are not. */
static int raw_prepare(struct inet_sock *inet, struct sk_buff *skb, const struct inet_flow *flow)
{
	return flow->protocol == IPPROTO_ICMP && skb->len < 2 ? -EFAULT : 0;
}

static struct hlist_head raw_table[HASH_SIZE], ping_table[HASH_SIZE]; /* [t] */

const struct inet_proto raw_proto = {
	.type = SOCK_RAW,
	.name = "raw",
	.whole = true,
	.allowed = raw_allowed,
	.table = raw_table,
	.prepare = raw_prepare,
};
const struct inet_proto ping_proto = {
	.type = SOCK_DGRAM,
	.protocol = IPPROTO_ICMP,
	.name = "icmp",
	.has_num = true,
	.allowed = ping_allowed,
	.table = ping_table,
	.prepare = ping_prepare,
};
