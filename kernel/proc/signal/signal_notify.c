/*
 * Telling parents what became of their children, and orphaned process groups, which no process can continue.
 *
 * A parent learns of a child's end in two ways: wait4() wakes, and a SIGCHLD comes. When it ignores SIGCHLD the child
 * is not kept as a zombie ("autoreap"). Locks: all of it runs with tasklist_lock held [T], which keeps parents and
 * groups as they are; the parent's siglock is taken inside it.
 */
#include <lib/atomic.h>
#include <lib/string.h>
#include <proc/fork.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <sched/wait.h>
#include <trace/events/signal.h>

/* The siginfo of a SIGCHLD: who, what happened, and the CPU time used so far. [T] */
static void fill_chld_info(struct siginfo *info, struct task_struct *p, int sig, int code, int status)
{
	u64 utime, stime;

	thread_group_cputime(p, &utime, &stime);
	memset(info, 0, sizeof(*info));
	info->si_signo = sig;
	info->si_code = code;
	info->si_pid = p->pid;
	info->si_uid = p->uid;
	info->si_status = status;
	info->si_utime = utime / (NSEC_PER_SEC / 100); /* in clock_t, 100 a second as AT_CLKTCK says */
	info->si_stime = stime / (NSEC_PER_SEC / 100);
}

/* Every thread of the parent that sleeps in wait4 looks again: only one of them may wait for this child. */
static void wake_parent(struct task_struct *parent)
{
	__wake_up(&parent->signal->wait_chldexit, TASK_INTERRUPTIBLE, 0);
}

/*
 * Who is told of p: the thread of the parent that has made it, as on Linux, because a SIGCHLD that this thread blocks
 * is not ignored, although its action may be the default; where that thread is gone, the first one. Any thread of the
 * process may take the signal. [T]
 */
static struct task_struct *parent_thread(const struct task_struct *p)
{
	struct task_struct *parent = p->parent, *t = find_task_by_pid(p->parent_tid);

	return t && t->group_leader == parent && !(t->flags & PF_EXITING) ? t : parent;
}

/*
 * Has the parent no handler for SIGCHLD, and does it not keep one pending? Then nothing is queued, and its children
 * can be waited for. The lock is for the two masks: a thread that begins or ends waiting for signals moves them from
 * one to the other, and who reads them one after the other may find SIGCHLD in neither. [T]
 */
static bool drops_sigchld(struct task_struct *parent)
{
	unsigned long flags;
	struct sighand_struct *sighand = lock_task_sighand(parent, &flags);
	const struct sigaction *ka = &sighand->action[SIGCHLD - 1];
	bool drops = (void *)ka->sa_handler == SIG_DFL && !(ka->sa_flags & SA_NOCLDWAIT) &&
		     !((parent->blocked | parent->real_blocked) & sigmask(SIGCHLD));

	unlock_task_sighand(sighand, flags);
	return drops;
}

/*
 * A parent that ignores SIGCHLD, or has set SA_NOCLDWAIT, does not want zombies: the child is reaped at once. The
 * decision is made under the parent's siglock, so it goes by the same action as the sending of the signal.
 */
bool do_notify_parent(struct task_struct *p, int sig)
{
	struct task_struct *parent = p->ptrace ? p->tracer : parent_thread(p);
	int code = p->signal->group_exit ? p->signal->group_exit_code : p->exit_code;
	struct sighand_struct *sighand;
	struct siginfo info;
	struct sigaction *ka;
	unsigned long flags;
	bool autoreap = false;

	/* Few kernel threads wait for their children (umh.c). The others ignore SIGCHLD, so there is no event. */
	if ((parent->flags & (PF_KTHREAD | PF_AWAITS_CHILDREN)) == PF_KTHREAD)
		return true;
	/* The common case of a shell or init: spare the sums, unless the signal that is dropped is to be recorded. */
	if (sig == SIGCHLD && !parent->ptrace && !trace_signal_generate_enabled() && drops_sigchld(parent)) {
		wake_parent(parent);
		return false;
	}
	if (!(code & 0x7f))
		fill_chld_info(&info, p, sig, CLD_EXITED, code >> 8);
	else
		fill_chld_info(&info, p, sig, code & 0x80 ? CLD_DUMPED : CLD_KILLED, code & 0x7f);
	sighand = lock_task_sighand(parent, &flags);
	if (sig == SIGCHLD) {
		ka = &sighand->action[SIGCHLD - 1];
		if (!p->ptrace) /* a debugger has asked for its tracees, and waits for each */
			autoreap = (void *)ka->sa_handler == SIG_IGN || (ka->sa_flags & SA_NOCLDWAIT);
		if ((void *)ka->sa_handler == SIG_IGN)
			sig = 0;
	}
	if (sig)
		send_signal_locked(sig, &info, parent, true);
	unlock_task_sighand(sighand, flags);
	wake_parent(parent);
	return autoreap;
}

