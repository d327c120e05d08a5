/*
 * kprobes: a function of one's own is called each time the kernel comes to an instruction, anywhere in its text or a
 * module's. Names and rules are Linux's.
 *
 *	static int before(struct kprobe *p, struct pt_regs *regs) { ... return 0; }
 *	static struct kprobe probe = {.symbol_name = "do_sys_openat2", .pre_handler = before};
 *	err = register_kprobe(&probe);
 *
 * At a call site of ftrace the probe is a user of ftrace. Elsewhere the instruction becomes a jump to a slot, which
 * calls the handlers and executes the instruction there, or, where a jump cannot stand, a breakpoint. A probe with a
 * post_handler is never a jump.
 */
#pragma once

#include <lib/list.h>
#include <lib/types.h>

struct kprobe;
struct kprobe_site;
struct pt_regs;

/* Of the kernel's text: one instruction on aarch64, one byte on x86_64. */
typedef u8 kprobe_opcode_t;

/*
 * Before the instruction is executed. regs are those that it is going to find, its own address as pc. Nonzero: the
 * handler has set regs itself, and execution goes on at their pc without the instruction; only a probe with a
 * post_handler may do that, and not at a call site of ftrace. Context: any, that of the probed code, with preemption
 * off, and with interrupts off where the probe is a breakpoint. Another probe that is met inside of a handler is not
 * called, and counts as missed.
 */
typedef int (*kprobe_pre_handler_t)(struct kprobe *p, struct pt_regs *regs);
/*
 * When it has been executed: regs as it left them, but their pc is the probed address still; of a branch to a register
 * or a return, which leaves no place behind it, before it is executed. flags is 0. The same context.
 */
typedef void (*kprobe_post_handler_t)(struct kprobe *p, struct pt_regs *regs, unsigned long flags);

#define KPROBE_FLAG_GONE     1u /* the module of the instruction has gone: never called any more */
#define KPROBE_FLAG_DISABLED 2u

struct kprobe {
	struct list_head list;		  /* of its site [kprobe_mutex, and all other CPUs parked] */
	struct kprobe_site *site;	  /* [kprobe_mutex] NULL: not registered, or gone */
	unsigned long nmissed;		  /* [a] hits that were not told, since a handler was running on that CPU */
	kprobe_opcode_t *addr;		  /* the instruction; NULL before registration: of symbol_name */
	const char *symbol_name;	  /* NULL, or a name, "module:name" for a module's */
	unsigned int offset;		  /* bytes from addr or from the symbol */
	kprobe_pre_handler_t pre_handler; /* either may be NULL */
	kprobe_post_handler_t post_handler;
	u32 flags; /* KPROBE_FLAG_*; before registration 0 or DISABLED */
};

/*
 * Begin. 0; or, with nothing changed:
 *	-EINVAL		addr and symbol_name, or neither; registered already; not in the kernel's text or a module's;
 *			an instruction that may not be probed: of the entry code, of what handles a hit, of a place that
 *			the kernel changes itself, or one that cannot be executed elsewhere (arch/<machine>/kprobes.c)
 *	-EILSEQ		in the middle of an instruction
 *	-ENOENT		no such symbol
 *	-ENOMEM, -ENODEV (ftrace is dead), -EBUSY (the module is going)
 * Thread context; sleeps, as all that follows.
 */
int register_kprobe(struct kprobe *p);
/* End. When it returns no handler runs any more. One that is not registered is left alone. */
void unregister_kprobe(struct kprobe *p);
/* All or none. */
int register_kprobes(struct kprobe **ps, int num);
void unregister_kprobes(struct kprobe **ps, int num);
/* Not called, but registered, and called again. -EINVAL: not registered, or gone. */
int disable_kprobe(struct kprobe *p);
int enable_kprobe(struct kprobe *p);

/*
 * Where the instruction at pc really stands: for a pc in a slot that is the probed place, else pc itself. Any context,
 * not traced. What looks up a faulting instruction asks here first.
 */
unsigned long kprobe_true_pc(unsigned long pc);
/*
 * The first bytes of the text at addr, as they are without probes: what reads code in order to decode it asks here.
 * len is at most 16. Any context, not traced. False: it cannot be read.
 */
bool kprobe_read_text(unsigned long addr, void *to, unsigned len);

/*
 * From the machine's handler of breakpoints: is the one at `addr` a probe's? Then its handlers are called and regs lead
 * to where execution goes on. Interrupts off; nothing that may be probed has run yet.
 */
bool kprobe_breakpoint(unsigned long addr, struct pt_regs *regs);

/*
 * A function that may not be probed: it is executed before a hit is known to be one, or when the handlers have returned
 * and its own hit would come to the same place again. By section, so that the compiler's parts of it follow.
 */
#define __kprobes notrace noinline __attribute__((section(".kprobes.text")))
