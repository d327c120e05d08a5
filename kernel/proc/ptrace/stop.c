/*
 * The tracee's side of ptrace: the places where a task stops for its debugger (tracer).
 *
 * There is one way to stop, ptrace_stop(). The task puts down what the stop is about (ptrace_code, ptrace_message,
 * ptrace_info), tells its tracer, and sleeps in TASK_TRACED until a request lets it go on. It comes here
 *
 *     from get_signal		ptrace_signal	a signal is about to be taken
 *				ptrace_trap	the process stops, or the tracer has asked for a stop
 *     from system calls	ptrace_event	fork, exec and exit, for which the tracer has set an option
 *				ptrace_syscall_enter, ptrace_syscall_exit
 *
 * WHO TOUCHES WHAT. task->ptrace and task->tracer change under tasklist_lock and the tracee's siglock, so either lock
 * keeps them. What describes a stop is the tracee's until it has set JOB_TRACED under siglock; from then on it is the
 * tracer's, under siglock, up to the wake-up. Registers need no lock: the tracer gets at them only between
 * ptrace_freeze() and ptrace_unfreeze() (request.c), when the tracee is off its CPU and nothing wakes it.
 *
 * NO WAKE-UP IS LOST. The tracee sets JOB_TRACED and TASK_TRACED under siglock, after it has looked whether it is still
 * traced and whether a SIGKILL is pending. A tracer that lets it go on, a tracer that ends (ptrace_unlink) and a
 * SIGKILL all change what was looked at and then wake it, under the same siglock. So they come either before the look,
 * and the task does not stop, or after the state is set, and the wake-up finds a task in the state that it looks for.
 *
 * AGAINST SIGKILL. SIGKILL ends every stop, except while a request is under way: JOB_FROZEN then keeps
 * signal_wake_up() from waking the tracee, whose registers are in use. SIGKILL stays pending, and ptrace_unfreeze()
 * finds it and wakes the tracee. The flag and the pending bit are both under siglock, so one of the two sees the other.
 * schedule() does not look for a SIGKILL in this state, so a tracee that is frozen before it gets there sleeps as well.
 *
 * The tracer is told after siglock is released, because tasklist_lock stands outside of it. In between the tracer may
 * have found the stop by itself, and may have let the task go on: then it gets a SIGCHLD with no news, as on Linux.
 */
#include "ptrace.h"

#include <asm/ptrace.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>

/*
 * Stand still for the tracer, which a wait tells `code`. `why`: CLD_TRAPPED, or CLD_STOPPED where the stop is a part of
 * the process's stop. Returns the signal with which the tracer lets the task go on, 0: none; NOT_STOPPED: there is no
 * tracer any more, or the task is being killed. [S, released meanwhile]
 */
static int ptrace_stop(int code, int why, unsigned long message, struct siginfo *info)
{
	struct sighand_struct *sighand = current->sighand; /* only this thread could exchange it, in exec */
	struct task_struct *t = current;
	bool stop_done = false;

	if (!t->ptrace || (t->pending.signal & sigmask(SIGKILL)))
		return NOT_STOPPED;
	t->ptrace_code = code;
	t->ptrace_message = message;
	t->ptrace_info = info;
	if (why == CLD_STOPPED)
		stop_done = join_group_stop(t);
	t->jobctl &= ~(JOB_TRAP_STOP | JOB_TRAPPING);
	if (info && info->si_code >> 8 == PTRACE_EVENT_STOP)
		t->jobctl &= ~JOB_TRAP_NOTIFY;
	t->jobctl |= JOB_TRACED;
	set_current_state(TASK_TRACED);
	spin_unlock_irq(&sighand->siglock);

	spin_lock_irq(&tasklist_lock);
	if (t->ptrace)
		do_notify_tracer(t, why);
	if (stop_done && (!t->ptrace || debugged_by_other(t)))
		do_notify_parent_cldstop(t->group_leader, CLD_STOPPED);
	spin_unlock_irq(&tasklist_lock);
	schedule();

	spin_lock_irq(&sighand->siglock);
	code = t->ptrace_code;
	t->ptrace_info = NULL;
	t->jobctl &= ~(JOB_TRACED | JOB_LISTENING | JOB_FROZEN);
	recalc_sigpending();
	return code;
}

/* A stop with a siginfo that says what it is. [S, released meanwhile] */
static int ptrace_report(int sig, int code, int why, unsigned long message)
{
	struct siginfo info;

	memset(&info, 0, sizeof(info));
	info.si_signo = sig;
	info.si_code = code;
	info.si_pid = current->pid;
	info.si_uid = current->uid;
	return ptrace_stop(code, why, message, &info);
}

