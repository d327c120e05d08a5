/* Dynamic ftrace: the records of all sites, the users, and the patching that brings the two in line. */
#include <asm/ftrace.h>
#include <asm/patch.h>
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

#include "fgraph_internal.h"
#include "ftrace_internal.h"

/* The build's table (tools/mcount.py): offsets of all sites from _text, ascending. */
extern const u32 __start_mcount_loc[], __stop_mcount_loc[];
extern char _text[];

DEFINE_MUTEX(ftrace_lock);
struct dyn_ftrace *ftrace_recs;
unsigned ftrace_nr_recs;
unsigned ftrace_nr_pages;
unsigned long *ftrace_enabled_map, *ftrace_touched_map;

/*
 * What a site may call. While only entries are traced, all sites that anybody wants call ftrace_caller, whose two
 * places then hold a call and a nop. While returns are too, that is for sites that both want, and the others call what
 * does the one thing only. [maps: ftrace_lock]
 */
enum callers { CALLER_BOTH, CALLER_ENTRY, CALLER_RETURN, NR_CALLERS };
static struct site_map {
	unsigned long caller;
	unsigned long *wanted; /* scratch: what the users want */
	unsigned long *have;   /* sites that hold a call of it */
} site_maps[NR_CALLERS] = {
	[CALLER_BOTH] = { .caller = FTRACE_CALLER_ADDR },
	[CALLER_ENTRY] = { .caller = FTRACE_ENTRY_CALLER_ADDR },
	[CALLER_RETURN] = { .caller = FTRACE_RETURN_CALLER_ADDR },
};
struct ftrace_ops *ftrace_ops_list;
int ftrace_enabled = 1; /* [ftrace_lock] */
static bool ftrace_dead; /* [ftrace_lock] */

/*
 * The user that ftrace_caller hands to its callee, and the callee that ftrace_call holds now. A task preempted in
 * ftrace_caller may go on with an old user and a new callee: that is why a callee that is called directly (not by the
 * list) may not rely on which user it is given, and why users that can be freed always go through the list.
 */
struct ftrace_ops *function_trace_op;
static unsigned long ftrace_call_target, ftrace_graph_call_target; /* [ftrace_lock] 0: nop */

bool ftrace_is_dead(void)
{
	return READ_ONCE(ftrace_dead);
}

/* Looked up when first asked for: boot has better things to do. */
const char *ftrace_rec_name(struct dyn_ftrace *rec)
{
	u32 nr = READ_ONCE(rec->sym);
	struct ksym sym;

	if (!nr) {
		nr = symbol_index(rec->ip) + 1;
		WRITE_ONCE(rec->sym, nr);
	}
	return kallsyms_symbol(nr - 1, &sym) ? sym.name : "?";
}

long ftrace_rec_of(unsigned long ip)
{
	unsigned lo = 0, hi = ftrace_nr_recs;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;

		if (ftrace_recs[mid].ip < ip)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < ftrace_nr_recs && ftrace_recs[lo].ip == ip ? (long)lo : -1;
}

/* Several users, or one that may be freed: ask each. The list changes only while we are parked or by RCU. */
static void ftrace_ops_list_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *unused,
				 struct ftrace_regs *fregs)
{
	struct ftrace_ops *op;
	long rec;

	preempt_disable_notrace();
	rec = ftrace_rec_of(ip);
	parent_ip = fgraph_true_ret(parent_ip);
	if (likely(rec >= 0))
		for_each_ftrace_op(op)
			if (!(op->flags & FTRACE_OPS_NO_CALL) && ftrace_ops_wants(op, rec))
				op->func(ip, parent_ip, op, fregs);
	preempt_enable_notrace();
}

/* What ftrace_call shall hold: nothing, the one user's function, or the list. */
static unsigned long choose_callee(struct ftrace_ops **only)
{
	struct ftrace_ops *op;
	unsigned users = 0;

	*only = NULL;
	for_each_ftrace_op(op) {
		if (op->flags & FTRACE_OPS_FL_GRAPH)
			continue;
		*only = op;
		users++;
	}
	if (!users)
		return 0;
	if (users > 1 || ((*only)->flags & FTRACE_OPS_FL_DYNAMIC))
		return (unsigned long)ftrace_ops_list_func;
	if (!fgraph_was_used)
		return (unsigned long)(*only)->func;
	return (unsigned long)((*only)->hooked_func ?: ftrace_ops_list_func);
}

/* map |= what the user wants. */
static void add_wanted(unsigned long *map, const struct ftrace_ops *op)
{
	if (op->sets_of)
		op = op->sets_of;
	for (unsigned w = 0; w < BITS_TO_LONGS(ftrace_nr_recs); w++) {
		unsigned long want = op->filter.count ? op->filter.bits[w] : ~0UL;

		if (op->exclude.count)
			want &= ~op->exclude.bits[w];
		map[w] |= want;
	}
}

/* The wanted maps, all of them empty while ftrace is switched off. */
static void compute_wanted(void)
{
	unsigned long *entry = site_maps[CALLER_ENTRY].wanted, *ret = site_maps[CALLER_RETURN].wanted;
	unsigned long *both = site_maps[CALLER_BOTH].wanted;
	unsigned words = BITS_TO_LONGS(ftrace_nr_recs);
	bool returns = false;
	struct ftrace_ops *op;

	memset(entry, 0, words * sizeof(long));
	memset(ret, 0, words * sizeof(long));
	for_each_ftrace_op(op) {
		if (!ftrace_enabled || (op->flags & FTRACE_OPS_FL_STUB))
			continue;
		add_wanted(op->flags & FTRACE_OPS_FL_GRAPH ? ret : entry, op);
		returns |= op->flags & FTRACE_OPS_FL_GRAPH;
	}
	if (ftrace_nr_recs % 64) {
		entry[words - 1] &= BIT(ftrace_nr_recs % 64) - 1;
		ret[words - 1] &= BIT(ftrace_nr_recs % 64) - 1;
	}
	for (unsigned w = 0; w < words; w++) {
		both[w] = returns ? entry[w] & ret[w] : entry[w];
		entry[w] &= ~both[w];
		ret[w] &= ~both[w];
	}
}

