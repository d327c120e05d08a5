/* The system calls that make tasks. */
#include <asm/syscall_abi.h>
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <mm/mm.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <sched/wait.h>
#include <trace/events/sched.h>

/* What clone(2) knows here. The last group changes nothing: what it speaks of (ptrace, SysV semaphores) is
 * not there. */
#define CLONE_KNOWN                                                                                       \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_VFORK | CLONE_PARENT | CLONE_THREAD |  \
	 CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | CLONE_SYSVSEM | \
	 CLONE_DETACHED)

/*
 * The child's number at an address of its own memory. The child has not run yet: in memory of its own this
 * breaks the sharing of one page that it is about to write to anyhow.
 */
static void set_child_tid(struct task_struct *p, const struct kernel_clone_args *args)
{
	pid_t tid = p->pid;

	/* As in Linux nobody is told when the address is bad: the child finds out by itself. */
	if (args->flags & CLONE_VM)
		put_user(tid, args->child_tid);
	else
		access_process_vm(p, (unsigned long)args->child_tid, &tid, sizeof(tid), true);
}

/*
 * vfork: wait until the child has another address space. `done` is on our stack; the child completes it under
 * tasklist_lock after clearing vfork_done (mm_release), so once we have had that lock nobody uses it any
 * more. A fatal signal ends the wait: then we clear vfork_done, and the child goes on alone.
 */
static void wait_for_vfork_done(struct task_struct *child, struct completion *done)
{
	DEFINE_WAIT(wait);
	unsigned long flags;

	for (;;) {
		prepare_to_wait(&done->wait, &wait, TASK_KILLABLE);
		if (!READ_ONCE(child->vfork_done) || fatal_signal_pending(current))
			break;
		schedule();
	}
	finish_wait(&done->wait, &wait);
	spin_lock_irqsave(&tasklist_lock, flags);
	child->vfork_done = NULL;
	spin_unlock_irqrestore(&tasklist_lock, flags);
}

pid_t kernel_clone(struct kernel_clone_args *args)
{
	struct task_struct *p = copy_process(args);
	struct completion vfork;
	pid_t pid;

	if (IS_ERR(p))
		return PTR_ERR(p);
	pid = p->pid;
	if (args->flags & CLONE_PARENT_SETTID)
		put_user(pid, args->parent_tid); /* nobody is told either: the child exists, there is no way back */
	if (args->flags & CLONE_CHILD_SETTID)
		set_child_tid(p, args);
	if (args->flags & CLONE_VFORK) {
		init_completion(&vfork);
		p->vfork_done = &vfork;
		get_task_struct(p); /* it may end and be reaped before we look */
	}
	trace_sched_process_fork(current, p);
	wake_up_new_task(p);
	if (args->flags & CLONE_VFORK) {
		wait_for_vfork_done(p, &vfork);
		put_task_struct(p);
	}
	return pid;
}

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
	return kernel_clone(&args);
}

SYSCALL_DEFINE5(clone, unsigned long, flags, unsigned long, stack, int __user *, parent_tid, unsigned long, arg4,
		unsigned long, arg5)
{
	/* Linux takes 32 bits of flags here. */
	if (CLONE_TLS_FOURTH)
		return clone_user((u32)flags, stack, parent_tid, (int __user *)arg5, arg4);
	return clone_user((u32)flags, stack, parent_tid, (int __user *)arg4, arg5);
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
		.child_tid = (int *)a.child_tid,
	};
	return kernel_clone(&args);
}

SYSCALL_DEFINE1(set_tid_address, u32 __user *, tidptr)
{
	current->clear_child_tid = tidptr;
	return current->pid;
}
