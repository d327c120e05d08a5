/* open() and fcntl() with the kernel's flag values. */
#ifndef VT_FCNTL_H
#define VT_FCNTL_H

#include <sys/types.h>
#include <uapi/fcntl.h>

/* mode is looked at with O_CREAT only. Returns a descriptor, or -1 with errno. */
int open(const char *path, int flags, ...);
/* The third argument is a long by whatever name. Returns what the command returns, or -1 with errno. */
int fcntl(int fd, int cmd, ...);
/*
 * Bytes between a pipe and another file, inside the kernel; *off_in and *off_out in place of the file's position, NULL
 * for a pipe. Returns how many, 0 at the end, or -1 with errno.
 */
ssize_t splice(int in, off_t *off_in, int out, off_t *off_out, size_t n, unsigned flags);

#endif
