/* Signal frames as Linux lays them out on x86_64 (its uapi asm/sigcontext.h and asm/ucontext.h give the structures). */
#include <arch/signal.h>
#include <asm/ptrace.h>
#include <asm/uaccess.h>
#include <lib/string.h>
#include <proc/altstack.h>
#include <proc/vdso.h>
#include <sched/current.h>

#include "../exception.h"
#include "fpu.h"

/* Below the stack pointer a leaf function keeps what it likes (System V ABI, 3.2.2). */
#define REDZONE 128

#define UC_FP_XSTATE	     1 /* the FPU part is XSAVE's */
#define UC_SIGCONTEXT_SS     2 /* ss is saved, */
#define UC_STRICT_RESTORE_SS 4 /* and restored */

/* What rt_sigreturn may change of RFLAGS: arithmetic, direction, trap, resume, alignment check. */
#define USER_RFLAGS (X86_EFLAGS_ARITH | X86_EFLAGS_TF | X86_EFLAGS_DF | X86_EFLAGS_RF | X86_EFLAGS_AC)

struct sigcontext {
	u64 r8, r9, r10, r11, r12, r13, r14, r15;
	u64 rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, rflags;
	u16 cs, gs, fs, ss;
	u64 err, trapno, oldmask, cr2;
	void __user *fpstate; /* NULL on return: a fresh one */
	u64 reserved[8];
};
struct ucontext {
	u64 uc_flags, uc_link;
	struct user_stack uc_stack;
	struct sigcontext uc_mcontext;
	u64 uc_sigmask;
};
/* The FPU's part lies above, where its alignment wants it. */
struct rt_sigframe {
	u64 pretcode; /* where the handler returns to, as if it had been called */
	struct ucontext uc;
	struct siginfo info;
};
static_assert(sizeof(struct sigcontext) == 256);
static_assert(offsetof(struct ucontext, uc_mcontext) == 40);
static_assert(offsetof(struct ucontext, uc_sigmask) == 296);
static_assert(offsetof(struct rt_sigframe, info) == 312);

/*
 * The interrupted registers in Linux's order. As in Linux, the selectors of gs and fs are 0, and the handler goes on
 * with the segments of data as they are.
 */
static struct sigcontext read_context(const struct pt_regs *regs, u64 oldset, void __user *fpstate)
{
	return (struct sigcontext){
		.r8 = regs->r8,
		.r9 = regs->r9,
		.r10 = regs->r10,
		.r11 = regs->r11,
		.r12 = regs->r12,
		.r13 = regs->r13,
		.r14 = regs->r14,
		.r15 = regs->r15,
		.rdi = regs->rdi,
		.rsi = regs->rsi,
		.rbp = regs->rbp,
		.rbx = regs->rbx,
		.rdx = regs->rdx,
		.rax = regs->rax,
		.rcx = regs->rcx,
		.rsp = regs->rsp,
		.rip = regs->rip,
		.rflags = regs->rflags,
		.cs = regs->cs,
		.ss = regs->ss,
		.err = current->thread.error_code,
		.trapno = current->thread.trap_nr,
		.oldmask = oldset,
		.cr2 = current->thread.cr2,
		.fpstate = fpstate,
	};
}

/*
 * Writes everything that rt_sigreturn(2) needs. 0 or -EFAULT, with the frame half written: the program is killed then.
 */
static int save_frame(struct rt_sigframe __user *frame, const struct ksignal *ksig, u64 oldset,
		      const struct pt_regs *regs, void __user *fpstate)
{
	struct ucontext uc = {
		.uc_flags = UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS | (fpu_has_xsave ? UC_FP_XSTATE : 0),
		.uc_stack = save_altstack(),
		.uc_mcontext = read_context(regs, oldset, fpstate),
		.uc_sigmask = oldset,
	};
	u64 restorer = ksig->ka.sa_flags & SA_RESTORER ? (u64)ksig->ka.sa_restorer : vdso_sigreturn();

	if (put_user(restorer, &frame->pretcode) || copy_to_user(&frame->uc, &uc, sizeof(uc)) ||
	    copy_to_user(&frame->info, &ksig->info, sizeof(frame->info)))
		return -EFAULT;
	return fpu_save_frame(fpstate);
}

