/*
 * Taking signals. A task looks at its signals on the way to user mode, in do_notify_resume(). Each pending signal
 * gets its default action, or a frame on the user stack that makes the program run its handler.
 *
 *     do_notify_resume        until no work is left
 *       do_signal
 *         get_signal          end or stop of the process first, then signals one by one
 *           default_action    may end the process or begin a stop
 *         finish_syscall      does the interrupted call start again or return -EINTR?
 *         arch_setup_rt_frame
 *
 * All state of a process's signals is under siglock [S]. tasklist_lock, which a message to the parent needs, stands
 * outside of siglock in the order of locks. So functions here release siglock for it, and look at everything again
 * afterwards.
 */
#include <arch/debug_ops.h>
#include <arch/signal.h>
#include <asm/ptrace.h>
#include <asm/syscall_abi.h>
#include <irq/irqflags.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <proc/debugger.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <proc/task_part.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <trace/events/signal.h>
#include <trace/uprobe_ops.h>

/*
 * The threads of a process stop one by one. `stop_left` counts those that are still to come, which have
 * JOB_STOP_PENDING, so a thread that a debugger lets run on counts as one that has stood still. [S]
 */
void want_group_stop(struct task_struct *t)
{
	if (!(t->jobctl & JOB_STOP_PENDING))
		t->signal->stop_left++;
	t->jobctl |= JOB_STOP_PENDING;
}

bool join_group_stop(struct task_struct *t)
{
	struct signal_struct *sig = t->signal;

	if (!(t->jobctl & JOB_STOP_PENDING))
		return false;
	t->jobctl &= ~JOB_STOP_PENDING;
	if (--sig->stop_left || sig->stop_done)
		return false;
	sig->stop_done = true;
	sig->stop_code = sig->stop_sig;
	return true;
}

/*
 * Stand still until the process goes on or is killed, or a debugger comes. The thread that arrives last completes the
 * stop and tells the parent. A debugger that has come and gone before this thread ran again has made the stop due once
 * more, so each turn of the loop looks. Called with siglock held, which is released. The state becomes TASK_STOPPED
 * before the lock is released, so SIGCONT and SIGKILL, which take that lock, find a task that they can wake;
 * kernel/proc/signal/signal_send.c has the whole argument.
 */
static void do_signal_stop(struct signal_struct *sig)
{
	struct sighand_struct *sighand = current->sighand; /* only this thread could exchange it, in exec */

	while (sig->stopped && !sig->group_exit && (!sig->group_exec || sig->group_exec == current) &&
	       !current->ptrace) {
		bool notify = join_group_stop(current);

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
	__set_current_state(TASK_RUNNING);
	recalc_sigpending();
	spin_unlock_irq(&sighand->siglock);
}

/*
 * The default action of a stop signal: all threads of the process are to stop. The terminal's stop signals do nothing
 * in an orphaned group, since no process could continue it. Finding that out needs tasklist_lock, so siglock is
 * released meanwhile. If SIGCONT or SIGKILL comes in that time it clears stop_dequeued, and the stop does not happen.
 * [S, released meanwhile]
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
	for_each_thread(current, t) {
		if (t->flags & PF_EXITING)
			continue;
		want_group_stop(t);
		if (t->ptrace & PT_SEIZED)
			debugger()->trap_notify(t);
		else if (t != current)
			signal_wake_up(t, false);
	}
}

/*
 * The first thread to go on after SIGCONT tells the parent. continue_group() cannot do so itself, because the sender
 * holds siglock. Called with siglock held, which is released.
 */
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
 * What comes before any signal: the end of the process, news for the parent, a stop. False: siglock was released, so
 * the caller takes it and looks at everything again. Does not return when the thread is to end. [S]
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
	if (current->jobctl & JOB_PENDING) {
		if (current->ptrace) {
			debugger()->trap();
			spin_unlock_irq(&current->sighand->siglock);
		} else {
			do_signal_stop(sig);
		}
		return false;
	}
	return true;
}

/*
 * Perform the default action of a signal: nothing, a stop, or the end of the process. Returns with siglock held when
 * the process lives on. init survives every signal that it does not handle; most are dropped when they are sent, and
 * this catches those that were sent while init blocked them.
 */
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

