/* Where a walk by frame records starts, and which stacks there are besides the task's. Not traced. */
#pragma once

#include <lib/types.h>

struct task_struct;

/* Of the function that uses it. */
#define arch_caller_fp() ((unsigned long)__builtin_frame_address(0))

/* Frame records are the near end of their frame: what is above them is the same function's. */
#define FRAME_RECORD_AT_END 0

/* Of a task that does not run: its frame pointer and pc in the switch. */
unsigned long arch_task_fp(const struct task_struct *task);
unsigned long arch_task_pc(const struct task_struct *task);
/* Is addr on this CPU's interrupt (or overflow) stack? Then *end is where that ends. Preemption off. */
bool arch_on_irq_stack(unsigned long addr, unsigned long *end);
