/*
 * System calls about affinity and nice values: sched_setaffinity, sched_getaffinity, setpriority, getpriority. Context:
 * the calling thread, nothing locked. Which change is allowed is decided where it is made (policy.c), under the locks
 * of the task.
 */
#include <asm/uaccess.h>
#include <lib/string.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <uapi/resource.h>

#include "sched.h"
#include "syscalls.h"

/*
 * A mask that is shorter than ours is filled up with zeros, and CPUs that cannot exist are ignored, as on Linux.
 * Threads that belong to one CPU for good (PF_NO_SETAFFINITY) are refused.
 */
SYSCALL_DEFINE3(sched_setaffinity, pid_t, pid, unsigned int, len, unsigned long __user *, user_mask_ptr)
{
	struct cpumask mask = {{0}};
	struct task_struct *p;
	int ret = -EPERM;

	if (copy_from_user(&mask, user_mask_ptr, min_t(size_t, len, sizeof(mask))))
		return -EFAULT;
	cpumask_and(&mask, &mask, &cpu_possible_mask);
	p = sched_find_task(pid);
	if (IS_ERR(p))
		return -ESRCH; /* for a number below 0, too */
	if (p->flags & PF_NO_SETAFFINITY)
		ret = -EINVAL;
	else if (sched_may_change(p))
		ret = sched_setaffinity(p, &mask);
	put_task_struct(p);
	return ret;
}

/*
 * Returns the number of bytes written: whole words, as many as the CPUs need. This differs from the C library's
 * function of this name, which returns 0.
 */
SYSCALL_DEFINE3(sched_getaffinity, pid_t, pid, unsigned int, len, unsigned long __user *, user_mask_ptr)
{
	struct cpumask mask;
	struct task_struct *p;
	size_t n;

	if (len * 8 < nr_cpu_ids || len % sizeof(long))
		return -EINVAL;
	p = sched_find_task(pid);
	if (IS_ERR(p))
		return -ESRCH;
	memcpy(&mask, p->cpus_mask, sizeof(mask));
	put_task_struct(p);
	cpumask_and(&mask, &mask, &cpu_online_mask);
	n = min_t(size_t, len, BITS_TO_LONGS(nr_cpu_ids) * sizeof(long));
	return copy_to_user(user_mask_ptr, &mask, n) ? -EFAULT : (long)n;
}

typedef long (*prio_fn)(struct task_struct *p, long arg, long so_far);

/* What is done to the selected threads, and the result so far. */
struct selection {
	int which;
	uid_t uid; /* PRIO_USER: the owner of the threads */
	prio_fn fn;
	long arg;
	long ret;
};

/*
 * Call fn for all threads of a process: nice value and user id belong to a thread. Kernel threads belong to no user.
 * tasklist_lock held.
 */
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
 * Call fn for every selected thread, with the result so far, and return its last result; -ESRCH when no thread is
 * selected. A process group is found by its own list; for a user all processes are looked at, as on Linux.
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

/*
 * Called back by __sched_setscheduler() with p's runqueue locked, so the nice value that is compared is the one that is
 * replaced.
 */
static int may_renice(const struct task_struct *p, const struct sched_params *sp)
{
	if (!sched_may_change(p))
		return -EPERM;
	return can_nice(p, sp->nice) ? 0 : -EACCES;
}

/*
 * Only the nice value changes. The sum of all threads' results is 0 when every one was changed, or the last error, as
 * on Linux.
 */
static long set_one_nice(struct task_struct *p, long nice, long so_far)
{
	struct sched_params sp = {
		.nice = (int)nice, .keep = SCHED_KEEP_POLICY | SCHED_KEEP_PARAMS, .permit = may_renice};
	int ret = __sched_setscheduler(p, &sp);

	if (ret)
		return ret;
	return so_far == -ESRCH ? 0 : so_far;
}

/* A value beyond the range becomes the nearest one in it. */
SYSCALL_DEFINE3(setpriority, int, which, int, who, int, niceval)
{
	return for_each_selected(which, who, set_one_nice, clamp(niceval, -20, 19));
}

static long sched_max_prio(struct task_struct *p, long unused, long so_far)
{
	return max(so_far, 20L - task_nice(p));
}

/*
 * Returns 40..1 for nice -20..19, since a negative result would look like an error; the C library turns it round. Of
 * several threads the most favoured counts.
 */
SYSCALL_DEFINE2(getpriority, int, which, int, who)
{
	return for_each_selected(which, who, sched_max_prio, 0);
}
