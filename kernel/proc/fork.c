/*
 * Making a task. A new task starts as a copy of the one that asks for it (its model); the flags of clone(2) say which
 * parts the two share from then on and which parts the child gets as copies of its own.
 *
 * copy_process() builds the child step by step while no other task can see it, so these steps need no lock against
 * others. Only publish_task() makes it visible: under tasklist_lock and the siglock it gets its place in its family,
 * its process and the hash of numbers, all at once. Everything that can fail comes before that, and each failure undoes
 * the steps before it. The copying allocates memory and may sleep; all of it runs in thread context.
 */
#include <arch/thread.h>
#include <fs/vfs.h>
#include <kernel/panic.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <proc/cred.h>
#include <proc/debugger.h>
#include <proc/fork.h>
#include <proc/pidfd.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <proc/task_alloc.h>
#include <proc/task_part.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <sched/wait.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <trace/events/task.h>
#include <trace/fgraph.h>

/* The lock of all family relations. <proc/fork.h> says what it protects and where it stands in the order of locks. */
DEFINE_SPINLOCK(tasklist_lock);
struct task_struct *child_reaper; /* [tasklist_lock] */
static u64 fork_count;		  /* [tasklist_lock] */

u64 total_forks(void)
{
	return READ_ONCE(fork_count);
}

/*
 * Refuse combinations of flags that make no sense. The threads of a process share their handlers, so CLONE_THREAD
 * needs CLONE_SIGHAND; handlers are addresses of code, so whoever shares them must share the memory (CLONE_VM). Linux
 * has the same rules. Returns 0 or -EINVAL.
 */
static int clone_check_flags(const struct kernel_clone_args *args)
{
	u64 flags = args->flags;

	if ((flags & CLONE_THREAD) && !(flags & CLONE_SIGHAND))
		return -EINVAL;
	if ((flags & CLONE_SIGHAND) && (!(flags & CLONE_VM) || (flags & CLONE_CLEAR_SIGHAND)))
		return -EINVAL;
	if ((flags & CLONE_PIDFD) && (!pidfd_ops() || (flags & (CLONE_THREAD | CLONE_DETACHED))))
		return -EINVAL; /* a pidfd is a process's */
	/* A sibling of init would be a child of the idle task, which never waits, so it would never be reaped. */
	if ((flags & CLONE_PARENT) && current->signal->unkillable)
		return -EINVAL;
	if (args->exit_signal < 0 || args->exit_signal > NSIG)
		return -EINVAL;
	return 0;
}

/* A child begins without a debugger, and without what that one has set in its debug registers. As reset_task(). */
static void reset_debugger(struct task_struct *p)
{
	p->ptrace = 0;
	p->tracer = NULL;
	p->ptrace_code = 0;
	p->ptrace_info = NULL;
	INIT_LIST_HEAD(&p->ptraced);
	INIT_LIST_HEAD(&p->ptrace_entry);
	clear_tsk_thread_flag(p, TIF_SYSCALL_TRACE);
	arch_reset_thread(p);
}

/*
 * Set the fields that a child does not inherit: what the model has used, what waits for the model, and all list
 * heads, which would otherwise be copies that point into the model's lists. The scheduler's fields are sched_fork()'s.
 * No other task can find the child yet, so there is no lock.
 */
static void reset_task(struct task_struct *p, const struct kernel_clone_args *args)
{
	clear_tsk_thread_flag(p, TIF_SIGPENDING);
	clear_tsk_thread_flag(p, TIF_NOTIFY_RESUME);
	p->flags &= ~(PF_IDLE | PF_WQ_WORKER | PF_SIGNALED | PF_EXITING | PF_AWAITS_CHILDREN);
	p->flags |= PF_FORKNOEXEC;
	if (args->fn)
		p->flags |= PF_KTHREAD;
	p->io = (struct task_io){0};
	p->min_flt = 0;
	p->start_time = sched_clock();
	INIT_LIST_HEAD(&p->children);
	INIT_LIST_HEAD(&p->zombies);
	INIT_LIST_HEAD(&p->sibling);
	INIT_LIST_HEAD(&p->tasks);
	INIT_LIST_HEAD(&p->thread_group);
	p->pid_node.pprev = NULL;
	INIT_LIST_HEAD(&p->pending.list);
	p->pending.signal = 0;
	p->jobctl = 0;
	reset_debugger(p);
	p->comm_noted = 0;
	p->exit_state = 0;
	p->exit_code = 0;
	p->clear_child_tid = NULL;
	p->pdeath_signal = 0;
	p->vfork_done = NULL;
	p->restore_sigmask = false;
	p->real_blocked = 0;
	p->restart_fn = NULL;
	p->kthread_data = NULL;
	p->fail_nth = 0;
	p->default_timer_slack_ns = p->timer_slack_ns;
}

/*
 * The copy_* functions start from a child that is a plain copy: its pointers still lead to the model's structures,
 * without references of the child's own. Each function takes a reference for what is shared, or replaces the pointer
 * by a copy. A kernel thread's model is init_task (detach_from_user), for anything else it is current.
 *
 * This one does so for the table of open files. Returns 0 or an errno of dup_fd().
 */
