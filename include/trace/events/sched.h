/* Tracepoints of the scheduler. Fields and texts are Linux's. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sched

#if !defined(_TRACE_SCHED_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_SCHED_H

#include <sched/sched.h>
#include <trace/tracepoint.h>

/* A state as sched_switch keeps it: a bit for its letter, none for R; behind them: still runnable. */
#define TASK_STATE_BITS    0xff
#define TASK_STATE_RUNS_ON 0x100

/* In __schedule, runqueue lock held, interrupts off, before the switch; prev_state is what prev goes to sleep with. */
TRACE_EVENT(sched_switch,
	TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next, unsigned prev_state),
	TP_ARGS(preempt, prev, next, prev_state),
	TP_STRUCT__entry(
		__array(char, prev_comm, TASK_COMM_LEN)
		__field(pid_t, prev_pid)
		__field(int, prev_prio)
		__field(long, prev_state)
		__array(char, next_comm, TASK_COMM_LEN)
		__field(pid_t, next_pid)
		__field(int, next_prio)
	),
	TP_fast_assign(
		memcpy(__entry->prev_comm, prev->comm, TASK_COMM_LEN);
		__entry->prev_pid = prev->pid;
		__entry->prev_prio = prev->prio;
		__entry->prev_state = preempt ? TASK_STATE_RUNS_ON : task_state_bit(prev_state);
		memcpy(__entry->next_comm, next->comm, TASK_COMM_LEN);
		__entry->next_pid = next->pid;
		__entry->next_prio = next->prio;
	),
	TP_printk("prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d",
		__entry->prev_comm, __entry->prev_pid, __entry->prev_prio,
		__entry->prev_state & TASK_STATE_BITS ?
			__print_flags(__entry->prev_state & TASK_STATE_BITS, "|", { 0x01, "S" }, { 0x02, "D" },
				{ 0x04, "T" }, { 0x08, "t" }, { 0x10, "X" }, { 0x20, "Z" }, { 0x40, "P" },
				{ 0x80, "I" }) : "R",
		__entry->prev_state & TASK_STATE_RUNS_ON ? "+" : "", __entry->next_comm, __entry->next_pid,
		__entry->next_prio)
);

DECLARE_EVENT_CLASS(sched_wakeup_template,
	TP_PROTO(struct task_struct *p),
	TP_ARGS(p),
	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(int, prio)
		__field(int, target_cpu)
	),
	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
		__entry->prio = p->prio;
		__entry->target_cpu = p->cpu;
	),
	TP_printk("comm=%s pid=%d prio=%d target_cpu=%03d",
		__entry->comm, __entry->pid, __entry->prio, __entry->target_cpu)
);

/* In try_to_wake_up, before p is put on a runqueue; in the waker's context, interrupts off, p->pi_lock held. */
DEFINE_EVENT(sched_wakeup_template, sched_waking, TP_PROTO(struct task_struct *p), TP_ARGS(p));
/* p is runnable now; on the CPU that made it so, its runqueue locked. */
DEFINE_EVENT(sched_wakeup_template, sched_wakeup, TP_PROTO(struct task_struct *p), TP_ARGS(p));
DEFINE_EVENT(sched_wakeup_template, sched_wakeup_new, TP_PROTO(struct task_struct *p), TP_ARGS(p));

/* p is about to belong to dest_cpu's runqueue; its old runqueue or, when it wakes up there, its pi_lock held. */
TRACE_EVENT(sched_migrate_task,
	TP_PROTO(struct task_struct *p, int dest_cpu),
	TP_ARGS(p, dest_cpu),
	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(int, prio)
		__field(int, orig_cpu)
		__field(int, dest_cpu)
	),
	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
		__entry->prio = p->prio;
		__entry->orig_cpu = p->cpu;
		__entry->dest_cpu = dest_cpu;
	),
	TP_printk("comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d",
		__entry->comm, __entry->pid, __entry->prio, __entry->orig_cpu, __entry->dest_cpu)
);

/* In the parent, which has made the child; the child does not run yet. */
TRACE_EVENT(sched_process_fork,
	TP_PROTO(struct task_struct *parent, struct task_struct *child),
	TP_ARGS(parent, child),
	TP_STRUCT__entry(
		__array(char, parent_comm, TASK_COMM_LEN)
		__field(pid_t, parent_pid)
		__array(char, child_comm, TASK_COMM_LEN)
		__field(pid_t, child_pid)
	),
	TP_fast_assign(
		memcpy(__entry->parent_comm, parent->comm, TASK_COMM_LEN);
		__entry->parent_pid = parent->pid;
		memcpy(__entry->child_comm, child->comm, TASK_COMM_LEN);
		__entry->child_pid = child->pid;
	),
	TP_printk("comm=%s pid=%d child_comm=%s child_pid=%d",
		__entry->parent_comm, __entry->parent_pid, __entry->child_comm, __entry->child_pid)
);

