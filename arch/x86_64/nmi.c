/*
 * Non-maskable interrupts: finding who asked, counting them, reporting those that nobody claims,
 * and holding them off while text is changed. They come from a request for a backtrace, which
 * reaches a CPU with its interrupts off too, or from QEMU's monitor. entry.S says why they do not
 * nest.
 */
#include <arch/processor.h>
#include <asm/hardirq.h>
#include <asm/debugreg.h>
#include <asm/msr.h>
#include <asm/ptrace.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <sched/preempt.h>
#include <trace/machine_irq.h>

#include "exception.h"

DEFINE_TRACE(nmi_enter, TP_PROTO(unsigned cpu), TP_ARGS(cpu));
DEFINE_TRACE(nmi_exit, TP_PROTO(unsigned cpu), TP_ARGS(cpu));

/*
 * While kernel text is changed every other CPU waits in a loop that is never patched, but an NMI
 * takes it out of there. So whoever patches says so (text_changes), and then waits until no NMI is
 * being served in full. An NMI that comes later sees text_changes and only counts itself, in code
 * that has no site. Each side stores its own word and reads the other's with a full barrier in
 * between, so they cannot both miss the other. Whoever sent that NMI does without: a backtrace that
 * is asked for at this moment is reported as missing.
 */
static DEFINE_PER_CPU(u32, nmi_in_full); /* [its CPU's NMIs] */
static u32 text_changes;		 /* [who patches; read anywhere] */

notrace void nmi_hold_off(void)
{
	unsigned cpu;

	WRITE_ONCE(text_changes, 1);
	smp_mb();
	for_each_online_cpu(cpu)
		while (READ_ONCE(per_cpu(nmi_in_full, cpu)))
			cpu_relax();
}

notrace void nmi_allow(void)
{
	smp_store_release(&text_changes, 0);
}

/* NMIs that come while one is served melt into one: so every possible sender is asked. True: one of them sent
 * it. */
static noinline bool nmi_handle(unsigned cpu)
{
	if (!cpumask_test_cpu(cpu, &cpu_backtrace_mask))
		return false;
	handle_ipi(IPI_BACKTRACE);
	return true;
}

static noinline void unknown_nmi_error(unsigned cpu)
{
	static bool said;

	inc_irq_stat(IRQ_STAT_UNK);
	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		pr_emerg("Uhhuh. NMI received for unknown reason on CPU %u. Further ones are only counted.\n", cpu);
}

/* Ordinary kernel code, traced and patched. */
static noinline void default_do_nmi(void)
{
	unsigned cpu = smp_processor_id();

	trace_nmi_enter(cpu);
	if (!nmi_handle(cpu))
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

	nmi_enter();
	inc_irq_stat(IRQ_STAT_NMI);
	this_cpu(nmi_in_full) = 1;
	smp_mb();
	if (likely(!READ_ONCE(text_changes)))
		default_do_nmi(); /* else: who sent it does without */
	smp_store_release(this_cpu_ptr(&nmi_in_full), 0);
	if (regs->rip == idle_hlt[0])
		regs->rip = idle_hlt[1];
	if (regs->rip == parked_hlt[0])
		regs->rip = parked_hlt[1];
	nmi_exit();
	write_cr(2, address);
	write_dr(7, breakpoints);
}
