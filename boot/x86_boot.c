/*
 * From the loader's structures to boot_info: the first C code on x86_64. It runs on the boot CPU
 * with interrupts off. The image and the first 4 GiB of physical memory are mapped, the latter for
 * what firmware and loader have left. Everything is read from there now, because paging_init()
 * takes that mapping away (boot/acpi.c says why this is safe).
 */
#include <arch/fixmap.h>
#include <asm/clock.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/page.h>
#include <boot/acpi.h>
#include <boot/boot_info.h>
#include <boot/x86_boot.h>
#include <drivers/early_console.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/string.h>

#include "../arch/x86_64/exception.h"

extern char _text[], _end[];

#define COM1	      0x3f8
#define EARLY_MAP_END (1UL << 32) /* of x86_head.S */

const void *boot_map(u64 phys, u64 size)
{
	if (!phys || phys >= EARLY_MAP_END || size > EARLY_MAP_END - phys)
		return NULL;
	__asm__("" : "+r"(phys)); /* not a constant: gcc holds that no object lies in the first page */
	return (const void *)phys;
}

/*
 * Read what the loader tells. Without it there is neither memory nor a command line, and no way to
 * go on.
 */
static void read_loader(u32 magic, phys_addr_t info)
{
	const char *wrong;

	boot_info.loader = magic == PVH_MAGIC ? "PVH" : "multiboot2";
	wrong = magic == PVH_MAGIC ? pvh_read(info) : multiboot2_read(info);
	if (wrong)
		panic("boot: no usable %s information at 0x%lx: %s", boot_info.loader, (unsigned long)info, wrong);
	if (!boot_info.nr_memory)
		panic("boot: %s gives no memory", boot_info.loader);
}

/*
 * This CPU's APIC id. Leaf 0xb gives all 32 bits where it is there, leaf 1 gives eight (SDM vol. 2,
 * CPUID). The local APIC could tell too, but it is not mapped yet.
 */
static u32 boot_apic_id(void)
{
	if (cpu_features.max_leaf >= 0xb && cpuid(0xb, 0).ebx)
		return cpuid(0xb, 0).edx;
	return cpuid(1, 0).ebx >> 24;
}

/*
 * The name that people know the machine by, if SMBIOS has it; else the one in the ACPI tables, which is their maker's.
 */
static void read_machine(void)
{
	if (smbios_read())
		return;
	boot_info.machine = *acpi_info.oem ? acpi_info.oem : "unknown PC";
}

/*
 * Get 64 random bits. RDRAND may find nothing ready; failing ten times in a row means that it is
 * broken (SDM vol. 1, 7.3.17.1).
 */
static bool rdrand(u64 *value)
{
	for (int i = 0; i < 10; i++) {
		bool ok;

		__asm__ volatile("rdrand %0" : "=r"(*value), "=@ccc"(ok));
		if (ok)
			return true;
	}
	return false;
}

#define CPUID_1_ECX_RDRAND (1U << 30)

/*
 * Fill the seed with as many words as the CPU gives. A CPU without RDRAND gives none, and then
 * there is no seed.
 */
static void read_rng_seed(void)
{
	u64 word;

	if (!(cpuid(1, 0).ecx & CPUID_1_ECX_RDRAND))
		return;
	while (boot_info.rng_seed_len + sizeof(word) <= sizeof(boot_info.rng_seed) && rdrand(&word)) {
		memcpy(boot_info.rng_seed + boot_info.rng_seed_len, &word, sizeof(word));
		boot_info.rng_seed_len += sizeof(word);
	}
}

/*
 * From the first line of C to boot_info filled. magic, info: what the loader gave (eax, ebx). entry_time: TSC at entry.
 * Context: boot, interrupts off, one CPU.
 */
void x86_boot(u32 magic, phys_addr_t info, u64 entry_time)
{
	/* First what an exception needs, then what a message needs; before that a mistake is a reset. */
	cpu_features_init();
	cpu_setup();
	cpu_desc_init();
	fpu_init();
	fixmap_init();
	early_console_start(COM1);
	boot_info.boot_cpu_time = entry_time;
	/* From here to paging_init boot_map() works, and all that firmware and loader left is read now. */
	read_loader(magic, info);
	boot_check_initrd();
	boot_reserve(__pa_symbol(_text), _end - _text);
	x86_reserve_low_memory();
	boot_add_cpu(boot_apic_id());
	acpi_init();					       /* the others */
	tsc_init((void *)boot_map(acpi_info.hpet, PAGE_SIZE)); /* stamps from here on */
	read_machine();
	read_rng_seed();
	pr_info("Booting on CPU 0x%lx by %s: %s\n", (unsigned long)boot_info.cpu_hwid[0], boot_info.loader,
		boot_info.machine);
}
