/*
 * Is this file a module, and is it whole? No number in it is trusted: each offset, size and index is proved to stay
 * inside of the file, or of the section that it is about, before it is used.
 *
 * The file lies in memory that no program can write, so what was proved stays true. Nothing here allocates or calls the
 * rest of the kernel.
 */
#include "internal.h"

#include <arch/module.h>
#include <asm/elf.h>
#include <lib/string.h>
#include <mm/page.h>
#include <uapi/fcntl.h>

#define MAX_SECTIONS 512
/* Memory that a module may take. It bounds every sum of sizes far below an overflow. */
#define MAX_MEMORY (32UL << 20)

/* Do `size` bytes at `offset` lie in the file? */
static bool in_file(const struct load_info *info, u64 offset, u64 size)
{
	return offset <= info->len && size <= info->len - offset;
}

/* Do two pieces share a byte? Both lie in the file, so the sums cannot overflow. An empty piece shares nothing. */
static bool overlap(u64 a, u64 a_size, u64 b, u64 b_size)
{
	return a_size && b_size && a < b + b_size && b < a + a_size;
}

/* ELF's numbers of the machines that a file is likely to be for. As uname -m calls them. */
#define EM_X86_64  62
#define EM_AARCH64 183
static const char *machine_name(unsigned machine)
{
	return machine == EM_X86_64 ? "x86_64" : machine == EM_AARCH64 ? "aarch64" : "an unknown one";
}

/*
 * The first 64 bytes say what kind of file this is, and where its table of sections lies. Whatever else the header
 * holds (an entry point, program headers) means nothing in a relocatable file and is not looked at. Sets hdr,
 * sections and nr_sections.
 */
static int check_header(struct load_info *info)
{
	const struct elf64_hdr *h = (const void *)info->file;

	if (info->len < sizeof(*h) || memcmp(h->e_ident, ELFMAG, SELFMAG))
		return module_refuse(info, -ENOEXEC, "it is no ELF file");
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB)
		return module_refuse(info, -ENOEXEC, "it is not of 64 bits, little-endian");
	if (h->e_type != ET_REL)
		return module_refuse(info, -ENOEXEC, "it is not relocatable: a program or a library?");
	if (h->e_machine != ELF_MACHINE)
		return module_refuse(info, -ENOEXEC, "it is for another machine (%s, and this is %s): make ARCH=%s",
				     machine_name(h->e_machine), ELF_PLATFORM,
				     ELF_MACHINE == EM_AARCH64 ? "arm64" : ELF_PLATFORM);
	if (h->e_shentsize != sizeof(struct elf64_shdr) || h->e_shnum < 2 || h->e_shnum > MAX_SECTIONS ||
	    h->e_shoff % sizeof(u64) || !in_file(info, h->e_shoff, h->e_shnum * sizeof(struct elf64_shdr)))
		return module_refuse(info, -ENOEXEC, "its table of sections is not in it: was it cut off?");
	if (overlap(0, sizeof(*h), h->e_shoff, h->e_shnum * sizeof(struct elf64_shdr)))
		return module_refuse(info, -ENOEXEC, "its table of sections lies across its header");
	info->hdr = (struct elf64_hdr *)h;
	info->sections = (struct elf64_shdr *)(info->file + h->e_shoff);
	info->nr_sections = h->e_shnum;
	return 0;
}

/* A string table: in the file, and ended by a zero, so that a name that begins in it ends in it. */
static bool is_string_table(const struct load_info *info, u32 n)
{
	const struct elf64_shdr *s = &info->sections[n];

	return n && n < info->nr_sections && s->sh_type == SHT_STRTAB && s->sh_size &&
	       in_file(info, s->sh_offset, s->sh_size) && !info->file[s->sh_offset + s->sh_size - 1];
}

bool may_be_file_name(const char *name)
{
	size_t len = strnlen(name, NAME_MAX + 1);

	return len && len <= NAME_MAX && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..");
}

/*
 * From here on section_name() may be called for every section, as messages do. Those that go to memory have a file in
 * /sys/module/NAME/sections. Sets section_names.
 */
static int check_section_names(struct load_info *info)
{
	u32 n = info->hdr->e_shstrndx;

	if (!is_string_table(info, n))
		return module_refuse(info, -ENOEXEC, "the names of its sections are damaged");
	for (unsigned i = 0; i < info->nr_sections; i++)
		if (info->sections[i].sh_name >= info->sections[n].sh_size)
			return module_refuse(info, -ENOEXEC, "section %u has no name", i);
	info->section_names = (const char *)info->file + info->sections[n].sh_offset;
	for (unsigned i = 1; i < info->nr_sections; i++)
		if ((info->sections[i].sh_flags & SHF_ALLOC) && !may_be_file_name(section_name(info, i)))
			return module_refuse(info, -ENOEXEC, "section %u has a name that no file can have", i);
	return 0;
}

