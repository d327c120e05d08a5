/* Records and sets of dynamic ftrace, shared by its core, its filters and its tracefs files. */
#pragma once

#include <lib/bitmap.h>
#include <sched/mutex.h>
#include <trace/ftrace.h>

struct module;

/*
 * Locks: l ftrace_lock; I immutable after boot.
 *
 * The records of the kernel's own sites come first, ascending by address. Behind them there is room for those of
 * modules: each module has a run of records, ascending, and between runs there may be records of nothing.
 */
struct dyn_ftrace {
	unsigned long ip; /* [I; a module's: l] address of the patched instruction; 0: the place is free */
	u32 sym;	  /* number of its symbol in kallsyms plus 1; 0: not looked up yet [any reader fills it in] */
};

extern struct mutex ftrace_lock; /* users, sets and sites; inside it: text_mutex */
extern struct dyn_ftrace *ftrace_recs;
extern unsigned ftrace_nr_kernel_recs;	  /* [I] the kernel's own */
extern unsigned ftrace_nr_recs;		  /* [I] and the room for modules: the size of every set and table of records */
extern unsigned ftrace_recs_end;	  /* [l] one more than the last record that was ever used: walks end here */
extern unsigned ftrace_nr_sites;	  /* [l] records that have a site */
extern unsigned long *ftrace_present_map; /* [l] records that have a site */
#define for_each_ftrace_rec(rec)                          \
	for ((rec) = 0; (rec) < ftrace_recs_end; (rec)++) \
		if (test_bit(rec, ftrace_present_map))
extern unsigned long *ftrace_enabled_map;  /* [l] sites that hold a call now */
extern unsigned long *ftrace_touched_map;  /* [l] sites that held one at some time */
extern struct ftrace_ops *ftrace_ops_list; /* [l] registered users */
/* Read on the way to a user; changed with all other CPUs parked, when no task is on such a way. */
extern struct ftrace_ops *ftrace_single_ops[]; /* the user that ftrace_single_caller_N calls */
/* Behind these: the user that ftrace_regs_caller calls, if no other user is registered; else NULL. */
#define FTRACE_SINGLE_REGS FTRACE_SINGLE_CALLERS
#define FTRACE_SINGLE_OPS  (FTRACE_SINGLE_CALLERS + 1)
extern unsigned long *ftrace_return_map; /* sites whose returns are wanted */
extern unsigned ftrace_nr_pages;	 /* of memory the records take, for dyn_ftrace_total_info */

/* Its function's name. That of a module's function is good while ftrace_lock is held. */
const char *ftrace_rec_name(struct dyn_ftrace *rec);
/* The name of its module; NULL: the kernel itself. As above. */
const char *ftrace_rec_module(const struct dyn_ftrace *rec);
/*
 * Number of the first record at this address or behind it, in the kernel or in the module that the address is in;
 * ftrace_nr_recs: none. Any context, as the next.
 */
unsigned ftrace_rec_at_or_after(unsigned long ip);
/* Boot: the records of the kernel are there. */
void ftrace_make_hints(void);
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

/*
 * The functions that the entry code calls (trace/ftrace/call.c). The entry code has disabled preemption once, and they
 * enable it again at their end. Any context.
 */
void ftrace_ops_single_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			    struct ftrace_regs *fregs);
void ftrace_ops_list_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *unused,
			  struct ftrace_regs *fregs);
/* True: regs have become those of the start of another function, where to go on. */
bool ftrace_ops_regs_func(unsigned long ip, unsigned long parent_ip, struct pt_regs *regs, struct ftrace_regs *fregs);

/*
 * ftrace/ftrace.c for modules/sites.c: these records are no more, and their sites nops. ftrace_lock and text_mutex
 * held, all other CPUs parked.
 */
void ftrace_forget_sites(unsigned first, unsigned n);
/*
 * Late sites: those that come at run time, with a module (trace/modules/sites.c). A kernel without modules has no such
 * struct, and each look-up for an address that is not in the kernel finds nothing.
 */
struct ftrace_late_sites {
	unsigned room; /* how many records they may have, behind those of the kernel */
	/* As ftrace_rec_at_or_after(), for an address that is not in the kernel. Any context. */
	unsigned (*rec_at_or_after)(unsigned long ip);
	/* The site of the function that starts at ip; 0 for a function without one. Thread context. */
	unsigned long (*location)(unsigned long ip);
	/* As ftrace_set_refresh(). */
	void (*refresh)(struct ftrace_set *set);
};
#define REGISTER_FTRACE_LATE_SITES(s) REGISTER_IN(ftrace_late_sites, s)
DECLARE_TABLE(ftrace_late_sites, const struct ftrace_late_sites);
/* NULL: this kernel has none. */
static inline const struct ftrace_late_sites *ftrace_late_sites(void)
{
	const struct ftrace_late_sites *late = NULL;

	for_each_in_table(ftrace_late_sites, late)
		break;
	return late;
}

/* Bring sites and ftrace_call in line with the users. ftrace_lock held; thread context. 0 or -errno. */
int ftrace_update(void);
/* What sites call that a user with FTRACE_OPS_FL_KPROBES alone wants. Before it is registered. Thread context. */
void ftrace_set_kprobe_caller(unsigned long caller);
/* The same with one user more, at the head of the list. On error it is not in the list, and was not called. */
int ftrace_add_user(struct ftrace_ops *ops);

/* Sets. The set is private to the caller. 0, -ENOMEM, -EINVAL when nothing matches. Takes ftrace_lock. */
int ftrace_set_match(struct ftrace_set *set, const char *pattern, bool add);
/*
 * Functions whose module will not tell that they go (module_will_tell) leave the set, but for those that `had` has,
 * too. For a user that keeps something of its own for each function, until its notifier gives that back. The lock of
 * that notifier and ftrace_lock held.
 */
void ftrace_set_drop_going(struct ftrace_set *set, const struct ftrace_set *had);
/* Both in one: functions join a set that began as `had`. Takes ftrace_lock. */
int ftrace_set_match_staying(struct ftrace_set *set, const char *pattern, const struct ftrace_set *had);
/* For filters of function_graph: a number names nothing, and to take away what is not in the set is -EINVAL, too. */
int ftrace_set_match_names(struct ftrace_set *set, const char *pattern, bool add);
/*
 * The same for the functions of a module whose names match; "!name": of everything but that module. -EINVAL: there is
 * no such function. ftrace_lock held, as for the next; for the others unless the set is private to the caller.
 */
int ftrace_set_match_module(struct ftrace_set *set, const char *pattern, const char *module, bool add);
/* The functions whose text the module frees (module_frees) leave the set. True: there were some. */
bool ftrace_set_leave(struct ftrace_set *set, const struct module *mod);
int ftrace_set_copy(struct ftrace_set *to, struct ftrace_set *from);
void ftrace_set_clear(struct ftrace_set *set);
/* Call it before looking at a set of no registered user: sites of modules that have gone leave the set. */
void ftrace_set_refresh(struct ftrace_set *set);
/* `waits`: the set has filters for modules to come, so no function in it does not mean all functions. 0, -ENOMEM. */
int ftrace_set_wait(struct ftrace_set *set, bool waits);
/*
 * Exchange ops' set `set` with `with` and let the sites follow: the old one is in `with` afterwards and can be freed at
 * once. On error nothing has changed. ftrace_lock held; thread context.
 */
int ftrace_ops_replace_set(struct ftrace_ops *ops, struct ftrace_set *set, struct ftrace_set *with);
