/*
 * struct stat as stat(2) has it on this machine; kernel/fs/attr/stat.c fills it by its fields' names (Linux's arch/x86
 * layout): 144 bytes.
 */
#pragma once

#include <lib/types.h>

struct stat {
	u64 st_dev;
	u64 st_ino;
	u64 st_nlink;
	u32 st_mode;
	u32 st_uid;
	u32 st_gid;
	u32 __pad0;
	u64 st_rdev;
	s64 st_size;
	s64 st_blksize;
	s64 st_blocks; /* of 512 bytes */
	s64 st_atime;
	u64 st_atime_nsec;
	s64 st_mtime;
	u64 st_mtime_nsec;
	s64 st_ctime;
	u64 st_ctime_nsec;
	s64 __unused[3];
};
static_assert(sizeof(struct stat) == 144);
