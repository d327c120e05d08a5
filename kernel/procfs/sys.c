/*
 * /proc/sys/fs: how many files may be open, and how much pipes may hold.
 *
 * A file of /proc/sys shows one number. A writer replaces it by writing text; the number is one aligned
 * word, which is read and written whole (READ_ONCE, WRITE_ONCE), so that neither side needs a lock.
 */
#include "../fs/files.h"

#include <fs/libfs.h>
#include <lib/printf.h>
#include <proc/resource.h>

/* file-max: the limit on open files of the whole machine. Root alone may exceed it (see alloc_empty_file). */
static int file_max_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%llu\n", (unsigned long long)READ_ONCE(files_max));
	return 0;
}

/*
 * A limit below the number of files that are open now closes none of them: it refuses the next ones.
 * Returns 0 or -EINVAL.
 */
static int file_max_store(char *text, void *data)
{
	unsigned max;
	int err = sysctl_number(text, &max);

	if (!err)
		WRITE_ONCE(files_max, max);
	return err;
}

/*
 * file-nr has three columns: open files; files that are kept for later use, which is always 0 as we keep
 * none; and the limit.
 */
static int file_nr_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%llu\t0\t%llu\n", (unsigned long long)nr_open_files(), (unsigned long long)READ_ONCE(files_max));
	return 0;
}

/*
 * nr_open: the largest number of descriptors that RLIMIT_NOFILE may allow a process. A limit that a process has already
 * stays, but no table grows beyond nr_open. Linux's bounds: a word of bits, and what a signed number holds in words.
 */
static int nr_open_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", READ_ONCE(sysctl_nr_open));
	return 0;
}

static int nr_open_store(char *text, void *data)
{
	unsigned nr;
	int err = sysctl_number(text, &nr);

	if (err || nr < 64 || nr > ALIGN_DOWN(INT_MAX, 64))
		return -EINVAL;
	WRITE_ONCE(sysctl_nr_open, nr);
	return 0;
}

static const struct text_file file_max_entry = {
	.path = "sys/fs/file-max", .mode = 0644, .show = file_max_show, .store = file_max_store};
static const struct text_file file_nr_entry = {.path = "sys/fs/file-nr", .mode = 0444, .show = file_nr_show};
static const struct text_file nr_open_entry = {
	.path = "sys/fs/nr_open", .mode = 0644, .show = nr_open_show, .store = nr_open_store};
REGISTER_PROC(file_max_entry);
REGISTER_PROC(file_nr_entry);
REGISTER_PROC(nr_open_entry);
