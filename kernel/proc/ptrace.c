/*
 * The check that comes before a task may look into another process.
 *
 * Ids and memory of the other task change while we look: exec of a set-user-id program replaces both, setuid() the ids.
 * Two orders keep a look from mixing the old with the new. A task that changes its ids makes its memory undumpable
 * first (see commit_ids); here the ids are read first, so whoever sees the new ids sees dumpable cleared as well.
 * Likewise exec installs the new memory, with its `dumpable` already set, before the ids change; so the memory that is
 * judged is the one that is given out.
 */
#include <proc/capability.h>
#include <proc/ptrace.h>

#include <lib/errno.h>
#include <mm/mm.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>

/* An id is read whole: no lock. */
bool ids_match(const struct task_struct *task, u32 uid, u32 gid)
{
	return uid == READ_ONCE(task->uid) && uid == READ_ONCE(task->euid) && uid == READ_ONCE(task->suid) &&
	       gid == READ_ONCE(task->gid) && gid == READ_ONCE(task->egid) && gid == READ_ONCE(task->sgid);
}

/*
 * mm is the memory of `task`, NULL when it has none (any more: what its memory allowed goes on). A task that may do
 * what the caller may not is out of its reach, whoever its user is.
 */
static bool may_access_mm(const struct task_struct *task, const struct mm_struct *mm, unsigned mode)
{
	bool real = mode & PTRACE_MODE_REALCREDS;
	u64 rights = real ? current->caps.permitted : current->caps.effective;

	if (task->tgid == current->tgid || capable(CAP_SYS_PTRACE))
		return true;
	if (READ_ONCE(task->caps.permitted) & ~rights)
		return false;
	if (!ids_match(task, real ? current->uid : current->fsuid, real ? current->gid : current->fsgid))
		return false;
	smp_rmb(); /* pairs with the barrier in commit_ids: ids before dumpable */
	return mm ? READ_ONCE(mm->dumpable) == SUID_DUMP_USER : READ_ONCE(task->was_dumpable);
}

bool ptrace_may_access(struct task_struct *task, unsigned mode)
{
	unsigned long flags;
	bool ok;

	/* pi_lock keeps the memory in place while it is looked at, as in get_task_mm(). */
	spin_lock_irqsave(&task->pi_lock, flags);
	ok = may_access_mm(task, task->mm, mode);
	spin_unlock_irqrestore(&task->pi_lock, flags);
	return ok;
}

struct mm_struct *mm_access(struct task_struct *task, unsigned mode)
{
	struct mm_struct *mm = get_task_mm(task);

	if (!mm || may_access_mm(task, mm, mode))
		return mm;
	mmput(mm);
	return ERR_PTR(-EACCES);
}
