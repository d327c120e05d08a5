/* Probed places and slots. Private to trace/kprobes. */
#pragma once

#include <arch/kprobes.h>
#include <trace/kprobes.h>

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
	struct kprobe_site *next; /* [k, p] in its bucket */
	unsigned long addr;	  /* [I] */
	enum kprobe_how how;	  /* [I] */
	bool armed;		  /* [k] */
	bool blocked;		  /* [k] it could not become a jump at this moment (settle) */
	bool has_post;		  /* [I] a probe with a post_handler may join */
	unsigned len;		  /* [I] bytes that are replaced */
	struct kprobe_slot *slot; /* [I] NULL: by ftrace */
	unsigned long entry, code;		/* [I] addresses in the slot */
	struct list_head probes;		/* [k, p] */
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

/* ---- kprobes.c */
#define KPROBE_BUCKETS 256u
extern struct kprobe_site *kprobe_sites[KPROBE_BUCKETS]; /* [k, p] */
/* May the address not be probed because of where it lies? */
bool kprobe_is_blacklisted(unsigned long addr);
/* Each range of the blacklist; false: there are no more. */
bool kprobe_blacklist_range(unsigned n, unsigned long *start, unsigned long *end);
/* Are places armed at all (debugfs kprobes/enabled), are jumps used (sysctl debug.kprobes-optimization)? */
extern bool kprobes_all_disarmed, kprobes_allow_optimization; /* [k] */
int kprobes_set_armed(bool on); /* 0 or -errno, as the next. Thread context, no lock */
int kprobes_set_optimization(bool on);
