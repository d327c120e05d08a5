/*
 * The tree of mounts: putting a mount into its place and taking it away, and ways through the tree. mount.c tells of
 * the life of a mount; <fs/vfs.h> of mnt_root, what it shows, and of mnt_at, where.
 */
#include "mount.h"

/* [mount_mutex, dcache_lock] Take a mount from its place, but not from its list; hang_again() puts it elsewhere. */
void unhang(struct mount *mnt)
{
	struct mount **link = &mnt->mnt_at.dentry->d_mounted;

	while (*link != mnt)
		link = &(*link)->mnt_next_here;
	*link = mnt->mnt_next_here;
}

void hang_again(struct mount *mnt, const struct path *at)
{
	mnt->mnt_at = *at;
	mnt->mnt_next_here = at->dentry->d_mounted;
	at->dentry->d_mounted = mnt;
}

/*
 * [mount_mutex] Mounts that have left the tree lead no longer up to the places where they were. If they did, a user of
 * one would still see the one around it, and keep its file system. No reference that goes here is the last one of a
 * mount: those around are in the tree still, or in this list.
 */
void forget_places(struct mount *gone)
{
	for (; gone; gone = gone->mnt_next_here) {
		struct path place = gone->mnt_at;

		spin_lock(&dcache_lock);
		gone->mnt_at = (struct path){NULL, NULL};
		spin_unlock(&dcache_lock);
		path_put(&place);
	}
}

unsigned mount_parent_id(const struct mount *mnt)
{
	unsigned id;

	spin_lock(&dcache_lock);
	id = mnt->mnt_at.mnt ? mnt->mnt_at.mnt->mnt_id : mnt->mnt_id;
	spin_unlock(&dcache_lock);
	return id;
}

/* [mount_mutex] Is it `top`, or inside of it at any depth? */
bool mount_is_below(const struct mount *mnt, const struct mount *top)
{
	while (mnt && mnt != top)
		mnt = mnt->mnt_at.mnt;
	return mnt;
}

/* Mounts are listed in mount order, so this is the one that was made first; not one that shows a part of it. */
struct mount *mount_of(struct super_block *sb)
{
	struct mount *mnt, *found = NULL;

	spin_lock(&dcache_lock);
	list_for_each_entry(mnt, &all_mounts, mnt_list)
		if (mnt->mnt_sb == sb && mnt->mnt_root == sb->s_root) {
			atomic_inc(&mnt->mnt_count);
			found = mnt;
			break;
		}
	spin_unlock(&dcache_lock);
	return found;
}

struct mount *nth_mount(unsigned n)
{
	struct mount *mnt, *found = NULL;

	spin_lock(&dcache_lock);
	list_for_each_entry(mnt, &all_mounts, mnt_list)
		if (!n--) {
			atomic_inc(&mnt->mnt_count);
			found = mnt;
			break;
		}
	spin_unlock(&dcache_lock);
	return found;
}

/* For mountinfo: " shared:1" and its like. */
void mount_show_type(struct seq_file *m, const struct mount *mnt)
{
	const struct mount_part *part;

	for_each_in_table(mount_parts, part)
		part->show(m, mnt);
}
