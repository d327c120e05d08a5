/*
 * Loadable modules: relocatable ELF files that are linked into the running kernel, and taken out again.
 *
 * A module is born by init_module(2) and dies by delete_module(2). In between it is in one of these states:
 *
 *	UNFORMED  the name is taken; only the loader looks at it, and no reference is given
 *	COMING    it is linked, its text is executable, its call sites are known; its init runs
 *	LIVE      init has returned 0; its init memory is freed
 *	GOING     its exit runs, or its init has failed; no new references are given
 *
 * Code that calls into a module from outside (an open file, a callback) holds a reference to it, or takes its callbacks
 * away in the module's own exit function: after that no code of it may be on any stack.
 */
#pragma once

#include <kernel/export.h>
#include <kernel/jump_label.h>
#include <kernel/ksyms.h>
#include <lib/atomic.h>
#include <lib/list.h>
#include <lib/types.h>
#include <sched/mutex.h>

struct dentry;
struct module_check;

#define MODULE_NAME_LEN KSYM_MODULE_LEN /* with the zero at its end */

enum module_state {
	MODULE_STATE_LIVE,
	MODULE_STATE_COMING,
	MODULE_STATE_GOING,
	MODULE_STATE_UNFORMED,
};

/* Parts of its memory by their rights. The last three are freed when init has returned. */
enum module_part {
	MODULE_TEXT,   /* r-x */
	MODULE_RODATA, /* r-- */
	MODULE_DATA,   /* rw- */
	MODULE_INIT_TEXT,
	MODULE_INIT_RODATA,
	MODULE_INIT_DATA,
	NR_MODULE_PARTS
};
struct module_memory {
	unsigned long base, size; /* size 0: nothing of this kind. Whole pages */
};

/* A section that is in memory. */
struct module_section {
	const char *name;
	unsigned long address, size;
};

/* A module that this one takes symbols from. */
struct module_use {
	struct list_head sources; /* user->uses */
	struct list_head users;	  /* source->used_by */
	struct module *source, *user;
	struct dentry *holder; /* [m] the user's link in /sys/module/<source>/holders */
};

/* Locks: m module_mutex; I immutable from COMING on; a atomic. */
struct module {
	/* What the build fills in (tools/modpost.py). */
	char name[MODULE_NAME_LEN]; /* [I] */
	int (*init)(void);	    /* [I] NULL: nothing to do */
	void (*exit)(void);	    /* [m] NULL, with an init: it can never be unloaded. Also of one that is __init */
	/* What the loader does. */
	enum module_state state;	/* [m; read without] */
	struct list_head list;		/* [m] modules; the newest first */
	atomic_t refcnt;		/* [a] 1: live and unused; 0: no reference is given any more */
	struct list_head uses, used_by; /* [m] */
	const char *version;		/* [I] of the modinfo section; NULL: not told */
	bool taints; /* [I] not under the GPL: it may not use what is exported for such modules only */
	struct module_memory memory[NR_MODULE_PARTS];
	void *core, *init_memory;	 /* [m] what module_alloc gave */
	void *percpu;			 /* [I] room for its per-CPU variables (alloc_percpu); NULL: it has none */
	struct module_section *sections; /* [I] one allocation, their names behind them */
	unsigned nr_sections;
	struct ksym_table *symbols;	 /* [I] */
	struct ksym_table *init_symbols; /* [m] NULL: freed */
	struct mutex param_lock;	 /* values of its parameters: held while one is set or shown */
	struct module_memory init_data;	 /* [I] where MODULE_INIT_DATA is or was */
	bool load_was_told;		 /* the event module_load was recorded. The task that loads, then [m] */
	bool abandoned;			 /* [m] GOING, and whoever ended it was killed meanwhile */
	struct list_head files;		 /* [module_files_lock] below /sys/module */
	atomic_t file_users;		 /* [a] tasks that read or write one of these */
	struct dentry *directory;	 /* [m] there; NULL: none */
	struct dentry *holders;		 /* [m] */
	struct jump_table jumps;	 /* its static branches */
	unsigned long *sites;		 /* [m] call sites, ascending, until ftrace has them */
	unsigned nr_sites;
};
#define THIS_MODULE_SECTION ".gnu.linkonce.this_module"

#ifdef MODULE
extern struct module __this_module;
#define THIS_MODULE (&__this_module)
#else
#define THIS_MODULE ((struct module *)NULL)
#endif

