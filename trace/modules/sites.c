/*
 * Call sites of modules: they become nops before anything of the module runs, get records behind those of the kernel,
 * and are forgotten when the module, or what only its init needed, is freed.
 *
 * A module's sites are two runs of records, one for its text and one for the text of its init. A table of all runs
 * leads from an address to its record. It is read in any context without a lock, but with preemption off: a run is
 * added behind the others when it is whole, and one is taken out in a stop, when no CPU is inside a look-up. A task
 * that was preempted in one would otherwise pass over the run that has moved to a place in front of it. Records do not
 * move: a number that was found stays good as long as the code is there.
 *
 * Places of records are used again by other modules. Sets of users that are registered lose the bits of forgotten
 * records in the same stop. Other sets may belong to anybody, so they are not searched for. Instead each place notes
 * at which forgetting it was emptied, each set how many forgettings it has seen, and ftrace_set_refresh() brings a
 * set up to date before it is used.
 */
#include <arch/patch.h>
#include <irq/irqflags.h>
#include <kernel/module.h>
#include <kernel/printk.h>
#include <kernel/text_patch.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>

#include "ftrace/internal.h"

#define MAX_RUNS 256 /* two a module */

struct site_run {
	unsigned long start, end; /* the text that the sites are in */
	unsigned first, n;	  /* records */
};
static struct site_run runs[MAX_RUNS]; /* [ftrace_lock; taken out while all are parked; read with preemption off] */
static unsigned nr_runs;	       /* [the same; read with acquire] */

/* ---- Looking sites up */

/* Preemption off. */
static const struct site_run *find_run(unsigned long ip)
{
	unsigned n = smp_load_acquire(&nr_runs);

	for (unsigned i = 0; i < n; i++)
		if (ip - runs[i].start < runs[i].end - runs[i].start)
			return &runs[i];
	return NULL;
}

/* Sites of a module are a run of records, sorted in itself; runs are in no order. Any context. */
static unsigned module_rec_at_or_after(unsigned long ip)
{
	const struct site_run *run;
	unsigned low = 0, high = 0, end;

	preempt_disable_notrace();
	run = find_run(ip);
	if (run) {
		low = run->first;
		high = low + run->n;
	}
	preempt_enable_notrace();
	end = high;
	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (ftrace_recs[middle].ip < ip)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end ? low : ftrace_nr_recs;
}

static unsigned long module_location(unsigned long ip)
{
	unsigned long size, offset;
	char name[KSYM_NAME_LEN];
	unsigned rec = module_rec_at_or_after(ip);

	if (rec == ftrace_nr_recs || !kallsyms_lookup(ip, &size, &offset, name) || offset ||
	    ftrace_recs[rec].ip - ip >= size)
		return 0;
	return ftrace_recs[rec].ip;
}

/* ---- Sets and records that were forgotten */

static u32 forgettings;	  /* [ftrace_lock] how often records were forgotten */
static u32 *forgotten_at; /* [ftrace_lock] of each module's place: the forgetting that emptied it last */

/*
 * A set that loses a site does not become empty until it is cleared: it counts one more than its bits. Otherwise the
 * filter of a user that had chosen only functions of this module would name nothing, which means every function. Linux
 * keeps a dead entry in its hash, with the same effect.
 */
static notrace void module_set_refresh(struct ftrace_set *set)
{
	if (set->bits && set->seen != forgettings)
		for (unsigned rec = ftrace_nr_kernel_recs; rec < ftrace_recs_end; rec++) {
			unsigned long bit = BIT(rec % 64);

			if (!(set->bits[rec / 64] & bit) || forgotten_at[rec - ftrace_nr_kernel_recs] <= set->seen)
				continue;
			set->bits[rec / 64] &= ~bit;
			set->count -= set->lost;
			set->lost = true;
		}
	set->seen = forgettings;
}

static notrace void refresh_users(void)
{
	struct ftrace_ops *op;

	for_each_ftrace_op(op) {
		struct ftrace_ops *owner = op->sets_of ?: op;

		module_set_refresh(&owner->filter);
		module_set_refresh(&owner->exclude);
	}
}

/* All other CPUs are parked. */
static notrace void forget_run(void *data)
{
	struct site_run *run = data;

	forgettings++;
	for (unsigned rec = run->first; rec < run->first + run->n; rec++)
		forgotten_at[rec - ftrace_nr_kernel_recs] = forgettings;
	ftrace_forget_sites(run->first, run->n);
	ftrace_nr_sites -= run->n;
	refresh_users();
	*run = runs[nr_runs - 1];
	nr_runs--;
}

