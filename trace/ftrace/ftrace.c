/*
 * Dynamic ftrace: the records of all sites, the users, and the patching that brings the two in line. Boot makes all
 * sites nops; ftrace_update() computes what the users want (site_map.wanted), compares the text with what it should
 * hold (site_map.have), and patches the difference while all other CPUs are parked. Locks: ftrace_lock, text_mutex.
 */
#include <arch/ftrace.h>
#include <arch/patch.h>
#include <kernel/export.h>
#include <kernel/ksyms.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <kernel/text_patch.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <mm/vmalloc.h>
#include <sched/sched.h>
#include <time/clock.h>

#include "core/array.h"
#include "fgraph_internal.h"
#include "internal.h"

/* The build's table (tools/mcount.py): offsets of all sites from _text, ascending. */
extern const u32 __start_mcount_loc[], __stop_mcount_loc[];
extern char _text[];

DEFINE_MUTEX(ftrace_lock);
unsigned ftrace_nr_pages;
unsigned long *ftrace_enabled_map, *ftrace_touched_map;

/*
 * What a site may call. The first three are for the user that is called straight (ftrace_call_target): while only
 * entries are traced, all sites that only it wants call ftrace_caller, whose two places then hold a call and a nop.
 * While returns are too, that is for sites that both want, and the others call what does the one thing only.
 * Sites of other users go by C: to the one that wants them, to several, or to several with registers. [maps:
 * ftrace_lock]
 */
enum callers {
	CALLER_BOTH,
	CALLER_ENTRY,
	CALLER_RETURN,
	CALLER_LIST,
	CALLER_REGS,
	CALLER_SINGLE,
	NR_CALLERS = CALLER_SINGLE + FTRACE_SINGLE_CALLERS
};
static struct site_map {
	unsigned long caller;
	unsigned long *wanted; /* scratch: what the users want */
	unsigned long *have;   /* sites that hold a call of it */
} site_maps[NR_CALLERS] = {
	[CALLER_BOTH] = {.caller = FTRACE_CALLER_ADDR},		 [CALLER_ENTRY] = {.caller = FTRACE_ENTRY_CALLER_ADDR},
	[CALLER_RETURN] = {.caller = FTRACE_RETURN_CALLER_ADDR}, [CALLER_LIST] = {.caller = FTRACE_LIST_CALLER_ADDR},
	[CALLER_REGS] = {.caller = FTRACE_REGS_CALLER_ADDR},
};
/* The same of what C reads: scratch, and in force as ftrace_single_ops and ftrace_return_map. [ftrace_lock] */
static struct ftrace_ops *single_wanted[FTRACE_SINGLE_CALLERS];
static unsigned long *return_wanted;
unsigned long *ftrace_return_map;
struct ftrace_ops *ftrace_ops_list;
int ftrace_enabled = 1;	 /* [ftrace_lock] */
static bool ftrace_dead; /* [ftrace_lock] */

/*
 * The callee that ftrace_call holds now. A task preempted in ftrace_caller may go on with the callee of another time,
 * for a site that the one of now does not want: only functions that cope with it are called straight
 * (FTRACE_OPS_FL_CORE).
 */
static unsigned long ftrace_call_target, ftrace_graph_call_target; /* [ftrace_lock] 0: nop */

bool ftrace_is_dead(void)
{
	return READ_ONCE(ftrace_dead);
}

/* ---- Who calls whom */

/* The user that is called straight, by the function in *callee; NULL: none can be. The one that came first. */
static struct ftrace_ops *choose_straight(unsigned long *callee)
{
	struct ftrace_ops *op, *chosen = NULL;

	*callee = 0;
	for_each_ftrace_op(op) {
		ftrace_func_t func = fgraph_was_used ? op->hooked_func : op->straight_func ?: op->func;

		if (!(op->flags & FTRACE_OPS_FL_CORE) || (op->flags & FTRACE_OPS_FL_GRAPH) || !func)
			continue;
		chosen = op;
		*callee = (unsigned long)func;
	}
	return chosen;
}

/* Bits of 64 sites: who wants them. */
struct wishes {
	unsigned long entry, several, regs, ret;
};

