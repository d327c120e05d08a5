/* Printing saved registers, for oopses. */
#include <arch/stacktrace.h>
#include <asm/msr.h>
#include <asm/ptrace.h>
#include <asm/uaccess.h>
#include <kernel/printk.h>

extern const char _stext[], _etext[];

#define CODE_BEFORE \
	42	      /* bytes before rip, as Linux shows them: what scripts/decodecode and its kin expect \
			*/
#define CODE_AFTER 22 /* from rip on */

/* The bytes around rip, the one at rip in angle brackets; dashes where text cannot be read. */
static void show_code(const struct pt_regs *regs)
{
	pr_emerg("Code:");
	for (int i = -CODE_BEFORE; i < CODE_AFTER; i++) {
		u8 byte;

		if (copy_from_kernel_nofault(&byte, (const void *)(regs->rip + i), sizeof(byte)))
			pr_cont("%s", i ? " --" : " <-->");
		else
			pr_cont("%s%02x%s", i ? " " : " <", byte, i ? "" : ">");
	}
	pr_cont("\n");
}

static bool in_text(unsigned long addr)
{
	return addr >= (unsigned long)_stext && addr < (unsigned long)_etext;
}

/*
 * A jump to what is no code leaves a return address at rsp, and nothing at the target has made a frame yet. So a walk
 * by frame records would miss the function that has called.
 */
static void show_caller(const struct pt_regs *regs)
{
	unsigned long ret;

	if (!in_text(regs->rip) && !copy_from_kernel_nofault(&ret, (const void *)regs->rsp, sizeof(ret)) &&
	    in_text(ret))
		pr_emerg("Called from: %pB\n", (void *)ret);
}

void arch_oops_head(const char *what, unsigned long code, unsigned number)
{
	pr_emerg("%s: %04lx [#%u] PREEMPT SMP NOPTI\n", what, code & 0xffff, number);
}

/* CR2 is that of the last page fault of this CPU, which need not be the present exception. */
void show_regs(struct pt_regs *regs)
{
	if (user_mode(regs))
		pr_emerg("RIP: %04x:%016lx\n", (unsigned)regs->cs, (unsigned long)regs->rip);
	else
		pr_emerg("RIP: %04x:%pS\n", (unsigned)regs->cs, (void *)regs->rip);
	pr_emerg("RSP: %04x:%016lx EFLAGS: %08lx VECTOR: %02x ERROR: %04lx\n", (unsigned)regs->ss,
		 (unsigned long)regs->rsp, (unsigned long)regs->rflags, (unsigned)regs->vector,
		 (unsigned long)regs->orig_rax);
	pr_emerg("RAX: %016lx RBX: %016lx RCX: %016lx\n", (unsigned long)regs->rax, (unsigned long)regs->rbx,
		 (unsigned long)regs->rcx);
	pr_emerg("RDX: %016lx RSI: %016lx RDI: %016lx\n", (unsigned long)regs->rdx, (unsigned long)regs->rsi,
		 (unsigned long)regs->rdi);
	pr_emerg("RBP: %016lx R08: %016lx R09: %016lx\n", (unsigned long)regs->rbp, (unsigned long)regs->r8,
		 (unsigned long)regs->r9);
	pr_emerg("R10: %016lx R11: %016lx R12: %016lx\n", (unsigned long)regs->r10, (unsigned long)regs->r11,
		 (unsigned long)regs->r12);
	pr_emerg("R13: %016lx R14: %016lx R15: %016lx\n", (unsigned long)regs->r13, (unsigned long)regs->r14,
		 (unsigned long)regs->r15);
	pr_emerg("FS:  %016lx GS:  %016lx knlGS: %016lx\n", (unsigned long)rdmsrl(MSR_FS_BASE),
		 (unsigned long)rdmsrl(MSR_KERNEL_GS_BASE), (unsigned long)rdmsrl(MSR_GS_BASE));
	pr_emerg("CR0: %016lx CR2: %016lx CR3: %016lx CR4: %016lx\n", (unsigned long)read_cr(0),
		 (unsigned long)read_cr(2), (unsigned long)read_cr(3), (unsigned long)read_cr(4));
	if (!user_mode(regs)) {
		show_caller(regs);
		show_code(regs);
	}
}
