/*
 * The texts of error numbers.
 *
 * newlib's own table is by newlib's numbers, which are not the kernel's from 35 up. The words are
 * glibc's, because people search for them. A number that no call here can return has no text.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const error_texts[] = {
	[0] = "Success",
	[EPERM] = "Operation not permitted",
	[ENOENT] = "No such file or directory",
	[ESRCH] = "No such process",
	[EINTR] = "Interrupted system call",
	[EIO] = "Input/output error",
	[ENXIO] = "No such device or address",
	[E2BIG] = "Argument list too long",
	[ENOEXEC] = "Exec format error",
	[EBADF] = "Bad file descriptor",
	[ECHILD] = "No child processes",
	[EAGAIN] = "Resource temporarily unavailable",
	[ENOMEM] = "Cannot allocate memory",
	[EACCES] = "Permission denied",
	[EFAULT] = "Bad address",
	[ENOTBLK] = "Block device required",
	[EBUSY] = "Device or resource busy",
	[EEXIST] = "File exists",
	[EXDEV] = "Invalid cross-device link",
	[ENODEV] = "No such device",
	[ENOTDIR] = "Not a directory",
	[EISDIR] = "Is a directory",
	[EINVAL] = "Invalid argument",
	[ENFILE] = "Too many open files in system",
	[EMFILE] = "Too many open files",
	[ENOTTY] = "Inappropriate ioctl for device",
	[ETXTBSY] = "Text file busy",
	[EFBIG] = "File too large",
	[ENOSPC] = "No space left on device",
	[ESPIPE] = "Illegal seek",
	[EROFS] = "Read-only file system",
	[EMLINK] = "Too many links",
	[EPIPE] = "Broken pipe",
	[EDOM] = "Numerical argument out of domain",
	[ERANGE] = "Numerical result out of range",
	[EDEADLK] = "Resource deadlock avoided",
	[ENAMETOOLONG] = "File name too long",
	[ENOLCK] = "No locks available",
	[ENOSYS] = "Function not implemented",
	[ENOTEMPTY] = "Directory not empty",
	[ELOOP] = "Too many levels of symbolic links",
	[ENODATA] = "No data available",
	[ETIME] = "Timer expired",
	[EOVERFLOW] = "Value too large for defined data type",
	[EILSEQ] = "Invalid or incomplete multibyte or wide character",
	[EOPNOTSUPP] = "Operation not supported",
	[ETIMEDOUT] = "Connection timed out",
};

/* Returns the text for err; for a number without one, a text with the number, overwritten by the next such
 * call. */
char *strerror(int err)
{
	static char unknown[32];

	if (err >= 0 && err < (int)(sizeof(error_texts) / sizeof(error_texts[0])) && error_texts[err])
		return (char *)error_texts[err];
	siprintf(unknown, "Unknown error %d", err);
	return unknown;
}
