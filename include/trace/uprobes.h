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
struct pt_regs;
struct uprobe;

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
