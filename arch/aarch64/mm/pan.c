/*
 * Privileged access never (FEAT_PAN, Arm ARM D8.4.5): while PSTATE.PAN is set, a load or store of
 * the kernel to a page that user mode can reach faults. The functions of uaccess_asm.S clear it for
 * the time of a copy.
 *
 * A switch of tasks does not save PAN, and need not. SCTLR_EL1.SPAN is clear, so every exception to EL1
 * sets PAN, and ERET brings back what the interrupted code had. A copy that faults or is preempted
 * is thus interrupted with PAN clear, and everything that runs meanwhile, the scheduler and other
 * tasks too, has it set. A fix-up is gone to by ERET, with PAN clear, so each fix-up begins by
 * setting it. User mode can neither see nor change the bit. Cache maintenance by a user address is
 * not subject to it.
 */
#include <arch/patch.h>
#include <asm/barrier.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>
#include <kernel/panic.h>

#include "../exception.h"

/* Instructions that boot replaces: PAN_SITE (asm/assembler.h) writes the list. */
struct alternative {
	s32 site; /* relative to this field */
	u32 insn;
};
extern const struct alternative __start___alternatives[], __stop___alternatives[];

static bool have_pan; /* [immutable after boot] */

/* All CPUs are alike: those that start later are looked at too, as MSR PAN is undefined without it. */
static notrace bool cpu_has_pan(void)
{
	return (read_sysreg(id_aa64mmfr1_el1) >> 20) & 15;
}

/* Not traced: a CPU that starts calls it before it may be. */
notrace void pan_init_cpu(void)
{
	if (!have_pan)
		return;
	if (!cpu_has_pan())
		panic("PAN: this CPU does not have it, the boot CPU does");
	write_sysreg(read_sysreg(sctlr_el1) & ~(u64)SCTLR_SPAN, sctlr_el1);
	isb();
	__asm__ volatile(".inst 0xd500419f" : : : "memory"); /* msr pan, #1 */
}

/*
 * MSR PAN is undefined on a CPU without the feature, so each place of it is a nop until here. It is
 * written through the alias that sites are written through; the boot CPU is alone, with interrupts
 * off.
 */
void pan_init(void)
{
	if (!cpu_has_pan())
		return;
	arch_patch_begin();
	for (const struct alternative *a = __start___alternatives; a < __stop___alternatives; a++)
		if (arch_patch_write((unsigned long)&a->site + a->site, a->insn, PATCH_WORD))
			panic("PAN: no instruction at %ps", (void *)((unsigned long)&a->site + a->site));
	arch_patch_end();
	have_pan = true;
	pan_init_cpu();
}

bool pan_violation(const struct pt_regs *regs)
{
	return have_pan && (regs->pstate & PSR_PAN_BIT);
}