DECLARE_EVENT_CLASS(sched_process_template,
	TP_PROTO(struct task_struct *p),
	TP_ARGS(p),
	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(int, prio)
	),
	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
		__entry->prio = p->prio;
	),
	TP_printk("comm=%s pid=%d prio=%d", __entry->comm, __entry->pid, __entry->prio)
);

/* p, current, has given its memory back; it will be a zombie. */
DEFINE_EVENT(sched_process_template, sched_process_exit, TP_PROTO(struct task_struct *p), TP_ARGS(p));
/* p is gone from every list, and its pid not yet free for another. It may be the current task, on its last way. */
DEFINE_EVENT(sched_process_template, sched_process_free, TP_PROTO(struct task_struct *p), TP_ARGS(p));

/* Before current looks for a child of that number (a group's, when it asked for a group; 0: of any). */
TRACE_EVENT(sched_process_wait,
	TP_PROTO(pid_t pid),
	TP_ARGS(pid),
	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(int, prio)
	),
	TP_fast_assign(
		memcpy(__entry->comm, current->comm, TASK_COMM_LEN);
		__entry->pid = pid;
		__entry->prio = current->prio;
	),
	TP_printk("comm=%s pid=%d prio=%d", __entry->comm, __entry->pid, __entry->prio)
);

/* p, current, has another program now. A thread that is not the leader has the leader's number from then on. */
TRACE_EVENT(sched_process_exec,
	TP_PROTO(struct task_struct *p, pid_t old_pid, const char *path),
	TP_ARGS(p, old_pid, path),
	TP_STRUCT__entry(
		__string(filename, path)
		__field(pid_t, pid)
		__field(pid_t, old_pid)
	),
	TP_fast_assign(
		__assign_str(filename);
		__entry->pid = p->pid;
		__entry->old_pid = old_pid;
	),
	TP_printk("filename=%s pid=%d old_pid=%d", __get_str(filename), __entry->pid, __entry->old_pid)
);

/* Time is charged to p: at ticks, when it leaves the CPU, when somebody wants to know; its runqueue locked. */
TRACE_EVENT(sched_stat_runtime,
	TP_PROTO(struct task_struct *p, u64 runtime),
	TP_ARGS(p, runtime),
	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(u64, runtime)
	),
	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
		__entry->runtime = runtime;
	),
	TP_printk("comm=%s pid=%d runtime=%Lu [ns]",
		__entry->comm, __entry->pid, (unsigned long long)__entry->runtime)
);

/* kernel/sched/account/stat.c: tasks remember since when they wait and sleep, from now on and no longer. Sleep. */
int sched_stat_regfunc(void);
void sched_stat_unregfunc(void);

/*
 * p's runqueue locked, before the switch to it (wait: since it was runnable, in one go) or before it is put on a queue
 * (sleep: interruptibly; blocked: not so). What began before the first of these events was on has none.
 */
DECLARE_EVENT_CLASS(sched_stat_template,
	TP_PROTO(struct task_struct *p, u64 delay),
	TP_ARGS(p, delay),
	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(u64, delay)
	),
	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
		__entry->delay = delay;
	),
	TP_printk("comm=%s pid=%d delay=%Lu [ns]",
		__entry->comm, __entry->pid, (unsigned long long)__entry->delay)
);
DEFINE_EVENT_FN(sched_stat_template, sched_stat_wait,
	TP_PROTO(struct task_struct *p, u64 delay), TP_ARGS(p, delay), sched_stat_regfunc, sched_stat_unregfunc);
DEFINE_EVENT_FN(sched_stat_template, sched_stat_sleep,
	TP_PROTO(struct task_struct *p, u64 delay), TP_ARGS(p, delay), sched_stat_regfunc, sched_stat_unregfunc);
DEFINE_EVENT_FN(sched_stat_template, sched_stat_blocked,
	TP_PROTO(struct task_struct *p, u64 delay), TP_ARGS(p, delay), sched_stat_regfunc, sched_stat_unregfunc);

/* p's priority changes, because another one is lent to it (MAX_PRIO: none). Its runqueue locked. */
TRACE_EVENT(sched_pi_setprio,
	TP_PROTO(struct task_struct *p, int pi_prio),
	TP_ARGS(p, pi_prio),
	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(int, oldprio)
		__field(int, newprio)
	),
	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
		__entry->oldprio = p->prio;
		__entry->newprio = min(p->normal_prio, pi_prio);
	),
	TP_printk("comm=%s pid=%d oldprio=%d newprio=%d",
		__entry->comm, __entry->pid, __entry->oldprio, __entry->newprio)
);

/* In kthread_stop, before p is told, and what p returned. */
TRACE_EVENT(sched_kthread_stop,
	TP_PROTO(struct task_struct *p),
	TP_ARGS(p),
	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
	),
	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
	),
	TP_printk("comm=%s pid=%d", __entry->comm, __entry->pid)
);
TRACE_EVENT(sched_kthread_stop_ret,
	TP_PROTO(int ret),
	TP_ARGS(ret),
	TP_STRUCT__entry(
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->ret = ret;
	),
	TP_printk("ret=%d", __entry->ret)
);

#endif

#include <trace/define_trace.h>
