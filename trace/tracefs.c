/* tracefs: the file system of tracing's control files, and the kinds of file that most of them are. */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <kernel/panic.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "trace.h"
#include "trace_event_file.h"
#include "trace_refused.h"
#include "trace_stat.h"

#define TRACEFS_MAGIC 0x74726163

struct trace_array *tracefs_array(const struct file *file)
{
	return ((struct trace_cpu_file *)file->f_inode->i_private)->tr;
}

int tracefs_cpu(const struct file *file)
{
	return ((struct trace_cpu_file *)file->f_inode->i_private)->cpu;
}

static int text_show(struct seq_file *m, void *v)
{
	const struct tracefs_text *ops = m->private;

	return ops->show(m, tracefs_array(m->file), tracefs_cpu(m->file));
}

/* Also for files without `show`: opening for reading works, reading is refused, as for Linux's write-only files. */
int tracefs_text_open(struct inode *inode, struct file *file, const struct tracefs_text *ops)
{
	if (!ops->show)
		return file->f_mode & FMODE_READ ? -EINVAL : single_open(file, NULL, (void *)ops);
	return single_open(file, text_show, (void *)ops);
}

/* A text that was refused is fetched again to be explained: `store` may have cut it into pieces. */
ssize_t tracefs_text_write(struct file *file, const char __user *buf, size_t n, const struct tracefs_text *ops)
{
	char text[TRACEFS_TEXT_MAX];
	ssize_t len;
	int ret;

	if (!ops->store)
		return tracefs_refused(file, NULL, NULL, -EINVAL);
	len = copy_text_from_user(text, sizeof(text), buf, n);
	if (len < 0)
		return tracefs_refused(file, NULL, NULL, len);
	ret = ops->store(tracefs_array(file), tracefs_cpu(file), strim(text));
	if (ret >= 0)
		return n;
	len = copy_text_from_user(text, sizeof(text), buf, n);
	return tracefs_refused(file, NULL, len < 0 ? NULL : strim(text), ret);
}

static int create_files(struct dentry *dir, struct trace_cpu_file *which, unsigned where)
{
	const struct tracefs_file *f;
	struct dentry *d;

	for_each_in_table(tracefs, f) {
		if (!(f->where & where))
			continue;
		d = simple_create_file(dir, f->name, S_IFREG | f->mode, f->fop, which);
		if (IS_ERR(d))
			return PTR_ERR(d);
	}
	return 0;
}

static int create_percpu_dirs(struct trace_array *tr)
{
	unsigned cpu;
	int ret = 0;

	tr->percpu_dir = simple_create_dir(tr->dir, "per_cpu", 0750, NULL);
	if (IS_ERR(tr->percpu_dir))
		return PTR_ERR(tr->percpu_dir);
	for_each_possible_cpu(cpu) {
		char name[16];
		struct dentry *dir;

		scnprintf(name, sizeof(name), "cpu%u", cpu);
		dir = simple_create_dir(tr->percpu_dir, name, 0750, NULL);
		if (IS_ERR(dir))
			return PTR_ERR(dir);
		tr->files[cpu] = (struct trace_cpu_file){ tr, cpu };
		ret = create_files(dir, &tr->files[cpu], TRACEFS_PER_CPU);
		if (ret)
			return ret;
	}
	return ret;
}

int create_array_dir(struct trace_array *tr)
{
	struct trace_cpu_file *all;
	int ret;

	tr->files = kcalloc(nr_cpu_ids + 1, sizeof(*tr->files), GFP_KERNEL);
	if (!tr->files)
		return -ENOMEM;
	all = &tr->files[nr_cpu_ids];
	*all = (struct trace_cpu_file){ tr, RING_BUFFER_ALL_CPUS_FILE };
	ret = create_files(tr->dir, all, TRACEFS_ARRAY | (trace_array_is_top(tr) ? TRACEFS_TOP : 0));
	if (!ret)
		ret = create_percpu_dirs(tr);
	if (!ret)
		ret = create_options_dir(tr);
	if (!ret)
		ret = create_event_files(tr);
	return ret;
}

static int tracefs_fill_super(struct super_block *sb, const char *options)
{
	int ret = simple_fill_super(sb, TRACEFS_MAGIC, 0700, NULL);

	if (ret)
		return ret;
	/* `echo 1 > tracing_onn` is a missing file, not a lack of permission: nobody can ever make one. */
	sb->s_create_error = -ENOENT;
	global_trace.dir = sb->s_root;
	ret = create_array_dir(&global_trace);
	if (!ret)
		ret = create_trace_stats(sb->s_root);
	return ret ?: create_instances_dir(sb->s_root);
}

static const struct file_system_type tracefs_type = {
	.name = "tracefs",
	.single = true,
	.nodev = true,
	.fill_super = tracefs_fill_super,
};
REGISTER_FILESYSTEM(tracefs_type);
