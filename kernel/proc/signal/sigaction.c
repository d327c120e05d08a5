/*
 * System calls about a process's own signals: handlers, masks, waiting for signals.
 *
 * A signal is pending in the queue of its thread or in that of its process. A thread takes from both what it does not
 * block. Code that changes a mask or a handler must keep that true: a signal that this thread now blocks may be another
 * thread's to take, and one that is now ignored must not stay pending. Lock: siglock [S]; a thread's own mask is
 * changed by that thread alone, so it reads it without.
 */
#include <arch/signal.h>
#include <asm/ptrace.h>
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <time/ktime.h>
#include <time/posix.h>

/*
 * Set the current task's mask. A signal of the process may have been given to this thread alone to take (see
 * complete_signal). If this thread blocks it now, the signal is offered to the other threads. [S]
 */
static void set_blocked(sigset_t set)
{
	struct signal_struct *sig = current->signal;
	struct task_struct *t;

	if ((sig->shared_pending.signal & set & ~current->blocked) && !thread_group_empty(current))
		for_each_thread(current, t)
			if (t != current && (sig->shared_pending.signal & ~t->blocked))
				signal_wake_up(t, false);
	current->blocked = set;
	recalc_sigpending();
}

/* Change the current task's mask; SIGKILL and SIGSTOP cannot be blocked. Takes siglock. */
void set_current_blocked(sigset_t set)
{
	struct sighand_struct *sighand;
	unsigned long flags;

	set &= ~SIG_UNBLOCKABLE;
	if (current->blocked == set)
		return; /* no lock: only this thread changes it */
	sighand = lock_task_sighand(current, &flags);
	set_blocked(set);
	unlock_task_sighand(sighand, flags);
}

/*
 * The old mask comes back on the way to user mode: from the frame of a handler, if one runs, else by do_signal() or
 * restore_saved_sigmask_unless().
 */
void set_restore_sigmask_to(sigset_t set)
{
	current->saved_sigmask = current->blocked;
	current->restore_sigmask = true;
	set_current_blocked(set);
}

void restore_saved_sigmask_unless(bool interrupted)
{
	if (interrupted || !current->restore_sigmask)
		return;
	current->restore_sigmask = false;
	set_current_blocked(current->saved_sigmask);
}

/*
 * Read and change an action in one critical section. *old is filled in in any case. The actions of SIGKILL and
 * SIGSTOP can be asked for and not changed. 0 or -EINVAL.
 */
static int do_sigaction(int sig, const struct sigaction *new, struct sigaction *old)
{
	struct sighand_struct *sighand;
	struct sigaction *ka;
	struct task_struct *t;
	unsigned long flags;

	if (sig < 1 || sig > NSIG || (new && (sigmask(sig) & SIG_UNBLOCKABLE)))
		return -EINVAL;
	sighand = lock_task_sighand(current, &flags);
	ka = &sighand->action[sig - 1];
	*old = *ka;
	if (new) {
		*ka = *new;
		ka->sa_mask &= ~SIG_UNBLOCKABLE;
		/* POSIX: a pending signal that becomes ignored is forgotten, blocked or not. */
		if (sig_handler_ignored(current, sig)) {
			sigqueue_remove(&current->signal->shared_pending, sigmask(sig));
			for_each_thread(current, t)
				sigqueue_remove(&t->pending, sigmask(sig));
		}
	}
	unlock_task_sighand(sighand, flags);
	return 0;
}

/*
 * A bad address of the new action changes nothing. One of the old action is found when the change is made: -EFAULT
 * then, and the change stays, as on Linux.
 */
SYSCALL_DEFINE4(rt_sigaction, int, sig, const struct sigaction __user *, act, struct sigaction __user *, oact, size_t,
		sigsetsize)
{
	struct sigaction new, old;
	int err;

	if (sigsetsize != sizeof(sigset_t))
		return -EINVAL;
	if (act && copy_from_user(&new, act, sizeof(new)))
		return -EFAULT;
	err = do_sigaction(sig, act ? &new : NULL, &old);
	if (!err && oact && copy_to_user(oact, &old, sizeof(old)))
		return -EFAULT;
	return err;
}

/* The mask belongs to the thread. Without `unew` it is only returned. */
SYSCALL_DEFINE4(rt_sigprocmask, int, how, sigset_t __user *, nset, sigset_t __user *, oset, size_t, sigsetsize)
{
	sigset_t old = current->blocked, new;

	if (sigsetsize != sizeof(sigset_t))
		return -EINVAL;
	if (nset) {
		if (get_user(new, nset))
			return -EFAULT;
		if (how == SIG_BLOCK)
			new = old | new;
		else if (how == SIG_UNBLOCK)
			new = old & ~new;
		else if (how != SIG_SETMASK)
			return -EINVAL;
		set_current_blocked(new);
	}
	return oset ? put_user(old, oset) : 0;
}

