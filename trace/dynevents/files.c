/*
 * The files of dynamic events: dynamic_events for all kinds, and one for each kind (DYN_EVENT_FILE). They have the same
 * operations, which find the kind by the file's name.
 *
 *	echo 'p:myprobe do_sys_openat2' > kprobe_events		deletes all kprobes, and makes this one
 *	echo 'r:myret do_sys_openat2' >> dynamic_events		adds one
 *	echo '-:myprobe' >> dynamic_events			deletes it
 */
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <uapi/fcntl.h>

#include "tracefs/refused.h"
#include "dynevent.h"

/* NULL: every kind. */
static const struct dyn_event_kind *kind_of(const struct dentry *d)
{
	const struct dyn_event_kind *kind;

	for_each_in_table(dyn_event_kinds, kind)
		if (kind->file && !strcmp(kind->file, d->d_name.name))
			return kind;
	return NULL;
}

static int dyn_event_show(struct seq_file *m, void *v)
{
	const struct dyn_event_kind *only = m->private;
	struct dyn_event *ev;

	mutex_lock(&event_mutex);
	for_each_dyn_event(ev)
		if (only == ev->kind && only->show_own)
			only->show_own(m, ev);
		else if (!only || ev->kind == only)
			ev->kind->show(m, ev);
	mutex_unlock(&event_mutex);
	return 0;
}

/* error_log is about lines, and there is no line yet. */
static void explain_busy(struct trace_refusal *r)
{
	r->logged = true;
	r->say(r, "%s", r->text);
}
#define BUSY "dynamic events are busy"
static const struct trace_hint busy_hint = {.subject = BUSY, .explain = explain_busy};
REGISTER_TRACE_HINT(busy_hint);

/* -EBUSY: the file was to be emptied, and one of its events is on. */
static int dyn_event_open(struct inode *inode, struct file *file)
{
	const struct dyn_event_kind *only = kind_of(file->f_dentry);
	struct dyn_why why = {};
	int err = 0;

	if ((file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC))
		err = dyn_event_release_all(only, &why);
	if (err)
		return (int)tracefs_refused(file, BUSY, why.text, err);
	return single_open(file, dyn_event_show, (void *)only);
}

/* ---- Writing: lines, each up to its "#" */

/* error_log has been told already. */
static void explain_line(struct trace_refusal *r)
{
	r->logged = true;
	r->say(r, "%s; error_log shows the line", r->text);
}
#define LINE "line of a dynamic event"
static const struct trace_hint line_hint = {.subject = LINE, .explain = explain_line};
REGISTER_TRACE_HINT(line_hint);

static int run_line(struct file *file, char *line)
{
	const struct dyn_event_kind *only = kind_of(file->f_dentry);
	char *comment = strchr(line, '#');
	struct dyn_why why;
	int err;

	if (comment)
		*comment = '\0';
	if (!line[strspn(line, " \t\r")])
		return 0;
	err = only && only->run ? only->run(line, &why) : dyn_event_run(line, only, &why);
	return err ? (int)tracefs_refused(file, LINE, why.text, err) : 0;
}

/* A line does not end in the text. The words are Linux's, which says so of both. */
static ssize_t refuse_line(struct file *file, bool zero)
{
	return tracefs_refused_why(file, LINE, "",
				   zero ? "Line length is too long: there is a zero byte in it"
					: "Line length is too long: Should be less than " __stringify(DYN_LINE_LONGEST),
				   -EINVAL);
}

/*
 * Carry out all lines in buf, and also the text behind the last newline if the write ends there. buf[n] can be written.
 * A line with a zero byte is refused, as in Linux. Returns the number of bytes that were used; -EINVAL: the first line
 * is too long; or the error of a line. The lines before a wrong one are in force.
 */
static ssize_t run_lines(struct file *file, char *buf, size_t n, bool last)
{
	size_t done = 0, len = 0;

	buf[n] = '\0';
	while (done < n) {
		char *line = buf + done;
		int err;

		len = strcspn(line, "\n");
		if (done + len < n ? !line[len] : !last)
			break;
		line[len] = '\0';
		err = run_line(file, line);
		if (err)
			return err;
		done = min(done + len + 1, n);
	}
	return done ?: refuse_line(file, len < n);
}

/* Piece by piece: a line that is cut by the end of a piece is copied again with the next one. */
static ssize_t dyn_event_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	char *buf = kmalloc(DYN_LINE_MAX, GFP_KERNEL);
	size_t done = 0;
	ssize_t ret = 0;

	if (!buf)
		return -ENOMEM;
	while (done < n && ret >= 0) {
		size_t size = min_t(size_t, n - done, DYN_LINE_MAX - 1);

		if (copy_from_user(buf, from + done, size)) {
			ret = -EFAULT;
			break;
		}
		ret = run_lines(file, buf, size, done + size == n);
		if (ret > 0)
			done += ret;
	}
	kfree(buf);
	return ret < 0 ? ret : (ssize_t)done;
}

const struct file_operations dyn_event_fops = {
	.open = dyn_event_open,
	.read = seq_read,
	.write = dyn_event_write,
	.llseek = seq_lseek,
	.release = single_release,
};
DYN_EVENT_FILE(dynamic_events, "dynamic_events");
