/*
 * Exceptions: which signal a program gets for which, and what kills the kernel. entry.S calls
 * exc_handler() with interrupts off and all registers saved in pt_regs; an exception of the kernel
 * either has a fix-up (__ex_table), is a BUG or WARN (UD2), or is an oops.
 */
#include <arch/debug_ops.h>
#include <arch/stacktrace.h>
#include <asm/bug.h>
#include <asm/debugreg.h>
#include <asm/msr.h>
#include <asm/ptrace.h>
#include <asm/uaccess.h>
#include <irq/irqflags.h>
#include <kernel/entry.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <kernel/printk.h>
#include <kernel/probe_hooks.h>
#include <mm/kmmio.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <trace/kprobes.h>
#include <trace/uprobe_ops.h>

#include "exception.h"
#include "single_step.h"
#include "smp.h"

DEFINE_PER_CPU(struct stepping, stepping);

/* si_code as Linux has them. */
#define FPE_INTDIV 1
#define FPE_FLTDIV 3
#define FPE_FLTOVF 4
#define FPE_FLTUND 5
#define FPE_FLTRES 6
#define FPE_FLTINV 7
#define ILL_ILLOPN 2

/*
 * The six kinds of floating-point exception, in the low bits of the x87 status word and of MXCSR (SDM vol. 1, 8.3.3 and
 * 10.2.3).
 */
#define FP_INVALID    0x01
#define FP_DENORMAL   0x02
#define FP_ZERODIVIDE 0x04
#define FP_OVERFLOW   0x08
#define FP_UNDERFLOW  0x10
#define FP_PRECISION  0x20

static const char *const vector_names[NR_EXCEPTIONS] = {
	[X86_TRAP_DE] = "divide error",
	[X86_TRAP_DB] = "debug",
	[X86_TRAP_NMI] = "NMI",
	[X86_TRAP_BP] = "int3",
	[X86_TRAP_OF] = "overflow",
	[X86_TRAP_BR] = "bounds",
	[X86_TRAP_UD] = "invalid opcode",
	[X86_TRAP_NM] = "device not available",
	[X86_TRAP_DF] = "double fault",
	[X86_TRAP_TS] = "invalid TSS",
	[X86_TRAP_NP] = "segment not present",
	[X86_TRAP_SS] = "stack segment",
	[X86_TRAP_GP] = "general protection fault",
	[X86_TRAP_PF] = "page fault",
	[X86_TRAP_MF] = "x87 FPU exception",
	[X86_TRAP_AC] = "alignment check",
	[X86_TRAP_MC] = "machine check",
	[X86_TRAP_XF] = "SIMD exception",
	[X86_TRAP_CP] = "control protection",
};

const char *exception_name(u64 vector)
{
	const char *name = vector < NR_EXCEPTIONS ? vector_names[vector] : NULL;

	return name ? name : "unknown exception";
}

/* The most important of the exceptions that are raised, in Linux's order. */
static int fpe_code(unsigned raised)
{
	if (raised & FP_INVALID)
		return FPE_FLTINV;
	if (raised & FP_ZERODIVIDE)
		return FPE_FLTDIV;
	if (raised & FP_OVERFLOW)
		return FPE_FLTOVF;
	if (raised & (FP_UNDERFLOW | FP_DENORMAL))
		return FPE_FLTUND;
	return raised & FP_PRECISION ? FPE_FLTRES : 0;
}

/*
 * Which of the unmasked x87 exceptions it is. The registers are still the task's own, as interrupts have been off since
 * the exception.
 */
static int x87_code(void)
{
	u16 status, control;

	__asm__ volatile("fnstsw %0\n\tfnstcw %1" : "=a"(status), "=m"(control));
	return fpe_code(status & ~control);
}

static int simd_code(void)
{
	u32 mxcsr;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	return fpe_code(mxcsr & ~(mxcsr >> 7)); /* the masks stand 7 bits above the flags */
}

static notrace noinline void unexpected_debug(struct pt_regs *regs)
{
	pr_emerg("Unexpected kernel exception: %s\n", exception_name(regs->vector));
	die("Oops: unexpected exception", regs, 0);
}

