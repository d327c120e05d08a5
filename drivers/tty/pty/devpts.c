/*
 * devpts: the directory of pseudo terminals, mounted on /dev/pts. A terminal has a node as long as its master is open.
 * The tree is a ramfs, as /dev is; there is one, which every mount shows. Terminals that are there before it is mounted
 * get their nodes then.
 */
#include "../../../kernel/fs/internal.h"
#include "../../../kernel/fs/ramfs/ramfs.h"
#include "../../../kernel/fs/dev/devfs.h"

#include <fs/devpts.h>
#include <fs/libfs.h>
#include <lib/bitmap.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <uapi/statfs.h>

#define DEVPTS_SUPER_MAGIC 0x1cd1
#define GID_TTY		   5 /* as Debian mounts it */

static DEFINE_MUTEX(devpts_mutex);    /* outside i_lock of the directory */
static struct super_block *devpts_sb; /* [devpts_mutex] NULL: not mounted yet */
static gid_t devpts_gid = GID_TTY;    /* [devpts_mutex] */
static mode_t devpts_mode = 0620;     /* [devpts_mutex] */
/* [devpts_mutex] Who has opened the master. */
static struct {
	bool used;
	uid_t uid;
} pts[DEVPTS_MAX];

static void name_of(unsigned index, char name[8])
{
	snprintf(name, 8, "%u", index);
}

/* [devpts_mutex] The node of a terminal, once devpts is mounted. What root has put there stays. 0 or -ENOMEM. */
static int devpts_make_node(unsigned index)
{
	char name[8];
	struct dentry *d;
	int err;

	if (!devpts_sb)
		return 0;
	name_of(index, name);
	err = devfs_make(devpts_sb->s_root, name, S_IFCHR | devpts_mode, MKDEV(DEVPTS_MAJOR, index), NULL);
	if (err)
		return err == -EEXIST ? 0 : err;
	d = d_find_child(devpts_sb->s_root, name, strlen(name));
	if (!d)
		return 0;
	d->d_inode->i_uid = pts[index].uid;
	d->d_inode->i_gid = devpts_gid;
	dput(d);
	return 0;
}

int devpts_add(unsigned index)
{
	int err;

	mutex_lock(&devpts_mutex);
	pts[index].uid = current->fsuid;
	err = devpts_make_node(index);
	pts[index].used = !err;
	mutex_unlock(&devpts_mutex);
	return err;
}

void devpts_remove(unsigned index)
{
	char name[8];

	name_of(index, name);
	mutex_lock(&devpts_mutex);
	pts[index].used = false;
	if (devpts_sb)
		devfs_remove(devpts_sb->s_root, name, MKDEV(DEVPTS_MAJOR, index));
	mutex_unlock(&devpts_mutex);
}

/* gid= and mode= of the nodes. 0 or -EINVAL. */
static int parse_option(const char *option)
{
	unsigned v;

	if (!strncmp(option, "gid=", 4) && !kstrtouint(option + 4, 10, &v)) {
		devpts_gid = v;
		return 0;
	}
	if (!strncmp(option, "mode=", 5) && !kstrtouint(option + 5, 8, &v) && v <= 0777) {
		devpts_mode = v;
		return 0;
	}
	return -EINVAL;
}

static int parse_devpts_options(const char *options)
{
	char *copy = kstrdup(options, GFP_KERNEL), *rest = copy, *option;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (option = strsep(&rest, ",")))
		if (*option)
			err = parse_option(option);
	kfree(copy);
	return err;
}

/* Another mount with options, or a remount: they are for terminals that come from now on, as on Linux. */
static int devpts_remount(struct super_block *sb, const char *options)
{
	int err;

	mutex_lock(&devpts_mutex);
	err = parse_devpts_options(options);
	mutex_unlock(&devpts_mutex);
	return err;
}

static struct super_operations devpts_super_ops; /* [immutable after the first mount] ramfs's, but for the options */

/*
 * The first mount makes the tree, and with it the nodes of terminals that are there already: one that cannot be made is
 * lacking, and its terminal works all the same. 0 or -errno.
 */
static int devpts_fill_super(struct super_block *sb, const char *options)
{
	int err;

	mutex_lock(&devpts_mutex);
	err = parse_devpts_options(options);
	if (!err)
		err = ramfs_fill_super(sb, "");
	if (!err) {
		devpts_super_ops = *sb->s_op;
		devpts_super_ops.remount = devpts_remount;
		sb->s_op = &devpts_super_ops;
		sb->s_magic = DEVPTS_SUPER_MAGIC;
		sb->s_root->d_inode->i_mode = S_IFDIR | 0755;
		devpts_sb = sb;
		for (unsigned i = 0; i < DEVPTS_MAX; i++)
			if (pts[i].used)
				devpts_make_node(i);
	}
	mutex_unlock(&devpts_mutex);
	return err;
}

static const struct file_system_type devpts_type = {
	.name = "devpts", .single = true, .nodev = true, .fill_super = devpts_fill_super};
REGISTER_FILESYSTEM(devpts_type);
