/*
 * System calls that send signals: to a process, to a thread, to a group, to every process. This file decides which
 * task may send which signal to which; signal_send.c does the sending. A target is looked up with a reference, so no
 * lock is held while it is signalled, except in a walk over many processes, which holds tasklist_lock [T].
 */
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <proc/capability.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <sched/spinlock.h>

/*
 * POSIX: the sender's real or effective user must be the target's real or saved one. The saved one, because a set-
 * user-id program that has switched to its user must not become killable and unkillable with each switch. A thread may
 * always signal its own process, also after it alone has taken other ids. SIGCONT may go to any process of the session,
 * so that a shell can always continue its jobs. The ids are read without a lock, each one whole.
 */
static bool may_signal(const struct task_struct *p, int sig)
{
	if (p->signal == current->signal || capable(CAP_KILL) || current->euid == p->suid || current->euid == p->uid ||
	    current->uid == p->suid || current->uid == p->uid)
		return true;
	return sig == SIGCONT && p->signal->session == current->signal->session;
}

/*
 * Check the number and the right, then send to the process of p, or (group false) to the thread alone. Signal 0 is
 * not sent: it only asks whether p is there and may be signalled. 0, -EINVAL, -EPERM, -EAGAIN; -ESRCH: p was there and
 * has been released.
 */
static int check_and_send(int sig, struct siginfo *info, struct task_struct *p, bool group)
{
	if (sig < 0 || sig > NSIG)
		return -EINVAL;
	if (!may_signal(p, sig))
		return -EPERM;
	if (!sig)
		return 0;
	return group ? send_sig_info(sig, info, p) : send_sig_thread(sig, info, p);
}

int kill_process(int sig, struct siginfo *info, struct task_struct *p)
{
	return check_and_send(sig, info, p, true);
}

/* Send to the process with this number. As check_and_send(), or -ESRCH. */
static int kill_pid_info(int sig, struct siginfo *info, pid_t pid)
{
	struct task_struct *p = find_get_task(pid);
	int err;

	if (!p)
		return -ESRCH;
	err = check_and_send(sig, info, p, true);
	put_task_struct(p);
	return err;
}

/* A signal to many processes, and what has become of it so far. */
struct many {
	int sig;
	struct siginfo *info; /* NULL: the kernel sends, so no right is asked for */
	pid_t pgrp;	      /* EVERY_PROCESS: all but init and the caller */
	int ret;	      /* what sending to the last one returned */
	bool sent;	      /* at least one process took it */
};

/* Does the call mean p? Kernel threads take no signals, and kill(-1) leaves out init and the caller. */
static bool is_one_of(const struct many *many, const struct task_struct *p)
{
	if (p->flags & PF_KTHREAD)
		return false;
	return many->pgrp != EVERY_PROCESS || (p->pid > 1 && p->signal != current->signal);
}

/*
 * One step of the walk. No process escapes by a fork: a child comes at the end of the list that is walked, and a
 * process that gets the signal in the middle of a fork forks again (must_begin_again). [T]
 */
static void kill_send_one(struct task_struct *p, void *arg)
{
	struct many *many = arg;
	int ret;

	if (!is_one_of(many, p))
		return;
	ret = many->info ? check_and_send(many->sig, many->info, p, true) : send_sig(many->sig, p, 1);
	WRITE_ONCE(p->signal->sent_to_many, p->signal->sent_to_many + 1); /* after it, see take_signals_first() */
	if (ret == -EPERM && many->pgrp == EVERY_PROCESS) { /* kill(-1): a process that we may not signal is no error */
		many->sent = true;
		return;
	}
	many->ret = ret;
	many->sent |= !ret;
}

static void send_many(struct many *many)
{
	walk_processes(many->pgrp, kill_send_one, many);
}

int kill_pgrp(pid_t pgrp, int sig)
{
	struct many many = {.sig = sig, .pgrp = pgrp, .ret = -ESRCH};

	if (pgrp <= 0) /* a terminal without a foreground group */
		return -ESRCH;
	send_many(&many);
	return many.ret;
}

/*
 * pid > 0: that process; 0: the caller's group; -1: all that the caller may signal; below -1: group -pid. Success if
 * any process of several was signalled.
 */
SYSCALL_DEFINE2(kill, pid_t, pid, int, sig)
{
	struct siginfo info;
	struct many many = {.sig = sig, .info = &info, .ret = -ESRCH};

	siginfo_from_user(&info, sig, SI_USER);
	if (pid > 0)
		return kill_pid_info(sig, &info, pid);
	if (pid == -INT_MAX - 1)
		return -ESRCH;
	many.pgrp = pid == -1 ? EVERY_PROCESS : pid ? -pid : current->signal->pgrp;
	send_many(&many);
	return many.sent ? 0 : many.ret;
}

/*
 * Send to one thread. tgid says which process the thread must belong to, so that a number that has been used again
 * does not hit another process's thread; 0: any. A thread that is released before it has got the signal has no number
 * any more. An exec may have given the number to another thread, so the number is looked up once more. As
 * check_and_send(), or -ESRCH.
 */
static int send_to_thread(pid_t tgid, pid_t tid, int sig, struct siginfo *info)
{
	struct task_struct *p;
	bool right;
	int err;

	do {
		err = -ESRCH;
		p = find_get_task(tid);
		right = p && (!tgid || p->tgid == tgid);
		if (right)
			err = check_and_send(sig, info, p, false);
		if (p)
			put_task_struct(p);
	} while (right && err == -ESRCH);
	return err;
}

SYSCALL_DEFINE2(tkill, pid_t, pid, int, sig)
{
	struct siginfo info;

	if (pid <= 0)
		return -EINVAL;
	siginfo_from_user(&info, sig, SI_TKILL);
	return send_to_thread(0, pid, sig, &info);
}

SYSCALL_DEFINE3(tgkill, pid_t, tgid, pid_t, pid, int, sig)
{
	struct siginfo info;

	if (tgid <= 0 || pid <= 0)
		return -EINVAL;
	siginfo_from_user(&info, sig, SI_TKILL);
	return send_to_thread(tgid, pid, sig, &info);
}

/*
 * For the calls where the caller makes up the siginfo. It may not claim to come from the kernel (si_code >= 0) or
 * from tkill unless it goes to the caller itself, because programs trust those codes.
 */
int check_siginfo(const struct siginfo *info, pid_t target)
{
	return (info->si_code >= 0 || info->si_code == SI_TKILL) && current->tgid != target ? -EPERM : 0;
}

/* From the program, with this number. 0, -EFAULT, -EPERM. */
static int copy_siginfo_from_user(struct siginfo *info, const struct siginfo __user *uinfo, int sig, pid_t target)
{
	if (copy_from_user(info, uinfo, sizeof(*info)))
		return -EFAULT;
	info->si_signo = sig;
	return check_siginfo(info, target);
}

SYSCALL_DEFINE3(rt_sigqueueinfo, pid_t, pid, int, sig, siginfo_t __user *, uinfo)
{
	struct siginfo info;
	int err = copy_siginfo_from_user(&info, uinfo, sig, pid);

	return err ? err : kill_pid_info(sig, &info, pid);
}

SYSCALL_DEFINE4(rt_tgsigqueueinfo, pid_t, tgid, pid_t, pid, int, sig, siginfo_t __user *, uinfo)
{
	struct siginfo info;
	int err = copy_siginfo_from_user(&info, uinfo, sig, tgid);

	if (err)
		return err;
	if (tgid <= 0 || pid <= 0)
		return -EINVAL;
	return send_to_thread(tgid, pid, sig, &info);
}
