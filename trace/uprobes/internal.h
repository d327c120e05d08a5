/*
 * Probes in programs: what the files of this folder share.
 *
 *	uprobes.c	which places of which files are watched, and the consumers of each
 *	spaces.c	where they are in each address space: breakpoints, copies by fork, counters
 *	slots.c		pages of each address space in which instructions are executed
 *	hits.c		a breakpoint was met; signals, faults and steps inside of a slot
 *	returns.c	functions whose return is told
 *
 * Locks, outermost first: uprobe_mutex, mmap_lock [m], uprobes_lock. What a hit reads it reads under RCU.
 */
#pragma once

#include <arch/uprobes.h>
#include <lib/atomic.h>
#include <lib/list.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <sched/mutex.h>
#include <sched/sched.h>
#include <trace/uprobe_ops.h>
#include <trace/uprobes.h>

/* A watched place of a file. Locks: u uprobe_mutex; l uprobes_lock; I immutable. */
struct uprobe {
	struct hlist_node node;		   /* [l] by inode */
	struct inode *inode;		   /* [I] with a reference */
	unsigned long offset;		   /* [I] */
	unsigned long ref_ctr_offset;	   /* [I] 0: none */
	struct uprobe_insn insn;	   /* [I] what stands there */
	struct uprobe_consumer *consumers; /* [u; read in a round] */
	atomic_t refs;			   /* the registration, sites, calls that will return, hits */
	struct rcu_head rcu;
};

/* A watched place of an address space. It outlives its probe while it has a slot. Locks: m mmap_lock. */
struct uprobe_site {
	struct hlist_node node; /* [m; read with RCU] by address */
	unsigned long addr;	/* [I] */
	struct uprobe *uprobe;	/* [m; read with RCU] with a reference; NULL: no breakpoint stands there any more */
	unsigned long slot;	/* [m; read with RCU] 0: it has none yet */
	u8 len, done, pushed;	/* [I, once there is a slot] of the instruction; see struct uprobe_code */
	bool pushes_flags;	/* [I, once there is a slot] */
	bool counted;		/* [m] the counter has been raised */
	struct rcu_head rcu;
};

#define UPROBE_PAGE_SLOTS (PAGE_SIZE / UPROBE_SLOT_SIZE)
/* A page of slots. */
struct uprobe_page {
	struct uprobe_page *next;		      /* [I] older ones */
	unsigned long addr;			      /* [I] in the program */
	struct uprobe_site *owner[UPROBE_PAGE_SLOTS]; /* [m; read with RCU] NULL: free */
};

#define UPROBE_BUCKETS 256u
/* All of an address space that has, or had, a probe. It stays until its last user has gone. */
struct mm_uprobes {
	struct hlist_head sites[UPROBE_BUCKETS]; /* [m; read with RCU] */
	struct uprobe_page *pages;		 /* [m; read with RCU] newest first */
	unsigned long trampoline;		 /* [m; read without] a breakpoint to which functions return; 0: none */
};

/* A call whose return is told. */
struct uretprobe_call {
	struct uretprobe_call *next; /* the call outside of it */
	struct uprobe *uprobe;	     /* with a reference */
	unsigned long func;	     /* its first instruction */
	unsigned long returns_to;    /* the true return address */
	unsigned long sp;	     /* at the first instruction */
	bool chained;		     /* by a jump from `next`: both return at once */
};
/* Of a task. [t; read in interrupts of that task] */
struct uprobe_task {
	struct uretprobe_call *calls; /* innermost first */
	unsigned depth;
};

extern struct mutex uprobe_mutex; /* consumers come and go */

/* ---- uprobes.c */
void uprobe_put(struct uprobe *uprobe); /* any context */
static inline void uprobe_get(struct uprobe *uprobe)
{
	atomic_inc(&uprobe->refs);
}
/* Those of the file, each with a reference; *n says how many. NULL: none, or no memory. Thread context. */
struct uprobe **uprobes_of(const struct inode *inode, unsigned *n);
extern unsigned nr_uprobes; /* [l; read without] */

/* ---- spaces.c. [m] */
/* Watch the place wherever the address space has it. 0 or -ENOMEM. */
int uprobe_install(struct mm_struct *mm, struct uprobe *uprobe);
void uprobe_remove(struct mm_struct *mm, struct uprobe *uprobe);
/* Watch this one place no more. */
void uprobe_remove_site(struct mm_struct *mm, struct uprobe_site *site);
void uprobe_free_site(struct mm_struct *mm, struct uprobe_site *site);
/* [m, or RCU] The site for this address, or NULL. */
static __always_inline struct uprobe_site *uprobe_find_site(struct mm_uprobes *mu, unsigned long addr)
{
	struct uprobe_site *site;

	hlist_for_each_entry(site, &mu->sites[(addr >> 2 ^ addr >> 12) % UPROBE_BUCKETS], node)
		if (site->addr == addr)
			return site;
	return NULL;
}
static inline struct hlist_head *uprobe_bucket(struct mm_uprobes *mu, unsigned long addr)
{
	return &mu->sites[(addr >> 2 ^ addr >> 12) % UPROBE_BUCKETS];
}

/* ---- slots.c */
/* [m] Give the site a slot. 0, -ENOMEM, or -ERANGE: there is no room in its reach. */
int uprobe_make_slot(struct mm_struct *mm, struct uprobe_site *site);
void uprobe_free_slot(struct mm_uprobes *mu, struct uprobe_site *site); /* [m] */
/* [m] Where functions return to that are watched, or 0: out of memory. `near`: an address of the program. */
unsigned long uprobe_make_trampoline(struct mm_struct *mm, unsigned long near);
void uprobe_free_pages(struct mm_uprobes *mu);
int uprobe_dup_pages(struct mm_uprobes *new, const struct mm_uprobes *old); /* [m] without owners. 0 or -ENOMEM */
void uprobe_own_slot(struct mm_uprobes *mu, struct uprobe_site *site);	    /* [m] the site has a slot, from fork */
/* [RCU] The site in whose slot pc is, or NULL. Any context, not traced. */
struct uprobe_site *uprobe_site_of_slot(struct mm_uprobes *mu, unsigned long pc);

/* ---- hits.c */
/* Consumers may be called in between. Thread context. */
void uprobe_round_begin(void);
void uprobe_round_end(void);
/* Wait until each task has left the round that it is in. Thread context; sleeps. */
void uprobe_synchronize(void);

/* ---- returns.c */
/* The function that begins here is to be told of when it returns. */
void uretprobe_enter(struct uprobe *uprobe, struct pt_regs *regs);
/* A function has returned to the trampoline: tell, and go on where it would have. */
void uretprobe_return(struct pt_regs *regs);
unsigned long uretprobe_true_return(unsigned long addr, const void **cursor); /* as uprobe_true_return() */
