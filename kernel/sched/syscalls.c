/*
 * System calls about policy and priority (sched(7), sched_setattr(2)). They find the task, read the user's structure
 * and pass on what is asked for. check_permission(), which __sched_setscheduler() calls with the task's locks held,
 * decides whether the caller may have it. Context: the calling thread, nothing locked.
 */
#include <asm/uaccess.h>
#include <lib/string.h>
#include <proc/capability.h>
#include <proc/task_part.h>
#include <proc/fork.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <uapi/sched.h>
#include <uapi/sched_types.h>
#include <uapi/time.h>

#include "sched.h"
#include "syscalls.h"

/* pid 0 is the caller. The task has a reference, which the caller puts. ERR_PTR: -EINVAL, -ESRCH. */
struct task_struct *sched_find_task(pid_t pid)
{
	struct task_struct *p;

	if (pid < 0)
		return ERR_PTR(-EINVAL);
	if (pid == 0) {
		get_task_struct(current);
		return current;
	}
	p = find_get_task(pid);
	return p ? p : ERR_PTR(-ESRCH);
}

bool sched_may_change(const struct task_struct *p)
{
	return capable(CAP_SYS_NICE) || current->euid == p->euid || current->euid == p->uid;
}

/* Does p's RLIMIT_NICE let it have this nice value? The limit counts 1..40 for nice 19..-20. */
static bool nice_limit_allows(const struct task_struct *p, int nice)
{
	return (u64)(20 - nice) <= READ_ONCE(p->signal->rlim[RLIMIT_NICE][0]);
}

bool can_nice(const struct task_struct *p, int nice)
{
	return capable(CAP_SYS_NICE) || nice >= task_nice(p) || nice_limit_allows(p, nice);
}

/*
 * Real time without CAP_SYS_NICE: RLIMIT_RTPRIO lets a task become real time and raise its priority. A priority that it
 * has may always be kept or lowered.
 */
static bool may_be_real_time(const struct task_struct *p, const struct sched_params *sp)
{
	u64 limit = READ_ONCE(p->signal->rlim[RLIMIT_RTPRIO][0]);

	if ((u32)sp->policy != p->policy && !limit)
		return false;
	return sp->rt_priority <= p->rt_priority || sp->rt_priority <= limit;
}

/*
 * A task without CAP_SYS_NICE may only lower what p has, unless limits allow more, and gets no deadlines. Leaving
 * SCHED_IDLE is a rise, as it counts less than nice 19. p's runqueue is locked, so the values that are compared are
 * those that are replaced.
 */
static int check_permission(const struct task_struct *p, const struct sched_params *sp)
{
	bool real_time = sp->policy == SCHED_FIFO || sp->policy == SCHED_RR;

	if (capable(CAP_SYS_NICE))
		return 0;
	if (!sched_may_change(p) || sp->policy == SCHED_DEADLINE)
		return -EPERM;
	if (real_time ? !may_be_real_time(p, sp) : !can_nice(p, sp->nice))
		return -EPERM;
	if (p->policy == SCHED_IDLE && sp->policy != SCHED_IDLE && !nice_limit_allows(p, task_nice(p)))
		return -EPERM;
	if (p->sched_reset_on_fork && !sp->reset_on_fork)
		return -EPERM;
	return 0;
}

/* A room may want to know that: whether p waits for a lock is looked at under the lock that a new waiter takes, too. */
static void tell_prio_changed(struct task_struct *p)
{
	const struct task_part *part;

	for_each_in_table(task_parts, part)
		if (part->prio_changed)
			part->prio_changed(p);
}

/* Make the change with the caller's rights. 0 or -errno. */
static int sched_set_params(pid_t pid, struct sched_params *sp)
{
	struct task_struct *p = sched_find_task(pid);
	int ret;

	if (IS_ERR(p))
		return PTR_ERR(p);
	sp->permit = check_permission;
	ret = __sched_setscheduler(p, sp);
	if (!ret)
		tell_prio_changed(p);
	put_task_struct(p);
	return ret;
}

/* The older calls have only a priority. They have no parameters for a deadline, so that policy is refused. */
static long sched_set_priority(pid_t pid, struct sched_params *sp, struct sched_param __user *uparam)
{
	struct sched_param param;

	if (!uparam || pid < 0)
		return -EINVAL;
	if (copy_from_user(&param, uparam, sizeof(param)))
		return -EFAULT;
	sp->rt_priority = param.sched_priority;
	return sched_set_params(pid, sp);
}

