/*
 * error_log: the last errors of an array, each with its command and a caret under the fault, as in Linux. Each error is
 * also explained in one line of the kernel log (refused.c). The file holds eight; the oldest is dropped first.
 */
#include <asm/uaccess.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <uapi/fcntl.h>

#include "core/array.h"
#include "error_log.h"
#include "tracefs.h"

/* Immutable once listed. */
struct trace_error {
	struct list_head list; /* [errors_lock] tr->errors, oldest first */
	u64 time;
	unsigned column;
	const char *where, *what, *command; /* in texts */
	char texts[];
};

#define ERRORS_MAX 8

static DEFINE_MUTEX(errors_lock);

static void forget(struct trace_array *tr, struct trace_error *e)
{
	list_del(&e->list);
	tr->nr_errors--;
	kvfree(e);
}

static void forget_all(struct trace_array *tr)
{
	struct trace_error *e, *next;

	if (!tr->nr_errors)
		return; /* the list of an array without errors may not have been begun */
	list_for_each_entry_safe(e, next, &tr->errors, list)
		forget(tr, e);
}

/* Copy the text to *at, which moves behind the copy. Returns the copy. */
static const char *error_log_keep(char **at, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = memcpy(*at, text, size);

	*at += size;
	return copy;
}

/*
 * Without memory for it the error is not logged: the write that caused it fails with its errno all the same. `column`
 * counts from the command's first character. Thread context; no lock of an array needs to be held.
 */
void tracing_log_err(struct trace_array *tr, const char *where, const char *command, const char *what, unsigned column)
{
	size_t len = strlen(where) + strlen(command) + strlen(what) + 3;
	struct trace_error *e = kvzalloc(sizeof(*e) + len, GFP_KERNEL);
	char *at;

	if (!e)
		return;
	at = e->texts;
	e->time = sched_clock();
	e->column = column;
	e->where = error_log_keep(&at, where);
	e->what = error_log_keep(&at, what);
	e->command = error_log_keep(&at, command);
	mutex_lock(&errors_lock);
	if (!tr->nr_errors)
		INIT_LIST_HEAD(&tr->errors);
	if (tr->nr_errors == ERRORS_MAX)
		forget(tr, list_first_entry(&tr->errors, struct trace_error, list));
	list_add_tail(&e->list, &tr->errors);
	tr->nr_errors++;
	mutex_unlock(&errors_lock);
}

void tracing_clear_errors(struct trace_array *tr)
{
	mutex_lock(&errors_lock);
	forget_all(tr);
	mutex_unlock(&errors_lock);
}

/* ---- The file */

static void show_error(struct seq_file *m, const struct trace_error *e)
{
	static const char before[] = "  Command: ";

	seq_printf(m, "[%5llu.%06llu] %s: error: %s\n", (unsigned long long)e->time / NSEC_PER_SEC,
		   (unsigned long long)e->time % NSEC_PER_SEC / 1000, e->where, e->what);
	seq_printf(m, "%s%s\n%*s\n", before, e->command, (int)(strlen(before) + e->column + 1), "^");
}

static int error_log_show(struct seq_file *m, void *v)
{
	struct trace_array *tr = tracefs_array(m->file);
	struct trace_error *e;

	mutex_lock(&errors_lock);
	if (tr->nr_errors)
		list_for_each_entry(e, &tr->errors, list)
			show_error(m, e);
	mutex_unlock(&errors_lock);
	return 0;
}

/* `echo > error_log` opens with O_TRUNC, which clears it; a reader takes a copy of what there is. */
static int error_log_open(struct inode *inode, struct file *file)
{
	if ((file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC))
		tracing_clear_errors(tracefs_array(file));
	return single_open(file, error_log_show, NULL);
}

/* `echo > error_log` has cleared it when it opened the file. */
static ssize_t error_log_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	return n;
}

static const struct file_operations error_log_fops = {
	.open = error_log_open,
	.read = seq_read,
	.write = error_log_write,
	.llseek = seq_lseek,
	.release = single_release,
};
TRACEFS_FILE(error_log, "error_log", 0640, TRACEFS_ARRAY, &error_log_fops);
