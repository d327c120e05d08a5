/* /proc/sys/fs, and what the writers of /proc/sys share. */
#include "../fs/files.h"

#include <fs/libfs.h>
#include <lib/printf.h>
#include <proc/resource.h>

int sysctl_number(const char *text, unsigned *v)
{
	char *end;
	u64 value = simple_strtoull(text, &end, 0);

	if (end == text || value > INT_MAX)
		return -EINVAL;
	while (isspace(*end))
		end++;
	*v = value;
	return *end ? -EINVAL : 0;
}

static int file_max_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%llu\n", (unsigned long long)READ_ONCE(files_max));
	return 0;
}

static int file_max_store(char *text, void *data)
{
	unsigned max;
	int err = sysctl_number(text, &max);

	if (!err)
		WRITE_ONCE(files_max, max);
	return err;
}

/* Open files, free ones kept for later (none), and how many there may be. */
static int file_nr_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%llu\t0\t%llu\n", (unsigned long long)nr_open_files(), (unsigned long long)READ_ONCE(files_max));
	return 0;
}

static int nr_open_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", NR_OPEN_MAX);
	return 0;
}

static const struct text_file file_max_entry = {
	.path = "sys/fs/file-max", .mode = 0644, .show = file_max_show, .store = file_max_store};
static const struct text_file file_nr_entry = {.path = "sys/fs/file-nr", .mode = 0444, .show = file_nr_show};
static const struct text_file nr_open_entry = {.path = "sys/fs/nr_open", .mode = 0444, .show = nr_open_show};
REGISTER_PROC(file_max_entry);
REGISTER_PROC(file_nr_entry);
REGISTER_PROC(nr_open_entry);
