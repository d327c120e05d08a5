/* This CPU: idling, halting, what it is called and what it can do. */
#include <arch/processor.h>
#include <asm/barrier.h>
#include <asm/elf.h>
#include <asm/sysreg.h>
#include <kernel/init.h>
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

enum { ISAR0, ISAR1, PFR0, PFR1, MMFR2, NR_ID_REGS };
#define HWCAP2(bit) (64 + (bit))

/*
 * What programs may use: Linux's number of the bit, and the field of an ID register that must be `min` at least (Arm
 * ARM D13.2). Left out is what the kernel would have to switch on or to save: SVE, pointer authentication, BTI, MTE.
 */
static const struct {
	u8 bit, reg, shift, min;
} hwcaps[] = {
	{3, ISAR0, 4, 1},	    /* AES */
	{4, ISAR0, 4, 2},	    /* PMULL */
	{5, ISAR0, 8, 1},	    /* SHA1 */
	{6, ISAR0, 12, 1},	    /* SHA2 */
	{7, ISAR0, 16, 1},	    /* CRC32 */
	{8, ISAR0, 20, 2},	    /* ATOMICS: LSE */
	{12, ISAR0, 28, 1},	    /* ASIMDRDM */
	{13, ISAR1, 12, 1},	    /* JSCVT */
	{14, ISAR1, 16, 1},	    /* FCMA */
	{15, ISAR1, 20, 1},	    /* LRCPC */
	{17, ISAR0, 32, 1},	    /* SHA3 */
	{18, ISAR0, 36, 1},	    /* SM3 */
	{19, ISAR0, 40, 1},	    /* SM4 */
	{20, ISAR0, 44, 1},	    /* ASIMDDP */
	{21, ISAR0, 12, 2},	    /* SHA512 */
	{23, ISAR0, 48, 1},	    /* ASIMDFHM */
	{24, PFR0, 48, 1},	    /* DIT */
	{25, MMFR2, 32, 1},	    /* USCAT */
	{26, ISAR1, 20, 2},	    /* ILRCPC */
	{27, ISAR0, 52, 1},	    /* FLAGM */
	{28, PFR1, 4, 2},	    /* SSBS */
	{29, ISAR1, 36, 1},	    /* SB */
	{HWCAP2(7), ISAR0, 52, 2},  /* FLAGM2 */
	{HWCAP2(8), ISAR1, 32, 1},  /* FRINT */
	{HWCAP2(13), ISAR1, 52, 1}, /* I8MM */
	{HWCAP2(14), ISAR1, 44, 1}, /* BF16 */
	{HWCAP2(15), ISAR1, 48, 1}, /* DGH */
	{HWCAP2(16), ISAR0, 60, 1}, /* RNG */
};

static unsigned long elf_hwcap[2]; /* [boot, then immutable] */

/* FP and AdvSIMD come first, since their fields have a sign: 15 means absent, 1 adds half precision. */
static int find_hwcaps(void)
{
	const u64 id[NR_ID_REGS] = {
		[ISAR0] = read_sysreg(id_aa64isar0_el1), [ISAR1] = read_sysreg(id_aa64isar1_el1),
		[PFR0] = read_sysreg(id_aa64pfr0_el1),	 [PFR1] = read_sysreg(id_aa64pfr1_el1),
		[MMFR2] = read_sysreg(s3_0_c0_c7_2), /* ID_AA64MMFR2_EL1 */
	};
	unsigned long *cap = elf_hwcap;

	if (id_field(id[PFR0], 16) != 15)
		cap[0] |= BIT(0) | (id_field(id[PFR0], 16) ? BIT(9) : 0);
	if (id_field(id[PFR0], 20) != 15)
		cap[0] |= BIT(1) | (id_field(id[PFR0], 20) ? BIT(10) : 0);
	for (unsigned i = 0; i < ARRAY_SIZE(hwcaps); i++)
		if (id_field(id[hwcaps[i].reg], hwcaps[i].shift) >= hwcaps[i].min)
			cap[hwcaps[i].bit / 64] |= BIT(hwcaps[i].bit % 64);
	return 0;
}
early_initcall(find_hwcaps);

unsigned long arch_elf_hwcap(bool second)
{
	return elf_hwcap[second];
}