/*
 * Signals without effect and default actions are done with in the loop; the first signal with a handler ends it.
 * SA_RESETHAND is carried out here, under the lock that the action is read with.
 */
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
		if (unlikely(current->ptrace) && ksig->sig != SIGKILL)
			ksig->sig = debugger()->signal(ksig->sig, &ksig->info);
		if (!ksig->sig) { /* the debugger has kept it */
			spin_unlock_irq(&sighand->siglock);
			continue;
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

/*
 * The frame of signal `sig` could not be written, usually because the stack has overflowed. The program gets a
 * SIGSEGV. If that is the signal whose frame failed, its handler would fail again and again, so it gets the default
 * action.
 */
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

/*
 * The signal stays blocked while its handler runs, and so does sa_mask; rt_sigreturn brings the old mask back from
 * the frame.
 */
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

/*
 * Does an interrupted system call start again (true) or return -EINTR? It depends on what the call asks for (its
 * error) and on whether a handler runs. `flags` are those of the handler that runs first.
 */
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

/*
 * If a system call was interrupted, decide how it ends. To start it again, syscall_rollback() sets the program
 * counter back to the instruction that made the call. After that the registers show no system call any more, so
 * further signals on the same way to user mode do not decide a second time.
 */
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
		syscall_set_nr(regs, __NR_restart_syscall);
}

/*
 * On machines where Linux does the same, a debugger that is told of a signal sees the registers with the interrupted
 * call taken back already. A debugger that puts these registers aside and brings them back later then has the call made
 * again, though it cannot read what the call's first argument was. Returns where the call begins; 0: there is none.
 */
static unsigned long take_call_back(struct pt_regs *regs)
{
	if (!RESTART_SHOWN_TO_DEBUGGER || !current->ptrace || syscall_get_nr(regs) < 0 ||
	    !is_restart_code(regs_return_value(regs)))
		return 0;
	syscall_rollback(regs);
	return instruction_pointer(regs);
}

/* finish_syscall() for a call that was taken back: it had `ret`, went on at `next`, and begins at `again`. */
static void finish_taken_back(struct pt_regs *regs, unsigned long again, long ret, unsigned long next, bool handler,
			      unsigned long flags)
{
	if (instruction_pointer(regs) != again)
		return; /* the debugger has sent it elsewhere */
	if (restarts(ret, handler, flags)) {
		if (ret == -ERESTART_RESTARTBLOCK)
			syscall_set_nr(regs, __NR_restart_syscall);
		return;
	}
	syscall_set_return_value(regs, -EINTR);
	instruction_pointer_set(regs, next);
}

/*
 * One signal, or none. sigsuspend and its like have exchanged the mask: the old one goes into the frame if there is a
 * handler, and comes back at once if there is none.
 */
static void do_signal(struct pt_regs *regs)
{
	unsigned long next = instruction_pointer(regs);
	long ret = regs_return_value(regs);
	unsigned long again = take_call_back(regs);
	struct ksignal ksig;
	bool handler = get_signal(&ksig);

	if (again)
		finish_taken_back(regs, again, ret, next, handler, handler ? ksig.ka.sa_flags : 0);
	if (handler) {
		sigset_t oldset = current->restore_sigmask ? current->saved_sigmask : current->blocked;
		bool stepping = current->thread_flags & _TIF_SINGLESTEP;

		finish_syscall(regs, true, ksig.ka.sa_flags);
		if (current->rseq) /* the frame must not lead back into a sequence that the handler has interrupted */
			task_parts_resume(regs);
		if (stepping) /* no trace of it in the frame */
			debug_ops()->user_step_end(current);
		signal_setup_done(arch_setup_rt_frame(&ksig, &oldset, regs), &ksig);
		if (stepping && current->ptrace) /* the first instruction of the handler is the end of the step */
			debugger()->stepped();
		return;
	}
	finish_syscall(regs, false, 0);
	if (current->restore_sigmask) {
		current->restore_sigmask = false;
		set_current_blocked(current->saved_sigmask);
	}
}

/*
 * Each kind of work may make work of another kind. The loop therefore ends only when a look with interrupts off finds
 * nothing: from there to user mode no interrupt can come in between and set a flag that is not looked at.
 */
void do_notify_resume(struct pt_regs *regs, u32 thread_flags)
{
	do {
		local_irq_enable();
		if (thread_flags & _TIF_NEED_RESCHED)
			schedule();
		if (thread_flags & _TIF_NOTIFY_RESUME) {
			clear_tsk_thread_flag(current, TIF_NOTIFY_RESUME);
			smp_mb(); /* the flag is clear before we look at the work: a later request sets it again */
			sched_notify_resume();
			task_parts_resume(regs);
		}
		if (thread_flags & _TIF_SIGPENDING && !uprobe_deny_signal(regs))
			do_signal(regs);
		local_irq_disable();
		thread_flags = READ_ONCE(current->thread_flags);
	} while (thread_flags & _TIF_WORK_MASK);
}