/* Sections lie in the file, and those that go to memory are aligned to what a page can give. */
static int check_sections(struct load_info *info)
{
	u64 memory = 0;

	for (unsigned i = 1; i < info->nr_sections; i++) {
		const struct elf64_shdr *s = &info->sections[i];

		if (s->sh_type != SHT_NOBITS && !in_file(info, s->sh_offset, s->sh_size))
			return module_refuse(info, -ENOEXEC, "section %s reaches beyond its end: was it cut off?",
					     section_name(info, i));
		if (s->sh_type == SHT_REL)
			return module_refuse(info, -ENOEXEC, "section %s: relocations without addends",
					     section_name(info, i));
		if (!(s->sh_flags & SHF_ALLOC))
			continue;
		if (s->sh_addralign > PAGE_SIZE || (s->sh_addralign && !is_power_of_2(s->sh_addralign)))
			return module_refuse(info, -ENOEXEC, "section %s: an alignment of %#llx", section_name(info, i),
					     (unsigned long long)s->sh_addralign);
		if ((s->sh_flags & SHF_WRITE) && (s->sh_flags & SHF_EXECINSTR))
			return module_refuse(info, -ENOEXEC, "section %s is both written and executed",
					     section_name(info, i));
		memory += min_t(u64, s->sh_size, MAX_MEMORY) + PAGE_SIZE;
		if (s->sh_size > MAX_MEMORY || memory > MAX_MEMORY)
			return module_refuse(info, -ENOEXEC, "it is larger than %lu MiB", MAX_MEMORY >> 20);
	}
	return 0;
}

/* What a section takes of the file; 0 bytes: nothing. */
static u64 file_size(const struct elf64_shdr *s)
{
	return s->sh_type == SHT_NOBITS ? 0 : s->sh_size;
}

/*
 * No two parts of the file share a byte. The loader writes addresses into the table of sections and into the symbols,
 * and a part that lay across one of these would change after it was checked.
 */
static int check_overlaps(const struct load_info *info)
{
	u64 table_size = info->nr_sections * sizeof(*info->sections);

	for (unsigned i = 1; i < info->nr_sections; i++) {
		const struct elf64_shdr *s = &info->sections[i];
		u64 size = file_size(s);

		if (overlap(s->sh_offset, size, 0, sizeof(*info->hdr)) ||
		    overlap(s->sh_offset, size, info->hdr->e_shoff, table_size))
			return module_refuse(info, -ENOEXEC, "section %s lies across the headers",
					     section_name(info, i));
		for (unsigned j = i + 1; j < info->nr_sections; j++)
			if (overlap(s->sh_offset, size, info->sections[j].sh_offset, file_size(&info->sections[j])))
				return module_refuse(info, -ENOEXEC, "sections %s and %s overlap",
						     section_name(info, i), section_name(info, j));
	}
	return 0;
}

/*
 * A symbol stands in a section, at an offset that is not beyond its end (a symbol may mark the end), or has a value of
 * its own (SHN_ABS), or is one that the kernel has to know (SHN_UNDEF). Other reserved numbers, SHN_COMMON among them,
 * lie above the number of sections and are refused: the build has -fno-common.
 */
static int check_symbol(const struct load_info *info, unsigned n)
{
	const struct elf64_sym *sym = &info->symbols[n];

	if (sym->st_name >= info->strings_size)
		return module_refuse(info, -ENOEXEC, "symbol %u has no name", n);
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS)
		return 0;
	if (sym->st_shndx >= info->nr_sections)
		return module_refuse(info, -ENOEXEC, "symbol %s is in section %u, which is not there",
				     info->strings + sym->st_name, sym->st_shndx);
	if (sym->st_value > info->sections[sym->st_shndx].sh_size)
		return module_refuse(info, -ENOEXEC, "symbol %s lies outside of its section",
				     info->strings + sym->st_name);
	return 0;
}

/*
 * One table of symbols with its names, as ld -r makes it. Each symbol is looked at once here, so that what follows may
 * take st_name and st_shndx as they are. Sets symbols, nr_symbols, strings and strings_size.
 */
static int check_symbols(struct load_info *info)
{
	const struct elf64_shdr *table = NULL;
	int err = 0;

	for (unsigned i = 1; i < info->nr_sections; i++) {
		if (info->sections[i].sh_type != SHT_SYMTAB)
			continue;
		if (table)
			return module_refuse(info, -ENOEXEC, "it has more than one table of symbols");
		table = &info->sections[i];
	}
	if (!table || table->sh_entsize != sizeof(struct elf64_sym) || table->sh_offset % sizeof(u64) ||
	    table->sh_size % sizeof(struct elf64_sym) || !is_string_table(info, table->sh_link))
		return module_refuse(info, -ENOEXEC, "it has no table of symbols (strip --strip-debug keeps it)");
	info->symbols = (struct elf64_sym *)(info->file + table->sh_offset);
	info->nr_symbols = table->sh_size / sizeof(struct elf64_sym);
	info->strings = (const char *)info->file + info->sections[table->sh_link].sh_offset;
	info->strings_size = info->sections[table->sh_link].sh_size;
	/* Number 0 as well, which means "no symbol": a relocation may name it. */
	for (unsigned i = 0; i < info->nr_symbols && !err; i++)
		err = check_symbol(info, i);
	return err;
}

