/*
 * Per-CPU variables of a module. The section .data..percpu says what they begin with. It goes to the module's data like
 * any other, and is relocated there; but its symbols get addresses in the room that the kernel's per-CPU areas have for
 * this (kernel/percpu.c). At last the section is copied to each CPU's area.
 */
#include "internal.h"

#include <kernel/percpu.h>
#include <lib/string.h>

/* Before module_resolve(). No build makes a section of that name that cannot be written: such a one stays as it is. */
int module_alloc_percpu(struct module *mod, struct load_info *info)
{
	unsigned n = find_section(info, ".data..percpu");
	const struct elf64_shdr *s = &info->sections[n];

	if (!n || !s->sh_addr || !s->sh_size || (s->sh_flags & (SHF_WRITE | SHF_EXECINSTR)) != SHF_WRITE)
		return 0;
	if (s->sh_addralign > PERCPU_MAX_ALIGN)
		return module_refuse(info, -ENOEXEC, "a per-CPU variable is aligned to %lu bytes, more than %u",
				     s->sh_addralign, PERCPU_MAX_ALIGN);
	mod->percpu = __alloc_percpu(s->sh_size, s->sh_addralign ?: 1);
	if (!mod->percpu)
		return module_refuse(info, -ENOMEM, "its per-CPU variables (%lu bytes) find no room", s->sh_size);
	info->percpu = n;
	return 0;
}

/* The code of the module does not run yet, so no CPU looks at its copy meanwhile. */
void module_fill_percpu(const struct module *mod, const struct load_info *info)
{
	const struct elf64_shdr *s = &info->sections[info->percpu];
	unsigned cpu;

	if (!info->percpu)
		return;
	for_each_possible_cpu(cpu)
		memcpy(per_cpu_ptr(mod->percpu, cpu), (void *)s->sh_addr, s->sh_size);
}
