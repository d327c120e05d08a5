/* A slab cache from the inside; users see <mm/slab.h>. */
#pragma once

#include <kernel/smp.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <sched/preempt.h>
#include <sched/spinlock.h>

/*
 * Free objects of one CPU, from whichever slabs, last in first out. [c]: only that CPU touches it, with
 * interrupts off, so the usual allocation and free are a pop and a push.
 */
struct kmem_cache_cpu {
	void *freelist; /* [c] linked at s->freeptr */
	unsigned count; /* [c] */
} __cacheline_aligned;

#define SLAB_DEBUG 0x800u /* redzones, poison, owners: see slab_debug.c */

/* Locks: s lock, taken with interrupts off; c see above; I immutable; m slab_mutex. */
struct kmem_cache {
	struct kmem_cache_cpu *cpu_slab; /* [I] one a CPU, in a page of their own */
	unsigned freeptr;		 /* [I] where in a free object the next pointer is */
	unsigned flags;			 /* [I] SLAB_* */
	unsigned limit, batch;		 /* [I] a CPU keeps up to limit; batch move at once */
	unsigned object_size;		 /* [I] bytes that the user may use */
	unsigned size;			 /* [I] bytes from one object to the next */
	unsigned left;			 /* [I] redzone before the first object */
	unsigned right_end;		 /* [I] end of the redzone behind, from the object's start */
	unsigned order;			 /* [I] pages of a slab: 2^order */
	unsigned objects;		 /* [I] in a slab */
	unsigned align;			 /* [I] */
	void (*ctor)(void *);		 /* [I] */
	spinlock_t lock;
	struct list_head partial; /* [s] slabs that hold free objects */
	unsigned nr_partial;	  /* [s] */
	unsigned long nr_slabs;	  /* [s] */
	unsigned long nr_free;	  /* [s] free objects in slabs, without those the CPUs keep */
	struct list_head list;	  /* [m] */
	char name[32];		  /* [I] */
};
#define SLAB_MIN_PARTIAL 4 /* so many slabs with free objects are kept even when they are empty */

extern struct list_head slab_caches; /* [m] */
extern struct mutex slab_mutex;
extern bool slab_debug_enabled; /* [immutable after the early parameters] */
extern atomic64_t nr_slab_pages;

static inline void *get_freepointer(const struct kmem_cache *s, const void *object)
{
	return *(void *const *)((const char *)object + s->freeptr);
}
static inline void set_freepointer(const struct kmem_cache *s, void *object, void *next)
{
	*(void **)((char *)object + s->freeptr) = next;
}
/* The slab's first page: slabs are as aligned as they are large. */
static inline struct page *slab_page(const struct kmem_cache *s, const void *object)
{
	return virt_to_page(ALIGN_DOWN((unsigned long)object, PAGE_SIZE << s->order));
}

void kmalloc_init(void); /* boot: the caches of kmalloc */
int setup_cache(struct kmem_cache *s, const char *name, unsigned size, unsigned align, unsigned flags,
		void (*ctor)(void *));
/* Allocation on behalf of `caller`, a code address that debugging remembers. */
void *slab_alloc_from(struct kmem_cache *s, gfp_t gfp, unsigned long caller);
void slab_free_from(struct kmem_cache *s, void *object, unsigned long caller);
void free_slab(struct kmem_cache *s, struct page *page);			     /* on no list any more */
void slab_flush_cpu(struct kmem_cache *s, struct kmem_cache_cpu *c, unsigned count); /* interrupts off */

/* slab_debug.c: a new object; leaving the free list; coming back (false: it must not). */
void slab_debug_setup(struct kmem_cache *s, void *object);
void slab_debug_alloc(struct kmem_cache *s, void *object, unsigned long caller);
bool slab_debug_free(struct kmem_cache *s, void *object, unsigned long caller);
/* What is wrong with an object of a cache, reported. */
void slab_bug(struct kmem_cache *s, const void *object, const char *reason);
