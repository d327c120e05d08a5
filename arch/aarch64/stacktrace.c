/* Where walks start and which stacks a CPU has. Not traced: tracers walk stacks. */
#include <arch/irq.h>
#include <arch/stacktrace.h>
#include <arch/thread.h>
#include <kernel/percpu.h>
#include <sched/task.h>

#include "smp.h"

unsigned long arch_task_fp(const struct task_struct *task)
{
	return task->thread.ctx.fp;
}

unsigned long arch_task_pc(const struct task_struct *task)
{
	return task->thread.ctx.pc;
}

bool arch_on_irq_stack(unsigned long addr, unsigned long *end)
{
	unsigned long irq = this_cpu(irq_stack_end), overflow = this_cpu(overflow_stack_end);

	if (irq && addr < irq && addr >= irq - IRQ_STACK_SIZE)
		*end = irq;
	else if (overflow && addr < overflow && addr >= overflow - OVERFLOW_STACK_SIZE)
		*end = overflow;
	else
		return false;
	return true;
}
