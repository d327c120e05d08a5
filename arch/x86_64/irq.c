/* Interrupts: from the vector to the controller's driver, on a stack of this CPU's own. */
#include <arch/irq.h>
#include <asm/ptrace.h>
#include <kernel/entry.h>
#include <lib/errno.h>
#include <mm/vmalloc.h>

#include "exception.h"
#include "smp.h"

extern unsigned char boot_irq_stack[]; /* boot/x86_head.S, above a guard page */

/* The template's value is the boot CPU's; each other CPU's is set before it starts. */
DEFINE_PER_CPU(unsigned long, irq_stack_end) = (unsigned long)boot_irq_stack + IRQ_STACK_SIZE;

/*
 * Stacks of a CPU that will start: interrupts, and the IST stacks. Returns 0 or -ENOMEM. Thread
 * context.
 */
int alloc_cpu_stacks(unsigned cpu)
{
	char *stack = alloc_thread_stack();
	int err;

	if (!stack)
		return -ENOMEM;
	err = cpu_desc_alloc(cpu);
	if (err)
		goto free_stack;
	per_cpu(irq_stack_end, cpu) = (unsigned long)stack + IRQ_STACK_SIZE;
	return 0;
free_stack:
	free_thread_stack(stack);
	return err;
}

/*
 * From entry.S, interrupts off. On the way out a task may be switched or a signal delivered, so
 * exit_to_* is the last thing that is done.
 */
void interrupt_handler(struct pt_regs *regs)
{
	do_interrupt(regs);
	if (user_mode(regs))
		exit_to_user_mode(regs);
	else
		exit_to_kernel_mode(regs);
}
