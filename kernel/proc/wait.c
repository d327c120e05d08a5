/*
 * wait4 and waitid: waiting for children to end, stop or go on.
 *
 * No news is lost. The caller first goes onto wait_chldexit and sets its state, and only then searches its children
 * under tasklist_lock. What a child did before the search is found by it; what a child does afterwards wakes the
 * caller, since the child changes its state under the same lock and wakes its parent after that.
 *
 * No news is given twice. Several threads may wait at the same time; the one that sets EXIT_DEAD, or takes stop_code,
 * under the lock has claimed the child, and the others do not see it any more.
 */
#include <asm/uaccess.h>
#include <fs/vfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <proc/debugger.h>
#include <proc/fork.h>
#include <proc/pidfd.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <proc/wait.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <sched/wait.h>
#include <trace/events/sched.h>
#include <uapi/fcntl.h>

/* The children and tracees that a call asks for, and what it has found. */
struct wait_opts {
	int type; /* P_* */
	pid_t id;
	struct signal_struct *process; /* P_PIDFD: held by the file */
	unsigned options;
	pid_t pid;	   /* found: who */
	int cause, status; /* found: CLD_*, and status as CLD_* has it (exit code or signal) */
	int wstatus;	   /* found: the same as wait4 tells it */
	uid_t uid;
	struct rusage *ru;	  /* filled with what it has used, unless NULL */
	struct task_struct *reap; /* found and claimed: to be released */
};

/*
 * Does the caller's choice (a pid, a group, or all) include this child? Which *kind* of child is chosen by __WALL and
 * __WCLONE. [T, like all functions of the search]
 */
static bool eligible_child(const struct wait_opts *wo, const struct task_struct *p, bool tracee)
{
	if (wo->type == P_PID && p->pid != wo->id)
		return false;
	if (wo->type == P_PIDFD && p->signal != wo->process)
		return false;
	if (wo->type == P_PGID && p->signal->pgrp != wo->id)
		return false;
	/* "Clone" children are those that do not report with SIGCHLD. A debugger gets what it debugs. */
	if (tracee || wo->options & __WALL)
		return true;
	return (p->exit_signal != SIGCHLD) == !!(wo->options & __WCLONE);
}

/*
 * Copy what the caller will be told, while tasklist_lock keeps the child from going away. The copy to user memory may
 * fault and sleep, so it must wait until the lock is free. [T]
 */
static void note_child(struct wait_opts *wo, struct task_struct *p, int cause, int status, int wstatus)
{
	wo->pid = p->pid;
	wo->uid = p->uid;
	wo->cause = cause;
	wo->status = status;
	wo->wstatus = wstatus;
	if (wo->ru)
		getrusage(p, RUSAGE_BOTH, wo->ru);
}

/*
 * What a reaped child has used, and what it had collected from its own children, becomes part of our sum for
 * children. This happens exactly once, at the claim and not when a child ends: RUSAGE_CHILDREN counts the children
 * that were waited for. child->... holds the threads that are gone already, p is the last one. [T, takes our siglock]
 */
static void collect_usage(struct task_struct *p)
{
	struct signal_struct *sig = current->signal, *child = p->signal;
	struct sighand_struct *sighand;
	unsigned long flags;
	u64 utime, stime;

	thread_group_cputime(p, &utime, &stime);
	sighand = lock_task_sighand(current, &flags);
	sig->cutime += utime + child->cutime;
	sig->cstime += stime + child->cstime;
	sig->cnvcsw += child->nvcsw + p->nvcsw + child->cnvcsw;
	sig->cnivcsw += child->nivcsw + p->nivcsw + child->cnivcsw;
	sig->cmin_flt += child->min_flt + p->min_flt + child->cmin_flt;
	unlock_task_sighand(sighand, flags);
}

/*
 * The child has ended: note its status, and claim it unless WNOWAIT leaves it for a later wait. True: the caller gets
 * it. [T]
 */
