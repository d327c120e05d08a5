/*
 * Files whose content the kernel makes (<fs/text_file.h>): the file operations that all of them share, and their way
 * into a tree. An inode says which text it has (i_text) and whose text that is (i_private), so one set of operations
 * serves all.
 *
 *     echo 1 > file          text_file_write: copy the text, take the kind's lock, call store()
 *     cat file               seq_read: text_file_show takes the kind's lock and calls show()
 *
 * A kind (struct text_kind) is what several files have in common: the longest text, a lock, and what to do with a
 * refusal. The lock keeps show() and store() of such files from seeing half a change; files without one protect
 * themselves.
 */
#include "../internal.h"
#include "text_file_ops.h"

#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/cred.h>
#include <uapi/fcntl.h>

/* Texts of up to so many bytes are held on the stack; kinds with longer ones allocate memory for each write. */
#define SHORT_TEXT 256

/* The kind of files that name none. */
static const struct text_kind plain_text = {.max = SHORT_TEXT};

static const struct text_kind *kind_of(const struct text_file *t)
{
	return t->kind ? t->kind : &plain_text;
}

static void lock_text(const struct text_kind *kind)
{
	if (kind->lock)
		mutex_lock(kind->lock);
}

static void unlock_text(const struct text_kind *kind)
{
	if (kind->lock)
		mutex_unlock(kind->lock);
}

static int check_text(const struct text_kind *kind, const struct file *f)
{
	return kind->check ? kind->check(f) : 0;
}

/*
 * seq_file calls this to make the whole text at the first read. If the text does not fit, seq_file calls again with a
 * larger buffer, so `show` must not change anything.
 */
static int text_file_show(struct seq_file *m, void *v)
{
	const struct inode *inode = m->private;
	const struct text_kind *kind = kind_of(inode->i_text);
	int err;

	lock_text(kind);
	err = check_text(kind, m->file);
	if (!err)
		err = inode->i_text->show(m, inode->i_private);
	unlock_text(kind);
	return err;
}

/* What a shell's `>` does to a file that keeps something from one write to the next. */
static int truncate_text(const struct inode *inode, const struct file *f)
{
	const struct text_kind *kind = kind_of(inode->i_text);
	int err;

	lock_text(kind);
	err = check_text(kind, f);
	if (!err)
		kind->truncated(inode->i_text, inode->i_private);
	unlock_text(kind);
	return err;
}

int text_file_open(struct inode *inode, struct file *f)
{
	int err = 0;

	if ((f->f_mode & FMODE_WRITE) && (f->f_flags & O_TRUNC) && kind_of(inode->i_text)->truncated)
		err = truncate_text(inode, f);
	if (err)
		return err;
	return inode->i_text->show ? single_open(f, text_file_show, inode) : 0;
}

int text_file_release(struct inode *inode, struct file *f)
{
	return inode->i_text->show ? single_release(inode, f) : 0;
}

ssize_t text_file_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	return f->f_inode->i_text->show ? seq_read(f, buf, n, pos) : -EINVAL;
}

/*
 * Only root may change a setting of the kernel, and this is checked at each write, not only at the open: a descriptor
 * that was passed on, or is the standard output of a program with the set-user-id bit, must not loosen anything.
 */
static bool may_store(const struct text_file *t)
{
	return !current->euid || strncmp(t->path, "sys/", 4);
}

static int call_store(const struct text_file *t, char *text, void *data, const char **why)
{
	*why = NULL;
	if (!t->exact)
		text = strim(text);
	return t->store_why ? t->store_why(text, data, why) : t->store(text, data);
}

int text_file_store(const struct text_file *t, char *text, void *data, const char **why)
{
	int err;

	lock_text(kind_of(t));
	err = call_store(t, text, data, why);
	unlock_text(kind_of(t));
	return err;
}

/* The file was given `n` bytes of `buf` and has refused them. Returns err. */
static ssize_t explain_text(struct file *f, char *text, const char __user *buf, size_t n, const char *why, ssize_t err)
{
	const struct text_file *t = f->f_inode->i_text;

	if (copy_text_from_user(text, kind_of(t)->max, buf, n) < 0)
		return err;
	if (!t->exact)
		text = strim(text);
	else if (n && text[n - 1] == '\n')
		text[n - 1] = '\0';
	return kind_of(t)->refused(f, text, why, err);
}

/*
 * Fetch the text and hand it to the file. `text` has room for the kind's max bytes. When the file refuses the text, it
 * is fetched a second time to be explained, because `store` may have cut it into pieces. Returns n, because a written
 * text counts as a whole, or -errno. May sleep.
 */
static ssize_t store_text(struct file *f, char *text, const char __user *buf, size_t n)
{
	const struct inode *inode = f->f_inode;
	const struct text_kind *kind = kind_of(inode->i_text);
	ssize_t err = copy_text_from_user(text, kind->max, buf, n);
	const char *why = NULL;

	if (err < 0)
		return kind->refused ? kind->refused(f, "", "the text is longer than what the file takes", err) : err;
	lock_text(kind);
	err = check_text(kind, f);
	if (!err)
		err = call_store(inode->i_text, text, inode->i_private, &why);
	unlock_text(kind);
	if (!err)
		return n;
	return kind->refused ? explain_text(f, text, buf, n, why, err) : err;
}

