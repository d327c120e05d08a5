/* Tracepoints of signals. Fields and texts are Linux's. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM signal

#if !defined(_TRACE_SIGNAL_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_SIGNAL_H

#include <proc/signal.h>
#include <sched/sched.h>
#include <trace/tracepoint.h>

/* It has been sent to task, and result is an enum signal_result. In the sender, task's siglock held. */
TRACE_EVENT(signal_generate,
	TP_PROTO(int sig, const struct siginfo *info, struct task_struct *task, bool group, int result),
	TP_ARGS(sig, info, task, group, result),
	TP_STRUCT__entry(
		__field(int, sig)
		__field(int, errno)
		__field(int, code)
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(int, group)
		__field(int, result)
	),
	TP_fast_assign(
		__entry->sig = sig;
		__entry->errno = info->si_errno;
		__entry->code = info->si_code;
		memcpy(__entry->comm, task->comm, TASK_COMM_LEN);
		__entry->pid = task->pid;
		__entry->group = group;
		__entry->result = result;
	),
	TP_printk("sig=%d errno=%d code=%d comm=%s pid=%d grp=%d res=%d",
		__entry->sig, __entry->errno, __entry->code, __entry->comm, __entry->pid, __entry->group,
		__entry->result)
);

/* Current has taken it off its queue and will now run ka's handler, do the default or nothing; siglock held. */
TRACE_EVENT(signal_deliver,
	TP_PROTO(int sig, const struct siginfo *info, const struct sigaction *ka),
	TP_ARGS(sig, info, ka),
	TP_STRUCT__entry(
		__field(int, sig)
		__field(int, errno)
		__field(int, code)
		__field(unsigned long, sa_handler)
		__field(unsigned long, sa_flags)
	),
	TP_fast_assign(
		__entry->sig = sig;
		__entry->errno = info->si_errno;
		__entry->code = info->si_code;
		__entry->sa_handler = (unsigned long)ka->sa_handler;
		__entry->sa_flags = ka->sa_flags;
	),
	TP_printk("sig=%d errno=%d code=%d sa_handler=%lx sa_flags=%lx",
		__entry->sig, __entry->errno, __entry->code, __entry->sa_handler, __entry->sa_flags)
);

#endif

#include <trace/define_trace.h>