static bool wait_task_zombie(struct wait_opts *wo, struct task_struct *p)
{
	int code = p->signal->group_exit ? p->signal->group_exit_code : p->exit_code;
	int sig = code & 0x7f;

	if (!(wo->options & WEXITED))
		return false;
	if (sig)
		note_child(wo, p, code & 0x80 ? CLD_DUMPED : CLD_KILLED, sig, code);
	else
		note_child(wo, p, CLD_EXITED, code >> 8, code);
	if (wo->options & WNOWAIT)
		return true;
	if (debugged_by_other(p) && thread_group_leader(p)) {
		debugger()->unlink(p);
		if (!announce_zombie(p)) /* the parent hears of it now, and waits for it in its turn */
			return true;
	} else if (thread_group_leader(p)) {
		collect_usage(p);
	}
	p->exit_state = EXIT_DEAD;
	wo->reap = p;
	return true;
}

/*
 * The child has stopped and no wait has told so yet. stop_code is the news: taking it under the child's siglock is
 * the claim, and SIGCONT takes the news back the same way. True: the caller gets it. [T]
 */
static bool wait_task_stopped(struct wait_opts *wo, struct task_struct *p)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	int code = 0;

	if (!(wo->options & WUNTRACED) || !READ_ONCE(p->signal->stop_code))
		return false;
	sighand = lock_task_sighand(p, &flags); /* SIGCONT may have taken the news back since the look above */
	if (p->signal->stopped)
		code = p->signal->stop_code;
	if (code && !(wo->options & WNOWAIT))
		p->signal->stop_code = 0;
	unlock_task_sighand(sighand, flags);
	if (code)
		note_child(wo, p, CLD_STOPPED, code, W_STOPPED(code));
	return code;
}

/* A tracee stands in a stop that no wait has told of. Claimed as above. True: the caller gets it. [T] */
static bool wait_task_traced(struct wait_opts *wo, struct task_struct *p)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	int code = 0;

	sighand = lock_task_sighand(p, &flags);
	if ((p->jobctl & (JOB_TRACED | JOB_LISTENING)) == JOB_TRACED)
		code = p->ptrace_code;
	if (code && !(wo->options & WNOWAIT))
		p->ptrace_code = 0;
	unlock_task_sighand(sighand, flags);
	if (code)
		note_child(wo, p, CLD_TRAPPED, code, W_STOPPED(code));
	return code;
}

/*
 * The child went on after a stop and no wait has told so yet; `continued` is the news, claimed under the child's
 * siglock. True: the caller gets it. [T]
 */
static bool wait_task_continued(struct wait_opts *wo, struct task_struct *p)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	bool continued;

	if (!(wo->options & WCONTINUED) || !READ_ONCE(p->signal->continued))
		return false;
	sighand = lock_task_sighand(p, &flags);
	continued = p->signal->continued;
	if (!(wo->options & WNOWAIT))
		p->signal->continued = false;
	unlock_task_sighand(sighand, flags);
	if (continued)
		note_child(wo, p, CLD_CONTINUED, SIGCONT, W_CONTINUED);
	return continued;
}

/*
 * Returns 1: the caller gets this child; 0: it has nothing to tell yet, but may have later; -ECHILD: the caller does
 * not ask for it, or it will never have anything to tell. [T]
 */
static int look_at_child(struct wait_opts *wo, struct task_struct *p)
{
	bool ours = p->ptrace && !debugged_by_other(p);

	if (p->exit_state == EXIT_DEAD || !eligible_child(wo, p, ours))
		return -ECHILD;
	/*
	 * A dead child has no other news. A leader that ended before its threads does not count as dead yet, nor one
	 * that another process's debugger is to see first.
	 */
	if (p->exit_state == EXIT_ZOMBIE && thread_group_empty(p) && !debugged_by_other(p))
		return wait_task_zombie(wo, p) ? 1 : -ECHILD;
	/* For a tracee of our own, only the stops that a debugger sees count: see look_at_tracee(). */
	return (!ours && wait_task_stopped(wo, p)) || wait_task_continued(wo, p);
}

/* The same of a task that one of the caller's threads debugs: any thread, of any process. [T] */
static int look_at_tracee(struct wait_opts *wo, struct task_struct *p)
{
	if (p->exit_state == EXIT_DEAD || !eligible_child(wo, p, true))
		return -ECHILD;
	if (p->exit_state == EXIT_ZOMBIE && (!thread_group_leader(p) || thread_group_empty(p)))
		return wait_task_zombie(wo, p) ? 1 : -ECHILD;
	return wait_task_traced(wo, p) || wait_task_continued(wo, p);
}

