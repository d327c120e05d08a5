/* Making a task: a copy of the one that asks, sharing what the flags say. */
#include <arch/thread.h>
#include <fs/vfs.h>
#include <kernel/panic.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <proc/cred.h>
#include <proc/fork.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <proc/task_alloc.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <sched/wait.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <trace/events/task.h>
#include <trace/fgraph.h>

DEFINE_SPINLOCK(tasklist_lock);
/* Marks fork_idle's tasks as kernel threads; they start in secondary_start_kernel instead. */
static int idle_task_fn(void *unused)
{
	return 0;
}

struct task_struct *child_reaper;	     /* [tasklist_lock] */
static unsigned process_count, thread_count; /* [tasklist_lock] */
static u64 fork_count;			     /* [tasklist_lock] */

unsigned nr_processes(void)
{
	return READ_ONCE(process_count);
}

unsigned nr_threads(void)
{
	return READ_ONCE(thread_count);
}

u64 total_forks(void)
{
	return READ_ONCE(fork_count);
}

void count_tasks(int processes, int threads)
{
	WRITE_ONCE(process_count, process_count + processes);
	WRITE_ONCE(thread_count, thread_count + threads);
}

/* Threads need one process to be in; that needs one set of handlers; and those are code in one address space. */
static int check_flags(const struct kernel_clone_args *args)
{
	u64 flags = args->flags;

	if ((flags & CLONE_THREAD) && !(flags & CLONE_SIGHAND))
		return -EINVAL;
	if ((flags & CLONE_SIGHAND) && (!(flags & CLONE_VM) || (flags & CLONE_CLEAR_SIGHAND)))
		return -EINVAL;
	/* init reaps orphans: no sibling of it may become one, nor a thread of another process be its
	 * child. */
	if ((flags & CLONE_PARENT) && current->signal->unkillable)
		return -EINVAL;
	if (args->exit_signal < 0 || args->exit_signal > NSIG)
		return -EINVAL;
	return 0;
}

/* Fields that start from nothing. The child is nobody's yet, so no lock. */
static void reset_task(struct task_struct *p, const struct kernel_clone_args *args)
{
	clear_tsk_thread_flag(p, TIF_SIGPENDING);
	clear_tsk_thread_flag(p, TIF_NEED_RESCHED);
	clear_tsk_thread_flag(p, TIF_NOTIFY_RESUME);
	p->flags &= ~(PF_IDLE | PF_WQ_WORKER | PF_SIGNALED | PF_EXITING | PF_NO_SETAFFINITY);
	p->flags |= PF_FORKNOEXEC;
	if (args->fn)
		p->flags |= PF_KTHREAD;
	p->on_cpu = 0;
	p->on_rq = 0;
	p->utime = p->stime = 0;
	p->io = (struct task_io){0};
	p->nvcsw = p->nivcsw = 0;
	p->min_flt = 0;
	p->start_time = sched_clock();
	spin_lock_init(&p->pi_lock);
	INIT_LIST_HEAD(&p->children);
	INIT_LIST_HEAD(&p->zombies);
	INIT_LIST_HEAD(&p->sibling);
	INIT_LIST_HEAD(&p->tasks);
	INIT_LIST_HEAD(&p->thread_group);
	p->pid_node.pprev = NULL;
	INIT_LIST_HEAD(&p->pending.list);
	p->pending.signal = 0;
	p->comm_noted = 0;
	p->exit_state = 0;
	p->exit_code = 0;
	p->clear_child_tid = NULL;
	p->robust_list = NULL;
	p->pdeath_signal = 0;
	p->vfork_done = NULL;
	p->restore_sigmask = false;
	p->real_blocked = 0;
	p->restart_fn = NULL;
	p->kthread_data = NULL;
}

/* The copy_* functions find in the child what its model has (usually current), and put there what the child
 * gets. */
static int copy_files(u64 flags, struct task_struct *p)
{
	if (!p->files)
		return 0;
	if (flags & CLONE_FILES) {
		get_files_struct(p->files);
		return 0;
	}
	p->files = dup_fd(p->files);
	return p->files ? 0 : -ENOMEM;
}

