/*
 * Slab allocation and free. A cache hands out objects of one size, which lie in slabs: blocks of pages that hold
 * nothing else. Each CPU has a list of free objects; the usual allocation and free are a pop and a push there with
 * interrupts off, without a lock. An empty list is filled, and one that is too long is emptied, by batches under the
 * lock of the cache (s).
 *
 * A slab with free objects is on the list s->partial; one without is on no list and is found through the page of an
 * object when one comes back. Empty slabs beyond SLAB_MIN_PARTIAL go back to the page allocator. A free object holds
 * the pointer to the next one at offset s->freeptr.
 *
 * The functions for the events, and the remembered caller, work as in kmalloc.c.
 */
#include "slab.h"

#include <kernel/export.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/string.h>
#include <mm/fault_inject.h>
#include <mm/oom.h>
#include <trace/events/kmem.h>
#include <trace/fgraph.h>

/* In the form of Linux's report. Without slab_debug there is no owner to name and no redzone to show. */
void slab_bug(struct kmem_cache *s, const void *object, const char *reason)
{
	pr_err("=============================================================================\n");
	pr_err("BUG %s: %s\n", s->name, reason);
	pr_err("-----------------------------------------------------------------------------\n");
	pr_err("Object %px size=%u in process %s\n", object, s->object_size, current->comm);
	if (s->flags & SLAB_DEBUG)
		slab_debugger()->print(s, object);
	dump_stack();
}

atomic64_t nr_slab_pages;

/*
 * All objects free and linked in ascending order, each constructed once. The loop goes from the last to the first so
 * that each one's successor is known.
 */
static void init_slab(struct kmem_cache *s, struct page *page)
{
	unsigned objects = (PAGE_SIZE << page->order) / s->size;
	char *object = (char *)page_to_virt(page) + s->left + (unsigned long)(objects - 1) * s->size;
	void *next = NULL;

	for (unsigned i = 0; i < objects; i++, object -= s->size) {
		if (s->flags & SLAB_DEBUG)
			slab_debugger()->setup(s, object);
		if (s->ctor)
			s->ctor(object);
		set_freepointer(s, object, next);
		next = object;
	}
	page->freelist = next;
	page->inuse = 0;
	page->objects = objects;
}

/*
 * The pages of a slab. When memory is in pieces, a small slab will do that holds one object: no process is killed for a
 * block of many pages, and no fork fails for the lack of one.
 */
static struct page *alloc_slab_pages(struct kmem_cache *s, gfp_t gfp)
{
	unsigned least = get_order(s->size);
	struct page *page = least < s->order ? alloc_pages(gfp | __GFP_NOWARN, s->order) : NULL;

	return page ? page : alloc_pages(gfp, least);
}

/* A new slab, or NULL. Each of its pages knows the cache and the order, so that kfree() finds both from any address. */
static struct page *new_slab(struct kmem_cache *s, gfp_t gfp)
{
	struct page *page = alloc_slab_pages(s, gfp & ~__GFP_ZERO);

	if (!page)
		return NULL;
	for (unsigned i = 0; i < 1U << page->order; i++) {
		page[i].flags = PG_SLAB;
		page[i].slab_cache = s;
		page[i].order = page->order;
	}
	init_slab(s, page);
	atomic64_add(1 << page->order, &nr_slab_pages);
	return page;
}

/* Give a slab without objects in use back to the page allocator. It is on no list. */
void free_slab(struct kmem_cache *s, struct page *page)
{
	unsigned order = page->order;

	for (unsigned i = 0; i < 1U << order; i++)
		page[i].flags = 0;
	atomic64_add(-(1 << order), &nr_slab_pages);
	__free_pages(page, order);
}

/*
 * [s] Move objects from a slab on the partial list to this CPU, up to a batch in all. A slab that gives its last one
 * leaves the list.
 */
static void take_objects(struct kmem_cache *s, struct kmem_cache_cpu *c, struct page *page)
{
	while (page->freelist && c->count < s->batch) {
		void *object = page->freelist;

		page->freelist = get_freepointer(s, object);
		set_freepointer(s, object, c->freelist);
		c->freelist = object;
		c->count++;
		page->inuse++;
		s->nr_free--;
	}
	if (!page->freelist) {
		list_del(&page->slab_list);
		s->nr_partial--;
	}
}

