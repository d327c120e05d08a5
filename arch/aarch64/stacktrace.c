/*
 * Where walks of a stack start, and which stacks a CPU has. Not traced: tracers walk stacks. Besides the tasks' stacks
 * a CPU has one for interrupts, and a small one on which it reports that a stack has overflowed.
 */
#include <arch/irq.h>
#include <arch/stacktrace.h>
#include <arch/thread.h>
#include <kernel/percpu.h>
#include <sched/task.h>

#include "smp.h"

/* What cpu_switch_to() has saved, of a task that is not running. */
unsigned long arch_task_fp(const struct task_struct *task)
{
	return task->thread.ctx.fp;
}

unsigned long arch_task_sp(const struct task_struct *task)
{
	return task->thread.ctx.sp;
}

unsigned long arch_task_pc(const struct task_struct *task)
{
	return task->thread.ctx.pc;
}

/* *end: where the stack that holds `addr` ends. A CPU that has not started yet has 0 for both stacks. */
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