int ptrace_notify(int code, unsigned long message)
{
	int sig;

	spin_lock_irq(&current->sighand->siglock);
	sig = ptrace_report(SIGTRAP, code, CLD_TRAPPED, message);
	spin_unlock_irq(&current->sighand->siglock);
	return sig;
}

void ptrace_stepped(void)
{
	ptrace_notify(SIGTRAP, 0);
}

/* A tracer that neither asked for the event nor seized the task gets a SIGTRAP, as from before there were events. */
static void stop_for_exec(pid_t old_pid)
{
	if (debugger_wants(PTRACE_EVENT_EXEC))
		ptrace_notify(PTRACE_EVENT_EXEC << 8 | SIGTRAP, old_pid);
	else if ((READ_ONCE(current->ptrace) & (PT_PTRACED | PT_SEIZED)) == PT_PTRACED)
		send_sig(SIGTRAP, current, 0);
}

/*
 * Also a task that is being killed stops here, so that the tracer sees its last registers; the pending SIGKILL would
 * keep it from that. It comes back afterwards: what exit does next may wait, and is to end early then.
 */
static void stop_for_exit(long code)
{
	struct task_struct *t = current;
	sigset_t killed;

	if (!debugger_wants(PTRACE_EVENT_EXIT))
		return;
	spin_lock_irq(&t->sighand->siglock);
	killed = t->pending.signal & sigmask(SIGKILL);
	t->pending.signal &= ~killed;
	ptrace_report(SIGTRAP, PTRACE_EVENT_EXIT << 8 | SIGTRAP, CLD_TRAPPED, code);
	t->pending.signal |= killed;
	recalc_sigpending();
	spin_unlock_irq(&t->sighand->siglock);
}

void ptrace_event(unsigned event, unsigned long message)
{
	if (event == PTRACE_EVENT_EXEC)
		stop_for_exec(message);
	else if (event == PTRACE_EVENT_EXIT)
		stop_for_exit(message);
	else if (debugger_wants(event))
		ptrace_notify(event << 8 | SIGTRAP, message);
}

/*
 * Any signal may become a stop signal in the tracer's hands, so a SIGCONT that comes meanwhile takes that back
 * (stop_dequeued). A signal that is blocked by now stays pending.
 */
int ptrace_signal(int sig, struct siginfo *info)
{
	struct task_struct *t = current;
	int now;

	t->signal->stop_dequeued = true;
	now = ptrace_stop(sig, CLD_TRAPPED, 0, info);
	if (now == NOT_STOPPED)
		now = sig;
	if (now && now != info->si_signo) {
		memset(info, 0, sizeof(*info));
		info->si_signo = now;
		info->si_code = SI_USER;
		if (t->tracer) {
			info->si_pid = t->tracer->tgid;
			info->si_uid = t->tracer->uid;
		}
	}
	if (now && (t->blocked & sigmask(now))) {
		send_signal_locked(now, info, t, false);
		return 0;
	}
	return now;
}

/*
 * A stop of the process, or one that the tracer has asked for. To a tracer that seized the task both are
 * PTRACE_EVENT_STOP, with the signal that has stopped the process, or SIGTRAP while it is not stopped. Another tracer
 * sees the stop signal alone, without a siginfo.
 */
void ptrace_trap(void)
{
	struct signal_struct *sig = current->signal;
	int signr = sig->stop_sig, ret;

	if (current->ptrace & PT_SEIZED) {
		if (!sig->stopped)
			signr = SIGTRAP;
		ret = ptrace_report(signr, signr | PTRACE_EVENT_STOP << 8, CLD_STOPPED, 0);
	} else {
		ret = ptrace_stop(signr, CLD_STOPPED, 0, NULL);
	}
	if (ret == NOT_STOPPED) /* it is to die: what is due must not keep it from that */
		current->jobctl &= ~JOB_PENDING;
}

void ptrace_trap_notify(struct task_struct *t)
{
	if (t->flags & PF_EXITING || t->pending.signal & sigmask(SIGKILL))
		return;
	t->jobctl |= JOB_TRAP_NOTIFY;
	ptrace_wake(t);
}

void ptrace_wake(struct task_struct *t)
{
	bool listening = t->jobctl & JOB_LISTENING;

	if (listening)
		t->jobctl &= ~JOB_TRACED;
	signal_wake_up_state(t, listening ? __TASK_TRACED : 0);
}
