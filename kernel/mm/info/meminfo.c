/*
 * /proc/meminfo: the lines for what this kernel has. There is no page cache that could be given up and no swap; of
 * these there are the lines that programs take for granted, with 0.
 */
#include <fs/seq_file.h>
#include <mm/page.h>
#include <sched/task.h>

#include "../pages/slab.h"
#include "../pages/thread_stack.h"
#include "../pages/vmap_area.h"

static void show_pages(struct seq_file *m, const char *name, unsigned long pages)
{
	seq_printf(m, "%-15s %8lu kB\n", name, pages << (PAGE_SHIFT - 10));
}

/*
 * Nothing can be reclaimed, since files live in memory and there is no swap: what is available is what is free, but for
 * the reserve. The figures are of slightly different moments. Thread context.
 */
int meminfo_show(struct seq_file *m)
{
	show_pages(m, "MemTotal:", totalram_pages());
	show_pages(m, "MemFree:", nr_free_pages());
	show_pages(m, "MemAvailable:", si_mem_available());
	show_pages(m, "Buffers:", 0);
	show_pages(m, "SwapTotal:", 0);
	show_pages(m, "SwapFree:", 0);
	show_pages(m, "Slab:", atomic64_read(&nr_slab_pages));
	show_pages(m, "SUnreclaim:", atomic64_read(&nr_slab_pages));
	show_pages(m, "KernelStack:", nr_thread_stacks() * (THREAD_SIZE >> PAGE_SHIFT));
	show_pages(m, "VmallocTotal:", (VMALLOC_END - VMALLOC_START) >> PAGE_SHIFT);
	show_pages(m, "VmallocUsed:", vmalloc_nr_pages());
	return 0;
}
