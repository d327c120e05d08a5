/*
 * The linear map of all RAM at PAGE_OFFSET, made at boot. Its page tables come from one free range of that RAM. An
 * upper bound of their number is counted first (count_tables), a free range of that size is found in the firmware's
 * memory map, and it is reached through fixmap slots while the tables are filled, because the linear map through which
 * they will be seen does not exist yet. Tables that were not needed are given back.
 *
 * RAM is mapped in blocks of PMD_SIZE where it can be. The image's text and read-only data are mapped in pages and
 * read-only, so that the linear map is no way around their protection.
 *
 * Boot CPU only, before memblock_alloc() may be called. There is no lock.
 */
#include <arch/fixmap.h>
#include <boot/boot_info.h>
#include <kernel/panic.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/pgtable.h>

#include "../pgtable_walk.h"

extern const char _text[], __end_rodata[];

/* The pool of tables. [boot] */
static struct {
	phys_addr_t base; /* first table */
	unsigned used, max;
} pool;

/* A table of the pool, through its fixmap slot. */
static u64 *table_at(phys_addr_t phys)
{
	return (u64 *)(fix_to_virt(FIX_TABLES) + (phys - pool.base));
}

/* The table that *entry points to, made if the entry is empty. Pages of the pool were zeroed. */
static u64 *next_table(u64 *entry)
{
	if (!*entry) {
		if (pool.used == pool.max)
			panic("linear_map_init: more tables needed than counted");
		*entry = table_entry(pool.base + pool.used++ * PAGE_SIZE);
	}
	return table_at(*entry & PTE_ADDR_MASK);
}

/* Text and read-only data of the image: the linear map must not be a way to write them. */
static bool in_kernel_rodata(phys_addr_t start, phys_addr_t end)
{
	return start < __pa_symbol(__end_rodata) && end > __pa_symbol(_text);
}

static void map_page(u64 *pmd, phys_addr_t pa)
{
	pte_t *slot = (pte_t *)&next_table(pmd)[table_index((unsigned long)__va(pa), PAGE_SHIFT)];

	set_pte(slot, mk_pte(pa, in_kernel_rodata(pa, pa + PAGE_SIZE) ? PAGE_KERNEL_RO : PAGE_KERNEL));
}

/* The entry for va in a table of blocks, with the tables above it made if they are missing. */
static u64 *pmd_of(unsigned long va)
{
	u64 *table = &swapper_pg_dir[0].v;

	for (unsigned shift = PGDIR_SHIFT; shift > PMD_SHIFT; shift -= TABLE_BITS)
		table = next_table(&table[table_index(va, shift)]);
	return &table[table_index(va, PMD_SHIFT)];
}

/* Map [pa, end) with blocks where alignment, length and protection allow it, and with pages elsewhere. */
static void map_region(phys_addr_t pa, phys_addr_t end)
{
	while (pa < end) {
		u64 *pmd = pmd_of((unsigned long)__va(pa));

		if (IS_ALIGNED(pa, PMD_SIZE) && end - pa >= PMD_SIZE && !in_kernel_rodata(pa, pa + PMD_SIZE)) {
			set_pte((pte_t *)pmd, mk_block(pa, PAGE_KERNEL));
			pa += PMD_SIZE;
		} else {
			map_page(pmd, pa);
			pa += PAGE_SIZE;
		}
	}
}

/*
 * An upper bound of the tables needed: at each level one for each part that a region touches, and leaf tables for both
 * ends of a region and for the blocks that the kernel's text lies in.
 */
static unsigned count_tables(void)
{
	unsigned n = 1 + ((unsigned long)(__end_rodata - _text) >> PMD_SHIFT) + 1;

	for (unsigned i = 0; i < boot_info.nr_memory; i++) {
		const struct boot_region *r = &boot_info.memory[i];

		for (unsigned shift = PGDIR_SHIFT; shift > PMD_SHIFT; shift -= TABLE_BITS)
			n += ((r->base + r->size - 1) >> shift) - (r->base >> shift) + 1;
		n += 2;
	}
	return n;
}

/* Where [base, base + size) meets a reserved region, the end of that region; else 0. */
static phys_addr_t reserved_end(phys_addr_t base, u64 size)
{
	for (unsigned i = 0; i < boot_info.nr_reserved; i++) {
		const struct boot_region *r = &boot_info.reserved[i];

		if (base < r->base + r->size && base + size > r->base)
			return r->base + r->size;
	}
	return 0;
}

/*
 * The lowest free place of `size` bytes. Each collision moves the candidate behind the region that it meets, so the
 * inner loop ends.
 */
static phys_addr_t find_free(u64 size)
{
	for (unsigned i = 0; i < boot_info.nr_memory; i++) {
		const struct boot_region *r = &boot_info.memory[i];
		phys_addr_t base = r->base, past;

		while ((past = reserved_end(base, size)))
			base = ALIGN(past, PAGE_SIZE);
		if (base + size <= r->base + r->size)
			return base;
	}
	panic("no room in RAM for %lu KiB of page tables", (unsigned long)size >> 10);
}

/* Find room for the tables, map it in the fixmap, and zero it. */
static void pool_open(void)
{
	pool.max = count_tables();
	if (pool.max > FIX_TABLES_END - FIX_TABLES || boot_info.nr_reserved == BOOT_MAX_REGIONS)
		panic("too much memory (%u tables, %u reserved regions)", pool.max, boot_info.nr_reserved);
	pool.base = find_free(pool.max * PAGE_SIZE);
	for (unsigned i = 0; i < pool.max; i++)
		set_fixmap(FIX_TABLES + i, pool.base + i * PAGE_SIZE, PAGE_KERNEL);
	memset(table_at(pool.base), 0, pool.max * PAGE_SIZE);
}

/* Unmap the pool, and reserve the tables that were used; the others stay free. */
static void pool_close(void)
{
	for (unsigned i = 0; i < pool.max; i++)
		set_fixmap(FIX_TABLES + i, 0, __pgprot(0));
	boot_info.reserved[boot_info.nr_reserved++] = (struct boot_region){pool.base, pool.used * PAGE_SIZE};
}

/*
 * No barrier is needed against the table walkers. One that finds a leaf entry has found the tables above it: set_pte()
 * stored the leaf after them, and after the zeroes in them.
 */
void linear_map_init(void)
{
	pool_open();
	for (unsigned i = 0; i < boot_info.nr_memory; i++)
		map_region(boot_info.memory[i].base, boot_info.memory[i].base + boot_info.memory[i].size);
	pool_close();
	for (unsigned i = 0; i < boot_info.nr_memory; i++)
		memblock_add(boot_info.memory[i].base, boot_info.memory[i].size);
	for (unsigned i = 0; i < boot_info.nr_reserved; i++)
		memblock_reserve(boot_info.reserved[i].base, boot_info.reserved[i].size);
}
