/* File types, modes and the structures of stat(2), with Linux's numbers. */
#pragma once

#include <asm/uapi_stat.h>
#include <lib/types.h>

#define S_IFMT   0170000
#define S_IFSOCK 0140000
#define S_IFLNK  0120000
#define S_IFREG  0100000
#define S_IFBLK  0060000
#define S_IFDIR  0040000
#define S_IFCHR  0020000
#define S_IFIFO  0010000
#define S_ISUID  0004000
#define S_ISGID  0002000
#define S_ISVTX  0001000
#define S_ISDIR(m) (((m)&S_IFMT) == S_IFDIR)
#define S_ISREG(m) (((m)&S_IFMT) == S_IFREG)
#define S_ISLNK(m) (((m)&S_IFMT) == S_IFLNK)
#define S_ISCHR(m) (((m)&S_IFMT) == S_IFCHR)
#define S_ISFIFO(m) (((m)&S_IFMT) == S_IFIFO)

#define DT_FIFO 1
#define DT_CHR  2
#define DT_DIR  4
#define DT_BLK  6
#define DT_REG  8
#define DT_LNK  10
#define S_ISBLK(m) (((m)&S_IFMT) == S_IFBLK)

/* What a file system tells of a file; each machine's stat ABI is filled from it. */
struct kstat {
	u64 ino;
	dev_t dev, rdev;
	mode_t mode;
	u32 nlink;
	uid_t uid;
	gid_t gid;
	loff_t size;
	u64 blocks;
	u32 blksize;
	u64 atime, mtime, ctime; /* ns since 1970 */
};
/* What setattr shall change. */
#define ATTR_MODE  1u
#define ATTR_UID   2u
#define ATTR_GID   4u
#define ATTR_SIZE  8u
#define ATTR_ATIME 16u
#define ATTR_MTIME 32u
#define ATTR_TOUCH 64u /* the times are "now": who may write the file may set them */
#define ATTR_KILL_PRIV 128u /* set-user-id and set-group-id bits go by it */
struct iattr {
	unsigned valid; /* ATTR_* */
	mode_t mode;
	uid_t uid;
	gid_t gid;
	loff_t size;
	u64 atime, mtime;
};

/* statx(2), the same on every machine: 256 bytes. */
struct statx_timestamp {
	s64 tv_sec;
	u32 tv_nsec;
	s32 pad;
};
struct statx {
	u32 stx_mask, stx_blksize;
	u64 stx_attributes;
	u32 stx_nlink, stx_uid, stx_gid;
	u16 stx_mode, pad0;
	u64 stx_ino, stx_size, stx_blocks, stx_attributes_mask;
	struct statx_timestamp stx_atime, stx_btime, stx_ctime, stx_mtime;
	u32 stx_rdev_major, stx_rdev_minor, stx_dev_major, stx_dev_minor;
	u64 stx_mnt_id;
	u64 pad1[13];
};
static_assert(sizeof(struct statx) == 256);
#define STATX_BASIC_STATS 0x7ffu
#define STATX__RESERVED   0x80000000u
