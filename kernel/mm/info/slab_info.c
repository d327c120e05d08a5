/* /proc/slabinfo, in the format of Linux's version 2.1, which slabtop reads. */
#include "../pages/slab.h"

#include <fs/seq_file.h>
#include <sched/mutex.h>

/*
 * Objects that CPUs keep for the next allocation. They are free, though their slabs count them as handed out. Read
 * without a lock, so about one moment.
 */
static unsigned long objects_in_cpus(const struct kmem_cache *s)
{
	unsigned long n = 0;
	unsigned cpu;

	for_each_possible_cpu(cpu)
		n += READ_ONCE(s->cpu_slab[cpu].count);
	return n;
}

/* One line. The counts of CPUs move, so the sum of free objects is limited to what there is. */
static void show_cache(struct seq_file *m, struct kmem_cache *s)
{
	unsigned long flags, slabs, objects, free;

	spin_lock_irqsave(&s->lock, flags);
	slabs = s->nr_slabs;
	objects = s->nr_objects;
	free = s->nr_free;
	spin_unlock_irqrestore(&s->lock, flags);
	free = min(objects, free + objects_in_cpus(s));
	seq_printf(m, "%-17s %6lu %6lu %6u %4u %4u", s->name, objects - free, objects, s->size, s->objects,
		   1U << s->order);
	seq_printf(m, " : tunables %4u %4u %4u", s->limit, s->batch, 0U);
	seq_printf(m, " : slabdata %6lu %6lu %6u\n", slabs, slabs, 0U);
}

int slabinfo_show(struct seq_file *m)
{
	struct kmem_cache *s;

	seq_puts(m, "slabinfo - version: 2.1\n");
	seq_puts(m, "# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab>");
	seq_puts(m, " : tunables <limit> <batchcount> <sharedfactor>");
	seq_puts(m, " : slabdata <active_slabs> <num_slabs> <sharedavail>\n");
	mutex_lock(&slab_mutex);
	list_for_each_entry(s, &slab_caches, list)
		show_cache(m, s);
	mutex_unlock(&slab_mutex);
	return 0;
}
