/*
 * Synchronous exceptions: which signal a program gets for which, and what kills the kernel. entry.S
 * calls the handlers with interrupts off, all registers saved in pt_regs, and ESR_EL1 and FAR_EL1
 * as arguments: the class of the exception (ESR_EC) decides. An exception of the kernel is a memory
 * abort, a BUG or WARN (BRK), an instruction with a fix-up, or an oops.
 */
#include <arch/debug_ops.h>
#include <arch/stacktrace.h>
#include <asm/bug.h>
#include <asm/ptrace.h>
#include <asm/uprobes.h>
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

#define FPE_FLTUNK 14

static const char *const class_names[64] = {
	[ESR_EC_UNKNOWN] = "undefined instruction",
	[ESR_EC_WFX] = "WFI/WFE",
	[ESR_EC_FP_ASIMD] = "FP/ASIMD access",
	[ESR_EC_BTI] = "branch target",
	[ESR_EC_ILL] = "illegal execution state",
	[ESR_EC_SVC64] = "SVC",
	[ESR_EC_SYS64] = "system register access",
	[ESR_EC_SVE] = "SVE access",
	[ESR_EC_IABT_LOW] = "instruction abort from EL0",
	[ESR_EC_IABT_CUR] = "instruction abort",
	[ESR_EC_PC_ALIGN] = "PC alignment",
	[ESR_EC_DABT_LOW] = "data abort from EL0",
	[ESR_EC_DABT_CUR] = "data abort",
	[ESR_EC_SP_ALIGN] = "SP alignment",
	[ESR_EC_FP_EXC64] = "floating-point exception",
	[ESR_EC_SERROR] = "SError",
	[ESR_EC_BREAKPT_CUR] = "breakpoint",
	[ESR_EC_BREAKPT_LOW] = "breakpoint from EL0",
	[ESR_EC_SOFTSTP_LOW] = "software step from EL0",
	[ESR_EC_WATCHPT_LOW] = "watchpoint from EL0",
	[ESR_EC_SOFTSTP_CUR] = "software step",
	[ESR_EC_WATCHPT_CUR] = "watchpoint",
	[ESR_EC_BRK64] = "BRK",
};

const char *esr_class_name(u64 esr)
{
	const char *name = class_names[ESR_EC(esr)];

	return name ? name : "unknown exception class";
}

/* Everything from user mode that neither is a system call nor a memory fault, as a signal. Interrupts on. */
static void el0_signal(struct pt_regs *regs, u64 esr, u64 far)
{
	switch (ESR_EC(esr)) {
	case ESR_EC_PC_ALIGN:
		force_sig_fault(SIGBUS, BUS_ADRALN, far);
		break;
	case ESR_EC_SP_ALIGN:
		force_sig_fault(SIGBUS, BUS_ADRALN, regs->sp);
		break;
	case ESR_EC_FP_EXC64:
		force_sig_fault(SIGFPE, FPE_FLTUNK, regs->pc);
		break;
	case ESR_EC_SOFTSTP_LOW:
		if (uprobe_step(regs))
			break;
		force_sig_fault(SIGTRAP, TRAP_TRACE, regs->pc);
		break;
	case ESR_EC_BREAKPT_LOW:
		force_sig_fault(SIGTRAP, TRAP_HWBKPT, regs->pc);
		break;
	case ESR_EC_WATCHPT_LOW:
		force_sig_fault(SIGTRAP, TRAP_HWBKPT, far);
		break;
	case ESR_EC_BRK64:
		if ((esr & ESR_BRK_COMMENT) == UPROBE_BRK_IMM && uprobe_breakpoint(regs))
			break;
		force_sig_fault(SIGTRAP, TRAP_BRKPT, regs->pc);
		break;
	default: /* undefined, a system register it may not touch, SVE, illegal state, ... */
		force_sig_fault(SIGILL, ILL_ILLOPC, regs->pc);
		break;
	}
}

/*
 * Breakpoint, watchpoint or step of the kernel. Interrupts and debug exceptions are masked. preempt_count is raised so
 * that nothing a handler calls gives up the CPU. Interrupt tracers are not told that interrupts are off, because the
 * interrupted code has not switched them off.
 */
notrace void el1h_64_debug_handler(struct pt_regs *regs, u64 esr, u64 far)
{
	__preempt_count_add(PREEMPT_OFFSET);
	if (!has_debug_ops() || !debug_ops()->exception(regs, esr, far)) {
		pr_emerg("Unexpected kernel exception: %s\n", esr_class_name(esr));
		die("Oops - unexpected exception", regs, esr);
	}
	__preempt_count_sub(PREEMPT_OFFSET);
}

/*
 * From user mode, but for system calls, which have a way of their own (el0_svc). Before
 * exit_to_user_mode() interrupts may be on or off.
 */
