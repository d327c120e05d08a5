/* stat() in the kernel's layout, and what changes names and modes. */
#ifndef VT_SYS_STAT_H
#define VT_SYS_STAT_H

#include <sys/types.h>
#include <time.h>
#include <bits/abi.h>
#include <uapi/fcntl.h> /* UTIME_NOW, UTIME_OMIT */
#include <uapi/stat.h>

struct stat {
	VT_STAT_FIELDS
};

#define st_atime st_atim.tv_sec
#define st_mtime st_mtim.tv_sec
#define st_ctime st_ctim.tv_sec

/* A device number as stat() gives it, for numbers below 256. */
#define major(dev) ((unsigned int)(((dev) >> 8) & 0xfff))
#define minor(dev) ((unsigned int)((dev)&0xff))

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
