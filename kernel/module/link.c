/*
 * Linking: the symbols of a module get addresses, and its relocations write these into its code and data.
 *
 * An undefined symbol is looked for among what the kernel exports, and then among what other modules export: a table
 * (EXPORT_SYMBOL) that each linker has sorted by name. The calls to the compiler's hook at the entry of functions are
 * not linked. They are the module's call sites, and where they are is collected here for ftrace.
 */
#include "internal.h"

#include <arch/module.h>
#include <lib/sort.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <time/jiffies.h>

extern const struct kernel_symbol __start___ksymtab[], __stop___ksymtab[];

/*
 * A binary search. Each linker sorts its table by name (SORT in linker.ld and module.lds), so nothing is sorted here.
 */
static const struct kernel_symbol *ksymtab_search(const struct kernel_symbol *table, unsigned n, const char *name)
{
	while (n) {
		const struct kernel_symbol *mid = table + n / 2;
		int order = strcmp(name, mid->name);

		if (!order)
			return mid;
		if (order > 0) {
			table = mid + 1;
			n -= n / 2 + 1;
		} else {
			n /= 2;
		}
	}
	return NULL;
}

/*
 * [m] The exported symbol and the module that has it (*owner NULL: the kernel), or NULL. A module that is still coming
 * counts if no other one has the symbol: it may fail, and then it goes with all that it exports.
 */
static const struct kernel_symbol *find_symbol(const char *name, struct module **owner)
{
	const struct kernel_symbol *sym = ksymtab_search(__start___ksymtab, __stop___ksymtab - __start___ksymtab, name);
	struct module *mod;

	*owner = NULL;
	if (sym)
		return sym;
	for_each_module(mod) {
		const struct kernel_symbol *table, *found;
		unsigned n;

		if (mod->state != MODULE_STATE_LIVE && mod->state != MODULE_STATE_COMING)
			continue;
		table = module_section(mod, "__ksymtab", sizeof(*table), &n);
		found = ksymtab_search(table, n, name);
		if (!found)
			continue;
		sym = found;
		*owner = mod;
		if (mod->state == MODULE_STATE_LIVE)
			break;
	}
	return sym;
}

/*
 * [m, not held while it waits] As find_symbol(). What a module that is coming exports can be used when its init has
 * returned, which is waited for as long as Linux does. ERR_PTR(-EBUSY, -EINTR).
 */
static const struct kernel_symbol *wait_for_symbol(const struct load_info *info, const char *name,
						   struct module **owner)
{
	const struct kernel_symbol *sym;
	long left = 30 * HZ;
	int err;

	while ((sym = find_symbol(name, owner)) && *owner && (*owner)->state != MODULE_STATE_LIVE) {
		err = module_wait_for_change(&left);
		if (err)
			return ERR_PTR(module_refuse(info, err, "%s is in a module whose init does not return", name));
	}
	return sym;
}

/* [m] mod uses source: source cannot be unloaded before mod. */
static int use_module(struct module *mod, struct module *source)
{
	struct module_use *use;

	list_for_each_entry(use, &mod->uses, sources)
		if (use->source == source)
			return 0;
	if (!try_module_get(source))
		return -ENOENT;
	use = kmalloc(sizeof(*use), GFP_KERNEL);
	if (!use) {
		module_put(source);
		return -ENOMEM;
	}
	use->source = source;
	use->user = mod;
	use->holder = NULL;
	list_add(&use->sources, &mod->uses);
	list_add(&use->users, &source->used_by);
	return 0;
}

/*
 * The counterpart of all use_module() of this module. Its sources may be unloaded from now on, so the caller has made
 * sure that no code of the module runs any more.
 */
void module_unuse(struct module *mod)
{
	struct module_use *use, *next;

	list_for_each_entry_safe(use, next, &mod->uses, sources) {
		list_del(&use->sources);
		list_del(&use->users);
		module_put(use->source);
		kfree(use);
	}
}

/*
 * [m] A symbol that is not in the module itself. A weak one that is found nowhere is 0, and the module asks for its
 * address before it uses it. The first name that is missing ends the loading: the build has said all of them
 * (tools/modpost.py).
 */
static int resolve_undefined(struct module *mod, const struct load_info *info, struct elf64_sym *sym)
{
	const char *name = info->strings + sym->st_name;
	const struct kernel_symbol *found;
	struct module *owner;

	found = wait_for_symbol(info, name, &owner);
	if (IS_ERR(found))
		return PTR_ERR(found);
	if (!found && ELF64_ST_BIND(sym->st_info) == STB_WEAK) {
		sym->st_value = 0;
		return 0;
	}
	if (!found)
		return module_refuse(info, -ENOENT, "Unknown symbol %s", name);
	if (found->gpl_only && mod->taints)
		return module_refuse(info, -ENOENT, "%s is for modules with MODULE_LICENSE(\"GPL\") only", name);
	sym->st_value = found->value;
	return owner ? use_module(mod, owner) : 0;
}

/* Symbols of sections that are not in memory keep their offset: nothing that is in memory may ask for one. */
int module_resolve(struct module *mod, struct load_info *info)
{
	int err = 0;

	for (unsigned i = 1; i < info->nr_symbols && !err; i++) {
		struct elf64_sym *sym = &info->symbols[i];
		const char *name = info->strings + sym->st_name;

		if (sym->st_shndx == SHN_UNDEF) {
			if (*name && strcmp(name, ARCH_MCOUNT))
				err = resolve_undefined(mod, info, sym);
		} else if (sym->st_shndx == info->percpu) {
			sym->st_value += (unsigned long)mod->percpu;
		} else if (sym->st_shndx != SHN_ABS) {
			sym->st_value += info->sections[sym->st_shndx].sh_addr;
		}
	}
	return err;
}

