/*
 * fadvise64(2): what a program says of how it will use a file. Files in memory are there already, and those of a host's
 * folder have no pages that are kept, so the advice changes nothing; a wrong one is an error all the same.
 */
#include "files.h"

#include <proc/syscall.h>

#define POSIX_FADV_NOREUSE 5 /* the last */

SYSCALL_DEFINE4(fadvise64, int, fd, loff_t, offset, loff_t, len, int, advice)
{
	struct file *f = fget(fd);
	int err = 0;

	if (!f)
		return -EBADF;
	if (S_ISFIFO(f->f_inode->i_mode))
		err = -ESPIPE;
	else if (len < 0 || (unsigned)advice > POSIX_FADV_NOREUSE)
		err = -EINVAL;
	fput(f);
	return err;
}
