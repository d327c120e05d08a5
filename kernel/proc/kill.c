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

/* A signal to many processes, and what has come of it. */
struct many {
	int sig;
	struct siginfo *info; /* NULL: the kernel asks, without permission */
	pid_t pgrp;           /* 0: everybody but init, kernel threads and who asks */
	struct task_struct *last; /* the last one that was looked at, with a reference; NULL: none was */
	u64 place;                /* where that one stands in the order */
	int ret;              /* what the last one said */
	bool sent;            /* one took it */
};

/* The order of a group is that of joining, of all processes that of their births. */
static u64 place_of(const struct many *many, const struct task_struct *p)
{
	return many->pgrp ? p->signal->joined : p->signal->birth;
}

/* The process behind p (NULL: the first) in that order; NULL: there is none. [T] */
static struct task_struct *next_one(const struct many *many, struct task_struct *p)
{
	struct signal_struct *sig;

	if (many->pgrp) {
		sig = next_in_group(PIDTYPE_PGID, many->pgrp, p ? p->signal : NULL);
		return sig ? sig->leader : NULL;
	}
	p = p ? list_next_entry(p, tasks) : list_first_entry(&init_tasks, struct task_struct, tasks);
	return &p->tasks == &init_tasks ? NULL : p;
}

/* The next one to be looked at. The last one may have gone, or to another group: then its place is searched. [T] */
static struct task_struct *go_on(const struct many *many)
{
	struct task_struct *p = many->last;

	if (p && thread_group_leader(p) && place_of(many, p) == many->place &&
	    !list_empty(many->pgrp ? &p->signal->group_node[PIDTYPE_PGID] : &p->tasks))
		return next_one(many, p);
	for (p = next_one(many, NULL); p && place_of(many, p) <= many->place;)
		p = next_one(many, p);
	return p;
}

static bool is_one_of(const struct many *many, const struct task_struct *p)
{
	if (many->pgrp)
		return true;
	return p->pid > 1 && p->signal != current->signal && !(p->flags & PF_KTHREAD);
}

static void send_one(struct many *many, struct task_struct *p)
{
	int ret = many->info ? check_and_send(many->sig, many->info, p, true) : send_sig(many->sig, p, 1);

	if (ret == -EPERM && !many->pgrp) { /* kill(-1): a process that we may not signal is no error */
		many->sent = true;
		return;
	}
	many->ret = ret;
	many->sent |= !ret;
}

/*
 * The next processes in their order, as many as are not too long to have interrupts off. Returns whether there may be
 * more. No process escapes by a fork: a child comes last in the list, and a process makes no child while the signal
 * waits for it (see publish_task).
 */
#define SENT_AT_ONCE 32

static bool send_some(struct many *many)
{
	struct task_struct *p, *before = many->last;
	unsigned long flags;
	int n;

	spin_lock_irqsave(&tasklist_lock, flags);
	p = go_on(many);
	for (n = 0; p && n < SENT_AT_ONCE; n++, p = next_one(many, p)) {
		if (is_one_of(many, p))
			send_one(many, p);
		many->last = p;
		many->place = place_of(many, p);
	}
	if (n)
		get_task_struct(many->last);
	spin_unlock_irqrestore(&tasklist_lock, flags);
	if (n && before)
		put_task_struct(before);
	return p;
}

static void send_many(struct many *many)
{
	while (send_some(many))
		;
	if (many->last)
		put_task_struct(many->last);
}

int kill_pgrp(pid_t pgrp, int sig)
{
	struct many many = {.sig = sig, .pgrp = pgrp, .ret = -ESRCH};

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
	if (pid != -1)
		many.pgrp = pid ? -pid : current->signal->pgrp;
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
