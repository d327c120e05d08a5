/*
 * kmalloc: slab caches of fixed sizes, and whole pages for what is larger. Sizes are powers of two, and 96 and 192
 * because many objects are a little larger than 64 and 128 bytes. kfree() needs no size: the page of an address knows
 * its cache (PG_SLAB) or that it heads a large block (PG_LARGE).
 *
 * The allocating function is remembered for slab_debug and for the events kmalloc and kfree. TRUE_RET_ADDR() finds it
 * even where function_graph has replaced the return address. All that the events need stands in functions of their own
 * (_traced), so that the common path keeps nothing for them.
 *
 * kvmalloc() falls back to vmalloc, whose pages need not be contiguous.
 */
#include "slab.h"

#include <kernel/export.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/string.h>
#include <mm/vmalloc.h>
#include <trace/events/kmem.h>
#include <trace/fgraph.h>

#define KMALLOC_MAX_CACHE_SIZE 8192

/*
 * kmalloc_info[n] holds 2^n bytes. Indices 1 and 2, whose sizes would be too small for a cache, hold the two sizes
 * between powers of two.
 */
static const struct {
	const char *name;
	unsigned size;
} kmalloc_info[] = {
	[1] = {"kmalloc-96", 96},    [2] = {"kmalloc-192", 192},  [3] = {"kmalloc-8", 8},
	[4] = {"kmalloc-16", 16},    [5] = {"kmalloc-32", 32},	  [6] = {"kmalloc-64", 64},
	[7] = {"kmalloc-128", 128},  [8] = {"kmalloc-256", 256},  [9] = {"kmalloc-512", 512},
	[10] = {"kmalloc-1k", 1024}, [11] = {"kmalloc-2k", 2048}, [12] = {"kmalloc-4k", 4096},
	[13] = {"kmalloc-8k", 8192},
};
static struct kmem_cache kmalloc_caches[ARRAY_SIZE(kmalloc_info)];

/* Powers of two are aligned to themselves, up to a page: an object of at most a page then never crosses a page. */
void kmalloc_init(void)
{
	for (unsigned i = 1; i < ARRAY_SIZE(kmalloc_info); i++) {
		unsigned size = kmalloc_info[i].size;
		unsigned align = is_power_of_2(size) ? min(size, (unsigned)PAGE_SIZE) : 8;

		if (setup_cache(&kmalloc_caches[i], kmalloc_info[i].name, size, align, 0, NULL))
			panic("kmalloc_init: out of memory");
	}
}

/* The cache for a size between 1 and KMALLOC_MAX_CACHE_SIZE. */
static __always_inline struct kmem_cache *kmalloc_slab(size_t size)
{
	unsigned index = size <= 8 ? 3 : 64 - __builtin_clzl(size - 1);

	if (size > 64 && size <= 96)
		index = 1;
	else if (size > 128 && size <= 192)
		index = 2;
	return &kmalloc_caches[index];
}

/* Whole pages. PG_LARGE marks the first one, so that kfree() recognises it. */
static noinline void *kmalloc_large(size_t size, gfp_t gfp)
{
	struct page *page;

	if (size > KMALLOC_MAX_SIZE)
		return NULL;
	page = alloc_pages(gfp, get_order(size));
	if (!page)
		return NULL;
	page->flags = PG_LARGE;
	return page_to_virt(page);
}

/* Size 0 gives an object of the smallest cache: a valid pointer, which kfree() takes. */
static __always_inline void *kmalloc_untraced(size_t size, gfp_t gfp, unsigned long caller)
{
	if (unlikely(size > KMALLOC_MAX_CACHE_SIZE))
		return kmalloc_large(size, gfp);
	return slab_alloc_from(kmalloc_slab(size + !size), gfp, caller);
}

/* With the event kmalloc on. The function stands by itself so that the common path keeps no values for the event. */
static notrace noinline void *kmalloc_traced(size_t size, gfp_t gfp, unsigned long caller)
{
	void *p = kmalloc_untraced(size, gfp, caller);
	size_t bytes = size > KMALLOC_MAX_CACHE_SIZE ? PAGE_SIZE << get_order(size) : kmalloc_slab(size + !size)->size;

	trace_kmalloc(caller, p, size, bytes, gfp);
	return p;
}