/*
 * From above: the red zone, the FPU state at a multiple of 64, the frame, ending so that the handler finds
 * the stack as after a call: eight bytes below a multiple of 16.
 */
int arch_setup_rt_frame(struct ksignal *ksig, u64 *oldset, struct pt_regs *regs)
{
	unsigned long fpstate = ALIGN_DOWN(sigframe_top(ksig, regs->rsp, REDZONE) - fpu_frame_size(), 64),
		      frame = ALIGN_DOWN(fpstate - sizeof(struct rt_sigframe), 16) - 8;
	struct rt_sigframe __user *uframe = (void __user *)frame;

	/* No program can have a handler beyond user space. */
	if ((u64)ksig->ka.sa_handler >= TASK_SIZE || !sigframe_fits(ksig, regs->rsp, frame) ||
	    save_frame(uframe, ksig, *oldset, regs, (void __user *)fpstate))
		return -EFAULT;
	fpu_reset();
	regs->rdi = ksig->sig;
	regs->rsi = (u64)&uframe->info;
	regs->rdx = (u64)&uframe->uc;
	regs->rax = 0; /* no vector registers hold arguments, should the handler take `...` */
	regs->rsp = frame;
	regs->rip = (u64)ksig->ka.sa_handler;
	regs->cs = __USER_CS;
	regs->ss = __USER_DS;
	regs->rflags &= ~(X86_EFLAGS_DF | X86_EFLAGS_RF | X86_EFLAGS_TF);
	regs->orig_rax = NO_SYSCALL;
	return 0;
}

/*
 * Registers from the frame, which the program may have changed. The selectors are not the frame's to choose, as user
 * mode has only one of each; of RFLAGS only harmless bits are taken.
 */
static void write_context(struct pt_regs *regs, const struct sigcontext *sc)
{
	regs->r8 = sc->r8;
	regs->r9 = sc->r9;
	regs->r10 = sc->r10;
	regs->r11 = sc->r11;
	regs->r12 = sc->r12;
	regs->r13 = sc->r13;
	regs->r14 = sc->r14;
	regs->r15 = sc->r15;
	regs->rdi = sc->rdi;
	regs->rsi = sc->rsi;
	regs->rbp = sc->rbp;
	regs->rbx = sc->rbx;
	regs->rdx = sc->rdx;
	regs->rax = sc->rax;
	regs->rcx = sc->rcx;
	regs->rsp = sc->rsp;
	regs->rip = sc->rip;
	regs->rflags = (regs->rflags & ~USER_RFLAGS) | (sc->rflags & USER_RFLAGS);
	regs->cs = __USER_CS;
	regs->ss = __USER_DS;
}

/*
 * Goes back to what the frame says. Any rip and rsp are good: only their use faults, in user mode, or IRET refuses them
 * (entry.S). When the FPU's part is bad, the registers and the mask are those of the frame all the same, so a handler
 * of the SIGSEGV that follows returns to where this frame leads; the alternate stack, which is last, stays as it is. As
 * on Linux. 0, -EFAULT or -EINVAL.
 */
static int restore_frame(const struct rt_sigframe __user *frame, struct pt_regs *regs)
{
	struct ucontext uc;
	sigset_t set;
	int err;

	if (get_user(set, &frame->uc.uc_sigmask))
		return -EFAULT;
	set_current_blocked(set);
	if (copy_from_user(&uc, &frame->uc, sizeof(uc)))
		return -EFAULT;
	write_context(regs, &uc.uc_mcontext);
	err = fpu_restore_frame(uc.uc_mcontext.fpstate);
	if (!err)
		restore_altstack(&uc.uc_stack);
	return err;
}

long arch_rt_sigreturn(struct pt_regs *regs)
{
	/* The handler's `ret` has taken pretcode. */
	const struct rt_sigframe __user *frame = (void __user *)(regs->rsp - sizeof(u64));

	regs->orig_rax = NO_SYSCALL; /* what is restored is not to be taken for an interrupted call */
	if (restore_frame(frame, regs)) {
		force_sig_fault(SIGSEGV, SI_KERNEL, 0); /* as Linux on this machine */
		return 0;
	}
	return regs->rax;
}

unsigned long arch_min_sigstack(void)
{
	return sizeof(struct rt_sigframe) + 16 + fpu_frame_size() + 64;
}
