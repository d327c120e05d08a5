/*
 * Per-CPU areas: one copy for each CPU of the template that was linked, with room behind it for what is allocated later
 * (alloc_percpu, and the per-CPU variables of modules).
 *
 * What stands at address p of the template is at p + __per_cpu_offset[cpu] for a CPU, and an allocation is named in the
 * same way: by the address that it would have in the template, if that went on behind its end. Nothing of it is there,
 * so such a pointer is only good for per_cpu_ptr() and its like. Linux does the same with its first chunk.
 */
#include <asm/percpu.h>
#include <kernel/export.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <lib/atomic.h>
#include <lib/bitmap.h>
#include <lib/string.h>
#include <mm/page.h>
#include <sched/spinlock.h>

extern char __per_cpu_start[], __per_cpu_end[];

unsigned long __per_cpu_offset[NR_CPUS];
EXPORT_SYMBOL(__per_cpu_offset);

#define ROOM	   (32UL << 10) /* bytes of each CPU for allocations: Linux keeps 28 KiB */
#define UNIT	   16UL		/* bytes; what an allocation is rounded up to */
#define ROOM_UNITS (ROOM / UNIT)

/* A spinlock, as what ends in a softirq or with a lock held may free. */
static DEFINE_SPINLOCK(percpu_lock);
static unsigned long used[BITS_TO_LONGS(ROOM_UNITS)]; /* [percpu_lock] a bit for each unit that is taken */
static unsigned long last[BITS_TO_LONGS(ROOM_UNITS)]; /* [percpu_lock] the unit is the last one of its allocation */

static size_t template_size(void)
{
	return ALIGN((size_t)(__per_cpu_end - __per_cpu_start), PERCPU_MAX_ALIGN);
}

/*
 * Before the page allocator, so that the template still is what was linked: nothing but the boot CPU's console and
 * interrupt state has used per-CPU data by now, and that holds no pointer into itself. This CPU is alone.
 */
void setup_per_cpu_areas(void)
{
	size_t size = template_size() + ROOM;
	char *areas = __va(memblock_alloc(size * nr_cpu_ids, PAGE_SIZE));

	for (unsigned cpu = 0; cpu < nr_cpu_ids; cpu++) {
		memcpy(areas + cpu * size, __per_cpu_start, __per_cpu_end - __per_cpu_start);
		__per_cpu_offset[cpu] = (unsigned long)(areas + cpu * size) - (unsigned long)__per_cpu_start;
	}
	arch_set_percpu_offset(__per_cpu_offset[0]);
}

/* [percpu_lock] The first `units` free ones in a row at a multiple of `step`, or ROOM_UNITS. */
static unsigned find_room(unsigned units, unsigned step)
{
	unsigned from = 0;

	while (from + units <= ROOM_UNITS) {
		unsigned taken = find_next_bit(used, ROOM_UNITS, from);

		if (taken >= from + units)
			return from;
		from = ALIGN(find_next_zero_bit(used, ROOM_UNITS, taken), step);
	}
	return ROOM_UNITS;
}

static void *room_address(unsigned unit)
{
	return __per_cpu_start + template_size() + unit * UNIT;
}

/*
 * Room is counted in units, by two bitmaps: `used`, and `last`, which marks the final unit of each allocation, so that
 * it can be freed without its size. The memory is there from boot on, a part of each CPU's area. Cleared outside the
 * lock, since it is ours by then.
 */
void *__alloc_percpu(size_t size, size_t align)
{
	size_t units = DIV_ROUND_UP(size, UNIT);
	unsigned long flags;
	unsigned at, cpu;

	if (!size || size > ROOM || align > PERCPU_MAX_ALIGN || (align & (align - 1)))
		return NULL;
	spin_lock_irqsave(&percpu_lock, flags);
	at = find_room(units, DIV_ROUND_UP(align, UNIT) ?: 1);
	if (at != ROOM_UNITS) {
		for (unsigned i = at; i < at + units; i++)
			set_bit(i, used);
		set_bit(at + units - 1, last);
	}
	spin_unlock_irqrestore(&percpu_lock, flags);
	if (at == ROOM_UNITS)
		return NULL;
	/* Without the lock: the units belong to the caller by now. */
	for_each_possible_cpu(cpu)
		memset((char *)room_address(at) + __per_cpu_offset[cpu], 0, units * UNIT);
	return room_address(at);
}
EXPORT_SYMBOL(__alloc_percpu);

/* From the first unit on to the one that is marked as last. NULL is no error. Any context that may take percpu_lock. */
void free_percpu(void *p)
{
	unsigned long unit, flags;
	bool more = true;

	if (!p)
		return;
	unit = ((unsigned long)p - (unsigned long)room_address(0)) / UNIT;
	if (WARN_ON(unit >= ROOM_UNITS || !test_bit(unit, used)))
		return;
	spin_lock_irqsave(&percpu_lock, flags);
	for (; more; unit++) {
		more = !test_bit(unit, last);
		clear_bit(unit, used);
		clear_bit(unit, last);
	}
	spin_unlock_irqrestore(&percpu_lock, flags);
}
EXPORT_SYMBOL(free_percpu);
