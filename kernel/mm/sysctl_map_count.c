/*
 * /proc/sys/vm/max_map_count: how many areas one address space may have. The limit keeps a program from filling the
 * kernel's memory with areas.
 */
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <lib/string.h>

#include "vma.h"

static int max_map_count_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", READ_ONCE(sysctl_max_map_count));
	return 0;
}

/* An address space that has more areas already keeps them and gets no further ones. */
static int max_map_count_store(char *text, void *data)
{
	int n, err = kstrtoint(text, 0, &n);

	if (err || n < 0)
		return -EINVAL;
	WRITE_ONCE(sysctl_max_map_count, n);
	return 0;
}

static const struct text_file max_map_count_entry = {
	.path = "sys/vm/max_map_count", .mode = 0644, .show = max_map_count_show, .store = max_map_count_store};
REGISTER_PROC(max_map_count_entry);
