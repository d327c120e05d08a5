/*
 * struct stat as stat(2) has it on this machine; kernel/fs/attr/stat.c fills it by its fields' names (Linux,
 * asm-generic): 128 bytes.
 */
#pragma once

#include <lib/types.h>

struct stat {
	u64 st_dev;
	u64 st_ino;
	u32 st_mode;
	u32 st_nlink;
	u32 st_uid;
	u32 st_gid;
	u64 st_rdev;
	u64 __pad1;
	s64 st_size;
	s32 st_blksize;
	s32 __pad2;
	s64 st_blocks; /* of 512 bytes */
	s64 st_atime;
	u64 st_atime_nsec;
	s64 st_mtime;
	u64 st_mtime_nsec;
	s64 st_ctime;
	u64 st_ctime_nsec;
	u32 __unused4;
	u32 __unused5;
};
static_assert(sizeof(struct stat) == 128);
