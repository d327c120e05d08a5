/*
 * unshare(2): the caller leaves what it shares with other tasks since its clone(2). The table of files (CLONE_FILES)
 * and root, working directory and umask (CLONE_FS) become copies of its own. Memory, handlers and the thread group
 * cannot be left; as on Linux a call that asks for it succeeds when nobody else has them. There are no namespaces, so
 * their flags get what a Linux without them says.
 */
#include <fs/vfs.h>
#include <lib/errno.h>
#include <mm/mm.h>
#include <proc/capability.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>

#define UNSHARE_NAMESPACES                                                                                            \
	(CLONE_NEWTIME | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | \
	 CLONE_NEWNET)
#define UNSHARE_KNOWN \
	(UNSHARE_NAMESPACES | CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

/* A flag that cannot be had without another one asks for that as well. */
static unsigned long unshare_implied(unsigned long flags)
{
	if (flags & CLONE_NEWUSER)
		flags |= CLONE_THREAD | CLONE_FS;
	if (flags & CLONE_VM)
		flags |= CLONE_SIGHAND;
	if (flags & CLONE_SIGHAND)
		flags |= CLONE_THREAD;
	if (flags & CLONE_NEWNS)
		flags |= CLONE_FS;
	return flags;
}

/*
 * Has another process the caller's memory? mm_users alone does not tell: a reader of /proc may count as well. The
 * pointers are only compared.
 */
static bool memory_is_shared(void)
{
	struct task_struct *p;
	bool shared = false;

	if (!current->mm || atomic_read(&current->mm->mm_users) == 1)
		return false;
	spin_lock_irq(&tasklist_lock);
	for_each_process(p) {
		struct task_struct *t;

		for_each_thread(p, t)
			shared |= t != current && READ_ONCE(t->mm) == current->mm;
	}
	spin_unlock_irq(&tasklist_lock);
	return shared;
}

/* Is there nothing to leave where leaving is not possible? 0 or -EINVAL. */
static int unshare_check(unsigned long flags)
{
	if (flags & ~(unsigned long)UNSHARE_KNOWN)
		return -EINVAL;
	if (flags & (CLONE_THREAD | CLONE_SIGHAND | CLONE_VM) && !thread_group_empty(current))
		return -EINVAL;
	if (flags & (CLONE_SIGHAND | CLONE_VM) && atomic_read(&current->sighand->count) > 1)
		return -EINVAL;
	return flags & CLONE_VM && memory_is_shared() ? -EINVAL : 0;
}

/* A namespace is root's to make, except one of users. */
static int unshare_namespaces(unsigned long flags)
{
	if (!(flags & UNSHARE_NAMESPACES))
		return 0;
	return flags & CLONE_NEWUSER || capable(CAP_SYS_ADMIN) ? -EINVAL : -EPERM;
}

/* The table of files comes last, since a copy that is made before another step fails would have to be taken back. */
SYSCALL_DEFINE1(unshare, unsigned long, unshare_flags)
{
	unsigned long flags = unshare_implied(unshare_flags);
	struct fs_struct *fs = NULL, *old = current->fs;
	int err = unshare_check(flags) ?: unshare_namespaces(flags);

	if (err)
		return err;
	if (flags & CLONE_FS && atomic_read(&old->users) > 1) {
		fs = copy_fs_struct(old);
		if (!fs)
			return -ENOMEM;
	}
	if (flags & CLONE_FILES)
		err = unshare_files(NULL);
	if (err || !fs) {
		put_fs_struct(fs);
		return err;
	}
	WRITE_ONCE(current->fs, fs); /* others look at it under RCU (get_task_fs) */
	put_fs_struct(old);
	return 0;
}
