/*
 * debugfs: the files that other parts register with REGISTER_DEBUGFS, and the directory `tracing`, in which tracefs
 * appears as it does on Linux, where older tools look for it. The tree is built once, at the first mount; it never
 * changes.
 */
#include "../internal.h"

#include <fs/debugfs.h>
#include <fs/libfs.h>
#include <kernel/cmdline.h>
#include <lib/string.h>
#include <uapi/statfs.h>

DECLARE_TABLE(debugfs, const struct text_file);

/* debugfs= on the command line, as in Linux. [I] after boot */
static enum { DEBUGFS_ON, DEBUGFS_NO_MOUNT, DEBUGFS_OFF } debugfs_mode;

/* on; no-mount: modules may make files, and nobody sees them; off: modules may not. */
static int set_debugfs_mode(const char *value)
{
	static const char *const modes[] = {"on", "no-mount", "off"};

	for (unsigned i = 0; i < ARRAY_SIZE(modes); i++)
		if (!strcmp(value, modes[i])) {
			debugfs_mode = i;
			return 0;
		}
	return -EINVAL;
}
__setup("debugfs=", set_debugfs_mode);

static bool debugfs_hidden(void)
{
	return debugfs_mode != DEBUGFS_ON;
}

bool debugfs_takes_files(void)
{
	return debugfs_mode != DEBUGFS_OFF;
}

/* Build the tree. Thread context; 0 or -errno, and the caller drops a tree that is half built. */
static int debugfs_fill_super(struct super_block *sb, const char *options)
{
	static struct iattr given; /* [mount_mutex] */
	const struct text_file *e;
	struct dentry *d;
	int err = simple_fill_owned(sb, DEBUGFS_MAGIC, &given, options);

	if (err)
		return err;
	d = simple_create_dir(sb->s_root, "tracing", 0755, NULL);
	if (IS_ERR(d))
		return PTR_ERR(d);
	for_each_in_table(debugfs, e) {
		err = text_file_create(sb->s_root, e, 0700);
		if (err)
			return err;
	}
	return 0;
}

/* Each mount of debugfs brings its own mount of tracefs with it, at `tracing`. -ENOENT without that directory. */
static int debugfs_mounted(struct mount *mnt)
{
	struct dentry *dir = d_find_child(mnt->mnt_root, "tracing", 7);
	int err;

	if (!dir)
		return -ENOENT;
	err = mount_inside(mnt, dir, "tracefs", "tracefs");
	dput(dir);
	return err;
}

static const struct file_system_type debugfs = {.name = "debugfs",
						.single = true,
						.nodev = true,
						.hidden = debugfs_hidden,
						.fill_super = debugfs_fill_super,
						.mounted = debugfs_mounted};
REGISTER_FILESYSTEM(debugfs);
