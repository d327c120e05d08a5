/*
 * The modules that are there, for all who ask: which one an address lies in, which one has a name, and references.
 *
 * The loader (kernel/module) fills the list, and answers what only it can answer. A kernel without the loader has an
 * empty list. Then no module is found, each owner is NULL, and nobody is asked to load one.
 */
#include <kernel/export.h>
#include <kernel/kmod.h>
#include <kernel/module.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <trace/fgraph.h>

LIST_HEAD(modules);
DEFINE_MUTEX(module_mutex);
const struct module_loader *module_loader;

/* The list's links are single words: a reader sees it with or without the module that comes or goes. */
struct module *__module_address(unsigned long addr)
{
	for (struct list_head *p = READ_ONCE(modules.next); p != &modules; p = READ_ONCE(p->next)) {
		struct module *mod = list_entry(p, struct module, list);

		if (module_part_of(mod, addr) < NR_MODULE_PARTS)
			return mod;
	}
	return NULL;
}

/* Finds a module that is only coming or going, too, since its name is taken. The caller looks at its state. */
struct module *find_module(const char *name)
{
	struct module *mod;

	for_each_module(mod)
		if (!strcmp(mod->name, name))
			return mod;
	return NULL;
}

void *module_section(const struct module *mod, const char *name, size_t size, unsigned *n)
{
	for (unsigned i = 0; i < mod->nr_sections; i++)
		if (!strcmp(mod->sections[i].name, name)) {
			*n = mod->sections[i].size / size;
			return (void *)mod->sections[i].address;
		}
	*n = 0;
	return NULL;
}

bool try_module_get(struct module *mod)
{
	return !mod || module_loader->get(mod, TRUE_RET_ADDR());
}
EXPORT_SYMBOL(try_module_get);

void module_put(struct module *mod)
{
	if (mod)
		module_loader->put(mod, TRUE_RET_ADDR());
}
EXPORT_SYMBOL(module_put);

int __request_module(bool wait, const char *fmt, ...)
{
	char name[MODULE_NAME_LEN];
	va_list args;
	int len;

	if (!module_loader)
		return -ENOSYS;
	va_start(args, fmt);
	len = vsnprintf(name, sizeof(name), fmt, args);
	va_end(args);
	return len < (int)sizeof(name) ? module_loader->request(name, wait, TRUE_RET_ADDR()) : -ENAMETOOLONG;
}
EXPORT_SYMBOL(__request_module);
