/* set_ftrace_pid and set_ftrace_notrace_pid: which tasks the function tracer records. */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <lib/bitmap.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>
#include <uapi/fcntl.h>

#include "trace.h"

bool trace_array_filters_pids(const struct trace_array *tr)
{
	return tr->function_pids || tr->function_no_pids;
}

/* Put a new list (NULL: none) in force. trace_types_lock held. */
static void replace_list(struct trace_array *tr, struct trace_pid_list **which, struct trace_pid_list *new)
{
	struct trace_pid_list *old = *which;

	smp_store_release(which, new);
	if (tr->current_trace->update_pids)
		tr->current_trace->update_pids(tr);
	synchronize_rcu(); /* the tracer reads lists with preemption off */
	kfree(old);
}

/* The list that a file of this name stands for. */
static struct trace_pid_list **file_list(const struct file *file)
{
	struct trace_array *tr = tracefs_array(file);

	return !strcmp(file->f_dentry->d_name, "set_ftrace_pid") ? &tr->function_pids : &tr->function_no_pids;
}

static int pid_show(struct seq_file *m, void *v)
{
	struct trace_pid_list *list;

	mutex_lock(&trace_types_lock);
	list = *file_list(m->file);
	if (!list)
		seq_puts(m, "no pid\n");
	for (unsigned pid = 0; list && pid < TRACE_PID_MAX; pid++) {
		pid = find_next_bit(list->bits, TRACE_PID_MAX, pid);
		if (pid < TRACE_PID_MAX)
			seq_printf(m, "%u\n", pid);
	}
	mutex_unlock(&trace_types_lock);
	return 0;
}

static int pid_open(struct inode *inode, struct file *file)
{
	if ((file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC)) {
		mutex_lock(&trace_types_lock);
		if (*file_list(file))
			replace_list(tracefs_array(file), file_list(file), NULL);
		mutex_unlock(&trace_types_lock);
	}
	return single_open(file, pid_show, NULL);
}

/* Adds the numbers in `text` to `list`. *clear: the -1 of Linux 2.6, which empties the list. */
static int parse_pids(char *text, struct trace_pid_list *list, bool *clear)
{
	char *word;
	long pid;
	int ret;

	while ((word = strsep(&text, " \t\n"))) {
		if (!*word)
			continue;
		ret = kstrtol(word, 10, &pid);
		if (ret)
			return ret;
		*clear = pid < 0;
		if (pid >= TRACE_PID_MAX)
			return -EINVAL;
		if (pid >= 0)
			list->bits[pid / 64] |= BIT(pid % 64);
	}
	return 0;
}

static bool list_empty_pids(const struct trace_pid_list *list)
{
	return find_first_bit(list->bits, TRACE_PID_MAX) == TRACE_PID_MAX;
}

static ssize_t pid_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	struct trace_pid_list *new = kzalloc(sizeof(*new), GFP_KERNEL), **which = file_list(file);
	char text[TRACEFS_TEXT_MAX];
	bool clear = false;
	ssize_t ret;

	if (!new)
		return -ENOMEM;
	ret = copy_text_from_user(text, sizeof(text), buf, n);
	if (ret < 0)
		goto free_new;
	mutex_lock(&trace_types_lock);
	if (*which)
		*new = **which;
	ret = parse_pids(text, new, &clear);
	if (!ret && (clear || list_empty_pids(new))) {
		kfree(new);
		new = NULL;
	}
	if (!ret && (new || *which))
		replace_list(tracefs_array(file), which, new);
	mutex_unlock(&trace_types_lock);
	if (!ret)
		return n;
free_new:
	kfree(new);
	return ret;
}

static const struct file_operations pid_fops = {
	.open = pid_open,
	.read = seq_read,
	.write = pid_write,
	.llseek = seq_lseek,
	.release = single_release,
};
static const struct tracefs_file set_ftrace_pid_file = { "set_ftrace_pid", 0640, &pid_fops, TRACEFS_ARRAY };
static const struct tracefs_file set_ftrace_notrace_pid_file = { "set_ftrace_notrace_pid", 0640, &pid_fops,
								 TRACEFS_ARRAY };
REGISTER_TRACEFS(set_ftrace_pid_file);
REGISTER_TRACEFS(set_ftrace_notrace_pid_file);
