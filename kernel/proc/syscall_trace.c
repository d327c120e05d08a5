/*
 * System calls as events, and for debuggers: what their way through <kernel/entry.h> does while they are traced. A
 * debugger comes first and last, so events show the call that it has put in the place of the program's.
 */
#include <asm/syscall_abi.h>
#include <kernel/entry.h>
#include <lib/errno.h>

#define CREATE_TRACE_POINTS
#include <proc/debugger.h>
#include <trace/events/syscalls.h>

struct static_key syscall_trace_key;

/*
 * One key for both tracepoints, so a call that is under way when the key goes on shows its end alone, as in Linux.
 * The count changes at once, the sites later: the task that registers switches them (static_key_switch).
 */
int syscall_regfunc(void)
{
	static_key_inc_later(&syscall_trace_key);
	return 0;
}

void syscall_unregfunc(void)
{
	static_key_dec_later(&syscall_trace_key);
}

/* A program that asks for the call NO_SYSCALL itself gets the answer of any number that is no call. */
notrace u32 syscall_trace_enter(struct pt_regs *regs, u32 nr)
{
	if (nr == (u32)NO_SYSCALL)
		syscall_set_return_value(regs, -ENOSYS);
	if (READ_ONCE(current->thread_flags) & _TIF_SYSCALL_TRACE && READ_ONCE(current->ptrace)) {
		nr = debugger()->syscall_enter(regs);
		if (nr == (u32)NO_SYSCALL)
			return nr;
	}
	trace_sys_enter(regs, (s32)nr);
	return nr;
}

notrace void syscall_trace_exit(struct pt_regs *regs)
{
	trace_sys_exit(regs, regs_return_value(regs));
	if (READ_ONCE(current->thread_flags) & (_TIF_SYSCALL_TRACE | _TIF_SINGLESTEP) && READ_ONCE(current->ptrace))
		debugger()->syscall_exit(regs);
}
