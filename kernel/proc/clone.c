/*
 * The system calls that make tasks: clone, clone3 and set_tid_address, and kernel_clone(), which they share with
 * kernel threads. copy_process() (fork.c) makes the task; here are the checks of the arguments, the numbers that are
 * written to user memory, and vfork's wait. Thread context; user memory is written, so all of it may sleep.
 */
#include <asm/syscall_abi.h>
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <mm/mm.h>
#include <proc/debugger.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <sched/wait.h>
#include <trace/events/sched.h>

/*
 * The flags that clone(2) accepts. CLONE_SYSVSEM and CLONE_DETACHED are accepted, as programs pass them, and change
 * nothing: there are no System V semaphores here, and Linux ignores CLONE_DETACHED as well.
 */
#define CLONE_KNOWN                                                                                      \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_VFORK | CLONE_PARENT | CLONE_THREAD | \
	 CLONE_PTRACE | CLONE_UNTRACED | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID |     \
	 CLONE_CHILD_SETTID | CLONE_SYSVSEM | CLONE_DETACHED | CLONE_PIDFD)

/*
 * Write the child's number to an address in the child's memory. A child with memory of its own has not run yet, so
 * the write goes through access_process_vm() and makes the child's private copy of one page, which the child is about
 * to write to in any case.
 */
static void set_child_tid(struct task_struct *p, const struct kernel_clone_args *args)
{
	pid_t tid = p->pid;

	/* As in Linux a bad address is no error of the parent's call: the child finds nothing there. */
	if (args->flags & CLONE_VM)
		put_user(tid, args->child_tid);
	else
		access_process_vm(p, (unsigned long)args->child_tid, &tid, sizeof(tid), FAULT_FLAG_WRITE);
}

/* The event that a debugger is to see for this new task, if it has asked for it. */
static unsigned ptrace_event_of(const struct kernel_clone_args *args)
{
	unsigned event = PTRACE_EVENT_FORK;

	if (args->flags & CLONE_UNTRACED)
		return 0;
	if (args->flags & CLONE_VFORK)
		event = PTRACE_EVENT_VFORK;
	else if (args->exit_signal != SIGCHLD)
		event = PTRACE_EVENT_CLONE;
	return debugger_wants(event) ? event : 0;
}

/*
 * vfork: wait until the child has another address space or has ended, because until then it runs in the parent's
 * memory and on the parent's stack. `done` lies on the parent's kernel stack. The child completes it under
 * tasklist_lock after it has cleared vfork_done (mm_release), so once the parent has had that lock, the child does
 * not touch `done` any more. A fatal signal ends the wait early: the parent clears vfork_done under the lock, and the
 * child goes on alone. True: it was not ended early.
 */
static bool wait_for_vfork_done(struct task_struct *child, struct completion *done)
{
	DEFINE_WAIT(wait);
	unsigned long flags;
	bool done_in_time;

	for (;;) {
		prepare_to_wait(&done->wait, &wait, TASK_KILLABLE);
		if (!READ_ONCE(child->vfork_done) || fatal_signal_pending(current))
			break;
		schedule();
	}
	finish_wait(&done->wait, &wait);
	spin_lock_irqsave(&tasklist_lock, flags);
	done_in_time = !child->vfork_done;
	child->vfork_done = NULL;
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return done_in_time;
}

/*
 * After wake_up_new_task() the child runs and may end at any moment, so everything that needs `p` happens before, and
 * vfork takes a reference.
 */
pid_t kernel_clone(struct kernel_clone_args *args)
{
	struct completion vfork;
	struct task_struct *p;
	pid_t pid;

	if (unlikely(current->ptrace) && !args->fn)
		args->ptrace_event = ptrace_event_of(args);
	p = copy_process(args);
	if (IS_ERR(p))
		return PTR_ERR(p);
	pid = p->pid;
	if (args->flags & CLONE_PARENT_SETTID)
		put_user(pid, args->parent_tid); /* no error for a bad address: the child exists already */
	if (args->flags & CLONE_CHILD_SETTID)
		set_child_tid(p, args);
	if (args->flags & CLONE_VFORK) {
		init_completion(&vfork);
		p->vfork_done = &vfork;
		get_task_struct(p); /* it may end and be reaped before we look */
	}
	trace_sched_process_fork(current, p);
	wake_up_new_task(p);
	if (unlikely(args->ptrace_event))
		debugger()->event(args->ptrace_event, pid);
	if (args->flags & CLONE_VFORK) {
		if (wait_for_vfork_done(p, &vfork) && unlikely(current->ptrace))
			debugger()->event(PTRACE_EVENT_VFORK_DONE, pid);
		put_task_struct(p);
	}
	return pid;
}

