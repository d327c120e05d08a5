/*
 * The file system 9p: the folder of a server, as our VFS sees it. Each inode has a fid of its own, each open file
 * another one. Nothing is kept but what is in use: the server is asked at each step, so what others change there is
 * seen at once.
 */
#pragma once

#include "client.h"

#include <fs/vfs.h>

/* i_fs_info of an inode. Locks: I immutable; i the inode's i_lock; a atomic. */
struct v9fs_inode {
	struct p9_client *client; /* [I] */
	u32 fid;		  /* [I] never open */
	struct p9_qid qid;	  /* [I] */
	/*
	 * The open fid that the creation of the file has left, for the open(2) that has created it; 0: none. An open by
	 * name could fail where this one may write: the file may have been made read-only.
	 */
	u32 created;			/* [a] */
	struct task_struct *created_by; /* [I] compared only */
};

static inline struct v9fs_inode *v9fs_i(const struct inode *inode)
{
	return inode->i_fs_info;
}

/* ---- inode.c */

/* An inode for a fid, which it takes over, also when it fails. ERR_PTR. */
struct inode *v9fs_get_inode(struct super_block *sb, struct p9_client *c, u32 fid);
/* Ask the server for the attributes. 0, -ENOENT: the file has no name any more; or another -errno. */
int v9fs_refresh_inode(struct inode *inode);
void v9fs_evict_inode(struct inode *inode);
extern const struct inode_operations v9fs_dir_iops, v9fs_file_iops, v9fs_link_iops;
extern const struct dentry_operations v9fs_dentry_ops;

/* ---- file.c */
extern const struct file_operations v9fs_file_fops, v9fs_dir_fops;
