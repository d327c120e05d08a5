/* Interrupts: from the vector to the controller's driver, on a stack of this CPU's own. */
#include <asm/irq.h>
#include <asm/ptrace.h>
#include <asm/page.h>
#include <asm/thread.h>
#include <irq/irq.h>
#include <irq/irqflags.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <mm/vmalloc.h>
#include <sched/current.h>
#include <sched/preempt.h>

#include "exception.h"
#include "smp.h"

extern unsigned char boot_irq_stack[];
static unsigned char boot_overflow_stack[OVERFLOW_STACK_SIZE] __aligned(16);

/* The template's values are the boot CPU's; each other CPU's are set before it starts. */
DEFINE_PER_CPU(unsigned long, irq_stack_end) = (unsigned long)boot_irq_stack + IRQ_STACK_SIZE;
DEFINE_PER_CPU(unsigned long, overflow_stack_end) = (unsigned long)boot_overflow_stack + OVERFLOW_STACK_SIZE;

void (*handle_arch_irq)(struct pt_regs *regs);

int alloc_cpu_stacks(unsigned cpu)
{
	char *stack = alloc_thread_stack(), *overflow;

	if (!stack)
		return -ENOMEM;
	overflow = kmalloc(OVERFLOW_STACK_SIZE, GFP_KERNEL);
	if (!overflow)
		goto free_stack;
	per_cpu(irq_stack_end, cpu) = (unsigned long)stack + IRQ_STACK_SIZE;
	per_cpu(overflow_stack_end, cpu) = (unsigned long)overflow + OVERFLOW_STACK_SIZE;
	return 0;
free_stack:
	free_thread_stack(stack);
	return -ENOMEM;
}

/* On the interrupt stack, unless it was in use already. Softirqs run in irq_exit, so on this stack too. */
static void handle_irq(struct pt_regs *regs)
{
	struct pt_regs *old;

	irq_enter();
	old = set_irq_regs(regs);
	handle_arch_irq(regs);
	set_irq_regs(old);
	irq_exit();
}

static __always_inline void do_interrupt(struct pt_regs *regs)
{
	unsigned long sp = (unsigned long)__builtin_frame_address(0);

	if (sp - (unsigned long)current->stack < THREAD_SIZE)
		call_on_irq_stack(regs, handle_irq, this_cpu(irq_stack_end));
	else
		handle_irq(regs);
}

void el0t_64_irq_handler(struct pt_regs *regs)
{
	do_interrupt(regs);
	exit_to_user_mode(regs);
}

void el1h_64_irq_handler(struct pt_regs *regs)
{
	do_interrupt(regs);
	if (need_resched() && !preempt_count())
		preempt_schedule_irq();
}

void arch_show_interrupts(struct seq_file *m)
{
	char label[] = "IPI0:";

	static_assert(IPI_MAX <= 10, "one digit");
	for (unsigned i = 0; i < IPI_MAX; i++) {
		label[3] = '0' + i;
		show_irq_counts(m, label, ipi_count, i, ipi_names[i]);
	}
}
