/* Probed places and slots. Private to trace/kprobes. */
#pragma once

#include <arch/kprobes.h>
#include <arch/regs.h>
#include <lib/hash.h>
#include <trace/kprobes.h>

struct module;
struct seq_file;

/* How a place comes to be noticed. */
enum kprobe_how {
	KPROBE_BY_BREAK,
	KPROBE_BY_JUMP,
	KPROBE_BY_FTRACE,
};

/* A slot, and its entry in the list of slots that were given up while a task was inside. */
struct kprobe_slot {
	struct kprobe_slot *next;  /* [kprobe_mutex] of those that are free, or given up */
	struct kprobe_site *owner; /* NULL once it is given up [all other CPUs parked; read from the slot's code] */
	unsigned long text;	   /* where it is executed */
	unsigned long addr;	   /* the probed place; stays until the slot is used again */
};

/* A probed place. Locks: k kprobe_mutex; p all other CPUs parked, read in any context; I immutable. */
struct kprobe_site {
	struct kprobe_site *next;  /* [k, p] in its bucket */
	unsigned long addr;	   /* [I] */
	enum kprobe_how how;	   /* [I] */
	bool armed;		   /* [k, p] */
	bool blocked;		   /* [k] it could not become a jump at this moment (kprobe_settle) */
	bool has_post;		   /* [I] a probe with a post_handler may join; by ftrace [k, p]: has */
	bool several;		   /* [I] a jump over more than one instruction */
	unsigned len;		   /* [I] bytes that are replaced */
	struct kprobe_slot *slot;  /* [I] NULL: by ftrace */
	unsigned long entry, code; /* [I] addresses in the slot */
	struct list_head probes;   /* [k, p] */
	struct kprobe *single; /* [k, p] while armed: the only one, which has a pre_handler alone; NULL: see probes */
	u8 original[KPROBE_MAX_COPY] __aligned(8); /* [I] what stood there */
};

extern struct mutex kprobe_mutex; /* registration. Outside ftrace_lock and text_mutex, inside module_mutex */

/* ---- slots.c. kprobe_mutex held */
/* NULL: out of memory. */
struct kprobe_slot *kprobe_slot_get(void);
/* One that was not used. */
void kprobe_slot_put(struct kprobe_slot *slot);
/* With text_mutex held and all CPUs parked: write what code->bytes has. */
void kprobe_slot_write(const struct kprobe_slot *slot, const struct kprobe_code *code);
/* Give it up: it is used again when no task is inside. The same context. */
void kprobe_slot_retire(struct kprobe_slot *slot);
/* Take back what was given up and is empty. The same context. */
void kprobe_slots_reap(void);
/* Is a task inside of a slot that was given up, for a place in [start, end)? After kprobe_slots_reap(), in its stop. */
bool kprobe_slot_retired(unsigned long start, unsigned long end);
/* The slot that this address is in, or NULL. Any context, not traced. */
const struct kprobe_slot *kprobe_slot_at(unsigned long pc);
/* Is a task preempted between two instructions inside of [start + 1, end)? All CPUs parked. */
bool kprobe_task_inside(unsigned long start, unsigned long end);

/* ---- hits.c */
#define KPROBE_BUCKET_BITS 8
#define KPROBE_BUCKETS	   (1u << KPROBE_BUCKET_BITS)
extern struct kprobe_site *kprobe_sites[KPROBE_BUCKETS]; /* by address [k, p] */
static __always_inline struct kprobe_site **kprobe_bucket(unsigned long addr)
{
	return &kprobe_sites[hash_32(addr, KPROBE_BUCKET_BITS)];
}
/* The site that begins at addr, or NULL. Preemption off, or kprobe_mutex. */
static __always_inline struct kprobe_site *kprobe_find_site(unsigned long addr)
{
	struct kprobe_site *site = READ_ONCE(*kprobe_bucket(addr));

	while (site && site->addr != addr)
		site = site->next;
	return site;
}
static __always_inline bool kprobe_is_enabled(const struct kprobe *p)
{
	return !(p->flags & (KPROBE_FLAG_GONE | KPROBE_FLAG_DISABLED));
}
/* Before a slot is used: exceptions and readers of text know of probes from now on. */
void kprobe_set_hooks(void);
/* Have ftrace call a site, or no more. 0 or -errno of ftrace. kprobe_mutex held. */
int kprobe_ask_ftrace(unsigned long addr, bool on);

/* ---- sites.c. kprobe_mutex held */
extern bool kprobes_all_disarmed, kprobes_allow_optimization; /* [k] debugfs kprobes/enabled, sysctl */
/* All that one stop does. */
struct kprobe_change {
	struct kprobe_site *drop;	/* taken out, its text restored */
	struct kprobe_site *add;	/* put in; it takes over the probes of `drop` */
	const struct kprobe_code *code; /* for the slot of `add` */
	struct kprobe *leave, *join;	/* a probe that leaves its list; one that joins that of `site` */
	struct kprobe_site *site;	/* what is armed or disarmed in the end; NULL: nothing */
	bool arm;			/* set by kprobe_change_site() */
};
/* Make the change, and have its site armed if `wanted`. 0, or -errno of ftrace: it is made, and the site not armed. */
int kprobe_change_site(struct kprobe_change *c, bool wanted);
/*
 * The place is noticed in another way from now on: with calls after the instruction, or without a jump. The site is
 * freed, and another one has its probes. 0 or -errno: as make and change.
 */
int kprobe_replace_site(struct kprobe_site *old, bool post, bool jump);
/* After a change, which may have found that it cannot become a jump now: then it is replaced. 0 or -errno. */
int kprobe_settle(struct kprobe_site *site);
bool kprobe_any_enabled(const struct kprobe_site *site);
/* Taken out with its last probe, p, which may be NULL: its probes are the caller's. The site is freed. */
void kprobe_drop_site(struct kprobe_site *site, struct kprobe *p);
/*
 * Before p joins: the site for addr, which is made if it is not there: then it is not linked yet, and *code has what
 * its slot holds. ERR_PTR: as register_kprobe().
 */
struct kprobe_site *kprobe_site_for(const struct kprobe *p, unsigned long addr, struct kprobe_code *code);

/* ---- kprobes.c, for kretprobes. No lock */
/* 0, and the address that p asks for by its symbol or as such; -EINVAL, -ENOENT. */
int kprobe_find_address(const struct kprobe *p, unsigned long *addr);
/* Holds the module whose text addr is in; NULL: the kernel. -EINVAL: neither, or no place for probes; -EBUSY. */
int kprobe_hold_module(unsigned long addr, struct module **mod);

/* ---- kretprobes.c */
extern struct mutex kretprobe_mutex; /* registration. Inside event_mutex, outside ftrace_graph_lock */
/* Each of them, for debugfs kprobes/list. Thread context, no lock. */
void kretprobes_show(struct seq_file *m, void (*show)(struct seq_file *m, const struct kprobe *kp));

/* ---- kprobes.c: what the files of debugfs and /proc ask for. Thread context, no lock. 0 or -errno */
bool kprobe_blacklist_range(unsigned n, unsigned long *start, unsigned long *end); /* false: there are no more */
int kprobes_set_armed(bool on);
int kprobes_set_optimization(bool on);

/* ---- kretprobes.c, fprobe.c: a task is freed, which may have ended within a probed call. Any context */
struct fgraph_stack;
struct task_struct;
void probes_forget_task(const struct task_struct *task);
void fprobe_forget_stack(const struct fgraph_stack *stack); /* the part of fprobes */
