/*
 * Non-maskable interrupts: finding their source, counting them, reporting those without one,
 * and holding them off while text is changed (kernel/nmi.c). They come from a request for a
 * backtrace, which reaches a CPU with its interrupts off too, from a timer that samples, or from
 * QEMU's monitor. entry.S says why they do not nest.
 */
#include <arch/processor.h>
#include <asm/hardirq.h>
#include <asm/debugreg.h>
#include <asm/msr.h>
#include <asm/ptrace.h>
#include <kernel/nmi.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <sched/preempt.h>
#include <trace/machine_irq.h>

#include "exception.h"
#include "single_step.h"

const struct sample_nmi *sample_nmi;

static noinline void unknown_nmi_error(unsigned cpu)
{
	static bool said;

	inc_irq_stat(IRQ_STAT_UNK);
	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		pr_emerg("Uhhuh. NMI received for unknown reason on CPU %u. Further ones are only counted.\n", cpu);
}

/* Ordinary kernel code, traced and patched, but for what takes a sample. */
static noinline void default_do_nmi(struct pt_regs *regs, bool sampling)
{
	unsigned cpu = smp_processor_id();

	trace_nmi_enter(cpu);
	if (cpumask_test_cpu(cpu, &cpu_backtrace_mask))
		handle_ipi(IPI_BACKTRACE);
	else if (sampling)
		sample_nmi->handle(cpu, regs);
	else
		unknown_nmi_error(cpu);
	trace_nmi_exit(cpu);
}

/*
 * From entry.S, on the NMI stack. CR2 belongs to what was interrupted, perhaps a page fault that
 * has not read it yet. This handler may fault too (reading memory that may not be there), so it
 * puts CR2 back.
 *
 * STI; HLT cannot be interrupted in between, so an interrupt that is due ends the HLT. An NMI knows
 * no such shadow, and after it the shadow is gone: the interrupt would be taken before the HLT,
 * which then sleeps although there is work. So if the NMI would go back to one of the two HLTs,
 * idle's or a parked CPU's, it goes back behind it. Both loops look again, as after any interrupt:
 * they may always wake for nothing.
 *
 * Breakpoints are silent from the first line on: the NMI may have interrupted the handler of #DB before that has
 * silenced them, and a #DB now would begin at the top of the stack on which it stands.
 */
noinstr void nmi_handler(struct pt_regs *regs)
{
	u64 breakpoints = debug_registers_silence(), address = read_cr(2);
	bool full = nmi_begin(), sampling = sample_nmi && sample_nmi->running();

	inc_irq_stat(IRQ_STAT_NMI);
	if (likely(full))
		default_do_nmi(regs, sampling); /* else: who sent it does without */
	if (sampling)
		sample_nmi->done();
	if (regs->rip == idle_hlt[0])
		regs->rip = idle_hlt[1];
	if (regs->rip == parked_hlt[0])
		regs->rip = parked_hlt[1];
	single_step_after_nmi(regs);
	nmi_end();
	write_cr(2, address);
	write_dr(7, breakpoints);
}
