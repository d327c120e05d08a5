/* System calls as events: what their way through <kernel/entry.h> does while they are traced. */
#include <kernel/entry.h>

#define CREATE_TRACE_POINTS
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

notrace u32 syscall_trace_enter(struct pt_regs *regs, u32 nr)
{
	trace_sys_enter(regs, (s32)nr);
	return nr;
}

notrace void syscall_trace_exit(struct pt_regs *regs)
{
	trace_sys_exit(regs, regs_return_value(regs));
}
