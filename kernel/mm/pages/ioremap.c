/*
 * Device memory in the kernel's address space, and watching what the kernel does to it (mmiotrace).
 *
 * While there is a watcher, a mapping's pages are not present. An access faults, and kmmio_fault() has the watcher
 * decode the instruction and make the access itself through a second mapping of the same pages (the alias):
 *
 *     address of the driver      page table: empty        ldr w0, [x1]  -> fault -> kmmio_fault()
 *                                                                                     |
 *     alias, for that alone      page table: the device   <---------------------------+
 *
 * The driver's page stays away all the time. So, unlike with a page that comes back for one step of the instruction,
 * no access of another CPU can slip through, and CPUs need not wait for each other.
 *
 * The list of mappings is changed under kmmio_mutex and read by faults, which take no lock. A fault runs with
 * interrupts off from the exception to its end. So what a fault may use is taken away in three steps: it cannot be
 * found any more; every CPU has taken an interrupt (kmmio_wait_for_faults); it is freed.
 *
 * A fault may come late, for a page that is there again by now: the access is simply tried again. It succeeds, as the
 * page table was changed before the fault looked at it, and a TLB never holds a page that was not present (Arm ARM
 * D8.13; SDM vol. 3, 4.10.2.3).
 */
#include <asm/ptrace.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <mm/kmmio.h>
#include <mm/mm.h>
#include <mm/slab.h>
#include <mm/vmalloc.h>
#include <sched/mutex.h>
#include <sched/preempt.h>

#include "vmap_area.h"

static DEFINE_MUTEX(kmmio_mutex);
static struct kmmio_map *kmmio_maps;		   /* [kmmio_mutex; read by faults] */
static unsigned kmmio_last_id;			   /* [kmmio_mutex] */
static const struct kmmio_watcher *kmmio_watching; /* [kmmio_mutex; read by faults] NULL: there is none */
static const struct kmmio_watcher *kmmio_maker;	   /* [likewise] the last one: makes accesses to pages that are away */

static notrace unsigned long kmmio_bytes(const struct kmmio_map *map)
{
	return map->area->end - PAGE_SIZE - map->area->start;
}

static notrace phys_addr_t kmmio_first_page(const struct kmmio_map *map)
{
	return map->phys & PAGE_MASK;
}

notrace phys_addr_t kmmio_phys(const struct kmmio_map *map, unsigned long address)
{
	return kmmio_first_page(map) + (address - map->area->start);
}

notrace unsigned long kmmio_virt(const struct kmmio_map *map)
{
	return map->area->start + (map->phys & ~PAGE_MASK);
}

static void kmmio_pass(void *unused)
{
}

/* Faults that were being handled when this was called are over, on all CPUs. Thread context. */
static void kmmio_wait_for_faults(void)
{
	smp_mb();
	on_each_cpu(kmmio_pass, NULL, true);
}

/* An area of its own that shows the mapping's pages. NULL: no memory, or no room. */
static struct vmap_area *map_device_pages(phys_addr_t phys, unsigned long bytes)
{
	struct vmap_area *area = alloc_vmap_area(&vmalloc_space, bytes);

	for (unsigned long at = 0; area && at < bytes; at += PAGE_SIZE) {
		if (vmap_page(area->start + at, phys + at, PAGE_DEVICE)) {
			remove_vmap_area(area);
			return NULL;
		}
	}
	return area;
}

/* ---- Pages that go and come back. [kmmio_mutex] */

/* From now on accesses fault. The alias and the watcher are there already. */
static void kmmio_hide(struct kmmio_map *map)
{
	unsigned long start = map->area->start, end = start + kmmio_bytes(map);

	for (unsigned long va = start; va < end; va += PAGE_SIZE)
		ptep_get_and_clear(pte_lookup(init_mm.pgd, va));
	flush_tlb_kernel_range(start, end);
}

/* Nothing is flushed: no TLB holds a page that is not present. Also in a fault. */
static notrace void kmmio_show_page(const struct kmmio_map *map, unsigned long va)
{
	set_pte(pte_lookup(init_mm.pgd, va), mk_pte(kmmio_phys(map, va), PAGE_DEVICE));
}

static void kmmio_show(const struct kmmio_map *map)
{
	for (unsigned long va = map->area->start; va < map->area->start + kmmio_bytes(map); va += PAGE_SIZE)
		kmmio_show_page(map, va);
}

static void kmmio_drop_aliases(void)
{
	for (struct kmmio_map *map = kmmio_maps; map; map = map->next) {
		if (map->alias)
			remove_vmap_area(map->alias);
		map->alias = NULL;
	}
}

/* 0; or -ENOMEM, and then some mappings have an alias. */
static int kmmio_make_aliases(void)
{
	for (struct kmmio_map *map = kmmio_maps; map; map = map->next) {
		map->alias = map_device_pages(kmmio_first_page(map), kmmio_bytes(map));
		if (!map->alias)
			return -ENOMEM;
	}
	return 0;
}

static void kmmio_watch_all(const struct kmmio_watcher *watcher)
{
	WRITE_ONCE(kmmio_maker, watcher);
	smp_store_release(&kmmio_watching, watcher);
	for (struct kmmio_map *map = kmmio_maps; map; map = map->next) {
		watcher->mapped(map);
		kmmio_hide(map);
	}
}

/*
 * All aliases are made before the first page is hidden: a fault has no way to allocate one. When memory is short,
 * those that were made go again, and nothing has changed.
 */