/* Of the sites of word w, those that op wants. */
static unsigned long wanted_by(const struct ftrace_ops *op, unsigned w)
{
	unsigned long want;

	if (op->sets_of)
		op = op->sets_of;
	want = op->filter.count ? op->filter.bits[w] : ~0UL;
	if (op->exclude.count)
		want &= ~op->exclude.bits[w];
	return want & ftrace_present_map[w];
}

static struct wishes sum_wishes(unsigned w)
{
	struct wishes sum = {};
	struct ftrace_ops *op;

	for_each_ftrace_op(op) {
		unsigned long want = wanted_by(op, w);

		if (op->flags & FTRACE_OPS_FL_GRAPH) {
			sum.ret |= want;
			continue;
		}
		sum.several |= sum.entry & want;
		sum.entry |= want;
		if (op->flags & FTRACE_OPS_FL_SAVE_REGS)
			sum.regs |= want;
	}
	return sum;
}

/* Users that are not called straight get a caller of their own while there is one left. */
static void share_out_callers(const struct ftrace_ops *straight)
{
	struct ftrace_ops *op;
	unsigned n = 0;

	memset(single_wanted, 0, sizeof(single_wanted));
	for_each_ftrace_op(op)
		if (n < FTRACE_SINGLE_CALLERS && op != straight &&
		    !(op->flags & (FTRACE_OPS_FL_GRAPH | FTRACE_OPS_FL_SAVE_REGS)))
			single_wanted[n++] = op;
}

/* What the sites of word w shall call. */
static void compute_word(unsigned w, const struct ftrace_ops *straight, bool returns)
{
	struct wishes sum = sum_wishes(w);
	unsigned long rest = sum.entry & ~sum.regs, alone = rest & ~sum.several, own;

	own = straight ? alone & wanted_by(straight, w) : 0;
	rest &= ~own;
	site_maps[CALLER_BOTH].wanted[w] = returns ? own & sum.ret : own;
	site_maps[CALLER_ENTRY].wanted[w] = own & ~site_maps[CALLER_BOTH].wanted[w];
	site_maps[CALLER_RETURN].wanted[w] = sum.ret & ~sum.entry;
	site_maps[CALLER_REGS].wanted[w] = sum.regs;
	for (unsigned i = 0; i < FTRACE_SINGLE_CALLERS; i++) {
		const struct ftrace_ops *op = single_wanted[i];

		own = op ? alone & ~sum.ret & rest & wanted_by(op, w) : 0;
		site_maps[CALLER_SINGLE + i].wanted[w] = own;
		rest &= ~own;
	}
	site_maps[CALLER_LIST].wanted[w] = rest;
	return_wanted[w] = sum.ret;
}

/* The wanted maps, all of them empty while ftrace is switched off. */
static void compute_wanted(void)
{
	unsigned words = BITS_TO_LONGS(ftrace_recs_end);
	const struct ftrace_ops *straight;
	unsigned long callee;

	straight = choose_straight(&callee);
	share_out_callers(straight);
	for (unsigned w = 0; w < words; w++) {
		if (ftrace_enabled)
			compute_word(w, straight, fgraph_nr_users);
		else
			for (struct site_map *map = site_maps; map < site_maps + NR_CALLERS; map++)
				map->wanted[w] = 0;
	}
}

/* The sites whose functions may be replaced have one user that does so, and it has said which they are. */
static int check_ipmodify(void)
{
	struct ftrace_ops *op;

	for (unsigned w = 0; w < BITS_TO_LONGS(ftrace_recs_end); w++) {
		unsigned long taken = 0;

		for_each_ftrace_op(op) {
			unsigned long want;

			if (!(op->flags & FTRACE_OPS_FL_IPMODIFY))
				continue;
			if (!(op->sets_of ?: op)->filter.count)
				return -EINVAL;
			want = wanted_by(op, w);
			if (want & taken)
				return -EBUSY;
			taken |= want;
		}
		for (; taken; taken &= taken - 1)
			if (!arch_ftrace_can_redirect(ftrace_recs[w * 64 + __builtin_ctzl(taken)].ip))
				return -EOPNOTSUPP;
	}
	return 0;
}

/* One change of users or sets, made while every other CPU is parked outside of all tracing. */
struct site_change {
	struct ftrace_set *set, *with; /* exchange these two, if not NULL */
	int refused;		       /* result: what check_ipmodify says */
	struct dyn_ftrace *bad;	       /* result: site that does not hold what it should */
	bool bad_had_call;
};

