/*
 * Static branches in modules: their sites follow the keys of the kernel, of other modules and of their own, from before
 * init runs until their text goes.
 *
 * Among the first that are told of modules: a tracepoint in a module can be switched on as soon as its event is known.
 */
#include "internal.h"

#include <kernel/init.h>

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

static const struct module_notifier jumps_notifier = {jumps_coming, jumps_live, jumps_going};
REGISTER_MODULE_NOTIFIER_FIRST(jumps_notifier);
