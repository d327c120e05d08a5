/* Per-CPU areas: one copy of the template for each CPU. */
#include <asm/percpu.h>
#include <irq/irqflags.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <lib/string.h>
#include <mm/page.h>

extern char __per_cpu_start[], __per_cpu_end[];

unsigned long __per_cpu_offset[NR_CPUS];

/* Pages for all areas together: the smallest block that holds them. */
static char *alloc_areas(size_t size)
{
	unsigned order = 0;

	while ((PAGE_SIZE << order) < size)
		order++;
	return order <= MAX_ORDER ? get_free_pages(GFP_KERNEL, order) : NULL;
}

/*
 * This CPU is alone, and interrupts are off. What the template holds by now is the boot CPU's state, which
 * every copy takes over. So per-CPU data that is used before this point holds no pointer into itself, and
 * what must not be shared (a list of free pages, say) each of the other CPUs' copies gets afresh from its
 * owner before the CPU starts.
 */
void setup_per_cpu_areas(void)
{
	size_t size = ALIGN((size_t)(__per_cpu_end - __per_cpu_start), 64);
	char *areas = alloc_areas(size * nr_cpu_ids);

	if (!areas)
		panic("no memory for the per-CPU areas: %u CPUs of %lu bytes", nr_cpu_ids,
		      (unsigned long)size);
	for (unsigned cpu = 0; cpu < nr_cpu_ids; cpu++) {
		memcpy(areas + cpu * size, __per_cpu_start, __per_cpu_end - __per_cpu_start);
		__per_cpu_offset[cpu] = (unsigned long)(areas + cpu * size) - (unsigned long)__per_cpu_start;
	}
	arch_set_percpu_offset(__per_cpu_offset[0]);
}
