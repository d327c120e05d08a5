/* The kernel's own address space at boot: the linear map of all RAM. */
#include <asm/barrier.h>
#include <asm/fixmap.h>
#include <asm/mmu.h>
#include <asm/pgtable.h>
#include <boot/boot_info.h>
#include <boot/fdt.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <mm/page.h>

#include "exception.h"

extern const char _text[], __end_rodata[];

unsigned long kimage_voffset = 1; /* not in bss: head.S writes it, but nothing may clear it after */

/*
 * The tables of the linear map come from one free range of RAM, and are reached through the fixmap while they
 * are filled: the linear map, through which they will be seen, is not there yet. [boot]
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
			panic("paging_init: more tables needed than counted");
		*entry = (pool.base + pool.used++ * PAGE_SIZE) | PTE_TABLE;
	}
	return table_at(*entry & PTE_ADDR_MASK);
}

/* Text and read-only data: nobody writes them through the linear map either. */
static bool in_kernel_rodata(phys_addr_t start, phys_addr_t end)
{
	return start < __pa_symbol(__end_rodata) && end > __pa_symbol(_text);
}

static void map_linear_page(u64 *pmd, phys_addr_t pa)
{
	u64 prot = in_kernel_rodata(pa, pa + PAGE_SIZE) ? PROT_KERNEL_RO : PROT_KERNEL;

	next_table(pmd)[(pa >> PAGE_SHIFT) & 511] = pa | prot;
}

static void map_linear(phys_addr_t pa, phys_addr_t end)
{
	while (pa < end) {
		unsigned long va = (unsigned long)__va(pa);
		u64 *pmd = &next_table(&swapper_pg_dir[(va >> PUD_SHIFT) & 511].v)[(va >> PMD_SHIFT) & 511];

		if (IS_ALIGNED(pa, PMD_SIZE) && end - pa >= PMD_SIZE &&
		    !in_kernel_rodata(pa, pa + PMD_SIZE)) {
			*pmd = pa | (PROT_KERNEL & ~PTE_PAGE) | PTE_BLOCK;
			pa += PMD_SIZE;
		} else {
			map_linear_page(pmd, pa);
			pa += PAGE_SIZE;
		}
	}
}

/* An upper bound: a level-2 table for each GiB touched, level-3 tables for both ends and for the kernel's
 * blocks. */
static unsigned count_tables(void)
{
	unsigned n = 1 + ((unsigned long)(__end_rodata - _text) >> PMD_SHIFT) + 1;

	for (unsigned i = 0; i < boot_info.nr_memory; i++) {
		const struct boot_region *r = &boot_info.memory[i];

		n += ((r->base + r->size - 1) >> PUD_SHIFT) - (r->base >> PUD_SHIFT) + 1 + 2;
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

void paging_init(void)
{
	init_mm.pgd = swapper_pg_dir;
	if (!extable_check())
		panic("exception table is not ascending");
	pool_open();
	for (unsigned i = 0; i < boot_info.nr_memory; i++)
		map_linear(boot_info.memory[i].base, boot_info.memory[i].base + boot_info.memory[i].size);
	dsb(ishst);
	isb();
	pool_close();
	if (boot_info.fdt) {
		boot_info.fdt = __va(boot_info.fdt_phys);
		fdt_move(boot_info.fdt);
		fixmap_unmap_fdt();
	}
	for (unsigned i = 0; i < boot_info.nr_memory; i++)
		memblock_add(boot_info.memory[i].base, boot_info.memory[i].size);
	for (unsigned i = 0; i < boot_info.nr_reserved; i++)
		memblock_reserve(boot_info.reserved[i].base, boot_info.reserved[i].size);
}