/* Relocation n of a section is of a known type, and what it writes lies in the section that it is for. */
static int check_relocation(const struct load_info *info, const struct elf64_shdr *target,
			    const struct elf64_rela *rela, const char *name)
{
	unsigned size = arch_relocation_size(ELF64_R_TYPE(rela->r_info));

	if (ELF64_R_SYM(rela->r_info) >= info->nr_symbols)
		return module_refuse(info, -ENOEXEC, "section %s: a relocation against symbol %u, which is not there",
				     name, ELF64_R_SYM(rela->r_info));
	if (!size)
		return module_refuse(info, -ENOEXEC, "section %s: relocations of type %u are not known here", name,
				     ELF64_R_TYPE(rela->r_info));
	if (rela->r_offset > target->sh_size || size > target->sh_size - rela->r_offset)
		return module_refuse(info, -ENOEXEC, "section %s: a relocation outside of it", name);
	return 0;
}

/*
 * All tables of relocations that will be applied: those for sections that go to memory. The others (for .debug_info)
 * are for debuggers, which read the file themselves. Section 0 stands for nothing, so a table for it is damaged.
 */
static int check_relocations(struct load_info *info)
{
	for (unsigned i = 1; i < info->nr_sections; i++) {
		const struct elf64_shdr *s = &info->sections[i], *target;
		const struct elf64_rela *rela;

		if (s->sh_type != SHT_RELA)
			continue;
		if (!s->sh_info || s->sh_info >= info->nr_sections || s->sh_entsize != sizeof(*rela) ||
		    s->sh_offset % sizeof(u64) || s->sh_size % sizeof(*rela))
			return module_refuse(info, -ENOEXEC, "section %s: a damaged table", section_name(info, i));
		target = &info->sections[s->sh_info];
		if (!(target->sh_flags & SHF_ALLOC))
			continue;
		if (target->sh_type == SHT_NOBITS)
			return module_refuse(info, -ENOEXEC, "section %s: there is nothing to relocate",
					     section_name(info, i));
		rela = (const void *)(info->file + s->sh_offset);
		for (u64 n = s->sh_size / sizeof(*rela); n--; rela++) {
			int err = check_relocation(info, target, rela, section_name(info, i));

			if (err)
				return err;
		}
	}
	return 0;
}

/* A walk over all sections: it is called a handful of times for each module. */
unsigned find_section(const struct load_info *info, const char *name)
{
	for (unsigned i = 1; i < info->nr_sections; i++)
		if ((info->sections[i].sh_flags & SHF_ALLOC) && !strcmp(section_name(info, i), name))
			return i;
	return 0;
}

/*
 * Words lie one behind the other; an empty one is the padding between sections that were joined. The section ends with
 * a zero (check_own_sections), so neither strlen() nor the look at word[len] leaves it.
 */
const char *modinfo_next(const struct load_info *info, const char *name, const char *prev)
{
	const char *end = info->modinfo + info->modinfo_size, *word = info->modinfo;
	size_t len = strlen(name);

	if (prev)
		word = prev + strlen(prev) + 1;
	for (; word && word < end; word += strlen(word) + 1)
		if (!strncmp(word, name, len) && word[len] == '=')
			return word + len + 1;
	return NULL;
}

/*
 * Where the loader's own data is: the struct module that the build made, and the words of modinfo.
 */
static int check_own_sections(struct load_info *info)
{
	unsigned info_section = find_section(info, ".modinfo");
	const struct elf64_shdr *s;

	if (info_section) {
		s = &info->sections[info_section];
		if (s->sh_type != SHT_PROGBITS || !s->sh_size || info->file[s->sh_offset + s->sh_size - 1])
			return module_refuse(info, -ENOEXEC, "its .modinfo is damaged");
		info->modinfo = (const char *)info->file + s->sh_offset;
		info->modinfo_size = s->sh_size;
	}
	info->this_module = find_section(info, THIS_MODULE_SECTION);
	s = &info->sections[info->this_module];
	if (!info->this_module || s->sh_type != SHT_PROGBITS || !(s->sh_flags & SHF_WRITE) ||
	    s->sh_addralign < __alignof__(struct module))
		return module_refuse(info, -ENOEXEC, "it has no struct module: was it linked by `make modules`?");
	return 0;
}

/*
 * The order matters: each step relies on what those before it have proved. Names of sections come second, because every
 * later message names the section that is wrong.
 */
int elf_module_check(struct load_info *info)
{
	int err = check_header(info);

	if (!err)
		err = check_section_names(info);
	if (!err)
		err = check_sections(info);
	if (!err)
		err = check_overlaps(info);
	if (!err)
		err = check_symbols(info);
	if (!err)
		err = check_relocations(info);
	return err ? err : check_own_sections(info);
}