static int copy_files(u64 flags, struct task_struct *p)
{
	struct files_struct *files;

	if (!p->files)
		return 0;
	if (flags & CLONE_FILES) {
		get_files_struct(p->files);
		return 0;
	}
	files = dup_fd(p->files, NULL);
	if (IS_ERR(files))
		return PTR_ERR(files);
	p->files = files;
	return 0;
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

/*
 * The actions of all signals: shared with CLONE_SIGHAND, as threads must do, else a copy. CLONE_CLEAR_SIGHAND resets
 * the handlers in the copy, so that the child cannot run one of the parent's handlers by accident. Returns 0 or
 * -ENOMEM.
 */
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
 * What all threads of a process have in common. A thread uses the signal_struct of its process. A new process gets
 * one with its parent's limits and OOM points, and with no pending signal, no timer and no group yet. Returns 0 or
 * -ENOMEM.
 */
static int copy_signal(u64 flags, struct task_struct *p)
{
	struct signal_struct *old = p->signal, *sig;

	if (flags & CLONE_THREAD)
		return 0; /* join_families() takes the reference: until then the fork may fail */
	sig = alloc_signal();
	if (!sig)
		return -ENOMEM;
	atomic_set(&sig->sigcnt, 1);
	INIT_LIST_HEAD(&sig->shared_pending.list);
	init_waitqueue_head(&sig->wait_chldexit);
	init_waitqueue_head(&sig->pidfd_wait);
	mutex_init(&sig->exec_guard);
	sig->nr_threads = sig->live = 1;
	sig->leader = p;
	for (unsigned type = 0; type < NR_PID_TYPES; type++)
		INIT_LIST_HEAD(&sig->group_node[type]); /* a kernel thread joins no group */
	hrtimer_init(&sig->real_timer, it_real_fn);
	INIT_LIST_HEAD(&sig->posix_timers);
	sig->cpu_timers_due = KTIME_MAX;
	spin_lock_irq(&current->sighand->siglock);
	memcpy(sig->rlim, old->rlim, sizeof(sig->rlim));
	spin_unlock_irq(&current->sighand->siglock);
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
		return 0; /* a kernel thread borrows the address space that its CPU has loaded when it runs */
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

/*
 * A kernel thread may be asked for in the middle of a user's system call, for example by a driver. It must not hold
 * that user's files, memory or rights, so its model becomes init_task: root, no address space, nothing blocked. The
 * references that new_task() took for groups and user are exchanged as well.
 */
static void detach_from_user(struct task_struct *p)
{
	p->mm = NULL;
	p->fs = init_task.fs;
	p->files = init_task.files;
	p->signal = init_task.signal;
	p->sighand = init_task.sighand;
	p->uid = p->euid = p->suid = p->fsuid = 0;
	p->gid = p->egid = p->sgid = p->fsgid = 0;
	p->caps = init_task.caps;
	p->no_new_privs = false;
	p->make_it_fail = false;
	put_groups(p->groups);
	p->groups = NULL;
	put_user_struct(p->user);
	p->user = &root_user;
	atomic_inc(&root_user.refs);
	p->blocked = 0;
	p->sas_ss_sp = p->sas_ss_size = 0;
}

/*
 * Count the child for its user, then compare with the limits. Counting comes first, so that two forks at the same
 * time cannot both find the last free place. As on Linux RLIMIT_NPROC does not bind root; threads-max binds
 * everybody. Returns 0, or -EAGAIN with the count taken back.
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

/* Undo new_task(): the references to groups and user, then the struct and the stack. */
static void free_new_task(struct task_struct *p)
{
	put_groups(p->groups);
	put_user_struct(p->user);
	free_task(p);
}

/*
 * Give the child its place among others. A thread joins the process of current: the leader's thread list, one more
 * live thread. A new process gets a parent, its parent's group and session, and its place in the list of all
 * processes. [T, S]
 */
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
		/* The process is being stopped: the new thread must stop with it, so it looks before user mode. */
		if (p->signal->stopped) {
			want_group_stop(p);
			set_tsk_thread_flag(p, TIF_SIGPENDING);
		}
		return;
	}
	p->parent_tid = current->pid;
	p->tgid = p->pid;
	p->group_leader = p;
	p->exit_signal = args->exit_signal;
	/* A child belongs to the whole process of its parent, so ->parent is always a group leader. */
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
 * A signal that is pending comes before a fork: -ERESTARTNOINTR. A sender to many queues the signal under siglock and
 * counts it then: so the signal is seen here, or the count differs from *many later (must_begin_again).
 */
static int take_signals_first(u32 *many)
{
	int err;

	spin_lock_irq(&current->sighand->siglock);
	*many = READ_ONCE(current->signal->sent_to_many);
	recalc_sigpending();
	err = signal_pending(current) ? -ERESTARTNOINTR : 0;
	spin_unlock_irq(&current->sighand->siglock);
	return err;
}

/*
 * Has a signal come since that the child ought to have got as well, or of which the parent dies? Any other signal waits
 * for the end of the fork: one that a timer sends faster than a large process can be copied must not keep it from that.
 * No thread joins a process that has begun to exit or to exec. [T, S]
 */
static bool must_begin_again(u64 flags, u32 many)
{
	if ((flags & CLONE_THREAD) && signal_group_exit(current->signal))
		return true;
	recalc_sigpending();
	return signal_pending(current) && (current->signal->sent_to_many != many || fatal_signal_pending(current));
}

/*
 * Make the child visible, all at once. A signal to a process or to a group walks these lists under the same locks, so
 * it comes either before this or after it. If it came before, to the group or to kill the parent, the fork fails with
 * -ERESTARTNOINTR: the parent takes the signal first, perhaps dies of it, and otherwise forks again. If it comes
 * after, it finds parent and child. So `kill -9 -pgrp` leaves no child behind. Kernel threads take no signals.
 */
static int publish_task(struct task_struct *p, const struct kernel_clone_args *args, u32 many)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&tasklist_lock, flags);
	spin_lock(&current->sighand->siglock);
	if (!args->fn && must_begin_again(args->flags, many)) {
		err = -ERESTARTNOINTR;
		goto unlock;
	}
	join_families(p, args);
	if (unlikely(current->ptrace) && !args->fn && (args->flags & CLONE_PTRACE || args->ptrace_event))
		debugger()->fork(p);
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

