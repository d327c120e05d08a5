/*
 * What becomes of a thread's futexes when it ends or executes another program: the locks of its robust list, and those
 * with priority inheritance, go to others; and who joins the thread is woken.
 */
#include "futex.h"

#include <asm/uaccess.h>
#include <lib/errno.h>
#include <proc/fork.h>
#include <proc/ptrace.h>
#include <proc/syscall.h>
#include <proc/task_part.h>
#include <sched/current.h>
#include <sched/sched.h>

/* As set_robust_list(2) registers it; the entries are in the locks, `offset` from their words. */
struct robust_list_head {
	u64 next;
	s64 offset;
	u64 pending;
};
#define ROBUST_LIST_LIMIT 2048 /* a circle or garbage must not hold us for ever */

SYSCALL_DEFINE2(set_robust_list, struct robust_list_head __user *, head, size_t, len)
{
	if (len != sizeof(struct robust_list_head))
		return -EINVAL;
	current->robust_list = head;
	return 0;
}

/* Of a thread that the caller may look into, 0: of itself. As on Linux, the length is that of the head alone. */
SYSCALL_DEFINE3(get_robust_list, int, pid, struct robust_list_head __user *__user *, head_ptr, size_t __user *, len_ptr)
{
	struct task_struct *p = pid ? find_get_task(pid) : current;
	void *head = NULL;
	long err = 0;

	if (!p)
		return -ESRCH;
	if (ptrace_may_access(p, PTRACE_MODE_READ_REALCREDS))
		head = READ_ONCE(p->robust_list);
	else
		err = -EPERM;
	if (p != current)
		put_task_struct(p);
	if (!err && (put_user(sizeof(struct robust_list_head), len_ptr) ||
		     put_user((void *)head, (void __user *__user *)head_ptr)))
		err = -EFAULT;
	return err;
}

/*
 * Mark one lock as left by the dead, and wake one waiter. Returns false when the list is not to be believed any more.
 *
 * The word is exchanged only if it is what was read, and read again otherwise: others may add FUTEX_WAITERS, and in a
 * list that is not to be believed the word may be the lock of another task by now, which must not lose it. A waiter is
 * woken whether its bit was seen or not.
 *
 * The pending lock may be free: we died between letting go and waking, or woken and before we took it. The tasks that
 * wait count on us to wake the next one.
 */
static bool robust_death(u64 entry, s64 offset, bool pending)
{
	u32 __user *uaddr = (u32 __user *)((entry & ~1UL) + offset);
	bool marked = false;
	u32 word;

	if (((unsigned long)uaddr & 3) || get_user(word, uaddr))
		return false;
	while (!marked && (word & FUTEX_TID_MASK) == (u32)current->pid) {
		struct user_value was = __cmpxchg_user_4(word, (word & FUTEX_WAITERS) | FUTEX_OWNER_DIED, uaddr);

		if (was.error)
			return false;
		marked = was.value == word;
		word = was.value;
	}
	if (marked || (pending && !(word & FUTEX_TID_MASK)))
		futex_wake(uaddr, true, 1, FUTEX_BITSET_ANY);
	return true;
}

/*
 * The list that a thread keeps of the locks it holds, in its own memory: each gets FUTEX_OWNER_DIED and one waiter is
 * woken. Nothing in it is to be believed: it may be a circle, or lead anywhere, so it is followed a limited number of
 * steps and every access may fault.
 */
static void walk_robust_list(void *uhead)
{
	struct robust_list_head head;
	u64 entry;

	if (copy_from_user(&head, uhead, sizeof(head)))
		return;
	entry = head.next;
	for (int i = 0; i < ROBUST_LIST_LIMIT && (entry & ~1UL) != (u64)uhead; i++) {
		u64 next;
		/* The next one first: a lock that was let go may be freed and its memory used for something else. */
		bool last = get_user(next, (u64 __user *)(entry & ~1UL));

		if ((entry | 1) != (head.pending | 1) && !robust_death(entry, head.offset, false))
			return;
		if (last)
			return;
		entry = next;
	}
	if (head.pending)
		robust_death(head.pending, head.offset, true);
}

/* What its maker waits for, and has, is not the child's. */
static int robust_fork(struct task_struct *child, u64 flags)
{
	child->robust_list = NULL;
	child->pi_owns = NULL;
	child->pi_waits = NULL;
	child->pi_closed = false;
	return 0;
}

/*
 * The robust list comes first, so its words say already that their owner has died. A child that was not made has
 * nothing. In exec the thread takes locks again afterwards.
 */
static void robust_release(struct task_struct *t)
{
	if (t != current)
		return;
	if (t->robust_list) {
		walk_robust_list(t->robust_list);
		t->robust_list = NULL;
	}
	futex_pi_exit();
	if (!(t->flags & PF_EXITING))
		t->pi_closed = false;
}

/* pthread_join sleeps on this word. */
static void robust_tid_cleared(u32 __user *tid)
{
	futex_wake(tid, true, 1, FUTEX_BITSET_ANY);
}

static const struct task_part robust_task_part = {
	.fork = robust_fork,
	.release = robust_release,
	.tid_cleared = robust_tid_cleared,
	.prio_changed = futex_pi_adjust,
};
REGISTER_TASK_PART(robust_task_part);
