/* The linear map of all RAM, made at boot with tables that come from that RAM. */
#include <asm/fixmap.h>
#include <boot/boot_info.h>
#include <kernel/panic.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/pgtable.h>

#include "pgtable_walk.h"

extern const char _text[], __end_rodata[];

/*
 * The tables come from one free range of RAM, and are reached through the fixmap while they are filled: the
 * linear map, through which they will be seen, is not there yet. [boot]
 */
static struct {
	phys_addr_t base; /* first table */
	unsigned used, max;
} pool;

static u64 *table_at(phys_addr_t phys)
{
	return (u64 *)(fix_to_virt(FIX_TABLES) + (phys - pool.base));
}

/* The table that *entry points to, made if there is none. */
static u64 *next_table(u64 *entry)
{
	if (!*entry) {
		if (pool.used == pool.max)
			panic("linear_map_init: more tables needed than counted");
		*entry = table_entry(pool.base + pool.used++ * PAGE_SIZE);
	}
	return table_at(*entry & PTE_ADDR_MASK);
}

/* Text and read-only data: nobody writes them through the linear map either. */
static bool in_kernel_rodata(phys_addr_t start, phys_addr_t end)
{
	return start < __pa_symbol(__end_rodata) && end > __pa_symbol(_text);
}

static void map_page(u64 *pmd, phys_addr_t pa)
{
	pte_t *slot = (pte_t *)&next_table(pmd)[table_index((unsigned long)__va(pa), PAGE_SHIFT)];

	set_pte(slot, mk_pte(pa, in_kernel_rodata(pa, pa + PAGE_SIZE) ? PAGE_KERNEL_RO : PAGE_KERNEL));
}

static u64 *pmd_of(unsigned long va)
{
	u64 *table = &swapper_pg_dir[0].v;

	for (unsigned shift = PGDIR_SHIFT; shift > PMD_SHIFT; shift -= TABLE_BITS)
		table = next_table(&table[table_index(va, shift)]);
	return &table[table_index(va, PMD_SHIFT)];
}

static void map_region(phys_addr_t pa, phys_addr_t end)
{
	while (pa < end) {
		u64 *pmd = pmd_of((unsigned long)__va(pa));

		if (IS_ALIGNED(pa, PMD_SIZE) && end - pa >= PMD_SIZE &&
		    !in_kernel_rodata(pa, pa + PMD_SIZE)) {
			set_pte((pte_t *)pmd, mk_block(pa, PAGE_KERNEL));
			pa += PMD_SIZE;
		} else {
			map_page(pmd, pa);
			pa += PAGE_SIZE;
		}
	}
}

/* An upper bound: at each level the tables for what each region touches, and leaf tables for both its ends
 * and for the kernel's blocks. */
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

/* Where [base, base+size) meets something reserved: the end of that, else 0. */
static phys_addr_t reserved_end(phys_addr_t base, u64 size)
{
	for (unsigned i = 0; i < boot_info.nr_reserved; i++) {
		const struct boot_region *r = &boot_info.reserved[i];

		if (base < r->base + r->size && base + size > r->base)
			return r->base + r->size;
	}
	return 0;
}

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

/* What was counted too high goes back. */
static void pool_close(void)
{
	for (unsigned i = 0; i < pool.max; i++)
		set_fixmap(FIX_TABLES + i, 0, __pgprot(0));
	boot_info.reserved[boot_info.nr_reserved++] = (struct boot_region){pool.base, pool.used * PAGE_SIZE};
}

/*
 * A walker that finds the leaf finds the tables above it too: set_pte stored it after them, and after the
 * zeroes in them.
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
