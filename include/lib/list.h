/*
 * Circular doubly linked lists and hash chains, embedded in the objects that they link. A list has a head that is an
 * element without an object; an empty list is a head that points to itself.
 *
 * A lock of the caller's guards changes. Forward links are stored with one store, after the new element is complete, so
 * list_empty() may be asked without the lock, and hash chains may be walked without it where objects stay until a grace
 * period is over.
 */
#pragma once

#include <lib/types.h>

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name)     \
	{                        \
		&(name), &(name) \
	}
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)

/* Make `l` an empty list, or an element that is on no list. */
static inline void INIT_LIST_HEAD(struct list_head *l)
{
	l->next = l->prev = l;
}

/* Insert between two neighbours. The store that a reader without a lock can follow comes last. */
static inline void __list_insert(struct list_head *n, struct list_head *prev, struct list_head *next)
{
	next->prev = n;
	n->next = next;
	n->prev = prev;
	WRITE_ONCE(prev->next, n);
}
/* Insert at the front. */
static inline void list_add(struct list_head *n, struct list_head *head)
{
	__list_insert(n, head, head->next);
}
/* Insert at the end. */
static inline void list_add_tail(struct list_head *n, struct list_head *head)
{
	__list_insert(n, head->prev, head);
}

/* Unlink. `n` must not be walked through afterwards: its pointers become NULL. */
static inline void list_del(struct list_head *n)
{
	n->next->prev = n->prev;
	WRITE_ONCE(n->prev->next, n->next);
	n->next = n->prev = NULL;
}

/* Unlink, and leave `n` an empty list, so that list_empty(n) tells that it is on no list. */
static inline void list_del_init(struct list_head *n)
{
	n->next->prev = n->prev;
	WRITE_ONCE(n->prev->next, n->next);
	INIT_LIST_HEAD(n);
}
static inline bool list_empty(const struct list_head *l)
{
	return READ_ONCE(l->next) == l;
}

/* Take `n` out of its list and insert it at the end of another (list_move: at the front). */
static inline void list_move_tail(struct list_head *n, struct list_head *head)
{
	list_del(n);
	list_add_tail(n, head);
}
static inline void list_move(struct list_head *n, struct list_head *head)
{
	list_del(n);
	list_add(n, head);
}
/* Has the list one entry, and no more? */
static inline bool list_is_singular(const struct list_head *head)
{
	return head->next != head && head->next == head->prev;
}
/* Move all of `from` behind the end of `to`; `from` is empty afterwards. */
static inline void list_splice_tail_init(struct list_head *from, struct list_head *to)
{
	if (list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	INIT_LIST_HEAD(from);
}

#define list_entry(p, type, member)		  container_of(p, type, member)
#define list_first_entry(h, type, member)	  list_entry((h)->next, type, member)
#define list_last_entry(h, type, member)	  list_entry((h)->prev, type, member)
#define list_first_entry_or_null(h, type, member) (list_empty(h) ? NULL : list_first_entry(h, type, member))
#define list_next_entry(p, member)		  list_entry((p)->member.next, __typeof__(*(p)), member)
#define list_prev_entry(p, member)		  list_entry((p)->member.prev, __typeof__(*(p)), member)
#define list_for_each(p, h)			  for (p = (h)->next; p != (h); p = p->next)
#define list_for_each_entry(p, h, member) \
	for (p = list_first_entry(h, __typeof__(*p), member); &p->member != (h); p = list_next_entry(p, member))
/* The same, but the body may remove `p` itself: `n`, its successor, is looked up beforehand and must stay. */
#define list_for_each_entry_safe(p, n, h, member)                                                                \
	for (p = list_first_entry(h, __typeof__(*p), member), n = list_next_entry(p, member); &p->member != (h); \
	     p = n, n = list_next_entry(n, member))

/*
 * Hash chains: the head is a single pointer, as a table has many of them. pprev points to the pointer that points here,
 * so an element can be unlinked without knowing its head.
 */
struct hlist_node {
	struct hlist_node *next, **pprev;
};
struct hlist_head {
	struct hlist_node *first;
};

static inline void hlist_add_head(struct hlist_node *n, struct hlist_head *h)
{
	n->next = h->first;
	if (h->first)
		h->first->pprev = &n->next;
	n->pprev = &h->first;
	__atomic_store_n(&h->first, n, __ATOMIC_RELEASE); /* a reader without the lock sees a complete node */
}

/* Unlink. `next` stays, so that a reader without the lock that stands on `n` still finds its way on. */
static inline void hlist_del(struct hlist_node *n)
{
	WRITE_ONCE(*n->pprev, n->next);
	if (n->next)
		n->next->pprev = n->pprev;
	n->pprev = NULL;
}

/* Whether `n` is on no chain. True for a node of zeros, too. */
static inline bool hlist_unhashed(const struct hlist_node *n)
{
	return !n->pprev;
}
#define hlist_entry_safe(p, type, member)                   \
	({                                                  \
		struct hlist_node *_n = (p);                \
		_n ? container_of(_n, type, member) : NULL; \
	})
#define hlist_for_each_entry(p, h, member)                                           \
	for (p = hlist_entry_safe(READ_ONCE((h)->first), __typeof__(*p), member); p; \
	     p = hlist_entry_safe(READ_ONCE(p->member.next), __typeof__(*p), member))
