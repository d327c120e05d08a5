/*
 * Static branches in modules: their sites follow the keys of the kernel, of other modules and of their own, from before
 * init runs until their text goes.
 *
 * Among the first that are told of modules: a tracepoint in a module can be switched on as soon as its event is known.
 */
#include "internal.h"

#include <arch/module.h>
#include <arch/patch.h>
#include <kernel/init.h>
#include <kernel/module_check.h>
#include <trace/tracepoint.h>

extern struct tracepoint *const __start_ptrs_tracepoints[], *const __stop_ptrs_tracepoints[];

/* Is it the key of one of these tracepoints? Such a key need not have a site where the tracepoint is. */
static bool is_key_of(const struct static_key *key, struct tracepoint *const *tp, unsigned n)
{
	for (; n; n--, tp++)
		if (&(*tp)->key == key)
			return true;
	return false;
}

/* Is it a key that this module has, or uses? The module is LIVE, so its tables stay as they are while it is held. */
static bool source_has_key(const struct module *source, const struct static_key *key)
{
	unsigned n;
	struct tracepoint *const *tps = module_section(source, "ptrs_tracepoints", sizeof(*tps), &n);

	for (const struct jump_entry *e = source->jumps.start; e < source->jumps.stop; e++)
		if (e->key == (unsigned long)key)
			return true;
	return is_key_of(key, tps, n);
}

/*
 * A stop that switches any key reads and writes all keys that have sites. So a key is the module's own, or one that is
 * known to be a key, of the kernel or of a module that this one uses.
 */
static bool may_switch(struct module_check *c, const struct static_key *key)
{
	const struct module_use *use;

	if (module_claim(c, key, sizeof(*key), CLAIM_KEY) || static_key_is_of_kernel(key) ||
	    is_key_of(key, __start_ptrs_tracepoints, __stop_ptrs_tracepoints - __start_ptrs_tracepoints))
		return true;
	list_for_each_entry(use, &module_checked(c)->uses, sources)
		if (source_has_key(use->source, key))
			return true;
	return false;
}

/* A nop in the module's text that nobody else patches, and a place to jump to that lives as long. */
static bool is_branch(struct module_check *c, const struct jump_entry *e)
{
	const struct module_memory *init = &module_checked(c)->memory[MODULE_INIT_TEXT];

	return module_claim(c, (void *)e->code, PATCH_SITE_SIZE, CLAIM_SITE) &&
	       arch_patch_verify_calls(&e->code, 1, 0) == 1 && !(e->target % ARCH_MCOUNT_ALIGN) &&
	       (module_has_code(c, e->target) || (in_part(init, e->code) && in_part(init, e->target)));
}

static int jumps_check(struct module_check *c)
{
	unsigned n;
	int err;
	const struct jump_entry *e = module_check_table(c, "__jump_table", sizeof(*e), true, &n, &err);

	for (; n && !err; n--, e++)
		if (!is_branch(c, e) || !may_switch(c, (struct static_key *)e->key))
			err = module_bad_table(c, "__jump_table");
	return err;
}

static int jumps_coming(struct module *mod)
{
	unsigned n;
	struct jump_entry *entries = module_section(mod, "__jump_table", sizeof(*entries), &n);

	mod->jumps = (struct jump_table){NULL, entries, entries + n};
	return n ? jump_table_add(&mod->jumps) : 0;
}

static void jumps_live(struct module *mod)
{
	jump_table_forget(&mod->jumps, mod->memory[MODULE_INIT_TEXT].base, mod->memory[MODULE_INIT_TEXT].size);
}

static void jumps_going(struct module *mod)
{
	jump_table_remove(&mod->jumps);
}

static const struct module_notifier jumps_notifier = {jumps_coming, jumps_live, jumps_going, jumps_check};
REGISTER_MODULE_NOTIFIER_FIRST(jumps_notifier);
