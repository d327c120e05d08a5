/*
 * A debugger's view of a task that stands still (<arch/ptrace.h>): its registers, in Linux's sets and in its struct
 * user. All registers are in memory then: the general ones in the pt_regs at the top of its stack, the others in its
 * thread_struct.
 */
#include <arch/ptrace.h>
#include <arch/thread.h>
#include <asm/debugreg.h>
#include <asm/page.h>
#include <asm/ptrace.h>
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/sched.h>

#include "../task/fpu.h"
#include "../task/segments.h"

#define NT_PRSTATUS   1
#define NT_PRFPREG    2
#define NT_X86_XSTATE 0x202

#define PTRACE_PEEKUSR	  3
#define PTRACE_POKEUSR	  6
#define PTRACE_GETREGS	  12
#define PTRACE_SETREGS	  13
#define PTRACE_GETFPREGS  14
#define PTRACE_SETFPREGS  15
#define PTRACE_ARCH_PRCTL 30
#define USER_SIZE	  928 /* of Linux's struct user */
#define USER_DEBUG	  848 /* where it has the eight debug registers */
/* Linux's selectors of user mode, by which debuggers know a program of 64 bits. Ours have other numbers. */
#define LINUX_USER_CS 0x33
#define LINUX_USER_DS 0x2b

/* Bits of RFLAGS that a debugger may set. */
#define USER_RFLAGS (X86_EFLAGS_ARITH | X86_EFLAGS_TF | X86_EFLAGS_DF | X86_EFLAGS_RF | X86_EFLAGS_AC)

/* Linux's struct user_regs_struct. The first fifteen have the order of pt_regs, and so have orig_rax to ss. */
struct user_regs {
	u64 r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
	u64 orig_rax, rip, cs, rflags, rsp, ss;
	u64 fs_base, gs_base, ds, es, fs, gs;
};
#define GENERAL_SIZE offsetof(struct user_regs, orig_rax)
static_assert(offsetof(struct pt_regs, vector) - offsetof(struct pt_regs, r15) == GENERAL_SIZE);

/*
 * The number of the call in progress as the program has passed it: all of rax, although only the lower half counts.
 * NO_SYSCALL outside of a call.
 */
static u64 shown_call(const struct pt_regs *regs)
{
	return regs->vector == SYSCALL_VECTOR ? regs->orig_rax : (u64)NO_SYSCALL;
}

/* The selectors of code and stack are Linux's, and the trap flag is the program's. */
static void gpr_get(struct task_struct *t, void *buf)
{
	const struct pt_regs *regs = task_pt_regs(t);
	struct user_regs *user = buf;

	memcpy(user, &regs->r15, GENERAL_SIZE);
	user->orig_rax = shown_call(regs);
	user->rip = regs->rip;
	user->cs = LINUX_USER_CS;
	user->rflags = regs->rflags;
	if (READ_ONCE(t->thread_flags) & BIT(TIF_FORCED_TF))
		user->rflags &= ~X86_EFLAGS_TF;
	user->rsp = regs->rsp;
	user->ss = LINUX_USER_DS;
	user->fs_base = t->thread.fsbase;
	user->gs_base = t->thread.gsbase;
	user->ds = t->thread.segments.ds;
	user->es = t->thread.segments.es;
	user->fs = t->thread.segments.fs;
	user->gs = t->thread.segments.gs;
}

/*
 * Linux's check of a selector that a debugger writes, of which 16 bits count: null, or of user mode's privilege. A
 * program may have loaded another one that is null; it may stay when the debugger writes another register.
 */
static bool valid_selector(u16 selector, u16 old)
{
	return !selector || (selector & 3) == 3 || selector == old;
}

static bool valid_segments(const union user_segments *old, const struct user_regs *user)
{
	return valid_selector(user->ds, old->ds) && valid_selector(user->es, old->es) &&
	       valid_selector(user->fs, old->fs) && valid_selector(user->gs, old->gs);
}

/* One that the CPU would not load becomes null, as Linux does when it has to load it. */
static u16 usable_selector(u16 selector)
{
	return segments_loadable(selector) ? selector : 0;
}

/* A selector of a descriptor brings the base 0; beside a null one the base that is written holds. */
static void segments_set(struct thread_struct *thread, const struct user_regs *user)
{
	union user_segments s = {
		.ds = usable_selector(user->ds),
		.es = usable_selector(user->es),
		.fs = usable_selector(user->fs),
		.gs = usable_selector(user->gs),
	};

	thread->segments = s;
	thread->fsbase = s.fs > 3 ? 0 : user->fs_base;
	thread->gsbase = s.gs > 3 ? 0 : user->gs_base;
}

/*
 * Selectors of code and stack are not the debugger's to choose, as user mode has only one of each. Any rip and rsp are
 * good, since IRET refuses what is no address and the program gets the signal for it (entry.S). orig_rax is the number
 * of a call that may begin again, also outside of one: so a debugger puts back what was interrupted. -EIO: a base of
 * the kernel's, or a selector of another privilege.
 */
