/*
 * How a task gets its debugger (tracer), and how the two part.
 *
 * A tracer is one thread. It stands in task->tracer of each tracee, and its list `ptraced` has them all. A tracee is
 * also one thread, whose process may have others without a tracer or with another one. Both ends are changed together,
 * by ptrace_link() and ptrace_unlink(), under tasklist_lock and the tracee's siglock. A tracee holds no reference to
 * its tracer: before a tracer is freed it exits, and ptrace_exit_tracer() unlinks all its tracees; a tracee is unlinked
 * when it is released.
 *
 * A set-user-id program must not get its rights under a tracer that has none. exec therefore looks for a tracer
 * (debugger_forbids_setid) and takes the ids under exec_guard, and a tracer that comes checks its rights and links
 * under the same mutex. So it comes either before the look, or when the task has its new ids and the check refuses.
 */
#include "ptrace.h"

#include <kernel/entry.h>
#include <kernel/jump_label.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <proc/capability.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <sched/mutex.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <time/hrtimer.h>

/* [T, S; or T, and the tracee cannot be found yet] */
static void link_locked(struct task_struct *child, struct task_struct *tracer, u32 flags)
{
	child->tracer = tracer;
	WRITE_ONCE(child->ptrace, flags);
	list_add_tail(&child->ptrace_entry, &tracer->ptraced);
}

/* [T, not S] */
static void ptrace_link(struct task_struct *child, struct task_struct *tracer, u32 flags)
{
	if (tracer->caps.effective & CAP_BIT(CAP_SYS_PTRACE))
		flags |= PT_CAP;
	spin_lock(&child->sighand->siglock); /* T: no exec exchanges it */
	link_locked(child, tracer, flags);
	spin_unlock(&child->sighand->siglock);
}

/*
 * The tracee is an ordinary task again. If it stands still for the tracer it goes on, and where its process is stopped
 * it then stops with it.
 */
static void ptrace_unlink(struct task_struct *t)
{
	bool traced;

	list_del_init(&t->ptrace_entry);
	clear_tsk_thread_flag(t, TIF_SYSCALL_TRACE);
	spin_lock(&t->sighand->siglock);
	WRITE_ONCE(t->ptrace, 0);
	t->tracer = NULL;
	traced = t->jobctl & JOB_TRACED;
	t->jobctl &= ~(JOB_TRAP_STOP | JOB_TRAP_NOTIFY | JOB_TRAPPING | JOB_TRACED | JOB_FROZEN);
	if (t->signal->stopped && !(t->flags & PF_EXITING))
		want_group_stop(t);
	if (traced || t->jobctl & JOB_STOP_PENDING)
		signal_wake_up_state(t, __TASK_TRACED);
	spin_unlock(&t->sighand->siglock);
}

/*
 * From the first debugger on, each system call looks whether its task has one. Before, it costs a call nothing. The key
 * stays on: to switch it stops the machine, which a debugger that attaches to many tasks should not pay each time.
 * Context: thread; sleeps.
 */
static void watch_system_calls(void)
{
	static DEFINE_MUTEX(mutex); /* nobody goes on before the sites are switched */
	static bool watched;	    /* [mutex] */

	mutex_lock(&mutex);
	if (!watched)
		static_key_slow_inc(&syscall_trace_key);
	watched = true;
	mutex_unlock(&mutex);
}

/*
 * PTRACE_TRACEME: the thread that has made this task is its tracer, or where that one is gone, the first thread of the
 * parent. -EPERM: it has a tracer, or its parent is the kernel.
 */
long ptrace_traceme(void)
{
	struct task_struct *parent, *t;
	long err = -EPERM;

	watch_system_calls();
	spin_lock_irq(&tasklist_lock);
	parent = current->group_leader->parent;
	t = find_task_by_pid(current->group_leader->parent_tid);
	if (t && t->group_leader == parent && !(t->flags & PF_EXITING))
		parent = t;
	if (!current->ptrace && !(parent->flags & (PF_KTHREAD | PF_EXITING))) {
		ptrace_link(current, parent, PT_PTRACED);
		err = 0;
	}
	spin_unlock_irq(&tasklist_lock);
	return err;
}

/*
 * Link, if nothing speaks against it. A thread that stands still for a stop of its process is woken to stop once more,
 * for its tracer; JOB_TRAPPING tells that it is on its way. Any other thread gets a SIGSTOP, so that it stops soon,
 * unless it is seized. [T] 0 or -EPERM.
 */
