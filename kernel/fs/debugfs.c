/* debugfs: an almost empty tree whose directory `tracing` shows tracefs, as on Linux. */
#include "internal.h"

#include <fs/libfs.h>
#include <uapi/statfs.h>

static int debugfs_fill_super(struct super_block *sb, const char *options)
{
	struct dentry *d;
	int err = simple_fill_super(sb, DEBUGFS_MAGIC, 0700, NULL);

	if (err)
		return err;
	d = simple_create_dir(sb->s_root, "tracing", 0755, NULL);
	return IS_ERR(d) ? PTR_ERR(d) : 0;
}

/* The first mount of debugfs brings tracefs with it; it stays where it is for later ones. */
static int debugfs_mounted(struct mount *mnt)
{
	struct dentry *dir = d_find_child(mnt->mnt_root, "tracing", 7);
	int err = 0;

	if (!dir)
		return -ENOENT;
	if (!dir->d_mounted)
		err = mount_inside(mnt, dir, "tracefs", "tracefs");
	dput(dir);
	return err;
}

static const struct file_system_type debugfs = {.name = "debugfs",
						.single = true,
						.nodev = true,
						.fill_super = debugfs_fill_super,
						.mounted = debugfs_mounted};
REGISTER_FILESYSTEM(debugfs);
