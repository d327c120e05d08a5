/* Between ramfs's directories and its files. */
#pragma once

#include <fs/vfs.h>

/* s_fs_info: what the files of one file system may have, and have. Nodes of their trees are not counted. */
struct ramfs_usage {
	atomic64_t pages; /* [a] */
	u64 limit;	  /* [I] pages; U64_MAX: as many as the machine has */
};

int ramfs_init_file(struct inode *inode);  /* operations and an empty page tree. 0, -ENOMEM */
void ramfs_free_file(struct inode *inode); /* all pages; nobody uses it any more */