static long attach_locked(struct task_struct *child, u32 flags)
{
	struct siginfo info;

	memset(&info, 0, sizeof(info));
	info.si_signo = SIGSTOP;
	info.si_code = SI_KERNEL;
	if (child->exit_state || child->ptrace)
		return -EPERM;
	ptrace_link(child, current, flags);
	spin_lock(&child->sighand->siglock);
	if (!(flags & PT_SEIZED))
		send_signal_locked(SIGSTOP, &info, child, false);
	if (READ_ONCE(child->state) & __TASK_STOPPED) {
		child->jobctl |= JOB_TRAP_STOP | JOB_TRAPPING;
		signal_wake_up_state(child, __TASK_STOPPED);
	}
	spin_unlock(&child->sighand->siglock);
	return 0;
}

/*
 * PTRACE_ATTACH, PTRACE_SEIZE. When it returns, a wait of the caller's finds a task that was stopped before in its stop
 * for the tracer, hence the waiting at the end. -EIO: unknown options; -EPERM: the caller may not trace the task.
 */
long ptrace_attach(struct task_struct *child, bool seize, unsigned long options)
{
	u32 flags = PT_PTRACED | (seize ? PT_SEIZED | (u32)options << PT_OPT_SHIFT : 0);
	long err = -EPERM;

	if (seize && options & ~(unsigned long)PTRACE_O_MASK)
		return -EIO;
	if (child->flags & PF_KTHREAD || child->tgid == current->tgid)
		return -EPERM;
	watch_system_calls();
	if (mutex_lock_interruptible(&child->signal->exec_guard))
		return -ERESTARTNOINTR;
	if (ptrace_may_access(child, PTRACE_MODE_ATTACH_REALCREDS)) {
		spin_lock_irq(&tasklist_lock);
		err = attach_locked(child, flags);
		spin_unlock_irq(&tasklist_lock);
	}
	mutex_unlock(&child->signal->exec_guard);
	while (!err && READ_ONCE(child->jobctl) & JOB_TRAPPING && !fatal_signal_pending(current)) {
		__set_current_state(TASK_KILLABLE);
		schedule_timeout_ns(NSEC_PER_MSEC);
	}
	return err;
}

void ptrace_detach(struct task_struct *child, int sig)
{
	user_disable_single_step(child);
	spin_lock_irq(&tasklist_lock);
	child->ptrace_code = sig; /* it is frozen, so it does not look at it before it is woken */
	ptrace_unlink(child);
	spin_unlock_irq(&tasklist_lock);
}

/* A seized child stops at once, as if PTRACE_INTERRUPT had come; another one gets a SIGSTOP, as by PTRACE_ATTACH. */
static void ptrace_fork(struct task_struct *child)
{
	link_locked(child, current->tracer, current->ptrace);
	if (child->ptrace & PT_SEIZED)
		child->jobctl |= JOB_TRAP_STOP;
	else
		child->pending.signal |= sigmask(SIGSTOP);
	set_tsk_thread_flag(child, TIF_SIGPENDING);
}

/*
 * A zombie that was kept for the tracer alone goes now: a thread goes for good, and the parent of a leader is told now,
 * if the parent is another process than the tracer's.
 */
static void ptrace_exit_tracer(struct task_struct *tracer, struct list_head *dead)
{
	struct task_struct *p, *next;

	list_for_each_entry_safe(p, next, &tracer->ptraced, ptrace_entry) {
		bool reparented = debugged_by_other(p), unwanted;

		if (p->ptrace & PTRACE_O_EXITKILL << PT_OPT_SHIFT)
			send_sig(SIGKILL, p, 1);
		ptrace_unlink(p);
		if (p->exit_state != EXIT_ZOMBIE)
			continue;
		unwanted = !thread_group_leader(p);
		if (!unwanted && thread_group_empty(p) && reparented)
			unwanted = announce_zombie(p);
		if (!unwanted)
			continue;
		p->exit_state = EXIT_DEAD;
		list_move_tail(&p->sibling, dead);
	}
}

static const struct debugger_ops ptrace_ops = {
	.event = ptrace_event,
	.signal = ptrace_signal,
	.trap = ptrace_trap,
	.trap_notify = ptrace_trap_notify,
	.syscall_enter = ptrace_syscall_enter,
	.syscall_exit = ptrace_syscall_exit,
	.stepped = ptrace_stepped,
	.fork = ptrace_fork,
	.unlink = ptrace_unlink,
	.exit_tracer = ptrace_exit_tracer,
};
REGISTER_DEBUGGER(ptrace_ops);
