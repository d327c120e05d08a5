/* The running task: kept in SP_EL0, which the kernel (running on SP_EL1) does not need for itself. */
#pragma once

#include <lib/types.h>

struct task_struct;

/* Not volatile: for the code that asks, the answer never changes, so the compiler may keep it. */
static __always_inline struct task_struct *get_current(void)
{
	unsigned long sp_el0;

	__asm__("mrs %0, sp_el0" : "=r"(sp_el0));
	return (struct task_struct *)sp_el0;
}
