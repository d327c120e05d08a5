/* Lists that are read under RCU: the stores of <linux/list.h> publish whole entries. */
#pragma once

#include <linux/list.h>
#include <linux/rcupdate.h>

#define list_for_each_entry_rcu(p, h, member)                                                       \
	for (p = list_entry(smp_load_acquire(&(h)->next), __typeof__(*p), member); &p->member != (h); \
	     p = list_entry(smp_load_acquire(&p->member.next), __typeof__(*p), member))
static inline void list_add_rcu(struct list_head *n, struct list_head *head)
{
	n->next = head->next;
	n->prev = head;
	head->next->prev = n;
	smp_store_release(&head->next, n);
}
/* `n` keeps its way on, for readers that stand on it. */
static inline void list_del_rcu(struct list_head *n)
{
	n->next->prev = n->prev;
	WRITE_ONCE(n->prev->next, n->next);
}
