/*
 * Who a process is among others: its numbers, its group and its session.
 *
 * Sessions contain process groups, and groups contain processes; a shell makes a group of each job, so that the
 * terminal can signal all of it. Changes are made under tasklist_lock [T], and so are looks at other processes. Our own
 * numbers are read without it: only we change them, or a parent between fork and exec.
 */
#include <lib/errno.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>

SYSCALL_DEFINE0(getpid)
{
	return current->tgid;
}

SYSCALL_DEFINE0(gettid)
{
	return current->pid;
}

SYSCALL_DEFINE0(getppid)
{
	pid_t pid;

	rcu_read_lock(); /* the parent may end and we get another; the struct stays until we have read it */
	pid = READ_ONCE(current->group_leader->parent)->tgid;
	rcu_read_unlock();
	return pid;
}

/* The process `pid`, ourselves for 0; NULL when there is none. [T] */
static struct task_struct *find_process(pid_t pid)
{
	return pid ? find_task_by_pid(pid) : current->group_leader;
}

/* [T] A process may join only a group of its own session. Is this one? */
static bool session_has_pgrp(pid_t session, pid_t pgrp)
{
	struct signal_struct *sig;

	for_each_in_group(PIDTYPE_PGID, pgrp, sig)
		if (sig->session == session)
			return true;
	return false;
}

/*
 * POSIX's rules for setpgid(2): a process may set its own group or that of a child that has not executed a program
 * yet. Both must be in one session, and a session leader stays where it is. Shells set a child's group from both
 * sides, parent and child, so that it is right whichever runs first. Returns 0, -ESRCH, -EINVAL, -EPERM, -EACCES. [T]
 */
static int do_setpgid(pid_t pid, pid_t pgid)
{
	struct task_struct *self = current->group_leader, *p = find_process(pid);

	if (!p)
		return -ESRCH;
	if (!thread_group_leader(p))
		return -EINVAL;
	if (p->parent == self) {
		if (p->signal->session != self->signal->session)
			return -EPERM;
		if (!(p->flags & PF_FORKNOEXEC))
			return -EACCES;
	} else if (p != self) {
		return -ESRCH;
	}
	if (p->signal->session == p->pid)
		return -EPERM;
	if (!pgid)
		pgid = p->pid;
	if (pgid != p->pid && !session_has_pgrp(self->signal->session, pgid))
		return -EPERM;
	change_group(p->signal, PIDTYPE_PGID, pgid);
	return 0;
}

SYSCALL_DEFINE2(setpgid, pid_t, pid, pid_t, pgid)
{
	int err;

	/* pgid 0 stands for pid, which is no group when it is negative. */
	if (pgid < 0 || (!pgid && pid < 0))
		return -EINVAL;
	spin_lock_irq(&tasklist_lock);
	err = do_setpgid(pid, pgid);
	spin_unlock_irq(&tasklist_lock);
	return err;
}

SYSCALL_DEFINE0(getpgrp)
{
	return READ_ONCE(current->signal->pgrp);
}

SYSCALL_DEFINE1(getpgid, pid_t, pid)
{
	struct task_struct *p;
	long ret;

	spin_lock_irq(&tasklist_lock);
	p = find_process(pid);
	ret = p ? p->signal->pgrp : -ESRCH;
	spin_unlock_irq(&tasklist_lock);
	return ret;
}

SYSCALL_DEFINE1(getsid, pid_t, pid)
{
	struct task_struct *p;
	long ret;

	spin_lock_irq(&tasklist_lock);
	p = find_process(pid);
	ret = p ? p->signal->session : -ESRCH;
	spin_unlock_irq(&tasklist_lock);
	return ret;
}

/*
 * A new session, with a new group in it, and without a terminal. A group leader cannot make one: its number would
 * then be that of a group in the old session and of one in the new session.
 */
SYSCALL_DEFINE0(setsid)
{
	struct signal_struct *sig = current->signal;
	long ret = -EPERM;

	spin_lock_irq(&tasklist_lock);
	if (sig->session == current->tgid)
		goto unlock;
	if (next_in_group(PIDTYPE_PGID, current->tgid, NULL))
		goto unlock; /* a group of our number would have members in two sessions */
	change_group(sig, PIDTYPE_PGID, current->tgid);
	change_group(sig, PIDTYPE_SID, current->tgid);
	sig->tty = NULL;
	ret = current->tgid;
unlock:
	spin_unlock_irq(&tasklist_lock);
	return ret;
}
