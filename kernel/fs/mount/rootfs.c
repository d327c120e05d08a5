/*
 * What the first program finds before anything is unpacked or mounted: /dev/console, and the same file open as
 * descriptors 0, 1 and 2.
 */
#include "../internal.h"

#include <fs/libfs.h>
#include <kernel/printk.h>

/* Make a name in `dir` by the file system's own operation, if it is not there. The dentry with a reference; ERR_PTR. */
static struct dentry *rootfs_make_node(struct dentry *dir, const char *name, mode_t mode, dev_t dev)
{
	struct inode *inode = dir->d_inode;
	unsigned len = strlen(name);
	struct dentry *d;
	int err;

	mutex_lock(&inode->i_lock);
	d = lookup_one(dir, name, len, name_hash(name, len));
	if (!IS_ERR(d) && !d->d_inode) {
		err = S_ISDIR(mode) ? inode->i_op->mkdir(inode, d, mode) : inode->i_op->mknod(inode, d, mode, dev);
		if (err) {
			dput(d);
			d = ERR_PTR(err);
		}
	}
	mutex_unlock(&inode->i_lock);
	return d;
}

/*
 * The device file is made before the initramfs is unpacked, so that a root without an initramfs has a console as
 * well. 0 or -errno. Boot, thread context.
 */
int rootfs_populate(struct dentry *root)
{
	struct dentry *dev = rootfs_make_node(root, "dev", S_IFDIR | 0755, 0), *console;

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	console = rootfs_make_node(dev, "console", S_IFCHR | 0600, MKDEV(5, 1));
	dput(dev);
	if (IS_ERR(console))
		return PTR_ERR(console);
	dput(console);
	return 0;
}

/*
 * A system without a console still starts, with a warning and without the three descriptors. Runs in the task that
 * becomes process 1, so every program inherits them.
 */
void console_on_rootfs(void)
{
	struct file *f = filp_open("/dev/console", O_RDWR, 0);

	if (IS_ERR(f)) {
		pr_err("Warning: unable to open an initial console: error %ld\n", PTR_ERR(f));
		return;
	}
	for (unsigned i = 0; i < 3; i++)
		if (fd_dup(f, 0, false) < 0)
			pr_err("console: no descriptor %u for the first program\n", i);
	fput(f);
}
