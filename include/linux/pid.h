/*
 * Numbers of processes as objects. Linux has a struct pid that outlives its task. Here a struct pid is the task itself
 * under another name: a reference to one is a reference to the other, and pid_task() says whether it is still there.
 */
#pragma once

#include <linux/sched/task.h>
#include <proc/fork.h>

struct pid;

/* For groups and sessions there is no struct pid: their PIDTYPE_ names are refused when the module is compiled. */
enum { PIDTYPE_PID = NR_PID_TYPES, PIDTYPE_TGID };

static inline struct pid *task_pid(struct task_struct *task)
{
	return (struct pid *)task;
}
static inline struct task_struct *__pid_task(struct pid *pid, bool leader)
{
	struct task_struct *task = (struct task_struct *)pid;

	if (!task || find_task_by_pid(task->pid) != task || (leader && task->pid != task->tgid))
		return NULL;
	return task;
}
#define __PID_IS_LEADER(type)                                                                                \
	({                                                                                                   \
		_Static_assert((type) == PIDTYPE_PID || (type) == PIDTYPE_TGID, "a struct pid is one task"); \
		(type) == PIDTYPE_TGID;                                                                      \
	})
/* The task, NULL: it has been waited for and has gone. PIDTYPE_TGID: NULL also for a thread. Under rcu_read_lock(). */
#define pid_task(pid, type) __pid_task(pid, __PID_IS_LEADER(type))
static inline struct pid *get_pid(struct pid *pid)
{
	if (pid)
		get_task_struct((struct task_struct *)pid);
	return pid;
}
/* NULL is fine. Any context. */
static inline void put_pid(struct pid *pid)
{
	if (pid)
		put_task_struct((struct task_struct *)pid);
}
static inline struct task_struct *__get_pid_task(struct pid *pid, bool leader)
{
	struct task_struct *task;

	rcu_read_lock();
	task = __pid_task(pid, leader);
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	return task;
}
/* As pid_task(), with a reference for put_task_struct(). Any context. */
#define get_pid_task(pid, type)	 __get_pid_task(pid, __PID_IS_LEADER(type))
#define get_task_pid(task, type) get_pid(task_pid(task))
/* NULL: no task has this number. Under rcu_read_lock(), as long as the result is used. */
static inline struct pid *find_vpid(int nr)
{
	return (struct pid *)find_task_by_pid(nr);
}
/* The same with a reference for put_pid(). Any context. */
static inline struct pid *find_get_pid(int nr)
{
	return (struct pid *)find_get_task(nr);
}
/* 0 for NULL. */
static inline pid_t pid_nr(struct pid *pid)
{
	return pid ? ((struct task_struct *)pid)->pid : 0;
}
#define pid_vnr(pid) pid_nr(pid)
