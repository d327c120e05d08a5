/* Linked lists. */
#pragma once

#include <lib/list.h>

#define list_for_each_safe(p, n, h) for (p = (h)->next, n = p->next; p != (h); p = n, n = p->next)
#define list_for_each_prev(p, h)    for (p = (h)->prev; p != (h); p = p->prev)
#define list_for_each_entry_reverse(p, h, member) \
	for (p = list_last_entry(h, __typeof__(*p), member); &p->member != (h); p = list_prev_entry(p, member))
#define list_is_singular(h) (!list_empty(h) && (h)->next == (h)->prev)
#define list_is_last(l, h)  ((l)->next == (h))
#define list_is_first(l, h) ((l)->prev == (h))
#define HLIST_HEAD_INIT	    {NULL}
#define HLIST_HEAD(name)    struct hlist_head name = HLIST_HEAD_INIT
#define INIT_HLIST_HEAD(h)  ((h)->first = NULL)
#define hlist_empty(h)	    (!READ_ONCE((h)->first))
#define hlist_entry(p, type, member) container_of(p, type, member)
#define hlist_for_each_entry_safe(p, n, h, member)                                                               \
	for (p = hlist_entry_safe((h)->first, __typeof__(*p), member); p && (n = p->member.next, 1); \
	     p = hlist_entry_safe(n, __typeof__(*p), member))
static inline size_t list_count_nodes(const struct list_head *head)
{
	size_t n = 0;

	for (const struct list_head *p = head->next; p != head; p = p->next)
		n++;
	return n;
}