SYSCALL_DEFINE3(sched_setscheduler, pid_t, pid, int, policy, struct sched_param __user *, param)
{
	struct sched_params sp = {.policy = policy & ~SCHED_RESET_ON_FORK,
				  .reset_on_fork = policy & SCHED_RESET_ON_FORK,
				  .keep = SCHED_KEEP_NICE};

	return policy < 0 ? -EINVAL : sched_set_priority(pid, &sp, param);
}

SYSCALL_DEFINE2(sched_setparam, pid_t, pid, struct sched_param __user *, param)
{
	struct sched_params sp = {.keep = SCHED_KEEP_POLICY | SCHED_KEEP_NICE};

	return sched_set_priority(pid, &sp, param);
}

/*
 * The policy, with SCHED_RESET_ON_FORK in it where that is set. Read without a lock: it may have changed when the
 * caller looks.
 */
SYSCALL_DEFINE1(sched_getscheduler, pid_t, pid)
{
	struct task_struct *p = sched_find_task(pid);
	long ret;

	if (IS_ERR(p))
		return PTR_ERR(p);
	ret = p->policy | (p->sched_reset_on_fork ? SCHED_RESET_ON_FORK : 0);
	put_task_struct(p);
	return ret;
}

/* The real-time priority; 0 for tasks of other policies. */
SYSCALL_DEFINE2(sched_getparam, pid_t, pid, struct sched_param __user *, param)
{
	struct sched_param now;
	struct task_struct *p;

	if (!param || pid < 0)
		return -EINVAL;
	p = sched_find_task(pid);
	if (IS_ERR(p))
		return PTR_ERR(p);
	now.sched_priority = p->rt_priority;
	put_task_struct(p);
	return copy_to_user(param, &now, sizeof(now)) ? -EFAULT : 0;
}

/*
 * An older, shorter structure is filled up with zeros. A newer, larger one is good as long as the part that we do not
 * know is zero; otherwise the caller gets -E2BIG and our size in the structure. This is how Linux extends structures
 * (copy_struct_from_user).
 */
static int read_attr(struct sched_attr *attr, struct sched_attr __user *uattr)
{
	u32 size;
	int err;

	if (copy_from_user(&size, uattr, sizeof(size)))
		return -EFAULT;
	if (size == 0)
		size = SCHED_ATTR_SIZE_VER0;
	if (size < SCHED_ATTR_SIZE_VER0 || size > PAGE_SIZE)
		goto tell_size;
	err = copy_struct_from_user(attr, sizeof(*attr), uattr, size);
	if (err == -E2BIG)
		goto tell_size;
	if (err)
		return err;
	attr->size = size;
	return 0;
tell_size:
	size = sizeof(*attr);
	return copy_to_user(uattr, &size, sizeof(size)) ? -EFAULT : -E2BIG;
}

/* Flags that Linux has and this scheduler does not (reclaiming, utilisation clamps) are refused with Linux's errors. */
static int check_attr(const struct sched_attr *attr)
{
	if ((attr->sched_flags & SCHED_FLAG_UTIL_CLAMP) && attr->size < SCHED_ATTR_SIZE_VER1)
		return -EINVAL;
	if ((int)attr->sched_policy < 0 || (attr->sched_flags & ~(u64)(SCHED_FLAGS | SCHED_FLAG_UTIL_CLAMP)))
		return -EINVAL;
	return attr->sched_flags & SCHED_FLAG_UTIL_CLAMP ? -EOPNOTSUPP : 0;
}

/* Which parameters stay as the task has them, by the structure's flags. */
static unsigned attr_keeps(u64 flags)
{
	return (flags & SCHED_FLAG_KEEP_POLICY ? SCHED_KEEP_POLICY : 0) |
	       (flags & SCHED_FLAG_KEEP_PARAMS ? SCHED_KEEP_PARAMS | SCHED_KEEP_NICE : 0);
}

/*
 * Linux's structure in the form of the scheduler. A period of 0 stands for the deadline; a nice value beyond the range
 * becomes the nearest one in it.
 */
static struct sched_params attr_params(const struct sched_attr *attr)
{
	s32 nice = clamp(attr->sched_nice, -20, 19);

