/*
 * Looking names of modules up, in any context and without a lock: a list of tables that changes by single stores, read
 * with preemption off. What is found is copied, as the module may go at once afterwards.
 */
#include "internal.h"

#include <kernel/init.h>
#include <kernel/ksyms.h>
#include <lib/string.h>
#include <sched/sched.h>

/* The newest first. An entry is whole before it can be found, so readers need no lock, only preemption off. */
static struct ksym_table *tables;

/* Release: a look-up that finds the table finds all of it. [m] */
void ksym_table_add(struct ksym_table *table)
{
	table->next = tables;
	__atomic_store_n(&tables, table, __ATOMIC_RELEASE);
}

/* A reader that stands on the table goes on from it, so its `next` stays; the caller waits for readers. [m] */
void ksym_table_remove(struct ksym_table *table)
{
	struct ksym_table **p = &tables;

	while (*p && *p != table)
		p = &(*p)->next;
	if (*p)
		WRITE_ONCE(*p, table->next);
}

/* The table that the address lies in, or NULL. Preemption off. */
static const struct ksym_table *table_of(unsigned long address)
{
	const struct ksym_table *t = READ_ONCE(tables);

	while (t && (address < t->start || address >= t->end))
		t = READ_ONCE(t->next);
	return t;
}

/* By halving: the index of the first symbol of a table that does not lie below the address; t->nr: all do. */
static unsigned first_entry(const struct ksym_table *t, unsigned long address)
{
	unsigned low = 0, high = t->nr;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (t->entries[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What was found, in the table's own memory. */
struct found_symbol {
	unsigned long size, offset;
	const char *name, *module;
};

/*
 * The symbol at or before the address. Several may stand at one address (a function and init_module, its other name):
 * the first of them is taken, which sorting has made the preferred one. An address before the first symbol of the table
 * has none. A symbol reaches to the next one, or to the end of the module's memory, since the sizes in the file's table
 * are not kept: padding counts to the function in front of it, as it does for the kernel's own names.
 *
 * Preemption off, as what it finds in a module may go.
 */
static bool find_in_module(unsigned long address, struct found_symbol *found)
{
	const struct ksym_table *t = table_of(address);
	unsigned after = t ? first_entry(t, address + 1) : 0, first;

	if (!after)
		return false;
	first = first_entry(t, t->entries[after - 1].address);
	found->offset = address - t->entries[first].address;
	found->size = (after < t->nr ? t->entries[after].address : t->end) - t->entries[first].address;
	found->name = t->names + t->entries[first].name;
	found->module = t->module;
	return true;
}

static const char *module_ksym_name(unsigned long address, const char **module)
{
	struct found_symbol found = {};

	preempt_disable_notrace();
	if (find_in_module(address, &found) && module)
		*module = found.module;
	preempt_enable_notrace();
	return found.name;
}

/*
 * What is found is copied with preemption off: the table may be freed as soon as that is on again. The _notrace forms,
 * because the tracer itself asks for names while it prints.
 */
static bool module_ksym_find(unsigned long address, unsigned long *size, unsigned long *offset, char *module,
			     char *name)
{
	struct found_symbol found;
	bool there;

	preempt_disable_notrace();
	there = find_in_module(address, &found);
	if (there) {
		strscpy(name, found.name, KSYM_NAME_LEN);
		if (module)
			strscpy(module, found.module, KSYM_MODULE_LEN);
	}
	preempt_enable_notrace();
	if (there && size)
		*size = found.size;
	if (there && offset)
		*offset = found.offset;
	return there;
}

/*
 * The address of a name, or of "module:name", which tells functions of the same name in two modules apart. The whole
 * table is searched, since it is in the order of addresses; people ask such questions by hand, so the time does not
 * matter.
 */
static unsigned long lookup_name_in(const struct ksym_table *t, const char *name)
{
	size_t len = strlen(t->module);

	if (!strncmp(name, t->module, len) && name[len] == ':')
		name += len + 1;
	for (unsigned i = 0; i < t->nr; i++)
		if (!strcmp(t->names + t->entries[i].name, name))
			return t->entries[i].address;
	return 0;
}

/* The newest module first. A module that has gone is passed over: its functions must not be called. */
static unsigned long module_ksym_find_name(const char *name)
{
	unsigned long address = 0;

	preempt_disable_notrace();
	for (const struct ksym_table *t = READ_ONCE(tables); t && !address; t = READ_ONCE(t->next))
		address = READ_ONCE(t->gone) ? 0 : lookup_name_in(t, name);
	preempt_enable_notrace();
	return address;
}

/*
 * Symbol number i of all modules, for /proc/kallsyms, which asks for one after the other. A module that comes or goes
 * in between shifts the numbers: a reader may then miss names or see some twice, as on Linux. Tables of code that has
 * gone are left out, because what /proc/kallsyms names can be called.
 */
static bool module_ksym_number(size_t i, struct module_ksym *sym)
{
	const struct ksym_table *t;

	preempt_disable_notrace();
	for (t = READ_ONCE(tables); t; t = READ_ONCE(t->next)) {
		if (READ_ONCE(t->gone))
			continue;
		if (i < t->nr)
			break;
		i -= t->nr;
	}
	if (t) {
		sym->address = t->entries[i].address;
		sym->type = t->entries[i].type;
		strscpy(sym->name, t->names + t->entries[i].name, sizeof(sym->name));
		strscpy(sym->module, t->module, sizeof(sym->module));
	}
	preempt_enable_notrace();
	return t;
}

/* What kernel/ksyms.c asks when an address or a name is not the kernel's own. */
static const struct ksym_source source = {module_ksym_find, module_ksym_find_name, module_ksym_number,
					  module_ksym_name};

static int module_ksyms_init(void)
{
	ksym_modules = &source;
	return 0;
}
core_initcall(module_ksyms_init);
