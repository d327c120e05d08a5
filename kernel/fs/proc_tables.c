/*
 * Tables of what this kernel has none of: modules, block devices, swap areas, locks of files. Each is what Linux shows
 * where there are none, so that programs which read them find that, and not that they have to guess.
 */
#include "proc_internal.h"

static int nothing_show(struct seq_file *m, void *v)
{
	return 0;
}

static int swaps_show(struct seq_file *m, void *v)
{
	seq_puts(m, "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
	return 0;
}

static const struct proc_entry modules_entry = {.path = "modules", .mode = 0444, .show = nothing_show};
static const struct proc_entry partitions_entry = {.path = "partitions", .mode = 0444, .show = nothing_show};
static const struct proc_entry diskstats_entry = {.path = "diskstats", .mode = 0444, .show = nothing_show};
static const struct proc_entry locks_entry = {.path = "locks", .mode = 0444, .show = nothing_show};
static const struct proc_entry swaps_entry = {.path = "swaps", .mode = 0444, .show = swaps_show};
REGISTER_PROC(modules_entry);
REGISTER_PROC(partitions_entry);
REGISTER_PROC(diskstats_entry);
REGISTER_PROC(locks_entry);
REGISTER_PROC(swaps_entry);
