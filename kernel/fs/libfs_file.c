/* What files made by the kernel share: reading from and writing to a buffer, seeking, opening. */
#include "internal.h"

#include <fs/libfs.h>

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

ssize_t copy_text_from_user(char *buf, size_t size, const char __user *from, size_t n)
{
	if (n >= size)
		return -EINVAL;
	if (copy_from_user(buf, from, n))
		return -EFAULT;
	buf[n] = '\0';
	return n;
}

ssize_t copy_words_from_user(char *buf, size_t size, const char __user *from, size_t n)
{
	size_t len = min(n, size - 1);

	if (copy_from_user(buf, from, len))
		return -EFAULT;
	while (len < n && len && !isspace(buf[len - 1]))
		len--;
	if (n && !len)
		return -EINVAL;
	buf[len] = '\0';
	return len;
}

int simple_open(struct inode *inode, struct file *file)
{
	file->private_data = inode->i_private;
	return 0;
}

loff_t noop_llseek(struct file *file, loff_t off, int whence)
{
	return file->f_pos;
}

loff_t no_llseek(struct file *file, loff_t off, int whence)
{
	return -ESPIPE;
}
