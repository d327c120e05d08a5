/*
 * Resource limits (getrlimit, setrlimit, prlimit64) and what processes have used (getrusage).
 *
 * What a living thread has used is counted in its task_struct, without locks, by the thread itself. A thread that
 * goes adds its figures to its process (unlink_task), and a process that is waited for adds its own to its parent's
 * c... fields (collect_usage). So a sum for a process is: the fields in signal_struct, plus those of the threads that
 * are still on the list. siglock [S] keeps the two together: while it is held, no thread moves from the list into the
 * fields.
 */
#include <asm/uaccess.h>
#include <fs/vfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <proc/capability.h>
#include <proc/fork.h>
#include <proc/ptrace.h>
#include <proc/resource.h>
#include <proc/syscall.h>
#include <proc/task_alloc.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <time/posix.h>

struct rlimit; /* the same as rlimit64 on machines of 64 bits; two calls are declared with this name */

/* [S] CPU time of all threads of a process, also of those that have ended. Those that run are charged up to now. */
void thread_group_cputime_locked(struct task_struct *p, u64 *utime, u64 *stime)
{
	struct task_struct *t;

	*utime = p->signal->utime;
	*stime = p->signal->stime;
	for_each_thread(p->group_leader, t) {
		u64 ut, st;

		task_cputime_adjusted(t, &ut, &st);
		*utime += ut;
		*stime += st;
	}
}

/* The lock is what makes it one moment: no thread is counted twice or missed because it ends meanwhile. */
void thread_group_cputime(struct task_struct *p, u64 *utime, u64 *stime)
{
	struct sighand_struct *sighand;
	unsigned long flags;

	sighand = lock_task_sighand(p, &flags);
	thread_group_cputime_locked(p, utime, stime);
	unlock_task_sighand(sighand, flags);
}

/*
 * [S] What the process itself has used. The times are returned as sums in ns, because the caller may add those of the
 * children before they are rounded to microseconds.
 */
static void usage_self(struct task_struct *p, struct rusage *r, u64 *utime, u64 *stime)
{
	struct task_struct *t;

	thread_group_cputime_locked(p, utime, stime);
	r->ru_nvcsw = p->signal->nvcsw;
	r->ru_nivcsw = p->signal->nivcsw;
	r->ru_minflt = p->signal->min_flt;
	for_each_thread(p->group_leader, t) {
		r->ru_nvcsw += t->nvcsw;
		r->ru_nivcsw += t->nivcsw;
		r->ru_minflt += t->min_flt;
	}
	/* Another process may drop its mm at any moment, so the resident set is told for our own process only. */
	if (p->signal == current->signal && current->mm) {
		r->ru_maxrss = (atomic_read(&current->mm->rss_anon) + atomic_read(&current->mm->rss_file)) *
			       (PAGE_SIZE / 1024);
	}
}

/* [S] Add what the children have used that the process has waited for, and their children likewise. */
static void usage_children(const struct signal_struct *sig, struct rusage *r, u64 *utime, u64 *stime)
{
	*utime += sig->cutime;
	*stime += sig->cstime;
	r->ru_nvcsw += sig->cnvcsw;
	r->ru_nivcsw += sig->cnivcsw;
	r->ru_minflt += sig->cmin_flt;
}

/* p may have ended already, as long as it is not reaped: do_notify_parent() and wait4 ask for such a task. */
void getrusage(struct task_struct *p, int who, struct rusage *r)
{
	struct signal_struct *sig = p->signal;
	struct sighand_struct *sighand;
	u64 utime = 0, stime = 0;
	unsigned long flags;

	memset(r, 0, sizeof(*r));
	sighand = lock_task_sighand(p, &flags);
	if (who == RUSAGE_SELF || who == RUSAGE_BOTH)
		usage_self(p, r, &utime, &stime);
	if (who == RUSAGE_CHILDREN || who == RUSAGE_BOTH)
		usage_children(sig, r, &utime, &stime);
	if (who == RUSAGE_THREAD) {
		task_cputime_adjusted(p, &utime, &stime);
		r->ru_nvcsw = p->nvcsw;
		r->ru_nivcsw = p->nivcsw;
		r->ru_minflt = p->min_flt;
	}
	unlock_task_sighand(sighand, flags);
	r->ru_utime = ns_to_timeval(utime);
	r->ru_stime = ns_to_timeval(stime);
}

