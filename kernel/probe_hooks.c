/* The hooks of probes, as they are without any. They are called where nothing may be traced. */
#include <kernel/probe_hooks.h>

static notrace bool probe_no_break(unsigned long addr, struct pt_regs *regs)
{
	return false;
}

static notrace unsigned long probe_no_slot(unsigned long pc)
{
	return pc;
}

static notrace void probe_no_change(unsigned long addr, u8 *text, unsigned len)
{
}

struct probe_hooks probe_hooks = {.kernel_break = probe_no_break, .kernel_pc = probe_no_slot, .hide = probe_no_change};
