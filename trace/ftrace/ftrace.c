/*
 * Dynamic ftrace: which of the thousands of sites (places behind the entry of functions) call a tracer, and which are
 * nops.
 *
 *     users (ftrace_ops) with their sets --compute_wanted()--> site_map.wanted: what each site must call
 *     text of the kernel  <--write_word()-- the difference to site_map.have: what each site calls now
 *
 * Each change ends in ftrace_update(), which stops the machine: all other CPUs are parked outside of any tracer, so
 * none executes an instruction that is half written or reads a list that is half changed. Every site is verified
 * before the first one is written: all or nothing. Locks: ftrace_lock for users and maps, inside it text_mutex for
 * the text.
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
 * What a site may call. One user, usually the function tracer, is called straight from assembly (ftrace_call_target).
 * While only entries are traced, its sites call ftrace_caller (CALLER_BOTH), where the call of function_graph is a
 * nop. While returns are traced as well, CALLER_BOTH is for sites that both want, CALLER_ENTRY and CALLER_RETURN for
 * sites that one wants. Other users are called by way of C: CALLER_SINGLE for a site that one user wants, CALLER_LIST
 * for several, CALLER_REGS if one wants the registers, CALLER_KPROBE for kprobes alone. [maps: ftrace_lock]
 */
enum callers {
	CALLER_BOTH,
	CALLER_ENTRY,
	CALLER_RETURN,
	CALLER_LIST,
	CALLER_REGS,
	CALLER_KPROBE,
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
/* Scratch for what C code reads at a site: ftrace_single_ops and ftrace_return_map are in force. [ftrace_lock] */
static struct ftrace_ops *single_wanted[FTRACE_SINGLE_OPS];
static unsigned long *return_wanted;
unsigned long *ftrace_return_map;
struct ftrace_ops *ftrace_ops_list;
int ftrace_enabled = 1;	 /* [ftrace_lock] */
static bool ftrace_dead; /* [ftrace_lock] */

/*
 * The function that the place ftrace_call calls now. A task may be preempted in ftrace_caller, and go on after the
 * place has changed: it then calls the new function for a site that the new user does not want. So only functions
 * that can cope with that are called straight (FTRACE_OPS_FL_CORE).
 */
static unsigned long ftrace_call_target, ftrace_graph_call_target; /* [ftrace_lock] 0: nop */

bool ftrace_is_dead(void)
{
	return READ_ONCE(ftrace_dead);
}

/* No site wants such calls before its user is registered. */
void ftrace_set_kprobe_caller(unsigned long caller)
{
	mutex_lock(&ftrace_lock);
	site_maps[CALLER_KPROBE].caller = caller;
	mutex_unlock(&ftrace_lock);
}

/* ---- Which entry does each site call? */

/*
 * The user that is called straight, by *callee; NULL: none allows it. The list begins with the newest user, so the
 * last match is the one that registered first. [ftrace_lock]
 */
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

/* What all users want of 64 sites, a bit for each: entries, also for several, with registers, for kprobes; returns. */
struct wishes {
	unsigned long entry, several, regs, kprobes, ret;
};

/*
 * The sites of word w that op wants: its filter (none: all) without its exclusions, as far as they are still present.
 */
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

/* Add up what all users want of the 64 sites of word w. [ftrace_lock] */
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
		if (op->flags & FTRACE_OPS_FL_KPROBES)
			sum.kprobes = want;
	}
	return sum;
}

/*
 * Users that are not called straight get a CALLER_SINGLE each while there are some left. One that wants registers is
 * called without a look at the list when it is alone there.
 */
static void share_out_callers(const struct ftrace_ops *straight)
{
	struct ftrace_ops *op;
	unsigned n = 0;

	memset(single_wanted, 0, sizeof(single_wanted));
	for_each_ftrace_op(op)
		if (n < FTRACE_SINGLE_CALLERS && op != straight &&
		    !(op->flags & (FTRACE_OPS_FL_GRAPH | FTRACE_OPS_FL_SAVE_REGS)))
			single_wanted[n++] = op;
	op = ftrace_ops_list;
	if (op && !op->next && (op->flags & FTRACE_OPS_FL_SAVE_REGS) &&
	    !(op->flags & (FTRACE_OPS_FL_GRAPH | FTRACE_OPS_FL_DIRECT)))
		single_wanted[FTRACE_SINGLE_REGS] = op;
}