/* The sites whose bits are set among the 64 of word w, in order; returns how many. */
static __always_inline unsigned gather_sites(unsigned long *sites, unsigned w, unsigned long bits)
{
	unsigned n = 0;

	for (; bits; bits &= bits - 1)
		sites[n++] = ftrace_recs[w * 64 + __builtin_ctzl(bits)].ip;
	return n;
}

/* Do these sites call `caller`, or hold nops (0)? */
static notrace bool verify_sites(struct site_change *change, unsigned w, unsigned long bits, unsigned long caller)
{
	unsigned long sites[64];
	unsigned n = gather_sites(sites, w, bits);
	size_t good = n ? arch_patch_verify_calls(sites, n, caller) : 0;

	if (good == n)
		return true;
	change->bad = &ftrace_recs[ftrace_rec_of(sites[good])];
	change->bad_had_call = caller;
	return false;
}

static notrace bool verify_word(struct site_change *change, unsigned w)
{
	unsigned long nops = 0;

	for (const struct site_map *map = site_maps; map < site_maps + NR_CALLERS; map++) {
		nops |= map->wanted[w];
		if (!verify_sites(change, w, map->have[w] & ~map->wanted[w], map->caller))
			return false;
	}
	return verify_sites(change, w, nops & ~ftrace_enabled_map[w], 0);
}

static notrace void write_sites(unsigned w, unsigned long bits, unsigned long caller)
{
	unsigned long sites[64];

	if (bits)
		arch_patch_write_calls(sites, gather_sites(sites, w, bits), caller);
}

/* Verified: writing cannot fail but for a target out of reach, and what sites call is in the same image. */
static notrace void write_word(unsigned w)
{
	unsigned long wanted = 0;

	for (const struct site_map *map = site_maps; map < site_maps + NR_CALLERS; map++)
		wanted |= map->wanted[w];
	write_sites(w, ftrace_enabled_map[w] & ~wanted, 0);
	for (struct site_map *map = site_maps; map < site_maps + NR_CALLERS; map++) {
		write_sites(w, map->wanted[w] & ~map->have[w], map->caller);
		map->have[w] = map->wanted[w];
	}
	ftrace_touched_map[w] |= wanted;
	ftrace_enabled_map[w] = wanted;
}

/* What the places in ftrace_caller and its like call, and whom C calls. */
static notrace void write_callees(void)
{
	unsigned long callee, graph;

	memcpy(ftrace_single_ops, single_wanted, sizeof(single_wanted));
	memcpy(ftrace_return_map, return_wanted, BITS_TO_LONGS(ftrace_recs_end) * sizeof(long));
	choose_straight(&callee);
	if (callee != ftrace_call_target) {
		arch_patch_write(ftrace_call_site, callee, PATCH_CALL);
		arch_patch_write(ftrace_entry_call_site, callee, PATCH_CALL);
	}
	ftrace_call_target = callee;
	fgraph_choose();
	graph = callee && fgraph_nr_users ? FTRACE_GRAPH_CALLER_ADDR : 0;
	if (graph != ftrace_graph_call_target)
		arch_patch_write(ftrace_graph_call_site, graph, PATCH_JUMP);
	ftrace_graph_call_target = graph;
}

/* Does every site that will change hold what we believe? */
static notrace bool verify_all(struct site_change *change)
{
	for (unsigned w = 0; w < BITS_TO_LONGS(ftrace_recs_end); w++)
		if (!verify_word(change, w))
			return false;
	return true;
}

/*
 * All or nothing. Context: every other CPU parked, so nobody is inside ftrace_ops_list_func and its like, and the sets
 * and users that they read may be exchanged.
 */
static notrace void update_stopped(void *data)
{
	struct site_change *change = data;

	if (change->set)
		swap(*change->set, *change->with);
	change->refused = check_ipmodify();
	if (!change->refused)
		compute_wanted();
	if (change->refused || !verify_all(change)) {
		if (change->set)
			swap(*change->set, *change->with);
		return;
	}
	write_callees();
	for (unsigned w = 0; w < BITS_TO_LONGS(ftrace_recs_end); w++)
		write_word(w);
}

