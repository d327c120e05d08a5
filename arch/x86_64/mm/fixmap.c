/* Mappings at fixed addresses, for before there is an allocator and for moments. Not traced: patching uses it. */
#include <arch/fixmap.h>
#include <arch/pgtable.h>

static pgd_t fixmap_pmd[512] __aligned(4096);
pte_t fixmap_pte[FIX_SLOTS] __aligned(4096);

/* The last 512 GiB have a table already, in the image: it maps the image (boot/x86_head.S). */
void fixmap_init(void)
{
	phys_addr_t pud = swapper_pg_dir[(FIXMAP_START >> PGDIR_SHIFT) & 511].v & PTE_ADDR_MASK;

	((pgd_t *)(pud + LOAD_OFFSET))[(FIXMAP_START >> PUD_SHIFT) & 511].v =
		__pa_symbol(fixmap_pmd) | PTE_KERNEL_TABLE;
	fixmap_pmd[(FIXMAP_START >> PMD_SHIFT) & 511].v = __pa_symbol(fixmap_pte) | PTE_KERNEL_TABLE;
}

notrace void set_fixmap(unsigned slot, phys_addr_t phys, pgprot_t prot)
{
	set_pte(&fixmap_pte[slot], prot.v ? mk_pte(phys, prot) : (pte_t){0});
	flush_tlb_local_page(fix_to_virt(slot));
}