	return (struct sched_params){
		.policy = attr->sched_policy,
		.nice = nice,
		.rt_priority = attr->sched_priority,
		.reset_on_fork = attr->sched_flags & SCHED_FLAG_RESET_ON_FORK,
		.dl = {.runtime = attr->sched_runtime,
		       .deadline = attr->sched_deadline,
		       .period = attr->sched_period ? attr->sched_period : attr->sched_deadline},
		.dl_flags = attr->sched_flags & SCHED_FLAG_DL_OVERRUN,
		.keep = attr_keeps(attr->sched_flags),
	};
}

/*
 * Policy and parameters in one call; the only way into SCHED_DEADLINE. The structure may be shorter or longer than
 * ours (read_attr).
 */
SYSCALL_DEFINE3(sched_setattr, pid_t, pid, struct sched_attr __user *, uattr, unsigned int, flags)
{
	struct sched_params sp;
	struct sched_attr attr;
	int ret;

	if (!uattr || pid < 0 || flags)
		return -EINVAL;
	ret = read_attr(&attr, uattr);
	if (!ret)
		ret = check_attr(&attr);
	if (ret)
		return ret;
	sp = attr_params(&attr);
	return sched_set_params(pid, &sp);
}

/* The parameters of p's policy, all as they were at one moment. */
static void get_attr(struct task_struct *p, struct sched_attr *attr)
{
	unsigned long flags;
	struct rq *rq = task_rq_lock(p, &flags);

	attr->sched_policy = p->policy;
	attr->sched_flags = p->sched_reset_on_fork ? SCHED_FLAG_RESET_ON_FORK : 0;
	attr->sched_priority = p->rt_priority;
	if (p->policy == SCHED_DEADLINE) {
		attr->sched_runtime = p->dl.params.runtime;
		attr->sched_deadline = p->dl.params.deadline;
		attr->sched_period = p->dl.params.period;
		attr->sched_flags |= p->dl.flags;
	} else if (!p->rt_priority) {
		attr->sched_nice = task_nice(p);
	}
	task_rq_unlock(rq, p, flags);
}

/* Writes as much of our structure as the caller has room for, and in `size` how much that is. */
SYSCALL_DEFINE4(sched_getattr, pid_t, pid, struct sched_attr __user *, uattr, unsigned int, usize, unsigned int, flags)
{
	struct sched_attr attr = {};
	struct task_struct *p;

	if (!uattr || pid < 0 || usize < SCHED_ATTR_SIZE_VER0 || usize > PAGE_SIZE || flags)
		return -EINVAL;
	p = sched_find_task(pid);
	if (IS_ERR(p))
		return PTR_ERR(p);
	attr.size = min_t(unsigned, usize, sizeof(attr));
	get_attr(p, &attr);
	put_task_struct(p);
	return copy_to_user(uattr, &attr, attr.size) ? -EFAULT : 0;
}

/*
 * The highest or lowest priority of a policy: `real_time` for SCHED_FIFO and SCHED_RR, 0 for the others. -EINVAL: no
 * such policy.
 */
static long priority_bound(int policy, int real_time)
{
	switch (policy) {
	case SCHED_FIFO:
	case SCHED_RR:
		return real_time;
	case SCHED_NORMAL:
	case SCHED_BATCH:
	case SCHED_IDLE:
	case SCHED_DEADLINE:
		return 0;
	}
	return -EINVAL;
}

SYSCALL_DEFINE1(sched_get_priority_max, int, policy)
{
	return priority_bound(policy, MAX_RT_PRIO - 1);
}

SYSCALL_DEFINE1(sched_get_priority_min, int, policy)
{
	return priority_bound(policy, 1);
}

/*
 * The time that a task runs before the next of its priority does; 0 for SCHED_FIFO, the present slice for fair tasks.
 */
SYSCALL_DEFINE2(sched_rr_get_interval, pid_t, pid, struct timespec __user *, interval)
{
	struct task_struct *p = sched_find_task(pid);
	struct timespec ts;
	u64 ns;

	if (IS_ERR(p))
		return PTR_ERR(p);
	ns = sched_rr_interval_ns(p);
	put_task_struct(p);
	ts.tv_sec = ns / NSEC_PER_SEC;
	ts.tv_nsec = ns % NSEC_PER_SEC;
	return copy_to_user(interval, &ts, sizeof(ts)) ? -EFAULT : 0;
}

SYSCALL_DEFINE0(sched_yield)
{
	do_sched_yield();
	return 0;
}
