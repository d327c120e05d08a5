/*
 * /proc/vmstat, zoneinfo and iomem, and what sys/vm says about the rules of memory. Values are read without locks, each
 * of about one moment.
 */
#include "../internal.h"

#include <boot/boot_info.h>
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <kernel/percpu.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <proc/capability.h>

#include "../pages/slab.h"
#include "../pages/thread_stack.h"
#include "../vma.h"

/* Values named nr_ are pages, except for the kernel's stacks, which are in KiB, as on Linux. */
static int vmstat_show(struct seq_file *m, void *v)
{
	u64 faults = 0;
	unsigned cpu;

	for_each_possible_cpu(cpu)
		faults += READ_ONCE(per_cpu(page_faults, cpu));
	seq_printf(m, "nr_free_pages %lu\n", nr_free_pages());
	seq_printf(m, "nr_slab_unreclaimable %lu\n", (unsigned long)atomic64_read(&nr_slab_pages));
	seq_printf(m, "nr_kernel_stack %lu\n", nr_thread_stacks() * (THREAD_SIZE >> 10));
	seq_printf(m, "pgfault %llu\n", (unsigned long long)faults);
	return 0;
}

/* All pages of RAM, those that the kernel itself takes included. */
static unsigned long present_pages(void)
{
	unsigned long pages = 0;

	for (unsigned i = 0; i < boot_info.nr_memory; i++)
		pages += boot_info.memory[i].size >> PAGE_SHIFT;
	return pages;
}

/* The one zone. There are no watermarks, because nothing can be reclaimed when one is reached. */
static int zoneinfo_show(struct seq_file *m, void *v)
{
	unsigned cpu;

	seq_printf(m, "Node 0, zone %8s\n", "Normal");
	seq_printf(m, "  pages free     %lu\n", nr_free_pages());
	seq_printf(m, "        spanned  %lu\n", max_pfn - min_pfn);
	seq_printf(m, "        present  %lu\n", present_pages());
	seq_printf(m, "        managed  %lu\n", totalram_pages());
	seq_puts(m, "  pagesets\n");
	for_each_online_cpu(cpu)
		seq_printf(m,
			   "    cpu: %u\n              count: %u\n              high:  %u\n"
			   "              batch: %u\n",
			   cpu, READ_ONCE(per_cpu_pages[cpu].count), PCP_HIGH, PCP_BATCH);
	seq_printf(m, "  start_pfn:           %lu\n", min_pfn);
	return 0;
}

extern const char _text[], _etext[], __start_rodata[], __end_rodata[], _data[], _edata[], __bss_start[], __bss_stop[];

static const struct {
	const char *name, *start, *end;
} image_parts[] = {
	{"Kernel code", _text, _etext},
	{"Kernel rodata", __start_rodata, __end_rodata},
	{"Kernel data", _data, _edata},
	{"Kernel bss", __bss_start, __bss_stop},
};

/* [start, end) with the end inclusive, as Linux prints it. Only CAP_SYS_ADMIN shows addresses; others see zeros. */
static void show_range(struct seq_file *m, const char *indent, u64 start, u64 end, const char *name)
{
	if (!capable(CAP_SYS_ADMIN))
		start = end = 0;
	else
		end--;
	seq_printf(m, "%s%08llx-%08llx : %s\n", indent, (unsigned long long)start, (unsigned long long)end, name);
}

/* RAM, and where in it the parts of the kernel's image lie. Drivers do not register what they map. */
static int iomem_show(struct seq_file *m, void *v)
{
	for (unsigned i = 0; i < boot_info.nr_memory; i++) {
		const struct boot_region *r = &boot_info.memory[i];

		show_range(m, "", r->base, r->base + r->size, "System RAM");
		for (unsigned p = 0; p < ARRAY_SIZE(image_parts); p++) {
			u64 start = __pa_symbol(image_parts[p].start);

			if (start >= r->base && start < r->base + r->size)
				show_range(m, "  ", start, __pa_symbol(image_parts[p].end), image_parts[p].name);
		}
	}
	return 0;
}

/* Memory is promised without limit: the rule is Linux's "always", and no other can be set. */
#define OVERCOMMIT_ALWAYS 1

static int overcommit_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", OVERCOMMIT_ALWAYS);
	return 0;
}

static int overcommit_store(char *text, void *data)
{
	unsigned rule;
	int err = sysctl_number(text, &rule);

	return err ? err : rule == OVERCOMMIT_ALWAYS ? 0 : -EINVAL;
}

static int mmap_min_addr_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%lu\n", MMAP_MIN_ADDR);
	return 0;
}

static const struct text_file vmstat_entry = {.path = "vmstat", .mode = 0444, .show = vmstat_show};
static const struct text_file zoneinfo_entry = {.path = "zoneinfo", .mode = 0444, .show = zoneinfo_show};
static const struct text_file iomem_entry = {.path = "iomem", .mode = 0444, .show = iomem_show};
static const struct text_file overcommit_entry = {
	.path = "sys/vm/overcommit_memory", .mode = 0644, .show = overcommit_show, .store = overcommit_store};
static const struct text_file mmap_min_addr_entry = {
	.path = "sys/vm/mmap_min_addr", .mode = 0444, .show = mmap_min_addr_show};
REGISTER_PROC(vmstat_entry);
REGISTER_PROC(zoneinfo_entry);
REGISTER_PROC(iomem_entry);
REGISTER_PROC(overcommit_entry);
REGISTER_PROC(mmap_min_addr_entry);