static void add_partial(struct kmem_cache *s, struct page *page)
{
	list_add(&page->slab_list, &s->partial);
	s->nr_partial++;
}

/* [s] A new slab, of which no object is in use. */
static void add_slab(struct kmem_cache *s, struct page *page)
{
	s->nr_slabs++;
	s->nr_objects += page->objects;
	s->nr_free += page->objects;
	add_partial(s, page);
}

/* Fill this CPU's list from slabs that have free objects. Interrupts off; takes s. */
static void get_partial(struct kmem_cache *s, struct kmem_cache_cpu *c)
{
	spin_lock(&s->lock);
	while (c->count < s->batch && !list_empty(&s->partial))
		take_objects(s, c, list_first_entry(&s->partial, struct page, slab_list));
	spin_unlock(&s->lock);
}

/* This CPU's list is empty: fill it from partial slabs, or from a new one. Interrupts off. NULL: out of memory. */
static noinline void *__slab_alloc(struct kmem_cache *s, struct kmem_cache_cpu *c)
{
	struct page *page;
	void *object;

	get_partial(s, c);
	if (!c->freelist) {
		/* Interrupts are off, so the page allocator must not wait for other CPUs. The caller tries again. */
		page = new_slab(s, GFP_ATOMIC | __GFP_NOWARN);
		if (!page)
			return NULL;
		spin_lock(&s->lock);
		add_slab(s, page);
		take_objects(s, c, page);
		spin_unlock(&s->lock);
	}
	object = c->freelist;
	c->freelist = get_freepointer(s, object);
	c->count--;
	return object;
}

/* An object, or NULL without a message. */
static __always_inline void *slab_alloc_once(struct kmem_cache *s)
{
	struct kmem_cache_cpu *c;
	unsigned long flags;
	void *object;

	local_irq_save(flags);
	c = &s->cpu_slab[smp_processor_id()];
	object = c->freelist;
	if (likely(object)) {
		c->freelist = get_freepointer(s, object);
		c->count--;
	} else {
		object = __slab_alloc(s, c);
	}
	local_irq_restore(flags);
	return object;
}

/*
 * Where this task may wait, the page allocator gives a slab in the end, by what waits in other CPUs' lists or by the
 * OOM killer. Other tasks may take all its objects before this one is back, so it tries again.
 */
static noinline void *slab_alloc_again(struct kmem_cache *s, gfp_t gfp)
{
	bool wait = gfp & GFP_KERNEL && !in_atomic() && !irqs_disabled();
	struct page *page;
	unsigned long flags;
	void *object;

	do {
		page = wait ? new_slab(s, gfp) : NULL;
		if (page) {
			spin_lock_irqsave(&s->lock, flags);
			add_slab(s, page);
			spin_unlock_irqrestore(&s->lock, flags);
		}
		object = slab_alloc_once(s);
	} while (!object && page);
	if (!object && !(gfp & __GFP_NOWARN) && !(wait && current_is_dying()))
		pr_warn("SLUB: unable to allocate memory, cache %s, object size %u\n", s->name, s->object_size);
	return object;
}

/*
 * An object with what debugging and __GFP_ZERO want. Only object_size bytes are zeroed: behind them may lie the free
 * pointer of a debugged object and its redzone.
 */
static __always_inline void *slab_alloc(struct kmem_cache *s, gfp_t gfp, unsigned long caller)
{
	void *object;

	if (static_key_false(&fault_injection_key) && slab_must_fail(s->object_size, gfp))
		return NULL;
	object = slab_alloc_once(s);
	if (unlikely(!object)) {
		object = slab_alloc_again(s, gfp);
		if (!object)
			return NULL;
	}
	if (unlikely(s->flags & SLAB_DEBUG))
		slab_debugger()->alloc(s, object, caller);
	if (gfp & __GFP_ZERO)
		memset(object, 0, s->object_size);
	return object;
}

/*
 * [s] Put one object back into its slab. Returns the slab when it has become empty and may be freed, off the list
 * already; else NULL.
 */
static struct page *return_object(struct kmem_cache *s, void *object)
{
	struct page *page = slab_page(object);

