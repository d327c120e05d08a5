/* Tasks. */
#pragma once

#include <linux/cpumask.h>
#include <linux/types.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <time/jiffies.h>

/* Linux has it for two arguments; yield() lets others of the same priority go first. */
#define yield() do_sched_yield()
#define set_cpus_allowed_ptr(task, mask) sched_setaffinity(task, mask)
static inline pid_t task_pid_nr(const struct task_struct *task)
{
	return task->pid;
}
static inline pid_t task_tgid_nr(const struct task_struct *task)
{
	return task->tgid;
}