/* What the loader does for the rest of the kernel, which does not know whether there is one. */
struct module_loader {
	/* A reference, which the code at `ip` takes. False: the module is on its way out. Any context, as the next. */
	bool (*get)(struct module *mod, unsigned long ip);
	void (*put)(struct module *mod, unsigned long ip);
	/* Have modprobe load what has this name: __request_module() of <kernel/kmod.h>. */
	int (*request)(char *name, bool wait, unsigned long ip);
};
extern const struct module_loader *module_loader; /* [I, core_initcall] NULL: this kernel loads no modules */

/* A reference. False: it is on its way out. NULL, the kernel itself, can always be had. Any context. */
bool try_module_get(struct module *mod);
void module_put(struct module *mod);
/* How many there are. With the loader only, as there is no module without it. Any context. */
int module_refcount(const struct module *mod);

/* The module that the address lies in, or NULL. It stays while preemption is off. Any context. */
struct module *__module_address(unsigned long addr);
/* The module of this name, LIVE or on its way in or out; NULL. module_mutex held. */
struct module *find_module(const char *name);
extern struct mutex module_mutex;
extern struct list_head modules; /* [module_mutex] */
#define for_each_module(mod) list_for_each_entry(mod, &modules, list)

/*
 * Names of a module, in one range of addresses. The loader fills the table in, adds it, and frees it a grace period
 * after it was removed. Readers walk the list with preemption off.
 */
struct ksym_table {
	struct ksym_table *next;  /* [module_mutex] */
	unsigned long start, end; /* the range */
	const char *module;
	bool gone;			  /* its code is no longer there: only for those who ask by address */
	const struct ksym_entry *entries; /* ascending by address, the preferred name first */
	unsigned nr;
	const char *names;
};
struct ksym_entry {
	unsigned long address;
	u32 name; /* where it begins in `names` */
	u8 type;
};
/* The section's address and how many elements of `size` bytes it has; NULL: there is none. Module COMING or later. */
void *module_section(const struct module *mod, const char *name, size_t size, unsigned *n);

/* The part of its memory that the address lies in; NR_MODULE_PARTS: none. Any context in which the module cannot go. */
static inline unsigned module_part_of(const struct module *mod, unsigned long address)
{
	unsigned part = 0;

	while (part < NR_MODULE_PARTS && address - mod->memory[part].base >= mod->memory[part].size)
		part++;
	return part;
}

/*
 * For `live` and `going`: is the memory at this address, a part of the module's, about to be freed? Any context in
 * which the module cannot go.
 */
static inline bool module_frees(const struct module *mod, unsigned long address)
{
	unsigned part = module_part_of(mod, address);

	return part < NR_MODULE_PARTS && (part >= MODULE_INIT_TEXT || mod->state == MODULE_STATE_GOING);
}

/*
 * Will notifiers still be told that the memory at this address goes (`live`, `going`)? If not, they may have been told
 * of it already, and what is tied to the address now would stay. Any context in which the module cannot go.
 */
static inline bool module_will_tell(const struct module *mod, unsigned long address)
{
	enum module_state state = READ_ONCE(mod->state);

	return state == MODULE_STATE_COMING || (state == MODULE_STATE_LIVE && !module_frees(mod, address));
}

/*
 * A part of the kernel that must know of modules has one struct beside its code, found through a linker table. `coming`
 * is called in the order of the table, `live` and `going` in the opposite one. Thread context, module_mutex held.
 */
struct module_notifier {
	/*
	 * Linked and executable; init has not run. What one has made known is used at once: a reader of an event's
	 * format calls a function of the module before the next is told. 0, or -errno: it is not loaded.
	 */
	int (*coming)(struct module *mod);
	/* init has returned: parts INIT_* are about to be freed. */
	void (*live)(struct module *mod);
	/* exit has returned, or loading has failed; also for those that were not told of `coming`. */
	void (*going)(struct module *mod);
	/*
	 * Before all of these, and before anything is known of the module: prove the pointers of the tables that this
	 * part follows in modules (<kernel/module_check.h>). 0, or -errno: it is not loaded.
	 */
	int (*check)(struct module_check *c);
};
#define REGISTER_MODULE_NOTIFIER(n) REGISTER_IN(module_notifiers, n)
/*
 * For parts without which no code of the module may run (static branches, call sites, texts of messages): they are told
 * first that it comes, when it is still UNFORMED, and last that it goes. The other parts make it known, and what is
 * known is used by other CPUs at once.
 */
#define REGISTER_MODULE_NOTIFIER_FIRST(n) REGISTER_IN(module_notifiers_first, n)
DECLARE_TABLE(module_notifiers_first, struct module_notifier);
DECLARE_TABLE(module_notifiers, struct module_notifier);
