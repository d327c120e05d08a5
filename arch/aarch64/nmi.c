/*
 * FIQs as non-maskable interrupts. entry.S has saved all registers and calls fiq_handler() with everything masked but
 * SErrors.
 *
 * PSTATE has two masks, I for IRQs and F for FIQs. local_irq_disable() sets I alone, so an FIQ comes in the middle of
 * whatever has interrupts off. An exception sets both, and kernel_entry clears F again as soon as the registers are
 * saved, kernel_exit sets it before it restores them: an FIQ never finds a stack or `current` half set up. FIQs do not
 * nest: F stays set in the handler, and in the exceptions that it takes (el1h_64_sync): a page fault, a kprobe's BRK.
 * An exception outside of an FIQ opens F only when it has read ESR_EL1 and FAR_EL1, which such an exception overwrites.
 */
#include <arch/irq.h>
#include <asm/nmi.h>
#include <asm/ptrace.h>
#include <kernel/nmi.h>
#include <kernel/percpu.h>
#include <kernel/smp.h>
#include <sched/current.h>
#include <trace/machine_irq.h>

#include "exception.h"

const struct fiq_source *fiq_source;
static DEFINE_PER_CPU(u32, fiqs); /* how many it has served [its CPU's FIQs] */

u64 fiq_counted(unsigned unused, int cpu)
{
	return READ_ONCE(per_cpu(fiqs, cpu));
}

/* Ordinary kernel code, but not traced: it is what takes a sample. Text is not being changed. */
static noinline notrace void do_fiq(struct pt_regs *regs)
{
	unsigned cpu = smp_processor_id();

	trace_nmi_enter(cpu);
	fiq_source->handle(regs);
	trace_nmi_exit(cpu);
}

/* On the interrupt stack, unless the FIQ came on that: a task's stack may be nearly full. */
static noinstr void serve_fiq(struct pt_regs *regs)
{
	bool full = nmi_begin();

	WRITE_ONCE(this_cpu(fiqs), this_cpu(fiqs) + 1);
	if (likely(full))
		do_fiq(regs);
	else
		fiq_source->skip();
	nmi_end();
}

/*
 * Nothing on the way back looks for signals or for a task that wants the CPU: an FIQ wakes no task. In the two
 * instructions of cpu_switch_to() in which `current` is still the task before, sp is not on its stack, and serve_fiq()
 * runs where it stands, on the next task's.
 */
noinstr void fiq_handler(struct pt_regs *regs)
{
	unsigned long sp = (unsigned long)__builtin_frame_address(0);

	if (!fiq_source)
		bad_mode(regs, user_mode(regs) ? 10 : 6, 0);
	else if (sp - (unsigned long)current->stack < THREAD_SIZE)
		call_on_irq_stack(regs, serve_fiq, this_cpu(irq_stack_end));
	else
		serve_fiq(regs);
}
