/*
 * Where the pointers of a module's tables lead (<kernel/module_check.h> has the rules). It happens once, when the
 * module is relocated and nothing of it is known to anybody: later steps, and the undoing of those that were made, may
 * follow what was proved here. The file's own structure has been proved before (elf.c).
 *
 * What each byte of the module's memory is for is noted in a map of as many bytes, which goes when all is checked.
 */
#include "internal.h"

#include <arch/module.h>
#include <kernel/ksyms.h>
#include <kernel/module_check.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <uapi/fcntl.h>

struct module_check {
	struct module *mod;
	const struct load_info *info;
	u8 *map[2]; /* of the core's memory, and of init's: enum module_claim, and CLAIM_FIRST */
};
#define CLAIM_FIRST 0x80 /* the first byte of a piece */

extern const char _text[], _stext[], _etext[], __start_rodata[], __end_rodata[], _end[];

const struct module *module_checked(const struct module_check *c)
{
	return c->mod;
}

int module_bad_table(const struct module_check *c, const char *table)
{
	return module_refuse(c->info, -ENOEXEC, "its section %s points to what is not there for that", table);
}

/* The part of its memory that all of the piece lies in; NR_MODULE_PARTS: none. */
static unsigned part_with(const struct module *mod, unsigned long addr, size_t size)
{
	unsigned part = 0;

	while (part < NR_MODULE_PARTS &&
	       !(in_part(&mod->memory[part], addr) && size <= mod->memory[part].base + mod->memory[part].size - addr))
		part++;
	return part;
}

/* Is this the part for such a piece? */
static bool part_fits(unsigned part, enum module_claim what)
{
	bool of_init = part >= MODULE_INIT_TEXT;

	if (what == CLAIM_SITE)
		return part == MODULE_TEXT || part == MODULE_INIT_TEXT;
	if (of_init && what != CLAIM_NUMBER && what != CLAIM_TEXT)
		return false;
	return part == MODULE_DATA || part == MODULE_INIT_DATA;
}

/* May a byte that is marked `old` (0: by nobody) become `mark`? */
static bool marks_agree(u8 old, u8 mark)
{
	u8 what = mark & ~CLAIM_FIRST;

	if (!old)
		return true;
	if (what == CLAIM_NUMBER)
		return (old & ~CLAIM_FIRST) == CLAIM_NUMBER;
	return what != CLAIM_TABLE && what != CLAIM_SITE && old == mark;
}

/* All bytes are looked at before the first is marked, so that a piece which is refused leaves no mark. */
bool module_claim(struct module_check *c, const void *p, size_t size, enum module_claim what)
{
	unsigned long addr = (unsigned long)p;
	unsigned part = part_with(c->mod, addr, size);
	u8 *map;

	if (part == NR_MODULE_PARTS || !part_fits(part, what) || !size)
		return false;
	if (addr % (what == CLAIM_SITE ? ARCH_MCOUNT_ALIGN : what == CLAIM_NUMBER ? 1 : 4))
		return false;
	map = c->map[part >= MODULE_INIT_TEXT] +
	      (addr - c->mod->memory[part < MODULE_INIT_TEXT ? MODULE_TEXT : MODULE_INIT_TEXT].base);
	for (size_t i = 0; i < size; i++)
		if (!marks_agree(map[i], what | (i ? 0 : CLAIM_FIRST)))
			return false;
	memset(map, what, size);
	map[0] |= CLAIM_FIRST;
	return true;
}

/* An empty section is as good as none. The table's own place is proved here, its entries are the caller's. */
void *module_check_table(struct module_check *c, const char *name, size_t size, bool written, unsigned *n, int *err)
{
	const struct module *mod = c->mod;
	unsigned bytes;
	void *table = module_section(mod, name, 1, &bytes);

	*err = 0;
	*n = bytes / size;
	if (!bytes)
		return NULL;
	if (bytes % size || (written ? (unsigned long)table % 8 || !module_claim(c, table, bytes, CLAIM_TABLE)
				     : !module_has_const(c, table, bytes))) {
		*err = module_refuse(c->info, -ENOEXEC, "its section %s is damaged", name);
		*n = 0;
		return NULL;
	}
	return table;
}

bool module_has_const(const struct module_check *c, const void *p, size_t size)
{
	return !((unsigned long)p % 8) && part_with(c->mod, (unsigned long)p, size) == MODULE_RODATA;
}

/* The text begins in this part, and its zero lies there, too. */
static bool ends_in(const struct module_memory *part, const char *text)
{
	size_t left = part->base + part->size - (unsigned long)text;

	return in_part(part, (unsigned long)text) && strnlen(text, left) < left;
}

