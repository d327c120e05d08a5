/* System calls about affinity and nice values. */
#include <asm/uaccess.h>
#include <lib/string.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <uapi/resource.h>

#include "sched.h"
#include "syscalls.h"

SYSCALL_DEFINE3(sched_setaffinity, pid_t, pid, unsigned, len, unsigned long __user *, umask)
{
	struct cpumask mask = {{0}};
	struct task_struct *p;
	int ret = -EPERM;

	if (copy_from_user(&mask, umask, min_t(size_t, len, sizeof(mask))))
		return -EFAULT;
	cpumask_and(&mask, &mask, &cpu_possible_mask);
	p = sched_find_task(pid);
	if (IS_ERR(p))
		return PTR_ERR(p);
	if (p->flags & PF_NO_SETAFFINITY)
		ret = -EINVAL;
	else if (sched_may_change(p))
		ret = sched_setaffinity(p, &mask);
	put_task_struct(p);
	return ret;
}

/* Returns the bytes written: whole words, as many as the CPUs need. */
SYSCALL_DEFINE3(sched_getaffinity, pid_t, pid, unsigned, len, unsigned long __user *, umask)
{
	struct cpumask mask;
	struct task_struct *p;
	size_t n;

	if (len * 8 < nr_cpu_ids || len % sizeof(long))
		return -EINVAL;
	p = sched_find_task(pid);
	if (IS_ERR(p))
		return PTR_ERR(p);
	memcpy(&mask, p->cpus_mask, sizeof(mask));
	put_task_struct(p);
	cpumask_and(&mask, &mask, &cpu_online_mask);
	n = min_t(size_t, len, BITS_TO_LONGS(nr_cpu_ids) * sizeof(long));
	return copy_to_user(umask, &mask, n) ? -EFAULT : (long)n;
}

typedef long (*prio_fn)(struct task_struct *p, long arg, long so_far);

/* What is done to those who are selected, and what has come of it. */
struct selection {
	int which;
	uid_t uid; /* PRIO_USER: whose threads */
	prio_fn fn;
	long arg;
	long ret;
};

/* All threads of a process: a nice value is a thread's own, and so is an id. [T] */
static void call_for_threads(struct task_struct *leader, void *data)
{
	struct selection *s = data;
	struct task_struct *t;

	if (leader->flags & PF_KTHREAD)
		return;
	for_each_thread(leader, t)
		if (s->which == PRIO_PGRP || READ_ONCE(t->uid) == s->uid)
			s->ret = s->fn(t, s->arg, s->ret);
}

/*
 * Call fn for every thread selected; the answer is fn's last non-negative result, or the last error, -ESRCH when
 * nobody is. A group is found by its own list; for a user all are looked at, as on Linux.
 */
static long for_each_selected(int which, int who, prio_fn fn, long arg)
{
	struct selection s = {.which = which, .fn = fn, .arg = arg, .ret = -ESRCH};
	struct task_struct *p;

	switch (which) {
	case PRIO_PROCESS:
		p = sched_find_task(who);
		if (IS_ERR(p))
			return -ESRCH;
		s.ret = fn(p, arg, s.ret);
		put_task_struct(p);
		break;
	case PRIO_PGRP:
		if (who < 0)
			return -ESRCH;
		walk_processes(who ? who : current->signal->pgrp, call_for_threads, &s);
		break;
	case PRIO_USER:
		s.uid = who ? (uid_t)who : current->uid;
		walk_processes(EVERY_PROCESS, call_for_threads, &s);
		break;
	default:
		return -EINVAL;
	}
	return s.ret;
}

/* p's runqueue is locked. */
static int may_renice(const struct task_struct *p, const struct sched_params *sp)
{
	if (!sched_may_change(p))
		return -EPERM;
	return can_nice(p, sp->nice) ? 0 : -EACCES;
}

static long set_one_nice(struct task_struct *p, long nice, long so_far)
{
	struct sched_params sp = {
		.nice = (int)nice, .keep = SCHED_KEEP_POLICY | SCHED_KEEP_PARAMS, .permit = may_renice};
	int ret = __sched_setscheduler(p, &sp);

	if (ret)
		return ret;
	return so_far == -ESRCH ? 0 : so_far;
}

SYSCALL_DEFINE3(setpriority, int, which, int, who, int, nice)
{
	return for_each_selected(which, who, set_one_nice, clamp(nice, -20, 19));
}

static long sched_max_prio(struct task_struct *p, long unused, long so_far)
{
	return max(so_far, 20L - task_nice(p));
}

/* 40..1 for nice -20..19: a result must not look like an error. The C library turns it round. */
SYSCALL_DEFINE2(getpriority, int, which, int, who)
{
	return for_each_selected(which, who, sched_max_prio, 0);
}
