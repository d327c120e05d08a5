/*
 * A module's memory. Its sections are sorted by what may be done with them: executed, read, written, and each of these
 * for the code that runs once and for the rest. What runs once (sections .init.*) is an allocation of its own and is
 * freed when init has returned.
 *
 *	core  | text r-x        | rodata r--  | data rw-     |
 *	init  | text r-x        | rodata r--  | data rw-     |
 *	        each from a page on, in the order of the sections in the file
 *
 * All of it is writable, and not executable, while it is linked. module_protect() ends that.
 */
#include "internal.h"

#include <arch/pgtable.h>
#include <kernel/percpu.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <mm/vmalloc.h>

/* Which part of memory the section belongs to; NR_MODULE_PARTS: it is only looked at while the module is loaded. */
static unsigned part_of(const struct load_info *info, unsigned n)
{
	const struct elf64_shdr *s = &info->sections[n];
	unsigned part;

	if (!(s->sh_flags & SHF_ALLOC) || s->sh_type == SHT_RELA)
		return NR_MODULE_PARTS;
	part = s->sh_flags & SHF_EXECINSTR ? MODULE_TEXT : s->sh_flags & SHF_WRITE ? MODULE_DATA : MODULE_RODATA;
	return part + (strncmp(section_name(info, n), ".init", 5) ? 0 : MODULE_INIT_TEXT);
}

/*
 * The size of each part in bytes. The sh_addr of a section that goes to memory becomes its offset in its part, that of
 * the others 0, whatever the file says.
 */
static void measure(struct module *mod, struct load_info *info)
{
	for (unsigned n = 1; n < info->nr_sections; n++) {
		struct elf64_shdr *s = &info->sections[n];
		unsigned part = part_of(info, n);

		s->sh_addr = 0;
		if (part == NR_MODULE_PARTS)
			continue;
		s->sh_addr = ALIGN(mod->memory[part].size, s->sh_addralign ?: 1);
		mod->memory[part].size = s->sh_addr + s->sh_size;
	}
	for (unsigned part = 0; part < NR_MODULE_PARTS; part++)
		mod->memory[part].size = ALIGN(mod->memory[part].size, PAGE_SIZE);
}

/*
 * One allocation for three parts, so that they are near each other: code reaches its data by relocations of 32 bits, or
 * of a page and an offset. Each part begins with a page, as rights are given by pages. *memory stays NULL when there is
 * nothing in them.
 */
static int alloc_parts(struct module_memory *parts, void **memory)
{
	unsigned long size = parts[0].size + parts[1].size + parts[2].size, at;

	*memory = size ? module_alloc(size) : NULL;
	if (size && !*memory)
		return -ENOMEM;
	at = (unsigned long)*memory;
	for (unsigned i = 0; i < 3; i++) {
		parts[i].base = at;
		at += parts[i].size;
	}
	return 0;
}

/* Sections go where they run: from now on sh_addr is an address. Those without contents are zero already. */
static void copy_sections(struct module *mod, struct load_info *info)
{
	for (unsigned n = 1; n < info->nr_sections; n++) {
		struct elf64_shdr *s = &info->sections[n];
		unsigned part = part_of(info, n);

		if (part == NR_MODULE_PARTS)
			continue;
		s->sh_addr += mod->memory[part].base;
		if (s->sh_type != SHT_NOBITS)
			memcpy((void *)s->sh_addr, info->file + s->sh_offset, s->sh_size);
	}
}

/* The table of sections for those who look for one by name. One allocation, with the names behind it. */
static int keep_sections(struct module *mod, const struct load_info *info)
{
	size_t names = 0;
	unsigned count = 0;
	char *to;

	for (unsigned n = 1; n < info->nr_sections; n++)
		if (part_of(info, n) != NR_MODULE_PARTS) {
			names += strlen(section_name(info, n)) + 1;
			count++;
		}
	mod->sections = kmalloc(count * sizeof(*mod->sections) + names, GFP_KERNEL);
	if (!mod->sections)
		return -ENOMEM;
	to = (char *)&mod->sections[count];
	for (unsigned n = 1; n < info->nr_sections; n++) {
		const struct elf64_shdr *s = &info->sections[n];

		if (part_of(info, n) == NR_MODULE_PARTS)
			continue;
		names = strlen(section_name(info, n)) + 1;
		mod->sections[mod->nr_sections++] =
			(struct module_section){memcpy(to, section_name(info, n), names), s->sh_addr, s->sh_size};
		to += names;
	}
	return 0;
}

/*
 * Two allocations in the part of the address space that every call of the kernel reaches. After an error the caller
 * frees what is there (module_free_memory).
 */
int module_layout(struct module *mod, struct load_info *info)
{
	int err;

	measure(mod, info);
	err = alloc_parts(&mod->memory[MODULE_TEXT], &mod->core);
	if (!err)
		err = alloc_parts(&mod->memory[MODULE_INIT_TEXT], &mod->init_memory);
	if (err)
		return err;
	copy_sections(mod, info);
	err = module_alloc_percpu(mod, info);
	return err ? err : keep_sections(mod, info);
}

/* Change the rights of the pages, with a flush of what any CPU knows of the old ones. */
static void protect(const struct module_memory *part, pgprot_t prot)
{
	if (part->size)
		vmalloc_protect((void *)part->base, part->size, prot);
}

/* Instructions were written through the data cache: fetches must see them before anybody may execute them. */
void module_protect(struct module *mod)
{
	for (unsigned part = 0; part < NR_MODULE_PARTS; part += MODULE_INIT_TEXT) {
		const struct module_memory *text = &mod->memory[part];

		if (text->size)
			arch_sync_icache((void *)text->base, text->size);
		protect(text, PAGE_KERNEL_EXEC);
		protect(text + MODULE_RODATA, PAGE_KERNEL_RO);
	}
}

/*
 * Its sections can no longer be found, so that no caller of module_section() follows the address of one. The caller
 * has waited until no CPU looks at what was in them, and has told all who keep such addresses (`live` of the
 * notifiers).
 */
void module_free_init(struct module *mod)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < mod->nr_sections; i++)
		if (strncmp(mod->sections[i].name, ".init", 5))
			mod->sections[kept++] = mod->sections[i];
	mod->nr_sections = kept;
	vfree(mod->init_memory);
	mod->init_memory = NULL;
	for (unsigned part = MODULE_INIT_TEXT; part < NR_MODULE_PARTS; part++)
		mod->memory[part] = (struct module_memory){};
}

/* The struct module of a loaded module lies in its own data: it is gone afterwards, unless the caller has a copy. */
void module_free_memory(struct module *mod)
{
	void *core = mod->core;

	free_percpu(mod->percpu);
	vfree(mod->init_memory);
	kfree(mod->sections);
	vfree(core);
}
