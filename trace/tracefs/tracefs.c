/* The kinds of file that most control files are, and whose array a file is. */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>

#include "refused.h"
#include "tracefs.h"

struct trace_array *tracefs_array(const struct file *file)
{
	return ((struct trace_cpu_file *)file->f_inode->i_private)->tr;
}

int tracefs_cpu(const struct file *file)
{
	return ((struct trace_cpu_file *)file->f_inode->i_private)->cpu;
}

static const struct tracefs_text *text_of(const struct file *file)
{
	return container_of(file->f_inode->i_fop, struct tracefs_text, fop);
}

static int text_show(struct seq_file *m, void *v)
{
	return text_of(m->file)->show(m, tracefs_array(m->file), tracefs_cpu(m->file));
}

/* A file without `show` cannot be opened for reading, as Linux's write-only files. */
int tracefs_text_open(struct inode *inode, struct file *file)
{
	if (!text_of(file)->show)
		return file->f_mode & FMODE_READ ? -EINVAL : single_open(file, NULL, NULL);
	return single_open(file, text_show, NULL);
}

/* A text that was refused is fetched again to be explained: `store` may have cut it into pieces. */
ssize_t tracefs_text_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	const struct tracefs_text *ops = text_of(file);
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
