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
	if (current->euid == 0 || current->euid == p->suid || current->euid == p->uid || current->uid == p->suid ||
	    current->uid == p->uid)
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

/* A signal to many processes, and what has come of it. */
struct many {
	int sig;
	struct siginfo *info; /* NULL: the kernel asks, without permission */
	pid_t pgrp;	      /* EVERY_PROCESS: all but init and who asks */
	int ret;	      /* what the last one said */
	bool sent;	      /* one took it */
};

static bool is_one_of(const struct many *many, const struct task_struct *p)
{
	if (p->flags & PF_KTHREAD)
		return false;
	return many->pgrp != EVERY_PROCESS || (p->pid > 1 && p->signal != current->signal);
}

/*
 * No process escapes by a fork: a child comes last in the order, and a process makes no child while the signal waits
 * for it (see publish_task). [T]
 */
static void kill_send_one(struct task_struct *p, void *arg)
{
	struct many *many = arg;
	int ret;

	if (!is_one_of(many, p))
		return;
	ret = many->info ? check_and_send(many->sig, many->info, p, true) : send_sig(many->sig, p, 1);
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

	if (pgrp <= 0) /* a terminal that has none in the foreground */
		return -ESRCH;
	send_many(&many);
	return many.ret;
}

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
static int copy_siginfo_from_user(struct siginfo *info, const struct siginfo __user *uinfo, int sig, pid_t target)
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
