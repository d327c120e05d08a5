/*
 * Dynamic function tracing: a record for every mcount site of the kernel, and users (ftrace_ops) that each
 * want a set of functions. The sites that any user wants call ftrace_caller, all others are nops.
 */
#pragma once

#include <asm/ptrace.h>
#include <lib/atomic.h>
#include <lib/list.h>
#include <lib/types.h>

struct ftrace_ops;
struct seq_file;

/* What ftrace_caller keeps of the traced function's entry; only <asm/ftrace.h> looks inside. */
struct ftrace_regs;

/*
 * Called at the entry of a traced function. ip: the site; parent_ip: where the function will return to (its true
 * caller, also while returns are hooked). Context: any, that of the traced function, nmi included, but with
 * preemption off; must be notrace and must not sleep. Whether it may come to be called from inside of itself,
 * FTRACE_OPS_FL_RECURSION says.
 */
typedef void (*ftrace_func_t)(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			      struct ftrace_regs *fregs);

/* What a user may ask for. */
#define FTRACE_OPS_FL_SAVE_REGS		     0x01u /* ftrace_get_regs(fregs) gives all registers */
#define FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED 0x02u /* the same, and not refused where that cannot be done */
/*
 * func protects itself, or need not: it calls nothing that is traced. Without this flag it is not called where it, or
 * any tracer, is running already in the same context (task, softirq, interrupt, nmi).
 */
#define FTRACE_OPS_FL_RECURSION 0x04u
#define FTRACE_OPS_FL_IPMODIFY	0x08u /* func may have another function run; needs SAVE_REGS and a filter */
#define FTRACE_OPS_FL_DIRECT	0x20u /* set by register_ftrace_direct() */
#define FTRACE_OPS_FL_PERMANENT 0x10u /* while it is registered, ftrace_enabled cannot be made 0 */
/* What the core and its tracers use. */
#define FTRACE_OPS_FL_ENABLED	  0x100u /* registered */
#define FTRACE_OPS_FL_GRAPH	  0x200u /* of an fgraph_ops: func is not called, its sites' returns are hooked */
#define FTRACE_OPS_FL_TRUE_PARENT 0x400u /* func passes parent_ip through fgraph_true_ret (trace/fgraph.h) itself */
/*
 * func may be called without anything between: with preemption on, any op, a parent_ip that is the handler of hooked
 * returns (unless there is a hooked_func), for a site that its user does not want, and a little after that user is
 * gone.
 */
#define FTRACE_OPS_FL_CORE 0x800u
/* With SAVE_REGS: a site that nobody else wants calls kprobe_called(), and not func. */
#define FTRACE_OPS_FL_KPROBES 0x1000u
#define FTRACE_OPS_FL_MASK    0x1f3fu

/* A set of sites, one bit a record. An empty filter means every site, an empty notrace set none. */
struct ftrace_set {
	unsigned long *bits; /* [ftrace_lock] NULL: empty */
	unsigned count;	     /* [ftrace_lock] bits set, one more for `waits` and one more for `lost` */
	bool waits;	     /* [ftrace_lock] for modules: it filters even without a bit (modules/filters.c) */
	bool lost;	     /* [ftrace_lock] sites that were freed with a module: it filters even without a bit */
	u32 seen;	     /* [ftrace_lock] up to which module that went it knows (modules/sites.c) */
};
/* Locks: l ftrace_lock (changes; callers read under it being parked), I immutable while registered. */
struct ftrace_ops {
	ftrace_func_t func; /* [l] */
	/* With FTRACE_OPS_FL_CORE: in place of func when it is called straight; NULL: func is, too. */
	ftrace_func_t straight_func; /* [l] */
	/*
	 * With FTRACE_OPS_FL_CORE: in place of these two once a parent_ip may be the handler of hooked returns
	 * (trace/fgraph.h): it looks up what that stands for. NULL: func is not called straight then.
	 */
	ftrace_func_t hooked_func; /* [l] */
	const char *name;	   /* [I] shown in enabled_functions */
	void *private;		   /* [I] */
	u32 flags;		   /* [l] FTRACE_OPS_FL_* */
	struct ftrace_set filter;  /* [l] */
	struct ftrace_set exclude; /* [l] */
	/* NULL, or the user whose sets these are in place of our own, which stay empty: set_ftrace_filter's. */
	struct ftrace_ops *sets_of; /* [I] */
	struct ftrace_ops *next;    /* [l] */
	unsigned long direct_call;  /* the trampoline; a single word that modify_ftrace_direct() stores */
	atomic_t direct_running;    /* [a] tasks that are in the trampoline or on their way to it */
};

/* Boot, before the second CPU: every site from a call to _mcount to a nop. Prints Linux's line. */
void ftrace_init(void);

