/*
 * Restartable sequences (rseq(2)): a thread registers a structure in its memory. The kernel keeps in it the number of
 * the CPU that the thread runs on, and when it takes the CPU from the thread, or sends it to a signal handler, in the
 * middle of a sequence that the structure points to, the thread goes on at the sequence's abort handler. So a thread
 * can change data of its CPU without a lock and without an atomic instruction: either the whole sequence ran
 * undisturbed, up to the one store that commits it, or it begins again.
 *
 * glibc registers each thread, for sched_getcpu(3).
 *
 * Every switch away from a registered thread sets TIF_NOTIFY_RESUME, so before it runs in user mode again it passes
 * rseq_resume(). A switch that comes after that has set the flag again by the time the flags are looked at with
 * interrupts off. So in user mode the numbers are right, and no sequence goes on that was left.
 */
#include <asm/ptrace.h>
#include <asm/uaccess.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <proc/task_part.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <trace/uprobe_ops.h>
#include <uapi/elf.h>

#define CREATE_TRACE_POINTS
#include <trace/events/rseq.h>

/* What the auxiliary vector says of struct rseq: the bytes of it that are in use, and how it must be aligned. */
#define RSEQ_FEATURE_SIZE 28
#define RSEQ_ALIGN	  32

#define RSEQ_FLAG_UNREGISTER 1
#define RSEQ_CPU_ID_NONE     (~0U) /* RSEQ_CPU_ID_UNINITIALIZED */

/* Linux's uapi linux/rseq.h. */
struct rseq {
	u32 cpu_id_start; /* a CPU, also before the registration: 0 */
	u32 cpu_id;
	u64 rseq_cs; /* address of the struct rseq_cs of the sequence that runs, 0: none. The thread sets it */
	u32 flags;
	u32 node_id;
	u32 mm_cid; /* small, and no two threads of a process that run at the same time have the same */
	u32 pad;
};
static_assert(sizeof(struct rseq) == 32 && offsetof(struct rseq, pad) == RSEQ_FEATURE_SIZE);

struct rseq_cs {
	u32 version, flags; /* both 0 */
	u64 start_ip, post_commit_offset;
	u64 abort_ip; /* behind a word with the signature, so that nobody can make it lead elsewhere */
};
static_assert(sizeof(struct rseq_cs) == 32);

/* 0 or -EFAULT. The number of the CPU serves as mm_cid, too. */
static int rseq_write_ids(struct rseq __user *r, u32 cpu, u32 cpu_or_none)
{
	return put_user(cpu, &r->cpu_id_start) || put_user(cpu_or_none, &r->cpu_id) || put_user(0, &r->node_id) ||
			       put_user(cpu, &r->mm_cid)
		       ? -EFAULT
		       : 0;
}

/* Does the description of a sequence make sense? Its abort handler must carry the signature. 0, -EINVAL, -EFAULT. */
static int check_sequence(const struct rseq_cs *cs)
{
	u32 sig;

	if (cs->version || cs->flags || cs->start_ip >= TASK_SIZE || cs->abort_ip >= TASK_SIZE || cs->abort_ip < 4 ||
	    cs->post_commit_offset >= TASK_SIZE - cs->start_ip || cs->abort_ip - cs->start_ip < cs->post_commit_offset)
		return -EINVAL;
	if (get_user(sig, (u32 __user *)(cs->abort_ip - 4)))
		return -EFAULT;
	return sig == current->rseq_sig ? 0 : -EINVAL;
}

/* Leave the sequence that the thread is in, if it is in one: `regs` then go on at the abort handler. 0 or -errno. */
static int abort_sequence(struct rseq __user *r, struct pt_regs *regs)
{
	unsigned long ip = uprobe_true_pc(instruction_pointer(regs));
	struct rseq_cs cs;
	u64 at;
	int err;

	if (get_user(at, &r->rseq_cs))
		return -EFAULT;
	if (!at)
		return 0;
	if (at >= TASK_SIZE)
		return -EINVAL;
	if (copy_from_user(&cs, (void __user *)at, sizeof(cs)))
		return -EFAULT;
	err = check_sequence(&cs);
	if (err || put_user(0UL, &r->rseq_cs))
		return err ? err : -EFAULT;
	if (ip - cs.start_ip >= cs.post_commit_offset)
		return 0;
	trace_rseq_ip_fixup(ip, cs.start_ip, cs.post_commit_offset, cs.abort_ip);
	instruction_pointer_set(regs, cs.abort_ip);
	return 0;
}

/*
 * Before the current task goes on in user mode, on another CPU perhaps, or enters a signal handler: abort the sequence
 * that it is in, and write down the number of its CPU. SIGSEGV for a description that makes no sense.
 */
static void rseq_resume(struct pt_regs *regs)
{
	struct rseq __user *r = current->rseq;
	u32 cpu = smp_processor_id();

	if (!r)
		return;
	if (abort_sequence(r, regs) || rseq_write_ids(r, cpu, cpu))
		force_sig_fault(SIGSEGV, SI_KERNEL, 0);
	else
		trace_rseq_update(current);
}

/* A thread registers a structure of its own; a fork's child has a copy of the parent's, at the same place. 0. */
static int rseq_fork(struct task_struct *child, u64 flags)
{
	if (flags & CLONE_VM)
		child->rseq = NULL;
	else if (child->rseq)
		set_tsk_thread_flag(child, TIF_NOTIFY_RESUME);
	return 0;
}

/* The memory that the structure lies in is left. */
static void rseq_release(struct task_struct *t)
{
	t->rseq = NULL;
}

static const u64 rseq_auxv[][2] = {
	{AT_RSEQ_FEATURE_SIZE, RSEQ_FEATURE_SIZE},
	{AT_RSEQ_ALIGN, RSEQ_ALIGN},
	{AT_NULL, 0},
};
static const struct task_part rseq_part = {
	.fork = rseq_fork,
	.release = rseq_release,
	.resume = rseq_resume,
	.auxv = rseq_auxv,
};
REGISTER_TASK_PART(rseq_part);

static long rseq_unregister(struct rseq __user *r, u32 len, u32 sig)
{
	if (!current->rseq || current->rseq != r || len != sizeof(*r))
		return -EINVAL;
	if (current->rseq_sig != sig)
		return -EPERM;
	if (rseq_write_ids(r, 0, RSEQ_CPU_ID_NONE))
		return -EFAULT;
	current->rseq = NULL;
	return 0;
}

/* The order of the checks is Linux's. Only the structure's first size is known, which is what glibc registers. */
SYSCALL_DEFINE4(rseq, struct rseq __user *, rseq, u32, rseq_len, int, flags, u32, sig)
{
	if (flags & RSEQ_FLAG_UNREGISTER)
		return flags & ~RSEQ_FLAG_UNREGISTER ? -EINVAL : rseq_unregister(rseq, rseq_len, sig);
	if (flags)
		return -EINVAL;
	if (current->rseq) {
		if (current->rseq != rseq || rseq_len != sizeof(*rseq))
			return -EINVAL;
		return current->rseq_sig != sig ? -EPERM : -EBUSY;
	}
	if (rseq_len != sizeof(*rseq) || (unsigned long)rseq % RSEQ_ALIGN)
		return -EINVAL;
	if (!access_ok(rseq, sizeof(*rseq)))
		return -EFAULT;
	current->rseq = rseq;
	current->rseq_sig = sig;
	set_tsk_thread_flag(current, TIF_NOTIFY_RESUME); /* the numbers are there when the call returns */
	return 0;
}