/*
 * Root, current directory and umask: shared, or a copy. A shared one is counted; a change by one process is then the
 * other's as well. 0 or -ENOMEM.
 */
static int copy_fs(u64 flags, struct task_struct *p)
{
	if (flags & CLONE_FS) {
		atomic_inc(&p->fs->users);
		return 0;
	}
	p->fs = copy_fs_struct(p->fs);
	return p->fs ? 0 : -ENOMEM;
}

/* What each signal does: shared with CLONE_SIGHAND, which threads must use, else a copy. 0 or -ENOMEM. */
static int copy_sighand(u64 flags, struct task_struct *p)
{
	struct sighand_struct *old = p->sighand;

	if (flags & CLONE_SIGHAND) {
		atomic_inc(&old->count);
		return 0;
	}
	p->sighand = alloc_sighand();
	if (!p->sighand)
		return -ENOMEM;
	atomic_set(&p->sighand->count, 1);
	spin_lock_init(&p->sighand->siglock);
	/* Another thread may be changing a handler: its struct is copied before or after, not half. */
	spin_lock_irq(&old->siglock);
	memcpy(p->sighand->action, old->action, sizeof(old->action));
	spin_unlock_irq(&old->siglock);
	if (flags & CLONE_CLEAR_SIGHAND)
		flush_signal_handlers(p);
	return 0;
}

/*
 * What all threads of a process have in common. A thread uses its process's; a new process begins with its parent's
 * limits and points for the OOM killer, and with no pending signal, timer or group. 0 or -ENOMEM.
 */
static int copy_signal(u64 flags, struct task_struct *p)
{
	struct signal_struct *old = p->signal, *sig;

	if (flags & CLONE_THREAD)
		return 0; /* counted when it joins the group: that may still be refused */
	sig = alloc_signal();
	if (!sig)
		return -ENOMEM;
	atomic_set(&sig->sigcnt, 1);
	INIT_LIST_HEAD(&sig->shared_pending.list);
	init_waitqueue_head(&sig->wait_chldexit);
	sig->nr_threads = sig->live = 1;
	sig->leader = p;
	for (unsigned type = 0; type < NR_PID_TYPES; type++)
		INIT_LIST_HEAD(&sig->group_node[type]); /* a kernel thread stays in none */
	hrtimer_init(&sig->real_timer, it_real_fn);
	memcpy(sig->rlim, old->rlim, sizeof(sig->rlim));
	sig->oom_score_adj = READ_ONCE(old->oom_score_adj);
	sig->oom_score_adj_min = READ_ONCE(old->oom_score_adj_min);
	p->signal = sig;
	return 0;
}

/*
 * The address space: shared with CLONE_VM, else a copy whose pages are shared until one of the two writes (dup_mm).
 * Thread context; 0 or -ENOMEM.
 */
static int copy_mm(u64 flags, struct task_struct *p)
{
	p->active_mm = NULL;
	if (!p->mm)
		return 0; /* a kernel thread: it borrows whatever is there when it runs */
	if (flags & CLONE_VM) {
		mmget(p->mm);
	} else {
		p->mm = dup_mm(current->mm);
		if (!p->mm)
			return -ENOMEM;
	}
	p->active_mm = p->mm;
	return 0;
}

/* What a kernel thread starts with, whoever asked for it: nothing of a user's process. */
static void detach_from_user(struct task_struct *p)
{
	p->mm = NULL;
	p->fs = init_task.fs;
	p->files = init_task.files;
	p->signal = init_task.signal;
	p->sighand = init_task.sighand;
	p->uid = p->euid = p->suid = p->fsuid = 0;
	p->gid = p->egid = p->sgid = p->fsgid = 0;
	p->no_new_privs = false;
	put_groups(p->groups);
	p->groups = NULL;
	put_user_struct(p->user);
	p->user = &root_user;
	atomic_inc(&root_user.refs);
	p->blocked = 0;
	p->sas_ss_sp = p->sas_ss_size = 0;
}

