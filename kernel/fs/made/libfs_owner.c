/*
 * Mount options that set the owner of the files of a kernel-made tree: uid=, gid= and mode=, of tracefs and debugfs.
 * With gid= users of a group can trace without being root.
 *
 * A new file has the owner and the group of the directory that it is made in, so the root's are those of all that
 * comes later. An option reaches what is there already as well; a chown of one file afterwards is for that file.
 */
#include "../internal.h"

#include <fs/libfs.h>
#include <mm/slab.h>

/* One option. mode= is octal, of the root alone. 0; -EINVAL: a wrong number, or an option that is unknown. */
static int take_option(struct iattr *o, const char *option)
{
	unsigned v;

	if (!strncmp(option, "uid=", 4) && !kstrtouint(option + 4, 10, &v) && v != ~0u) {
		o->uid = v;
		o->valid |= ATTR_UID;
	} else if (!strncmp(option, "gid=", 4) && !kstrtouint(option + 4, 10, &v) && v != ~0u) {
		o->gid = v;
		o->valid |= ATTR_GID;
	} else if (!strncmp(option, "mode=", 5) && !kstrtouint(option + 5, 8, &v)) {
		o->mode = v & 07777;
		o->valid |= ATTR_MODE;
	} else {
		return -EINVAL;
	}
	return 0;
}

/*
 * dcache_lock keeps the tree from changing. A chown of one of its files holds i_lock and not this lock: the file then
 * has one of the two owners, as if the two changes had come one after the other.
 */
static void own_tree(struct super_block *sb, const struct iattr *o)
{
	spin_lock(&dcache_lock);
	for (struct dentry *d = sb->s_root; d; d = simple_next_in_tree(sb->s_root, d)) {
		if (o->valid & ATTR_UID)
			WRITE_ONCE(d->d_inode->i_uid, o->uid);
		if (o->valid & ATTR_GID)
			WRITE_ONCE(d->d_inode->i_gid, o->gid);
	}
	if (o->valid & ATTR_MODE)
		WRITE_ONCE(sb->s_root->d_inode->i_mode, S_IFDIR | o->mode);
	spin_unlock(&dcache_lock);
}

/* What was given before and is not named now stays as it was. */
static int owner_remount(struct super_block *sb, const char *options)
{
	struct iattr *given = sb->s_fs_info, new = *given;
	char *copy = kstrdup(options, GFP_KERNEL), *rest = copy, *option;
	int err = copy ? 0 : -ENOMEM;

	new.valid = 0;
	while (!err && (option = strsep(&rest, ",")))
		if (*option)
			err = take_option(&new, option);
	kfree(copy);
	if (err)
		return err;
	own_tree(sb, &new);
	new.valid |= given->valid;
	*given = new;
	return 0;
}

static int owner_show_options(struct seq_file *m, struct super_block *sb)
{
	const struct iattr *given = sb->s_fs_info;

	if (given->valid & ATTR_UID)
		seq_printf(m, ",uid=%u", given->uid);
	if (given->valid & ATTR_GID)
		seq_printf(m, ",gid=%u", given->gid);
	if (given->valid & ATTR_MODE)
		seq_printf(m, ",mode=%o", given->mode);
	return 0;
}

static const struct super_operations owner_super_ops = {
	.evict_inode = simple_evict,
	.show_options = owner_show_options,
	.remount = owner_remount,
};

int simple_fill_owned(struct super_block *sb, u32 magic, struct iattr *given, const char *options)
{
	int err;

	sb->s_op = &owner_super_ops;
	sb->s_fs_info = given;
	err = simple_fill_super(sb, magic, 0700, NULL);
	return err ?: owner_remount(sb, options);
}
