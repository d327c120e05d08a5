/* Files that hold one number (DEFINE_SIMPLE_ATTRIBUTE of <fs/debugfs.h>). */
#include "../../fs/internal.h"

#include <asm/uaccess.h>
#include <fs/debugfs.h>
#include <kernel/export.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>

/* What an open file knows. The text is made by a read from its beginning, so that pieces fit together. */
struct simple_attr {
	int (*get)(void *data, u64 *value);
	int (*set)(void *data, u64 value);
	void *data;
	const char *format;
	struct mutex lock;
	char text[32]; /* [lock] */
};

int simple_attr_open(struct inode *inode, struct file *file, int (*get)(void *data, u64 *value),
		     int (*set)(void *data, u64 value), const char *format)
{
	struct simple_attr *attr = kzalloc(sizeof(*attr), GFP_KERNEL);

	if (!attr)
		return -ENOMEM;
	attr->get = get;
	attr->set = set;
	attr->data = inode->i_private;
	attr->format = format;
	mutex_init(&attr->lock);
	file->private_data = attr;
	return 0;
}
EXPORT_SYMBOL(simple_attr_open);

int simple_attr_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}
EXPORT_SYMBOL(simple_attr_release);

/*
 * The value is asked for at the start of the file only, so that a reader in small pieces sees one value. -EACCES: it
 * cannot be read; what `get` returns.
 */
ssize_t simple_attr_read(struct file *file, char __user *buf, size_t n, loff_t *pos)
{
	struct simple_attr *attr = file->private_data;
	ssize_t ret = 0;
	u64 value;

	if (!attr->get)
		return -EACCES;
	mutex_lock(&attr->lock);
	if (!*pos) {
		ret = attr->get(attr->data, &value);
		if (!ret)
			scnprintf(attr->text, sizeof(attr->text), attr->format, (unsigned long long)value);
	}
	if (!ret)
		ret = simple_read_from_buffer(buf, n, pos, attr->text, strlen(attr->text));
	mutex_unlock(&attr->lock);
	return ret;
}
EXPORT_SYMBOL(simple_attr_read);

/* A negative number is its two's complement, as in Linux. */
ssize_t simple_attr_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	struct simple_attr *attr = file->private_data;
	char text[32];
	ssize_t err;
	u64 value;

	if (!attr->set)
		return -EACCES;
	err = copy_text_from_user(text, sizeof(text), buf, n);
	if (err >= 0)
		err = *text == '-' ? kstrtoll(text, 0, (s64 *)&value) : kstrtoull(text, 0, &value);
	if (!err)
		err = attr->set(attr->data, value);
	return err ?: (ssize_t)n;
}
EXPORT_SYMBOL(simple_attr_write);
