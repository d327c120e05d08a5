/* Rooms that keep something for tasks, and are not known to kernel/proc. */
#pragma once

#include <lib/types.h>

struct k_itimer;
struct pt_regs;
struct siginfo;
struct signal_struct;
struct task_struct;

/*
 * Each member may be NULL. Where a member says nothing else: thread context, no lock held but, in exec, exec_guard; it
 * may sleep. S: siglock.
 */
struct task_part {
	/*
	 * A task is made, also a kernel thread (child->mm is NULL) or an idle task; `flags` are those of clone(2). The
	 * child is a plain copy of current in what the room keeps, has its address space, and cannot be found yet. 0 or
	 * -errno, and then the child gets nothing of this room: the task is not made.
	 */
	int (*fork)(struct task_struct *child, u64 flags);
	/*
	 * The current task leaves its program (exec, exit), whose memory it still has; or the making of task t ends
	 * with an error after fork.
	 */
	void (*release)(struct task_struct *t);
	/*
	 * The word at `tid` of the current task's memory is 0 now. Others see there that this thread is gone (see
	 * set_tid_address(2)). After release.
	 */
	void (*tid_cleared)(u32 __user *tid);
	/* The priority or policy of a task has been changed by a system call. p is held by a reference. */
	void (*prio_changed)(struct task_struct *p);
	/*
	 * The current process leaves its program: exec, after release, or the end of its last thread, before release.
	 * It has no other thread then.
	 */
	void (*release_process)(void);
	/*
	 * TIF_NOTIFY_RESUME was set for the current task, which is about to go on in user mode with `regs`; or it is
	 * about to enter a signal handler, and task->rseq is set.
	 */
	void (*resume)(struct pt_regs *regs);
	/*
	 * sig->cpu_timers_due of the current process is reached, and it uses CPU time: say when the next time is. The
	 * tick's interrupt.
	 */
	void (*cpu_time_due)(struct signal_struct *sig);
	/*
	 * The signal of a timer (sigqueue_alloc_timer) has left its queue. `info` is what the task gets that takes the
	 * signal; NULL: it was thrown away. [S]
	 */
	void (*timer_taken)(struct k_itimer *t, struct siginfo *info);
	/* What a new program must know of the room: pairs of the auxiliary vector, up to one of type AT_NULL. */
	const u64 (*auxv)[2];
};
#define REGISTER_TASK_PART(p) REGISTER_IN(task_parts, p)
DECLARE_TABLE(task_parts, const struct task_part);

/* The same of all rooms (kernel/proc/task_part.c). After an error of fork no room has anything for the child. */
int task_parts_fork(struct task_struct *child, u64 flags);
void task_parts_release(struct task_struct *t);
void task_parts_tid_cleared(u32 __user *tid);
void task_parts_release_process(void);
void task_parts_resume(struct pt_regs *regs);
void task_parts_cpu_time_due(struct signal_struct *sig);
void task_parts_timer_taken(struct k_itimer *t, struct siginfo *info);
/* Add what programs must know to an auxiliary vector of n words, with room for `max`. How many it has then. */
unsigned task_parts_auxv(u64 *auxv, unsigned n, unsigned max);
