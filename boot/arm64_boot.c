/*
 * From the FDT to boot_info: the first C code on aarch64. It runs on the boot CPU with interrupts
 * off, with the MMU on and only the kernel's image mapped: other memory, the FDT's too, is reached
 * through the fixmap. The order of steps in arm64_boot() is: what every later step needs, a console
 * as early as possible, and then the FDT's contents.
 */
#include <arch/fixmap.h>
#include <asm/barrier.h>
#include <asm/page.h>
#include <asm/sysreg.h>
#include <boot/arm64_boot.h>
#include <boot/boot_info.h>
#include <boot/fdt.h>
#include <drivers/early_console.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/string.h>
#include <time/clock.h>

#include "../arch/aarch64/task/context.h"
#include "../arch/aarch64/exception.h"
#include "../arch/aarch64/smp.h"

extern char _text[], _end[], reserved_pg_dir[];

#define MPIDR_HWID_MASK 0xff00ffffffUL /* Aff3, Aff2..Aff0 (D19.2.99) */

/* Does the node's property device_type have this value? */
static bool device_type_is(int node, const char *type)
{
	const char *s = fdt_getstring(node, "device_type");

	return s && !strcmp(s, type);
}

/*
 * Tell boot_info of all usable RAM: nodes with device_type "memory", each with any number of
 * ranges.
 */
static void scan_memory(void)
{
	u64 base, size;

	for (int n = fdt_next_node(-1, NULL); n >= 0; n = fdt_next_node(n, NULL)) {
		if (device_type_is(n, "memory") && fdt_is_available(n))
			for (unsigned i = 0; !fdt_read_reg(n, i, &base, &size); i++)
				boot_add_memory(base, size);
	}
	if (!boot_info.nr_memory)
		panic("the FDT describes no memory");
}

/*
 * Reserve what the FDT sets aside. There are two places: the reservation block, which is as old as
 * the format, and the children of /reserved-memory. A child of a child is at depth 2 and is read
 * too, which does no harm.
 */
static void scan_reserved(void)
{
	int parent = fdt_path_node("/reserved-memory"), depth = 0;
	u64 base, size;

	for (unsigned i = 0; fdt_reservation(i, &base, &size); i++)
		boot_reserve(base, size);
	if (parent < 0)
		return;
	for (int n = fdt_next_node(parent, &depth); n >= 0 && depth > 0; n = fdt_next_node(n, &depth))
		for (unsigned i = 0; fdt_is_available(n) && !fdt_read_reg(n, i, &base, &size); i++)
			boot_reserve(base, size);
}

/*
 * Tell boot_info of the CPUs. The boot CPU is added first, so it becomes CPU 0 whatever the order
 * of nodes. Others are added only if firmware can start them by PSCI, the only method that this
 * kernel knows.
 */
static void scan_cpus(void)
{
	u64 boot_cpu = read_sysreg(mpidr_el1) & MPIDR_HWID_MASK, hwid;

	boot_add_cpu(boot_cpu);
	for (int n = fdt_next_node(-1, NULL); n >= 0; n = fdt_next_node(n, NULL)) {
		const char *method = fdt_getstring(n, "enable-method");

		if (!device_type_is(n, "cpu") || !fdt_is_available(n) || fdt_read_number(n, "reg", &hwid) ||
		    hwid == boot_cpu)
			continue;
		if (!method || strcmp(method, "psci"))
			pr_warn("boot: CPU 0x%lx has no enable-method that we know\n", (unsigned long)hwid);
		else
			boot_add_cpu(hwid);
	}
}

/* Read /chosen, where the loader leaves what it wants to tell: command line, initrd, random bytes. */
static void scan_chosen(void)
{
	int chosen = fdt_path_node("/chosen"), len;
	const char *args = fdt_getstring(chosen, "bootargs");
	const void *seed = fdt_getprop(chosen, "rng-seed", &len);
	u64 start, end;

	if (args)
		boot_set_command_line(args);
	if (!fdt_read_number(chosen, "linux,initrd-start", &start) &&
	    !fdt_read_number(chosen, "linux,initrd-end", &end) && end > start)
		boot_set_initrd(start, end - start);
	if (seed) {
		boot_info.rng_seed_len = min_t(unsigned, len, sizeof(boot_info.rng_seed));
		memcpy(boot_info.rng_seed, seed, boot_info.rng_seed_len);
	}
}

/* The machine's name. It is copied, so that it does not depend on the mapping of the FDT. */
static void scan_model(void)
{
	static char model[64];
	const char *s = fdt_getstring(fdt_next_node(-1, NULL), "model");

	strscpy(model, s ? s : "unknown", sizeof(model));
	boot_info.machine = model;
}

/*
 * Write messages to the UART that /chosen names, if it is one that needs no driver for that.
 * Without one, messages wait in the log until the tty's driver is there.
 */
static void open_early_console(void)
{
	const char *path = fdt_getstring(fdt_path_node("/chosen"), "stdout-path");
	int node = path ? fdt_path_node(path) : -1;
	u64 base, size;

	if (node >= 0 && fdt_is_compatible(node, "arm,pl011") && !fdt_read_reg(node, 0, &base, &size))
		early_console_start(base);
}

/*
 * From the first line of C to boot_info filled. The order is that of needs: translation as it will stay, a clock for
 * stamps, then the device tree, a console to say what is wrong, firmware, memory. fdt: physical address, 0 for none.
 * entry_time: counter at entry. entry_el: CurrentEL then. Context: boot, interrupts off, one CPU.
 */
void arm64_boot(phys_addr_t fdt, u64 entry_time, u64 entry_el)
{
	const char *wrong;

	write_sysreg(__pa_symbol(reserved_pg_dir), ttbr0_el1); /* the identity map has done its work */
	isb();
	__asm__ volatile("tlbi vmalle1\n\tdsb nsh\n\tisb" : : : "memory");
	asid_init();
	fixmap_init();
	pan_init();
	clock_init(read_sysreg(cntfrq_el0)); /* stamps from here on; the timer's driver knows better if the FDT does */
	boot_info.boot_cpu_time = entry_time;
	boot_info.loader = "FDT";
	wrong = fdt ? fdt_open(fixmap_map_fdt(fdt), FDT_MAX_SIZE) : "x0 is zero";
	if (wrong) {
		semihosting_console_start(); /* where a UART is, only the FDT tells */
		panic("boot: no usable FDT at 0x%lx: %s", (unsigned long)fdt, wrong);
	}
	boot_info.fdt = (const void *)(FIXMAP_FDT + (fdt & (PMD_SIZE - 1)));
	boot_info.fdt_phys = fdt;
	open_early_console();
	psci_init();
	scan_memory();
	boot_reserve(__pa_symbol(_text), _end - _text);
	boot_reserve(fdt, fdt_size());
	scan_reserved();
	scan_cpus();
	scan_chosen();
	boot_check_initrd();
	scan_model();
	pr_info("Booting on CPU 0x%lx at EL%lu: %s\n", (unsigned long)boot_info.cpu_hwid[0],
		(unsigned long)(entry_el >> 2) & 3, boot_info.machine);
}