/* What is each of the 64 sites of word w to call? The cheapest caller that serves its users; `rest` have none yet. */
static void compute_word(unsigned w, const struct ftrace_ops *straight, bool returns)
{
	struct wishes sum = sum_wishes(w);
	unsigned long rest = sum.entry & ~sum.regs, alone = rest & ~sum.several, own;

	own = straight ? alone & wanted_by(straight, w) : 0;
	rest &= ~own;
	site_maps[CALLER_BOTH].wanted[w] = returns ? own & sum.ret : own;
	site_maps[CALLER_ENTRY].wanted[w] = own & ~site_maps[CALLER_BOTH].wanted[w];
	site_maps[CALLER_RETURN].wanted[w] = sum.ret & ~sum.entry;
	site_maps[CALLER_KPROBE].wanted[w] = sum.kprobes & ~sum.several & ~sum.ret;
	site_maps[CALLER_REGS].wanted[w] = sum.regs & ~site_maps[CALLER_KPROBE].wanted[w];
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

/*
 * Check the users that need a function's arguments, to replace the function or to call a trampoline (`kind`). A site
 * may have one user of a kind (-EBUSY), such a user must name its sites (-EINVAL), and the machine must be able to find
 * the arguments at each of them (-EOPNOTSUPP).
 */
static int check_users_of_arguments(u32 kind)
{
	struct ftrace_ops *op;

	for (unsigned w = 0; w < BITS_TO_LONGS(ftrace_recs_end); w++) {
		unsigned long taken = 0;

		for_each_ftrace_op(op) {
			unsigned long want;

			if (!(op->flags & kind))
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

static int check_arguments(void)
{
	return check_users_of_arguments(FTRACE_OPS_FL_IPMODIFY) ?: check_users_of_arguments(FTRACE_OPS_FL_DIRECT);
}

/* One change of users or sets, made while every other CPU is parked outside of all tracing. */
struct site_change {
	struct ftrace_set *set, *with; /* exchange these two, if not NULL */
	struct ftrace_ops *joins;      /* comes to the list of users, if not NULL */
	int refused;		       /* result: what check_arguments says */
	struct dyn_ftrace *bad;	       /* result: site that does not hold what it should */
	bool bad_had_call;
};

/* The addresses of the sites whose bits are set among the 64 of word w, in order. Returns how many. */
static __always_inline unsigned gather_sites(unsigned long *sites, unsigned w, unsigned long bits)
{
	unsigned n = 0;

	for (; bits; bits &= bits - 1)
		sites[n++] = ftrace_recs[w * 64 + __builtin_ctzl(bits)].ip;
	return n;
}

/* Do these sites hold calls of `caller`, or nops (0)? If not, the first bad one goes into `change`. */
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

/* Every site that will change must hold the call that it loses, or the nop that it gives up. */
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

/* Bring 64 sites in line. They are verified, and the callers are in the same image: writing cannot fail. */
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

/* The other half of a change: the places inside ftrace_caller and its like, and the tables that C code reads. */
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

/* Every site that will change must hold what the maps say. False: change->bad is the first that does not. */
static notrace bool verify_all(struct site_change *change)
{
	for (unsigned w = 0; w < BITS_TO_LONGS(ftrace_recs_end); w++)
		if (!verify_word(change, w))
			return false;
	return true;
}

/*
 * All or nothing: sets are exchanged and a user joins first, since the wishes depend on them, and all of that is undone
 * if anything is refused. Every other CPU is parked, so no CPU is inside ftrace_ops_list_func() and its like, which
 * read these sets and users. So a user that is refused is never called.
 */
static notrace void update_stopped(void *data)
{
	struct site_change *change = data;

	if (change->set)
		swap(*change->set, *change->with);
	if (change->joins) {
		change->joins->next = ftrace_ops_list;
		WRITE_ONCE(ftrace_ops_list, change->joins);
	}
	change->refused = check_arguments();
	if (!change->refused)
		compute_wanted();
	if (change->refused || !verify_all(change)) {
		if (change->set)
			swap(*change->set, *change->with);
		if (change->joins)
			WRITE_ONCE(ftrace_ops_list, change->joins->next);
		return;
	}
	write_callees();
	for (unsigned w = 0; w < BITS_TO_LONGS(ftrace_recs_end); w++)
		write_word(w);
}

/*
 * One change, with the machine stopped. May sleep; ftrace_lock held. 0, what check_arguments() says, or -ENODEV; after
 * an error no site has changed. A site that holds what ftrace has not written ends all writing: the text is damaged.
 */
static int update(struct site_change *change)
{
	if (ftrace_dead)
		return -ENODEV;
	mutex_lock(&text_mutex);
	text_patch_stopped(update_stopped, change);
	mutex_unlock(&text_mutex);
	if (!change->bad)
		return change->refused;
	/* Something other than ftrace wrote there: say so once, and write nothing from now on. */
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

int ftrace_add_user(struct ftrace_ops *ops)
{
	struct site_change change = {.joins = ops};

	return update(&change);
}

/*
 * A module's code is about to be freed, but until then some of it may run: the unregfunc of an event, the `free` of a
 * parameter. A call from there would look for a record that has gone, so what holds a call becomes a nop. Text that
 * holds what ftrace has not written is left alone. ftrace_lock and text_mutex held, all CPUs parked.
 */
notrace void ftrace_forget_sites(unsigned first, unsigned n)
{
	for (unsigned rec = first; rec < first + n; rec++) {
		unsigned long ip = ftrace_recs[rec].ip;

		for (struct site_map *map = site_maps; map < site_maps + NR_CALLERS; map++) {
			if ((map->have[rec / 64] & BIT(rec % 64)) && arch_patch_verify_calls(&ip, 1, map->caller))
				arch_patch_write_calls(&ip, 1, 0);
			map->have[rec / 64] &= ~BIT(rec % 64);
		}
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

#define SITES_AT_ONCE 64

/*
 * The compiler has left calls at the sites: make them nops. Boot, one CPU with interrupts off, so no site is executed.
 * Many sites at once take two thirds of the instructions that one after the other takes: what arch_patch_write_calls()
 * knows of the page and the line of the last site then stays in registers.
 */
static notrace void convert_nops(void)
{
	unsigned long flags, sites[SITES_AT_ONCE];

	raw_local_irq_save(flags);
	arch_patch_begin();
	for (unsigned first = 0; first < ftrace_nr_kernel_recs; first += SITES_AT_ONCE) {
		unsigned n = min(ftrace_nr_kernel_recs - first, (unsigned)SITES_AT_ONCE);

		for (unsigned i = 0; i < n; i++) {
			sites[i] = ftrace_call_adjust((unsigned long)_text + __start_mcount_loc[first + i]);
			ftrace_recs[first + i].ip = sites[i];
		}
		ftrace_present_map[first / SITES_AT_ONCE] = ~0UL >> (SITES_AT_ONCE - n);
		arch_patch_write_calls(sites, n, 0);
	}
	arch_patch_end();
	raw_local_irq_restore(flags);
}

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

/*
 * Boot: tables for all sites of the kernel and room for late ones, then every site becomes a nop. One CPU, interrupts
 * off.
 */
void ftrace_init(void)
{
	const struct ftrace_late_sites *late = ftrace_late_sites();
	unsigned long map_size;
	u64 start = sched_clock();

	ftrace_nr_kernel_recs = ftrace_recs_end = ftrace_nr_sites = __stop_mcount_loc - __start_mcount_loc;
	ftrace_nr_recs = ALIGN(ftrace_nr_kernel_recs, 64) + (late ? late->room : 0);
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
