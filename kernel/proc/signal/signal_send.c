/*
 * Sending signals: which task gets one, what it undoes at once (SIGCONT, SIGKILL), and waking its target.
 *
 * Signals are sent under the target's siglock [S]. Stop against SIGKILL and SIGCONT: a thread that stops sets
 * TASK_STOPPED under siglock after it has found `stopped` true; these two clear `stopped` under siglock and
 * wake afterwards. So either the thread sees it cleared or it is asleep in a state that the wake-up looks
 * for.
 */
#include <kernel/export.h>
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <proc/debugger.h>
#include <proc/fork.h>
#include <proc/pidfd.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <sched/wait.h>
#include <trace/events/signal.h>
#include <trace/uprobe_ops.h>

atomic_t nr_stopped_groups;
DECLARE_WAIT_QUEUE_HEAD(signalfd_wait);

/*
 * Lock the handlers of p, interrupts off. exec may replace them while we wait for the lock: then it is begun again
 * with the new ones. The caller keeps p alive.
 */
struct sighand_struct *lock_task_sighand(struct task_struct *p, unsigned long *flags)
{
	struct sighand_struct *sighand;

	for (;;) {
		rcu_read_lock(); /* exec frees an old sighand a grace period after it set the new one */
		sighand = READ_ONCE(p->sighand);
		spin_lock_irqsave(&sighand->siglock, *flags);
		rcu_read_unlock();
		if (likely(sighand == READ_ONCE(p->sighand)))
			return sighand;
		spin_unlock_irqrestore(&sighand->siglock, *flags);
	}
}

void unlock_task_sighand(struct sighand_struct *sighand, unsigned long flags)
{
	spin_unlock_irqrestore(&sighand->siglock, flags);
}

void siginfo_from_user(struct siginfo *info, int sig, int code)
{
	memset(info, 0, sizeof(*info));
	info->si_signo = sig;
	info->si_code = code;
	info->si_pid = current->tgid;
	info->si_uid = current->uid;
}

bool sig_handler_ignored(struct task_struct *p, int sig)
{
	void *handler = (void *)p->sighand->action[sig - 1].sa_handler;

	return handler == SIG_IGN || (handler == SIG_DFL && (sigmask(sig) & SIG_KERNEL_IGNORE));
}

/*
 * Would it have no effect at all? Blocked signals stay pending, also init's: the handler may change before they are
 * unblocked, or sigwaitinfo may take them. Blocked is asked first, since an init that collects its signals so
 * (busybox's USR1, USR2 and TERM of poweroff, halt and reboot) leaves their actions at the default.
 */
static bool sig_ignored(struct task_struct *p, int sig, bool force)
{
	if (p->flags & PF_KTHREAD)
		return true;
	if ((p->blocked | p->real_blocked) & sigmask(sig))
		return false;
	if (p->signal->unkillable && !force && (void *)p->sighand->action[sig - 1].sa_handler == SIG_DFL)
		return true;
	if (p->ptrace && sig != SIGKILL)
		return false; /* the debugger is told of it, and may make another signal of it */
	return sig_handler_ignored(p, sig);
}

/*
 * A task that sleeps is woken. One that runs in user mode on another CPU is interrupted, so that it enters the kernel
 * and looks at the flag on its way back. [S]
 */
void signal_wake_up_state(struct task_struct *t, unsigned states)
{
	set_tsk_thread_flag(t, TIF_SIGPENDING);
	if (!wake_up_state(t, TASK_INTERRUPTIBLE | states) && t != current && task_curr(t))
		smp_send_reschedule(READ_ONCE(t->cpu));
}

/*
 * A task whose debugger is in the middle of a request (JOB_FROZEN) sleeps on: its registers are being read or written.
 * The end of the request wakes it, since it finds the SIGKILL that is pending then. It may have set its state and be on
 * its way to schedule() still. TASK_TRACED has no TASK_WAKEKILL, so schedule() does not look for that SIGKILL, and only
 * the wake-up here counts.
 */
void signal_wake_up(struct task_struct *t, bool fatal)
{
	bool wake = fatal && !(t->jobctl & JOB_FROZEN);

	if (wake)
		t->jobctl &= ~JOB_TRACED;
	signal_wake_up_state(t, wake ? TASK_WAKEKILL | __TASK_TRACED : 0);
}

/* The process goes on, or goes down: forget everything about a stop. [S] */
void end_group_stop(struct task_struct *p)
{
	struct signal_struct *sig = p->signal;
	struct task_struct *t;

	for_each_thread(p, t)
		t->jobctl &= ~JOB_STOP_PENDING;
	sig->stop_left = 0;
	if (sig->stopped)
		atomic_dec(&nr_stopped_groups);
	sig->stopped = false;
	sig->stop_dequeued = false;
	sig->stop_code = 0;
}

