/*
 * Refused writes (tracefs/refused.h): the errors go to the room trace/refusals, which explains them. Without it the
 * errno is all that a writer gets.
 */
#include <fs/vfs.h>
#include <lib/errno.h>

#include "refused.h"
#include "tracefs.h"

DECLARE_TABLE(trace_explainers, const struct trace_explainer);

/* Nothing is said about a write that was interrupted or had a bad pointer, since it was not refused for its text. */
ssize_t tracefs_refused_why(const struct file *file, const char *subject, const char *text, const char *why,
			    ssize_t ret)
{
	const struct trace_explainer *room;

	if (ret >= 0 || ret == -EFAULT || ret == -EINTR || ret == -ERESTARTSYS)
		return ret;
	for_each_in_table(trace_explainers, room)
		room->write(file, subject ?: file->f_dentry->d_name.name, text, why, -ret);
	return ret;
}

ssize_t tracefs_text_refused(const struct file *file, const char *text, const char *why, ssize_t ret)
{
	return tracefs_refused_why(file, file->f_inode->i_text->hint, text, why, ret);
}

ssize_t tracefs_only_written(struct file *file, char __user *buf, size_t n, loff_t *pos)
{
	return tracefs_refused(file, ONLY_WRITTEN, "", -EINVAL);
}

void tracefs_refused_name(const char *dir, const char *name, const char *what)
{
	const struct trace_explainer *room;

	for_each_in_table(trace_explainers, room)
		room->name(dir, name, what);
}

const char *trace_boot_why_of(struct trace_array *tr, const char *subject, void *owner, const char *text, int ret)
{
	const struct trace_explainer *room;

	for_each_in_table(trace_explainers, room)
		return room->boot(tr, subject, owner, text, -ret);
	return errno_text(-ret);
}

const char *trace_boot_why(struct trace_array *tr, const char *subject, const char *text, int ret)
{
	return trace_boot_why_of(tr, subject, NULL, text, ret);
}
