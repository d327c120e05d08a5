/*
 * The end of tasks, in three steps:
 *
 *     do_exit       the task itself gives back its memory, files and directories while it still runs
 *     exit_notify   it becomes a zombie, which has little more than an exit status, and its parent is told
 *     release_task  the parent's wait4, or the task itself when no parent wants to know, takes it off all lists
 *
 * The struct and the kernel stack go with the last reference. The scheduler holds one until the task is off its CPU,
 * because a task cannot free the stack that it runs on.
 *
 * Why nothing is lost between the exit of a child and its parent's wait4: the child becomes a zombie under
 * tasklist_lock and wakes the parent after that; the parent goes onto wait_chldexit and sets its state before
 * it looks at the children under tasklist_lock. Either it sees the zombie or the wake-up finds it waiting.
 *
 * Against kill: the task stays in the pid hash until it is reaped, so a signal to it succeeds and has no
 * effect, as POSIX wants it for zombies. sighand and signal live as long as the struct, so a sender with a
 * reference can always lock.
 */
#include <asm/uaccess.h>
#include <drivers/tty.h>
#include <fs/vfs.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <mm/mm.h>
#include <proc/cred.h>
#include <proc/debugger.h>
#include <proc/fork.h>
#include <proc/oops_exit.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <proc/task_alloc.h>
#include <proc/task_part.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <sched/wait.h>
#include <trace/events/sched.h>

/*
 * What rooms keep is released first: the owner of a lock is about to be gone. All user memory that is written here is
 * still ours; put_user() may fault and sleep.
 */
void mm_release(struct task_struct *t)
{
	unsigned long flags;
	struct completion *done;

	task_parts_release(t);
	/* Who joins the thread looks at this word. The last user of the memory has no task to wake. */
	if (t->clear_child_tid) {
		if (atomic_read(&t->mm->mm_users) > 1 && !put_user(0, t->clear_child_tid))
			task_parts_tid_cleared(t->clear_child_tid);
		t->clear_child_tid = NULL;
	}
	if (!READ_ONCE(t->vfork_done))
		return;
	spin_lock_irqsave(&tasklist_lock, flags); /* the parent may be giving up its wait (wait_for_vfork_done) */
	done = t->vfork_done;
	t->vfork_done = NULL;
	if (done)
		complete(done);
	spin_unlock_irqrestore(&tasklist_lock, flags);
}

/*
 * Give up the address space. From here on the task borrows it, as any kernel thread borrows one (active_mm), until
 * the CPU switches to another task: the page tables must stay while the CPU uses them. mm_count keeps them, mm_users
 * goes.
 */
static void exit_mm(void)
{
	struct mm_struct *mm = current->mm;

	mm_release(current); /* also of a kernel thread: one that was to become a program may be waited for (umh.c) */
	if (!mm)
		return;
	mmgrab(mm); /* for active_mm; the switch to the next task drops it */
	/*
	 * The scheduler looks at both: it must not see a user task without one, nor count a user of an mm
	 * that is gone; and get_task_mm() of others takes its reference under this lock. Files and directories are
	 * there for a while yet: a task that might not look into the memory may not look at them either.
	 */
	spin_lock_irq(&current->pi_lock);
	current->was_dumpable = READ_ONCE(mm->dumpable) == SUID_DUMP_USER;
	current->mm = NULL;
	spin_unlock_irq(&current->pi_lock);
	mmput(mm);
}

/*
 * Give up root and current directory. The pointer is cleared first, so that /proc finds either a whole struct or
 * none.
 */
static void exit_fs(struct task_struct *t)
{
	struct fs_struct *fs = t->fs;

	t->fs = NULL;
	if (fs)
		put_fs_struct(fs);
}

/*
 * Marking the task PF_EXITING and counting it off `live` happen under one siglock, so exactly one thread finds itself
 * the last, and no sender picks this one for a signal afterwards (wants_signal).
 */