void el0t_64_sync_handler(struct pt_regs *regs, u64 esr, u64 far)
{
	if (ESR_EC(esr) == ESR_EC_FP_ASIMD) {
		enter_with_irqs_off();
		do_fpsimd_acc(); /* with interrupts off: it changes this CPU's registers */
	} else {
		enter_and_enable_irqs();
		if (ESR_EC(esr) == ESR_EC_DABT_LOW || ESR_EC(esr) == ESR_EC_IABT_LOW)
			do_mem_abort(far, esr, regs);
		else
			el0_signal(regs, esr, far);
	}
	exit_to_user_mode(regs);
}

/*
 * BRK in the kernel: ours is a BUG or, when report_bug() returns, a WARN, and then execution goes
 * on behind it. gcc's (0x3e8) marks what it takes for unreachable.
 */
static void el1_brk(struct pt_regs *regs, u64 esr)
{
	if ((esr & ESR_BRK_COMMENT) != BUG_BRK_IMM)
		die("Oops - BRK", regs, esr);
	report_bug(regs);
	regs->pc += 4;
}

/* Interrupts are as they were, but for a moment at either end, which is not traced (enter_and_enable_irqs). */
static void el1_abort(struct pt_regs *regs, u64 esr, u64 far)
{
	if (interrupts_enabled(regs))
		raw_local_irq_enable();
	do_mem_abort(far, esr, regs);
	raw_local_irq_disable();
}

/* From the kernel. Memory aborts are first: those of user copies are ordinary. */
static noinline void el1h_64_sync_handler(struct pt_regs *regs, u64 esr, u64 far)
{
	if (ESR_EC(esr) == ESR_EC_DABT_CUR || ESR_EC(esr) == ESR_EC_IABT_CUR) {
		el1_abort(regs, esr, far);
		return;
	}
	enter_from_exception(regs);
	switch (ESR_EC(esr)) {
	case ESR_EC_BRK64:
		el1_brk(regs, esr);
		break;
	case ESR_EC_UNKNOWN: /* HLT for semihosting without a host has a fix-up */
		if (fixup_exception(regs))
			break;
		die("Oops - undefined instruction", regs, esr);
	default:
		pr_emerg("Unexpected kernel exception: %s\n", esr_class_name(esr));
		die("Oops - unexpected exception", regs, esr);
	}
	exit_from_exception(regs);
}

/* A load or store of the kernel for which there is no page, in the range where devices are mapped. */
static __always_inline bool may_be_device(u64 esr, u64 far)
{
	return kmmio_range(far) && ESR_EC(esr) == ESR_EC_DABT_CUR &&
	       (esr & ESR_FSC_MASK & ESR_FSC_TYPE) == ESR_FSC_TRANSLATION;
}

static __always_inline bool is_kprobe(u64 esr)
{
	return ESR_EC(esr) == ESR_EC_BRK64 && (esr & ESR_BRK_COMMENT) == KPROBE_BRK_IMM;
}

/*
 * From entry.S. An access to a device that is watched is made right here, and the handlers of a kprobe are called,
 * before anything is traced or interrupts are on: either may have come from anywhere.
 */
__kprobes void el1h_64_sync_entry(struct pt_regs *regs, u64 esr, u64 far)
{
	if (unlikely(may_be_device(esr, far)) && kmmio_fault(regs, far))
		return;
	if (unlikely(is_kprobe(esr)) && probe_hooks.kernel_break(regs->pc, regs))
		return;
	el1h_64_sync_handler(regs, esr, far);
}

/*
 * Vectors that should never be taken; `reason` is the vector's number. The stack may be unusable: it does not return.
 */
void bad_mode(struct pt_regs *regs, unsigned reason, u64 esr)
{
	static const char *const from[] = {"EL1 on SP_EL0", "EL1", "EL0", "EL0 (AArch32)"};
	static const char *const kind[] = {"synchronous exception", "IRQ", "FIQ", "SError"};

	console_verbose();
	pr_emerg("Bad mode: %s from %s on CPU %u, ESR 0x%016lx -- %s\n", kind[reason % 4], from[reason / 4],
		 smp_processor_id(), (unsigned long)esr, esr_class_name(esr));
	die("Oops - bad mode", regs, esr);
}

/* On this CPU's overflow stack: the task's is used up. Not traced: that would take more stack. */
notrace void handle_bad_stack(struct pt_regs *regs, u64 esr, u64 far)
{
	unsigned long stack = (unsigned long)current->stack;

	console_verbose();
	pr_emerg("kernel stack overflow: task %s (pid %d), sp 0x%016lx, stack 0x%016lx-0x%016lx, FAR 0x%016lx\n",
		 current->comm, current->pid, (unsigned long)regs->sp, stack, stack + THREAD_SIZE, (unsigned long)far);
	show_regs(regs);
	show_stack(NULL, regs);
	panic("kernel stack overflow (ESR 0x%lx)", (unsigned long)esr);
}
