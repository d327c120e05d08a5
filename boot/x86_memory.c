/*
 * Owners of the memory of a PC: the loader's memory map, what firmware keeps below 1 MiB,
 * and the page in which other CPUs start. All of it goes to boot_info before the allocator exists.
 *
 *     0        page 0: interrupt table and BIOS data area           reserved
 *     4 KiB    free                                                 the highest page becomes x86_trampoline_page
 *     ~639 KiB extended BIOS data area                              reserved
 *     640 KiB  video memory, BIOS
 */
#include <asm/page.h>
#include <boot/boot_info.h>
#include <boot/x86_boot.h>
#include <kernel/printk.h>

/*
 * Memory that real-mode firmware may still use, or that start-up interrupts can name (their vector is a page
 * below 1 MiB).
 */
#define LOW_MEMORY_END 0xa0000
#define BDA_EBDA       0x40e   /* segment of the extended BIOS data area, in the BIOS data area (page 0) */
#define EBDA_LOWEST    0x80000 /* below it the word at BDA_EBDA is something else: no BIOS has been here */

phys_addr_t x86_trampoline_page;

phys_addr_t x86_ebda(void)
{
	const u16 *segment = boot_map(BDA_EBDA, sizeof(*segment));
	phys_addr_t at = (phys_addr_t)*segment << 4;

	return at >= EBDA_LOWEST && at < LOW_MEMORY_END ? at : 0;
}

/* Does the range share a byte with one of the regions? */
static bool overlaps(const struct boot_region *regions, unsigned nr, u64 base, u64 size)
{
	for (unsigned i = 0; i < nr; i++)
		if (base < regions[i].base + regions[i].size && regions[i].base < base + size)
			return true;
	return false;
}

void x86_boot_memory(u64 base, u64 size, u32 type)
{
	if (type == E820_RAM)
		boot_add_memory(base, size);
	else if (overlaps(boot_info.memory, boot_info.nr_memory, base, size))
		boot_reserve(base, size);
}

/* Reserve what is firmware's below 1 MiB, although the memory map may call it RAM. */
static void reserve_firmware(void)
{
	phys_addr_t ebda = x86_ebda();

	boot_reserve(0, PAGE_SIZE);
	if (ebda && overlaps(boot_info.memory, boot_info.nr_memory, ebda, LOW_MEMORY_END - ebda))
		boot_reserve(ebda, LOW_MEMORY_END - ebda);
}

/*
 * Take a page for the start of other CPUs: the highest free one that a start-up interrupt can name.
 * Without one the machine runs with the boot CPU alone.
 */
static void reserve_trampoline(void)
{
	for (u64 page = LOW_MEMORY_END - PAGE_SIZE; page; page -= PAGE_SIZE) {
		if (!overlaps(boot_info.memory, boot_info.nr_memory, page, PAGE_SIZE) ||
		    overlaps(boot_info.reserved, boot_info.nr_reserved, page, PAGE_SIZE))
			continue;
		x86_trampoline_page = page;
		boot_reserve(page, PAGE_SIZE);
		return;
	}
	pr_warn("boot: no free page below 1 MiB: other CPUs cannot be started\n");
}

void x86_reserve_low_memory(void)
{
	reserve_firmware();
	reserve_trampoline();
}
