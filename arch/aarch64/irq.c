/*
 * Interrupts: from the vector to the controller's driver, on a stack of this CPU's own. entry.S has saved all registers
 * in pt_regs and calls the handlers here with interrupts off.
 */
#include <arch/irq.h>
#include <asm/page.h>
#include <kernel/entry.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <mm/vmalloc.h>

#include "exception.h"
#include "smp.h"

extern unsigned char boot_irq_stack[];
static unsigned char boot_overflow_stack[OVERFLOW_STACK_SIZE] __aligned(16);

/* The template's values are the boot CPU's; each other CPU's are set before it starts. */
DEFINE_PER_CPU(unsigned long, irq_stack_end) = (unsigned long)boot_irq_stack + IRQ_STACK_SIZE;
DEFINE_PER_CPU(unsigned long, overflow_stack_end) = (unsigned long)boot_overflow_stack + OVERFLOW_STACK_SIZE;

/*
 * Stacks of a CPU that will start: interrupts, and a small one for reporting that a stack has
 * overflowed. Returns 0 or -ENOMEM. Thread context.
 */
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

/* From user mode: on the way back, signals and rescheduling are looked at. */
void el0t_64_irq_handler(struct pt_regs *regs)
{
	do_interrupt(regs);
	exit_to_user_mode(regs);
}

/* From the kernel: on the way back, the interrupted task may be preempted. */
void el1h_64_irq_handler(struct pt_regs *regs)
{
	do_interrupt(regs);
	exit_to_kernel_mode(regs);
}

void arch_show_interrupts(struct seq_file *m)
{
	char label[] = "IPI0:";

	show_irq_counts(m, "NMI:", fiq_counted, 0, "Non-maskable interrupts");
	static_assert(IPI_MAX <= 10, "one digit");
	for (unsigned i = 0; i < IPI_MAX; i++) {
		label[3] = '0' + i;
		show_irq_counts(m, label, ipi_count, i, ipi_names[i]);
	}
}
