/* The entry and the exit of interrupts. */
#pragma once

#include <lib/types.h>

struct pt_regs;
void irq_enter(void);
void irq_exit(void);
static inline struct pt_regs *get_irq_regs(void)
{
	return NULL;
}