/*
 * From entry.S, from kernel mode only; interrupts off. DR7 comes back last; it cannot have changed meanwhile, since
 * interrupts are off. preempt_count is raised so that nothing a handler calls gives up the CPU. In .noinstr.text,
 * because a CPU that is stepped is stepped while it is parked, too. True: an NMI was interrupted. That is asked here,
 * since the task's preempt_count may be watched.
 */
noinstr bool debug_handler(struct pt_regs *regs)
{
	u64 dr7 = debug_registers_silence(), dr6 = read_dr(6);
	bool nmi;

	write_dr(6, DR6_RESET);
	__preempt_count_add(PREEMPT_OFFSET);
	if (!has_debug_ops() || !debug_ops()->exception(regs, dr7, dr6))
		unexpected_debug(regs);
	__preempt_count_sub(PREEMPT_OFFSET);
	nmi = in_nmi();
	write_dr(7, dr7);
	return nmi;
}

/*
 * A single step, a breakpoint register, or else INT1. DR6 keeps its bits until they are cleared, so it is reset here.
 * Interrupts off.
 */
static int debug_code(struct pt_regs *regs)
{
	u64 dr6 = read_dr(6);

	write_dr(6, DR6_RESET);
	if (has_debug_ops())
		debug_ops()->user_trap(regs, dr6);
	if (dr6 & DR6_BS)
		return TRAP_TRACE;
	return dr6 & DR6_B ? TRAP_HWBKPT : TRAP_BRKPT;
}

struct user_trap {
	int signal, code;
	unsigned long addr;
};

/*
 * What user mode gets for a vector, with Linux's codes and addresses. Interrupts still off: some codes are
 * read from registers that would not survive a switch.
 */
static struct user_trap user_trap(struct pt_regs *regs)
{
	switch (regs->vector) {
	case X86_TRAP_DE:
		return (struct user_trap){SIGFPE, FPE_INTDIV, regs->rip};
	case X86_TRAP_DB:
		return (struct user_trap){SIGTRAP, debug_code(regs), regs->rip};
	case X86_TRAP_BP:
		return (struct user_trap){SIGTRAP, SI_KERNEL, 0};
	case X86_TRAP_UD:
		return (struct user_trap){SIGILL, ILL_ILLOPN, regs->rip};
	case X86_TRAP_NP:
	case X86_TRAP_SS:
		return (struct user_trap){SIGBUS, SI_KERNEL, 0};
	case X86_TRAP_AC:
		return (struct user_trap){SIGBUS, BUS_ADRALN, 0};
	case X86_TRAP_MF:
		return (struct user_trap){SIGFPE, x87_code(), regs->rip};
	case X86_TRAP_XF:
		return (struct user_trap){SIGFPE, simd_code(), regs->rip};
	default: /* #GP, #OF, #BR, ...: what it may not do */
		return (struct user_trap){SIGSEGV, SI_KERNEL, 0};
	}
}

/* The code is found out before interrupts are on (user_trap), and the signal is sent with them on. */
static void user_exception(struct pt_regs *regs)
{
	struct user_trap trap = user_trap(regs);

	local_irq_enable();
	if (regs->vector == X86_TRAP_BP && uprobe_breakpoint(regs))
		return;
	if (trap.code == TRAP_TRACE && regs->vector == X86_TRAP_DB && uprobe_step(regs))
		return;
	current->thread.trap_nr = regs->vector;
	current->thread.error_code = regs->orig_rax;
	force_sig_fault(trap.signal, trap.code, trap.addr);
}

/*
 * UD2 in the kernel. Ours is followed by a mark: a BUG or, when report_bug() returns, a WARN. One without the mark is
 * gcc's, for code that it takes for unreachable.
 */
static void kernel_ud2(struct pt_regs *regs)
{
	u16 insn[2];

	if (copy_from_kernel_nofault(insn, (const void *)regs->rip, sizeof(insn)) || insn[0] != BUG_UD2 ||
	    insn[1] != BUG_MARK)
		die("Oops: invalid opcode", regs, 0);
	report_bug(regs);
	regs->rip += BUG_INSN_LEN;
}

