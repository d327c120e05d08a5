/* Printing saved registers, for oopses. */
#include <arch/stacktrace.h>
#include <asm/page.h>
#include <asm/ptrace.h>
#include <asm/uaccess.h>
#include <kernel/printk.h>
#include <sched/current.h>

/*
 * The four instructions before pc, and the one at pc in parentheses; dashes where text cannot be read.
 * scripts/decodecode of Linux reads this line.
 */
static void show_code(const struct pt_regs *regs)
{
	pr_emerg("Code:");
	for (int i = -4; i < 1; i++) {
		u32 insn;

		if (copy_from_kernel_nofault(&insn, (const void *)(regs->pc + 4 * i), sizeof(insn)))
			pr_cont(" --------");
		else
			pr_cont("%s%08x%s", i ? " " : " (", insn, i ? "" : ")");
	}
	pr_cont("\n");
}

/* The first page is never mapped, so an address there is a NULL pointer with the offset of a member. */
void arch_fault_head(unsigned long addr, const char *what, unsigned long code)
{
	if (addr < PAGE_SIZE)
		what = "NULL pointer dereference";
	pr_emerg("Unable to handle kernel %s at virtual address %016lx\n", what ? what : "paging request", addr);
}

void arch_oops_head(const char *what, unsigned long code, unsigned number)
{
	pr_emerg("Internal error: %s: %016lx [#%u] SMP\n", what, code, number);
}

/* Symbols are shown for kernel addresses only: the kernel does not know those of programs. */
void show_regs(struct pt_regs *regs)
{
	if (user_mode(regs)) {
		pr_emerg("pc : %016lx\n", (unsigned long)regs->pc);
		pr_emerg("lr : %016lx\n", (unsigned long)regs->regs[30]);
	} else {
		pr_emerg("pc : %pS\n", (void *)regs->pc);
		pr_emerg("lr : %pS\n", (void *)regs->regs[30]);
	}
	pr_emerg("sp : %016lx pstate : %08lx\n", (unsigned long)regs->sp, (unsigned long)regs->pstate);
	for (int i = 29; i >= 0; i -= 3)
		pr_emerg("x%-2d: %016lx x%-2d: %016lx x%-2d: %016lx\n", i, (unsigned long)regs->regs[i], i - 1,
			 (unsigned long)regs->regs[i - 1], i - 2, (unsigned long)regs->regs[i - 2]);
	if (!user_mode(regs))
		show_code(regs);
}
