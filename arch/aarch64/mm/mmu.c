/* The kernel's own address space at boot. */
#include <arch/fixmap.h>
#include <arch/mmu.h>
#include <boot/boot_info.h>
#include <boot/fdt.h>
#include <kernel/panic.h>
#include <mm/mm.h>

#include "../exception.h"

unsigned long kimage_voffset = 1; /* not in bss: arm64_head.S writes it, but nothing may clear it after */

/* The image has its final protections since arm64_head.S; what is left is the RAM, and the FDT in it. */
void paging_init(void)
{
	init_mm.pgd = swapper_pg_dir;
	if (!extable_check())
		panic("exception table is not ascending");
	linear_map_init();
	if (boot_info.fdt) {
		boot_info.fdt = __va(boot_info.fdt_phys);
		fdt_move(boot_info.fdt);
		fixmap_unmap_fdt();
	}
}