bool exit_signals(struct task_struct *t, long code)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	struct task_struct *other;
	bool stop_done, last;
	sigset_t offered;

	sighand = lock_task_sighand(t, &flags);
	t->flags |= PF_EXITING;
	t->jobctl &= ~JOB_TRAPPING; /* a debugger that has just come does not wait for its stop any longer */
	last = --t->signal->live == 0;
	/* As in Linux the process ends with the code of its last thread, unless exit_group or a signal has set one. */
	if (last && !t->signal->group_exit) {
		t->signal->group_exit = 1;
		t->signal->group_exit_code = code;
	}
	clear_tsk_thread_flag(t, TIF_SIGPENDING);
	/*
	 * A signal to the process may have been given to us to take. A thread that does not block it must take it now;
	 * no other thread may be woken for it.
	 */
	offered = t->signal->shared_pending.signal & ~t->blocked;
	if (offered)
		for_each_thread(t, other)
			if (!(other->flags & PF_EXITING) && (offered & ~other->blocked))
				signal_wake_up(other, false);
	/* If a stop of the process waited for this thread alone, it is complete now. */
	stop_done = join_group_stop(t) && !last;
	unlock_task_sighand(sighand, flags);
	if (stop_done) {
		spin_lock_irqsave(&tasklist_lock, flags);
		do_notify_parent_cldstop(t->group_leader, CLD_STOPPED);
		spin_unlock_irqrestore(&tasklist_lock, flags);
	}
	return last;
}

/*
 * What belongs to the process as a whole goes with its last thread: its timers, and the terminal when a
 * session's leader ends. Without init no process would reap orphans, so its end is a panic. May sleep.
 */
static void exit_process(long code)
{
	if (current->signal->unkillable)
		panic("Attempted to kill init! exitcode=0x%08lx", code);
	hrtimer_cancel(&current->signal->real_timer);
	task_parts_release_process();
	if (current->signal->session == current->tgid)
		disassociate_ctty(true);
}

/* A thread that execs waits (de_thread) until the others are reaped and the leader is a zombie. [T] */
static void wake_group_exec(struct signal_struct *sig)
{
	if (sig->group_exec)
		wake_up_process(sig->group_exec);
}

/*
 * The task that inherits the children of a process that ends: the nearest ancestor that has asked for it by
 * prctl(PR_SET_CHILD_SUBREAPER) and is still alive, else init. [T]
 */
static struct task_struct *find_new_reaper(struct task_struct *father)
{
	struct task_struct *p;

	for (p = father->parent; p != child_reaper && !(p->flags & PF_KTHREAD); p = p->parent)
		if (p->signal->child_subreaper && READ_ONCE(p->signal->live))
			return p;
	return child_reaper;
}

/* Each thread of a child may have asked for a signal by prctl(PR_SET_PDEATHSIG). [T] */
static void tell_of_parents_end(struct task_struct *p)
{
	struct task_struct *t;

	for_each_thread(p, t)
		if (t->pdeath_signal)
			send_sig(t->pdeath_signal, t, 1);
}

/* A thread of the process of t that does not end; NULL: all do. [T] */
static struct task_struct *other_thread(struct task_struct *t)
{
	struct task_struct *other;

	for_each_thread(t, other)
		if (!(other->flags & PF_EXITING))
			return other;
	return NULL;
}

/*
 * A thread ends before the others. The children that it has made are told, and are another thread's from then on. If
 * the whole process ends, they are told at its end. [T]
 */
static void leave_children(struct task_struct *t)
{
	struct task_struct *p, *heir = other_thread(t);

	if (!heir)
		return;
	list_for_each_entry(p, &t->group_leader->children, sibling)
		if (p->parent_tid == t->pid) {
			p->parent_tid = heir->pid;
			tell_of_parents_end(p);
		}
}

/*
 * Give one child of `father` to `reaper`. If the child is a zombie, the new parent is told of it; a reaper that
 * ignores SIGCHLD will not wait for it, so the child goes onto `dead`, and the caller releases it when the lock is
 * free. [T]
 */
static void reparent_child(struct task_struct *p, struct task_struct *father, struct task_struct *reaper,
			   struct list_head *dead)
{
	/* If a debugger has not waited for the zombie yet, the new parent is told when the debugger has done so. */
	bool zombie = p->exit_state == EXIT_ZOMBIE && thread_group_empty(p) && !debugged_by_other(p);

	p->parent = reaper;
	list_move_tail(&p->sibling, zombie ? &reaper->zombies : &reaper->children);
	tell_of_parents_end(p);
	p->exit_signal = SIGCHLD;
	if (zombie && do_notify_parent(p, SIGCHLD)) {
		p->exit_state = EXIT_DEAD;
		list_move_tail(&p->sibling, dead);
	}
	/* A stopped group that loses its last tie to its session gets SIGHUP and SIGCONT. */
	kill_orphaned_pgrp(p, father);
}

