/*
 * Functions whose return is told (uretprobes).
 *
 * At the function's first instruction its return address is replaced by that of the trampoline, a breakpoint in
 * [uprobes], and the true one is kept in a list of the task, innermost call first. A function that jumps to another one
 * whose return is told, too (a tail call), has the trampoline as its return address already: both return at once, and
 * the calls are `chained`.
 *
 * WHO HAS RETURNED. A call is known by its stack pointer. The innermost call with the stack pointer of the return is
 * the one; calls inside of it have been left by longjmp(3) or an exception, and are dropped. They are also dropped when
 * a function begins at their place of the stack or above it. A signal handler on a stack of its own (sigaltstack(2))
 * drops nothing of the other stack.
 *
 * A child of fork has a copy of the stack, and so gets a copy of the list; one of vfork runs on the parent's stack, and
 * gets one as well. A thread has neither. exec and exit drop the list.
 */
#include <asm/ptrace.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <proc/signal.h>
#include <proc/task_part.h>
#include <sched/current.h>
#include <uapi/sched.h>

#include "internal.h"

#define MAX_DEPTH  64 /* calls inside of each other, as on Linux */
#define ILL_ILLTRP 4

/* The innermost call goes. A walk of the stack may come in an interrupt, so the list is right at each moment. */
static void pop_call(struct uprobe_task *ut)
{
	struct uretprobe_call *call = ut->calls;

	WRITE_ONCE(ut->calls, call->next);
	barrier();
	ut->depth--;
	uprobe_put(call->uprobe);
	kfree(call);
}

static bool on_altstack(unsigned long sp)
{
	return sp - current->sas_ss_sp < current->sas_ss_size;
}

/* A function begins at sp: calls whose frames lay there, or inside of that, are over. */
static void drop_dead(struct uprobe_task *ut, unsigned long sp)
{
	while (ut->calls && ut->calls->sp <= sp && on_altstack(ut->calls->sp) == on_altstack(sp))
		pop_call(ut);
}

static void count_missed(struct uprobe *uprobe)
{
	for (struct uprobe_consumer *c = smp_load_acquire(&uprobe->consumers); c; c = smp_load_acquire(&c->next))
		if (c->ret_handler)
			__atomic_fetch_add(&c->nmissed, 1, __ATOMIC_RELAXED);
}

/* The task's list, which is made if there is none. NULL: out of memory. */
static struct uprobe_task *get_utask(struct task_struct *t)
{
	if (!t->utask)
		t->utask = kzalloc(sizeof(*t->utask), GFP_KERNEL);
	return t->utask;
}

/* Where functions return to, or 0: out of memory. */
static unsigned long get_trampoline(struct mm_struct *mm, unsigned long near)
{
	unsigned long addr = READ_ONCE(mm->uprobes->trampoline);

	if (addr)
		return addr;
	mutex_lock(&mm->mmap_lock);
	addr = uprobe_make_trampoline(mm, near);
	mutex_unlock(&mm->mmap_lock);
	return addr;
}

/*
 * The return address becomes the trampoline's. False: it could not. A program that has put the trampoline's address
 * there by itself, without any call, is left alone: it will get its signal.
 */
static bool hijack(struct uprobe_task *ut, struct uretprobe_call *call, struct pt_regs *regs, unsigned long trampoline)
{
	call->returns_to = arch_uretprobe_hijack(regs, trampoline);
	if (call->returns_to == -1UL)
		return false;
	call->sp = arch_uretprobe_entry_sp(regs);
	call->chained = call->returns_to == trampoline;
	drop_dead(ut, call->chained ? call->sp - 1 : call->sp);
	if (!call->chained)
		return true;
	if (!ut->calls || ut->calls->sp != call->sp)
		return false;
	call->returns_to = ut->calls->returns_to;
	return true;
}