/* Remove signals of the set from the process and all its threads. */
static void remove_everywhere(struct task_struct *p, sigset_t set)
{
	struct task_struct *t;

	sigqueue_remove(&p->signal->shared_pending, set);
	for_each_thread(p, t)
		sigqueue_remove(&t->pending, set);
}

/*
 * SIGCONT: pending stops are forgotten, and all stopped threads go on, whether the signal has a handler or is
 * blocked. [S]
 */
static void continue_group(struct task_struct *p)
{
	struct signal_struct *sig = p->signal;
	struct task_struct *t;
	bool was_stopped = sig->stopped && sig->stop_done;

	remove_everywhere(p, SIG_KERNEL_STOP);
	end_group_stop(p);
	if (was_stopped) {
		/* The parent is told by the first thread that goes on: tasklist_lock cannot be taken here. */
		sig->continued = true;
		sig->cld_notify = CLD_CONTINUED;
	}
	for_each_thread(p, t) {
		if (t->ptrace & PT_SEIZED)
			debugger()->trap_notify(t);
		else
			wake_up_state(t, __TASK_STOPPED);
	}
}

/*
 * What a signal does when it is sent, even if it is blocked or ignored: a stop and a continue cancel each other.
 * True: it is to be queued. [S]
 */
static bool prepare_signal(struct task_struct *p, int sig, bool force)
{
	if (p->signal->group_exit)
		return false; /* nothing can matter any more */
	if (sigmask(sig) & SIG_KERNEL_STOP) {
		remove_everywhere(p, sigmask(SIGCONT));
	} else if (sig == SIGCONT && !(p->flags & PF_KTHREAD)) {
		continue_group(p);
	}
	return !sig_ignored(p, sig, force);
}

/*
 * Can this thread take the signal now? Not if it blocks the signal or exits. A thread that stands still for a stop
 * takes nothing but SIGKILL before SIGCONT comes. Otherwise it takes the signal if it runs, or has no other one to
 * handle yet. [S]
 */
static bool wants_signal(struct task_struct *t, int sig)
{
	if ((t->blocked & sigmask(sig)) || (t->flags & PF_EXITING))
		return false;
	if (sig == SIGKILL)
		return true;
	return !(READ_ONCE(t->state) & (__TASK_STOPPED | __TASK_TRACED)) && (task_curr(t) || !signal_pending(t));
}

/*
 * A thread that will take a signal of the process. NULL: all block it, or have signals to handle and will look at the
 * queue by themselves after those. [S]
 */
static struct task_struct *pick_thread(struct task_struct *p, int sig, bool group)
{
	struct task_struct *t;

	if (wants_signal(p, sig))
		return p;
	if (!group)
		return NULL;
	for_each_thread(p, t)
		if (wants_signal(t, sig))
			return t;
	return NULL;
}

/* Each other thread of the process dies as soon as it gets to user mode. [S] */
void zap_other_threads(struct task_struct *p)
{
	struct task_struct *t;

	end_group_stop(p);
	for_each_thread(p, t) {
		if (t == p || t->exit_state)
			continue;
		t->pending.signal |= sigmask(SIGKILL);
		signal_wake_up(t, true);
	}
}

/* Will this signal end the process, with no handler and no debugger in between? [S] */
static bool sig_fatal(struct task_struct *p, struct task_struct *t, int sig)
{
	if ((sigmask(sig) & (SIG_KERNEL_STOP | SIG_KERNEL_IGNORE)) || p->signal->group_exit)
		return false;
	if (p->ptrace && sig != SIGKILL)
		return false;
	return (void *)p->sighand->action[sig - 1].sa_handler == SIG_DFL &&
	       (sig == SIGKILL || !(t->real_blocked & sigmask(sig)));
}

/*
 * Choose a thread that takes the signal and wake it. A signal that ends the process does so here and now, without
 * waiting for that thread. [S]
 */
static void complete_signal(int sig, struct task_struct *p, bool group)
{
	struct task_struct *t = pick_thread(p, sig, group);

	if (!t)
		return;
	/*
	 * All threads get it at once: no thread may run on in user mode until another one handles it. As on Linux not
	 * for the signals that leave a core: t takes such a one from its queue, so that signal_deliver tells which it
	 * was, and ends the others then.
	 */
	if (sig_fatal(p, t, sig) && !p->signal->unkillable && !(sigmask(sig) & SIG_KERNEL_CORE)) {
		p->signal->group_exit = 1;
		p->signal->group_exit_code = signal_exit_code(sig);
		zap_other_threads(t);
		t->pending.signal |= sigmask(SIGKILL);
	}
	signal_wake_up(t, t->pending.signal & sigmask(SIGKILL));
}

/*
 * No lock is needed to see that no reader waits: a reader joins the queue and then looks for signals under siglock,
 * which is held here. Either that look sees the signal, or this one sees the reader. [S]
 */
static void signalfd_notify(void)
{
	if (waitqueue_active(&signalfd_wait))
		wake_up_all(&signalfd_wait);
}