/* Give all children of a process that ends to its reaper, the living ones and the zombies. [T] */
static void reparent_children(struct task_struct *father, struct list_head *dead)
{
	struct task_struct *p, *next, *reaper = find_new_reaper(father);

	list_for_each_entry_safe(p, next, &father->children, sibling)
		reparent_child(p, father, reaper, dead);
	list_for_each_entry_safe(p, next, &father->zombies, sibling)
		reparent_child(p, father, reaper, dead);
}

/*
 * The program that made a child by clone(2) chose the signal for its end. Since then the parent may have executed
 * another program, perhaps a set-user-id one, and the old choice must not send that program an arbitrary signal. A
 * parent that has changed its program gets SIGCHLD. [T]
 */
static int exit_signal_of(const struct task_struct *leader)
{
	bool same_program = leader->parent_exec_id == READ_ONCE(leader->parent->self_exec_id);

	return same_program ? leader->exit_signal : SIGCHLD;
}

/*
 * A leader without other threads is a complete zombie: it moves to the end of its parent's list of zombies, and its
 * parent is told. True when the parent does not want to wait for it. A debugger that is not the parent comes first: the
 * parent sees no zombie until that one has waited for it, or has let it go. [T]
 */
bool announce_zombie(struct task_struct *leader)
{
	wake_up_all(&leader->signal->pidfd_wait);
	if (debugged_by_other(leader))
		return do_notify_parent(leader, SIGCHLD);
	list_move_tail(&leader->sibling, &leader->parent->zombies);
	return do_notify_parent(leader, exit_signal_of(leader));
}

/*
 * Become a zombie, or go at once (EXIT_DEAD) when no parent waits. `last`: the process ends with this thread. The
 * children go to their new parent before the exit is announced, so whoever learns of the end finds no child of the
 * dead process. Tasks to be released are collected and released after the lock, because release_task() takes it
 * itself.
 */
static void exit_notify(struct task_struct *t, bool last)
{
	struct task_struct *leader = t->group_leader, *p, *next;
	bool autoreap = true;
	LIST_HEAD(dead);

	spin_lock_irq(&tasklist_lock);
	if (unlikely(!list_empty(&t->ptraced)))
		debugger()->exit_tracer(t, &dead);
	if (last) {
		reparent_children(leader, &dead);
		kill_orphaned_pgrp(leader, NULL);
	} else {
		leave_children(t);
	}
	t->exit_state = EXIT_ZOMBIE;
	if (t == leader) {
		/* With threads left, the last of them tells the parent, in release_task. */
		autoreap = thread_group_empty(t) && announce_zombie(t);
		wake_group_exec(t->signal);
	} else if (t->ptrace) {
		autoreap = do_notify_parent(t, SIGCHLD); /* a debugger waits for single threads, too */
	}
	if (autoreap)
		t->exit_state = EXIT_DEAD;
	spin_unlock_irq(&tasklist_lock);
	list_for_each_entry_safe(p, next, &dead, sibling)
		release_task(p);
	if (autoreap)
		release_task(t);
}

/*
 * Take p off all lists and add what it has used to its process, where the figures of dead threads live. The CPU times
 * are added as they were last shown to users (task_cputime_adjusted), since the sum must never step back. [T, S]
 */
static void unlink_task(struct task_struct *p)
{
	struct signal_struct *sig = p->signal;
	u64 utime, stime;

	task_cputime_adjusted(p, &utime, &stime);
	sig->utime += utime;
	sig->stime += stime;
	sig->nvcsw += p->nvcsw;
	sig->nivcsw += p->nivcsw;
	sig->min_flt += p->min_flt;
	task_io_add(&sig->io, &p->io);
	sig->nr_threads--;
	detach_pid(p);
	if (thread_group_leader(p))
		list_del_init(&p->tasks);
	list_del_init(&p->sibling); /* of a thread: it may be in exit_notify()'s list */
	list_del_init(&p->thread_group);
	/*
	 * Pending signals count for the user: they are freed now, while the struct may stay as long as it is
	 * referenced.
	 */
	flush_sigqueue(&p->pending);
	if (!sig->nr_threads)
		flush_sigqueue(&sig->shared_pending);
	leave_groups(p);
	count_tasks(thread_group_leader(p) ? -1 : 0, -1);
	atomic_dec(&p->user->processes); /* a task that has ended does not change its user */
	wake_group_exec(sig);
}