/* In a round. */
void uretprobe_enter(struct uprobe *uprobe, struct pt_regs *regs)
{
	unsigned long func = instruction_pointer(regs), trampoline = get_trampoline(current->mm, func);
	struct uprobe_task *ut = get_utask(current);
	struct uretprobe_call *call = NULL;

	/* Before they are counted: calls that longjmp(3) has left count no more. Those at sp itself may be chained. */
	if (ut)
		drop_dead(ut, arch_uretprobe_entry_sp(regs) - 1);
	if (trampoline && ut && ut->depth < MAX_DEPTH)
		call = kmalloc(sizeof(*call), GFP_KERNEL);
	if (!call || !hijack(ut, call, regs, trampoline)) {
		kfree(call);
		count_missed(uprobe);
		return;
	}
	uprobe_get(uprobe);
	call->uprobe = uprobe;
	call->func = func;
	call->next = ut->calls;
	barrier();
	WRITE_ONCE(ut->calls, call);
	ut->depth++;
}

static void tell_return(struct uretprobe_call *call, struct pt_regs *regs)
{
	uprobe_round_begin();
	for (struct uprobe_consumer *c = smp_load_acquire(&call->uprobe->consumers); c; c = smp_load_acquire(&c->next))
		if (c->ret_handler)
			c->ret_handler(c, call->func, regs);
	uprobe_round_end();
}

/* A return that belongs to no call: a program that jumps to the trampoline. It gets SIGILL, as on Linux. */
void uretprobe_return(struct pt_regs *regs)
{
	struct uprobe_task *ut = current->utask;
	unsigned long sp = arch_uretprobe_return_sp(regs);
	struct uretprobe_call *call = ut ? ut->calls : NULL;
	bool more = true;

	while (call && call->sp != sp)
		call = call->next;
	if (!call) {
		force_sig_fault(SIGILL, ILL_ILLTRP, instruction_pointer(regs));
		return;
	}
	while (ut->calls != call)
		pop_call(ut);
	instruction_pointer_set(regs, call->returns_to);
	while (more) {
		more = ut->calls->chained;
		tell_return(ut->calls, regs);
		pop_call(ut);
	}
}

unsigned long uretprobe_true_return(unsigned long addr, const void **cursor)
{
	const struct mm_struct *mm = current->mm;
	const struct uretprobe_call *call;

	if (likely(!current->utask) || !mm || !mm->uprobes || addr != READ_ONCE(mm->uprobes->trampoline))
		return addr;
	call = *cursor ? ((const struct uretprobe_call *)*cursor)->next : READ_ONCE(current->utask->calls);
	while (call && call->chained)
		call = call->next;
	if (!call)
		return addr;
	*cursor = call;
	return call->returns_to;
}

/* ---- Tasks come and go */

/* The same calls in the same order. 0 or -ENOMEM; what was copied stays. */
static int copy_calls(struct uprobe_task *to, const struct uprobe_task *from)
{
	struct uretprobe_call **at = &to->calls;

	for (const struct uretprobe_call *call = from->calls; call; call = call->next) {
		struct uretprobe_call *copy = kmalloc(sizeof(*copy), GFP_KERNEL);

		if (!copy)
			return -ENOMEM;
		*copy = *call;
		copy->next = NULL;
		uprobe_get(copy->uprobe);
		*at = copy;
		at = &copy->next;
		to->depth++;
	}
	return 0;
}

/* The task has left its memory, or was not made. */
static void uretprobe_release(struct task_struct *t)
{
	struct uprobe_task *ut = t->utask;

	t->uprobe_stepping = false;
	if (likely(!ut))
		return;
	while (ut->calls)
		pop_call(ut);
	WRITE_ONCE(t->utask, NULL);
	kfree(ut);
}

/* A thread begins with a stack of its own. */
static int uretprobe_fork(struct task_struct *child, u64 flags)
{
	int err;

	child->utask = NULL;
	child->uprobe_round = 0;
	child->uprobe_stepping = false;
	if (likely(!current->utask) || !current->utask->calls || !child->mm ||
	    (flags & (CLONE_VM | CLONE_VFORK)) == CLONE_VM)
		return 0;
	err = get_utask(child) ? copy_calls(child->utask, current->utask) : -ENOMEM;
	if (err)
		uretprobe_release(child);
	return err;
}

static const struct task_part uretprobe_task_part = {.fork = uretprobe_fork, .release = uretprobe_release};
REGISTER_TASK_PART(uretprobe_task_part);
