/* The scheduler's tracepoints, defined; <trace/events/sched.h> says where each stands. */
#include <sched/task.h>
#include <trace/events/sched.h>

DEFINE_TRACE(sched_switch,
	     TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next, unsigned prev_state),
	     TP_ARGS(preempt, prev, next, prev_state));
DEFINE_TRACE(sched_waking, TP_PROTO(struct task_struct *p), TP_ARGS(p));
DEFINE_TRACE(sched_wakeup, TP_PROTO(struct task_struct *p), TP_ARGS(p));
DEFINE_TRACE(sched_wakeup_new, TP_PROTO(struct task_struct *p), TP_ARGS(p));
DEFINE_TRACE(sched_process_fork, TP_PROTO(struct task_struct *parent, struct task_struct *child),
	     TP_ARGS(parent, child));
DEFINE_TRACE(sched_process_free, TP_PROTO(struct task_struct *p), TP_ARGS(p));
DEFINE_TRACE(sched_migrate_task, TP_PROTO(struct task_struct *p, int dest_cpu), TP_ARGS(p, dest_cpu));
