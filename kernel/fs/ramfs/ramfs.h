/* What the files of ramfs share: the limits of a file system, its directories, and the contents of its files. */
#pragma once

#include <fs/vfs.h>

/*
 * s_fs_info: what one file system may have, and has. Pages are those of file contents and of long links; the nodes of a
 * file's page tree (one for 512 pages) are not counted. Inodes are files, directories, and further names of a file.
 * Locks: a atomic; m written under mount_mutex (a remount), read anywhere.
 */
struct ramfs_usage {
	atomic64_t pages, inodes; /* [a] */
	u64 page_limit;		  /* [m] pages; USAGE_DEFAULT, USAGE_UNLIMITED */
	u64 inode_limit;	  /* [m] the same */
	struct iattr root;	  /* [I] the mode of the root; its user and group where the mount names them (valid) */
};
#define USAGE_DEFAULT	0	/* half of what memory has in pages, as tmpfs */
#define USAGE_UNLIMITED U64_MAX /* ramfs: what the machine has */

/* ramfs_usage.c. Any context, but options are read in thread context; ramfs_remount has mount_mutex. */
bool ramfs_charge_page(struct super_block *sb); /* false: -ENOSPC; the limit, or the kernel's reserve of free pages */
void ramfs_uncharge_pages(struct super_block *sb, u64 nr);
bool ramfs_charge_inode(struct super_block *sb); /* false: -ENOSPC */
void ramfs_uncharge_inode(struct super_block *sb);
/* The operations of the super block that concern sizes. */
int ramfs_statfs(const struct super_block *sb, struct statfs *to);
int ramfs_show_options(struct seq_file *m, struct super_block *sb);
int ramfs_init_usage(struct super_block *sb, const char *options); /* and `root`. 0, -EINVAL, -ENOMEM */
int ramfs_remount(struct super_block *sb, const char *options);	   /* 0, -EINVAL (or it has more already), -ENOMEM */
void ramfs_put_super(struct super_block *sb);

/*
 * Also for file systems whose tree is a ramfs: a new root with the operations for all that may be made in it. 0 or
 * -errno. Thread context, mount_mutex held.
 */
int ramfs_fill_super(struct super_block *sb, const char *options);

/* An empty file without a name, with one reference. ERR_PTR: -ENOSPC, -ENOMEM. Thread context. */
struct inode *ramfs_file_inode(struct super_block *sb, mode_t mode);

/*
 * ramfs_file.c. The seals of a regular file of ramfs, F_SEAL_* (memfd/ramfs_seals.c); a file that is not one of
 * memfd_create has F_SEAL_SEAL. NULL: the file is of another kind.
 */
u32 *ramfs_seals(const struct inode *inode);
extern const struct inode_operations ramfs_file_iops;
void ramfs_drop_range(struct inode *inode, unsigned long from, unsigned long to); /* [i_lock] pages from..to - 1 */
struct page *ramfs_find_page(struct inode *inode, unsigned long index);		  /* with a reference; NULL: a hole */
struct page *ramfs_new_page(struct inode *inode, unsigned long index);		  /* the same for a hole; ERR_PTR */
#define RAMFS_MAX_SIZE (1LL << 42) /* bytes: 30 bits of index, so the tree has at most 4 levels */

/* The contents of a regular file, i_private. Locks: l its lock; i i_lock of the inode writes, read without. */
struct ramfs_pages {
	spinlock_t lock;
	unsigned height;	  /* [l] levels of nodes; 0: `root` is page 0 itself */
	u32 seals;		  /* [i] F_SEAL_* */
	struct user_struct *user; /* [I] whose memfd it is, with a reference; NULL: a file of a tree, which stays */
	void *root;		  /* [l] */
};
int ramfs_init_file(struct inode *inode);  /* operations and an empty page tree. 0, -ENOMEM */
void ramfs_free_file(struct inode *inode); /* frees all pages; the file has no users any more */