/* Interrupts off, and so on return. */
static void kernel_exception(struct pt_regs *regs)
{
	switch (regs->vector) {
	case X86_TRAP_UD:
		kernel_ud2(regs);
		break;
	case X86_TRAP_GP: /* an address that is not canonical, an MSR that is not there, IRETQ: what has a
			     fix-up */
	case X86_TRAP_SS: /* such an address relative to rbp or rsp; IRETQ */
	case X86_TRAP_NP: /* IRETQ */
		if (fixup_exception(regs))
			break;
		pr_emerg("%s, error code 0x%lx\n", exception_name(regs->vector), (unsigned long)regs->orig_rax);
		die("Oops: general protection fault", regs, regs->orig_rax);
	default:
		pr_emerg("Unexpected kernel exception: %s\n", exception_name(regs->vector));
		die("Oops: unexpected exception", regs, regs->orig_rax);
	}
}

/*
 * An access to a device that is watched: it is made right here, before anything is traced or patched code is met, since
 * it may have come from anywhere, also from a CPU that is parked while text changes. No bit but that of a write is set
 * in the error code: the kernel has read or written where no page is (SDM vol. 3, 4.7).
 */
static __always_inline bool device_access(struct pt_regs *regs, u64 address)
{
	return unlikely(kmmio_range(address)) && !(regs->orig_rax & ~(u64)PF_WRITE) && kmmio_fault(regs, address);
}

/* The address was CR2, which the next fault of this CPU overwrites. */
static __always_inline void page_fault(struct pt_regs *regs, u64 address)
{
	if (interrupts_enabled(regs))
		enter_and_enable_irqs();
	exc_page_fault(regs, regs->orig_rax, address);
	local_irq_disable();
}

/*
 * Page faults are first, as they are ordinary and nearly all of what comes here. CR2 is read first of all, before a
 * tracer can run: the next fault of this CPU overwrites it. An NMI, which may fault, puts it back. The handlers of a
 * kprobe are called before anything is traced, too: its breakpoint may stand in what does that.
 */
__kprobes void exc_handler(struct pt_regs *regs)
{
	if (likely(regs->vector == X86_TRAP_PF)) {
		u64 address = read_cr(2);

		if (device_access(regs, address))
			return;
		page_fault(regs, address);
	} else if (regs->vector == X86_TRAP_BP && !user_mode(regs) && probe_hooks.kernel_break(regs->rip - 1, regs)) {
		return;
	} else {
		enter_from_exception(regs);
		if (user_mode(regs))
			user_exception(regs);
		else
			kernel_exception(regs);
	}
	if (user_mode(regs))
		exit_to_user_mode(regs);
	else
		exit_from_exception(regs);
}

/*
 * On its own stack, because the task's may be used up: a page fault on the guard page below a stack cannot be pushed
 * there, and becomes a double fault with the address in CR2. Not traced, as a tracer looks at the stack.
 */
notrace void double_fault_handler(struct pt_regs *regs)
{
	unsigned long stack = (unsigned long)current->stack, irq_end = this_cpu(irq_stack_end);
	u64 address = read_cr(2);

	console_verbose();
	if (address - (stack - PAGE_SIZE) < PAGE_SIZE || address - (irq_end - IRQ_STACK_SIZE - PAGE_SIZE) < PAGE_SIZE) {
		pr_emerg(
			"kernel stack overflow: task %s (pid %d), sp 0x%016lx, stack 0x%016lx-0x%016lx, CR2 0x%016lx\n",
			current->comm, current->pid, (unsigned long)regs->rsp, stack, stack + THREAD_SIZE,
			(unsigned long)address);
		show_regs(regs);
		show_stack(NULL, regs);
		panic("kernel stack overflow (CR2 0x%lx)", (unsigned long)address);
	}
	pr_emerg("double fault: task %s (pid %d), CR2 0x%016lx\n", current->comm, current->pid, (unsigned long)address);
	show_regs(regs);
	show_stack(NULL, regs);
	panic("double fault");
}

notrace void machine_check_handler(struct pt_regs *regs)
{
	console_verbose();
	pr_emerg("machine check on CPU %u\n", smp_processor_id());
	show_regs(regs);
	panic("machine check");
}
