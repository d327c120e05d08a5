/*
 * Dynamic function tracing: a record for every mcount site of the kernel, and users (ftrace_ops) that each
 * want a set of functions. The sites that any user wants call ftrace_caller, all others are nops.
 */
#pragma once

#include <lib/list.h>
#include <lib/types.h>

struct ftrace_ops;
struct seq_file;

/* What ftrace_caller keeps of the traced function's entry; only <asm/ftrace.h> looks inside. */
struct ftrace_regs;

/*
 * Called at the entry of a traced function. ip: the site; parent_ip: where the function will return to. Context: any,
 * that of the traced function; must be notrace, must not sleep, must cope with being called from inside itself.
 */
typedef void (*ftrace_func_t)(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			      struct ftrace_regs *fregs);

#define FTRACE_OPS_FL_ENABLED 0x01u /* registered */
#define FTRACE_OPS_FL_DYNAMIC 0x02u /* allocated: always called through the list, freed after a grace period */
#define FTRACE_OPS_FL_TRUE_PARENT 0x10u /* func passes parent_ip through fgraph_true_ret (trace/fgraph.h) itself */
#define FTRACE_OPS_FL_GRAPH   0x08u /* of an fgraph_ops: func is not called, its sites' returns are hooked */
#define FTRACE_OPS_FL_STUB    0x04u /* does nothing now (its array is switched off): its sites need not call */

/* A set of sites, one bit a record. An empty filter means every site, an empty notrace set none. */
struct ftrace_set {
	unsigned long *bits; /* [ftrace_lock] NULL: empty */
	unsigned count;      /* [ftrace_lock] bits set */
};
/* Locks: l ftrace_lock (changes; callers read under it being parked), I immutable while registered. */
struct ftrace_ops {
	ftrace_func_t func;         /* [l] */
	/*
	 * In place of func once a parent_ip may be the handler of hooked returns (trace/fgraph.h): it looks up what
	 * that stands for. NULL: the list calls func, and looks it up before.
	 */
	ftrace_func_t hooked_func;  /* [l] */
	const char *name;           /* [I] shown in enabled_functions */
	void *private;              /* [I] */
	u32 flags;                  /* [l] FTRACE_OPS_FL_* */
	struct ftrace_set filter;   /* [l] */
	struct ftrace_set exclude;  /* [l] */
	/* NULL, or the user whose sets these are in place of our own, which stay empty: set_ftrace_filter's. */
	const struct ftrace_ops *sets_of; /* [I] */
	struct ftrace_ops *next;    /* [l] */
};

/* Boot, before the second CPU: every site from a call to _mcount to a nop. Prints Linux's line. */
void ftrace_init(void);

/*
 * Start and stop calling ops->func. 0, -EBUSY when it is (not) registered, -ENODEV when ftrace is dead.
 * Thread context.
 */
int register_ftrace_function(struct ftrace_ops *ops);
int unregister_ftrace_function(struct ftrace_ops *ops);
/*
 * Add the functions that match a glob to a set, or replace the set (reset; buf NULL: empty it). -EINVAL: none
 * matches.
 */
int ftrace_set_filter(struct ftrace_ops *ops, const char *pattern, bool reset);
int ftrace_set_notrace(struct ftrace_ops *ops, const char *pattern, bool reset);
void ftrace_free_filter(struct ftrace_ops *ops); /* of an unregistered ops */
/* Change ops->func of a registered ops; the second sets hooked_func, too. */
void ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func);
void ftrace_ops_set_funcs(struct ftrace_ops *ops, ftrace_func_t func, ftrace_func_t hooked_func);

/* /proc/sys/kernel/ftrace_enabled: 0 turns every site into a nop whatever the users want. */
extern int ftrace_enabled;
int ftrace_set_enabled(bool on);
/* Something impossible was found while patching: no site is touched any more. */
bool ftrace_is_dead(void);
