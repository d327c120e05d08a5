/* Non-maskable interrupts: who asked, counting them, and those that nobody claims. */
#include <asm/hardirq.h>
#include <asm/msr.h>
#include <asm/ptrace.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <sched/preempt.h>

#include "exception.h"

/* NMIs that come while one is served melt into one: so every possible sender is asked. True: one of them sent it. */
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

/*
 * From entry.S, on the NMI stack. CR2 belongs to what was interrupted, perhaps a page fault that has not read it yet; ours may
 * fault too (reading memory that may not be there).
 *
 * An NMI that comes between the idle loop's STI and HLT has ended the shadow in which no interrupt is taken: one could slip
 * in before the HLT, and what it woke would sleep on. So HLT is skipped: the idle loop looks again, as after any interrupt.
 */
notrace void nmi_handler(struct pt_regs *regs)
{
	u64 address = read_cr(2);
	unsigned cpu;

	nmi_enter();
	cpu = smp_processor_id();
	inc_irq_stat(IRQ_STAT_NMI);
	if (!nmi_handle(cpu))
		unknown_nmi_error(cpu);
	if (regs->rip == idle_hlt[0])
		regs->rip = idle_hlt[1];
	nmi_exit();
	write_cr(2, address);
}