/*
 * Count the child for its user, and look at the limits of that and of the machine. As on Linux RLIMIT_NPROC does not
 * bind root; threads-max does.
 */
static int count_for_user(struct task_struct *p)
{
	p->flags &= ~PF_NPROC_EXCEEDED;
	atomic_inc(&p->user->processes);
	if (nr_threads() >= READ_ONCE(max_threads) || (!(p->flags & PF_KTHREAD) && nproc_exceeded(p->user))) {
		atomic_dec(&p->user->processes);
		return -EAGAIN;
	}
	current->flags &= ~PF_NPROC_EXCEEDED;
	return 0;
}

/* What new_task() gave it. */
static void free_new_task(struct task_struct *p)
{
	put_groups(p->groups);
	put_user_struct(p->user);
	free_task(p);
}

/* Group, parent and signals of a new process; of a new thread its place in the process. [T, S] */
static void join_families(struct task_struct *p, const struct kernel_clone_args *args)
{
	if (args->flags & CLONE_THREAD) {
		p->tgid = current->tgid;
		p->group_leader = current->group_leader;
		p->exit_signal = -1;
		p->parent = current->group_leader;
		atomic_inc(&p->signal->sigcnt);
		p->signal->nr_threads++;
		p->signal->live++;
		list_add_tail(&p->thread_group, &p->group_leader->thread_group);
		/* A stop that is under way is for us, too. */
		if (p->signal->stopped)
			set_tsk_thread_flag(p, TIF_SIGPENDING);
		return;
	}
	p->tgid = p->pid;
	p->group_leader = p;
	p->exit_signal = args->exit_signal;
	/* Children are the process's, not the thread's: ->parent is always a group leader. */
	if (args->fn) {
		p->parent = current->flags & PF_KTHREAD ? current : &init_task;
	} else if (args->flags & CLONE_PARENT) {
		p->parent = current->group_leader->parent; /* parent_exec_id is current's, too */
		p->exit_signal = current->group_leader->exit_signal;
	} else {
		p->parent = current->group_leader;
		p->parent_exec_id = current->self_exec_id;
	}
	if (p->pid == 1) {
		child_reaper = p;
		p->signal->unkillable = true;
	}
	if (!args->fn) {
		join_groups(p->signal, current->signal->pgrp, current->signal->session);
		p->signal->tty = current->signal->tty;
	}
	list_add_tail(&p->sibling, &p->parent->children);
	list_add_tail(&p->tasks, &init_tasks);
}

/*
 * Make the child visible, all at once. Signals to a process or a group walk these lists under the same locks:
 * one that came before hits the parent, which then starts over (and maybe dies) before there is a child; one
 * that comes later hits both. So `kill -9 -pgrp` leaves no child behind, and no thread joins a process that
 * has begun to exit or exec.
 */
static int publish_task(struct task_struct *p, const struct kernel_clone_args *args)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&tasklist_lock, flags);
	spin_lock(&current->sighand->siglock);
	recalc_sigpending();
	if (!args->fn &&
	    (signal_pending(current) || ((args->flags & CLONE_THREAD) && signal_group_exit(current->signal)))) {
		err = -ERESTARTNOINTR;
		goto unlock;
	}
	join_families(p, args);
	attach_pid(p);
	count_tasks(!(args->flags & CLONE_THREAD), 1);
	fork_count++;
	if (!(args->flags & CLONE_THREAD))
		p->signal->birth = fork_count;
unlock:
	spin_unlock(&current->sighand->siglock);
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return err;
}

