/*
 * ptrace(2): the requests of a debugger.
 *
 * Nearly all of them need a tracee that stands still. ptrace_freeze() makes sure of that: under the tracee's siglock it
 * finds JOB_TRACED and sets JOB_FROZEN, with which not even SIGKILL wakes the tracee (stop.c). The tracee may still be
 * on its way to sleep, so wait_task_inactive() follows; from then on its registers are all in memory, and only the
 * tracer touches them. The end of the request, ptrace_unfreeze(), wakes a tracee that was killed meanwhile.
 */
#include "ptrace.h"

#include <asm/uaccess.h>
#include <lib/errno.h>
#include <mm/mm.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>

/* [T] Does the tracee stand still, for more than to be killed? Then it stays so. */
static bool ptrace_freeze(struct task_struct *child)
{
	bool ok;

	spin_lock(&child->sighand->siglock);
	ok = (child->jobctl & (JOB_TRACED | JOB_LISTENING)) == JOB_TRACED &&
	     !(child->pending.signal & sigmask(SIGKILL));
	if (ok)
		child->jobctl |= JOB_FROZEN;
	spin_unlock(&child->sighand->siglock);
	return ok;
}

/* After a request that has let it go on there is no flag to clear, or that of a stop in which it does not stand yet. */
static void ptrace_unfreeze(struct task_struct *child)
{
	struct sighand_struct *sighand;
	unsigned long flags;

	sighand = lock_task_sighand(child, &flags);
	child->jobctl &= ~JOB_FROZEN;
	if (child->jobctl & JOB_TRACED && child->pending.signal & sigmask(SIGKILL))
		signal_wake_up(child, true);
	unlock_task_sighand(sighand, flags);
}

/* The caller's tracee, frozen unless `running` says that it may run. 0, or -ESRCH. Sleeps. */
static long check_attach(struct task_struct *child, bool running)
{
	bool ok;

	spin_lock_irq(&tasklist_lock);
	ok = child->ptrace && child->tracer == current && (running || ptrace_freeze(child));
	spin_unlock_irq(&tasklist_lock);
	if (ok && !running)
		wait_task_inactive(child);
	return ok ? 0 : -ESRCH;
}

/*
 * The tracee's memory, also where the program itself may not write. A program whose memory is closed, since it was
 * given rights or its file cannot be read, is open to a tracer that came as root. The bytes that were done.
 */
static int access_tracee(struct task_struct *child, unsigned long addr, void *buf, int len, unsigned how)
{
	struct mm_struct *mm = get_task_mm(child);
	int done = 0;

	if (!mm)
		return 0;
	if (READ_ONCE(mm->dumpable) == SUID_DUMP_USER || child->ptrace & PT_CAP)
		done = access_remote_vm(mm, addr, buf, len, how | FAULT_FLAG_FORCE);
	mmput(mm);
	return done;
}

static long peek(struct task_struct *child, unsigned long addr, unsigned long __user *to)
{
	unsigned long word;

	if (access_tracee(child, addr, &word, sizeof(word), 0) != sizeof(word))
		return -EIO;
	return put_user(word, to);
}

static long poke(struct task_struct *child, unsigned long addr, unsigned long word)
{
	return access_tracee(child, addr, &word, sizeof(word), FAULT_FLAG_WRITE) == sizeof(word) ? 0 : -EIO;
}

/* Copy the siginfo of the stop, from the tracee's stack or to it. -EINVAL: the stop has none. */
static long copy_siginfo(struct task_struct *child, struct siginfo *info, bool set)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	long err = 0;

	sighand = lock_task_sighand(child, &flags);
	if (!child->ptrace_info)
		err = -EINVAL;
	else if (set)
		*child->ptrace_info = *info;
	else
		*info = *child->ptrace_info;
	unlock_task_sighand(sighand, flags);
	return err;
}

static long get_siginfo(struct task_struct *child, struct siginfo __user *to)
{
	struct siginfo info;
	long err = copy_siginfo(child, &info, false);

	return !err && copy_to_user(to, &info, sizeof(info)) ? -EFAULT : err;
}

static long set_siginfo(struct task_struct *child, const struct siginfo __user *from)
{
	struct siginfo info;

	if (copy_from_user(&info, from, sizeof(info)))
		return -EFAULT;
	return copy_siginfo(child, &info, true);
}

/* The mask that the tracee has when its system call is over: it may have another one while it waits. */
static long get_sigmask(struct task_struct *child, sigset_t __user *to)
{
	return put_user(child->restore_sigmask ? child->saved_sigmask : child->blocked, to);
}

static long set_sigmask(struct task_struct *child, const sigset_t __user *from)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	sigset_t set;

	if (get_user(set, from))
		return -EFAULT;
	sighand = lock_task_sighand(child, &flags);
	child->blocked = set & ~SIG_UNBLOCKABLE;
	child->restore_sigmask = false;
	unlock_task_sighand(sighand, flags);
	return 0;
}

static long set_options(struct task_struct *child, unsigned long options)
{
	struct sighand_struct *sighand;
	unsigned long flags;

	if (options & ~(unsigned long)PTRACE_O_MASK)
		return -EINVAL;
	sighand = lock_task_sighand(child, &flags);
	WRITE_ONCE(child->ptrace, (child->ptrace & ((1U << PT_OPT_SHIFT) - 1)) | (u32)options << PT_OPT_SHIFT);
	unlock_task_sighand(sighand, flags);
	return 0;
}

