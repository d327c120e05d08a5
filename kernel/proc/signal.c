/* Taking signals: on the way to user mode each pending one gets its handler's frame or its default action. */
#include <arch/signal.h>
#include <asm/ptrace.h>
#include <asm/syscall_abi.h>
#include <irq/irqflags.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <trace/events/signal.h>

/*
 * Stand still until the process goes on or is killed. The last thread to arrive completes the stop and tells
 * the parent. Called with siglock held, which is released. The state is set before that: see
 * kernel/proc/signal_send.c.
 */
static void do_signal_stop(struct signal_struct *sig)
{
	struct sighand_struct *sighand = current->sighand; /* ours: only we could change it */
	bool notify;

	sig->nr_stopped++;
	while (sig->stopped && !sig->group_exit && (!sig->group_exec || sig->group_exec == current)) {
		notify = !sig->stop_done && sig->nr_stopped == sig->live;
		if (notify) {
			sig->stop_done = true;
			sig->stop_code = sig->stop_sig;
		}
		set_current_state(TASK_STOPPED);
		spin_unlock_irq(&sighand->siglock);
		if (notify) {
			spin_lock_irq(&tasklist_lock);
			do_notify_parent_cldstop(current->group_leader, CLD_STOPPED);
			spin_unlock_irq(&tasklist_lock);
		}
		schedule();
		spin_lock_irq(&sighand->siglock);
	}
	sig->nr_stopped--;
	__set_current_state(TASK_RUNNING);
	recalc_sigpending();
	spin_unlock_irq(&sighand->siglock);
}

/*
 * Default action of a stop signal. The terminal's do nothing in an orphaned group, and to know that the lock
 * must be dropped: what came meanwhile (SIGCONT, SIGKILL) has taken stop_dequeued back. [S]
 */
static void start_group_stop(struct signal_struct *sig, int signr)
{
	struct task_struct *t;

	if (signr != SIGSTOP) {
		bool orphaned;

		spin_unlock_irq(&current->sighand->siglock);
		spin_lock_irq(&tasklist_lock);
		orphaned = is_orphaned_pgrp(sig->pgrp, NULL);
		spin_unlock_irq(&tasklist_lock);
		spin_lock_irq(&current->sighand->siglock);
		if (orphaned)
			return;
	}
	if (!sig->stop_dequeued || sig->stopped || signal_group_exit(sig))
		return;
	sig->stopped = true;
	sig->stop_sig = signr;
	sig->stop_done = false;
	sig->continued = false;
	atomic_inc(&nr_stopped_groups);
	for_each_thread(current, t)
		if (t != current && !(t->flags & PF_EXITING))
			signal_wake_up(t, false);
}

/* First thread to go on after SIGCONT. Called with siglock held, which is released. */
static void notify_continued(struct signal_struct *sig)
{
	int why = sig->cld_notify;

	sig->cld_notify = 0;
	spin_unlock_irq(&current->sighand->siglock);
	spin_lock_irq(&tasklist_lock);
	do_notify_parent_cldstop(current->group_leader, why);
	spin_unlock_irq(&tasklist_lock);
}

/*
 * What comes before any signal: the end of the process, a stop, news for the parent. False when it had to
 * drop the lock (then everything is to be looked at again). [S]
 */
static bool group_events(struct signal_struct *sig)
{
	if (sig->group_exit || (sig->group_exec && sig->group_exec != current)) {
		trace_signal_deliver(SIGKILL, &(struct siginfo){}, &current->sighand->action[SIGKILL - 1]);
		spin_unlock_irq(&current->sighand->siglock);
		current->flags |= PF_SIGNALED;
		do_group_exit(SIGKILL); /* with a group exit under way it takes that one's code */
	}
	if (sig->cld_notify) {
		notify_continued(sig);
		return false;
	}
	if (sig->stopped) {
		do_signal_stop(sig);
		return false;
	}
	return true;
}

/* The default action. Returns when the process lives on, siglock held. */
static void default_action(struct signal_struct *sig, int signr)
{
	if (sigmask(signr) & SIG_KERNEL_IGNORE)
		return;
	if (sig->unkillable) /* unblocked after it was sent: init is protected all the same */
		return;
	if (sigmask(signr) & SIG_KERNEL_STOP) {
		start_group_stop(sig, signr);
		return;
	}
	spin_unlock_irq(&current->sighand->siglock);
	current->flags |= PF_SIGNALED;
	do_group_exit(signal_exit_code(signr));
}

