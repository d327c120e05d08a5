/*
 * Job control: which session a terminal belongs to, and which of its process groups is in the
 * foreground (POSIX, chapter 11 of the base definitions).
 *
 *     session (a login) --has--> terminal --knows--> foreground process group: may read, gets ^C
 *        \-- other process groups: a read stops them by SIGTTIN, a change of the terminal by SIGTTOU
 *
 * Locks: tasklist_lock protects signal->tty of all processes; tty->lock, inside it, protects
 * session and pgrp. Both are taken with interrupts off. Signals are sent when neither is held.
 */
#include "tty.h"

#include <asm/uaccess.h>
#include <proc/capability.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <uapi/fcntl.h>

/* The caller's controlling terminal, or NULL. */
struct tty_struct *get_current_tty(void)
{
	struct tty_struct *tty;
	unsigned long flags;

	spin_lock_irqsave(&tasklist_lock, flags);
	tty = current->signal->tty;
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return tty;
}

/* Does the caller block or ignore the signal? Then it never stops by it. */
static bool is_ignored(int sig)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	bool res = current->blocked & sigmask(sig);

	sighand = lock_task_sighand(current, &flags);
	if (sighand) {
		res |= (void *)sighand->action[sig - 1].sa_handler == SIG_IGN;
		unlock_task_sighand(sighand, flags);
	}
	return res;
}

/* Has the group no parent in its session that could continue it? */
static bool is_orphan(pid_t pgrp)
{
	unsigned long flags;
	bool res;

	spin_lock_irqsave(&tasklist_lock, flags);
	res = is_orphaned_pgrp(pgrp, NULL);
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return res;
}

/*
 * A process in the background that ignores or blocks the signal would never stop. It may change the
 * terminal then, but a read must fail: there is nothing that it may read.
 */
int tty_check_change(struct tty_struct *tty, int sig)
{
	pid_t pgrp = current->signal->pgrp;

	if (current->signal->tty != tty || !READ_ONCE(tty->pgrp) || pgrp == READ_ONCE(tty->pgrp))
		return 0;
	if (is_ignored(sig))
		return sig == SIGTTIN ? -EIO : 0;
	if (is_orphan(pgrp)) /* no process could continue it */
		return -EIO;
	kill_pgrp(pgrp, sig); /* we are in it */
	return -ERESTARTSYS;
}

/*
 * Is there a process of the session? A session whose processes are all gone lets go of its
 * terminal. A process whose first thread has ended lives as long as it has another thread.
 */
static bool session_lives(pid_t session)
{
	struct signal_struct *sig;
	unsigned long flags;
	bool found = false;

	spin_lock_irqsave(&tasklist_lock, flags);
	for_each_in_group(PIDTYPE_SID, session, sig)
		if ((found = !sig->leader->exit_state || !thread_group_empty(sig->leader)))
			break;
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return found;
}

/*
 * Make this the terminal of the caller, a session leader without one. `steal`: take it from another
 * session (root). session_lives() is asked before the locks are taken, so the owner is compared
 * again under them. Returns 0 or -EPERM.
 */
static long set_ctty(struct tty_struct *tty, bool steal)
{
	struct signal_struct *sig = current->signal;
	pid_t owner = READ_ONCE(tty->session);
	unsigned long flags;
	long err = 0;

	if (sig->session != current->tgid || sig->tty)
		return sig->tty == tty && owner == sig->session ? 0 : -EPERM;
	if (owner && owner != sig->session && session_lives(owner) && !steal)
		return -EPERM;
	spin_lock_irqsave(&tasklist_lock, flags);
	spin_lock(&tty->lock);
	if (tty->hung_up) {
		err = -EIO;
	} else if (tty->session != owner) { /* another session was quicker */
		err = -EPERM;
	} else {
		struct signal_struct *loser;

		for_each_in_group(PIDTYPE_SID, owner, loser)
			if (loser->tty == tty)
				loser->tty = NULL;
		tty->session = sig->session;
		tty->pgrp = sig->pgrp;
		sig->tty = tty;
		sig->tty_old_pgrp = 0;
	}
	spin_unlock(&tty->lock);
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return err;
}

/*
 * A session leader without a terminal gets the one it opens, if no other session has it. If that
 * fails, the open still succeeds.
 */
void tty_open_ctty(struct tty_struct *tty, struct file *f)
{
	if (current->signal->session == current->tgid && !current->signal->tty && (f->f_mode & FMODE_READ))
		set_ctty(tty, false);
}

/*
 * [tasklist_lock] Take the terminal from all processes of the session. Returns its foreground
 * group, or 0.
 */
static pid_t release_session(struct tty_struct *tty, pid_t session)
{
	struct signal_struct *sig;
	pid_t pgrp;

	spin_lock(&tty->lock);
	pgrp = tty->pgrp;
	tty->session = tty->pgrp = 0;
	spin_unlock(&tty->lock);
	for_each_in_group(PIDTYPE_SID, session, sig)
		if (sig->tty == tty)
			sig->tty = NULL;
	return pgrp;
}

