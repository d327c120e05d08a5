/* Errors in words, for messages to people. */
#include <lib/errno.h>

/* Those that a boot can meet; the words of the C library. */
static const char *const texts[] = {
	[EPERM] = "Operation not permitted",
	[ENOENT] = "No such file or directory",
	[ESRCH] = "No such process",
	[EINTR] = "Interrupted system call",
	[EIO] = "Input/output error",
	[ENXIO] = "No such device or address",
	[E2BIG] = "Argument list too long",
	[ENOEXEC] = "Exec format error",
	[EBADF] = "Bad file descriptor",
	[EAGAIN] = "Resource temporarily unavailable",
	[ENOMEM] = "Cannot allocate memory",
	[EACCES] = "Permission denied",
	[EFAULT] = "Bad address",
	[EBUSY] = "Device or resource busy",
	[EEXIST] = "File exists",
	[ENODEV] = "No such device",
	[ENOTDIR] = "Not a directory",
	[EISDIR] = "Is a directory",
	[EINVAL] = "Invalid argument",
	[EFBIG] = "File too large",
	[ENOSPC] = "No space left on device",
	[EROFS] = "Read-only file system",
	[ERANGE] = "Numerical result out of range",
	[ENAMETOOLONG] = "File name too long",
	[ENOSYS] = "Function not implemented",
	[EOVERFLOW] = "Value too large for defined data type",
	[EOPNOTSUPP] = "Operation not supported",
	[ETIMEDOUT] = "Connection timed out",
};

const char *errno_text(int err)
{
	if (err < 0 || (unsigned long)err >= sizeof(texts) / sizeof(*texts) || !texts[err])
		return "Unknown error";
	return texts[err];
}