/* May sleep; ftrace_lock held. 0, what check_ipmodify() says, or -ENODEV; after an error no site has changed. */
static int update(struct site_change *change)
{
	if (ftrace_dead)
		return -ENODEV;
	mutex_lock(&text_mutex);
	text_patch_stopped(update_stopped, change);
	mutex_unlock(&text_mutex);
	if (!change->bad)
		return change->refused;
	/* Something else than ftrace wrote there: say so once and keep our hands off from now on. */
	ftrace_dead = true;
	pr_err("ftrace: %s at %lx does not hold the %s it should: function tracing is off for good\n",
	       ftrace_rec_name(change->bad), change->bad->ip, change->bad_had_call ? "call" : "nop");
	WARN_ON(1);
	return -ENODEV;
}

int ftrace_update(void)
{
	struct site_change change = {};

	return update(&change);
}

/* Their code is about to be freed: nobody asks any more what these sites hold. ftrace_lock held, all CPUs parked. */
notrace void ftrace_forget_sites(unsigned first, unsigned n)
{
	for (unsigned rec = first; rec < first + n; rec++) {
		for (struct site_map *map = site_maps; map < site_maps + NR_CALLERS; map++)
			map->have[rec / 64] &= ~BIT(rec % 64);
		ftrace_enabled_map[rec / 64] &= ~BIT(rec % 64);
		ftrace_touched_map[rec / 64] &= ~BIT(rec % 64);
		ftrace_present_map[rec / 64] &= ~BIT(rec % 64);
		ftrace_return_map[rec / 64] &= ~BIT(rec % 64);
		ftrace_recs[rec] = (struct dyn_ftrace){};
	}
}

/* Does any registered user go by the sets of ops? [ftrace_lock] */
static bool sets_in_use(const struct ftrace_ops *ops)
{
	const struct ftrace_ops *op;

	for_each_ftrace_op(op)
		if (op == ops || op->sets_of == ops)
			return true;
	return false;
}

int ftrace_ops_replace_set(struct ftrace_ops *ops, struct ftrace_set *set, struct ftrace_set *with)
{
	struct site_change change = {.set = set, .with = with};

	ftrace_set_refresh(with);
	if (sets_in_use(ops))
		return update(&change);
	swap(*set, *with);
	return 0;
}

/* `next` stays as it is: a CPU that walks the list may be at this user, and goes on from there. */
static int unlink_ops(struct ftrace_ops *ops)
{
	struct ftrace_ops **p = &ftrace_ops_list;

	while (*p && *p != ops)
		p = &(*p)->next;
	if (!*p)
		return -EBUSY;
	WRITE_ONCE(*p, ops->next);
	ops->flags &= ~FTRACE_OPS_FL_ENABLED;
	return 0;
}

/* Flags that make sense together, of a user that is to be registered. */
static int check_flags(const struct ftrace_ops *ops)
{
	if (ops->flags & ~FTRACE_OPS_FL_MASK)
		return -EINVAL;
	if ((ops->flags & FTRACE_OPS_FL_IPMODIFY) && !(ops->flags & FTRACE_OPS_FL_SAVE_REGS))
		return -EINVAL;
	if (!ops->func && !(ops->flags & FTRACE_OPS_FL_GRAPH))
		return -EINVAL;
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		return -EBUSY;
	return (ops->flags & FTRACE_OPS_FL_PERMANENT) && !ftrace_enabled ? -EBUSY : 0;
}

