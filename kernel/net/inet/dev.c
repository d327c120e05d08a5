/*
 * The loopback device, and the way of a packet through a device.
 *
 *	dev_queue_xmit()    softirqs off: the device's header, events
 *	loopback_xmit()     no sender's any more: what is sent on lo is received at once
 *	netif_rx()          on this CPU's list, NET_RX is raised
 *	net_rx_action()     the softirq, when softirqs are on again: in the sender's own call, as a rule
 *	ip_rcv()
 *
 * A packet that the softirq itself sends (the answer to an echo) joins the list that it is going through.
 */
#include "inet.h"

#include <irq/softirq.h>
#include <kernel/init.h>
#include <kernel/percpu.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/cpuhp.h>
#include <sched/preempt.h>
#include <time/clock.h>
#include <trace/events/net.h>

#define ETH_HLEN    14	 /* bytes of Ethernet's header: two addresses, which are 0 on lo, and what is inside */
#define MAX_BACKLOG 1000 /* packets that may wait on a CPU: net.core.netdev_max_backlog */
#define RX_BUDGET   300	 /* packets of one run of the softirq: net.core.netdev_budget */
#define RX_TIME	    (2 * NSEC_PER_MSEC)

struct net_device loopback_dev = {
	.name = "lo",
	.ifindex = 1,
	.mtu = 65536,
	.addr = 0x0100007f,
	.netmask = 0x000000ff,
	.flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING,
};

/* Packets that have arrived on this CPU. [its CPU, softirqs off: no interrupt handler looks at it] */
struct softnet_data {
	struct list_head queue;
	unsigned qlen;
	bool scheduled; /* NET_RX is raised, or runs */
};
static DEFINE_PER_CPU(struct softnet_data, softnet_data);

/* 0, or 1: it was dropped. Softirqs off. */
static int netif_rx(struct sk_buff *skb)
{
	struct softnet_data *sd = this_cpu_ptr(&softnet_data);

	trace_netif_rx(skb);
	if (sd->qlen > MAX_BACKLOG) {
		atomic64_inc(&skb->dev->dropped);
		kfree_skb_reason(skb, SKB_DROP_REASON_CPU_BACKLOG);
		return 1;
	}
	list_add_tail(&skb->list, &sd->queue);
	sd->qlen++;
	if (!sd->scheduled) {
		sd->scheduled = true;
		raise_softirq(NET_RX_SOFTIRQ);
	}
	return 0;
}

/* As a card's driver would find it, without the device's header. */
static int loopback_xmit(struct sk_buff *skb)
{
	struct net_device *dev = skb->dev;
	unsigned len;

	skb_orphan(skb);
	skb_pull(skb, ETH_HLEN);
	len = skb->len;
	if (!netif_rx(skb)) {
		atomic64_add(len, &dev->bytes);
		atomic64_inc(&dev->packets);
	}
	return 0;
}

static void push_ethernet_header(struct sk_buff *skb)
{
	u8 *header = skb_push(skb, ETH_HLEN);

	memset(header, 0, ETH_HLEN - 2);
	header[12] = skb->protocol >> 8;
	header[13] = skb->protocol & 0xff;
}

int dev_queue_xmit(struct sk_buff *skb)
{
	struct net_device *dev = skb->dev;
	unsigned len;
	int rc;

	push_ethernet_header(skb);
	local_bh_disable();
	trace_net_dev_queue(skb);
	len = skb->len;
	rc = loopback_xmit(skb);
	trace_net_dev_xmit(skb, rc, dev, len);
	local_bh_enable();
	return 0;
}

static struct sk_buff *next_received(struct softnet_data *sd)
{
	struct sk_buff *skb = list_first_entry_or_null(&sd->queue, struct sk_buff, list);

	if (skb) {
		list_del(&skb->list);
		sd->qlen--;
	}
	return skb;
}

/* What is left after the budget waits for the next round, so that no storm of packets keeps a CPU from its tasks. */
static void net_rx_action(void)
{
	struct softnet_data *sd = this_cpu_ptr(&softnet_data);
	u64 end = sched_clock() + RX_TIME;
	struct sk_buff *skb;
	int budget = RX_BUDGET;

	while ((skb = next_received(sd))) {
		trace_netif_receive_skb(skb);
		ip_rcv(skb);
		if ((!--budget || (s64)(sched_clock() - end) >= 0) && sd->qlen) {
			raise_softirq(NET_RX_SOFTIRQ);
			return;
		}
	}
	sd->scheduled = false;
}

/* What still waited on a CPU that is gone has arrived here. */
static int softnet_cpu_dead(unsigned cpu)
{
	struct softnet_data *gone = per_cpu_ptr(&softnet_data, cpu);
	struct sk_buff *skb;

	local_bh_disable();
	while ((skb = next_received(gone)))
		netif_rx(skb);
	gone->scheduled = false;
	local_bh_enable();
	return 0;
}

static const struct cpuhp_step softnet_step = {.name = "net:softnet", .stage = CPUHP_PREPARE, .down = softnet_cpu_dead};
REGISTER_CPUHP(softnet_step);

static int net_dev_init(void)
{
	unsigned cpu;

	for_each_possible_cpu(cpu)
		INIT_LIST_HEAD(&per_cpu_ptr(&softnet_data, cpu)->queue);
	open_softirq(NET_RX_SOFTIRQ, net_rx_action);
	return 0;
}
core_initcall(net_dev_init);
