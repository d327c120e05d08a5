/*
 * Propagation types of mounts: shared, slave, private, unbindable (mount --make-shared and its like).
 *
 * Shared mounts form groups of peers. A group has a number, which mountinfo shows as "shared:1"; a slave shows its
 * master's group as "master:1". A bind mount of a shared mount joins the group of that mount, and a mount in a shared
 * one gets a group of its own. An unbindable mount cannot be bound to another place.
 *
 * The types are kept and shown, because programs look for them: uftrace relies on the field "shared:N". Events of
 * mounts are not propagated: what is mounted below one peer does not appear below the others.
 */
#include "bind.h"

#include <fs/seq_file.h>

/* [mount_mutex] Does any mount of the tree belong to the group? */
static bool group_is_used(unsigned group)
{
	struct mount *mnt;

	list_for_each_entry(mnt, &all_mounts, mnt_list)
		if (mnt->mnt_group == group)
			return true;
	return false;
}

/* [mount_mutex] The smallest number that is free, as on Linux. */
static unsigned free_group(void)
{
	unsigned group = 1;

	while (group_is_used(group))
		group++;
	return group;
}

/* [mount_mutex] The mount leaves its group. Slaves of a group without members get the master of the last member. */
static void leave_group(struct mount *mnt)
{
	unsigned group = mnt->mnt_group;
	struct mount *slave;

	mnt->mnt_group = 0;
	if (!group || group_is_used(group))
		return;
	list_for_each_entry(slave, &all_mounts, mnt_list)
		if (slave->mnt_master == group)
			slave->mnt_master = mnt->mnt_master;
}

/* [mount_mutex] A slave's masters are its former peers. Without peers it keeps the master that it has, if any. */
static void set_type(struct mount *mnt, unsigned long type)
{
	unsigned group = mnt->mnt_group;

	if (type == MS_SHARED) {
		mnt->mnt_unbindable = false;
		if (!group)
			mnt->mnt_group = free_group();
		return;
	}
	leave_group(mnt);
	mnt->mnt_unbindable = type == MS_UNBINDABLE;
	if (type != MS_SLAVE)
		mnt->mnt_master = 0;
	else if (group && group_is_used(group))
		mnt->mnt_master = group;
}

/* The flags are those of mount(2): one type, with MS_REC for all mounts below, too. */
int mount_change_type(const struct path *at, unsigned long flags)
{
	unsigned long type = flags & ~(unsigned long)(MS_REC | MS_SILENT);
	struct mount *mnt;

	if (type & ~(unsigned long)MNT_TYPES || type & (type - 1) || at->dentry != at->mnt->mnt_root)
		return -EINVAL;
	mutex_lock(&mount_mutex);
	if (list_empty(&at->mnt->mnt_list)) {
		mutex_unlock(&mount_mutex);
		return -EINVAL; /* it has left the tree */
	}
	list_for_each_entry(mnt, &all_mounts, mnt_list)
		if (mnt == at->mnt || (flags & MS_REC && mount_is_below(mnt, at->mnt)))
			set_type(mnt, type);
	mutex_unlock(&mount_mutex);
	return 0;
}

void mount_copy_type(struct mount *copy, const struct mount *of)
{
	copy->mnt_group = of->mnt_group;
	copy->mnt_master = of->mnt_master;
}

void mount_join_parent(struct mount *mnt)
{
	if (mnt->mnt_at.mnt && mnt->mnt_at.mnt->mnt_group && !mnt->mnt_group)
		mnt->mnt_group = free_group();
}

void mount_leave_tree(struct mount *mnt)
{
	leave_group(mnt);
	mnt->mnt_master = 0;
}

void mount_show_sharing(struct seq_file *m, const struct mount *mnt)
{
	unsigned group = READ_ONCE(mnt->mnt_group), master = READ_ONCE(mnt->mnt_master);

	if (group)
		seq_printf(m, " shared:%u", group);
	if (master)
		seq_printf(m, " master:%u", master);
	if (READ_ONCE(mnt->mnt_unbindable))
		seq_puts(m, " unbindable");
}
