/*
 * What firmware and boot loader told, in one form for both machines. boot/ fills it before
 * start_kernel; from then on it is read only, so it has no lock.
 */
#pragma once

#include <lib/types.h>

#define BOOT_MAX_REGIONS 32
struct boot_region {
	phys_addr_t base;
	u64 size;
};
struct boot_info {
	struct boot_region memory[BOOT_MAX_REGIONS]; /* usable RAM */
	unsigned nr_memory;
	struct boot_region reserved[BOOT_MAX_REGIONS]; /* within it: kernel image, FDT, initrd, firmware */
	unsigned nr_reserved;
	struct boot_region initrd; /* size 0: none */
	unsigned nr_cpus;	   /* CPUs that can be started, boot CPU included and first */
	u64 cpu_hwid[64];	   /* MPIDR affinity or APIC id of each */
	u64 boot_cpu_time;	   /* counter when the kernel was entered */
	const char *loader;	   /* "FDT", "PVH", "multiboot2" */
	const void *fdt;	   /* linear address of the FDT, NULL without */
	phys_addr_t fdt_phys;	   /* its physical address */
	u8 rng_seed[64];	   /* random bytes from firmware, not secret for long: mix, then wipe */
	unsigned rng_seed_len;	   /* 0: none */
	phys_addr_t rsdp;	   /* ACPI root, 0 without */
	const char *machine;	   /* model string */
};
extern struct boot_info boot_info;
extern size_t initrd_tail_bytes; /* [I] after boot: so many at the end of the initrd are no archive but a bootconfig */

/*
 * For the machine's boot code, which fills it (boot/boot_info.c). What does not fit the arrays is left out
 * with a line on the console. Any machine's physical addresses, bytes; boot CPU, before paging_init.
 */
/* Usable RAM: whole pages of it, and only what the linear map reaches. Touching the last one added, it grows that. */
void boot_add_memory(u64 base, u64 size);
/* Not to be handed out: all pages that are touched. Need not be RAM. Nothing happens when it wraps or size is 0. */
void boot_reserve(u64 base, u64 size);
void boot_set_initrd(u64 base, u64 size); /* also reserves it */
/* Forget an initrd that is not all in RAM, with a line in the log: what is not RAM is not mapped. After all memory. */
void boot_check_initrd(void);
/* A CPU that can be started; one that is there already is not added again, so the boot CPU comes first. */
void boot_add_cpu(u64 hwid);
/* Into boot_command_line, cut when it is too long. */
void boot_set_command_line(const char *line);

/* Start of C, on the boot CPU's idle stack, MMU on, interrupts off; boot_info and boot_command_line are
 * filled. */
void start_kernel(void) __noreturn;
