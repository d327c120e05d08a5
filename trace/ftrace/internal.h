/* Records and sets of dynamic ftrace, shared by its core, its filters and its tracefs files. */
#pragma once

#include <lib/bitmap.h>
#include <sched/mutex.h>
#include <trace/ftrace.h>

/* Locks: l ftrace_lock; I immutable after boot. */
struct dyn_ftrace {
	unsigned long ip; /* [I] address of the patched instruction */
	u32 sym;	  /* number of its symbol in kallsyms plus 1; 0: not looked up yet [any reader fills it in] */
};

extern struct mutex ftrace_lock;       /* users, sets and sites; inside it: text_mutex */
extern struct dyn_ftrace *ftrace_recs; /* ascending by ip */
extern unsigned ftrace_nr_recs;
extern unsigned long *ftrace_enabled_map;  /* [l] sites that hold a call now */
extern unsigned long *ftrace_touched_map;  /* [l] sites that held one at some time */
extern struct ftrace_ops *ftrace_ops_list; /* [l] registered users */
/* Read on the way to a user; changed with all other CPUs parked, where nobody is on one. */
extern struct ftrace_ops *ftrace_single_ops[]; /* whom ftrace_single_caller_N is for */
extern unsigned long *ftrace_return_map;       /* sites whose returns are wanted */
extern unsigned ftrace_nr_pages;	       /* of memory the records take, for dyn_ftrace_total_info */

const char *ftrace_rec_name(struct dyn_ftrace *rec);
/* Number of the first record at this address or behind it, ftrace_nr_recs: none. Any context, as the next. */
unsigned ftrace_rec_at_or_after(unsigned long ip);
/* Number of the record at exactly this site, -1: none. */
long ftrace_rec_of(unsigned long ip);
/* Does ops want this record (its sets only)? */
static inline bool ftrace_ops_wants(const struct ftrace_ops *ops, unsigned rec)
{
	if (unlikely(ops->sets_of))
		ops = ops->sets_of;
	if (ops->filter.count && !((ops->filter.bits[rec / 64] >> (rec % 64)) & 1))
		return false;
	return !ops->exclude.count || !((ops->exclude.bits[rec / 64] >> (rec % 64)) & 1);
}
#define for_each_ftrace_op(op) for ((op) = READ_ONCE(ftrace_ops_list); (op); (op) = READ_ONCE((op)->next))

/* What the entry code calls (trace/ftrace/call.c): preemption is off by one, and is on again at the end. */
void ftrace_ops_single_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			    struct ftrace_regs *fregs);
void ftrace_ops_list_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *unused,
			  struct ftrace_regs *fregs);
/* True: regs have become those of the start of another function, where to go on. */
bool ftrace_ops_regs_func(unsigned long ip, unsigned long parent_ip, struct pt_regs *regs, struct ftrace_regs *fregs);

/* Bring sites and ftrace_call in line with the users. ftrace_lock held; thread context. 0 or -errno. */
int ftrace_update(void);

/* Sets. ftrace_lock held unless the set is private to the caller. -ENOMEM, -EINVAL when nothing matches. */
int ftrace_set_match(struct ftrace_set *set, const char *pattern, bool add);
/* For filters of function_graph: a number names nothing, and to take away what is not in the set is -EINVAL, too. */
int ftrace_set_match_names(struct ftrace_set *set, const char *pattern, bool add);
int ftrace_set_copy(struct ftrace_set *to, const struct ftrace_set *from);
void ftrace_set_clear(struct ftrace_set *set);
/* Whether modules to come are waited for: then an empty set does not mean all functions. -ENOMEM. */
int ftrace_set_wait(struct ftrace_set *set, bool waits);
/*
 * Exchange ops' set `set` with `with` and let the sites follow: the old one is in `with` afterwards and can be freed at
 * once. On error nothing has changed. ftrace_lock held; thread context.
 */
int ftrace_ops_replace_set(struct ftrace_ops *ops, struct ftrace_set *set, struct ftrace_set *with);
