/* Registers that an exception saves, and how generic code reads them. */
#pragma once

#include <asm/irq_vectors.h>
#include <asm/segment.h>
#include <lib/types.h>

/*
 * On the kernel stack, built by entry.S, always whole. `stackframe`, at the low end, is a frame record like a
 * function's: {interrupted rbp, interrupted rip} from the kernel, {0, 0} from user mode. rbp of the handler
 * points to it, so a walk by frame records crosses the exception. From `rip` on it is what the CPU pushes
 * (SDM vol. 3, figure 6-9).
 */
struct pt_regs {
	u64 stackframe[2];
	u64 r15, r14, r13, r12, rbp, rbx;	       /* callee saved */
	u64 r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi; /* rax: of a system call the result */
	u64 vector;   /* of the interrupt or exception; SYSCALL_VECTOR; NO_VECTOR: never entered from user mode */
	u64 orig_rax; /* number of the call (NO_SYSCALL: rolled back), or the exception's error code, or 0 */
	u64 rip, cs, rflags, rsp, ss;
};
#define NO_SYSCALL (-1)
#define NO_VECTOR  0x101
static_assert(sizeof(struct pt_regs) % 16 == 0, "RSP must stay 16-byte aligned");

#define X86_EFLAGS_CF	 (1UL << 0)
#define X86_EFLAGS_ARITH (0x8d5UL) /* CF, PF, AF, ZF, SF, OF */
#define X86_EFLAGS_FIXED (1UL << 1)
#define X86_EFLAGS_TF	 (1UL << 8)
#define X86_EFLAGS_IF	 (1UL << 9)
#define X86_EFLAGS_DF	 (1UL << 10)
#define X86_EFLAGS_IOPL	 (3UL << 12)
#define X86_EFLAGS_NT	 (1UL << 14)
#define X86_EFLAGS_RF	 (1UL << 16)
#define X86_EFLAGS_AC	 (1UL << 18)
#define X86_EFLAGS_ID	 (1UL << 21)

#define user_mode(r)		(((r)->cs & 3) == 3)
#define instruction_pointer(r)	((unsigned long)(r)->rip)
#define user_stack_pointer(r)	((unsigned long)(r)->rsp)
#define kernel_stack_pointer(r) ((unsigned long)(r)->rsp)
#define frame_pointer(r)	((unsigned long)(r)->rbp)
#define regs_return_value(r)	((long)(r)->rax)
#define interrupts_enabled(r)	(!!((r)->rflags & X86_EFLAGS_IF))

static inline void instruction_pointer_set(struct pt_regs *regs, unsigned long pc)
{
	regs->rip = pc;
}

/* The n-th argument of the function whose first instruction is about to be executed; n from 0 to 5. */
static inline unsigned long regs_get_kernel_argument(const struct pt_regs *regs, unsigned n)
{
	const u64 args[] = {regs->rdi, regs->rsi, regs->rdx, regs->rcx, regs->r8, regs->r9};

	return n < ARRAY_SIZE(args) ? args[n] : 0;
}

/* The system call in progress, -1 outside one. */
static inline int syscall_get_nr(const struct pt_regs *regs)
{
	return regs->vector == SYSCALL_VECTOR ? (int)regs->orig_rax : NO_SYSCALL;
}
/* n from 0 to 5. SYSCALL takes rcx for itself, so the fourth is in r10. */
static inline unsigned long syscall_get_arg(const struct pt_regs *regs, unsigned n)
{
	switch (n) {
	case 0:
		return regs->rdi;
	case 1:
		return regs->rsi;
	case 2:
		return regs->rdx;
	case 3:
		return regs->r10;
	case 4:
		return regs->r8;
	default:
		return regs->r9;
	}
}
static inline void syscall_set_return_value(struct pt_regs *regs, long v)
{
	regs->rax = v;
}
/* A debugger may have changed the arguments of the call that is about to be made: nothing is kept of them. */
static inline void syscall_take_args(struct pt_regs *regs)
{
}
/* Back onto the SYSCALL instruction (two bytes) with its number. */
static inline void syscall_rollback(struct pt_regs *regs)
{
	regs->rax = regs->orig_rax;
	regs->rip -= 2;
	regs->orig_rax = NO_SYSCALL;
}
/* Restart as another call (restart_syscall). */
static inline void syscall_set_nr(struct pt_regs *regs, int nr)
{
	regs->rax = nr;
}

/* Nothing lies above the registers. */
#define ARCH_STACK_TOP_RESERVED 0
#define task_pt_regs(t)		((struct pt_regs *)(task_stack_end(t) - ARCH_STACK_TOP_RESERVED) - 1)
