/*
 * Watching the kernel's accesses to devices (kernel/mm/pages/ioremap.c): while there is a watcher, the pages of all
 * mappings of ioremap() are not there, and each access to them is made and told by the handler of its fault.
 */
#pragma once

#include <lib/types.h>
#include <mm/page.h>

struct pt_regs;
struct vmap_area;

/* A mapping of ioremap(). Locks: m kmmio_mutex; I immutable while it is in the list. */
struct kmmio_map {
	struct kmmio_map *next;	 /* [m; read by faults] in the order of their making */
	unsigned id;		 /* [I] from 1, never used again */
	phys_addr_t phys;	 /* [I] what ioremap() was asked for */
	unsigned long len;	 /* [I] likewise, bytes */
	struct vmap_area *area;	 /* [I] the whole pages around it */
	struct vmap_area *alias; /* [m; read by faults] the same pages once more, while they are watched; else NULL */
};

/*
 * A watcher, which is never freed. access is called by the fault of an access, in the context of that access, with
 * interrupts off: it may be any, an NMI too, with any lock held. It must not be traced.
 */
struct kmmio_watcher {
	/* A mapping exists or is made; it ends. Thread context, kmmio_mutex held. */
	void (*mapped)(const struct kmmio_map *map);
	void (*unmapped)(const struct kmmio_map *map);
	/*
	 * The access of the instruction at regs to `address` must be made by its alias, or the page given back. Not
	 * told: the watcher's own access (a clock reads a device), or one after the end.
	 */
	void (*access)(const struct kmmio_map *map, struct pt_regs *regs, unsigned long address, bool told);
};

/*
 * Begin, and end. When kmmio_watch() returns, each access on any CPU is told; when kmmio_unwatch() does, no function of
 * the watcher runs any more and all pages are there. 0, -EBUSY: there is a watcher already; -ENOMEM: then nothing has
 * changed. Thread context.
 */
int kmmio_watch(const struct kmmio_watcher *watcher);
void kmmio_unwatch(void);

/* For access(): where `bytes` at an address of the mapping can be accessed. NULL: it has no such address. */
void *kmmio_alias(const struct kmmio_map *map, unsigned long address, unsigned bytes);
/* The page comes back until the next kmmio_watch(): what happens to it is not told any more. Any context. */
void kmmio_give_back(const struct kmmio_map *map, unsigned long address);

/* The physical address that the mapping has for one of its virtual ones. Any context. */
phys_addr_t kmmio_phys(const struct kmmio_map *map, unsigned long address);
/* Where the mapping begins, as ioremap() returned it. Any context. */
unsigned long kmmio_virt(const struct kmmio_map *map);

/*
 * For the machine's fault entry: the kernel has accessed an address in the range of vmalloc that no page is mapped at.
 * True: the access has been made, or can be tried again; false: it is no device's. Interrupts off, any context.
 */
bool kmmio_fault(struct pt_regs *regs, unsigned long address);
/* Is this the range? Any context. */
static __always_inline bool kmmio_range(unsigned long address)
{
	return address - VMALLOC_START < VMALLOC_END - VMALLOC_START;
}
