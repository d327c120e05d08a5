/* Who a process is: its numbers, its group and session, its user and groups. */
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/cred.h>
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

/* [T] */
static bool session_has_pgrp(pid_t session, pid_t pgrp)
{
	struct task_struct *p;

	for_each_process(p)
		if (p->signal->pgrp == pgrp && p->signal->session == session)
			return true;
	return false;
}

/* POSIX's rules: of ourselves or a child that has not exec'd, no session leaders, within one session. [T] */
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
	p->signal->pgrp = pgid;
	return 0;
}

SYSCALL_DEFINE2(setpgid, pid_t, pid, pid_t, pgid)
{
	int err;

	if (pgid < 0)
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

SYSCALL_DEFINE0(setsid)
{
	struct signal_struct *sig = current->signal;
	struct task_struct *p;
	long ret = -EPERM;

	spin_lock_irq(&tasklist_lock);
	if (sig->session == current->tgid)
		goto unlock;
	for_each_process(p)
		if (p->signal->pgrp == current->tgid)
			goto unlock; /* a group of our number would have members in two sessions */
	sig->session = sig->pgrp = current->tgid;
	sig->tty = NULL;
	ret = current->tgid;
unlock:
	spin_unlock_irq(&tasklist_lock);
	return ret;
}

SYSCALL_DEFINE0(getuid)
{
	return current->uid;
}

SYSCALL_DEFINE0(geteuid)
{
	return current->euid;
}

SYSCALL_DEFINE0(getgid)
{
	return current->gid;
}

SYSCALL_DEFINE0(getegid)
{
	return current->egid;
}

#define KEEP ((u32)-1) /* "leave it as it is" */

/* May one of the three become `id`? */
static bool allowed(u32 id, u32 real, u32 effective, u32 saved)
{
	return id == KEEP || !current->euid || id == real || id == effective || id == saved;
}

SYSCALL_DEFINE3(setresuid, u32, r, u32, e, u32, s)
{
	struct task_struct *t = current;

	if (!allowed(r, t->uid, t->euid, t->suid) || !allowed(e, t->uid, t->euid, t->suid) ||
	    !allowed(s, t->uid, t->euid, t->suid))
		return -EPERM;
	if (r != KEEP)
		t->uid = r;
	if (s != KEEP)
		t->suid = s;
	if (e != KEEP)
		t->euid = e;
	return 0;
}

SYSCALL_DEFINE3(setresgid, u32, r, u32, e, u32, s)
{
	struct task_struct *t = current;

	if (!allowed(r, t->gid, t->egid, t->sgid) || !allowed(e, t->gid, t->egid, t->sgid) ||
	    !allowed(s, t->gid, t->egid, t->sgid))
		return -EPERM;
	if (r != KEEP)
		t->gid = r;
	if (e != KEEP)
		t->egid = e;
	if (s != KEEP)
		t->sgid = s;
	return 0;
}

SYSCALL_DEFINE3(getresuid, u32 __user *, r, u32 __user *, e, u32 __user *, s)
{
	return put_user(current->uid, r) || put_user(current->euid, e) || put_user(current->suid, s) ? -EFAULT
												     : 0;
}

SYSCALL_DEFINE3(getresgid, u32 __user *, r, u32 __user *, e, u32 __user *, s)
{
	return put_user(current->gid, r) || put_user(current->egid, e) || put_user(current->sgid, s) ? -EFAULT
												     : 0;
}

/* Root changes all three, others only the effective id. */
SYSCALL_DEFINE1(setuid, u32, uid)
{
	struct task_struct *t = current;

	if (uid == KEEP)
		return -EINVAL;
	if (!t->euid)
		t->uid = t->suid = uid;
	else if (uid != t->uid && uid != t->suid)
		return -EPERM;
	t->euid = uid;
	return 0;
}

SYSCALL_DEFINE1(setgid, u32, gid)
{
	struct task_struct *t = current;

	if (gid == KEEP)
		return -EINVAL;
	if (!t->euid)
		t->gid = t->sgid = gid;
	else if (gid != t->gid && gid != t->sgid)
		return -EPERM;
	t->egid = gid;
	return 0;
}

/* The real id may become the effective one and the other way round; the saved one follows when the real one
 * is set. */
SYSCALL_DEFINE2(setreuid, u32, r, u32, e)
{
	struct task_struct *t = current;
	u32 old = t->uid;

	if (!allowed(r, t->uid, t->euid, t->euid) || !allowed(e, t->uid, t->euid, t->suid))
		return -EPERM;
	if (r != KEEP)
		t->uid = r;
	if (e != KEEP)
		t->euid = e;
	if (r != KEEP || (e != KEEP && e != old))
		t->suid = t->euid;
	return 0;
}

SYSCALL_DEFINE2(setregid, u32, r, u32, e)
{
	struct task_struct *t = current;
	u32 old = t->gid;

	if (!allowed(r, t->gid, t->egid, t->egid) || !allowed(e, t->gid, t->egid, t->sgid))
		return -EPERM;
	if (r != KEEP)
		t->gid = r;
	if (e != KEEP)
		t->egid = e;
	if (r != KEEP || (e != KEEP && e != old))
		t->sgid = t->egid;
	return 0;
}

void put_groups(struct group_info *groups)
{
	if (groups && atomic_dec_and_test(&groups->count))
		kfree(groups);
}

SYSCALL_DEFINE2(getgroups, int, size, gid_t __user *, list)
{
	struct group_info *groups = current->groups;
	int n = groups ? groups->ngroups : 0;

	if (size < 0 || (size && size < n))
		return -EINVAL;
	if (size && n && copy_to_user(list, groups->gid, n * sizeof(gid_t)))
		return -EFAULT;
	return n;
}

SYSCALL_DEFINE2(setgroups, int, size, const gid_t __user *, list)
{
	struct group_info *groups = NULL;

	if (current->euid)
		return -EPERM;
	if (size < 0 || size > NGROUPS_MAX)
		return -EINVAL;
	if (size) {
		groups = kmalloc(sizeof(*groups) + size * sizeof(gid_t), GFP_KERNEL);
		if (!groups)
			return -ENOMEM;
		atomic_set(&groups->count, 1);
		groups->ngroups = size;
		if (copy_from_user(groups->gid, list, size * sizeof(gid_t))) {
			kfree(groups);
			return -EFAULT;
		}
	}
	put_groups(current->groups);
	current->groups = groups;
	return 0;
}
