/*
 * The records of call sites: from an address to its record, and from a record to the name of its function.
 *
 * The records of the kernel are sorted by address, and a table of hints says for each piece of text where its records
 * begin. So a lookup costs a load and a few comparisons, whatever the number of sites; those of modules are searched in
 * modules/sites.c. The kernel's records never change after boot, and all of this may be called in any context.
 */
#include <kernel/ksyms.h>
#include <kernel/module.h>
#include <kernel/panic.h>
#include <mm/slab.h>

#include "internal.h"

extern char _text[];

struct dyn_ftrace *ftrace_recs;
unsigned ftrace_nr_kernel_recs, ftrace_nr_recs, ftrace_recs_end, ftrace_nr_sites;
unsigned long *ftrace_present_map;

/* A name is looked up when it is first asked for, and not at boot, which it would make longer. */
const char *ftrace_rec_name(struct dyn_ftrace *rec)
{
	u32 nr = READ_ONCE(rec->sym);
	struct ksym sym;

	if (rec >= ftrace_recs + ftrace_nr_kernel_recs)
		return module_symbol_name(rec->ip, NULL) ?: "?";
	if (!nr) {
		nr = symbol_index(rec->ip) + 1;
		WRITE_ONCE(rec->sym, nr);
	}
	return kallsyms_symbol(nr - 1, &sym) ? sym.name : "?";
}

const char *ftrace_rec_module(const struct dyn_ftrace *rec)
{
	const char *module = NULL;

	if (rec >= ftrace_recs + ftrace_nr_kernel_recs)
		module_symbol_name(rec->ip, &module);
	return module;
}

static unsigned late_rec_at_or_after(unsigned long ip)
{
	const struct ftrace_late_sites *late = ftrace_late_sites();

	return late ? late->rec_at_or_after(ip) : ftrace_nr_recs;
}

/* For each piece of text this long, from the first site on: the first record in it or behind it. [after boot: I] */
#define HINT_SHIFT 8
static u32 *rec_hints;

/* From where the hint says it is a step or two. */
unsigned ftrace_rec_at_or_after(unsigned long ip)
{
	unsigned long first, last;
	unsigned i;

	if (!rec_hints)
		return ftrace_nr_recs;
	first = ftrace_recs[0].ip;
	last = ftrace_recs[ftrace_nr_kernel_recs - 1].ip;
	if (unlikely(ip > last || ip < (unsigned long)_text))
		return late_rec_at_or_after(ip);
	i = ip > first ? rec_hints[(ip - first) >> HINT_SHIFT] : 0;
	while (ftrace_recs[i].ip < ip)
		i++;
	return i;
}

long ftrace_rec_of(unsigned long ip)
{
	unsigned i = ftrace_rec_at_or_after(ip);

	return i < ftrace_nr_recs && ftrace_recs[i].ip == ip ? (long)i : -1;
}

void ftrace_make_hints(void)
{
	unsigned long first = ftrace_recs[0].ip, last = ftrace_recs[ftrace_nr_kernel_recs - 1].ip;
	unsigned n = ((last - first) >> HINT_SHIFT) + 1, rec = 0;
	u32 *hints = kvzalloc(n * sizeof(*hints), GFP_KERNEL);

	if (!hints)
		panic("ftrace: no memory for %u hints", n);
	for (unsigned i = 0; i < n; i++) {
		while (ftrace_recs[rec].ip < first + ((unsigned long)i << HINT_SHIFT))
			rec++;
		hints[i] = rec;
	}
	rec_hints = hints;
}
