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
struct module;
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
	u32 flags; /* KPROBE_FLAG_*; of them only DISABLED counts at the registration */
};

/*
 * Begin. 0; or, with nothing changed:
 *	-EINVAL		addr and symbol_name, or neither; registered already; not in the kernel's text or a module's;
 *			an instruction that may not be probed: of the entry code, of what handles a hit, of a place that
 *			the kernel changes itself, or one that cannot be executed elsewhere (arch/<machine>/probes)
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

/* ---- Returns */

struct kretprobe;
struct kretprobe_pool;

/* A call that is under way. Good until its handler returns. */
struct kretprobe_instance {
	struct kretprobe *rp;
	struct task_struct *task;
	kprobe_opcode_t *ret_addr; /* where the function returns to */
	void *fp;		   /* the word of the stack that has the return address */
	char data[] __aligned(8);  /* the probe's own: data_size bytes, of any content at the entry */
};
static inline struct kretprobe *get_kretprobe(struct kretprobe_instance *ri)
{
	return ri->rp;
}
static inline unsigned long get_kretprobe_retaddr(struct kretprobe_instance *ri)
{
	return (unsigned long)ri->ret_addr;
}

/*
 * At the function's return: regs have its result (regs_return_value()), the stack pointer and the pc of its caller, and
 * zeros else. As entry_handler: at its entry, regs have what the machine knows there (arch/<machine>/task/regs.c);
 * nonzero: do not tell of this call's return. Context: any, that of the function, with interrupts off. Its value at the
 * return is not used.
 */
typedef int (*kretprobe_handler_t)(struct kretprobe_instance *ri, struct pt_regs *regs);

#define KRETPROBE_MAXACTIVE_MAX 4096
#define KRETPROBE_MAX_DATA_SIZE 4096

/* The return of a function that has a call site of ftrace. Locks: k kretprobe_mutex. */
struct kretprobe {
	struct kprobe kp;	     /* addr or symbol_name, offset, flags; a handler of it is not called */
	kretprobe_handler_t handler; /* either may be NULL */
	kretprobe_handler_t entry_handler;
	int maxactive;		/* calls under way at once that are told of; 0 or less: 10, or two for each CPU */
	int nmissed;		/* [a] calls that were not */
	size_t data_size;	/* of an instance's data */
	unsigned long site;	/* [k] */
	struct kretprobe *next; /* [k; read with preemption off] */
	struct kretprobe *next_registered; /* [k] */
	struct kretprobe_pool *pool;	   /* [k] NULL: not registered */
	struct kprobe at_entry; /* [k] for entry_handler, where a call site has no arguments; addr NULL: not needed */
};

/*
 * As those of kprobes, with the same errors. -EINVAL, too: the function has no call site of ftrace, or maxactive is too
 * large; -E2BIG: data_size is. When unregister or disable returns no handler runs; calls that are under way return
 * untold.
 */
int register_kretprobe(struct kretprobe *rp);
void unregister_kretprobe(struct kretprobe *rp);
int register_kretprobes(struct kretprobe **rps, int num);
void unregister_kretprobes(struct kretprobe **rps, int num);
int disable_kretprobe(struct kretprobe *rp);
int enable_kretprobe(struct kretprobe *rp);

/*
 * A module has come, and probes can be put into its text: called with module_mutex held, before its init. NULL: nobody.
 */
extern void (*kprobe_module_came)(struct module *mod);

/*
 * The first bytes of the text at addr, as they are without probes: what reads code in order to decode it asks here.
 * len is at most 16. Any context, not traced. False: it cannot be read.
 */
bool kprobe_read_text(unsigned long addr, void *to, unsigned len);

/* In a module: the function may not be probed. register_kprobe() refuses it with -EINVAL. */
#define NOKPROBE_SYMBOL(fn) \
	static const unsigned long __used __section("_kprobe_blacklist") _kprobe_no_##fn = (unsigned long)(fn)

/*
 * A function that may not be probed: it is executed before a hit is known to be one, or when the handlers have returned
 * and its own hit would come to the same place again. By section, so that the compiler's parts of it follow.
 */
#define __kprobes notrace noinline __attribute__((section(".kprobes.text")))