/* Forget the sites of this piece of text. Thread context. */
static void remove_run(unsigned long text)
{
	mutex_lock(&ftrace_lock);
	for (unsigned i = 0; i < nr_runs; i++)
		if (runs[i].start == text) {
			mutex_lock(&text_mutex);
			text_patch_stopped(forget_run, &runs[i]);
			mutex_unlock(&text_mutex);
			break;
		}
	mutex_unlock(&ftrace_lock);
}

/* ---- A module comes */

/* The first of `n` free places in a row; ftrace_nr_recs: there are not so many. [ftrace_lock] */
static unsigned find_places(unsigned n)
{
	unsigned first = ALIGN(ftrace_nr_kernel_recs, 64), rec = first;

	for (; rec < ftrace_nr_recs && rec - first < n; rec++)
		if (test_bit(rec, ftrace_present_map))
			first = rec + 1;
	return rec - first == n ? first : ftrace_nr_recs;
}

/* No CPU executes this text yet, so the machine need not stop. 0, or the error of arch_patch_write(). */
static int make_nops(const unsigned long *sites, unsigned n)
{
	unsigned long flags;
	int err = 0;

	mutex_lock(&text_mutex);
	raw_local_irq_save(flags);
	arch_patch_begin();
	for (unsigned i = 0; i < n && !err; i++)
		err = arch_patch_write(sites[i], 0, PATCH_CALL);
	arch_patch_end();
	raw_local_irq_restore(flags);
	mutex_unlock(&text_mutex);
	return err;
}

/* [ftrace_lock] The sites of a piece of text, ascending, become a run. 0 or -ENOMEM. */
static int add_run(const struct module_memory *text, const unsigned long *sites, unsigned n)
{
	unsigned first = find_places(n);

	if (!n)
		return 0;
	if (first == ftrace_nr_recs || nr_runs == MAX_RUNS) {
		pr_err("ftrace: no room for the %u call sites of a module; unload another\n", n);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < n; i++) {
		ftrace_recs[first + i] = (struct dyn_ftrace){.ip = sites[i]};
		set_bit(first + i, ftrace_present_map);
	}
	ftrace_nr_sites += n;
	ftrace_recs_end = max(ftrace_recs_end, first + n);
	runs[nr_runs] = (struct site_run){text->base, text->base + text->size, first, n};
	smp_store_release(&nr_runs, nr_runs + 1);
	return 0;
}

/* The table is needed from the first module on. 0, -ENOMEM. [ftrace_lock] */
static int alloc_forgotten(void)
{
	if (!forgotten_at)
		forgotten_at = kvzalloc((ftrace_nr_recs - ftrace_nr_kernel_recs) * sizeof(*forgotten_at), GFP_KERNEL);
	return forgotten_at ? 0 : -ENOMEM;
}

/*
 * The sites of the two texts follow each other in mod->sites. Users that want all functions get these, too; that is the
 * only thing for which the machine stops. When ftrace has given up they stay nops, and the module runs untraced.
 */
static int sites_coming(struct module *mod)
{
	const struct module_memory *text = &mod->memory[MODULE_TEXT], *init = &mod->memory[MODULE_INIT_TEXT];
	unsigned n = 0, first = 0;
	int err = make_nops(mod->sites, mod->nr_sites);

	if (err)
		return err;
	while (n < mod->nr_sites && mod->sites[n] - text->base >= text->size)
		n++;
	first = n; /* sites of init that lie below the module's text */
	while (n < mod->nr_sites && mod->sites[n] - text->base < text->size)
		n++;
	mutex_lock(&ftrace_lock);
	err = alloc_forgotten();
	if (!err)
		err = add_run(text, mod->sites + first, n - first);
	if (!err)
		err = first ? add_run(init, mod->sites, first) : add_run(init, mod->sites + n, mod->nr_sites - n);
	if (!err && ftrace_ops_list && !ftrace_is_dead())
		err = ftrace_update();
	mutex_unlock(&ftrace_lock);
	if (err) {
		remove_run(text->base);
		remove_run(init->base);
	}
	return err;
}

static void sites_live(struct module *mod)
{
	if (mod->memory[MODULE_INIT_TEXT].size)
		remove_run(mod->memory[MODULE_INIT_TEXT].base);
}

static void sites_going(struct module *mod)
{
	sites_live(mod);
	if (mod->memory[MODULE_TEXT].size)
		remove_run(mod->memory[MODULE_TEXT].base);
}

static const struct module_notifier site_notifier = {.coming = sites_coming, .live = sites_live, .going = sites_going};
REGISTER_MODULE_NOTIFIER_FIRST(site_notifier);

/* Each record costs 16 bytes, and 3 in the maps. The records never move, so they are read without a lock. */
static const struct ftrace_late_sites module_sites = {.room = 4096,
						      .rec_at_or_after = module_rec_at_or_after,
						      .location = module_location,
						      .refresh = module_set_refresh};
REGISTER_FTRACE_LATE_SITES(module_sites);
