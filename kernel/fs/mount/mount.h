/*
 * What the files of this room and bind/ share: the tree of mounts. [m]: mount_mutex is held; [d]: dcache_lock, too. A
 * path that is passed keeps its references, unless it says otherwise.
 */
#pragma once

#include "../internal.h"

#include <uapi/mount.h>

extern struct list_head all_mounts; /* [m, d for changes] parents before their children */

/* [m] A mount of `root` that is not in the tree yet; NULL when out of memory. */
struct mount *alloc_mount(struct super_block *sb, struct dentry *root, const char *source, unsigned flags);
/* [m, d] May the mount be put at this place? 0, -EINVAL, -EAGAIN, -EBUSY, -ENOENT; mount.c says when. */
int may_attach(const struct mount *mnt, const struct path *at, bool twice);
/* [m] Ask that, and put it there, at the end of the list. The references of `at` are the mount's when it returns 0. */
int attach_mount(struct mount *mnt, const struct path *at, bool twice);
/*
 * mount_tree.c. [m, d] Take a mount from its place, and put it to another one, whose references it takes over; not in
 * the list.
 */
void unhang(struct mount *mnt);
void hang_again(struct mount *mnt, const struct path *at);
void forget_places(struct mount *gone); /* [m] of mounts that have left the tree, a chain by mnt_next_here */
bool mount_is_below(const struct mount *mnt, const struct mount *top); /* [m] is it `top`, or inside of it? */

#define MNT_TYPES (MS_SHARED | MS_SLAVE | MS_PRIVATE | MS_UNBINDABLE) /* propagation types */

/* The room for bind mounts, moved mounts and propagation types, kernel/fs/mount/bind. Thread context. */
struct mount_part {
	/*
	 * mount(2) with MS_BIND, MS_MOVE or one of MNT_TYPES. The references of `at` are the part's when it returns 0;
	 * -EAGAIN: the caller must walk again.
	 */
	int (*mount)(const struct path *at, const char *source, unsigned long flags);
	void (*joined)(struct mount *mnt); /* [m] it has come into the tree */
	void (*left)(struct mount *mnt);   /* [m, d] it is not in the list any more */
	/* What mountinfo says of it, each word after a blank. */
	void (*show)(struct seq_file *m, const struct mount *mnt);
};
#define REGISTER_MOUNT_PART(part) REGISTER_IN(mount_parts, part)
DECLARE_TABLE(mount_parts, const struct mount_part);
