/* System calls about affinity and nice values. */
#include <asm/uaccess.h>
#include <lib/string.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <uapi/sched.h>

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

/* Is p of the group or user that `who` names? 0 is the caller's. */
static bool prio_selects(const struct task_struct *p, int which, int who)
{
	if (which == PRIO_PGRP)
		return p->signal->pgrp == (who ? who : current->signal->pgrp);
	return p->uid == (who ? (uid_t)who : current->uid);
}

/*
 * Call fn on every process selected; the answer is fn's last non-negative result, or the last error, -ESRCH
 * when nobody is. Groups and users go by processes.
 */
static long for_each_selected(int which, int who, long (*fn)(struct task_struct *p, long arg, long so_far),
			      long arg)
{
	struct task_struct *p;
	long ret = -ESRCH;
	pid_t pid = 1;

	if (which < PRIO_PROCESS || which > PRIO_USER)
		return -EINVAL;
	if (which == PRIO_PROCESS) {
		p = sched_find_task(who);
		if (IS_ERR(p))
			return -ESRCH;
		ret = fn(p, arg, ret);
		put_task_struct(p);
		return ret;
	}
	while ((p = next_process(pid)) != NULL) {
		pid = p->pid + 1;
		if (!(p->flags & PF_KTHREAD) && prio_selects(p, which, who))
			ret = fn(p, arg, ret);
		put_task_struct(p);
	}
	return ret;
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

static long max_prio(struct task_struct *p, long unused, long so_far)
{
	return max(so_far, 20L - task_nice(p));
}

/* 40..1 for nice -20..19: a result must not look like an error. The C library turns it round. */
SYSCALL_DEFINE2(getpriority, int, which, int, who)
{
	return for_each_selected(which, who, max_prio, 0);
}
