/* A slab cache from the inside. Users see <mm/slab.h>; slab.c says how the parts work together. */
#pragma once

#include <kernel/smp.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <sched/preempt.h>
#include <sched/spinlock.h>

/* Free objects of one CPU, from any slabs, last in first out. [c]: only that CPU touches it, with interrupts off. */
struct kmem_cache_cpu {
	void *freelist; /* [c] linked at s->freeptr */
	unsigned count; /* [c] */
} __cacheline_aligned;

#define SLAB_DEBUG 0x800u /* redzones, poison, owners: see slab_debug.c */

/*
 * Locks: s this lock, taken with interrupts off; c see above; I immutable; m slab_mutex. The fields that the fast paths
 * read come first.
 */
struct kmem_cache {
	struct kmem_cache_cpu *cpu_slab; /* [I] one a CPU, in a page of their own */
	unsigned freeptr;		 /* [I] where in a free object the next pointer is */
	unsigned flags;			 /* [I] SLAB_* */
	unsigned limit, batch;		 /* [I] a CPU keeps up to limit; batch move at once */
	unsigned object_size;		 /* [I] bytes that the user may use */
	unsigned size;			 /* [I] bytes from one object to the next */
	unsigned left;			 /* [I] redzone before the first object */
	unsigned right_end;		 /* [I] end of the redzone behind, from the object's start */
	unsigned order;			 /* [I] pages of a slab: 2^order, or fewer where memory is in pieces */
	unsigned objects;		 /* [I] in a slab of that order */
	unsigned align;			 /* [I] */
	void (*ctor)(void *);		 /* [I] */
	spinlock_t lock;
	struct list_head partial; /* [s] slabs that hold free objects */
	unsigned nr_partial;	  /* [s] */
	unsigned long nr_slabs;	  /* [s] */
	unsigned long nr_objects; /* [s] in all slabs */
	unsigned long nr_free;	  /* [s] free objects in slabs, without those the CPUs keep */
	struct list_head list;	  /* [m] */
	char name[32];		  /* [I] */
};
#define SLAB_MIN_PARTIAL 4 /* an empty slab is freed only when more than so many slabs have free objects */

extern struct list_head slab_caches; /* [m] */
extern struct mutex slab_mutex;
extern bool slab_debug_enabled; /* [immutable after the early parameters] */
extern atomic64_t nr_slab_pages;

/* The free object that follows this one in its list, or NULL. */
static inline void *get_freepointer(const struct kmem_cache *s, const void *object)
{
	return *(void *const *)((const char *)object + s->freeptr);
}
static inline void set_freepointer(const struct kmem_cache *s, void *object, void *next)
{
	*(void **)((char *)object + s->freeptr) = next;
}

/* The order of the smallest block of pages that holds `size` bytes. */
static inline unsigned get_order(size_t size)
{
	unsigned order = 0;

	while ((PAGE_SIZE << order) < size)
		order++;
	return order;
}

/* Is this an object of this cache, by the page that it lies in? */
static inline bool belongs_to(const struct kmem_cache *s, const void *object)
{
	const struct page *page = virt_to_page(object);

	return page->flags & PG_SLAB && page->slab_cache == s;
}

/* The first page of the slab: slabs are aligned to their size, which each of their pages knows. */
static inline struct page *slab_page(const void *object)
{
	unsigned order = virt_to_page(object)->order;

	return virt_to_page(ALIGN_DOWN((unsigned long)object, PAGE_SIZE << order));
}

void kmalloc_init(void); /* boot: the caches of kmalloc */
/* Make *s a cache and put it on the list. 0 or -ENOMEM. Thread context, or boot; takes m. */
int setup_cache(struct kmem_cache *s, const char *name, unsigned size, unsigned align, unsigned flags,
		void (*ctor)(void *));
/*
 * As kmem_cache_alloc and kmem_cache_free, on behalf of `caller`, a code address that slab_debug remembers. Without
 * events.
 */
void *slab_alloc_from(struct kmem_cache *s, gfp_t gfp, unsigned long caller);
void slab_free_from(struct kmem_cache *s, void *object, unsigned long caller);
void free_slab(struct kmem_cache *s, struct page *page); /* it is on no list any more */
/* Move `count` objects from a CPU's list back to their slabs. Interrupts off; takes s. */
void slab_flush_cpu(struct kmem_cache *s, struct kmem_cache_cpu *c, unsigned count);

/*
 * The room kernel/mm/slab_debug, which sets slab_debug_enabled; one at most registers itself. It is asked for caches
 * with SLAB_DEBUG alone. Any context in which the cache may be used.
 */
struct slab_debugger {
	/* An object is new; it leaves the free list; it comes back (false: it must not be put on the list). */
	void (*setup)(struct kmem_cache *s, void *object);
	void (*alloc)(struct kmem_cache *s, void *object, unsigned long caller);
	bool (*free)(struct kmem_cache *s, void *object, unsigned long caller);
	void (*print)(const struct kmem_cache *s, const void *object); /* more lines for slab_bug() */
};
#define REGISTER_SLAB_DEBUGGER(debugger) REGISTER_IN(slab_debuggers, debugger)
DECLARE_TABLE(slab_debuggers, const struct slab_debugger);

static inline const struct slab_debugger *slab_debugger(void)
{
	return __start_ptrs_slab_debuggers[0];
}

/* Report what is wrong with an object of a cache. Any context. */
void slab_bug(struct kmem_cache *s, const void *object, const char *reason);
