/* System calls that send signals: to a process, a thread, a group, everybody. */
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <sched/spinlock.h>

static bool may_signal(const struct task_struct *p, int sig)
{
	if (current->euid == 0 || current->euid == p->suid || current->euid == p->uid ||
	    current->uid == p->suid || current->uid == p->uid)
		return true;
	return sig == SIGCONT && p->signal->session == current->signal->session;
}

/* Signal 0 only asks. */
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

/* 0 when one of the group took it, else what the last one said. */
static int kill_pgrp_info(int sig, struct siginfo *info, pid_t pgrp)
{
	struct task_struct *p;
	unsigned long flags;
	int ret = -ESRCH;
	bool sent = false;

	spin_lock_irqsave(&tasklist_lock, flags); /* against fork, see publish_task */
	for_each_process(p) {
		if (p->signal->pgrp != pgrp)
			continue;
		ret = check_and_send(sig, info, p, true);
		sent |= !ret;
	}
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return sent ? 0 : ret;
}

int kill_pgrp(pid_t pgrp, int sig)
{
	struct task_struct *p;
	unsigned long flags;
	int ret = -ESRCH;

	spin_lock_irqsave(&tasklist_lock, flags);
	for_each_process(p)
		if (p->signal->pgrp == pgrp)
			ret = send_sig(sig, p, 1); /* the kernel asks: no permission */
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return ret;
}

static int kill_everybody(int sig, struct siginfo *info)
{
	struct task_struct *p;
	unsigned long flags;
	int ret = -ESRCH, err;

	spin_lock_irqsave(&tasklist_lock, flags);
	for_each_process(p) {
		if (p->pid <= 1 || p->signal == current->signal || (p->flags & PF_KTHREAD))
			continue;
		err = check_and_send(sig, info, p, true);
		if (err != -EPERM)
			ret = err;
	}
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return ret;
}

SYSCALL_DEFINE2(kill, pid_t, pid, int, sig)
{
	struct siginfo info;

	siginfo_from_user(&info, sig, SI_USER);
	if (pid > 0)
		return kill_pid_info(sig, &info, pid);
	if (pid == -1)
		return kill_everybody(sig, &info);
	if (pid == -INT_MAX - 1)
		return -ESRCH;
	return kill_pgrp_info(sig, &info, pid ? -pid : current->signal->pgrp);
}

/* tgid 0: whatever process the thread is of. */
static int send_to_thread(pid_t tgid, pid_t tid, int sig, struct siginfo *info)
{
	struct task_struct *p = find_get_task(tid);
	int err = -ESRCH;

	if (!p)
		return err;
	if (!tgid || p->tgid == tgid)
		err = check_and_send(sig, info, p, false);
	put_task_struct(p);
	return err;
}

SYSCALL_DEFINE2(tkill, pid_t, tid, int, sig)
{
	struct siginfo info;

	if (tid <= 0)
		return -EINVAL;
	siginfo_from_user(&info, sig, SI_TKILL);
	return send_to_thread(0, tid, sig, &info);
}

SYSCALL_DEFINE3(tgkill, pid_t, tgid, pid_t, tid, int, sig)
{
	struct siginfo info;

	if (tgid <= 0 || tid <= 0)
		return -EINVAL;
	siginfo_from_user(&info, sig, SI_TKILL);
	return send_to_thread(tgid, tid, sig, &info);
}

/* The caller makes up the siginfo, but may not pass for the kernel or kill(2), unless it talks to itself. */
static int copy_siginfo_from_user(struct siginfo *info, const struct siginfo __user *uinfo, int sig,
				  pid_t target)
{
	if (copy_from_user(info, uinfo, sizeof(*info)))
		return -EFAULT;
	info->si_signo = sig;
	if ((info->si_code >= 0 || info->si_code == SI_TKILL) && current->tgid != target)
		return -EPERM;
	return 0;
}

SYSCALL_DEFINE3(rt_sigqueueinfo, pid_t, pid, int, sig, const struct siginfo __user *, uinfo)
{
	struct siginfo info;
	int err = copy_siginfo_from_user(&info, uinfo, sig, pid);

	return err ? err : kill_pid_info(sig, &info, pid);
}

SYSCALL_DEFINE4(rt_tgsigqueueinfo, pid_t, tgid, pid_t, tid, int, sig, const struct siginfo __user *, uinfo)
{
	struct siginfo info;
	int err = copy_siginfo_from_user(&info, uinfo, sig, tgid);

	if (err)
		return err;
	if (tgid <= 0 || tid <= 0)
		return -EINVAL;
	return send_to_thread(tgid, tid, sig, &info);
}