	set_freepointer(s, object, page->freelist);
	if (!page->freelist)
		add_partial(s, page);
	page->freelist = object;
	s->nr_free++;
	if (--page->inuse || s->nr_partial <= SLAB_MIN_PARTIAL)
		return NULL;
	list_del(&page->slab_list);
	s->nr_partial--;
	s->nr_slabs--;
	s->nr_objects -= page->objects;
	s->nr_free -= page->objects;
	return page;
}

/*
 * Interrupts off. The slabs that become empty are collected and freed outside s, because the page allocator takes its
 * own lock. An object of another cache was freed to this one by mistake; it is reported here, where the page is looked
 * at anyway, and then lost.
 */
noinline void slab_flush_cpu(struct kmem_cache *s, struct kmem_cache_cpu *c, unsigned count)
{
	LIST_HEAD(empty);
	struct page *page;

	spin_lock(&s->lock);
	while (count--) {
		void *object = c->freelist;

		c->freelist = get_freepointer(s, object);
		c->count--;
		if (unlikely(!belongs_to(s, object))) {
			slab_bug(s, object, "Freed to a cache that it does not belong to");
			continue;
		}
		page = return_object(s, object);
		if (page)
			list_add(&page->slab_list, &empty);
	}
	spin_unlock(&s->lock);
	while (!list_empty(&empty)) {
		page = list_first_entry(&empty, struct page, slab_list);
		list_del(&page->slab_list);
		free_slab(s, page);
	}
}

/*
 * Push the object on this CPU's list. A double free is noticed cheaply when the object is still the last one that was
 * freed; slab_debug finds the others.
 */
static __always_inline void slab_free(struct kmem_cache *s, void *object, unsigned long caller)
{
	struct kmem_cache_cpu *c;
	unsigned long flags;

	if (unlikely(s->flags & SLAB_DEBUG) && !slab_debugger()->free(s, object, caller))
		return;
	local_irq_save(flags);
	c = &s->cpu_slab[smp_processor_id()];
	if (unlikely(c->freelist == object)) {
		slab_bug(s, object, "Object already free");
	} else {
		set_freepointer(s, object, c->freelist);
		c->freelist = object;
		if (unlikely(++c->count > s->limit))
			slab_flush_cpu(s, c, s->batch);
	}
	local_irq_restore(flags);
}

/* With the events on. These functions stand by themselves so that the common path keeps nothing for the events. */
static notrace noinline void *cache_alloc_traced(struct kmem_cache *s, gfp_t gfp, unsigned long caller)
{
	void *object = slab_alloc(s, gfp, caller);

	trace_kmem_cache_alloc(caller, object, s->object_size, s->size, gfp);
	return object;
}

static notrace noinline void cache_free_traced(struct kmem_cache *s, void *object, unsigned long caller)
{
	trace_kmem_cache_free(caller, object, s->name);
	slab_free(s, object, caller);
}

static __always_inline void *cache_alloc(struct kmem_cache *s, gfp_t gfp, unsigned long caller)
{
	if (trace_kmem_cache_alloc_enabled())
		return cache_alloc_traced(s, gfp, caller);
	return slab_alloc(s, gfp, caller);
}

void *kmem_cache_alloc(struct kmem_cache *s, gfp_t gfp)
{
	return cache_alloc(s, gfp, TRUE_RET_ADDR());
}
EXPORT_SYMBOL(kmem_cache_alloc);

void *kmem_cache_zalloc(struct kmem_cache *s, gfp_t gfp)
{
	return cache_alloc(s, gfp | __GFP_ZERO, TRUE_RET_ADDR());
}
EXPORT_SYMBOL(kmem_cache_zalloc);

void kmem_cache_free(struct kmem_cache *s, void *object)
{
	if (!object)
		return;
	if (trace_kmem_cache_free_enabled())
		cache_free_traced(s, object, TRUE_RET_ADDR());
	else
		slab_free(s, object, TRUE_RET_ADDR());
}
EXPORT_SYMBOL(kmem_cache_free);

void *slab_alloc_from(struct kmem_cache *s, gfp_t gfp, unsigned long caller)
{
	return slab_alloc(s, gfp, caller);
}

void slab_free_from(struct kmem_cache *s, void *object, unsigned long caller)
{
	slab_free(s, object, caller);
}
