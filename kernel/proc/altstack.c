/*
 * Alternate signal stacks: sigaltstack(2), and where on them a frame goes. A handler with SA_ONSTACK runs there, so
 * that it can run when the normal stack has overflowed. All fields are the current task's own, so there is no lock.
 */
#include <asm/ptrace.h>
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <proc/altstack.h>
#include <proc/syscall.h>
#include <sched/current.h>

/* The stack grows down: its first byte is never the stack pointer, the address behind its last one may be. */
static bool within_altstack(unsigned long sp)
{
	return sp > current->sas_ss_sp && sp - current->sas_ss_sp <= current->sas_ss_size;
}

/* One that is disarmed while its handler runs is not in use, wherever the stack pointer is. */
static bool on_altstack(unsigned long sp)
{
	return !(current->sas_ss_flags & SS_AUTODISARM) && within_altstack(sp);
}

/* A handler that interrupts another one on the stack goes on below it. */
static bool wants_altstack(const struct ksignal *ksig, unsigned long sp)
{
	return (ksig->ka.sa_flags & SA_ONSTACK) && current->sas_ss_size && !on_altstack(sp);
}

unsigned long sigframe_top(const struct ksignal *ksig, unsigned long sp, unsigned redzone)
{
	return wants_altstack(ksig, sp) ? current->sas_ss_sp + current->sas_ss_size : sp - redzone;
}

bool sigframe_fits(const struct ksignal *ksig, unsigned long sp, unsigned long frame)
{
	return !(wants_altstack(ksig, sp) || on_altstack(sp)) || within_altstack(frame);
}

/* A stack that is in use cannot be changed: -EPERM. 0, -EINVAL, -ENOMEM (too small), as in Linux. */
static int set_altstack(const struct user_stack *ss, unsigned long sp)
{
	unsigned mode = ss->ss_flags & ~SS_AUTODISARM;

	if (on_altstack(sp))
		return -EPERM;
	if (mode && mode != SS_DISABLE && mode != SS_ONSTACK)
		return -EINVAL;
	if (mode == SS_DISABLE) {
		current->sas_ss_sp = current->sas_ss_size = 0;
		current->sas_ss_flags = SS_DISABLE;
		return 0;
	}
	if (ss->ss_size < MINSIGSTKSZ)
		return -ENOMEM;
	current->sas_ss_sp = ss->ss_sp;
	current->sas_ss_size = ss->ss_size;
	current->sas_ss_flags = ss->ss_flags;
	return 0;
}

/* The old one is handed out when all was good, as it was before the call. */
SYSCALL_DEFINE2(sigaltstack, const struct user_stack __user *, unew, struct user_stack __user *, uold)
{
	unsigned long sp = user_stack_pointer(task_pt_regs(current));
	struct user_stack new, old = {current->sas_ss_sp, 0, 0, current->sas_ss_size};
	int err = 0;

	if (!current->sas_ss_size)
		old.ss_flags = SS_DISABLE;
	else if (on_altstack(sp))
		old.ss_flags = SS_ONSTACK;
	old.ss_flags |= current->sas_ss_flags & SS_AUTODISARM;
	if (unew && copy_from_user(&new, unew, sizeof(new)))
		return -EFAULT;
	if (unew)
		err = set_altstack(&new, sp);
	if (!err && uold && copy_to_user(uold, &old, sizeof(old)))
		return -EFAULT;
	return err;
}

/* For the frame of a handler, from which rt_sigreturn brings it back. */
struct user_stack save_altstack(void)
{
	return (struct user_stack){
		.ss_sp = current->sas_ss_sp,
		.ss_flags = current->sas_ss_size ? current->sas_ss_flags : SS_DISABLE,
		.ss_size = current->sas_ss_size,
	};
}

void restore_sigframe(sigset_t set, const struct user_stack *stack)
{
	set_altstack(stack, user_stack_pointer(task_pt_regs(current))); /* refused: nothing has changed */
	set_current_blocked(set);
}