/* All tracees of the caller's process, or with __WNOTHREAD of the calling thread. As find_child(). [T] */
static int find_tracee(struct wait_opts *wo)
{
	struct task_struct *t, *p;
	int ret = -ECHILD, one;

	for_each_thread(current, t) {
		if (wo->options & __WNOTHREAD && t != current)
			continue;
		list_for_each_entry(p, &t->ptraced, ptrace_entry) {
			one = look_at_tracee(wo, p);
			if (one > 0)
				return one;
			ret = max(ret, one);
		}
	}
	return ret;
}

/* A wait for one pid needs no walk: look the child up. -ECHILD when that is no child of the caller. [T] */
static int look_at_pid(struct wait_opts *wo)
{
	struct task_struct *p = NULL;

	if (wo->type == P_PID)
		p = find_task_by_pid(wo->id);
	else if (wo->process->nr_threads)
		p = wo->process->leader;
	if (p && p->ptrace && p->tracer->group_leader == current->group_leader &&
	    !(wo->options & __WNOTHREAD && p->tracer != current))
		return look_at_tracee(wo, p);
	if (!p || !thread_group_leader(p) || p->parent != current->group_leader)
		return -ECHILD;
	return look_at_child(wo, p);
}

/*
 * Zombies are looked at first, in the order of their deaths. A living child matters only if stops and continues are
 * asked for; otherwise the first one shows that the caller has something to wait for, and the walk ends there. So the
 * time of a wait does not grow with the number of living children. Returns 1: found; 0: there are such children, but
 * none has news; -ECHILD: there is no such child, so waiting would never end. [T]
 */
static int find_child(struct wait_opts *wo)
{
	struct task_struct *self = current->group_leader, *p;
	bool only_dead = !(wo->options & (WUNTRACED | WCONTINUED));
	int ret = -ECHILD, one;

	if (wo->type == P_PID || wo->type == P_PIDFD)
		return look_at_pid(wo);
	ret = find_tracee(wo);
	if (ret > 0)
		return ret;
	list_for_each_entry(p, &self->zombies, sibling) {
		one = look_at_child(wo, p);
		if (one > 0)
			return one;
		ret = max(ret, one);
	}
	list_for_each_entry(p, &self->children, sibling) {
		if (ret == 0 && only_dead)
			break;
		one = look_at_child(wo, p);
		if (one > 0)
			return one;
		ret = max(ret, one);
	}
	return ret;
}

/*
 * Wait as long as find_child() says that there is something to wait for. Returns 1: found, *wo is filled in; 0:
 * WNOHANG, and no news; -ECHILD; -ERESTARTSYS: a signal came. A claimed zombie is released here, after the lock.
 * Sleeps.
 */
static int do_wait(struct wait_opts *wo)
{
	wait_queue_head_t *queue = &current->signal->wait_chldexit;
	DEFINE_WAIT(wait);
	int ret;

	trace_sched_process_wait(wo->type == P_ALL ? 0 : wo->id);
	for (;;) {
		prepare_to_wait(queue, &wait, TASK_INTERRUPTIBLE);
		spin_lock_irq(&tasklist_lock);
		ret = find_child(wo);
		spin_unlock_irq(&tasklist_lock);
		if (ret || (wo->options & WNOHANG))
			break;
		if (signal_pending(current)) {
			ret = -ERESTARTSYS;
			break;
		}
		schedule();
	}
	finish_wait(queue, &wait);
	if (wo->reap)
		release_task(wo->reap);
	return ret;
}

/*
 * wait4(2) with kernel pointers: upid is a process, -1 for any child, 0 for the caller's group, -N for group N. Returns
 * the child's number; 0 for WNOHANG when every child still runs; -EINVAL, -ESRCH, -ECHILD, -ERESTARTSYS. *wstatus is
 * written only when a child is returned; *ru may be written in any case. Thread context.
 */