int kmmio_watch(const struct kmmio_watcher *watcher)
{
	int err = 0;

	mutex_lock(&kmmio_mutex);
	if (kmmio_watching)
		err = -EBUSY;
	else if (kmmio_make_aliases())
		err = -ENOMEM;
	if (!err)
		kmmio_watch_all(watcher);
	else if (err == -ENOMEM)
		kmmio_drop_aliases();
	mutex_unlock(&kmmio_mutex);
	return err;
}

void kmmio_unwatch(void)
{
	mutex_lock(&kmmio_mutex);
	for (struct kmmio_map *map = kmmio_maps; map; map = map->next)
		kmmio_show(map);
	kmmio_wait_for_faults();
	kmmio_watching = NULL;
	kmmio_drop_aliases();
	mutex_unlock(&kmmio_mutex);
}

/* ---- Making and ending mappings */

/* At the end, so that the list is in the order of ids. Release: faults see a whole mapping. [kmmio_mutex] */
static void kmmio_link(struct kmmio_map *map)
{
	struct kmmio_map **link = &kmmio_maps;

	while (*link)
		link = &(*link)->next;
	map->id = ++kmmio_last_id;
	smp_store_release(link, map);
}

/* When there is a watcher, it is told of the caller's first access already. [kmmio_mutex] */
static void kmmio_publish(struct kmmio_map *map)
{
	kmmio_link(map);
	if (kmmio_watching) {
		kmmio_watching->mapped(map);
		kmmio_hide(map);
	}
}

/* Registers need not begin at a page: the pages around them are mapped, and the offset is added. */
void *ioremap(phys_addr_t phys, unsigned long size)
{
	unsigned long bytes = ALIGN((phys & ~PAGE_MASK) + size, PAGE_SIZE);
	struct kmmio_map *map = size ? kzalloc(sizeof(*map), GFP_KERNEL) : NULL;

	if (!map)
		return NULL;
	*map = (struct kmmio_map){.phys = phys, .len = size, .area = map_device_pages(phys & PAGE_MASK, bytes)};
	if (!map->area)
		goto free_map;
	mutex_lock(&kmmio_mutex);
	if (kmmio_watching) {
		map->alias = map_device_pages(phys & PAGE_MASK, bytes);
		if (!map->alias)
			goto unlock;
	}
	kmmio_publish(map);
	mutex_unlock(&kmmio_mutex);
	return (void *)kmmio_virt(map);

unlock:
	mutex_unlock(&kmmio_mutex);
	remove_vmap_area(map->area);
free_map:
	kfree(map);
	return NULL;
}

/* Take the mapping at this address out of the list. NULL: there is none. [kmmio_mutex] */
static struct kmmio_map *kmmio_unlink(unsigned long start)
{
	struct kmmio_map **link = &kmmio_maps, *map;

	while (*link && (*link)->area->start != start)
		link = &(*link)->next;
	map = *link;
	if (map)
		WRITE_ONCE(*link, map->next);
	return map;
}

/*
 * A late fault of the last access may be under way on another CPU: the memory goes when no fault can use it any more
 * (kmmio_wait_for_faults).
 */
void iounmap(void *addr)
{
	struct kmmio_map *map;

	if (!addr)
		return;
	mutex_lock(&kmmio_mutex);
	map = kmmio_unlink((unsigned long)addr & PAGE_MASK);
	if (map && kmmio_watching)
		kmmio_watching->unmapped(map);
	if (map)
		kmmio_wait_for_faults();
	mutex_unlock(&kmmio_mutex);
	if (!map) {
		pr_err("BUG: iounmap of %px, where no mapping starts\n", addr);
		dump_stack();
		return;
	}
	remove_vmap_area(map->area);
	if (map->alias)
		remove_vmap_area(map->alias);
	kfree(map);
}

/* ---- Faults. Interrupts off, any context; not traced. */

static notrace struct kmmio_map *kmmio_find(unsigned long address)
{
	struct kmmio_map *map = smp_load_acquire(&kmmio_maps);

	while (map && address - map->area->start >= kmmio_bytes(map))
		map = smp_load_acquire(&map->next);
	return map;
}

/*
 * Does a watcher run on this CPU? It must not be told of its own accesses, as when its clock reads a device. The second
 * flag is for NMIs, which may come in the middle of the first watcher.
 */
static DEFINE_PER_CPU(bool, kmmio_in_watcher[2]); /* [its CPU, interrupts off; an NMI] */

notrace void *kmmio_alias(const struct kmmio_map *map, unsigned long address, unsigned bytes)
{
	unsigned long at = address - map->area->start;

	if (at >= kmmio_bytes(map) || bytes > kmmio_bytes(map) - at)
		return NULL;
	return (void *)(map->alias->start + at);
}

notrace void kmmio_give_back(const struct kmmio_map *map, unsigned long address)
{
	kmmio_show_page(map, address & PAGE_MASK);
}

notrace bool kmmio_fault(struct pt_regs *regs, unsigned long address)
{
	const struct kmmio_map *map = kmmio_find(address);
	bool *in = &(*this_cpu_ptr(&kmmio_in_watcher))[!!in_nmi()], nested = map && *in;

	if (!map)
		return false;
	if (pte_present(READ_ONCE(*pte_lookup(init_mm.pgd, address))))
		return true; /* it has come back meanwhile */
	*in = true;
	READ_ONCE(kmmio_maker)->access(map, regs, address, !nested && READ_ONCE(kmmio_watching));
	*in = nested;
	return true;
}
