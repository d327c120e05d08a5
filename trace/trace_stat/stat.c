/*
 * trace_stat/: statistics as files, such as the function profiler's function0. A struct trace_stat says how rows are
 * collected, compared and shown. Opening a file collects and sorts all rows, so a reader sees the state of one moment,
 * however slowly it reads.
 */
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/sort.h>
#include <mm/slab.h>

#include "stat.h"

/* inode->i_private [immutable after boot] */
struct stat_file {
	const struct trace_stat *stat;
	int cpu;
};

/* An open file: the rows of that moment. [immutable] */
struct stat_rows {
	const struct trace_stat *stat;
	unsigned count;
	char rows[];
};

/* There is room for max_rows; collect() may find fewer, as counters come and go. NULL when out of memory. */
static struct stat_rows *collect_rows(const struct stat_file *file)
{
	const struct trace_stat *stat = file->stat;
	unsigned max = stat->max_rows(file->cpu);
	struct stat_rows *rows = kvzalloc(sizeof(*rows) + max * stat->row_size, GFP_KERNEL);

	if (!rows)
		return NULL;
	rows->stat = stat;
	if (max)
		rows->count = stat->collect(file->cpu, rows->rows, max);
	sort(rows->rows, rows->count, stat->row_size, stat->cmp);
	return rows;
}

/* Position 0 is the header. */
static void *stat_at(struct seq_file *m, loff_t pos)
{
	struct stat_rows *rows = m->private;

	if (pos > rows->count)
		return NULL;
	return pos ? rows->rows + (pos - 1) * rows->stat->row_size : (void *)rows;
}

static void *stat_start(struct seq_file *m, loff_t *pos)
{
	return stat_at(m, *pos);
}

static void *stat_next(struct seq_file *m, void *v, loff_t *pos)
{
	return stat_at(m, ++*pos);
}

static void stat_stop(struct seq_file *m, void *v)
{
}

static int stat_show(struct seq_file *m, void *v)
{
	const struct stat_rows *rows = m->private;

	if (v == rows)
		rows->stat->header(m);
	else
		rows->stat->show(m, v);
	return 0;
}

static const struct seq_operations stat_seq_ops = {stat_start, stat_stop, stat_next, stat_show};

static int stat_open(struct inode *inode, struct file *file)
{
	struct stat_rows *rows = collect_rows(inode->i_private);
	int ret;

	if (!rows)
		return -ENOMEM;
	ret = seq_open(file, &stat_seq_ops);
	if (ret)
		kvfree(rows);
	else
		((struct seq_file *)file->private_data)->private = rows;
	return ret;
}

static int stat_release(struct inode *inode, struct file *file)
{
	kvfree(((struct seq_file *)file->private_data)->private);
	return seq_release(inode, file);
}

static const struct file_operations stat_fops = {
	.open = stat_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = stat_release,
};

/*
 * cpu below 0: one file for all CPUs, without a number behind its name. The struct lives as long as tracefs, which is
 * for ever.
 */
static int create_stat(struct dentry *dir, const struct trace_stat *stat, int cpu)
{
	struct stat_file *file = kzalloc(sizeof(*file), GFP_KERNEL);
	struct dentry *d;
	char name[32];

	if (!file)
		return -ENOMEM;
	*file = (struct stat_file){stat, cpu};
	if (cpu < 0)
		scnprintf(name, sizeof(name), "%s", stat->name);
	else
		scnprintf(name, sizeof(name), "%s%d", stat->name, cpu);
	d = simple_create_file(dir, name, S_IFREG | 0640, &stat_fops, file);
	if (!IS_ERR(d))
		return 0;
	kfree(file);
	return PTR_ERR(d);
}

static int create_per_cpu(struct dentry *dir, const struct trace_stat *stat)
{
	unsigned cpu;
	int ret = 0;

	for_each_possible_cpu(cpu)
		ret = ret ?: create_stat(dir, stat, cpu);
	return ret;
}

/* The directory, in the top array's. Boot. 0 or -errno. */
static int create_trace_stats(struct dentry *top)
{
	struct dentry *dir = simple_create_dir(top, "trace_stat", 0750, NULL);
	const struct trace_stat *stat;
	int ret = 0;

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	for_each_in_table(trace_stats, stat)
		ret = ret ?: stat->per_cpu ? create_per_cpu(dir, stat) : create_stat(dir, stat, -1);
	return ret;
}

static int make_stat_files(struct trace_array *tr)
{
	return trace_array_is_top(tr) ? create_trace_stats(tr->dir) : 0;
}
static const struct trace_part stats_part = {.make_files = make_stat_files};
REGISTER_TRACE_PART(stats_part);
