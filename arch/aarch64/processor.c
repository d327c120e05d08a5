/* This CPU: idling, halting, what it is called and what it can do. */
#include <arch/processor.h>
#include <asm/barrier.h>
#include <asm/elf.h>
#include <asm/sysreg.h>
#include <lib/printf.h>

notrace void arch_cpu_idle(void)
{
	dsb(sy); /* what was written before is on its way before the CPU goes to sleep */
	__asm__ volatile("wfi" : : : "memory");
}

#define TIMER_IMASK BIT(1) /* CNTV_CTL_EL0: the timer's interrupt is held back (Arm ARM D13.8.25) */

/*
 * A masked interrupt ends WFI as long as it is pending, so a timer that is due would have the CPU spin to the end of
 * the stop. Therefore the timer is silent meanwhile; it is due again behind the wait. A device's may still be pending:
 * they are few.
 */
noinstr void arch_parked_wait(void)
{
	u64 timer = read_sysreg(cntv_ctl_el0);

	write_sysreg(timer | TIMER_IMASK, cntv_ctl_el0);
	isb();
	dsb(sy);
	__asm__ volatile("wfi" : : : "memory");
	write_sysreg(timer, cntv_ctl_el0);
}

void arch_halt(void)
{
	__asm__ volatile("msr daifset, #0xf" : : : "memory");
	for (;;)
		__asm__ volatile("wfi" : : : "memory");
}

/* MIDR_EL1: implementer in 31:24, part number in 15:4 (Arm's are in each core's technical reference manual). */
static const struct {
	u8 implementer;
	u16 part;
	const char *name;
} known_cpus[] = {
	{0x41, 0xd03, "Cortex-A53"},  {0x41, 0xd05, "Cortex-A55"},  {0x41, 0xd07, "Cortex-A57"},
	{0x41, 0xd08, "Cortex-A72"},  {0x41, 0xd0b, "Cortex-A76"},  {0x41, 0xd0c, "Neoverse-N1"},
	{0x41, 0xd40, "Neoverse-V1"}, {0x41, 0xd49, "Neoverse-N2"}, {0x00, 0x051, "QEMU max"},
};

const char *arch_cpu_name(void)
{
	static char unknown[32]; /* all CPUs write the same text */
	u64 midr = read_sysreg(midr_el1);

	for (unsigned i = 0; i < ARRAY_SIZE(known_cpus); i++)
		if (known_cpus[i].implementer == ((midr >> 24) & 0xff) && known_cpus[i].part == ((midr >> 4) & 0xfff))
			return known_cpus[i].name;
	snprintf(unknown, sizeof(unknown), "ARMv8 (MIDR 0x%08lx)", (unsigned long)midr);
	return unknown;
}

/* A 4-bit field of an ID register. */
static unsigned id_field(u64 reg, unsigned shift)
{
	return (reg >> shift) & 15;
}

/*
 * AT_HWCAP: what programs may use, as Linux numbers the bits. Each field of an ID register counts up with what it adds,
 * so a comparison is enough.
 */
unsigned long arch_elf_hwcap(void)
{
	u64 isar0 = read_sysreg(id_aa64isar0_el1), pfr0 = read_sysreg(id_aa64pfr0_el1);
	unsigned long cap = 0;

	/* FP and AdvSIMD: 15 means absent, 1 adds half precision. HWCAP bits 0, 1, 9, 10. */
	if (id_field(pfr0, 16) != 15)
		cap |= BIT(0) | (id_field(pfr0, 16) ? BIT(9) : 0);
	if (id_field(pfr0, 20) != 15)
		cap |= BIT(1) | (id_field(pfr0, 20) ? BIT(10) : 0);
	cap |= id_field(isar0, 4) ? BIT(3) : 0;	      /* AES */
	cap |= id_field(isar0, 4) >= 2 ? BIT(4) : 0;  /* PMULL */
	cap |= id_field(isar0, 8) ? BIT(5) : 0;	      /* SHA1 */
	cap |= id_field(isar0, 12) ? BIT(6) : 0;      /* SHA2 */
	cap |= id_field(isar0, 16) ? BIT(7) : 0;      /* CRC32 */
	cap |= id_field(isar0, 20) >= 2 ? BIT(8) : 0; /* LSE atomics */
	return cap;
}
