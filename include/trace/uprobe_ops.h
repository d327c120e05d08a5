/*
 * What the kernel asks uprobes (trace/uprobes) about a program in which they are. A probed instruction is executed
 * elsewhere, in a slot, and functions may return to a trampoline; neither signals nor walks of the stack show that.
 *
 * mm->uprobes is set in an address space that has, or had, a probe, until its last user has gone. Only then the
 * functions are called: any other program pays for one test, and where the room is left out, that is each program.
 */
#pragma once

#include <lib/types.h>
#include <mm/mm.h>
#include <sched/current.h>
#include <sched/task.h>

struct pt_regs;

/* The functions below without the test. `mu` is the current program's, and not NULL. */
struct uprobe_ops {
	bool (*deny_signal)(struct mm_uprobes *mu, struct pt_regs *regs);
	unsigned long (*fault)(struct mm_uprobes *mu, unsigned long addr);
	bool (*breakpoint)(struct mm_uprobes *mu, struct pt_regs *regs);
	bool (*step)(struct mm_uprobes *mu, struct pt_regs *regs);
	unsigned long (*true_pc)(struct mm_uprobes *mu, unsigned long pc);
	unsigned long (*true_return)(unsigned long addr, const void **cursor);
};
/* One room at most registers itself. */
#define REGISTER_UPROBE_OPS(ops) REGISTER_IN(uprobe_ops, ops)
DECLARE_TABLE(uprobe_ops, const struct uprobe_ops);

/* What the current program has of probes, or NULL. */
static __always_inline struct mm_uprobes *current_uprobes(void)
{
	const struct mm_struct *mm = current->mm;

	return likely(mm) ? smp_load_acquire(&mm->uprobes) : NULL;
}

/* A signal is pending. True: the task is inside of an instruction, and is to take the signal a step later. Thread. */
static __always_inline bool uprobe_deny_signal(struct pt_regs *regs)
{
	struct mm_uprobes *mu = current_uprobes();

	return unlikely(mu) && __start_ptrs_uprobe_ops[0]->deny_signal(mu, regs);
}

/*
 * The current program's instruction has faulted: its registers become those of the probed place, if it is in a slot.
 * addr is what the signal will tell; returned is what it must tell. Thread context.
 */
static __always_inline unsigned long uprobe_fault(unsigned long addr)
{
	struct mm_uprobes *mu = current_uprobes();

	return unlikely(mu) ? __start_ptrs_uprobe_ops[0]->fault(mu, addr) : addr;
}

/* A breakpoint of the program. False: it is no uprobe's. The machine calls it, with interrupts on. */
static __always_inline bool uprobe_breakpoint(struct pt_regs *regs)
{
	struct mm_uprobes *mu = current_uprobes();

	return unlikely(mu) && __start_ptrs_uprobe_ops[0]->breakpoint(mu, regs);
}

/*
 * A step of the program. True: it was a uprobe's, or one inside of an instruction, of which a debugger is not to know.
 * The machine calls it, with interrupts on.
 */
static __always_inline bool uprobe_step(struct pt_regs *regs)
{
	struct mm_uprobes *mu = current_uprobes();

	return unlikely(mu) && __start_ptrs_uprobe_ops[0]->step(mu, regs);
}

/* Where the program is: for a pc in a slot the probed place. Any context, not traced. */
static __always_inline unsigned long uprobe_true_pc(unsigned long pc)
{
	struct mm_uprobes *mu = current_uprobes();

	return unlikely(mu) ? __start_ptrs_uprobe_ops[0]->true_pc(mu, pc) : pc;
}

/*
 * The true return address for one that a walk of the program's stack has found. *cursor is NULL before the first, and
 * is kept from one to the next. Any context, not traced.
 */
static __always_inline unsigned long uprobe_true_return(unsigned long addr, const void **cursor)
{
	return unlikely(current_uprobes()) ? __start_ptrs_uprobe_ops[0]->true_return(addr, cursor) : addr;
}
