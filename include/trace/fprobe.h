/*
 * fprobes: functions of one's own are called at the entry and at the return of many functions, which a pattern chooses.
 * Names and rules are those of Linux 6.12.
 *
 *	static int enter(struct fprobe *fp, unsigned long ip, unsigned long ret_ip, struct pt_regs *regs, void *data);
 *	static void leave(struct fprobe *fp, unsigned long ip, unsigned long ret_ip, struct pt_regs *regs, void *data);
 *	static struct fprobe probe = {.entry_handler = enter, .exit_handler = leave};
 *	err = register_fprobe(&probe, "vfs_*", "vfs_read");
 *
 * An fprobe without an exit_handler is a user of call sites (struct ftrace_ops); one with it is a user of hooked
 * returns (struct fgraph_ops), of which there may be FGRAPH_USERS at once.
 */
#pragma once

#include <trace/fgraph.h>
#include <trace/ftrace.h>

struct fprobe;
struct fprobe_pool;
struct pt_regs;

/*
 * ip: the function's call site; ret_ip: where it returns to. At the entry regs have what the machine knows there
 * (arch/<machine>/task/regs.c): the arguments and the address. Nonzero: do not tell of this call's return. At the
 * return they have the result (regs_return_value()), the stack pointer and the pc of the caller. data: entry_data_size
 * bytes that are this call's, NULL when that is 0 or there is no exit_handler. Context: any, that of the function, with
 * preemption off, at the return and before it with interrupts off.
 */
typedef int (*fprobe_entry_cb)(struct fprobe *fp, unsigned long ip, unsigned long ret_ip, struct pt_regs *regs,
			       void *data);
typedef void (*fprobe_exit_cb)(struct fprobe *fp, unsigned long ip, unsigned long ret_ip, struct pt_regs *regs,
			       void *data);

#define FPROBE_FL_DISABLED 1u /* neither handler is called */

#define FPROBE_MAXACTIVE_MAX 4096u

struct fprobe {
	unsigned long nmissed; /* [a] calls untold: no place for data, no hook, a handler ran already */
	u32 flags;	       /* [a] FPROBE_FL_* */
	/* [I] while it is registered, from here on. Either handler may be NULL. */
	fprobe_entry_cb entry_handler;
	fprobe_exit_cb exit_handler;
	size_t entry_data_size;
	int nr_maxactive; /* calls under way that are told of; 0: two for each CPU and function, or any number */
	/* Of the kernel. */
	struct ftrace_ops ops;	  /* its functions */
	struct fgraph_ops gops;	  /* with an exit_handler */
	struct fprobe_pool *pool; /* NULL: no call has data, and their number has no limit */
	struct fprobe *next;	  /* [fprobe_mutex; read with preemption off] of those that have a pool */
};

/*
 * Begin. filter: a name or a glob; notfilter: NULL, or what to leave out of it. 0; or, with nothing changed:
 *	-EINVAL		no function matches; no handler; entry_data_size or nr_maxactive is too large
 *	-ENOENT		(by symbol) there is no function of this name
 *	-EBUSY		it is registered already
 *	-ENOSPC, -ENOMEM, -ENODEV: as register_ftrace_graph() and register_ftrace_function()
 * Thread context; sleeps, as all that follows.
 */
int register_fprobe(struct fprobe *fp, const char *filter, const char *notfilter);
/* The same for functions by address, or by name. num is 1 or more. */
int register_fprobe_ips(struct fprobe *fp, unsigned long *addrs, int num);
int register_fprobe_syms(struct fprobe *fp, const char **syms, int num);
/* End. When it returns 0 no handler runs any more; calls that are under way return untold. -EINVAL: not registered. */
int unregister_fprobe(struct fprobe *fp);

static inline bool fprobe_is_registered(const struct fprobe *fp)
{
	return fp->ops.flags & FTRACE_OPS_FL_ENABLED;
}
static inline bool fprobe_disabled(const struct fprobe *fp)
{
	return READ_ONCE(fp->flags) & FPROBE_FL_DISABLED;
}
/* Handlers are not called from now on, and are called again. Any context. */
static inline void disable_fprobe(struct fprobe *fp)
{
	WRITE_ONCE(fp->flags, fp->flags | FPROBE_FL_DISABLED);
}
static inline void enable_fprobe(struct fprobe *fp)
{
	WRITE_ONCE(fp->flags, fp->flags & ~FPROBE_FL_DISABLED);
}