/*
 * Send with the target's siglock held. info may be changed afterwards: it is copied. 0, or -EAGAIN when a real-time
 * signal found no room in the queue. [S]
 */
int send_signal_locked(int sig, struct siginfo *info, struct task_struct *p, bool group)
{
	struct sigpending *pending = group ? &p->signal->shared_pending : &p->pending;
	enum signal_result result = SIGNAL_IGNORED;

	if (prepare_signal(p, sig, info->si_code == SI_KERNEL && info->si_pid == 0)) {
		result = sigqueue_add(p, pending, sig, info);
		if (result != SIGNAL_OVERFLOW) {
			signalfd_notify();
			complete_signal(sig, p, group);
		}
	}
	trace_signal_generate(sig, info, p, group, result);
	return result == SIGNAL_OVERFLOW ? -EAGAIN : 0;
}

/* The same for the signal of a timer, whose entry is in no queue: it always finds room. [S] */
bool send_sigqueue(struct sigqueue *q, struct siginfo *info, struct task_struct *p, bool group)
{
	bool sent = prepare_signal(p, info->si_signo, false);

	if (sent) {
		sigqueue_add_timer(q, group ? &p->signal->shared_pending : &p->pending, info);
		signalfd_notify();
		complete_signal(info->si_signo, p, group);
	}
	trace_signal_generate(info->si_signo, info, p, group, sent ? SIGNAL_DELIVERED : SIGNAL_IGNORED);
	return sent;
}

/*
 * 0, -EINVAL for a number of no signal, -EAGAIN, or -ESRCH: p was released while the sender held its reference. From
 * the old leader of a process that lives on, by an exec of another thread, no way leads to the threads that could take
 * the signal, and its siglock guards nothing any more. unlink_task() releases p under the siglock that is locked here.
 */
static int send_to(int sig, struct siginfo *info, struct task_struct *p, bool group)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	int err = -ESRCH;

	if (sig <= 0 || sig > NSIG)
		return -EINVAL;
	sighand = lock_task_sighand(p, &flags);
	if (likely(!hlist_unhashed(&p->pid_node)))
		err = send_signal_locked(sig, info, p, group);
	unlock_task_sighand(sighand, flags);
	return err;
}

/*
 * To the process: any of its threads may take it. If p was its leader and has been replaced, the new leader stands for
 * the process. tasklist_lock is taken for that. A caller that holds tasklist_lock has found p under it, in a list that
 * a released task is not in, so it does not come there.
 */
int send_sig_info(int sig, struct siginfo *info, struct task_struct *p)
{
	struct task_struct *leader;
	int err = send_to(sig, info, p, true);

	while (unlikely(err == -ESRCH) && (leader = get_process_leader(p->signal))) {
		err = send_to(sig, info, leader, true);
		put_task_struct(leader);
	}
	return err;
}

/* To this thread alone; -ESRCH when it has been released. */
int send_sig_thread(int sig, struct siginfo *info, struct task_struct *p)
{
	return send_to(sig, info, p, false);
}

/* With `priv` the kernel's own, which even init cannot ignore; else as from the current process. */
int send_sig(int sig, struct task_struct *p, int priv)
{
	struct siginfo info;

	if (priv) {
		memset(&info, 0, sizeof(info));
		info.si_signo = sig;
		info.si_code = SI_KERNEL;
	} else {
		siginfo_from_user(&info, sig, SI_USER);
	}
	return send_sig_info(sig, &info, p);
}
EXPORT_SYMBOL(send_sig);

/* A signal that current cannot escape: not by ignoring, not by blocking, not even as init. */
void force_sig_info(struct siginfo *info)
{
	struct task_struct *t = current;
	int sig = info->si_signo;
	struct sigaction *ka = &t->sighand->action[sig - 1];
	struct sighand_struct *sighand;
	unsigned long flags;

	sighand = lock_task_sighand(t, &flags);
	if ((void *)ka->sa_handler == SIG_IGN || (t->blocked & sigmask(sig))) {
		ka->sa_handler = SIG_DFL;
		t->blocked &= ~sigmask(sig);
	}
	if ((void *)ka->sa_handler == SIG_DFL && !t->ptrace)
		t->signal->unkillable = false; /* the end of init is a panic, which says why */
	if (!send_signal_locked(sig, info, t, false))
		recalc_sigpending();
	unlock_task_sighand(sighand, flags);
}

/*
 * The signal for a fault of the current task: the handler runs, or the process ends if the signal is blocked or
 * ignored, as the task would fault for ever.
 */
void force_sig_fault(int sig, int code, unsigned long addr)
{
	struct siginfo info;

	memset(&info, 0, sizeof(info));
	info.si_signo = sig;
	info.si_code = code;
	info.si_addr = (void *)uprobe_fault(addr);
	force_sig_info(&info);
}
