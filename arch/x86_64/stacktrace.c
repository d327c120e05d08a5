/*
 * Where walks of a stack start, and which stacks a CPU has. Not traced: tracers walk stacks.
 *
 * Besides the tasks' stacks a CPU has one for interrupts, and one for each entry of the interrupt stack table (IST):
 * the machine itself switches to those for NMIs, debug exceptions, double faults and machine checks (SDM vol. 3,
 * 6.14.5).
 */
#include <arch/irq.h>
#include <arch/stacktrace.h>
#include <arch/thread.h>
#include <sched/task.h>

#include "smp.h"

/* What cpu_switch_to() has pushed, of a task that is not running. */
static const struct switch_frame *switch_frame(const struct task_struct *task)
{
	return (const struct switch_frame *)task->thread.sp;
}

unsigned long arch_task_fp(const struct task_struct *task)
{
	return switch_frame(task)->rbp;
}

unsigned long arch_task_sp(const struct task_struct *task)
{
	return task->thread.sp;
}

unsigned long arch_task_pc(const struct task_struct *task)
{
	return switch_frame(task)->pc;
}

/* Stacks grow down from stack_end; 0: this CPU has no such stack yet. */
static bool on_stack(unsigned long addr, unsigned long stack_end, unsigned long size)
{
	return stack_end && addr < stack_end && addr >= stack_end - size;
}

bool arch_on_irq_stack(unsigned long addr, unsigned long *end)
{
	*end = this_cpu(irq_stack_end);
	if (on_stack(addr, *end, IRQ_STACK_SIZE))
		return true;
	for (unsigned i = 0; i < NR_IST; i++) {
		*end = this_cpu(ist_stack_end)[i];
		if (on_stack(addr, *end, IST_STACK_SIZE))
			return true;
	}
	return false;
}