/* [tasklist_lock] Is there a process of this group in our session? */
static bool group_in_session(pid_t pgrp)
{
	struct signal_struct *sig;

	for_each_in_group(PIDTYPE_PGID, pgrp, sig)
		if (sig->session == current->signal->session)
			return true;
	return false;
}

/*
 * Declared in drivers/tty.h. The signals are sent when no lock is held. A leader whose terminal was hung up has no
 * terminal at its end; the group that was in its foreground is told then. That group's number may be another's by now.
 */
void disassociate_ctty(bool on_exit)
{
	struct signal_struct *sig = current->signal;
	bool hung_up = false;
	unsigned long flags;
	pid_t pgrp = 0;

	spin_lock_irqsave(&tasklist_lock, flags);
	if (sig->tty && sig->tty->session == sig->session) {
		pgrp = release_session(sig->tty, sig->session);
	} else if (on_exit && !sig->tty && sig->tty_old_pgrp && group_in_session(sig->tty_old_pgrp)) {
		pgrp = sig->tty_old_pgrp;
		hung_up = true;
	}
	sig->tty = NULL;
	spin_unlock_irqrestore(&tasklist_lock, flags);
	if (pgrp > 0) { /* -ESRCH: the group has no process any more */
		kill_pgrp(pgrp, SIGHUP);
		if (!on_exit || hung_up) /* else stopped groups that it leaves orphaned are sent one by exit_notify */
			kill_pgrp(pgrp, SIGCONT);
	}
}

/*
 * No session has it from now on, or gets it (set_ctty looks under the lock). The session's leader, usually a shell, is
 * told; when it ends, the job in its foreground is (disassociate_ctty). What was to be sent goes nowhere.
 */
void tty_hangup(struct tty_struct *tty)
{
	struct signal_struct *sig;
	unsigned long flags;
	pid_t session, pgrp;

	spin_lock_irqsave(&tasklist_lock, flags);
	spin_lock(&tty->lock);
	WRITE_ONCE(tty->hung_up, true);
	session = tty->session;
	spin_unlock(&tty->lock);
	pgrp = release_session(tty, session);
	for_each_in_group(PIDTYPE_SID, session, sig)
		if (sig->leader->tgid == session)
			sig->tty_old_pgrp = pgrp;
	spin_unlock_irqrestore(&tasklist_lock, flags);
	tty_flush_output(tty);
	wake_up_interruptible_all(&tty->read_wait);
	wake_up_interruptible_all(&tty->write_wait);
	if (session > 0) {
		struct task_struct *leader = find_get_task(session);

		if (leader) {
			send_sig(SIGHUP, leader, 1);
			send_sig(SIGCONT, leader, 1);
			put_task_struct(leader);
		}
	}
}

/* TIOCNOTTY: give the terminal up; for a session leader, for the whole session. */
static long give_up_tty(struct tty_struct *tty)
{
	unsigned long flags;

	if (get_current_tty() != tty)
		return -ENOTTY;
	if (current->signal->session == current->tgid) {
		disassociate_ctty(false);
		return 0;
	}
	spin_lock_irqsave(&tasklist_lock, flags);
	current->signal->tty = NULL;
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return 0;
}

/*
 * TIOCSPGRP: make a group of the caller's session the foreground group. A background process that
 * asks for that gets SIGTTOU first.
 */
static long set_foreground(struct tty_struct *tty, const pid_t __user *from)
{
	unsigned long flags;
	pid_t pgrp;
	long err = tty_check_change(tty, SIGTTOU);

	if (err) /* an orphan in the background is told that it has no terminal, as on Linux */
		return err == -EIO ? -ENOTTY : err;
	if (get_current_tty() != tty || READ_ONCE(tty->session) != current->signal->session)
		return -ENOTTY;
	if (get_user(pgrp, from))
		return -EFAULT;
	if (pgrp < 0)
		return -EINVAL;
	spin_lock_irqsave(&tasklist_lock, flags);
	if (!next_in_group(PIDTYPE_PGID, pgrp, NULL))
		err = -ESRCH;
	else if (!group_in_session(pgrp))
		err = -EPERM;
	if (!err) {
		spin_lock(&tty->lock);
		tty->pgrp = pgrp;
		spin_unlock(&tty->lock);
	}
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return err;
}

/*
 * Requests about sessions. Groups and sessions are only told to processes of this terminal. -ENOTTY for all others and
 * for unknown requests.
 */
long tty_jobctrl_ioctl(struct tty_struct *tty, unsigned cmd, unsigned long arg)
{
	switch (cmd) {
	case TIOCSCTTY:
		return set_ctty(tty, arg == 1 && capable(CAP_SYS_ADMIN));
	case TIOCNOTTY:
		return give_up_tty(tty);
	case TIOCSPGRP:
		return set_foreground(tty, (const pid_t __user *)arg);
	case TIOCGPGRP:
		if (get_current_tty() != tty)
			return -ENOTTY;
		return put_user(READ_ONCE(tty->pgrp), (pid_t __user *)arg);
	case TIOCGSID:
		if (get_current_tty() != tty)
			return -ENOTTY;
		return put_user(READ_ONCE(tty->session), (pid_t __user *)arg);
	default:
		return -ENOTTY;
	}
}
