/*
 * Registers by name, for definitions of probe events. The names are those of Linux, which has no letter for the size.
 */
#include <arch/regs.h>
#include <asm/ftrace.h>
#include <asm/ptrace.h>
#include <lib/errno.h>
#include <lib/string.h>

/* The table is in the order of struct pt_regs. There is no rule in the names that would make it shorter. */
int regs_query_register_offset(const char *name)
{
	static const struct {
		const char *name;
		int offset;
	} registers[] = {
		{"r15", offsetof(struct pt_regs, r15)},	     {"r14", offsetof(struct pt_regs, r14)},
		{"r13", offsetof(struct pt_regs, r13)},	     {"r12", offsetof(struct pt_regs, r12)},
		{"bp", offsetof(struct pt_regs, rbp)},	     {"bx", offsetof(struct pt_regs, rbx)},
		{"r11", offsetof(struct pt_regs, r11)},	     {"r10", offsetof(struct pt_regs, r10)},
		{"r9", offsetof(struct pt_regs, r9)},	     {"r8", offsetof(struct pt_regs, r8)},
		{"ax", offsetof(struct pt_regs, rax)},	     {"cx", offsetof(struct pt_regs, rcx)},
		{"dx", offsetof(struct pt_regs, rdx)},	     {"si", offsetof(struct pt_regs, rsi)},
		{"di", offsetof(struct pt_regs, rdi)},	     {"orig_ax", offsetof(struct pt_regs, orig_rax)},
		{"ip", offsetof(struct pt_regs, rip)},	     {"cs", offsetof(struct pt_regs, cs)},
		{"flags", offsetof(struct pt_regs, rflags)}, {"sp", offsetof(struct pt_regs, rsp)},
		{"ss", offsetof(struct pt_regs, ss)},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(registers); i++)
		if (!strcmp(registers[i].name, name))
			return registers[i].offset;
	return -EINVAL;
}

void arch_kretprobe_regs(struct pt_regs *regs, const struct ftrace_regs *fregs, unsigned long pc)
{
	regs->rdi = ftrace_regs_argument(fregs, 0);
	regs->rsi = ftrace_regs_argument(fregs, 1);
	regs->rdx = ftrace_regs_argument(fregs, 2);
	regs->rcx = ftrace_regs_argument(fregs, 3);
	regs->r8 = ftrace_regs_argument(fregs, 4);
	regs->r9 = ftrace_regs_argument(fregs, 5);
	regs->rsp = ftrace_regs_sp(fregs);
	regs->rbp = fregs->record[2]; /* the function has no record yet: its caller's */
	regs->rip = pc;
}

void arch_kretprobe_return_regs(struct pt_regs *regs, unsigned long slot, unsigned long pc, unsigned long fp,
				unsigned long result)
{
	regs->rax = result;
	regs->rbp = fp;
	regs->rsp = slot + 8;
	regs->rip = pc;
}

unsigned long regs_return_address(const struct pt_regs *regs)
{
	return *(const unsigned long *)regs->rsp;
}
