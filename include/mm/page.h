/* Page frames, the buddy allocator, and the boot allocator before it. */
#pragma once

#include <asm/page.h>
#include <lib/atomic.h>
#include <lib/list.h>
#include <lib/types.h>
#include <mm/gfp.h>

#define MAX_ORDER		10 /* largest block: 2^10 pages, 4 MiB */
#define PAGE_ALLOC_COSTLY_ORDER 3  /* a larger block is not waited for, as on Linux */

struct kmem_cache;
struct address_space;

/* page->flags */
#define PG_RESERVED 0x01 /* never given to the allocator */
#define PG_BUDDY    0x02 /* head of a free block of page->order */
#define PG_SLAB	    0x04
#define PG_PCP	    0x08 /* in a per-CPU list */
#define PG_LARGE    0x10 /* head of a kmalloc of whole pages, page->order */
#define PG_ICACHE   0x20 /* [a] what it holds is coherent with instruction fetch: see flush_dcache_page() */
#define PG_ANON	    0x40 /* [o] private memory of an address space, not a file's */

/*
 * One for each frame of RAM. Locks: z the zone lock; c the CPU whose list it is in; s the slab cache's lock; o the
 * owner of the allocated page; a atomic. Fields that are never used together share their place.
 */
struct page {
	u32 flags;	   /* [z, c while free, else o] PG_* */
	atomic_t refcount; /* [a] 0 while free */
	atomic_t mapcount; /* [a] how many user page tables map it */
	u8 order;	   /* [z / o] of the block it heads */
	union {
		struct list_head lru; /* [z] free list; [o] the owner's */
		struct {
			struct kmem_cache *slab_cache; /* [o] every page of a slab */
			void *freelist;		       /* [s] its free objects, the first page only */
		};
	};
	union {
		unsigned long private; /* [o]; [c] next in the per-CPU list */
		struct {
			u16 inuse, objects; /* [s] objects handed out, objects there are */
		};
	};
	union {
		struct {
			struct address_space *mapping; /* [o] page cache it belongs to, NULL for anonymous memory */
			unsigned long index;	       /* [o] page offset in it */
		};
		struct list_head slab_list; /* [s] the cache's slabs with free objects */
	};
};

extern struct page *mem_map; /* mem_map[pfn - min_pfn] [immutable] */
extern unsigned long min_pfn, max_pfn;
extern unsigned long mem_map_pfn0; /* where frame 0's entry would be, as a number [immutable] */
#define pfn_to_page(pfn) (mem_map + ((pfn)-min_pfn))
#define page_to_pfn(p)	 ((unsigned long)((p)-mem_map) + min_pfn)
#define page_to_phys(p)	 ((phys_addr_t)page_to_pfn(p) << PAGE_SHIFT)
#define phys_to_page(pa) pfn_to_page((pa) >> PAGE_SHIFT)
#define page_to_virt(p)	 __va(page_to_phys(p))
#define virt_to_page(v)	 phys_to_page(__pa(v)) /* linear-map addresses only */
#define pfn_valid(pfn)	 ((pfn) >= min_pfn && (pfn) < max_pfn)

/*
 * 2^order contiguous pages with one reference, or NULL. Fresh memory holds anything unless __GFP_ZERO. Any context but
 * nmi. With GFP_KERNEL where interrupts and preemption are on it waits, while memory is full, for other CPUs to give
 * their lists back and for what the OOM killer frees: up to 2^PAGE_ALLOC_COSTLY_ORDER pages it fails only for a task
 * that is being killed, or when no process can be killed. An order-0 page normally comes from this CPU's list, without
 * a lock.
 */
struct page *__alloc_pages(gfp_t gfp, unsigned order);
static inline struct page *alloc_pages(gfp_t gfp, unsigned order)
{
	return __alloc_pages(gfp, order);
}
/* Drop the reference; the last one frees. A double free, wrong order or page still in use is reported, not freed. */
void __free_pages(struct page *page, unsigned order);
static inline struct page *alloc_page(gfp_t gfp)
{
	return alloc_pages(gfp, 0);
}
void *get_free_page(gfp_t gfp); /* one page's linear address or NULL */
void *get_zeroed_page(gfp_t gfp);
void free_page(void *addr); /* NULL is allowed */
/*
 * The same for a page with one reference that holds nothing but zeroes, and that no CPU writes to any more: the next
 * allocations with __GFP_ZERO need not clear it.
 */
void free_zeroed_page(void *addr);
void *get_free_pages(gfp_t gfp, unsigned order);
void free_pages(void *addr, unsigned order);

static inline void get_page(struct page *p)
{
	atomic_inc(&p->refcount);
}
void put_page(struct page *p);				   /* the last reference frees it */
void release_pages(struct page *const *pages, unsigned n); /* put_page() for each of n */

/*
 * The kernel wrote into a page that programs may execute from (a file's page): when it is mapped for execution next,
 * the instruction cache is synchronised again. Any context.
 */
static inline void flush_dcache_page(struct page *p)
{
	__atomic_fetch_and(&p->flags, ~PG_ICACHE, __ATOMIC_RELAXED);
}

/*
 * Give the pages of per-CPU lists back to the buddy lists: this CPU's in any context; those of all CPUs where calls to
 * other CPUs are allowed.
 */
void drain_local_pages(void);
void drain_all_pages(void);

/* Free pages, those in per-CPU lists included; and all pages that the allocator was ever given. Any context. */
unsigned long nr_free_pages(void);
unsigned long totalram_pages(void);
/* How many free pages are kept from file contents, for programs and for the kernel itself. Any context. */
unsigned long totalreserve_pages(void);
/* Free pages without that reserve: what a large request may take. Any context. */
unsigned long si_mem_available(void);
struct seq_file;
/* /proc/buddyinfo. Thread context. */
int buddyinfo_show(struct seq_file *m);

/*
 * The boot allocator: regions of RAM, and what in them is taken. Physical addresses. Boot CPU, until page_alloc_init.
 */
void memblock_add(phys_addr_t base, u64 size);
void memblock_reserve(phys_addr_t base, u64 size);
phys_addr_t memblock_alloc(u64 size, u64 align); /* zeroed through the linear map; panics when no room is left */
/* The lowest address of RAM, and the end of the highest region. */
phys_addr_t memblock_start(void);
phys_addr_t memblock_end(void);
/* Walk the RAM regions: i from 0; false past the last. */
bool memblock_region(unsigned i, phys_addr_t *base, u64 *size);
void page_alloc_init(void); /* boot: mem_map, buddy lists; memblock ends here */
/* Give whole pages of reserved boot memory (the initrd) to the allocator. Boot, or thread context. */
void free_reserved_area(phys_addr_t start, phys_addr_t end);
