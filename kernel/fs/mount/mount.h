/*
 * What mount.c and mount_bind.c share: the tree of mounts. [m]: mount_mutex is held; [d]: dcache_lock, too. A path that
 * is passed keeps its references, unless it says otherwise.
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
 * mount_bind.c. [m, d] Take a mount from its place, and put it to another one, whose references it takes over; not in
 * the list.
 */
void unhang(struct mount *mnt);
void hang_again(struct mount *mnt, const struct path *at);
void forget_places(struct mount *gone); /* [m] of mounts that have left the tree, a chain by mnt_next_here */
bool mount_is_below(const struct mount *mnt, const struct mount *top); /* [m] is it `top`, or inside of it? */

/*
 * mount_sharing.c: propagation types. mount_change_type takes flags of mount(2) for which mount_flags_are_type() holds;
 * 0, -EINVAL. Thread context; takes mount_mutex.
 */
int mount_change_type(const struct path *at, unsigned long flags);
bool mount_flags_are_type(unsigned long flags);
void mount_copy_type(struct mount *copy, const struct mount *of); /* [m] of a copy that is bound elsewhere */
void mount_join_parent(struct mount *mnt); /* [m] it is in the tree: a group, if its parent has one */
void mount_leave_tree(struct mount *mnt);  /* [m] it is not in the list any more */

/* mount_bind.c: MS_BIND (recursive: and MS_REC) and MS_MOVE. The references of `at` go to the mount when it is 0. */
int do_bind(const struct path *at, const char *source, bool recursive);
int do_move(const struct path *at, const char *source);