/* What the child shares with its model or gets a copy of. All or nothing. */
static int copy_parts(u64 flags, struct task_struct *p)
{
	int err = copy_files(flags, p);

	if (err)
		return err;
	err = copy_fs(flags, p);
	if (err)
		goto put_files;
	err = copy_sighand(flags, p);
	if (err)
		goto put_fs;
	err = copy_signal(flags, p);
	if (err)
		goto put_sighand;
	err = copy_mm(flags, p);
	if (err)
		goto put_signal;
	return 0;

put_signal:
	if (!(flags & CLONE_THREAD))
		put_signal(p->signal);
put_sighand:
	put_sighand(p->sighand);
put_fs:
	put_fs_struct(p->fs);
put_files:
	if (p->files)
		put_files_struct(p->files);
	return err;
}

/* Give back what copy_parts() gave p, in the opposite order: for a fork that fails later on. */
static void put_parts(u64 flags, struct task_struct *p)
{
	if (p->mm)
		mmput(p->mm);
	if (!(flags & CLONE_THREAD))
		put_signal(p->signal);
	put_sighand(p->sighand);
	put_fs_struct(p->fs);
	if (p->files)
		put_files_struct(p->files);
}

/* The child's struct, its fields the model's or empty; nothing that would have to be given back but groups. */
static struct task_struct *new_task(const struct kernel_clone_args *args)
{
	struct task_struct *p = dup_task_struct(current);

	if (!p)
		return NULL;
	reset_task(p, args);
	get_groups(p->groups);
	atomic_inc(&p->user->refs);
	if (args->fn)
		detach_from_user(p);
	if ((args->flags & (CLONE_VM | CLONE_VFORK)) == CLONE_VM) /* else both would use one alternate stack at once */
		p->sas_ss_sp = p->sas_ss_size = 0;
	if (args->flags & CLONE_CHILD_CLEARTID)
		p->clear_child_tid = (u32 *)args->child_tid;
	return p;
}

/*
 * A new task, complete and known by its number, that nobody has woken yet. Each step that can fail has its label
 * below, which undoes the steps before it. The last such step is publish_task(): after it the child can be found,
 * signalled and waited for. Thread context; the task, or an ERR_PTR (-EINVAL, -ENOMEM, -EAGAIN for limits,
 * -ERESTARTNOINTR for a signal that came first).
 */
struct task_struct *copy_process(struct kernel_clone_args *args)
{
	u64 flags = args->flags | (args->fn ? CLONE_FS : 0);
	struct task_struct *p;
	int err = check_flags(args);

	if (err)
		return ERR_PTR(err);
	p = new_task(args);
	if (!p)
		return ERR_PTR(-ENOMEM);
	err = count_for_user(p);
	if (err)
		goto free_task;
	err = sched_fork(p, flags);
	if (err)
		goto uncount;
	err = copy_parts(flags, p);
	if (err)
		goto uncount;
	err = arch_copy_thread(p, args, args->stack, args->tls);
	if (err)
		goto put_parts;
	err = alloc_pid(p);
	if (err < 0)
		goto put_parts;
	err = publish_task(p, args);
	if (err)
		goto free_pid;
	fgraph_init_task(p);
	trace_task_newtask(p, args->flags);
	return p;

free_pid:
	free_pid(p->pid);
put_parts:
	put_parts(flags, p);
uncount:
	atomic_dec(&p->user->processes);
free_task:
	free_new_task(p);
	return ERR_PTR(err);
}

/* Idle tasks are on no list and have no number: built like a kernel thread, started by its CPU's first
 * instruction. */
struct task_struct *fork_idle(int cpu)
{
	struct kernel_clone_args args = {.flags = CLONE_VM | CLONE_FS, .fn = idle_task_fn};
	struct task_struct *p = new_task(&args);
	int err;

	if (!p)
		return ERR_PTR(-ENOMEM);
	p->flags |= PF_IDLE;
	p->pid = p->tgid = 0;
	p->group_leader = p;
	p->parent = &init_task;
	scnprintf(p->comm, sizeof(p->comm), "swapper/%d", cpu);
	err = sched_fork(p, args.flags);
	if (!err)
		err = copy_parts(args.flags, p);
	if (err)
		goto free_task;
	init_idle(p, cpu);
	fgraph_init_task(p);
	return p;

free_task:
	free_new_task(p);
	return ERR_PTR(err);
}