bool get_signal(struct ksignal *ksig)
{
	struct signal_struct *sig = current->signal;
	struct sighand_struct *sighand = current->sighand;
	struct sigaction *ka;

	for (;;) {
		spin_lock_irq(&sighand->siglock);
		if (!group_events(sig))
			continue;
		ksig->sig = dequeue_signal(current->blocked, &ksig->info);
		if (!ksig->sig) {
			recalc_sigpending(); /* another thread may have taken what the flag was set for */
			break;
		}
		ka = &sighand->action[ksig->sig - 1];
		trace_signal_deliver(ksig->sig, &ksig->info, ka);
		if ((void *)ka->sa_handler == SIG_DFL) {
			default_action(sig, ksig->sig);
		} else if ((void *)ka->sa_handler != SIG_IGN) {
			ksig->ka = *ka;
			if (ka->sa_flags & SA_RESETHAND)
				ka->sa_handler = SIG_DFL;
			break;
		}
		spin_unlock_irq(&sighand->siglock);
	}
	spin_unlock_irq(&sighand->siglock);
	return ksig->sig;
}

/* A frame could not be written: SIGSEGV, and if that is what was to be delivered, without its handler. */
static void force_sigsegv(int sig)
{
	unsigned long flags;

	if (sig == SIGSEGV) {
		struct sighand_struct *sighand = lock_task_sighand(current, &flags);

		sighand->action[SIGSEGV - 1].sa_handler = SIG_DFL;
		unlock_task_sighand(sighand, flags);
	}
	force_sig_fault(SIGSEGV, SI_KERNEL, 0);
}

void signal_setup_done(int failed, struct ksignal *ksig)
{
	sigset_t blocked = current->blocked | ksig->ka.sa_mask;

	if (failed) {
		force_sigsegv(ksig->sig);
		return;
	}
	current->restore_sigmask = false; /* the frame holds the mask that comes back */
	if (!(ksig->ka.sa_flags & SA_NODEFER))
		blocked |= sigmask(ksig->sig);
	set_current_blocked(blocked);
	if (current->sas_ss_flags & SS_AUTODISARM) {
		current->sas_ss_sp = current->sas_ss_size = 0;
		current->sas_ss_flags = SS_DISABLE;
	}
}

/* Does an interrupted system call start again (true), or return -EINTR? `flags`: of the handler that runs
 * first. */
static bool restarts(long ret, bool handler, unsigned long flags)
{
	switch (ret) {
	case -ERESTARTNOINTR:
		return true;
	case -ERESTARTSYS:
		return !handler || (flags & SA_RESTART);
	default: /* ERESTARTNOHAND, ERESTART_RESTARTBLOCK */
		return !handler;
	}
}

static bool is_restart_code(long ret)
{
	return ret == -ERESTARTSYS || ret == -ERESTARTNOINTR || ret == -ERESTARTNOHAND || ret == -ERESTART_RESTARTBLOCK;
}

/* The system call that was interrupted, if one was: decide how it goes on. Once for each call: rollback marks
 * it done. */
static void finish_syscall(struct pt_regs *regs, bool handler, unsigned long flags)
{
	long ret = regs_return_value(regs);

	if (syscall_get_nr(regs) < 0 || !is_restart_code(ret))
		return;
	if (!restarts(ret, handler, flags)) {
		syscall_set_return_value(regs, -EINTR);
		return;
	}
	syscall_rollback(regs);
	if (ret == -ERESTART_RESTARTBLOCK)
		syscall_set_nr(regs, NR_RESTART_SYSCALL);
}

static void do_signal(struct pt_regs *regs)
{
	struct ksignal ksig;

	if (get_signal(&ksig)) {
		sigset_t oldset = current->restore_sigmask ? current->saved_sigmask : current->blocked;

		finish_syscall(regs, true, ksig.ka.sa_flags);
		signal_setup_done(arch_setup_rt_frame(&ksig, &oldset, regs), &ksig);
		return;
	}
	finish_syscall(regs, false, 0);
	if (current->restore_sigmask) {
		current->restore_sigmask = false;
		set_current_blocked(current->saved_sigmask);
	}
}

void do_notify_resume(struct pt_regs *regs, u32 thread_flags)
{
	/* Again and again until a look with interrupts off finds nothing: then nothing can come before user
	 * mode. */
	do {
		local_irq_enable();
		if (thread_flags & _TIF_NEED_RESCHED)
			schedule();
		if (thread_flags & _TIF_NOTIFY_RESUME) {
			clear_tsk_thread_flag(current, TIF_NOTIFY_RESUME);
			smp_mb(); /* what is asked for after this sets the flag again */
			sched_notify_resume();
		}
		if (thread_flags & _TIF_SIGPENDING)
			do_signal(regs);
		local_irq_disable();
		thread_flags = READ_ONCE(current->thread_flags);
	} while (thread_flags & _TIF_WORK_MASK);
}