/* The old clone(2), whose lowest byte of flags is the signal for the child's end. The child's number or -errno. */
static long clone_user(unsigned long flags, unsigned long stack, int __user *parent_tid, int __user *child_tid,
		       unsigned long tls)
{
	struct kernel_clone_args args = {
		.flags = flags & ~(u64)CSIGNAL,
		.exit_signal = flags & CSIGNAL,
		.stack = stack,
		.tls = tls,
		.parent_tid = parent_tid,
		.child_tid = child_tid,
	};

	if (args.flags & ~(u64)CLONE_KNOWN)
		return -EINVAL;
	if (args.flags & CLONE_PIDFD) { /* there is no place for both */
		if (args.flags & CLONE_PARENT_SETTID)
			return -EINVAL;
		args.pidfd = parent_tid;
	}
	return kernel_clone(&args);
}

/* The machines differ in the order of the last two arguments. Linux takes 32 bits of flags here. */
SYSCALL_DEFINE5(clone, unsigned long, clone_flags, unsigned long, newsp, int __user *, parent_tidptr,
		SYSCALL_CLONE_LAST_ARGS)
{
	return clone_user((u32)clone_flags, newsp, parent_tidptr, child_tidptr, tls);
}

SYSCALL_DEFINE0(fork)
{
	return clone_user(SIGCHLD, 0, NULL, NULL, 0);
}

SYSCALL_DEFINE0(vfork)
{
	return clone_user(CLONE_VFORK | CLONE_VM | SIGCHLD, 0, NULL, NULL, 0);
}

/* clone3(2)'s argument, in its first version and with what came later, which must be zero. */
struct clone_args {
	u64 flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	u64 set_tid, set_tid_size, cgroup;
};
#define CLONE_ARGS_SIZE_VER0 64

/*
 * clone3(2). What this kernel cannot do is refused, not ignored (-EINVAL), and so is a larger structure with anything
 * in the part that we do not know (-E2BIG). The stack is given by its lower end and its size, unlike clone(2)'s.
 */
SYSCALL_DEFINE2(clone3, struct clone_args __user *, uargs, size_t, size)
{
	struct clone_args a = {0};
	struct kernel_clone_args args;
	int ret;

	if (size > PAGE_SIZE)
		return -E2BIG;
	if (size < CLONE_ARGS_SIZE_VER0)
		return -EINVAL;
	ret = copy_struct_from_user(&a, sizeof(a), uargs, size);
	if (ret)
		return ret;
	if ((a.flags & ~(CLONE_KNOWN | CLONE_CLEAR_SIGHAND)) || (a.flags & CLONE_DETACHED))
		return -EINVAL;
	if (a.set_tid || a.set_tid_size)
		return -EINVAL;
	if (a.exit_signal > NSIG || ((a.flags & (CLONE_THREAD | CLONE_PARENT)) && a.exit_signal))
		return -EINVAL;
	if (!a.stack != !a.stack_size || (a.stack && !access_ok((void *)a.stack, a.stack_size)))
		return -EINVAL;
	args = (struct kernel_clone_args){
		.flags = a.flags,
		.exit_signal = a.exit_signal,
		.stack = a.stack + a.stack_size, /* both machines' stacks grow down */
		.tls = a.tls,
		.parent_tid = (int *)a.parent_tid,
		.pidfd = (int *)a.pidfd,
		.child_tid = (int *)a.child_tid,
	};
	return kernel_clone(&args);
}

SYSCALL_DEFINE1(set_tid_address, int __user *, tidptr)
{
	current->clear_child_tid = (u32 __user *)tidptr;
	return current->pid;
}