/*
 * Let the tracee go on with a signal (0: none). This is the last step, since the tracee's own code runs from the
 * wake-up on.
 */
static long resume(struct task_struct *child, long request, unsigned long sig)
{
	struct sighand_struct *sighand;
	unsigned long flags;

	if (sig > NSIG)
		return -EIO;
	if (request == PTRACE_SYSCALL)
		set_tsk_thread_flag(child, TIF_SYSCALL_TRACE);
	else
		clear_tsk_thread_flag(child, TIF_SYSCALL_TRACE);
	if (request == PTRACE_SINGLESTEP)
		user_enable_single_step(child);
	else
		user_disable_single_step(child);
	sighand = lock_task_sighand(child, &flags);
	child->ptrace_code = sig;
	child->jobctl &= ~JOB_TRACED;
	wake_up_state(child, __TASK_TRACED);
	unlock_task_sighand(sighand, flags);
	return 0;
}

/* PTRACE_INTERRUPT of a tracee that may run: it stops soon. PTRACE_LISTEN: it stands still, but a new stop wakes it. */
static long seized_request(struct task_struct *child, long request)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	long err = 0;

	sighand = lock_task_sighand(child, &flags);
	if (!(child->ptrace & PT_SEIZED)) {
		err = -EIO;
	} else if (request == PTRACE_INTERRUPT) {
		if (!(child->flags & PF_EXITING) && !(child->pending.signal & sigmask(SIGKILL))) {
			child->jobctl |= JOB_TRAP_STOP;
			ptrace_wake(child);
		}
	} else if (!child->ptrace_info || child->ptrace_info->si_code >> 8 != PTRACE_EVENT_STOP) {
		err = -EIO;
	} else {
		child->jobctl |= JOB_LISTENING;
		if (child->jobctl & JOB_TRAP_NOTIFY)
			ptrace_wake(child);
	}
	unlock_task_sighand(sighand, flags);
	return err;
}

/* The requests to a tracee that is the caller's. */
static long ptrace_request(struct task_struct *child, long request, unsigned long addr, unsigned long data)
{
	switch (request) {
	case PTRACE_PEEKTEXT:
	case PTRACE_PEEKDATA:
		return peek(child, addr, (unsigned long __user *)data);
	case PTRACE_POKETEXT:
	case PTRACE_POKEDATA:
		return poke(child, addr, data);
	case PTRACE_CONT:
	case PTRACE_SYSCALL:
	case PTRACE_SINGLESTEP:
		return resume(child, request, data);
	case PTRACE_KILL:
		return send_sig(SIGKILL, child, 0);
	case PTRACE_DETACH:
		if (data > NSIG)
			return -EIO;
		ptrace_detach(child, data);
		return 0;
	case PTRACE_SETOPTIONS:
		return set_options(child, data);
	case PTRACE_GETEVENTMSG:
		return put_user(child->ptrace_message, (unsigned long __user *)data);
	case PTRACE_GETSIGINFO:
		return get_siginfo(child, (struct siginfo __user *)data);
	case PTRACE_SETSIGINFO:
		return set_siginfo(child, (const struct siginfo __user *)data);
	case PTRACE_GETSIGMASK:
		return addr == sizeof(sigset_t) ? get_sigmask(child, (sigset_t __user *)data) : -EINVAL;
	case PTRACE_SETSIGMASK:
		return addr == sizeof(sigset_t) ? set_sigmask(child, (const sigset_t __user *)data) : -EINVAL;
	case PTRACE_GETREGSET:
	case PTRACE_SETREGSET:
		return ptrace_regset(child, addr, (void __user *)data, request == PTRACE_SETREGSET);
	case PTRACE_INTERRUPT:
	case PTRACE_LISTEN:
		return seized_request(child, request);
	case PTRACE_GET_SYSCALL_INFO:
		return ptrace_syscall_info(child, addr, (void __user *)data);
	default:
		return arch_ptrace(child, request, addr, data);
	}
}

/*
 * ptrace(2) as the system call is, which returns what the C library's PTRACE_PEEKDATA gives by way of `data`. -ESRCH:
 * there is no such task, or it is not the caller's tracee, or does not stand still; -EPERM; -EIO: an unknown request,
 * an invalid signal, or an address that is not mapped; -EINVAL; -EFAULT.
 */
SYSCALL_DEFINE4(ptrace, long, request, long, pid, unsigned long, addr, unsigned long, data)
{
	bool running = request == PTRACE_KILL || request == PTRACE_INTERRUPT;
	struct task_struct *child;
	long ret;

	if (request == PTRACE_TRACEME)
		return ptrace_traceme();
	child = pid > 0 && pid < PID_MAX ? find_get_task(pid) : NULL;
	if (!child)
		return -ESRCH;
	if (request == PTRACE_ATTACH) {
		ret = ptrace_attach(child, false, 0);
	} else if (request == PTRACE_SEIZE) {
		ret = addr ? -EIO : ptrace_attach(child, true, data);
	} else {
		ret = check_attach(child, running);
		if (!ret) {
			ret = ptrace_request(child, request, addr, data);
			if (!running && (ret || request != PTRACE_DETACH)) /* another's tracee by now, perhaps */
				ptrace_unfreeze(child);
		}
	}
	put_task_struct(child);
	return ret;
}
