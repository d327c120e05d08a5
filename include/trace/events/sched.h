/* Tracepoints of the scheduler. */
#pragma once

#include <trace/tracepoint.h>

struct task_struct;

/* In __schedule, runqueue lock held, interrupts off, before the switch; prev_state is what prev goes to sleep with. */
DECLARE_TRACE(sched_switch,
	      TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next, unsigned prev_state),
	      TP_ARGS(preempt, prev, next, prev_state));
/* In try_to_wake_up, before p is put on a runqueue; in the waker's context, interrupts off, p->pi_lock held. */
DECLARE_TRACE(sched_waking, TP_PROTO(struct task_struct *p), TP_ARGS(p));
/* p is runnable now; on the CPU that made it so, its runqueue locked. */
DECLARE_TRACE(sched_wakeup, TP_PROTO(struct task_struct *p), TP_ARGS(p));
DECLARE_TRACE(sched_wakeup_new, TP_PROTO(struct task_struct *p), TP_ARGS(p));
/* In the parent, which has made the child; the child does not run yet. */
DECLARE_TRACE(sched_process_fork, TP_PROTO(struct task_struct *parent, struct task_struct *child),
	      TP_ARGS(parent, child));
/* p is gone from every list, and its pid not yet free for another. It may be the current task, on its last way. */
DECLARE_TRACE(sched_process_free, TP_PROTO(struct task_struct *p), TP_ARGS(p));
/* p is about to belong to dest_cpu's runqueue; its old runqueue or, when it wakes up there, its pi_lock held. */
DECLARE_TRACE(sched_migrate_task, TP_PROTO(struct task_struct *p, int dest_cpu), TP_ARGS(p, dest_cpu));
