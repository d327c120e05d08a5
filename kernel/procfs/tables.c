/*
 * Tables of what this kernel has none of: block devices, swap areas. Each is what Linux shows
 * where there are none, so that programs which read them find that, and not that they have to guess.
 */
#include "internal.h"

static int nothing_show(struct seq_file *m, void *v)
{
	return 0;
}

static int swaps_show(struct seq_file *m, void *v)
{
	seq_puts(m, "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
	return 0;
}

static const struct text_file partitions_entry = {.path = "partitions", .mode = 0444, .show = nothing_show};
static const struct text_file diskstats_entry = {.path = "diskstats", .mode = 0444, .show = nothing_show};
static const struct text_file swaps_entry = {.path = "swaps", .mode = 0444, .show = swaps_show};
REGISTER_PROC(partitions_entry);
REGISTER_PROC(diskstats_entry);
REGISTER_PROC(swaps_entry);