/* Of the caller's process, of the children that it has waited for, or of the calling thread alone. */
SYSCALL_DEFINE2(getrusage, int, who, struct rusage __user *, ru)
{
	struct rusage usage;

	if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN && who != RUSAGE_THREAD)
		return -EINVAL;
	getrusage(current, who, &usage);
	return copy_to_user(ru, &usage, sizeof(usage)) ? -EFAULT : 0;
}

/*
 * Read and change a limit in one critical section, so that the old limit that is returned is the one that was
 * replaced. Only CAP_SYS_RESOURCE raises a hard limit. A reader of a limit takes no lock (rlimit()); the two words
 * are written one by one, and each is valid by itself. Returns 0, -EINVAL, -EPERM.
 */
static int do_prlimit(struct task_struct *p, unsigned which, const struct rlimit64 *wanted, struct rlimit64 *old)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	u64 *limit;
	int err = 0;

	if (which >= RLIM_NLIMITS)
		return -EINVAL;
	if (wanted && wanted->rlim_cur > wanted->rlim_max)
		return -EINVAL;
	if (wanted && which == RLIMIT_NOFILE && wanted->rlim_max > READ_ONCE(sysctl_nr_open))
		return -EPERM;
	limit = p->signal->rlim[which];
	sighand = lock_task_sighand(p, &flags);
	if (old)
		*old = (struct rlimit64){limit[0], limit[1]};
	if (wanted && wanted->rlim_max > limit[1] && !capable(CAP_SYS_RESOURCE)) {
		err = -EPERM;
	} else if (wanted) {
		WRITE_ONCE(limit[0], wanted->rlim_cur);
		WRITE_ONCE(limit[1], wanted->rlim_max);
	}
	unlock_task_sighand(sighand, flags);
	return err;
}

/*
 * May the caller look at and change the limits of p? Its own always, anybody's as root. Otherwise all user and group
 * ids of p must be the caller's real ones, so that a set-user-id program keeps its limits.
 */
static bool may_prlimit(const struct task_struct *p)
{
	return p == current || capable(CAP_SYS_RESOURCE) || ids_match(p, current->uid, current->gid);
}

/* Look at a limit and change it in one step, also another process's that the caller may control. */
SYSCALL_DEFINE4(prlimit64, pid_t, pid, unsigned int, resource, const struct rlimit64 __user *, new_rlim,
		struct rlimit64 __user *, old_rlim)
{
	struct rlimit64 new, old;
	struct task_struct *p;
	int err;

	if (new_rlim && copy_from_user(&new, new_rlim, sizeof(new)))
		return -EFAULT;
	p = find_get_task(pid ? pid : current->pid);
	if (!p)
		return -ESRCH;
	err = may_prlimit(p) ? do_prlimit(p, resource, new_rlim ? &new : NULL, &old) : -EPERM;
	put_task_struct(p);
	if (!err && old_rlim && copy_to_user(old_rlim, &old, sizeof(old)))
		return -EFAULT;
	return err;
}

SYSCALL_DEFINE2(getrlimit, unsigned int, resource, struct rlimit __user *, rlim)
{
	struct rlimit64 lim;
	int err = do_prlimit(current, resource, NULL, &lim);

	if (err)
		return err;
	return copy_to_user(rlim, &lim, sizeof(lim)) ? -EFAULT : 0;
}

SYSCALL_DEFINE2(setrlimit, unsigned int, resource, struct rlimit __user *, rlim)
{
	struct rlimit64 lim;

	if (copy_from_user(&lim, rlim, sizeof(lim)))
		return -EFAULT;
	return do_prlimit(current, resource, &lim, NULL);
}
