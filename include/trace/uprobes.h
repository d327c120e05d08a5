/*
 * uprobes: a function of the kernel's is called each time a program comes to an instruction. The instruction is told by
 * a file and an offset in it, and every process that has it mapped for execution, now or later, is watched. Names and
 * rules are Linux's; docs/uprobes.md is the guide.
 *
 *	static int hit(struct uprobe_consumer *c, struct pt_regs *regs) { ... return 0; }
 *	static struct uprobe_consumer consumer = {.handler = hit};
 *	struct file *f = filp_open("/bin/sh", O_RDONLY, 0);
 *	struct uprobe *u = uprobe_register(f, 0x4f0, 0, &consumer);
 */
#pragma once

#include <lib/types.h>

struct file;
struct mm_struct;
struct pt_regs;
struct task_struct;
struct uprobe;
struct vm_area_struct;

/*
 * Who is told. The handlers run in the task that was hit, with its registers: interrupts and preemption are on, and
 * they may sleep and touch the program's memory. A handler must not itself register or unregister.
 */
struct uprobe_consumer {
	/* Before the instruction, whose address regs have as pc. A handler that changes pc sends the program there. */
	int (*handler)(struct uprobe_consumer *self, struct pt_regs *regs);
	/* When the function that begins at the instruction has returned to pc; func is its address. */
	int (*ret_handler)(struct uprobe_consumer *self, unsigned long func, struct pt_regs *regs);
	unsigned long nmissed;	      /* [a] returns that are not told: too many calls inside of each other */
	struct uprobe_consumer *next; /* [uprobe_mutex; read in a round] */
};

/*
 * Begin. `file` is open for reading, and is not needed afterwards. ref_ctr_offset is 0, or where in the file a 16-bit
 * counter stands, which is 1 larger in a process's memory while the place is watched there. ERR_PTR:
 *	-EINVAL		neither handler; an offset behind the end of the file, or (aarch64) not of an instruction;
 *			another counter than the consumers before; (aarch64) an instruction that may not be probed
 *	-ENOTSUPP	a breakpoint, or (x86_64) an instruction that may not be probed
 *	-EIO		the file has no pages that could be mapped, or could not be read
 *	-ENOMEM
 * Thread context; sleeps, as all that follows.
 */
struct uprobe *uprobe_register(struct file *file, loff_t offset, loff_t ref_ctr_offset, struct uprobe_consumer *uc);
/* End. When it returns no handler of the consumer runs any more. */
void uprobe_unregister(struct uprobe *uprobe, struct uprobe_consumer *uc);

/* ---- What address spaces tell. [m] of mm; m of both for the copy */

/* An area was made, has moved here, or has become executable. */
void uprobe_mmap(struct vm_area_struct *vma);
/*
 * The pages of this range are about to move. The breakpoints in them are taken out, because the records of their sites
 * name the old addresses. uprobe_mmap() puts them in again, at the new address or, when the move has failed, at the old
 * one.
 */
void uprobe_before_move(struct mm_struct *mm, unsigned long start, unsigned long end);
/* What was in this range has gone. */
void uprobe_munmap(struct mm_struct *mm, unsigned long start, unsigned long end);
/* fork: all areas and pages are copied. 0 or -ENOMEM. */
int uprobe_dup_mm(struct mm_struct *new, const struct mm_struct *old);
/* The last user has gone; no lock is needed. */
void uprobe_exit_mm(struct mm_struct *mm);

/* ---- What tasks tell. Thread context */

/* A child that has a copy of the parent's stack, or runs on it. 0 or -ENOMEM. */
int uprobe_fork(struct task_struct *child);
/* The task leaves its memory (exec, exit), or a child was not made. */
void uprobe_free_task(struct task_struct *t);
/* A signal is pending. True: the task is inside of an instruction, and is to take the signal a step later. */
bool uprobe_deny_signal(struct pt_regs *regs);
/*
 * The current program's instruction has faulted: its registers become those of the probed place, if it is in a slot.
 * addr is what the signal will tell; returned is what it must tell.
 */
unsigned long uprobe_fault(unsigned long addr);

/* ---- What the machine tells, with interrupts on */

/* A breakpoint of a program. False: it is none of ours. */
bool uprobe_breakpoint(struct pt_regs *regs);
/* A step of a program. True: it was ours, or one inside of an instruction, of which a debugger is not to know. */
bool uprobe_step(struct pt_regs *regs);

/* ---- For walks of the current program's stack. Any context, not traced */

/* Where the program is: for a pc in a slot the probed place. */
unsigned long uprobe_true_pc(unsigned long pc);
/*
 * The true return address for one that a walk has found. *cursor is NULL before the first, and is kept from one to the
 * next.
 */
unsigned long uprobe_true_return(unsigned long addr, const void **cursor);