/*
 * Start calling ops->func. Thread context, as all that follows. Nothing has changed on error:
 *	-EINVAL		no func, flags that are not known, IPMODIFY without SAVE_REGS or with no filter
 *	-EBUSY		registered already; IPMODIFY for a function for which another user has it; PERMANENT while
 *			ftrace_enabled is 0
 *	-EOPNOTSUPP	IPMODIFY for a function whose prologue cannot be undone (asm/ftrace.h)
 *	-ENODEV		ftrace is dead (below)
 */
int register_ftrace_function(struct ftrace_ops *ops);
/*
 * Stop. When it returns func runs nowhere and is not called any more: ops may be freed. -EBUSY: it is not registered;
 * -ENODEV: ftrace is dead, and func may still be called.
 */
int unregister_ftrace_function(struct ftrace_ops *ops);

/*
 * Which functions: those of the filter, or all while that is empty, without those of the notrace set. buf is a name, a
 * glob, or with ! in front what to take out of the set; len its length. reset: begin with an empty set; NULL only
 * empties it. Also of a registered user, whose sites follow. 0, -EINVAL: nothing matches; -ENOMEM; else as
 * register_ftrace_function (IPMODIFY). Nothing has changed on error.
 */
int ftrace_set_filter(struct ftrace_ops *ops, unsigned char *buf, int len, int reset);
int ftrace_set_notrace(struct ftrace_ops *ops, unsigned char *buf, int len, int reset);
/*
 * Add the function that starts or has its site at ip to the filter, or remove it. -EINVAL: there is none; -ENOENT: it
 * is to be removed from a filter that it is not in.
 */
int ftrace_set_filter_ip(struct ftrace_ops *ops, unsigned long ip, int remove, int reset);
/* The site of the function that starts, or has its site, at ip; 0: none. Any context. */
unsigned long ftrace_location(unsigned long ip);
/* Both sets become empty. Of a registered user nothing changes, and there is a warning. */
void ftrace_free_filter(struct ftrace_ops *ops);
/* ops goes by set_ftrace_filter and set_ftrace_notrace in place of own sets. Not of a registered user, as above. */
void ftrace_ops_set_global_filter(struct ftrace_ops *ops);

/*
 * Call the trampoline at `addr` at the entry of the functions in the filter of ops, before their bodies
 * (trace/ftrace/direct.c). It is assembly, for the machine's calling convention: it finds the arguments and the return
 * address where a function finds them, keeps all of them, and returns. It runs in the function's own context. ops->func
 * must be NULL.
 *	-EINVAL		no filter, a func, no address; for the others also: not registered, or with another address
 *	-EBUSY		another trampoline is at one of the functions
 *	else		as register_ftrace_function(); -EOPNOTSUPP: the function's arguments cannot be found at its site
 */
int register_ftrace_direct(struct ftrace_ops *ops, unsigned long addr);
/* Waits for tasks that are inside of the trampoline: when it returns 0, the trampoline may be freed. */
int unregister_ftrace_direct(struct ftrace_ops *ops, unsigned long addr, bool free_filters);
/* Another trampoline from now on. Tasks may still be in the old one until ops is unregistered. */
int modify_ftrace_direct(struct ftrace_ops *ops, unsigned long addr);

/* ---- For func */

/*
 * All registers as they were at the site, or NULL unless this user, or another of the same site, asked for them. What
 * func changes is in force when the function goes on, but for the stack pointer, on aarch64 the frame pointer and the
 * link register, and the flags. The pc counts only from a user with FTRACE_OPS_FL_IPMODIFY. From func only.
 */
struct pt_regs *ftrace_get_regs(struct ftrace_regs *fregs);
/*
 * The function whose start pc is runs in place of the traced one, with its arguments and its return address. It must
 * take the same arguments. One that calls the replaced function comes to be called again: func has to look at
 * parent_ip. With IPMODIFY only.
 */
static inline void ftrace_regs_set_instruction_pointer(struct ftrace_regs *fregs, unsigned long pc)
{
	instruction_pointer_set(ftrace_get_regs(fregs), pc);
}

/*
 * For a callback: >= 0, the context is marked as being in a tracer until the number is given back, and preemption is
 * off; -1: it is so already, keep out. Without FTRACE_OPS_FL_RECURSION the core has done that; then the first call
 * returns >= 0, too, and those of callbacks below it -1.
 */
int ftrace_test_recursion_trylock(unsigned long ip, unsigned long parent_ip);
void ftrace_test_recursion_unlock(int bit);

/* ---- For the core's tracers */

/* Change ops->func of a registered ops; the second sets what is called straight, too. */
void ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func);
void ftrace_ops_set_funcs(struct ftrace_ops *ops, ftrace_func_t func, ftrace_func_t straight_func,
			  ftrace_func_t hooked_func);

/* /proc/sys/kernel/ftrace_enabled: 0 turns every site into a nop whatever the users want. */
extern int ftrace_enabled;
/* 0, -EBUSY: a user is PERMANENT, -ENODEV. */
int ftrace_set_enabled(bool on);
/* Something impossible was found while patching: no site is touched any more. */
bool ftrace_is_dead(void);
