/* What the first program finds before anything is unpacked or mounted: /dev/console, and it open as 0, 1
 * and 2. */
#include "internal.h"

#include <fs/libfs.h>
#include <kernel/printk.h>

/* A name in `dir`, made by the file system's own operation. The new dentry with a reference; ERR_PTR. */
static struct dentry *make(struct dentry *dir, const char *name, mode_t mode, dev_t dev)
{
	struct inode *inode = dir->d_inode;
	unsigned len = strlen(name);
	struct dentry *d;
	int err;

	mutex_lock(&inode->i_lock);
	d = lookup_one(dir, name, len, name_hash(name, len));
	if (!IS_ERR(d) && !d->d_inode) {
		err = S_ISDIR(mode) ? inode->i_op->mkdir(inode, d, mode)
				    : inode->i_op->mknod(inode, d, mode, dev);
		if (err) {
			dput(d);
			d = ERR_PTR(err);
		}
	}
	mutex_unlock(&inode->i_lock);
	return d;
}

int rootfs_populate(struct dentry *root)
{
	struct dentry *dev = make(root, "dev", S_IFDIR | 0755, 0), *console;

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	console = make(dev, "console", S_IFCHR | 0600, MKDEV(5, 1));
	dput(dev);
	if (IS_ERR(console))
		return PTR_ERR(console);
	dput(console);
	return 0;
}

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
