/*
 * The names of a module, for backtraces, the trace and /proc/kallsyms. What the file says of its functions and objects
 * is copied, sorted by address, into one table for the core and one for what runs at the start and goes away.
 *
 * A trace is read after what it tells of has gone: a module that was taken out, or its init. So tables stay when their
 * code goes, until other code takes their addresses or too many have gone after them (MAX_GONE).
 */
#include "internal.h"

#include <fs/libfs.h>
#include <kernel/init.h>
#include <kernel/ksyms.h>
#include <lib/sort.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>

/* A name that stands for an address: no section, no file, no mark of the assembler ($x, .L1). */
static bool is_name(const struct load_info *info, const struct elf64_sym *sym)
{
	const char *name = info->strings + sym->st_name;
	unsigned type = ELF64_ST_TYPE(sym->st_info);

	return *name && *name != '$' && strncmp(name, ".L", 2) && type != STT_SECTION && type != STT_FILE &&
	       sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS;
}

/* Does the address lie in one of these three parts: the core's, or those of init? */
static bool in_parts(const struct module_memory *parts, unsigned long address)
{
	for (unsigned i = 0; i < 3; i++)
		if (in_part(&parts[i], address))
			return true;
	return false;
}

/* As nm has it: T text, D data, B without contents, R constants; small for one that is local. */
static char symbol_type(const struct load_info *info, const struct elf64_sym *sym)
{
	const struct elf64_shdr *s = &info->sections[sym->st_shndx];
	char letter = s->sh_flags & SHF_EXECINSTR  ? 't'
		      : !(s->sh_flags & SHF_WRITE) ? 'r'
		      : s->sh_type == SHT_NOBITS   ? 'b'
						   : 'd';

	return ELF64_ST_BIND(sym->st_info) == STB_LOCAL ? letter : letter - 'a' + 'A';
}

/* For sort(): by address. */
static int compare_entries(const void *a, const void *b)
{
	const struct ksym_entry *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* At one address, the name that comes first in the file: a function's own before that of init_module. */
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Counts the symbols of the three parts, and writes them into `table` unless that is NULL. */
static unsigned gather_symbols(const struct load_info *info, const struct module_memory *parts,
			       struct ksym_table *table, size_t *names_size)
{
	unsigned n = 0;

	*names_size = 0;
	for (unsigned i = 1; i < info->nr_symbols; i++) {
		const struct elf64_sym *sym = &info->symbols[i];
		size_t size = strnlen(info->strings + sym->st_name, KSYM_NAME_LEN - 1) + 1;

		if (!is_name(info, sym) || !in_parts(parts, sym->st_value))
			continue;
		if (table) {
			struct ksym_entry *e = (struct ksym_entry *)&table->entries[n];

			*e = (struct ksym_entry){sym->st_value, *names_size, symbol_type(info, sym)};
			strscpy((char *)table->names + *names_size, info->strings + sym->st_name, size);
		}
		*names_size += size;
		n++;
	}
	return n;
}

/*
 * The table of three parts, in one allocation: the struct, its entries, the module's name, the names. Two walks over
 * the file's symbols, one to measure and one to fill in. NULL when out of memory.
 */
static struct ksym_table *ksym_make_table(const struct module *mod, const struct load_info *info,
					  const struct module_memory *parts)
{
	size_t names;
	unsigned n = gather_symbols(info, parts, NULL, &names);
	struct ksym_table *table;

	table = kvzalloc(sizeof(*table) + n * sizeof(struct ksym_entry) + MODULE_NAME_LEN + names, GFP_KERNEL);
	if (!table)
		return NULL;
	table->start = parts[0].base;
	table->end = parts[2].base + parts[2].size;
	table->entries = (struct ksym_entry *)(table + 1);
	table->nr = n;
	table->module = memcpy((void *)(table->entries + n), mod->name, MODULE_NAME_LEN);
	table->names = table->module + MODULE_NAME_LEN;
	gather_symbols(info, parts, table, &names);
	sort((void *)table->entries, n, sizeof(struct ksym_entry), compare_entries);
	return table;
}

#define MAX_GONE 32
static struct ksym_table *gone[MAX_GONE]; /* [module_mutex] the oldest first */

/* Number i is forgotten: its names are no longer found. */
static void forget_gone(unsigned i)
{
	struct ksym_table *old = gone[i];

	memmove(gone + i, gone + i + 1, (MAX_GONE - 1 - i) * sizeof(gone[0]));
	gone[MAX_GONE - 1] = NULL;
	ksym_table_remove(old);
	synchronize_rcu();
	kvfree(old);
}

/* New code is about to lie at these addresses. */
static void forget_gone_at(unsigned long start, unsigned long end)
{
	for (unsigned i = 0; i < MAX_GONE && gone[i];) {
		if (gone[i]->start < end && start < gone[i]->end)
			forget_gone(i);
		else
			i++;
	}
}

/* Returns the table, or NULL for one without names, in which nothing could be found. */
static struct ksym_table *ksym_add_table(struct ksym_table *table)
{
	forget_gone_at(table->start, table->end);
	if (table->nr) {
		ksym_table_add(table);
		return table;
	}
	kvfree(table);
	return NULL;
}

/*
 * Two tables, because what only init needs goes when init has returned. Names of code that lay here before are
 * forgotten first: one address has one name.
 */
int module_add_symbols(struct module *mod, const struct load_info *info)
{
	struct ksym_table *core = ksym_make_table(mod, info, &mod->memory[MODULE_TEXT]);
	struct ksym_table *init = ksym_make_table(mod, info, &mod->memory[MODULE_INIT_TEXT]);

	if (!core || !init) {
		kvfree(core);
		kvfree(init);
		return -ENOMEM;
	}
	mod->symbols = ksym_add_table(core);
	mod->init_symbols = ksym_add_table(init);
	return 0;
}

/*
 * The code of a table is about to go, and its names stay for the trace. It joins the end of `gone`; when that is full,
 * the oldest is forgotten. [module_mutex]
 */
static void retire_table(struct ksym_table **table)
{
	unsigned n = 0;

	if (!*table)
		return;
	while (n < MAX_GONE && gone[n])
		n++;
	if (n == MAX_GONE)
		forget_gone(0);
	n = min(n, (unsigned)MAX_GONE - 1);
	(*table)->gone = true;
	gone[n] = *table;
	*table = NULL;
}

/*
 * debugfs, gone_symbols: what a trace may still name, in the form of /proc/kallsyms. A recorder adds these to the
 * symbols of its file.
 */
static int gone_show(struct seq_file *m, void *data)
{
	mutex_lock(&module_mutex);
	for (unsigned n = 0; n < MAX_GONE && gone[n]; n++)
		for (unsigned i = 0; i < gone[n]->nr; i++) {
			const struct ksym_entry *e = &gone[n]->entries[i];

			seq_printf(m, "%016lx %c %s\t[%s]\n", kallsyms_show_value() ? e->address : 0, e->type,
				   gone[n]->names + e->name, gone[n]->module);
		}
	mutex_unlock(&module_mutex);
	return 0;
}
static const struct text_file gone_entry = {.path = "gone_symbols", .mode = 0400, .show = gone_show};
REGISTER_DEBUGFS(gone_entry);

/* The tables stay in the list of look-ups, marked `gone`, and join those that may be forgotten. */
void module_retire_init_symbols(struct module *mod)
{
	retire_table(&mod->init_symbols);
}

void module_retire_symbols(struct module *mod)
{
	retire_table(&mod->init_symbols);
	retire_table(&mod->symbols);
}
