/* Signal frames as Linux lays them out on arm64 (its uapi asm/sigcontext.h and asm/ucontext.h give the structures). */
#include <arch/signal.h>
#include <asm/ptrace.h>
#include <asm/uaccess.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <proc/altstack.h>
#include <proc/vdso.h>
#include <sched/current.h>

#include "../exception.h"

#define FPSIMD_MAGIC 0x46508001
#define ESR_MAGIC    0x45535201

/* A record of the extension area: FP registers, and what later CPUs added; one with magic and size 0 ends it. */
struct aarch64_ctx {
	u32 magic, size;
};
struct fpsimd_context {
	struct aarch64_ctx head;
	u32 fpsr, fpcr;
	u64 vregs[64];
};
struct sigcontext {
	u64 fault_address;
	u64 regs[31];
	u64 sp, pc, pstate;
	u8 reserved[4096] __aligned(16);
};
struct ucontext {
	u64 uc_flags, uc_link;
	struct user_stack uc_stack;
	u64 uc_sigmask;
	u8 unused[128 - sizeof(u64)];
	struct sigcontext uc_mcontext;
};
struct rt_sigframe {
	struct siginfo info;
	struct ucontext uc;
};
/* Above it: a frame record, so that a debugger walks from the handler to the interrupted code. */
struct frame_record {
	u64 fp, lr;
};
#define FRAME_FIXED (sizeof(struct rt_sigframe) - 4096) /* up to the extension area, which is pushed as far as used */
#define FRAME_SIZE  (FRAME_FIXED + sizeof(struct fpsimd_context) + 16)

static_assert(sizeof(struct fpsimd_context) == 528);
static_assert(offsetof(struct ucontext, uc_sigmask) == 40);
static_assert(offsetof(struct ucontext, uc_mcontext) == 176);
static_assert(offsetof(struct sigcontext, reserved) == 288);
static_assert(offsetof(struct user_fpsimd, fpsr) == 512);

/* Writes the FP record of the extension area, and the empty record that ends the area. 0 or -EFAULT. */
static int save_fpsimd(struct rt_sigframe __user *frame)
{
	struct fpsimd_context __user *ctx = (void *)frame->uc.uc_mcontext.reserved;
	struct aarch64_ctx __user *end = (void *)(ctx + 1);
	const struct user_fpsimd *fp = &current->thread.fpsimd;
	int err;

	fpsimd_preserve();
	err = put_user(FPSIMD_MAGIC, &ctx->head.magic) | put_user((u32)sizeof(*ctx), &ctx->head.size);
	err |= put_user(fp->fpsr, &ctx->fpsr) | put_user(fp->fpcr, &ctx->fpcr);
	err |= put_user(0, &end->magic) | put_user(0, &end->size);
	if (err || copy_to_user(ctx->vregs, fp->vregs, sizeof(fp->vregs)))
		return -EFAULT;
	return 0;
}

/*
 * Everything that rt_sigreturn(2) needs to go back. Returns 0 or -EFAULT, with the frame half
 * written: the program is killed then.
 */
static int save_frame(struct rt_sigframe __user *frame, struct ksignal *ksig, u64 oldset, struct pt_regs *regs)
{
	struct sigcontext __user *sc = &frame->uc.uc_mcontext;
	struct user_stack stack = save_altstack();
	int err;

	/* Linux's user_pt_regs is exactly regs, sp, pc, pstate: one copy. */
	static_assert(offsetof(struct pt_regs, pstate) - offsetof(struct pt_regs, regs) ==
		      offsetof(struct sigcontext, pstate) - offsetof(struct sigcontext, regs));
	if (copy_to_user(&frame->info, &ksig->info, sizeof(frame->info)) || clear_user(&frame->uc, 16) ||
	    copy_to_user(&frame->uc.uc_stack, &stack, sizeof(stack)) ||
	    copy_to_user(sc->regs, regs->regs, offsetof(struct pt_regs, orig_x0)))
		return -EFAULT;
	err = put_user(oldset, &frame->uc.uc_sigmask);
	err |= put_user(current->thread.fault_address, &sc->fault_address);
	return err ? err : save_fpsimd(frame);
}

/*
 * The handler's stack, from above: the frame record, then struct rt_sigframe with the extension
 * area as far as it is used. It returns into the vDSO or the program's own restorer, which calls
 * rt_sigreturn(2).
 */
int arch_setup_rt_frame(struct ksignal *ksig, u64 *oldset, struct pt_regs *regs)
{
	struct frame_record __user *record =
		(void *)(ALIGN_DOWN(sigframe_top(ksig, regs->sp, 0), 16) - sizeof(struct frame_record));
	struct rt_sigframe __user *frame = (void *)(ALIGN_DOWN((unsigned long)record - FRAME_SIZE, 16));

	if (!sigframe_fits(ksig, regs->sp, (unsigned long)frame) || save_frame(frame, ksig, *oldset, regs))
		return -EFAULT;
	if (put_user(regs->regs[29], &record->fp) || put_user(regs->regs[30], &record->lr))
		return -EFAULT;
	regs->regs[0] = ksig->sig;
	if (ksig->ka.sa_flags & SA_SIGINFO) {
		regs->regs[1] = (u64)&frame->info;
		regs->regs[2] = (u64)&frame->uc;
	}
	regs->regs[29] = (u64)record;
	regs->regs[30] = ksig->ka.sa_flags & SA_RESTORER ? (u64)ksig->ka.sa_restorer : vdso_sigreturn();
	regs->sp = (u64)frame;
	regs->pc = (u64)ksig->ka.sa_handler;
	regs->pstate &= ~(PSR_BTYPE_MASK | PSR_TCO_BIT);
	regs->syscallno = NO_SYSCALL;
	return 0;
}

