/* Tracepoints of all system calls. Fields and texts are Linux's, and the file's name, which is not its system's. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM raw_syscalls
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE syscalls

#if !defined(_TRACE_SYSCALLS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_SYSCALLS_H

#include <asm/ptrace.h>
#include <trace/tracepoint.h>

/* kernel/proc/syscall_trace.c: the sites in the way of system calls, on while one of the two has a probe. Sleep. */
int syscall_regfunc(void);
void syscall_unregfunc(void);

/* Before the call with the number id, whether there is one or not. Interrupts on, on the way out too. */
TRACE_EVENT_FN(sys_enter,
	TP_PROTO(struct pt_regs *regs, long id),
	TP_ARGS(regs, id),
	TP_STRUCT__entry(
		__field(long, id)
		__array(unsigned long, args, 6)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->args[0] = syscall_get_arg(regs, 0);
		__entry->args[1] = syscall_get_arg(regs, 1);
		__entry->args[2] = syscall_get_arg(regs, 2);
		__entry->args[3] = syscall_get_arg(regs, 3);
		__entry->args[4] = syscall_get_arg(regs, 4);
		__entry->args[5] = syscall_get_arg(regs, 5);
	),
	TP_printk("NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)", __entry->id, __entry->args[0], __entry->args[1],
		__entry->args[2], __entry->args[3], __entry->args[4], __entry->args[5]),
	syscall_regfunc, syscall_unregfunc
);

/* After it, its result in the registers; signals come later. What it did to the number counts: of rt_sigreturn -1. */
TRACE_EVENT_FN(sys_exit,
	TP_PROTO(struct pt_regs *regs, long ret),
	TP_ARGS(regs, ret),
	TP_STRUCT__entry(
		__field(long, id)
		__field(long, ret)
	),
	TP_fast_assign(
		__entry->id = syscall_get_nr(regs);
		__entry->ret = ret;
	),
	TP_printk("NR %ld = %ld", __entry->id, __entry->ret),
	syscall_regfunc, syscall_unregfunc
);

#endif

#include <trace/define_trace.h>
