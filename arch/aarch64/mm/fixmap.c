/* Mappings at fixed addresses, for before there is an allocator and for moments. Not traced: patching uses it. */
#include <arch/fixmap.h>
#include <arch/pgtable.h>
#include <asm/barrier.h>

static pgd_t fixmap_pmd[512] __aligned(4096);
pte_t fixmap_pte[FIX_SLOTS] __aligned(4096);
static phys_addr_t fdt_block; /* first of the two mapped blocks [boot] */

static u64 *fixmap_pmd_slot(unsigned long va)
{
	return &fixmap_pmd[(va >> PMD_SHIFT) & 511].v;
}

void fixmap_init(void)
{
	static_assert(FIXMAP_FDT >> PUD_SHIFT == FIXMAP_START >> PUD_SHIFT, "one level-2 table serves both");
	swapper_pg_dir[(FIXMAP_START >> PUD_SHIFT) & 511].v = __pa_symbol(fixmap_pmd) | PTE_TABLE;
	*fixmap_pmd_slot(FIXMAP_START) = __pa_symbol(fixmap_pte) | PTE_TABLE;
	dsb(ishst);
	isb();
}

/*
 * Broken before it is made. A CPU that does not use the slot may hold an older page, looked at ahead of time: it
 * forgets that here, when the slot is its own again, before the new page can be seen.
 */
notrace void set_fixmap(unsigned slot, phys_addr_t phys, pgprot_t prot)
{
	set_pte(&fixmap_pte[slot], (pte_t){0});
	flush_tlb_local_page(fix_to_virt(slot));
	if (prot.v)
		set_pte(&fixmap_pte[slot], mk_pte(phys, prot));
}

const void *fixmap_map_fdt(phys_addr_t phys)
{
	fdt_block = phys & ~(PMD_SIZE - 1);
	for (unsigned i = 0; i < 2; i++)
		*fixmap_pmd_slot(FIXMAP_FDT + i * PMD_SIZE) =
			(fdt_block + i * PMD_SIZE) | (PROT_KERNEL_RO & ~PTE_PAGE) | PTE_BLOCK;
	dsb(ishst);
	isb();
	return (const void *)(FIXMAP_FDT + (phys - fdt_block));
}

void fixmap_unmap_fdt(void)
{
	for (unsigned i = 0; i < 2; i++)
		*fixmap_pmd_slot(FIXMAP_FDT + i * PMD_SIZE) = 0;
	flush_tlb_kernel_range(FIXMAP_FDT, FIXMAP_FDT + 2 * PMD_SIZE);
}