/*
 * Called exactly once for each task, by whoever set EXIT_DEAD. When p is the last thread of a process whose leader is
 * a zombie already, the leader has had to wait for this moment: the parent is told now, and if it does not want to
 * wait, the loop releases the leader as well.
 */
void release_task(struct task_struct *p)
{
	struct task_struct *leader;

	while (p) {
		leader = p->group_leader;
		trace_sched_process_free(p); /* while no other task can have its number: filters go by it */
		spin_lock_irq(&tasklist_lock);
		if (p->ptrace)
			debugger()->unlink(p);
		spin_lock(&p->sighand->siglock); /* no exec exchanges it any more: the sighand is p's for good */
		unlink_task(p);
		spin_unlock(&p->sighand->siglock);
		if (p == leader || !thread_group_empty(leader) || leader->exit_state != EXIT_ZOMBIE ||
		    !announce_zombie(leader))
			leader = NULL;
		else
			leader->exit_state = EXIT_DEAD;
		spin_unlock_irq(&tasklist_lock);
		put_task_struct(p);
		p = leader;
	}
}

/*
 * The task faulted while it was exiting. Giving things back a second time would corrupt them, so the task keeps what
 * it has and sleeps for ever.
 */
static void __noreturn stuck_exit(void)
{
	pr_emerg("Fixing recursive fault but reboot is needed!\n");
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule();
	}
}

/*
 * The order matters. Signals come first, so that no sender chooses this thread for one any more. The memory goes
 * early, because mm_release() still writes to it and may fault and sleep. exit_notify() comes last: after it the parent
 * may reap us at any moment, and only the scheduler's reference keeps the struct and this stack.
 */
void do_exit(long code)
{
	struct task_struct *t = current;
	bool last;

	if (in_interrupt())
		panic("Aiee, killing interrupt handler!");
	if (is_idle_task(t))
		panic("Attempted to kill the idle task!");
	if (t->flags & PF_EXITING)
		stuck_exit();
	if (unlikely(t->ptrace))
		debugger()->event(PTRACE_EVENT_EXIT, code);
	last = exit_signals(t, code);
	t->exit_code = code;
	if (last)
		exit_process(t->signal->group_exit_code);
	exit_mm();
	trace_sched_process_exit(t);
	exit_files(t);
	exit_fs(t);
	sched_exit(t);
	exit_notify(t, last);
	do_task_dead();
}

DECLARE_TABLE(oops_exits, const struct oops_exit);

/*
 * An oops in an interrupt or in the idle task cannot be survived. Elsewhere the state that do_exit() needs is
 * restored by force: interrupts on, and nothing that forbids sleeping. Then rooms take back what the task holds.
 */
void make_task_dead(int signr)
{
	const struct oops_exit *e;
	struct task_struct *t = current;

	if (in_interrupt())
		panic("Aiee, killing interrupt handler!");
	if (is_idle_task(t))
		panic("Attempted to kill the idle task!");
	if (irqs_disabled()) {
		pr_info("note: %s[%d] exited with irqs disabled\n", t->comm, t->pid);
		local_irq_enable();
	}
	if (preempt_count()) {
		/*
		 * A spinlock that the task holds stays locked for ever. If no other task needs that lock, the machine
		 * survives; a panic would give it no chance.
		 */
		pr_info("note: %s[%d] exited with preempt_count %u\n", t->comm, t->pid, preempt_count());
		preempt_count_sub(preempt_count());
	}
	for_each_in_table(oops_exits, e)
		e->died();
	do_exit(signr);
}

/*
 * The first thread that comes here decides the code with which the process ends, and makes all others exit
 * (zap_other_threads). During an exec of another thread only this thread ends: the process lives on as the new
 * program.
 */
void do_group_exit(int code)
{
	struct signal_struct *sig = current->signal;
	struct sighand_struct *sighand;
	unsigned long flags;

	sighand = lock_task_sighand(current, &flags);
	if (sig->group_exit) {
		code = sig->group_exit_code; /* the first one says how it ends */
	} else if (!sig->group_exec) {
		sig->group_exit = 1;
		sig->group_exit_code = code;
		zap_other_threads(current);
	} /* else: another thread execs and wants us gone, but the process lives */
	unlock_task_sighand(sighand, flags);
	do_exit(code);
}

SYSCALL_DEFINE1(exit, int, error_code)
{
	do_exit((error_code & 0xff) << 8);
}

SYSCALL_DEFINE1(exit_group, int, error_code)
{
	do_group_exit((error_code & 0xff) << 8);
}
