/*
 * Filling boot_info: what the boot code of all machines has in common. Its public functions are
 * described in boot/boot_info.h. There is one CPU, with interrupts off, and no allocator: lists are
 * arrays of fixed size, and what does not fit is left out with a message, since less memory is
 * better than no boot.
 */
#include <asm/page.h>
#include <boot/boot_info.h>
#include <kernel/cmdline.h>
#include <kernel/printk.h>
#include <lib/string.h>
#include <trace/trace_boot.h>

struct boot_info boot_info;
size_t initrd_tail_bytes;

/* Append a region to a list. `size` is not 0. */
static void add_region(struct boot_region *regions, unsigned *nr, phys_addr_t base, u64 size)
{
	if (*nr == BOOT_MAX_REGIONS) {
		pr_warn("boot: more than %u regions, 0x%lx-0x%lx is left out\n", BOOT_MAX_REGIONS, (unsigned long)base,
			(unsigned long)(base + size));
		return;
	}
	regions[(*nr)++] = (struct boot_region){base, size};
}

/* Take whole pages only, and those that the linear map reaches. */
void boot_add_memory(u64 base, u64 size)
{
	u64 limit = LINEAR_END - PAGE_OFFSET, start = ALIGN(base, PAGE_SIZE), end = ALIGN_DOWN(base + size, PAGE_SIZE);
	struct boot_region *last = boot_info.nr_memory ? &boot_info.memory[boot_info.nr_memory - 1] : NULL;

	/*
	 * A range that wraps or holds no whole page is ignored: firmware describes such ranges. `start` may wrap alone.
	 */
	if (base + size < base || start < base || end <= start)
		return;
	if (end > limit) {
		pr_warn("boot: memory above 0x%lx cannot be used\n", (unsigned long)limit);
		end = limit;
	}
	if (start >= end)
		return;
	/*
	 * Loaders split one range of RAM into several for reasons of their own. One region for them
	 * saves room in the array.
	 */
	if (last && last->base + last->size == start)
		last->size += end - start;
	else
		add_region(boot_info.memory, &boot_info.nr_memory, start, end - start);
}

void boot_reserve(u64 base, u64 size)
{
	u64 start = ALIGN_DOWN(base, PAGE_SIZE);

	if (size && base + size > base)
		add_region(boot_info.reserved, &boot_info.nr_reserved, start, ALIGN(base + size, PAGE_SIZE) - start);
}

void boot_set_initrd(u64 base, u64 size)
{
	boot_info.initrd = (struct boot_region){base, size};
	boot_reserve(base, size);
}

/* How many bytes of RAM follow at `at`; 0: there is none. Regions need not come in order. */
static u64 ram_at(phys_addr_t at)
{
	for (unsigned i = 0; i < boot_info.nr_memory; i++) {
		const struct boot_region *r = &boot_info.memory[i];

		if (at >= r->base && at - r->base < r->size)
			return r->base + r->size - at;
	}
	return 0;
}

void boot_check_initrd(void)
{
	phys_addr_t at = boot_info.initrd.base, end = at + boot_info.initrd.size;
	u64 n;

	while (at < end && (n = ram_at(at)))
		at += n;
	if (at >= end && end >= boot_info.initrd.base)
		return;
	pr_err("boot: the initrd, %lu bytes at 0x%lx, does not lie in RAM: not used\n",
	       (unsigned long)boot_info.initrd.size, (unsigned long)boot_info.initrd.base);
	boot_info.initrd.size = 0;
}

void boot_add_cpu(u64 hwid)
{
	for (unsigned i = 0; i < boot_info.nr_cpus; i++)
		if (boot_info.cpu_hwid[i] == hwid)
			return;
	if (boot_info.nr_cpus == ARRAY_SIZE(boot_info.cpu_hwid))
		pr_warn("boot: CPU 0x%lx is one too many\n", (unsigned long)hwid);
	else
		boot_info.cpu_hwid[boot_info.nr_cpus++] = hwid;
}

void boot_set_command_line(const char *line)
{
	if (strscpy(boot_command_line, line, sizeof(boot_command_line)) < 0)
		pr_warn("boot: command line cut at %lu bytes\n", (unsigned long)sizeof(boot_command_line) - 1);
	ftrace_early_command_line();
}
