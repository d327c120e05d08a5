/*
 * Static branches in modules: the sites of local_irq_disable() and its like, which tell tracers, and those of
 * tracepoints. kernel/jump_label.c switches them with those of the kernel.
 */
#include "internal.h"

#include <kernel/jump_label.h>
#include <mm/slab.h>

static struct jump_entry *sites(const struct module *mod, unsigned *nr)
{
	return module_section(mod, "__jump_table", sizeof(struct jump_entry), nr);
}

/* Its branches whose key is on jump from the beginning. */
static int branches_coming(struct module *mod)
{
	struct jump_table *table;
	unsigned nr;
	struct jump_entry *entries = sites(mod, &nr);

	if (!entries)
		return 0;
	table = kmalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	*table = (struct jump_table){.entries = entries, .nr = nr};
	jump_table_add(table);
	return 0;
}

static void branches_live(struct module *mod)
{
	unsigned nr;
	const struct module_memory *text = &mod->memory[MODULE_INIT_TEXT];

	jump_table_drop(sites(mod, &nr), text->base, text->size);
}

static void branches_going(struct module *mod)
{
	unsigned nr;

	kfree(jump_table_remove(sites(mod, &nr)));
}

static const struct module_notifier branch_notifier = {branches_coming, branches_live, branches_going};
REGISTER_MODULE_NOTIFIER(branch_notifier);
