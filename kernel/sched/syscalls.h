/* What the scheduler's system calls share. Only for kernel/sched. */
#pragma once

struct task_struct;

/* pid 0: the caller. With a reference; ERR_PTR(-EINVAL, -ESRCH). */
struct task_struct *sched_find_task(pid_t pid);
/* May p, or root for it, go to this nice value? p->signal is there; any context. */
bool can_nice(const struct task_struct *p, int nice);
/* May the caller change p's scheduling? Root, or the owner by effective or real user id. Any context. */
bool sched_may_change(const struct task_struct *p);
