/* Per-CPU areas: one copy of the template for each CPU. */
#include <asm/percpu.h>
#include <kernel/export.h>
#include <kernel/percpu.h>
#include <lib/string.h>
#include <mm/page.h>

extern char __per_cpu_start[], __per_cpu_end[];

unsigned long __per_cpu_offset[NR_CPUS];
EXPORT_SYMBOL(__per_cpu_offset);

/*
 * Before the page allocator, so that the template still is what was linked: nothing but the boot CPU's console and
 * interrupt state has used per-CPU data by now, and that holds no pointer into itself. This CPU is alone.
 */
void setup_per_cpu_areas(void)
{
	size_t size = ALIGN((size_t)(__per_cpu_end - __per_cpu_start), 64);
	char *areas = __va(memblock_alloc(size * nr_cpu_ids, PAGE_SIZE));

	for (unsigned cpu = 0; cpu < nr_cpu_ids; cpu++) {
		memcpy(areas + cpu * size, __per_cpu_start, __per_cpu_end - __per_cpu_start);
		__per_cpu_offset[cpu] = (unsigned long)(areas + cpu * size) - (unsigned long)__per_cpu_start;
	}
	arch_set_percpu_offset(__per_cpu_offset[0]);
}