/* One change of users or sets, made while every other CPU is parked outside of all tracing. */
struct site_change {
	struct ftrace_set *set, *with;  /* exchange these two, if not NULL */
	struct dyn_ftrace *bad;         /* result: site that does not hold what it should */
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

/* What the places in ftrace_caller and its like call. */
static notrace void write_callees(void)
{
	unsigned long callee = choose_callee(&function_trace_op);
	unsigned long graph;

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

/*
 * All or nothing: before the first write, every site that will change must hold what we believe. Context: every other
 * CPU parked, so nobody is inside ftrace_ops_list_func and the sets it reads may be exchanged.
 */
static notrace void update_stopped(void *data)
{
	struct site_change *change = data;
	unsigned words = BITS_TO_LONGS(ftrace_nr_recs);

	if (change->set)
		swap(*change->set, *change->with);
	compute_wanted();
	for (unsigned w = 0; w < words; w++) {
		if (verify_word(change, w))
			continue;
		if (change->set)
			swap(*change->set, *change->with);
		return;
	}
	write_callees();
	for (unsigned w = 0; w < words; w++)
		write_word(w);
}

static int update(struct site_change *change)
{
	if (ftrace_dead)
		return -ENODEV;
	mutex_lock(&text_mutex);
	text_patch_stopped(update_stopped, change);
	mutex_unlock(&text_mutex);
	if (!change->bad)
		return 0;
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
	struct site_change change = { .set = set, .with = with };

	if (sets_in_use(ops))
		return update(&change);
	swap(*set, *with);
	return 0;
}

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

int register_ftrace_function(struct ftrace_ops *ops)
{
	int ret = -EBUSY;

	mutex_lock(&ftrace_lock);
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED)) {
		ops->flags |= FTRACE_OPS_FL_ENABLED;
		ops->next = ftrace_ops_list;
		smp_store_release(&ftrace_ops_list, ops);
		ret = ftrace_update();
		if (ret)
			unlink_ops(ops);
	}
	mutex_unlock(&ftrace_lock);
	return ret;
}

int unregister_ftrace_function(struct ftrace_ops *ops)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = unlink_ops(ops);
	if (!ret) {
		ret = ftrace_update();
		synchronize_rcu(); /* whoever walks the list or runs ops->func is through after this */
	}
	mutex_unlock(&ftrace_lock);
	return ret;
}

void ftrace_ops_set_funcs(struct ftrace_ops *ops, ftrace_func_t func, ftrace_func_t hooked_func)
{
	mutex_lock(&ftrace_lock);
	WRITE_ONCE(ops->func, func);
	ops->hooked_func = hooked_func;
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		ftrace_update();
	mutex_unlock(&ftrace_lock);
}

void ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func)
{
	ftrace_ops_set_funcs(ops, func, ops->flags & FTRACE_OPS_FL_TRUE_PARENT ? func : NULL);
}

int ftrace_set_enabled(bool on)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ftrace_enabled = on;
	ret = ftrace_update();
	mutex_unlock(&ftrace_lock);
	return ret;
}

/* Boot, one CPU: no machine to stop, nobody runs a site while it changes. */
static notrace void convert_nops(void)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	arch_patch_begin();
	for (unsigned i = 0; i < ftrace_nr_recs; i++) {
		unsigned long ip = ftrace_call_adjust((unsigned long)_text + __start_mcount_loc[i]);

		ftrace_recs[i].ip = ip;
		arch_patch_write(ip, 0, PATCH_CALL);
	}
	arch_patch_end();
	raw_local_irq_restore(flags);
}

static bool alloc_site_maps(unsigned long size)
{
	for (struct site_map *map = site_maps; map < site_maps + NR_CALLERS; map++) {
		map->wanted = kzalloc(size, GFP_KERNEL);
		map->have = kzalloc(size, GFP_KERNEL);
		if (!map->wanted || !map->have)
			return false;
	}
	return true;
}

void ftrace_init(void)
{
	unsigned long map_size;
	u64 start = sched_clock();

	ftrace_nr_recs = __stop_mcount_loc - __start_mcount_loc;
	map_size = BITS_TO_LONGS(ftrace_nr_recs) * sizeof(long);
	ftrace_nr_pages = DIV_ROUND_UP(ftrace_nr_recs * sizeof(*ftrace_recs), PAGE_SIZE);
	pr_info("ftrace: allocating %u entries in %u pages\n", ftrace_nr_recs, ftrace_nr_pages);
	if (!ftrace_nr_recs) {
		ftrace_dead = true;
		return;
	}
	ftrace_recs = kvzalloc(ftrace_nr_recs * sizeof(*ftrace_recs), GFP_KERNEL);
	ftrace_enabled_map = kzalloc(map_size, GFP_KERNEL);
	ftrace_touched_map = kzalloc(map_size, GFP_KERNEL);
	if (!ftrace_recs || !ftrace_enabled_map || !ftrace_touched_map || !alloc_site_maps(map_size))
		panic("ftrace: no memory for %u sites", ftrace_nr_recs);
	convert_nops();
	start = sched_clock() - start;
	pr_info("ftrace: allocated %u pages with 1 groups, %u sites made nops in %llu ns\n", ftrace_nr_pages,
		ftrace_nr_recs, (unsigned long long)start);
}