/*
 * 0 or -EFAULT, and then the registers stay: the record lies in at most two pages, and the last word is read before
 * they change. (Where another thread unmaps a page meanwhile, it is the program's loss.)
 */
static int restore_fpsimd(const struct fpsimd_context __user *ctx)
{
	struct user_fpsimd *fp = &current->thread.fpsimd;
	u32 fpsr, fpcr;
	u64 last;

	if (get_user(fpsr, &ctx->fpsr) || get_user(fpcr, &ctx->fpcr) ||
	    copy_from_user(&last, &ctx->vregs[ARRAY_SIZE(ctx->vregs) - 1], sizeof(last)))
		return -EFAULT;
	fpsimd_reload(); /* first: a switch in between must not save over what is read here */
	fp->fpsr = fpsr;
	fp->fpcr = fpcr;
	return copy_from_user(fp->vregs, ctx->vregs, sizeof(fp->vregs)) ? -EFAULT : 0;
}

/*
 * Walks the records of the extension area as the program has left them: each known one at most once, sizes right, an
 * end before the area's. The vector registers change only if all are right. 0; -EINVAL for what no kernel has written;
 * -EFAULT.
 */
static int restore_records(struct sigcontext __user *sc)
{
	struct fpsimd_context __user *fpsimd = NULL;

	for (unsigned at = 0; at + sizeof(struct aarch64_ctx) <= sizeof(sc->reserved);) {
		struct aarch64_ctx __user *ctx = (void *)(sc->reserved + at);
		u32 magic, size;

		if (get_user(magic, &ctx->magic) || get_user(size, &ctx->size))
			return -EFAULT;
		if (!magic)
			return size || !fpsimd ? -EINVAL : restore_fpsimd(fpsimd);
		if (size < sizeof(*ctx) || size % 16 || size > sizeof(sc->reserved) - at)
			return -EINVAL;
		if (magic == FPSIMD_MAGIC) {
			if (fpsimd || size != sizeof(*fpsimd))
				return -EINVAL;
			fpsimd = (void *)ctx;
		} else if (magic != ESR_MAGIC) {
			return -EINVAL;
		}
		at += size;
	}
	return -EINVAL;
}

/* User mode may choose its condition flags and nothing that would give it more. */
static bool valid_user_pstate(u64 pstate)
{
	return (pstate & (PSR_MODE_MASK | PSR_MODE32 | PSR_DAIF_MASK)) == PSR_MODE_EL0t;
}

/*
 * General registers from the frame; what cannot be read is 0. Of a pstate that user mode may not have only the
 * condition flags are taken. 0, -EFAULT or -EINVAL.
 */
static int restore_regs(const struct sigcontext __user *sc, struct pt_regs *regs)
{
	struct pt_regs new = *regs;
	unsigned long left = copy_from_user(new.regs, sc->regs, offsetof(struct pt_regs, orig_x0));
	bool valid = valid_user_pstate(new.pstate);

	new.pstate &= valid ? PSR_NZCV_MASK | PSR_BTYPE_MASK | PSR_SSBS_BIT | PSR_DIT_BIT | PSR_TCO_BIT : PSR_NZCV_MASK;
	*regs = new;
	if (left)
		return -EFAULT;
	return valid ? 0 : -EINVAL;
}

/*
 * Goes back to what the frame says: the mask, the registers, the records, the alternate stack. When one of them is bad,
 * those before it are the frame's all the same, as on Linux, so a handler of the SIGSEGV that follows returns to where
 * this frame leads. 0, -EFAULT or -EINVAL.
 */
static int restore_frame(struct rt_sigframe __user *frame, struct pt_regs *regs)
{
	struct user_stack stack;
	sigset_t set;
	int err;

	if (!access_ok(frame, sizeof(*frame)))
		return -EFAULT;
	err = get_user(set, &frame->uc.uc_sigmask);
	if (!err)
		set_current_blocked(set);
	err |= restore_regs(&frame->uc.uc_mcontext, regs);
	if (err || restore_records(&frame->uc.uc_mcontext))
		return -EINVAL;
	if (copy_from_user(&stack, &frame->uc.uc_stack, sizeof(stack)))
		return -EFAULT;
	restore_altstack(&stack);
	return 0;
}

/* The si_code for a frame that cannot be used. Linux asks only for memory there or above. Takes mmap_lock. */
static int bad_frame_code(unsigned long addr)
{
	const struct vm_area_struct *vma;

	mutex_lock(&current->mm->mmap_lock);
	vma = find_vma(current->mm, addr);
	mutex_unlock(&current->mm->mmap_lock);
	return vma ? SEGV_ACCERR : SEGV_MAPERR;
}

long arch_rt_sigreturn(struct pt_regs *regs)
{
	struct rt_sigframe __user *frame = (void *)regs->sp;

	regs->syscallno = NO_SYSCALL; /* what is restored is not to be taken for an interrupted call */
	if (regs->sp % 16 || restore_frame(frame, regs)) {
		current->thread.fault_address = 0;
		force_sig_fault(SIGSEGV, bad_frame_code(regs->sp), regs->sp); /* sp as far as it was restored */
		return 0;
	}
	return regs->regs[0];
}

/* Linux announces its frame with all records that the CPU could fill in; here that is one record. */
unsigned long arch_min_sigstack(void)
{
	return FRAME_SIZE + sizeof(struct frame_record) + 16;
}
