/* The kernel's own address space at boot. */
#include <arch/mmu.h>
#include <kernel/panic.h>
#include <mm/mm.h>

#include "../task/context.h"
#include "../exception.h"

/* Below the one top-level entry of vmalloc: there from the start, so that it is in every address space. */
static pgd_t vmalloc_pud[512] __aligned(4096);

/* Where firmware's and the loader's structures were reached. */
static void drop_identity_map(void)
{
	for (unsigned i = 0; i < USER_PGD_ENTRIES; i++)
		swapper_pg_dir[i].v = 0;
	flush_tlb_local_all();
}

/* The image has its final protections since x86_head.S; what is left is the RAM. */
void paging_init(void)
{
	init_mm.pgd = swapper_pg_dir;
	if (!extable_check())
		panic("exception table is not ascending");
	static_assert(VMALLOC_START >> PGDIR_SHIFT == (VMALLOC_END - 1) >> PGDIR_SHIFT, "vmalloc: one entry");
	swapper_pg_dir[(VMALLOC_START >> PGDIR_SHIFT) & 511].v = __pa_symbol(vmalloc_pud) | PTE_KERNEL_TABLE;
	linear_map_init();
	pgd_kernel_complete();
	drop_identity_map();
}