/* The short texts of most files need no memory, so a setting can be changed even when there is none. */
ssize_t text_file_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	const struct text_file *t = f->f_inode->i_text;
	const struct text_kind *kind = kind_of(t);
	char on_stack[SHORT_TEXT], *text = on_stack;
	ssize_t ret;

	if (!t->store && !t->store_why)
		return kind->refused ? kind->refused(f, "", "the file is only read", -EINVAL) : -EINVAL;
	if (!may_store(t))
		return -EPERM;
	if (kind->max > sizeof(on_stack))
		text = kmalloc(kind->max, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	ret = store_text(f, text, buf, n);
	if (text != on_stack)
		kfree(text);
	return ret;
}

/* A setting of /proc/sys can be sought to its end, which is 0; the text of the others is made by reading it. */
loff_t text_file_llseek(struct file *f, loff_t off, int whence)
{
	const struct text_file *t = f->f_inode->i_text;

	return t->store && !t->kind ? default_llseek(f, off, whence) : seq_lseek(f, off, whence);
}

static const struct file_operations text_file_fops = {.open = text_file_open,
						      .release = text_file_release,
						      .read = text_file_read,
						      .write = text_file_write,
						      .llseek = text_file_llseek};

const struct file_operations *text_file_operations(const struct text_file *t)
{
	return t->fop ? t->fop : &text_file_fops;
}

/* The last part of the text's path is the name. simple_attach() reports a missing inode as -ENOMEM. */
struct dentry *text_file_attach(struct dentry *dir, const struct text_file *t, void *data)
{
	const char *slash = strrchr(t->path, '/');

	return text_file_attach_as(dir, slash ? slash + 1 : t->path, t->mode, t, data);
}

/* The file in `dir`, with its own operations or else these. The dentry, or ERR_PTR. Takes over data that it owns. */
static struct dentry *attach_with(struct dentry *dir, const char *name, mode_t mode, const struct text_file *t,
				  void *data, const struct file_operations *fop)
{
	struct inode *inode = new_inode(dir->d_sb, S_IFREG | mode);

	if (inode) {
		inode->i_fop = t->fop ? t->fop : fop;
		inode->i_text = t;
		inode->i_private = data;
	} else if (t->kind && t->kind->owns_data) {
		kfree(data);
	}
	return simple_attach(dir, name, inode);
}

struct dentry *text_file_attach_as(struct dentry *dir, const char *name, mode_t mode, const struct text_file *t,
				   void *data)
{
	return attach_with(dir, name, mode, t, data, &text_file_fops);
}

/*
 * Walk to the directory that holds the last name of `path`, making what is missing with this mode. *name: that last
 * name. Returns the directory with a reference, or ERR_PTR of -ENAMETOOLONG or -ENOMEM.
 */
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

/*
 * The directories of a path may have no registration of their own, so the order of registration does not
 * matter.
 */
int text_file_create_with(struct dentry *root, const struct text_file *t, mode_t dir_mode,
			  const struct file_operations *fop)
{
	const char *name = t->path;
	struct dentry *dir = make_dirs(root, t->path, dir_mode, &name), *d;

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	d = S_ISDIR(t->mode) ? simple_create_dir(dir, name, t->mode & 07777, NULL)
			     : attach_with(dir, name, t->mode, t, t->data, fop);
	dput(dir);
	return IS_ERR(d) ? PTR_ERR(d) : 0;
}

int text_file_create(struct dentry *root, const struct text_file *t, mode_t dir_mode)
{
	return text_file_create_with(root, t, dir_mode, &text_file_fops);
}

int text_file_create_in(struct dentry *root, const char *path, const struct text_file *t, void *data, mode_t dir_mode)
{
	const char *name = t->path;
	struct dentry *top = make_dirs(root, path, dir_mode, &path), *dir, *d;

	if (IS_ERR(top))
		return PTR_ERR(top);
	dir = make_dirs(top, name, dir_mode, &name);
	dput(top);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	d = text_file_attach_as(dir, name, t->mode, t, data);
	dput(dir);
	return IS_ERR(d) ? PTR_ERR(d) : 0;
}

/* ---- Numbers of /proc/sys */

int sysctl_number(const char *text, unsigned *v)
{
	char *end;
	u64 value = simple_strtoull(text, &end, 0);

	if (end == text || value > INT_MAX)
		return -EINVAL;
	while (isspace(*end))
		end++;
	*v = value;
	return *end ? -EINVAL : 0;
}

int sysctl_limit_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%u\n", READ_ONCE(*(unsigned *)data));
	return 0;
}

int sysctl_limit_store(char *text, void *data)
{
	unsigned max;
	int err = sysctl_number(text, &max);

	if (!err)
		WRITE_ONCE(*(unsigned *)data, max);
	return err;
}
