/* How full a file system is. */
#ifndef VT_SYS_VFS_H
#define VT_SYS_VFS_H

/* Linux's struct statfs of 64-bit machines. */
struct statfs {
	long f_type, f_bsize;
	unsigned long f_blocks, f_bfree, f_bavail; /* in units of f_frsize */
	unsigned long f_files, f_ffree;
	int f_fsid[2];
	long f_namelen, f_frsize, f_flags, f_spare[4];
};

/* Of the file system that path lies in. Returns 0, or -1 with errno. */
int statfs(const char *path, struct statfs *to);

#endif
