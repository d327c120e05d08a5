/*
 * What newlib's own functions call, in newlib's conventions. Built without our headers: here the flags of
 * open() and struct stat are newlib's, and are translated to the kernel's.
 *
 * newlib is a C library for machines without a system: what it needs from one it calls by names with
 * an underscore, and these are the functions. A program calls open() and gets ours (syscalls.c);
 * fopen() inside newlib calls _open().
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <bits/abi.h>
#include <bits/syscall.h>
#include <sys/syscall.h>

/* The kernel's layout under another name. */
struct kernel_stat {
	VT_STAT_FIELDS
};

/* Linux's uapi/asm-generic/fcntl.h. */
enum {
	KERNEL_O_CREAT = 0100,
	KERNEL_O_EXCL = 0200,
	KERNEL_O_TRUNC = 01000,
	KERNEL_O_APPEND = 02000,
	KERNEL_AT_FDCWD = -100,
	KERNEL_TCGETS = 0x5401,
};

/*
 * newlib numbers its flags as old BSD did, so each is translated. Its own callers (fopen) use no
 * other ones.
 */
int _open(const char *path, int flags, int mode)
{
	int kflags = flags & O_ACCMODE;

	if (flags & O_CREAT)
		kflags |= KERNEL_O_CREAT;
	if (flags & O_EXCL)
		kflags |= KERNEL_O_EXCL;
	if (flags & O_TRUNC)
		kflags |= KERNEL_O_TRUNC;
	if (flags & O_APPEND)
		kflags |= KERNEL_O_APPEND;
	return (int)vt_result(vt_syscall(SYS_openat, KERNEL_AT_FDCWD, (long)path, kflags, mode, 0, 0));
}

/*
 * The following are called by stdio with newlib's own types; size_t and offsets are 64 bits on both
 * machines.
 */
int _close(int fd)
{
	return (int)vt_result(vt_syscall(SYS_close, fd, 0, 0, 0, 0, 0));
}

_ssize_t _read(int fd, void *buf, size_t size)
{
	return vt_result(vt_syscall(SYS_read, fd, (long)buf, (long)size, 0, 0, 0));
}

_ssize_t _write(int fd, const void *buf, size_t size)
{
	return vt_result(vt_syscall(SYS_write, fd, (long)buf, (long)size, 0, 0, 0));
}

_off_t _lseek(int fd, _off_t offset, int whence)
{
	return vt_result(vt_syscall(SYS_lseek, fd, offset, whence, 0, 0, 0));
}

/*
 * stdio looks at the type and the block size only; the rest of newlib's structure is narrower than the kernel's. It
 * asks when a stream gets its buffer. newlib is built as for a system that cannot tell a terminal, so its standard
 * output writes each line at once. Without that mark it is like every other stream: by lines on a terminal, else by
 * blocks.
 */
int _fstat(int fd, struct stat *st)
{
	struct kernel_stat k;

	if (fd == STDOUT_FILENO)
		stdout->_flags &= ~__SLBF;
	if (vt_result(vt_syscall(SYS_newfstat, fd, (long)&k, 0, 0, 0, 0)) < 0)
		return -1;
	*st = (struct stat){
		.st_mode = k.st_mode,
		.st_size = k.st_size,
		.st_blksize = k.st_blksize,
	};
	return 0;
}

/* stdio asks once a stream, to choose between line and full buffering. */
int _isatty(int fd)
{
	char settings[64]; /* struct termios: 36 bytes */

	return vt_result(vt_syscall(SYS_ioctl, fd, KERNEL_TCGETS, (long)settings, 0, 0, 0)) == 0;
}

/* newlib's raise() and abort() want these two. */
int _getpid(void)
{
	return (int)vt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

int _kill(int pid, int sig)
{
	return (int)vt_result(vt_syscall(SYS_kill, pid, sig, 0, 0, 0, 0));
}

/* exit_group ends all threads. The loop is for the compiler: it never comes round. */
void _exit(int status)
{
	for (;;)
		vt_syscall(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

/*
 * Move the end of the heap, for malloc(). The heap is what lies between the first break and the
 * present one. brk() returns the break that it has left, moved or not, so a difference means that
 * there is no memory. Returns the old end.
 *
 *     | program | data | heap ... | <- break       increment > 0 moves it to the right
 */
void *_sbrk(ptrdiff_t increment)
{
	static uintptr_t current;
	uintptr_t wanted;

	if (current == 0)
		current = (uintptr_t)vt_syscall(SYS_brk, 0, 0, 0, 0, 0, 0);
	wanted = current + increment;
	if (increment != 0 && (uintptr_t)vt_syscall(SYS_brk, (long)wanted, 0, 0, 0, 0, 0) != wanted) {
		errno = ENOMEM;
		return (void *)-1;
	}
	current = wanted;
	return (void *)(wanted - increment);
}

/* For programs. newlib has this one on some machines only. */
void *sbrk(ptrdiff_t increment)
{
	return _sbrk(increment);
}
