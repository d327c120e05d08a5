/* Slab caches for objects of one size, and kmalloc on top of them. kernel/mm/pages/slab.c explains how they work. */
#pragma once

#include <lib/types.h>
#include <mm/gfp.h>

struct kmem_cache;
#define SLAB_HWCACHE_ALIGN 0x2000u
#define SLAB_PANIC	   0x40000u /* panic when the cache cannot be made (boot) */

/*
 * A cache for objects of `size` bytes; `align` 0 means natural alignment, `ctor` (or NULL) runs once for each object
 * when its slab is made. With slab_debug on the command line every object has redzones and is poisoned while it is
 * free; one that was overwritten is reported with its cache, its address and its last owner. NULL when out of memory.
 * Thread context, or boot.
 */
struct kmem_cache *kmem_cache_create(const char *name, unsigned size, unsigned align, unsigned flags,
				     void (*ctor)(void *));
/* The caller guarantees that nothing is allocated from it or freed to it any more. NULL is allowed. Thread context. */
void kmem_cache_destroy(struct kmem_cache *c);
/*
 * An object, or NULL when out of memory. Any context but nmi, with GFP_ATOMIC where the caller must not wait. The fast
 * path takes from this CPU's list with interrupts off and no lock. kmem_cache_free takes NULL, too.
 */
void kmem_cache_free(struct kmem_cache *c, void *obj);
void *kmem_cache_alloc(struct kmem_cache *c, gfp_t gfp) __freed_by(kmem_cache_free, 2);
void *kmem_cache_zalloc(struct kmem_cache *c, gfp_t gfp) __freed_by(kmem_cache_free, 2);

#define KMALLOC_MAX_SIZE (2UL << 20)
/*
 * Up to KMALLOC_MAX_SIZE bytes, aligned to 8 (powers of two: to their size, up to a page). NULL when out of memory. Any
 * context but nmi, as gfp says; so is kfree.
 */
void kfree(const void *p); /* NULL is allowed */
void *kmalloc(size_t size, gfp_t gfp) __freed_by(kfree, 1);
void *kzalloc(size_t size, gfp_t gfp) __freed_by(kfree, 1);
void *kcalloc(size_t n, size_t size, gfp_t gfp) __freed_by(kfree, 1); /* NULL on overflow too */
void *krealloc(const void *p, size_t size, gfp_t gfp) __freed_by(kfree, 1);
size_t ksize(const void *p); /* bytes that may be used: what was asked for, or a little more */
/* kmalloc, or vmalloc when the size is too large or memory is fragmented; kvfree frees either. Thread context. */
void kvfree(const void *p);
void *kvmalloc(size_t size, gfp_t gfp) __freed_by(kvfree, 1);
void *kvzalloc(size_t size, gfp_t gfp) __freed_by(kvfree, 1);
void kmem_cache_init(void); /* boot */
struct seq_file;
/* /proc/slabinfo. Thread context. */
int slabinfo_show(struct seq_file *m);
