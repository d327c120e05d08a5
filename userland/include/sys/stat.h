/* stat() in the kernel's layout, and what changes names and modes. */
#ifndef VT_SYS_STAT_H
#define VT_SYS_STAT_H

#include <sys/types.h>
#include <time.h>
#include <bits/abi.h>

struct stat {
	VT_STAT_FIELDS
};

#define st_atime st_atim.tv_sec
#define st_mtime st_mtim.tv_sec
#define st_ctime st_ctim.tv_sec

#define S_IFMT	 0170000
#define S_IFSOCK 0140000
#define S_IFLNK	 0120000
#define S_IFREG	 0100000
#define S_IFBLK	 0060000
#define S_IFDIR	 0040000
#define S_IFCHR	 0020000
#define S_IFIFO	 0010000
#define S_ISUID	 04000
#define S_ISGID	 02000
#define S_ISVTX	 01000

#define S_ISREG(m)  (((m)&S_IFMT) == S_IFREG)
#define S_ISDIR(m)  (((m)&S_IFMT) == S_IFDIR)
#define S_ISCHR(m)  (((m)&S_IFMT) == S_IFCHR)
#define S_ISBLK(m)  (((m)&S_IFMT) == S_IFBLK)
#define S_ISFIFO(m) (((m)&S_IFMT) == S_IFIFO)
#define S_ISLNK(m)  (((m)&S_IFMT) == S_IFLNK)
#define S_ISSOCK(m) (((m)&S_IFMT) == S_IFSOCK)

/* A device number as stat() gives it, for numbers below 256. */
#define major(dev) ((unsigned int)(((dev) >> 8) & 0xfff))
#define minor(dev) ((unsigned int)((dev)&0xff))

/* In the last argument of utimensat: the time of the call, or leave it. */
#define UTIME_NOW  0x3fffffff
#define UTIME_OMIT 0x3ffffffe

/* All return 0, or -1 with errno; umask returns the old mask and cannot fail. */
int stat(const char *path, struct stat *st);
int lstat(const char *path, struct stat *st);
int fstat(int fd, struct stat *st);
int mkdir(const char *path, mode_t mode);
int mknod(const char *path, mode_t mode, unsigned long dev);
int chmod(const char *path, mode_t mode);
mode_t umask(mode_t mask);
int utimensat(int dirfd, const char *path, const struct timespec times[2], int flags);

#endif
