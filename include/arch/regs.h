/* Registers by name, and as a kretprobe shows them (arch/<machine>/task/regs.c). Any context, not traced. */
#pragma once

struct ftrace_regs;
struct pt_regs;

/*
 * At the entry of a function whose site has called with fregs: its arguments, as far as they can be found there, its
 * address as pc, the stack pointer and the frame pointer. regs are zero before.
 */
void arch_kretprobe_regs(struct pt_regs *regs, const struct ftrace_regs *fregs, unsigned long pc);
/*
 * When it returns: its result, pc and frame pointer of the caller, and as stack pointer the place above `slot`, the
 * word that had the return address.
 */
void arch_kretprobe_return_regs(struct pt_regs *regs, unsigned long slot, unsigned long pc, unsigned long fp,
				unsigned long result);
/* At a function's first instruction: the address that it will return to. */
unsigned long regs_return_address(const struct pt_regs *regs);

/* The offset in struct pt_regs of the register of this name, without a "%". -EINVAL: there is none. */
int regs_query_register_offset(const char *name);
