/* Registers by name, for definitions of probe events: x0 to x30, lr, sp, pc, pstate. */
#include <arch/regs.h>
#include <asm/ftrace.h>
#include <asm/ptrace.h>
#include <lib/errno.h>
#include <lib/string.h>

/* Numbers are plain: "x07" is no register. Names that are no number come from the table. */
int regs_query_register_offset(const char *name)
{
	static const struct {
		const char *name;
		int offset;
	} others[] = {
		{"lr", offsetof(struct pt_regs, regs[30])},
		{"sp", offsetof(struct pt_regs, sp)},
		{"pc", offsetof(struct pt_regs, pc)},
		{"pstate", offsetof(struct pt_regs, pstate)},
	};
	unsigned n;

	for (unsigned i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(others[i].name, name))
			return others[i].offset;
	if (*name != 'x' || !isdigit(name[1]) || (name[1] == '0' && name[2]) || kstrtouint(name + 1, 10, &n) || n > 30)
		return -EINVAL;
	return offsetof(struct pt_regs, regs) + n * sizeof(u64);
}

void arch_kretprobe_regs(struct pt_regs *regs, const struct ftrace_regs *fregs, unsigned long pc)
{
	regs->regs[29] = fregs->fp;
	regs->regs[30] = *ftrace_regs_return_slot(fregs);
	regs->sp = ftrace_regs_sp(fregs);
	regs->pc = pc;
}

void arch_kretprobe_return_regs(struct pt_regs *regs, unsigned long slot, unsigned long pc, unsigned long fp,
				unsigned long result)
{
	regs->regs[0] = result;
	regs->regs[29] = fp;
	regs->sp = slot + 8;
	regs->pc = pc;
}

unsigned long regs_return_address(const struct pt_regs *regs)
{
	return regs->regs[30];
}
