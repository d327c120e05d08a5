/* The running task: a per-CPU pointer, changed by cpu_switch_to together with the stack. */
#pragma once

#include <lib/types.h>

struct task_struct;

/* Not volatile: for the code that asks, the answer never changes, so the compiler may keep it. */
static __always_inline struct task_struct *get_current(void)
{
	struct task_struct *task;

	__asm__("mov %%gs:current_task, %0" : "=r"(task));
	return task;
}