static int gpr_set(struct task_struct *t, const void *buf, unsigned n)
{
	struct pt_regs *regs = task_pt_regs(t);
	const struct user_regs *user = buf;
	u64 rflags = (regs->rflags & ~USER_RFLAGS) | (user->rflags & USER_RFLAGS);

	if (user->fs_base >= TASK_SIZE || user->gs_base >= TASK_SIZE || !valid_segments(&t->thread.segments, user))
		return -EIO;
	memcpy(&regs->r15, user, GENERAL_SIZE);
	if (shown_call(regs) != user->orig_rax) {
		regs->vector = SYSCALL_VECTOR;
		regs->orig_rax = user->orig_rax;
	}
	regs->rip = user->rip;
	if (user->rflags & X86_EFLAGS_TF)
		clear_tsk_thread_flag(t, TIF_FORCED_TF); /* it is the program's own from now on */
	else if (READ_ONCE(t->thread_flags) & BIT(TIF_FORCED_TF))
		rflags |= X86_EFLAGS_TF;
	regs->rflags = rflags;
	regs->rsp = user->rsp;
	segments_set(&t->thread, user);
	return 0;
}

static const struct regset regsets[] = {
	{NT_PRSTATUS, 8, sizeof(struct user_regs), gpr_get, gpr_set},
	{NT_PRFPREG, 8, FPU_LEGACY_SIZE, fpu_regset_get, fpu_regset_set},
	{NT_X86_XSTATE, 8, FPU_STATE_SIZE, fpu_regset_get, fpu_regset_set},
};

/* Without XSAVE there is no state beyond FXSAVE's. */
const struct regset *arch_regset(unsigned type)
{
	for (unsigned i = 0; i < ARRAY_SIZE(regsets); i++)
		if (regsets[i].type == type && (type != NT_X86_XSTATE || fpu_has_xsave))
			return &regsets[i];
	return NULL;
}

/* The whole of a set, without a length: the older requests. */
static long copy_set(struct task_struct *t, const struct regset *rs, void __user *user, bool set)
{
	u8 buf[FPU_STATE_SIZE] __aligned(8) = {0};

	if (!set) {
		rs->get(t, buf);
		return copy_to_user(user, buf, rs->size) ? -EFAULT : 0;
	}
	return copy_from_user(buf, user, rs->size) ? -EFAULT : rs->set(t, buf, rs->size);
}

/* DR4 and DR5 are no registers of their own. */
static u64 read_debug(const struct user_debug *user, unsigned i)
{
	if (i < NR_DEBUG_REGISTERS)
		return user->address[i];
	if (i == 6)
		return user->dr6;
	return i == 7 ? user->dr7 : 0;
}

/* DR7 says of all four what they watch, so each change is checked with it. -EIO, or as debug_set_user(). */
static long write_debug(struct user_debug *user, unsigned i, u64 v)
{
	struct user_debug new = *user;

	if (i < NR_DEBUG_REGISTERS) {
		if (v >= TASK_SIZE)
			return -EINVAL;
		new.address[i] = v;
	} else if (i == 6) {
		new.dr6 = v;
	} else if (i == 7) {
		new.dr7 = v &DR7_USER;
	} else {
		return -EIO;
	}
	return debug_set_user(user, &new);
}

/* A word of Linux's struct user, of which there are the registers. */
static long peek_user(struct task_struct *t, unsigned long addr, u64 __user *to)
{
	u64 words[sizeof(struct user_regs) / 8] = {0};

	if (addr % 8 || addr >= USER_SIZE)
		return -EIO;
	if (addr >= USER_DEBUG && addr < USER_DEBUG + 8 * 8)
		return put_user(read_debug(&t->thread.debug, (addr - USER_DEBUG) / 8), to);
	if (addr >= sizeof(words))
		return put_user(0, to);
	gpr_get(t, words);
	return put_user(words[addr / 8], to);
}

static long poke_user(struct task_struct *t, unsigned long addr, u64 word)
{
	u64 words[sizeof(struct user_regs) / 8] = {0};

	if (addr % 8 == 0 && addr >= USER_DEBUG && addr < USER_DEBUG + 8 * 8)
		return write_debug(&t->thread.debug, (addr - USER_DEBUG) / 8, word);
	if (addr % 8 || addr >= sizeof(words))
		return -EIO;
	gpr_get(t, words);
	words[addr / 8] = word;
	return gpr_set(t, words, sizeof(words));
}

/* What arch_prctl(2) does, for a task that stands still: a base that is set makes the selector null. */
static long bases_prctl(struct thread_struct *thread, unsigned long option, unsigned long arg)
{
	if ((option == ARCH_SET_FS || option == ARCH_SET_GS) && arg >= TASK_SIZE)
		return -EPERM;
	switch (option) {
	case ARCH_SET_FS:
		thread->segments.fs = 0;
		thread->fsbase = arg;
		return 0;
	case ARCH_SET_GS:
		thread->segments.gs = 0;
		thread->gsbase = arg;
		return 0;
	case ARCH_GET_FS:
		return put_user(thread->fsbase, (u64 __user *)arg);
	case ARCH_GET_GS:
		return put_user(thread->gsbase, (u64 __user *)arg);
	}
	return -EINVAL;
}

/* Whole sets without a length, words of struct user, and the bases of segments: what came before PTRACE_GETREGSET. */
long arch_ptrace(struct task_struct *t, long request, unsigned long addr, unsigned long data)
{
	void __user *user = (void __user *)data;

	switch (request) {
	case PTRACE_PEEKUSR:
		return peek_user(t, addr, user);
	case PTRACE_POKEUSR:
		return poke_user(t, addr, data);
	case PTRACE_GETREGS:
	case PTRACE_SETREGS:
		return copy_set(t, &regsets[0], user, request == PTRACE_SETREGS);
	case PTRACE_GETFPREGS:
	case PTRACE_SETFPREGS:
		return copy_set(t, &regsets[1], user, request == PTRACE_SETFPREGS);
	case PTRACE_ARCH_PRCTL: /* addr and data are exchanged */
		return bases_prctl(&t->thread, data, addr);
	default:
		return -EIO;
	}
}
