/* Tasks. */
#pragma once

#include <linux/cpumask.h>
#include <linux/types.h>
#include <kernel/module_tasks.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <time/jiffies.h>

/*
 * All processes, kernel threads among them, and the threads of one, in the order of their numbers. After its last step
 * the pointer is NULL. A task that is there all the time is met once. Nothing need be locked for the walk itself; under
 * rcu_read_lock() the struct stays readable even if the task ends meanwhile.
 */
#define for_each_process(p)   for (pid_t _nr = 0; ((p) = process_from(&_nr));)
#define for_each_thread(p, t) for (pid_t _tid = 0; ((t) = thread_from(p, &_tid));)
#define for_each_process_thread(p, t) \
	for_each_process(p)           \
		for_each_thread(p, t)

/* Linux has it for two arguments; yield() lets others of the same priority go first. */
#define yield()				 do_sched_yield()
#define set_cpus_allowed_ptr(task, mask) sched_setaffinity(task, mask)
/* The name is an array of TASK_COMM_LEN, as of the task. */
#define get_task_comm(name, task) (strscpy(name, (task)->comm, sizeof(name)), (name))
static inline pid_t task_pid_nr(const struct task_struct *task)
{
	return task->pid;
}
static inline pid_t task_tgid_nr(const struct task_struct *task)
{
	return task->tgid;
}