bool module_has_text(const struct module_check *c, const char *text)
{
	return ends_in(&c->mod->memory[MODULE_RODATA], text);
}

bool module_has_name(const struct module_check *c, const char *name)
{
	return module_has_text(c, name) && may_be_file_name(name);
}

bool module_reaches_text(const struct module_check *c, const char *text)
{
	const struct module_memory kernel = {(unsigned long)__start_rodata, __end_rodata - __start_rodata};

	for (unsigned part = 0; part < NR_MODULE_PARTS; part++)
		if (ends_in(&c->mod->memory[part], text))
			return true;
	return ends_in(&kernel, text);
}

bool module_has_code(const struct module_check *c, unsigned long addr)
{
	return !(addr % ARCH_MCOUNT_ALIGN) && in_part(&c->mod->memory[MODULE_TEXT], addr);
}

/* A function of the kernel has a name at its first byte. */
bool module_may_call(const struct module_check *c, const void *fn)
{
	unsigned long addr = (unsigned long)fn, offset;

	if (addr - (unsigned long)_stext < (unsigned long)(_etext - _stext))
		return kallsyms_lookup(addr, NULL, &offset, (char[KSYM_NAME_LEN]){}) && !offset;
	return !fn || module_has_code(c, addr);
}

/* ---- The loader's own */

/* May other modules use what is at this address? Of a per-CPU variable that is a place in the CPUs' areas. */
static bool is_exportable(const struct module_check *c, unsigned long addr)
{
	unsigned long percpu = (unsigned long)c->mod->percpu;

	return part_with(c->mod, addr, 1) < MODULE_INIT_TEXT ||
	       addr - (unsigned long)_text < (unsigned long)(_end - _text) ||
	       (percpu && addr - percpu < c->info->sections[c->info->percpu].sh_size);
}

static int check_exports(struct module_check *c)
{
	unsigned n;
	int err;
	const struct kernel_symbol *table = module_check_table(c, "__ksymtab", sizeof(*table), false, &n, &err);

	for (unsigned i = 0; i < n && !err; i++)
		if (!module_has_text(c, table[i].name) || !is_exportable(c, table[i].value))
			err = module_bad_table(c, "__ksymtab");
	return err;
}

/* init may also be in its own text, and an exit that is __init by mistake is forgotten with that (main.c). */
static bool is_own_code(const struct module_check *c, unsigned long fn)
{
	return !fn || module_has_code(c, fn) ||
	       (!(fn % ARCH_MCOUNT_ALIGN) && in_part(&c->mod->memory[MODULE_INIT_TEXT], fn));
}

/* The struct module, which lies in the module's data, its functions, and the calls of the hook. */
static int check_struct(struct module_check *c)
{
	const struct module *mod = c->mod;

	if (!is_own_code(c, (unsigned long)mod->init) || !is_own_code(c, (unsigned long)mod->exit))
		return module_refuse(c->info, -ENOEXEC, "its init or its exit is not in its text");
	if (mod->version && !module_has_text(c, mod->version))
		return module_refuse(c->info, -ENOEXEC, "its .modinfo is damaged");
	if (!module_claim(c, mod, sizeof(*mod), CLAIM_TABLE))
		return module_refuse(c->info, -ENOEXEC, "its struct module is not in its data");
	for (unsigned i = 0; i < mod->nr_sites; i++)
		if (!module_claim(c, (void *)mod->sites[i], ARCH_MCOUNT_SIZE, CLAIM_SITE))
			return module_refuse(c->info, -ENOEXEC, "a use of " ARCH_MCOUNT " that is no call");
	return 0;
}

static int check_all(struct module_check *c)
{
	struct module_notifier *const *n;
	int err = check_struct(c);

	if (!err)
		err = check_exports(c);
	if (!err)
		err = module_check_params(c);
	for (n = FIRST_NOTIFIER; n < END_NOTIFIERS && !err; n++)
		if ((*n)->check)
			err = (*n)->check(c);
	return err;
}

/* The size of three parts in a row. */
static size_t size_of(const struct module_memory *parts)
{
	return parts[0].size + parts[1].size + parts[2].size;
}

int module_check_pointers(struct module *mod, const struct load_info *info)
{
	size_t core = size_of(&mod->memory[MODULE_TEXT]), init = size_of(&mod->memory[MODULE_INIT_TEXT]);
	u8 *map = kvzalloc(core + init, GFP_KERNEL);
	struct module_check c = {mod, info, {map, map + core}};
	int err = map ? check_all(&c) : -ENOMEM;

	kvfree(map);
	return err;
}