/* Signals that were sent and are blocked. One that is not blocked is about to be delivered and counts as delivered. */
SYSCALL_DEFINE2(rt_sigpending, sigset_t __user *, uset, size_t, sigsetsize)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	sigset_t set;

	if (sigsetsize > sizeof(sigset_t))
		return -EINVAL;
	sighand = lock_task_sighand(current, &flags);
	set = (current->pending.signal | current->signal->shared_pending.signal) & current->blocked;
	unlock_task_sighand(sighand, flags);
	return copy_to_user(uset, &set, sigsetsize) ? -EFAULT : 0;
}

/* Sleep until a signal comes that runs a handler or ends the process. */
SYSCALL_DEFINE0(pause)
{
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (signal_pending(current))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return -ERESTARTNOHAND;
}

/*
 * Sleep with another mask until a handler has run. Exchanging the mask and sleeping must be one step: a signal that
 * came between two calls would be handled, and the sleep would never end.
 */
SYSCALL_DEFINE2(rt_sigsuspend, sigset_t __user *, unewset, size_t, sigsetsize)
{
	sigset_t set;

	if (sigsetsize != sizeof(sigset_t))
		return -EINVAL;
	if (get_user(set, unewset))
		return -EFAULT;
	set_restore_sigmask_to(set); /* the way to user mode restores the mask, in or after the handler */
	return sys_pause();
}

/*
 * Sleep until a signal of the set comes. Signals of the set are blocked in the caller's mask, so they are unblocked
 * for the time of the sleep, or senders would not wake this task; real_blocked remembers that they are not to be
 * handled. Returns the signal that was taken, -EAGAIN after the time, or -EINTR: another signal came, or another thread
 * has taken the one that this task was woken for. Two signals of the set may have come, and one of them is taken here;
 * set_blocked() offers the other one to the threads that let it in. [S, released while asleep]
 */
static int sigwait_sleep(sigset_t set, struct siginfo *info, s64 timeout)
{
	s64 left;
	int sig;

	current->real_blocked = current->blocked;
	current->blocked &= ~set;
	recalc_sigpending();
	spin_unlock_irq(&current->sighand->siglock);
	set_current_state(TASK_INTERRUPTIBLE);
	left = schedule_timeout_ns(timeout); /* does not sleep when a signal is pending already */
	spin_lock_irq(&current->sighand->siglock);
	sig = dequeue_signal(~set, info);
	set_blocked(current->real_blocked);
	current->real_blocked = 0;
	return sig ? sig : left ? -EINTR : -EAGAIN;
}

/* Take a signal of the set, or wait for one. The signal, -EAGAIN or -EINTR. */
static int do_sigtimedwait(sigset_t set, struct siginfo *info, s64 timeout)
{
	int sig;

	set &= ~SIG_UNBLOCKABLE;
	spin_lock_irq(&current->sighand->siglock);
	sig = dequeue_signal(~set, info);
	if (!sig)
		sig = timeout ? sigwait_sleep(set, info, timeout) : -EAGAIN;
	spin_unlock_irq(&current->sighand->siglock);
	return sig;
}

/*
 * Take a pending signal of the set without running its handler, or wait for one. A bad address for the siginfo loses
 * the signal, as on Linux. The number, -EAGAIN after the time, -EINTR.
 */
SYSCALL_DEFINE4(rt_sigtimedwait, const sigset_t __user *, uthese, siginfo_t __user *, uinfo,
		const struct timespec __user *, uts, size_t, sigsetsize)
{
	u64 timeout = KTIME_MAX;
	struct siginfo info;
	sigset_t set;
	int ret;

	if (sigsetsize != sizeof(sigset_t))
		return -EINVAL;
	if (get_user(set, uthese))
		return -EFAULT;
	ret = uts ? get_timespec_ns(uts, &timeout) : 0;
	if (ret)
		return ret;
	ret = do_sigtimedwait(set, &info, timeout);
	if (ret > 0 && uinfo && copy_to_user(uinfo, &info, sizeof(info)))
		return -EFAULT;
	return ret;
}

SYSCALL_DEFINE0(rt_sigreturn)
{
	return arch_rt_sigreturn(task_pt_regs(current));
}

/*
 * A call that sleeps for a time cannot simply be made again after a signal, since its whole time would begin again.
 * It leaves a function in restart_fn that goes on with what is left.
 */
SYSCALL_DEFINE0(restart_syscall)
{
	long (*fn)(struct task_struct *) = current->restart_fn;

	current->restart_fn = NULL;
	return fn ? fn(current) : -EINTR;
}

/*
 * exec: handlers are addresses of a program that is gone, so each action becomes the default. Signals that were
 * ignored stay ignored, as POSIX wants it: nohup relies on that. [S, or no other task can find this one]
 */
void flush_signal_handlers(struct task_struct *t)
{
	for (int i = 0; i < NSIG; i++) {
		struct sigaction *ka = &t->sighand->action[i];

		if ((void *)ka->sa_handler != SIG_IGN)
			ka->sa_handler = SIG_DFL;
		ka->sa_flags = 0;
		ka->sa_restorer = NULL;
		ka->sa_mask = 0;
	}
}