/*
 * Fill the child with everything that it shares or copies. All or nothing: on failure the parts that were already
 * taken are given back in the opposite order. Returns 0 or -errno. May sleep.
 */
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
	err = task_parts_fork(p, flags);
	if (err)
		goto put_mm;
	return 0;

put_mm:
	if (p->mm)
		mmput(p->mm);
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
	task_parts_release(p);
	if (p->mm)
		mmput(p->mm);
	if (!(flags & CLONE_THREAD))
		put_signal(p->signal);
	put_sighand(p->sighand);
	put_fs_struct(p->fs);
	if (p->files)
		put_files_struct(p->files);
}

/*
 * The child's struct and stack. Its fields are the model's or empty, and the only references that it holds are those
 * to groups and user (free_new_task). NULL: no memory.
 */
static struct task_struct *new_task(const struct kernel_clone_args *args)
{
	struct task_struct *p = dup_task_struct(current);

	if (!p)
		return NULL;
	reset_task(p, args);
	if (args->name)
		strscpy_pad(p->comm, args->name, sizeof(p->comm));
	get_groups(p->groups);
	atomic_inc(&p->user->refs);
	if (args->fn)
		detach_from_user(p);
	/* Two tasks in one memory must not run handlers on one stack. */
	if ((args->flags & (CLONE_VM | CLONE_VFORK)) == CLONE_VM)
		p->sas_ss_sp = p->sas_ss_size = 0;
	if (args->flags & CLONE_CHILD_CLEARTID)
		p->clear_child_tid = (u32 *)args->child_tid;
	return p;
}

static void pidfd_install(const struct reserved_pidfd *r)
{
	if (r->file)
		fd_install(r->fd, r->file);
}

static void pidfd_give_up(const struct reserved_pidfd *r)
{
	if (r->file) {
		fput(r->file);
		put_unused_fd(r->fd);
	}
}

/*
 * Each step that can fail has its label below, which undoes the steps before it. The last such step is
 * publish_task(): after it the child can be found, signalled and waited for, so there is no way back.
 */
struct task_struct *copy_process(struct kernel_clone_args *args)
{
	u64 flags = args->flags | (args->fn ? CLONE_FS : 0);
	struct reserved_pidfd pidfd = {NULL, -1};
	struct task_struct *p;
	int err = clone_check_flags(args);
	u32 many = 0;

	if (!err && !args->fn)
		err = take_signals_first(&many);
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
	err = args->flags & CLONE_PIDFD ? pidfd_ops()->reserve(p->signal, args->pidfd, &pidfd) : 0;
	if (err)
		goto free_pid;
	err = publish_task(p, args, many);
	if (err)
		goto free_pidfd;
	pidfd_install(&pidfd);
	fgraph_init_task(p);
	trace_task_newtask(p, args->flags);
	return p;

free_pidfd:
	pidfd_give_up(&pidfd);
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

/*
 * fork_idle() passes this as the function of its tasks, because a task with a function is a kernel thread. It never
 * runs: a secondary CPU begins with its idle task in secondary_start_kernel().
 */
static int idle_task_fn(void *unused)
{
	return 0;
}

/*
 * Idle tasks are on no list and have no number, so publish_task() has nothing to do for them. This is copy_process()
 * without it: the task is built like a kernel thread, and its CPU starts running it with its first instruction.
 */
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
	trace_task_newtask(p, args.flags);
	return p;

free_task:
	free_new_task(p);
	return ERR_PTR(err);
}
