/* struct statfs of statfs(2) on 64-bit machines, and the file systems' magic numbers. */
#pragma once

#include <uapi/types.h>

struct statfs {
	__s64 f_type, f_bsize;
	__u64 f_blocks, f_bfree, f_bavail, f_files, f_ffree;
	__s32 f_fsid[2];
	__s64 f_namelen, f_frsize, f_flags;
	__s64 f_spare[4];
};
_Static_assert(sizeof(struct statfs) == 120);

#define RAMFS_MAGIC	 0x858458f6
#define TMPFS_MAGIC	 0x01021994
#define PROC_SUPER_MAGIC 0x9fa0
#define SYSFS_MAGIC	 0x62656572
#define DEBUGFS_MAGIC	 0x64626720
#define TRACEFS_MAGIC	 0x74726163
#define PIPEFS_MAGIC	 0x50495045
#define V9FS_MAGIC	 0x01021997
