/* File types, modes and the structures of stat(2), with Linux's numbers. */
#pragma once

#include <uapi/types.h>

#define S_IFMT	    0170000
#define S_IFSOCK    0140000
#define S_IFLNK	    0120000
#define S_IFREG	    0100000
#define S_IFBLK	    0060000
#define S_IFDIR	    0040000
#define S_IFCHR	    0020000
#define S_IFIFO	    0010000
#define S_ISUID	    0004000
#define S_ISGID	    0002000
#define S_ISVTX	    0001000
#define S_ISBLK(m)  (((m)&S_IFMT) == S_IFBLK)
#define S_ISSOCK(m) (((m)&S_IFMT) == S_IFSOCK)
#define S_ISDIR(m)  (((m)&S_IFMT) == S_IFDIR)
#define S_ISREG(m)  (((m)&S_IFMT) == S_IFREG)
#define S_ISLNK(m)  (((m)&S_IFMT) == S_IFLNK)
#define S_ISCHR(m)  (((m)&S_IFMT) == S_IFCHR)
#define S_ISFIFO(m) (((m)&S_IFMT) == S_IFIFO)

/* d_type of getdents64(2). */
#define DT_UNKNOWN 0
#define DT_FIFO	   1
#define DT_CHR	   2
#define DT_DIR	   4
#define DT_BLK	   6
#define DT_REG	   8
#define DT_LNK	   10
#define DT_SOCK	   12

/* statx(2), the same on every machine: 256 bytes. */
struct statx_timestamp {
	__s64 tv_sec;
	__u32 tv_nsec;
	__s32 pad;
};
struct statx {
	__u32 stx_mask, stx_blksize;
	__u64 stx_attributes;
	__u32 stx_nlink, stx_uid, stx_gid;
	__u16 stx_mode, pad0;
	__u64 stx_ino, stx_size, stx_blocks, stx_attributes_mask;
	struct statx_timestamp stx_atime, stx_btime, stx_ctime, stx_mtime;
	__u32 stx_rdev_major, stx_rdev_minor, stx_dev_major, stx_dev_minor;
	__u64 stx_mnt_id;
	__u64 pad1[13];
};
_Static_assert(sizeof(struct statx) == 256);
#define STATX_BASIC_STATS 0x7ffu
#define STATX__RESERVED	  0x80000000u
