/* Rooms that keep something for tasks, and are not known to kernel/proc. */
#pragma once

#include <lib/types.h>

struct task_struct;

/* Each member may be NULL. Thread context, no lock held but, in exec, exec_guard; all may sleep. */
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
};
#define REGISTER_TASK_PART(p) REGISTER_IN(task_parts, p)
DECLARE_TABLE(task_parts, const struct task_part);

/* The same of all rooms (kernel/proc/task_part.c). After an error of fork no room has anything for the child. */
int task_parts_fork(struct task_struct *child, u64 flags);
void task_parts_release(struct task_struct *t);
void task_parts_tid_cleared(u32 __user *tid);
