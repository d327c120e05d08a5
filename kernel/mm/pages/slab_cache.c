/*
 * Making and destroying slab caches. The structure of a cache is itself an object of a cache (cache_of_caches), the
 * first one made at boot. slab.c explains how a cache works.
 *
 * Locks: slab_mutex [m] guards the list of all caches, which /proc/slabinfo walks.
 */
#include "slab.h"

#include <kernel/export.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/cpuhp.h>
#include <sched/mutex.h>

bool slab_debug_enabled;

LIST_HEAD(slab_caches);
DEFINE_MUTEX(slab_mutex);
static struct kmem_cache cache_of_caches;

static_assert(NR_CPUS * sizeof(struct kmem_cache_cpu) <= PAGE_SIZE);

/*
 * The smallest slab of at most 8 pages that holds at least eight objects and wastes no more than an eighth of itself,
 * or what comes closest. With few objects in a slab, the page allocator and the lock are needed too often. Objects that
 * are larger get a slab that holds one.
 */
static unsigned calculate_order(unsigned size)
{
	unsigned order = 0;

	while (order < 3 && ((PAGE_SIZE << order) / size < 8 || (PAGE_SIZE << order) % size > (PAGE_SIZE << order) / 8))
		order++;
	return max(order, get_order(size));
}

/*
 * Where the parts of an object lie. Without debugging the free pointer lies in the object itself, unless its
 * constructed contents must survive. With debugging: redzone | object | redzone | free pointer | owners (slab_debug.c).
 * The redzone on the left is as wide as the alignment, so that the object stays aligned.
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

/* How many free objects a CPU keeps: fewer of the larger ones, so that a few dozen KiB lie idle at most. */
static unsigned cpu_limit(unsigned size)
{
	return size <= 256 ? 64 : size <= 1024 ? 32 : size <= 4096 ? 16 : 8;
}

/*
 * The per-CPU lists get a page of their own, so that those of different CPUs never share a cache line with other data.
 */
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

/* An object must at least hold a free pointer, so no cache has objects below 8 bytes. */
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
EXPORT_SYMBOL(kmem_cache_create);

/*
 * [m] Take back every CPU's free objects. The cache is not used any more, so their lists may be changed from here; the
 * mutex keeps the end of a CPU (slabs_cpu_dead) from doing the same.
 */
static void flush_all(struct kmem_cache *s)
{
	unsigned long flags;
	unsigned cpu;

	local_irq_save(flags);
	for_each_possible_cpu(cpu)
		slab_flush_cpu(s, &s->cpu_slab[cpu], s->cpu_slab[cpu].count);
	local_irq_restore(flags);
}

/* [m] Free the empty slabs that were kept; true when those were all. */
static bool free_partial(struct kmem_cache *s)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, &s->partial, slab_list) {
		if (page->inuse)
			continue;
		list_del(&page->slab_list);
		s->nr_partial--;
		s->nr_slabs--;
		s->nr_objects -= page->objects;
		s->nr_free -= page->objects;
		free_slab(s, page);
	}
	return !s->nr_slabs;
}

/*
 * A cache with objects in use is reported and kept: a holder of an object would write into freed memory, so the cache
 * is lost instead.
 */
void kmem_cache_destroy(struct kmem_cache *s)
{
	bool empty;

	if (!s)
		return;
	mutex_lock(&slab_mutex);
	flush_all(s);
	empty = free_partial(s);
	if (empty)
		list_del(&s->list);
	mutex_unlock(&slab_mutex);
	if (!empty) {
		pr_err("BUG %s: objects remaining on kmem_cache_destroy\n", s->name);
		return;
	}
	free_page(s->cpu_slab);
	kmem_cache_free(&cache_of_caches, s);
}
EXPORT_SYMBOL(kmem_cache_destroy);

/* The CPU is gone: its free objects go back to their slabs, and slabs that are empty then to the page allocator. */
static int slabs_cpu_dead(unsigned cpu)
{
	struct kmem_cache *s;
	unsigned long flags;

	mutex_lock(&slab_mutex);
	list_for_each_entry(s, &slab_caches, list) {
		local_irq_save(flags);
		slab_flush_cpu(s, &s->cpu_slab[cpu], s->cpu_slab[cpu].count);
		local_irq_restore(flags);
	}
	mutex_unlock(&slab_mutex);
	return 0;
}
static const struct cpuhp_step slabs_step = {.name = "mm:slabs", .stage = CPUHP_PREPARE, .down = slabs_cpu_dead};
REGISTER_CPUHP(slabs_step);

void kmem_cache_init(void)
{
	if (setup_cache(&cache_of_caches, "kmem_cache", sizeof(struct kmem_cache), 0, SLAB_HWCACHE_ALIGN, NULL))
		panic("kmem_cache_init: out of memory");
	kmalloc_init();
}
