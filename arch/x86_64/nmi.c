/* Non-maskable interrupts: who asked, counting them, those that nobody claims; and holding them off while
 * text is changed. */
#include <arch/processor.h>
#include <asm/hardirq.h>
#include <asm/msr.h>
#include <asm/ptrace.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <sched/preempt.h>

#include "exception.h"

/*
 * An NMI comes to a CPU that is parked while another one changes kernel text, too: then it must keep to code
 * that is never changed. Each side first says what it is about to do and then, a full barrier later, looks at
 * what the other has said, so one of them sees the other: the patcher waits for NMIs that are being served in
 * full, later ones are served in short.
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

	if (!nmi_handle(cpu))
		unknown_nmi_error(cpu);
}

/*
 * From entry.S, on the NMI stack. CR2 belongs to what was interrupted, perhaps a page fault that has not read
 * it yet; ours may fault too (reading memory that may not be there).
 *
 * An NMI that comes between the idle loop's STI and HLT has ended the shadow in which no interrupt is taken:
 * one could slip in before the HLT, and what it woke would sleep on. So HLT is skipped: the idle loop looks
 * again, as after any interrupt. The same for a parked CPU's.
 */
noinstr void nmi_handler(struct pt_regs *regs)
{
	u64 address = read_cr(2);

	nmi_enter();
	inc_irq_stat(IRQ_STAT_NMI);
	this_cpu(nmi_in_full) = 1;
	smp_mb();
	if (likely(!READ_ONCE(text_changes)))
		default_do_nmi(); /* else: who sent it does without */
	smp_store_release(this_cpu_ptr(nmi_in_full), 0);
	if (regs->rip == idle_hlt[0])
		regs->rip = idle_hlt[1];
	if (regs->rip == parked_hlt[0])
		regs->rip = parked_hlt[1];
	nmi_exit();
	write_cr(2, address);
}
