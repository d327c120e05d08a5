/* What mount_bind.c and mount_sharing.c share. [m]: mount_mutex is held. */
#pragma once

#include "../mount.h"

/*
 * mount_sharing.c: propagation types. mount_change_type takes flags of mount(2), one of MNT_TYPES among them; 0 or
 * -EINVAL. Thread context; takes mount_mutex.
 */
int mount_change_type(const struct path *at, unsigned long flags);
void mount_copy_type(struct mount *copy, const struct mount *of); /* [m] of a copy that is bound elsewhere */
/* [m] struct mount_part: it is in the tree, and gets a group, if its parent has one; it is not in the list any more. */
void mount_join_parent(struct mount *mnt);
void mount_leave_tree(struct mount *mnt);
void mount_show_sharing(struct seq_file *m, const struct mount *mnt);