long kernel_wait4(pid_t upid, int *wstatus, unsigned options, struct rusage *ru)
{
	struct wait_opts wo = {.options = options | WEXITED, .ru = ru};
	int ret;

	if (options & ~(WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD | __WCLONE | __WALL))
		return -EINVAL;
	if (upid == -INT_MAX - 1)
		return -ESRCH;
	if (upid == -1) {
		wo.type = P_ALL;
	} else if (upid <= 0) {
		wo.type = P_PGID;
		wo.id = upid ? -upid : current->signal->pgrp;
	} else {
		wo.type = P_PID;
		wo.id = upid;
	}
	ret = do_wait(&wo);
	if (ret <= 0)
		return ret;
	*wstatus = wo.wstatus;
	return wo.pid;
}

/* The child is collected even when the addresses turn out to be bad, as on Linux. */
SYSCALL_DEFINE4(wait4, pid_t, upid, int __user *, stat_addr, int, options, struct rusage __user *, ru)
{
	struct rusage usage;
	int wstatus;
	long ret = kernel_wait4(upid, &wstatus, options, ru ? &usage : NULL);

	if (ret <= 0)
		return ret;
	if (ru && copy_to_user(ru, &usage, sizeof(usage)))
		return -EFAULT;
	if (stat_addr && put_user(wstatus, stat_addr))
		return -EFAULT;
	return ret;
}

/*
 * waitid names its kinds of news one by one (WEXITED, WSTOPPED, WCONTINUED) and needs at least one of them, where
 * wait4 always includes exits. Check that and translate the choice of children. Returns 0 or -EINVAL.
 */
static int waitid_opts(struct wait_opts *wo, int type, pid_t id)
{
	if (wo->options & ~(WNOHANG | WNOWAIT | WEXITED | WSTOPPED | WCONTINUED | __WNOTHREAD | __WCLONE | __WALL))
		return -EINVAL;
	if (!(wo->options & (WEXITED | WSTOPPED | WCONTINUED)))
		return -EINVAL;
	if (type < P_ALL || type > P_PIDFD || (type == P_PID && id <= 0) || (type >= P_PGID && id < 0))
		return -EINVAL;
	wo->type = type;
	wo->id = type == P_PGID && !id ? current->signal->pgrp : id;
	return 0;
}

/*
 * P_PIDFD: wait for the process that the file is about, which the file keeps for the time of the call. With O_NONBLOCK
 * a wait that would sleep is -EAGAIN. Else as do_wait(), or -EBADF, also for another kind of file.
 */
static int do_wait_pidfd(struct wait_opts *wo, int fd)
{
	struct file *f = fget(fd);
	int ret = -EBADF;

	if (!f)
		return ret;
	wo->process = pidfd_ops() ? pidfd_ops()->process(f) : NULL;
	if (wo->process) {
		bool nonblock = f->f_flags & O_NONBLOCK && !(wo->options & WNOHANG);

		wo->options |= nonblock ? WNOHANG : 0;
		ret = do_wait(wo);
		if (!ret && nonblock)
			ret = -EAGAIN;
	}
	fput(f);
	return ret;
}

/* Tells by a siginfo what happened, and can leave the child as it is (WNOWAIT). */
SYSCALL_DEFINE5(waitid, int, which, pid_t, upid, struct siginfo __user *, infop, int, options, struct rusage __user *,
		ru)
{
	struct rusage usage;
	struct wait_opts wo = {.options = options, .ru = ru ? &usage : NULL};
	struct siginfo info = {0};
	int ret = waitid_opts(&wo, which, upid);

	if (!ret)
		ret = which == P_PIDFD ? do_wait_pidfd(&wo, upid) : do_wait(&wo);
	if (ret < 0)
		return ret;
	if (ret) {
		info.si_signo = SIGCHLD;
		info.si_code = wo.cause;
		info.si_pid = wo.pid;
		info.si_uid = wo.uid;
		info.si_status = wo.status;
		if (ru && copy_to_user(ru, &usage, sizeof(usage)))
			return -EFAULT;
	}
	/* With WNOHANG and nothing found si_signo and si_pid are zero: that is how the caller tells. */
	return infop && copy_to_user(infop, &info, sizeof(info)) ? -EFAULT : 0;
}
