/* trace_options and the directory options/: one bit each, by name. */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/sched.h>

#include "trace.h"

/* Every option here means something; the order is the file's. */
static const char *const option_names[NR_TRACE_OPTIONS] = {
	[OPT_PRINT_PARENT] = "print-parent",
	[OPT_SYM_OFFSET] = "sym-offset",
	[OPT_SYM_ADDR] = "sym-addr",
	[OPT_CONTEXT_INFO] = "context-info",
	[OPT_RECORD_CMD] = "record-cmd",
	[OPT_OVERWRITE] = "overwrite",
	[OPT_IRQ_INFO] = "irq-info",
	[OPT_MARKERS] = "markers",
	[OPT_ANNOTATE] = "annotate",
	[OPT_PAUSE_ON_TRACE] = "pause-on-trace",
};

static int find_option(const char *name)
{
	for (int i = 0; i < NR_TRACE_OPTIONS; i++)
		if (!strcmp(option_names[i], name))
			return i;
	return -EINVAL;
}

/* trace_types_lock held. */
static void set_option(struct trace_array *tr, int opt, bool on)
{
	u32 mask = 1u << opt;

	WRITE_ONCE(tr->trace_flags, on ? tr->trace_flags | mask : tr->trace_flags & ~mask);
	if (opt == OPT_OVERWRITE)
		ring_buffer_change_overwrite(tr->buffer, on);
}

int trace_set_option(struct trace_array *tr, const char *text)
{
	bool on = strncmp(text, "no", 2) != 0;
	int opt = find_option(on ? text : text + 2);

	if (opt < 0)
		return opt;
	mutex_lock(&trace_types_lock);
	set_option(tr, opt, on);
	mutex_unlock(&trace_types_lock);
	return 0;
}

static int trace_options_show(struct seq_file *m, struct trace_array *tr, int cpu)
{
	for (int i = 0; i < NR_TRACE_OPTIONS; i++)
		seq_printf(m, "%s%s\n", tr->trace_flags & (1u << i) ? "" : "no", option_names[i]);
	return 0;
}

static int trace_options_store(struct trace_array *tr, int cpu, char *text)
{
	return trace_set_option(tr, text);
}
TRACEFS_TEXT_FILE(trace_options, "trace_options", 0640, TRACEFS_ARRAY, trace_options_show, trace_options_store);

/* options/NAME holds 0 or 1. i_private is the array; the option is known by the file's name. */
static int file_option(const struct file *file)
{
	return find_option(file->f_dentry->d_name);
}

static ssize_t option_read(struct file *file, char __user *buf, size_t n, loff_t *pos)
{
	struct trace_array *tr = file->f_inode->i_private;

	return simple_read_from_buffer(buf, n, pos, tr->trace_flags & (1u << file_option(file)) ? "1\n" : "0\n", 2);
}

static ssize_t option_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	struct trace_array *tr = file->f_inode->i_private;
	char text[32];
	unsigned long val;
	ssize_t ret = copy_text_from_user(text, sizeof(text), buf, n);

	if (ret < 0)
		return ret;
	ret = kstrtoul(strim(text), 10, &val);
	if (ret)
		return ret;
	if (val > 1)
		return -EINVAL;
	mutex_lock(&trace_types_lock);
	set_option(tr, file_option(file), val);
	mutex_unlock(&trace_types_lock);
	return n;
}

static const struct file_operations option_fops = {
	.read = option_read,
	.write = option_write,
	.llseek = default_llseek,
};

int create_options_dir(struct trace_array *tr)
{
	tr->options_dir = simple_create_dir(tr->dir, "options", 0750, NULL);
	if (IS_ERR(tr->options_dir))
		return PTR_ERR(tr->options_dir);
	for (int i = 0; i < NR_TRACE_OPTIONS; i++) {
		struct dentry *d = simple_create_file(tr->options_dir, option_names[i], S_IFREG | 0640,
						      &option_fops, tr);

		if (IS_ERR(d))
			return PTR_ERR(d);
	}
	return 0;
}