/* News of p for this parent or debugger; SA_NOCLDSTOP turns the signal off, and wait4 still learns of it. [T] */
static void notify_cldstop(struct task_struct *parent, struct task_struct *p, int why, int status)
{
	struct sighand_struct *sighand;
	struct siginfo info;
	unsigned long flags;
	struct sigaction *ka;

	if (parent->flags & PF_KTHREAD)
		return;
	fill_chld_info(&info, p, SIGCHLD, why, status);
	sighand = lock_task_sighand(parent, &flags);
	ka = &sighand->action[SIGCHLD - 1];
	if ((void *)ka->sa_handler != SIG_IGN && !(ka->sa_flags & SA_NOCLDSTOP))
		send_signal_locked(SIGCHLD, &info, parent, true);
	unlock_task_sighand(sighand, flags);
	wake_parent(parent);
}

void do_notify_parent_cldstop(struct task_struct *leader, int why)
{
	notify_cldstop(parent_thread(leader), leader, why, why == CLD_STOPPED ? leader->signal->stop_sig : SIGCONT);
}

void do_notify_tracer(struct task_struct *t, int why)
{
	notify_cldstop(t->tracer, t, why, t->ptrace_code & 0x7f);
}

/*
 * A group is orphaned when no member has a parent outside the group but in the session, which is what a shell is to its
 * jobs (POSIX, Orphaned Process Group). `ignore` is a member that is about to end.
 */
bool is_orphaned_pgrp(pid_t pgrp, struct task_struct *ignore)
{
	struct signal_struct *sig;

	for_each_in_group(PIDTYPE_PGID, pgrp, sig) {
		struct task_struct *p = sig->leader;

		if (p == ignore || (p->exit_state && thread_group_empty(p)) || p->parent == child_reaper ||
		    (p->parent->flags & PF_KTHREAD))
			continue;
		if (p->parent->signal->pgrp != pgrp && p->parent->signal->session == p->signal->session)
			return false; /* a shell: it can continue the job */
	}
	return true;
}

/* [T] Is any process of the group stopped? */
static bool has_stopped_jobs(pid_t pgrp)
{
	struct signal_struct *sig;

	for_each_in_group(PIDTYPE_PGID, pgrp, sig)
		if (sig->stopped)
			return true;
	return false;
}

/*
 * [T] POSIX: when a group becomes orphaned and a member is stopped, all members get SIGHUP and then SIGCONT, because
 * no process is left that could continue them.
 */
void kill_orphaned_pgrp(struct task_struct *p, struct task_struct *parent)
{
	struct task_struct *ignore = NULL;
	pid_t pgrp = p->signal->pgrp;
	struct signal_struct *sig;

	if (!atomic_read(&nr_stopped_groups))
		return; /* nothing is stopped: spare every exit the walk over its group */
	if (!parent) {	/* it is p that exits */
		parent = p->parent;
		ignore = p;
	}
	if (parent->signal->pgrp == pgrp || parent->signal->session != p->signal->session ||
	    !is_orphaned_pgrp(pgrp, ignore) || !has_stopped_jobs(pgrp))
		return;
	for_each_in_group(PIDTYPE_PGID, pgrp, sig) {
		send_sig(SIGHUP, sig->leader, 1);
		send_sig(SIGCONT, sig->leader, 1);
		WRITE_ONCE(sig->sent_to_many, sig->sent_to_many + 1);
	}
}
