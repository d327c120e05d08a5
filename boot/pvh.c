/*
 * What a PVH loader such as QEMU's -kernel tells (Xen, public/arch-x86/hvm/start_info.h): struct
 * hvm_start_info, with physical addresses of further parts. Functions that read return NULL, or in
 * words what is wrong; boot/x86_boot.c panics then.
 */
#include <boot/boot_info.h>
#include <boot/x86_boot.h>
#include <kernel/cmdline.h>
#include <kernel/printk.h>

/*
 * All numbers are little endian, as this machine's are. The structures may be at any address below
 * 4 GiB, so they are read through boot_map() only.
 */
struct hvm_start_info {
	u32 magic, version, flags, nr_modules; /* the magic was looked at by x86_head.S */
	u64 modules, command_line, rsdp;       /* physical addresses, 0: none */
	/* From version 1 on. */
	u64 memory_map;
	u32 nr_memory_map, reserved;
};
struct hvm_module {
	u64 base, size, command_line, reserved;
};
struct hvm_memory {
	u64 base, size;
	u32 type, reserved;
};
#define HVM_VERSION_MEMORY_MAP 1

/* RAM goes first, since x86_boot_memory() takes everything else out of RAM that it overlaps. */
static const char *read_memory_map(const struct hvm_start_info *info)
{
	const struct hvm_memory *map = boot_map(info->memory_map, (u64)info->nr_memory_map * sizeof(*map));

	if (!map)
		return "its memory map is beyond what can be reached";
	for (int ram = 1; ram >= 0; ram--)
		for (unsigned i = 0; i < info->nr_memory_map; i++)
			if ((map[i].type == E820_RAM) == ram)
				x86_boot_memory(map[i].base, map[i].size, map[i].type);
	return NULL;
}

/* The first module is the initrd, by convention. */
static const char *read_module(const struct hvm_start_info *info)
{
	const struct hvm_module *module = boot_map(info->modules, sizeof(*module));

	if (!module)
		return "its list of modules is beyond what can be reached";
	if (info->nr_modules > 1)
		pr_warn("boot: of %u modules the first is used\n", info->nr_modules);
	boot_set_initrd(module->base, module->size);
	return NULL;
}

/* What the loader has left, into boot_info. Returns NULL, or what is wrong. */
const char *pvh_read(phys_addr_t at)
{
	const struct hvm_start_info *info = boot_map(at, sizeof(*info));
	const char *line, *wrong;

	if (!info)
		return "it is beyond what can be reached";
	if (info->version < HVM_VERSION_MEMORY_MAP)
		return "its version is 0, which has no memory map";
	wrong = read_memory_map(info);
	if (!wrong && info->nr_modules)
		wrong = read_module(info);
	if (wrong)
		return wrong;
	if (info->command_line) {
		/*
		 * The structure does not give the line's length. As many bytes as our buffer has
		 * are mapped: a longer line is cut anyway.
		 */
		line = boot_map(info->command_line, sizeof(boot_command_line));
		if (!line)
			return "the command line is beyond what can be reached";
		boot_set_command_line(line);
	}
	boot_info.rsdp = info->rsdp;
	return NULL;
}
