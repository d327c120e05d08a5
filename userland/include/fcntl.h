/* open() and fcntl() with the kernel's flag values. */
#ifndef VT_FCNTL_H
#define VT_FCNTL_H

#include <sys/types.h>
#include <bits/abi.h>

/* Linux's uapi/asm-generic/fcntl.h. */
#define O_RDONLY    0
#define O_WRONLY    1
#define O_RDWR	    2
#define O_ACCMODE   3
#define O_CREAT	    0100
#define O_EXCL	    0200
#define O_NOCTTY    0400
#define O_TRUNC	    01000
#define O_APPEND    02000
#define O_NONBLOCK  04000
#define O_CLOEXEC   02000000
#define O_DIRECTORY VT_O_DIRECTORY
#define O_NOFOLLOW  VT_O_NOFOLLOW

#define F_DUPFD		0
#define F_GETFD		1
#define F_SETFD		2
#define F_GETFL		3
#define F_SETFL		4
#define F_DUPFD_CLOEXEC 1030
#define FD_CLOEXEC	1

#define AT_FDCWD	    -100
#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_REMOVEDIR	    0x200

#define SPLICE_F_MOVE	  1
#define SPLICE_F_NONBLOCK 2
#define SPLICE_F_MORE	  4

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
