/*
 * What files made by the kernel share: reading from and writing to a buffer, taking a text, seeking, opening. The
 * contracts stand in <fs/libfs.h>.
 *
 * Every copy may come to a page of the program that is not there. As with read(2) on Linux, what was copied before
 * counts and is returned; only when nothing was copied the call fails with EFAULT.
 */
#include "../internal.h"

#include <fs/libfs.h>
#include <kernel/export.h>

ssize_t simple_read_from_buffer(char __user *to, size_t n, loff_t *pos, const void *from, size_t available)
{
	size_t left;

	if (*pos < 0)
		return -EINVAL;
	if (*pos >= available || !n)
		return 0;
	n = min_t(size_t, n, available - *pos);
	left = copy_to_user(to, (const char *)from + *pos, n);
	if (left == n)
		return -EFAULT;
	*pos += n - left;
	return n - left;
}
EXPORT_SYMBOL(simple_read_from_buffer);

/* The other direction. A write that begins behind the buffer is refused by saying that nothing was taken. */
ssize_t simple_write_to_buffer(void *to, size_t available, loff_t *pos, const char __user *from, size_t n)
{
	size_t left;

	if (*pos < 0)
		return -EINVAL;
	if (*pos >= available || !n)
		return 0;
	n = min_t(size_t, n, available - *pos);
	left = copy_from_user((char *)to + *pos, from, n);
	if (left == n)
		return -EFAULT;
	*pos += n - left;
	return n - left;
}
EXPORT_SYMBOL(simple_write_to_buffer);

/*
 * A text that fills the whole buffer has no room for its zero: -EINVAL, as for any text that is too long for the file.
 */
ssize_t copy_text_from_user(char *buf, size_t size, const char __user *from, size_t n)
{
	if (n >= size)
		return -EINVAL;
	if (copy_from_user(buf, from, n))
		return -EFAULT;
	buf[n] = '\0';
	return n;
}

int simple_open(struct inode *inode, struct file *file)
{
	file->private_data = inode->i_private;
	return 0;
}
EXPORT_SYMBOL(simple_open);

/* For files where a position means nothing, and a program that seeks should not fail for it. */
loff_t noop_llseek(struct file *file, loff_t off, int whence)
{
	return file->f_pos;
}
EXPORT_SYMBOL(noop_llseek);

/* For streams, as pipes are. */
loff_t no_llseek(struct file *file, loff_t off, int whence)
{
	return -ESPIPE;
}
EXPORT_SYMBOL(no_llseek);
