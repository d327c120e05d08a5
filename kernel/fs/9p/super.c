/*
 * Mounting 9p: `mount -t 9p -o trans=virtio,version=9p2000.L TAG DIR`. The source is the tag of a channel, which a
 * driver has registered. One mount at a time shows a channel.
 */
#include "v9fs.h"

#include <fs/seq_file.h>
#include <kernel/printk.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <uapi/statfs.h>

#define MAX_TIMEOUT (24 * 60 * 60)
#define MAX_MSIZE   (1024 * 1024 + P9_IO_HEAD) /* what is sure to be allocated in one piece, if memory is there */

struct options {
	u32 msize;
	u32 timeout;	   /* seconds; 0: none */
	const char *aname; /* which of the server's folders; "" is the usual one */
};

/* Does the option have this name? Then what is behind its "=". */
static const char *value_of(const char *option, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(option, name, n) && option[n] == '=' ? option + n + 1 : NULL;
}

/* A decimal number of at most `most`. 0 or -EINVAL. */
static int take_number(const char *value, u64 most, u32 *to)
{
	char *end;
	u64 n = simple_strtoull(value, &end, 10);

	if (end == value || *end || n > most)
		return -EINVAL;
	*to = n;
	return 0;
}

/*
 * One option of a mount. trans, version and cache have one value each that is kept here; asking for another one is
 * refused, and so is an option that we do not have. 0 or -EINVAL.
 */
static int take_option(struct options *o, const char *option)
{
	const char *value = value_of(option, "msize");

	if (value)
		return take_number(value, MAX_MSIZE, &o->msize);
	value = value_of(option, "timeout");
	if (value)
		return take_number(value, MAX_TIMEOUT, &o->timeout);
	value = value_of(option, "aname");
	if (value) {
		o->aname = value;
		return 0;
	}
	if (!strcmp(option, "trans=virtio") || !strcmp(option, "version=9p2000.L") || !strcmp(option, "cache=none"))
		return 0;
	pr_err("9p: mount option '%s' is unknown (trans=virtio, version=9p2000.L, cache=none, "
	       "msize=, timeout=, aname=)\n",
	       option);
	return -EINVAL;
}

/* The list is cut into its options, in place. */
static int parse_options(struct options *o, char *list)
{
	int err = 0;

	while (!err && list) {
		char *option = strsep(&list, ",");

		if (*option)
			err = take_option(o, option);
	}
	return err;
}

static int v9fs_show_options(struct seq_file *m, struct super_block *sb)
{
	const struct p9_client *c = sb->s_fs_info;

	seq_printf(m, ",trans=virtio,version=9p2000.L,cache=none,msize=%u", c->msize);
	if (c->timeout != MAX_SCHEDULE_TIMEOUT)
		seq_printf(m, ",timeout=%ld", c->timeout / HZ);
	return 0;
}

/* After the root's inode has gone, which had the last fid. */
static void v9fs_put_super(struct super_block *sb)
{
	p9_client_destroy(sb->s_fs_info);
}

/* The server answers for the file system of the mounted folder, also where another one is mounted below it. */
static int v9fs_statfs(const struct super_block *sb, struct statfs *to)
{
	struct v9fs_inode *root = v9fs_i(sb->s_root->d_inode);
	u32 type, bsize, namelen;
	int err = p9_client_call(root->client, P9_TSTATFS, "d|ddqqqqqqd", root->fid, &type, &bsize, &to->f_blocks,
				 &to->f_bfree, &to->f_bavail, &to->f_files, &to->f_ffree, to->f_fsid, &namelen);

	if (err)
		return err;
	to->f_bsize = to->f_frsize = bsize;
	to->f_namelen = namelen;
	return 0;
}

static const struct super_operations v9fs_super_ops = {
	.evict_inode = v9fs_evict_inode,
	.show_options = v9fs_show_options,
	.put_super = v9fs_put_super,
	.statfs = v9fs_statfs,
};

/*
 * Begin the session, and make the root of what the server shows. After a failure the caller destroys the super block.
 */
static int v9fs_fill(struct super_block *sb, const struct options *o)
{
	long timeout = o->timeout ? (long)o->timeout * HZ : MAX_SCHEDULE_TIMEOUT;
	struct p9_client *c = p9_client_create(sb->s_source, o->msize, timeout);
	struct inode *root;
	struct p9_qid qid;
	u32 fid;
	int err;

	if (IS_ERR(c))
		return PTR_ERR(c);
	sb->s_fs_info = c;
	sb->s_op = &v9fs_super_ops;
	sb->s_magic = V9FS_MAGIC;
	err = p9_client_attach(c, "root", o->aname, &fid, &qid);
	if (err)
		return err;
	root = v9fs_get_inode(sb, c, fid);
	if (IS_ERR(root))
		return PTR_ERR(root);
	if (!S_ISDIR(root->i_mode)) {
		iput(root);
		return -ENOTDIR;
	}
	sb->s_root = d_make_root(sb, root);
	if (!sb->s_root)
		return -ENOMEM;
	sb->s_root->d_op = &v9fs_dentry_ops; /* and of all below it */
	return 0;
}

/* [mount_mutex] The server is asked while it is held; the wait can be killed. */
static int v9fs_fill_super(struct super_block *sb, const char *options)
{
	struct options o = {.msize = P9_MSIZE, .aname = ""};
	char *copy = kstrdup(options, GFP_KERNEL);
	int err = copy ? parse_options(&o, copy) : -ENOMEM;

	if (!err)
		err = v9fs_fill(sb, &o);
	kfree(copy);
	return err;
}

static const struct file_system_type v9fs_type = {.name = "9p", .nodev = true, .fill_super = v9fs_fill_super};
REGISTER_FILESYSTEM(v9fs_type);
