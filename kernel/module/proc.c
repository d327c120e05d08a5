/*
 * /proc/modules: a line for each module, which lsmod shows as a table. The text is made under module_mutex at each
 * read, so no module comes or goes within it.
 */
#include "internal.h"

#include <fs/libfs.h>
#include <kernel/init.h>
#include <kernel/ksyms.h>

static const char *const state_names[] = {"Live", "Loading", "Unloading", "Unformed"};

/*
 * Everything, init's memory too while that is there, as Linux counts it. A line as Linux has it: name, bytes,
 * references, users, state, where it begins, and (P) for what is not free. A module that can never be unloaded has one
 * more user.
 */
static void show_module(struct seq_file *m, const struct module *mod)
{
	bool permanent = mod->init && !mod->exit;
	const struct module_use *use;
	unsigned long size = 0;

	for (unsigned i = 0; i < NR_MODULE_PARTS; i++)
		size += mod->memory[i].size;
	seq_printf(m, "%s %lu %d ", mod->name, size, module_refcount(mod));
	list_for_each_entry(use, &mod->used_by, users)
		seq_printf(m, "%s,", use->user->name);
	if (permanent)
		seq_puts(m, "[permanent],");
	else if (list_empty(&mod->used_by))
		seq_putc(m, '-');
	seq_printf(m, " %s 0x%016lx%s\n", state_names[mod->state],
		   kallsyms_show_value() ? mod->memory[MODULE_TEXT].base : 0, mod->taints ? " (P)" : "");
}

static int modules_show(struct seq_file *m, void *data)
{
	const struct module *mod;

	if (mutex_lock_interruptible(&module_mutex))
		return -EINTR;
	for_each_module(mod)
		if (mod->state != MODULE_STATE_UNFORMED)
			show_module(m, mod);
	mutex_unlock(&module_mutex);
	return 0;
}
static const struct text_file modules_entry = {.path = "modules", .mode = 0444, .show = modules_show};
REGISTER_PROC(modules_entry);
