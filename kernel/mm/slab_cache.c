/* Making and destroying slab caches. */
#include "slab.h"

#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/mutex.h>

LIST_HEAD(slab_caches);
DEFINE_MUTEX(slab_mutex);
static struct kmem_cache cache_of_caches;

static_assert(NR_CPUS * sizeof(struct kmem_cache_cpu) <= PAGE_SIZE);

/*
 * The smallest slab of at most 8 pages that wastes no more than an eighth and holds at least eight objects,
 * or what comes closest: few objects a slab mean a page allocation and a lock all too often.
 */
static unsigned calculate_order(unsigned size)
{
	unsigned order = 0;

	while (order < 3 &&
	       ((PAGE_SIZE << order) / size < 8 || (PAGE_SIZE << order) % size > (PAGE_SIZE << order) / 8))
		order++;
	while ((PAGE_SIZE << order) < size)
		order++;
	return order;
}

/*
 * Without debugging the free pointer lies in the object itself, unless its constructed contents must survive.
 * With it: redzone | object | redzone | free pointer | owners.
 */
static void calculate_sizes(struct kmem_cache *s)
{
	unsigned end = ALIGN(s->object_size, 8u);

	if (s->flags & SLAB_DEBUG) {
		s->left = max(s->align, 16u);
		end += 8;
	}
	s->right_end = end;
	if (s->ctor || s->flags & SLAB_DEBUG) {
		s->freeptr = end;
		end += 8;
	}
	if (s->flags & SLAB_DEBUG)
		end += 4 * sizeof(u64);
	s->size = ALIGN(s->left + end, s->align);
	s->order = calculate_order(s->size);
	s->objects = (PAGE_SIZE << s->order) / s->size;
}

static unsigned cpu_limit(unsigned size)
{
	return size <= 256 ? 64 : size <= 1024 ? 32 : size <= 4096 ? 16 : 8;
}

int setup_cache(struct kmem_cache *s, const char *name, unsigned size, unsigned align, unsigned flags,
		void (*ctor)(void *))
{
	s->object_size = size;
	s->align = max(align, flags & SLAB_HWCACHE_ALIGN ? 64u : 8u);
	s->flags = flags | (slab_debug_enabled ? SLAB_DEBUG : 0);
	s->ctor = ctor;
	calculate_sizes(s);
	s->limit = cpu_limit(s->size);
	s->batch = s->limit / 2;
	spin_lock_init(&s->lock);
	INIT_LIST_HEAD(&s->partial);
	strscpy(s->name, name, sizeof(s->name));
	s->cpu_slab = get_zeroed_page(GFP_KERNEL);
	if (!s->cpu_slab)
		return -ENOMEM;
	mutex_lock(&slab_mutex);
	list_add_tail(&s->list, &slab_caches);
	mutex_unlock(&slab_mutex);
	return 0;
}

struct kmem_cache *kmem_cache_create(const char *name, unsigned size, unsigned align, unsigned flags,
				     void (*ctor)(void *))
{
	struct kmem_cache *s = kmem_cache_zalloc(&cache_of_caches, GFP_KERNEL);

	if (s && setup_cache(s, name, max(size, 8u), align, flags & ~SLAB_DEBUG, ctor)) {
		kmem_cache_free(&cache_of_caches, s);
		s = NULL;
	}
	if (!s && flags & SLAB_PANIC)
		panic("kmem_cache_create(%s): out of memory", name);
	return s;
}

/* Take every CPU's free objects back. Nobody uses the cache any more, so their lists are ours to touch. */
static void flush_all(struct kmem_cache *s)
{
	unsigned long flags;
	unsigned cpu;

	local_irq_save(flags);
	for_each_possible_cpu (cpu)
		slab_flush_cpu(s, &s->cpu_slab[cpu], s->cpu_slab[cpu].count);
	local_irq_restore(flags);
}

/* The slabs that were kept for later; returns whether that was all. */
static bool free_partial(struct kmem_cache *s)
{
	struct page *page, *next;

	list_for_each_entry_safe (page, next, &s->partial, slab_list) {
		if (page->inuse)
			continue;
		list_del(&page->slab_list);
		s->nr_partial--;
		s->nr_slabs--;
		free_slab(s, page);
	}
	return !s->nr_slabs;
}

/* The caller guarantees that nobody allocates or frees any more. Thread context. */
void kmem_cache_destroy(struct kmem_cache *s)
{
	if (!s)
		return;
	flush_all(s);
	if (!free_partial(s)) {
		/* Whoever still holds an object would write into freed memory: rather lose it. */
		pr_err("BUG %s: objects remaining on kmem_cache_destroy\n", s->name);
		return;
	}
	mutex_lock(&slab_mutex);
	list_del(&s->list);
	mutex_unlock(&slab_mutex);
	free_page(s->cpu_slab);
	kmem_cache_free(&cache_of_caches, s);
}

void kmem_cache_init(void)
{
	if (setup_cache(&cache_of_caches, "kmem_cache", sizeof(struct kmem_cache), 0, SLAB_HWCACHE_ALIGN,
			NULL))
		panic("kmem_cache_init: out of memory");
	kmalloc_init();
}