/* Is it gcc's call at the entry of a function? Such a call is never linked: it becomes a nop that ftrace patches. */
static bool is_mcount(const struct load_info *info, const struct elf64_sym *sym)
{
	return sym->st_shndx == SHN_UNDEF && !strcmp(info->strings + sym->st_name, ARCH_MCOUNT);
}

/*
 * Note the site whose call to the hook this relocation would have linked. What is patched there is a whole call, so a
 * relocation of another type, or one at which no call can begin, is refused.
 */
static int note_site(struct module *mod, const struct load_info *info, const struct elf64_rela *rela,
		     const struct elf64_shdr *s)
{
	unsigned long site = s->sh_addr + rela->r_offset - ARCH_MCOUNT_FIELD;

	if (!(s->sh_flags & SHF_EXECINSTR) || ELF64_R_TYPE(rela->r_info) != ARCH_MCOUNT_TYPE ||
	    site - s->sh_addr >= s->sh_size || site % ARCH_MCOUNT_ALIGN)
		return module_refuse(info, -ENOEXEC, "a use of " ARCH_MCOUNT " that is no call");
	mod->sites[mod->nr_sites++] = site;
	return 0;
}

/* For sort(): addresses, ascending. */
static int compare_sites(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

/* Ascending. Two sites have no byte in common. */
static int sort_sites(struct module *mod, const struct load_info *info)
{
	sort(mod->sites, mod->nr_sites, sizeof(*mod->sites), compare_sites);
	for (unsigned i = 1; i < mod->nr_sites; i++)
		if (mod->sites[i] - mod->sites[i - 1] < ARCH_MCOUNT_SIZE)
			return module_refuse(info, -ENOEXEC, "two calls of " ARCH_MCOUNT " at one place");
	return 0;
}

/* The symbol of a relocation must be in a section that is in memory, or in no section: else it has no address. */
static bool has_address(const struct load_info *info, const struct elf64_sym *sym)
{
	return sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || info->sections[sym->st_shndx].sh_addr;
}

/* In the struct module a file may set only init and exit: the rest is the loader's (settle_struct in main.c). */
static bool is_in_our_struct(const struct load_info *info, const struct elf64_rela *rela, const struct elf64_shdr *s)
{
	return s == &info->sections[info->this_module] && rela->r_offset != offsetof(struct module, init) &&
	       rela->r_offset != offsetof(struct module, exit);
}

/* Relocate section `s` by the table `table`. Sites join mod->sites. */
static int relocate_section(struct module *mod, const struct load_info *info, const struct elf64_shdr *table,
			    const struct elf64_shdr *s)
{
	const struct elf64_rela *rela = (const void *)(info->file + table->sh_offset);
	const struct elf64_rela *end = rela + table->sh_size / sizeof(*rela);

	for (; rela < end; rela++) {
		const struct elf64_sym *sym = &info->symbols[ELF64_R_SYM(rela->r_info)];
		unsigned long place = s->sh_addr + rela->r_offset;

		if (is_mcount(info, sym)) {
			int err = note_site(mod, info, rela, s);

			if (err)
				return err;
			continue;
		}
		if (is_in_our_struct(info, rela, s))
			return module_refuse(info, -ENOEXEC, "a relocation inside of its struct module");
		if (!has_address(info, sym))
			return module_refuse(info, -ENOEXEC, "a relocation against section %s, which is not loaded",
					     section_name(info, sym->st_shndx));
		if (arch_relocate((void *)place, place, ELF64_R_TYPE(rela->r_info), sym->st_value + rela->r_addend))
			return module_refuse(info, -ENOEXEC, "relocation type %u against %s does not reach",
					     ELF64_R_TYPE(rela->r_info),
					     sym->st_name ? info->strings + sym->st_name : "a section");
	}
	return 0;
}

/*
 * As many sites as there are relocations against the hook, counted before they are noted. They are given to ftrace
 * later (trace/modules/sites.c), and forget_module() frees what is left.
 */
static int alloc_sites(struct module *mod, const struct load_info *info)
{
	size_t n = 0;

	for (unsigned i = 1; i < info->nr_sections; i++) {
		const struct elf64_shdr *s = &info->sections[i];
		const struct elf64_rela *rela;

		if (s->sh_type != SHT_RELA || !info->sections[s->sh_info].sh_addr)
			continue;
		rela = (const void *)(info->file + s->sh_offset);
		for (size_t r = 0; r < s->sh_size / sizeof(*rela); r++)
			n += is_mcount(info, &info->symbols[ELF64_R_SYM(rela[r].r_info)]);
	}
	mod->sites = kvmalloc((n ?: 1) * sizeof(*mod->sites), GFP_KERNEL);
	return mod->sites ? 0 : -ENOMEM;
}

/*
 * The module's memory is still writable and not executable, so relocations are written in place, with no care for
 * caches: module_protect() makes the text visible to instruction fetches. The order of the tables does not matter,
 * because no relocation reads what another one writes.
 */
int module_relocate(struct module *mod, struct load_info *info)
{
	int err = alloc_sites(mod, info);

	for (unsigned i = 1; i < info->nr_sections && !err; i++) {
		const struct elf64_shdr *s = &info->sections[i];

		if (s->sh_type == SHT_RELA && info->sections[s->sh_info].sh_addr)
			err = relocate_section(mod, info, s, &info->sections[s->sh_info]);
	}
	if (!err)
		module_fill_percpu(mod, info);
	return err ? err : sort_sites(mod, info);
}
