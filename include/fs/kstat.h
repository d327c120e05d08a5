/* A file's attributes as file systems tell and change them, whatever a machine's struct stat looks like. */
#pragma once

#include <lib/types.h>
#include <uapi/stat.h>

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
/* What setattr is to change. */
#define ATTR_MODE      1u
#define ATTR_UID       2u
#define ATTR_GID       4u
#define ATTR_SIZE      8u
#define ATTR_ATIME     16u
#define ATTR_MTIME     32u
#define ATTR_TOUCH     64u  /* the times are "now": who may write the file may set them */
#define ATTR_KILL_PRIV 128u /* set-user-id and set-group-id bits go by it */
struct iattr {
	unsigned valid; /* ATTR_* */
	mode_t mode;
	uid_t uid;
	gid_t gid;
	loff_t size;
	u64 atime, mtime;
};
