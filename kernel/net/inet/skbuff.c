/* Packets: their memory, and the socket that it counts for. */
#include "inet.h"

#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <trace/events/skb.h>

struct sk_buff *alloc_skb(unsigned headroom, unsigned size, gfp_t gfp)
{
	struct sk_buff *skb = kmalloc(sizeof(*skb) + headroom + size, gfp);

	if (!skb)
		return NULL;
	*skb = (struct sk_buff){.protocol = ETH_P_IP, .truesize = ksize(skb), .len = size};
	atomic_set(&skb->users, 1);
	skb->data = skb->network_header = skb->head + headroom;
	return skb;
}

struct sk_buff *skb_copy(const struct sk_buff *skb)
{
	unsigned front = skb->data - skb->network_header;
	struct sk_buff *copy = alloc_skb(IP_HEADROOM, front + skb->len, GFP_ATOMIC);

	if (!copy)
		return NULL;
	memcpy(copy->data, skb->network_header, front + skb->len);
	skb_pull(copy, front);
	copy->dev = skb->dev;
	return copy;
}

void skb_orphan(struct sk_buff *skb)
{
	struct inet_sock *inet = skb->sk ? inet_sk(skb->sk) : NULL;

	if (!inet)
		return;
	skb->sk = NULL;
	atomic_sub(skb->truesize, &inet->wmem);
	wake_up_interruptible_all(&inet->sk.wait);
	inet_put(inet);
}

static bool last_reference(struct sk_buff *skb)
{
	return atomic_dec_and_test(&skb->users);
}

static void free_skb(struct sk_buff *skb)
{
	skb_orphan(skb);
	kfree(skb);
}

void consume_skb(struct sk_buff *skb)
{
	if (!last_reference(skb))
		return;
	trace_consume_skb(skb, __builtin_return_address(0));
	free_skb(skb);
}

void kfree_skb_reason(struct sk_buff *skb, enum skb_drop_reason reason)
{
	if (!last_reference(skb))
		return;
	trace_kfree_skb(skb, __builtin_return_address(0), reason);
	free_skb(skb);
}
