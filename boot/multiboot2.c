/*
 * What a multiboot2 loader such as GRUB tells (Multiboot2 specification 2.0, 3.6): a list of tags
 * in memory, each with a type and a size. Unknown types are skipped. Everything is copied to
 * boot_info, as the tags lie in memory that will be given away.
 *
 * Functions that read return NULL, or in words what is wrong; the caller (boot/x86_boot.c) panics
 * then, since there is no memory map and no command line to go on with.
 */
#include <boot/boot_info.h>
#include <boot/x86_boot.h>
#include <kernel/printk.h>
#include <lib/string.h>

struct mb2_info {
	u32 size, reserved; /* tags included */
};
struct mb2_tag {
	u32 type, size; /* this header included; the next tag begins at a multiple of 8 */
};
enum mb2_type {
	MB2_END = 0,
	MB2_COMMAND_LINE = 1,
	MB2_MODULE = 3,
	MB2_MEMORY_MAP = 6,
	MB2_ACPI_OLD = 14, /* a copy of the root pointer, revision 0 */
	MB2_ACPI_NEW = 15, /* of a later revision */
};
struct mb2_module {
	struct mb2_tag tag;
	u32 start, end;
	char command_line[];
};
struct mb2_memory_map {
	struct mb2_tag tag;
	u32 entry_size, entry_version;
};
struct mb2_memory {
	u64 base, size;
	u32 type, reserved;
};

/*
 * The command line, which must end within its tag. GRUB leaves out the kernel's file name. It is
 * copied, so the tag need not be kept.
 */
static const char *read_command_line(const struct mb2_tag *tag)
{
	const char *line = (const char *)(tag + 1);

	if (!memchr(line, '\0', tag->size - sizeof(*tag)))
		return "the command line has no end";
	boot_set_command_line(line);
	return NULL;
}

/*
 * A module is the initrd. It begins at a page boundary, as the header in boot/x86_head.S asks for
 * that.
 */
static const char *read_module(const struct mb2_tag *tag)
{
	const struct mb2_module *module = (const void *)tag;

	if (tag->size < sizeof(*module) || module->end < module->start)
		return "a module tag makes no sense";
	if (boot_info.initrd.size)
		pr_warn("boot: a second module, at 0x%x, is not used\n", module->start);
	else
		boot_set_initrd(module->start, module->end - module->start);
	return NULL;
}

/*
 * Later versions of the format may have larger entries, so entry_size, not the structure's size, is
 * the step. RAM goes first, since x86_boot_memory() takes everything else out of RAM that it
 * overlaps.
 */
static const char *read_memory_map(const struct mb2_tag *tag)
{
	const struct mb2_memory_map *map = (const void *)tag;
	const char *entries = (const char *)(map + 1), *end = (const char *)tag + tag->size;

	if (tag->size < sizeof(*map) || map->entry_size < sizeof(struct mb2_memory) || !IS_ALIGNED(map->entry_size, 8))
		return "the memory map makes no sense";
	for (int ram = 1; ram >= 0; ram--)
		for (const char *p = entries; end - p >= (long)map->entry_size; p += map->entry_size) {
			const struct mb2_memory *m = (const void *)p;

			if ((m->type == E820_RAM) == ram)
				x86_boot_memory(m->base, m->size, m->type);
		}
	return NULL;
}

/*
 * Read one tag. `at` is the tag's physical address, needed where a tag holds a copy of a table
 * whose address is kept.
 */
static const char *read_tag(const struct mb2_tag *tag, phys_addr_t at)
{
	switch (tag->type) {
	case MB2_COMMAND_LINE:
		return read_command_line(tag);
	case MB2_MODULE:
		return read_module(tag);
	case MB2_MEMORY_MAP:
		return read_memory_map(tag);
	case MB2_ACPI_OLD:
		if (!boot_info.rsdp)
			boot_info.rsdp = at + sizeof(*tag);
		return NULL;
	case MB2_ACPI_NEW:
		boot_info.rsdp = at + sizeof(*tag);
		return NULL;
	default: /* framebuffer, ELF sections, loader's name, ...: nothing that we use */
		return NULL;
	}
}

/*
 * Read the tags in `size` bytes at physical address `at`. Each tag must lie within what is left; a
 * list that does not end with an end tag is refused, for it may have been cut.
 */
static const char *read_tags(const char *tags, u32 size, phys_addr_t at)
{
	for (u32 offset = 0; offset < size;) {
		const struct mb2_tag *tag = (const void *)(tags + offset);
		u32 left = size - offset;
		const char *wrong;

		if (left < sizeof(*tag) || tag->size < sizeof(*tag) || tag->size > left)
			return "a tag is longer than what is left, or has no length";
		if (tag->type == MB2_END)
			return NULL;
		wrong = read_tag(tag, at + offset);
		if (wrong)
			return wrong;
		offset += ALIGN(tag->size, 8);
	}
	return "it has no end tag";
}

const char *multiboot2_read(phys_addr_t at)
{
	const struct mb2_info *info = boot_map(at, sizeof(*info));
	const char *tags;

	if (!info || info->size < sizeof(*info))
		return "it is beyond what can be reached, or has no length";
	at += sizeof(*info);
	tags = boot_map(at, info->size - sizeof(*info));
	if (!tags)
		return "it is beyond what can be reached";
	return read_tags(tags, info->size - sizeof(*info), at);
}
