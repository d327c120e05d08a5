/* Registers that nobody looks at. */
#pragma once
struct pt_regs {
	unsigned long pc;
};
static inline void instruction_pointer_set(struct pt_regs *regs, unsigned long pc)
{
	regs->pc = pc;
}
