/* Slab caches for objects of one size, and kmalloc on top of them. */
#pragma once

#include <lib/types.h>
#include <mm/gfp.h>

struct kmem_cache;
#define SLAB_HWCACHE_ALIGN 0x2000u
#define SLAB_PANIC         0x40000u /* panic when the cache cannot be made (boot) */

/*
 * `align` 0: natural. With slab_debug on the command line every object carries redzones and is poisoned when free;
 * a clobbered one is reported with its cache, address and last owner. NULL when out of memory.
 */
struct kmem_cache *kmem_cache_create(const char *name, unsigned size, unsigned align, unsigned flags,
				     void (*ctor)(void *));
void kmem_cache_destroy(struct kmem_cache *c);
/* Any context but nmi (GFP_ATOMIC there). Fast path: this CPU's list, interrupts off, no lock. */
void *kmem_cache_alloc(struct kmem_cache *c, gfp_t gfp);
void *kmem_cache_zalloc(struct kmem_cache *c, gfp_t gfp);
void kmem_cache_free(struct kmem_cache *c, void *obj);

#define KMALLOC_MAX_SIZE (2UL << 20)
/* Up to KMALLOC_MAX_SIZE bytes, aligned to 8 (powers of two: to their size up to a page). NULL when out of memory. */
void *kmalloc(size_t size, gfp_t gfp);
void *kzalloc(size_t size, gfp_t gfp);
void *kcalloc(size_t n, size_t size, gfp_t gfp); /* NULL on overflow too */
void *krealloc(const void *p, size_t size, gfp_t gfp);
void kfree(const void *p); /* NULL is fine */
size_t ksize(const void *p);
/* kmalloc, or vmalloc when larger or fragmented; kvfree frees either. Thread context. */
void *kvmalloc(size_t size, gfp_t gfp);
void *kvzalloc(size_t size, gfp_t gfp);
void kvfree(const void *p);
void kmem_cache_init(void); /* boot */
struct seq_file;
int slabinfo_show(struct seq_file *m);
