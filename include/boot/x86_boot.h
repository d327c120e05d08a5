/* From boot/x86_head.S to C, what the boot protocols tell, and the way in for other CPUs. */
#pragma once

/*
 * What x86_head.S passes on as `magic`: in eax by multiboot2 (its specification, 3.2), in the structure
 * itself by PVH.
 */
#define MULTIBOOT2_MAGIC 0x36d76289
#define PVH_MAGIC	 0x336ec578

#ifndef __ASSEMBLY__
#include <lib/types.h>

struct secondary_data;

/* On the boot stack, paging on, IDT not yet: info is a physical address, entry_time the TSC. */
void x86_boot(u32 magic, phys_addr_t info, u64 entry_time);

/*
 * Bytes that firmware or loader left at [phys, phys + size), through the early identity map. NULL when that
 * does not reach them (it ends at 4 GiB), or for address 0. The pointer is good until paging_init: copy what
 * is needed for longer.
 */
const void *boot_map(u64 phys, u64 size);

/* The extended BIOS data area, which ends at 640 KiB; 0 when no BIOS has left one. Boot, before paging_init. */
phys_addr_t x86_ebda(void);

/* Memory map entries as E820 numbers them; both protocols use its numbers. */
#define E820_RAM 1
/* One entry of the memory map. All RAM goes first: what is not RAM is taken out of RAM that it overlaps. */
void x86_boot_memory(u64 base, u64 size, u32 type);
/* What firmware has below 1 MiB, and x86_trampoline_page. Boot, when all else is reserved. */
void x86_reserve_low_memory(void);

/*
 * Read all that the loader's structure at `info` tells, into boot_info and boot_command_line. NULL, or what
 * is wrong with it. boot_info.rsdp stays 0 when it does not know.
 */
const char *pvh_read(phys_addr_t info);
const char *multiboot2_read(phys_addr_t info);

/* The machine's name by SMBIOS (DMTF DSP0134), into boot_info.machine; false when there is none. */
bool smbios_read(void);

/*
 * The way in for other CPUs (boot/x86_trampoline.S): x86_trampoline_start to _end are copied to a page below
 * 1 MiB, where a start-up interrupt lets a CPU begin in real mode. It reads the struct secondary_data that
 * lies in the copy at x86_trampoline_data and ends in secondary_cpu_init and secondary_start_kernel.
 */
extern char x86_trampoline_start[], x86_trampoline_data[], x86_trampoline_end[];
/* Where the copy goes [boot, then immutable]; 0: there is no such page, and no other CPU can be started. */
extern phys_addr_t x86_trampoline_page;
/*
 * Fill the page for one CPU, which starts with `data`. The previous CPU must have left the trampoline (be
 * online). Sets data->cr3 itself: page tables to turn paging on with, which have the kernel's half and, in
 * the user's half, nothing but the page at its physical address, r-x; secondary_switched leaves them. Returns
 * the page's number for the start-up interrupt, -ENODEV when there is no page. Thread context, after
 * paging_init.
 */
int x86_trampoline_prepare(struct secondary_data *data);
#endif