static __always_inline void *do_kmalloc(size_t size, gfp_t gfp, unsigned long caller)
{
	if (trace_kmalloc_enabled())
		return kmalloc_traced(size, gfp, caller);
	return kmalloc_untraced(size, gfp, caller);
}

void *kmalloc(size_t size, gfp_t gfp)
{
	return do_kmalloc(size, gfp, TRUE_RET_ADDR());
}
EXPORT_SYMBOL(kmalloc);

void *kzalloc(size_t size, gfp_t gfp)
{
	return do_kmalloc(size, gfp | __GFP_ZERO, TRUE_RET_ADDR());
}
EXPORT_SYMBOL(kzalloc);

void *kcalloc(size_t n, size_t size, gfp_t gfp)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return do_kmalloc(bytes, gfp | __GFP_ZERO, TRUE_RET_ADDR());
}
EXPORT_SYMBOL(kcalloc);

/* An address that is in no slab must be the start of a large block; everything else is reported and left alone. */
static noinline void free_large(struct page *page, const void *p, unsigned long caller)
{
	if (!(page->flags & PG_LARGE) || p != page_to_virt(page)) {
		pr_err("BUG: kfree of %px, which kmalloc did not return, in %pS\n", p, (void *)caller);
		dump_stack();
		return;
	}
	page->flags = 0;
	put_page(page);
}

/* The flags of the page tell what the address is. NULL is allowed. */
static __always_inline void do_kfree(const void *p, unsigned long caller)
{
	struct page *page;

	if (!p)
		return;
	page = virt_to_page(p);
	if (likely(page->flags & PG_SLAB))
		slab_free_from(page->slab_cache, (void *)p, caller);
	else
		free_large(page, p, caller);
}

static notrace noinline void kfree_traced(const void *p, unsigned long caller)
{
	trace_kfree(caller, p);
	do_kfree(p, caller);
}

void kfree(const void *p)
{
	if (trace_kfree_enabled())
		kfree_traced(p, TRUE_RET_ADDR());
	else
		do_kfree(p, TRUE_RET_ADDR());
}
EXPORT_SYMBOL(kfree);

/* The bytes that may be used: those of the cache, which may be more than the caller asked for. */
size_t ksize(const void *p)
{
	const struct page *page;

	if (!p)
		return 0;
	page = virt_to_page(p);
	return page->flags & PG_SLAB ? page->slab_cache->object_size : PAGE_SIZE << page->order;
}
EXPORT_SYMBOL(ksize);

/* The object stays where it is when its cache has room for the new size; it never becomes smaller. */
void *krealloc(const void *p, size_t size, gfp_t gfp)
{
	size_t old = ksize(p);
	void *new;

	if (!size) {
		kfree(p);
		return NULL;
	}
	if (old >= size)
		return (void *)p;
	new = do_kmalloc(size, gfp, TRUE_RET_ADDR());
	if (!new)
		return NULL;
	if (p)
		memcpy(new, p, old);
	kfree(p);
	return new;
}
EXPORT_SYMBOL(krealloc);

/*
 * kmalloc first, because the linear map costs no page tables. Above a page it may fail without a message, for vmalloc
 * comes next.
 */
void *kvmalloc(size_t size, gfp_t gfp)
{
	void *p = size <= KMALLOC_MAX_SIZE ? kmalloc(size, size > PAGE_SIZE ? gfp | __GFP_NOWARN : gfp) : NULL;

	if (p || size <= PAGE_SIZE)
		return p;
	return __vmalloc(size, gfp);
}
EXPORT_SYMBOL(kvmalloc);

void *kvzalloc(size_t size, gfp_t gfp)
{
	return kvmalloc(size, gfp | __GFP_ZERO);
}
EXPORT_SYMBOL(kvzalloc);

void kvfree(const void *p)
{
	if (is_vmalloc_addr(p))
		vfree(p);
	else
		kfree(p);
}
EXPORT_SYMBOL(kvfree);
