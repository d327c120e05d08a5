/* System calls of a tracee: the stops before and after each, and what PTRACE_GET_SYSCALL_INFO tells about one. */
#include "ptrace.h"

#include <asm/syscall_abi.h>
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>

#define INFO_NONE  0
#define INFO_ENTRY 1
#define INFO_EXIT  2

/* As ptrace(2) has it. Its size is counted up to the last field that the kind of stop fills in. */
struct syscall_info {
	u8 op, pad[3];
	u32 arch; /* AUDIT_ARCH_* */
	u64 pc, sp;
	union {
		struct {
			u64 nr, args[6];
		} entry;
		struct {
			s64 rval;
			u8 is_error;
		} exit;
	};
};

/*
 * The debugger lets the task go on with this signal: it is for this thread alone. A number that is no signal sends
 * nothing.
 */
static void inject(int sig)
{
	struct siginfo info;

	memset(&info, 0, sizeof(info));
	info.si_signo = sig;
	info.si_code = SI_KERNEL;
	send_sig_thread(sig, &info, current);
}

/* One of the two stops. With PTRACE_O_TRACESYSGOOD it can be told from a SIGTRAP that was sent. */
static void report_syscall(unsigned long message)
{
	int code = SIGTRAP, sig;

	if (!(READ_ONCE(current->ptrace) & PT_PTRACED))
		return;
	if (current->ptrace & PTRACE_O_TRACESYSGOOD << PT_OPT_SHIFT)
		code |= 0x80;
	sig = ptrace_notify(code, message);
	if (sig > 0)
		inject(sig);
}

/* A task that was killed in the stop does not make the call. */
int ptrace_syscall_enter(struct pt_regs *regs)
{
	report_syscall(PTRACE_EVENTMSG_SYSCALL_ENTRY);
	if (fatal_signal_pending(current))
		return NO_SYSCALL;
	syscall_take_args(regs);
	return syscall_get_nr(regs);
}

/* A call is one step, which ends here: the machine would report it an instruction later, or not at all. */
void ptrace_syscall_exit(struct pt_regs *regs)
{
	if (READ_ONCE(current->thread_flags) & _TIF_SINGLESTEP)
		force_sig_fault(SIGTRAP, SYSCALL_STEP_CODE,
				SYSCALL_STEP_CODE == SI_USER ? 0 : instruction_pointer(regs));
	else
		report_syscall(PTRACE_EVENTMSG_SYSCALL_EXIT);
}

/* What the stop is, by its siginfo and message, which a tracee that is frozen does not change. */
static u8 stop_op(struct task_struct *child)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	u8 op = INFO_NONE;

	sighand = lock_task_sighand(child, &flags);
	if (child->ptrace_info && child->ptrace_info->si_code == (SIGTRAP | 0x80))
		op = child->ptrace_message == PTRACE_EVENTMSG_SYSCALL_ENTRY ? INFO_ENTRY : INFO_EXIT;
	unlock_task_sighand(sighand, flags);
	return op;
}

/* The registers of the stop say it all; how much of the structure counts goes by its kind, and is returned. */
long ptrace_syscall_info(struct task_struct *child, unsigned long size, void __user *to)
{
	const struct pt_regs *regs = task_pt_regs(child);
	size_t full = offsetof(struct syscall_info, entry);
	struct syscall_info info;

	memset(&info, 0, sizeof(info));
	info.op = stop_op(child);
	info.arch = AUDIT_ARCH;
	info.pc = instruction_pointer(regs);
	info.sp = user_stack_pointer(regs);
	if (info.op == INFO_ENTRY) {
		info.entry.nr = syscall_get_nr(regs);
		for (unsigned i = 0; i < 6; i++)
			info.entry.args[i] = syscall_get_arg(regs, i);
		full = sizeof(info);
	} else if (info.op == INFO_EXIT) {
		info.exit.rval = regs_return_value(regs);
		info.exit.is_error = IS_ERR((void *)info.exit.rval);
		full = offsetof(struct syscall_info, exit.is_error) + 1;
	}
	return copy_to_user(to, &info, min(size, full)) ? -EFAULT : (long)full;
}
