/*
 * Files whose content the kernel makes: the operations that all of them share, and their way into a tree. The struct
 * behind a file is its inode's i_private, so one set of operations serves all.
 */
#include "internal.h"

#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <lib/string.h>
#include <proc/cred.h>

static int text_file_show(struct seq_file *m, void *v)
{
	const struct text_file *t = m->private;

	return t->show(m, t->data);
}

/* A file without `show` can be opened for reading as well; the read is refused. */
static int text_file_open(struct inode *inode, struct file *f)
{
	const struct text_file *t = inode->i_private;

	return t->show ? single_open(f, text_file_show, (void *)t) : 0;
}

static int text_file_release(struct inode *inode, struct file *f)
{
	const struct text_file *t = inode->i_private;

	return t->show ? single_release(inode, f) : 0;
}

static ssize_t text_file_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	const struct text_file *t = f->f_inode->i_private;

	return t->show ? seq_read(f, buf, n, pos) : -EINVAL;
}

/*
 * A setting of the kernel is for root when it is written, not only when it is opened: a descriptor that was passed on,
 * or is the standard output of a program with the set-user-id bit, must not loosen anything.
 */
static bool may_store(const struct text_file *t)
{
	return !current->euid || strncmp(t->path, "sys/", 4);
}

static ssize_t text_file_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	const struct text_file *t = f->f_inode->i_private;
	char text[256];
	ssize_t len;
	int err;

	if (!may_store(t))
		return -EPERM;
	len = copy_text_from_user(text, sizeof(text), buf, n);
	err = len < 0 ? (int)len : t->store(strim(text), t->data);
	return err ? err : (ssize_t)n;
}

static const struct file_operations text_file_ro_fops = {
	.open = text_file_open, .release = text_file_release, .read = text_file_read, .llseek = seq_lseek};
static const struct file_operations text_file_rw_fops = {.open = text_file_open,
							 .release = text_file_release,
							 .read = text_file_read,
							 .write = text_file_write,
							 .llseek = default_llseek};

/* The directory that holds the last name of `path`, making what is missing; *name: that name. With a
 * reference. */
static struct dentry *make_dirs(struct dentry *root, const char *path, mode_t mode, const char **name)
{
	struct dentry *dir = dget(root);
	const char *slash;

	while ((slash = strchr(path, '/'))) {
		char part[32];
		struct dentry *next = d_find_child(dir, path, slash - path);

		if (!next && slash - path < sizeof(part)) {
			memcpy(part, path, slash - path);
			part[slash - path] = '\0';
			next = simple_create_dir(dir, part, mode, NULL);
			if (!IS_ERR(next))
				dget(next);
		}
		dput(dir);
		if (!next || IS_ERR(next))
			return next ? next : ERR_PTR(-ENAMETOOLONG);
		dir = next;
		path = slash + 1;
	}
	*name = path;
	return dir;
}

int text_file_create(struct dentry *root, const struct text_file *t, mode_t dir_mode)
{
	const struct file_operations *fop = t->fop ? t->fop : t->store ? &text_file_rw_fops : &text_file_ro_fops;
	const char *name = t->path;
	struct dentry *dir = make_dirs(root, t->path, dir_mode, &name), *d;

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	d = S_ISDIR(t->mode) ? simple_create_dir(dir, name, t->mode & 07777, NULL)
			     : simple_create_file(dir, name, t->mode, fop, (void *)t);
	dput(dir);
	return IS_ERR(d) ? PTR_ERR(d) : 0;
}