int register_ftrace_function(struct ftrace_ops *ops)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = check_flags(ops);
	if (!ret) {
		if (ops->flags & FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED)
			ops->flags |= FTRACE_OPS_FL_SAVE_REGS;
		ops->flags |= FTRACE_OPS_FL_ENABLED;
		ftrace_set_refresh(&(ops->sets_of ?: ops)->filter);
		ftrace_set_refresh(&(ops->sets_of ?: ops)->exclude);
		ops->next = ftrace_ops_list;
		smp_store_release(&ftrace_ops_list, ops);
		ret = ftrace_update();
		if (ret)
			unlink_ops(ops);
	}
	mutex_unlock(&ftrace_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(register_ftrace_function);

int unregister_ftrace_function(struct ftrace_ops *ops)
{
	u64 state;
	int ret;

	mutex_lock(&ftrace_lock);
	ret = unlink_ops(ops);
	if (!ret) {
		/*
		 * Whoever runs the function of one that is called straight is through when we return. The stop has
		 * waited for that, unless there was none.
		 */
		state = get_state_synchronize_rcu();
		ret = ftrace_update();
		cond_synchronize_rcu(state);
	}
	mutex_unlock(&ftrace_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_function);

void ftrace_ops_set_funcs(struct ftrace_ops *ops, ftrace_func_t func, ftrace_func_t straight_func,
			  ftrace_func_t hooked_func)
{
	mutex_lock(&ftrace_lock);
	WRITE_ONCE(ops->func, func);
	ops->straight_func = straight_func;
	ops->hooked_func = hooked_func;
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		ftrace_update();
	mutex_unlock(&ftrace_lock);
}

void ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func)
{
	ftrace_ops_set_funcs(ops, func, NULL, ops->flags & FTRACE_OPS_FL_TRUE_PARENT ? func : NULL);
}

int ftrace_set_enabled(bool on)
{
	struct ftrace_ops *op;
	int ret = 0;

	mutex_lock(&ftrace_lock);
	for_each_ftrace_op(op)
		if (!on && (op->flags & FTRACE_OPS_FL_PERMANENT))
			ret = -EBUSY;
	if (!ret) {
		ftrace_enabled = on;
		ret = ftrace_update();
	}
	mutex_unlock(&ftrace_lock);
	return ret;
}

/* Boot, one CPU: no machine to stop, nobody runs a site while it changes. */
static notrace void convert_nops(void)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	arch_patch_begin();
	for (unsigned i = 0; i < ftrace_nr_kernel_recs; i++) {
		unsigned long ip = ftrace_call_adjust((unsigned long)_text + __start_mcount_loc[i]);

		ftrace_recs[i].ip = ip;
		set_bit(i, ftrace_present_map);
		arch_patch_write(ip, 0, PATCH_CALL);
	}
	arch_patch_end();
	raw_local_irq_restore(flags);
}

/* Sites of all modules together. It costs 16 bytes each, and 3 for maps. */
#define ROOM_FOR_MODULES 4096

static bool alloc_site_maps(unsigned long size)
{
	for (unsigned i = 0; i < FTRACE_SINGLE_CALLERS; i++)
		site_maps[CALLER_SINGLE + i].caller = FTRACE_SINGLE_CALLER_ADDR(i);
	ftrace_return_map = kzalloc(size, GFP_KERNEL);
	return_wanted = kzalloc(size, GFP_KERNEL);
	for (struct site_map *map = site_maps; map < site_maps + NR_CALLERS; map++) {
		map->wanted = kzalloc(size, GFP_KERNEL);
		map->have = kzalloc(size, GFP_KERNEL);
		if (!map->wanted || !map->have)
			return false;
	}
	return ftrace_return_map && return_wanted;
}

void ftrace_init(void)
{
	unsigned long map_size;
	u64 start = sched_clock();

	ftrace_nr_kernel_recs = ftrace_recs_end = ftrace_nr_sites = __stop_mcount_loc - __start_mcount_loc;
	ftrace_nr_recs = ALIGN(ftrace_nr_kernel_recs, 64) + ROOM_FOR_MODULES;
	map_size = BITS_TO_LONGS(ftrace_nr_recs) * sizeof(long);
	ftrace_nr_pages = DIV_ROUND_UP(ftrace_nr_kernel_recs * sizeof(*ftrace_recs), PAGE_SIZE);
	pr_info("ftrace: allocating %u entries in %u pages\n", ftrace_nr_kernel_recs, ftrace_nr_pages);
	if (!ftrace_nr_kernel_recs) {
		ftrace_dead = true;
		return;
	}
	ftrace_recs = kvzalloc(ftrace_nr_recs * sizeof(*ftrace_recs), GFP_KERNEL);
	ftrace_enabled_map = kzalloc(map_size, GFP_KERNEL);
	ftrace_touched_map = kzalloc(map_size, GFP_KERNEL);
	ftrace_present_map = kzalloc(map_size, GFP_KERNEL);
	if (!ftrace_recs || !ftrace_enabled_map || !ftrace_touched_map || !ftrace_present_map ||
	    !alloc_site_maps(map_size))
		panic("ftrace: no memory for %u sites", ftrace_nr_kernel_recs);
	convert_nops();
	start = sched_clock() - start;
	ftrace_make_hints();
	pr_info("ftrace: allocated %u pages with 1 groups, %u sites made nops in %llu ns\n", ftrace_nr_pages,
		ftrace_nr_kernel_recs, (unsigned long long)start);
}
