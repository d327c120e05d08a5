/*
 * Alternate signal stacks (sigaltstack(2)), and where on them a frame goes. A handler that is installed with
 * SA_ONSTACK runs on the alternate stack. That is how a program can handle a SIGSEGV that it got because its normal
 * stack has overflowed: on that stack there is no room for the handler's frame.
 *
 *     sas_ss_sp + sas_ss_size   the first frame ends here, the stack grows down
 *            ...                a handler that interrupts another one goes on below it
 *     sas_ss_sp                 a frame that would begin below is refused (SIGSEGV)
 *
 * The setting belongs to the thread. Only the current task reads and writes it, so there is no lock.
 */
#include <asm/ptrace.h>
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <proc/altstack.h>
#include <proc/syscall.h>
#include <sched/current.h>

/*
 * Is sp inside the alternate stack? The stack grows down, so its end is a possible stack pointer (nothing pushed
 * yet), and its lowest address is not (no room left).
 */
static bool within_altstack(unsigned long sp)
{
	return sp > current->sas_ss_sp && sp - current->sas_ss_sp <= current->sas_ss_size;
}

/*
 * Is the alternate stack in use? With SS_AUTODISARM the setting is cleared while a handler runs, so a stack that is
 * set is free by definition, even if sp points into it.
 */
static bool on_altstack(unsigned long sp)
{
	return !(current->sas_ss_flags & SS_AUTODISARM) && within_altstack(sp);
}

/*
 * Must this handler's frame start at the top of the alternate stack? Not when the interrupted code runs there
 * already: its frames would be overwritten, so the new frame goes below sp as usual.
 */
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

/*
 * Change the setting. -EPERM while the old stack is in use; -EINVAL for unknown flags; -ENOMEM for a stack too small
 * for one frame, all as in Linux. `sp` is the user stack pointer of the caller.
 */
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

/* The old setting is read before the change and written to the user only when the change has succeeded. */
SYSCALL_DEFINE2(sigaltstack, const stack_t __user *, uss, stack_t __user *, uoss)
{
	unsigned long sp = user_stack_pointer(task_pt_regs(current));
	struct user_stack new, old = {current->sas_ss_sp, 0, 0, current->sas_ss_size};
	int err = 0;

	if (!current->sas_ss_size)
		old.ss_flags = SS_DISABLE;
	else if (on_altstack(sp))
		old.ss_flags = SS_ONSTACK;
	old.ss_flags |= current->sas_ss_flags & SS_AUTODISARM;
	if (uss && copy_from_user(&new, uss, sizeof(new)))
		return -EFAULT;
	if (uss)
		err = set_altstack(&new, sp);
	if (!err && uoss && copy_to_user(uoss, &old, sizeof(old)))
		return -EFAULT;
	return err;
}

/*
 * The setting goes into the frame because a handler may change it, and SS_AUTODISARM clears it while the handler
 * runs.
 */
struct user_stack save_altstack(void)
{
	return (struct user_stack){
		.ss_sp = current->sas_ss_sp,
		.ss_flags = current->sas_ss_size ? current->sas_ss_flags : SS_DISABLE,
		.ss_size = current->sas_ss_size,
	};
}

void restore_altstack(const struct user_stack *stack)
{
	set_altstack(stack, user_stack_pointer(task_pt_regs(current))); /* a bad setting leaves the present one */
}
