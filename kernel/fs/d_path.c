/*
 * From a dentry back to its name: d_path for /proc and for messages, and getcwd(2). The name is built from its end,
 * going up from the dentry to the caller's root; where a mount begins, the walk goes on at the place that it covers.
 * dcache_lock is held meanwhile, so no rename changes a name or a parent.
 */
#include "internal.h"

#include <asm/uaccess.h>
#include <kernel/export.h>
#include <lib/string.h>
#include <mm/page.h>
#include <proc/syscall.h>

/* Names are found from the last one to the first, so the text grows from the end of the buffer to its front. */
static bool prepend(char **end, char *buf, const char *text, unsigned len)
{
	if (*end - buf < (long)len)
		return false;
	*end -= len;
	memcpy(*end, text, len);
	return true;
}

/*
 * [dcache_lock] The names from `p` up to `root`, or to the very top when root does not lie above p; *reached tells
 * which. The root of a mount has no name of its own: the walk goes on at the place that it covers, which may be the
 * root that is looked for. A mount that has left the tree covers none, and is a top. Returns the start of the text, or
 * ERR_PTR(-ENAMETOOLONG).
 */
static char *prepend_path(struct path p, const struct path *root, char *end, char *buf, bool *reached)
{
	char *start = end;

	*reached = true;
	while (p.dentry != root->dentry || p.mnt != root->mnt) {
		if (p.dentry == p.mnt->mnt_root && p.mnt->mnt_at.dentry) {
			p = p.mnt->mnt_at;
			continue;
		}
		if (p.dentry == p.mnt->mnt_root || p.dentry == p.dentry->d_parent) {
			*reached = false;
			break;
		}
		if (!prepend(&end, buf, p.dentry->d_name.name, p.dentry->d_name.len) || !prepend(&end, buf, "/", 1))
			return ERR_PTR(-ENAMETOOLONG);
		p.dentry = p.dentry->d_parent;
	}
	if (end == start && !prepend(&end, buf, "/", 1))
		return ERR_PTR(-ENAMETOOLONG);
	return end;
}

/* [dcache_lock] The caller's root; the real root for kernel threads, which have no root of their own. */
static struct path root_for_names(void)
{
	struct path root = {root_mount, root_mount->mnt_root};
	struct fs_struct *fs = current->fs;

	if (!fs)
		return root;
	spin_lock(&fs->lock);
	if (fs->root.dentry)
		root = fs->root;
	spin_unlock(&fs->lock);
	return root;
}

/*
 * A file without a place in the tree has a name of its own making (d_dname). The mark " (deleted)" goes in first, since
 * it stands last. *reached: the caller's root lies above.
 */
static char *path_text(const struct path *path, char *buf, int len, bool *reached)
{
	struct path root;
	char *end = buf + len;

	if (path->dentry->d_op && path->dentry->d_op->d_dname)
		return path->dentry->d_op->d_dname(path->dentry, buf, len);
	if (len < 2)
		return ERR_PTR(-ENAMETOOLONG);
	*--end = '\0';
	spin_lock(&dcache_lock);
	root = root_for_names();
	if ((path->dentry->d_flags & DCACHE_UNLINKED) && !prepend(&end, buf, " (deleted)", 10))
		end = ERR_PTR(-ENAMETOOLONG);
	else
		end = prepend_path(*path, &root, end, buf, reached);
	spin_unlock(&dcache_lock);
	return end;
}

/* A path that the caller's root does not lie above begins at the very top. */
char *d_path(const struct path *path, char *buf, int len)
{
	bool reached;

	return path_text(path, buf, len, &reached);
}
EXPORT_SYMBOL(d_path);

char *d_path_below_root(const struct path *path, char *buf, int len)
{
	bool reached = true;
	char *name = path_text(path, buf, len, &reached);

	return reached ? name : ERR_PTR(-ENOENT);
}

char *d_path_in_super(struct dentry *dentry, char *buf, int len)
{
	struct mount nowhere = {.mnt_root = dentry->d_sb->s_root};
	struct path p = {&nowhere, dentry}, root = {&nowhere, dentry->d_sb->s_root};
	char *end = buf + len;
	bool reached;

	*--end = '\0';
	spin_lock(&dcache_lock);
	end = prepend_path(p, &root, end, buf, &reached);
	spin_unlock(&dcache_lock);
	return end;
}

/*
 * Without a mount, the name leads to the root of the dentry's file system, and on from the place where that is mounted
 * first.
 */
char *dentry_path(struct dentry *dentry, char *buf, int len)
{
	struct path p = {mount_of(dentry->d_sb), dentry};
	char *name;

	if (dentry->d_op && dentry->d_op->d_dname)
		return dentry->d_op->d_dname(dentry, buf, len);
	if (!p.mnt)
		return ERR_PTR(-ENOENT);
	name = d_path(&p, buf, len);
	mntput(p.mnt);
	return name;
}

/*
 * The text is built in a page and copied to the user after dcache_lock is released, because the copy may fault. A
 * directory outside the caller's root is marked "(unreachable)", as on Linux.
 */
SYSCALL_DEFINE2(getcwd, char __user *, buf, unsigned long, size)
{
	char *page = get_free_page(GFP_KERNEL), *name;
	struct path pwd, root;
	bool reached = true;
	long err;

	if (!page)
		return -ENOMEM;
	page[PATH_MAX - 1] = '\0';
	spin_lock(&dcache_lock);
	spin_lock(&current->fs->lock);
	pwd = current->fs->pwd;
	root = current->fs->root;
	spin_unlock(&current->fs->lock);
	err = pwd.dentry->d_flags & DCACHE_UNLINKED ? -ENOENT : 0;
	name = prepend_path(pwd, &root, page + PATH_MAX - 1, page, &reached);
	spin_unlock(&dcache_lock);
	if (!err && IS_ERR(name))
		err = PTR_ERR(name);
	if (!err && !reached)
		err = prepend(&name, page, "(unreachable)", 13) ? 0 : -ENAMETOOLONG;
	if (!err) {
		err = page + PATH_MAX - name;
		if (err > size)
			err = -ERANGE;
		else if (copy_to_user(buf, name, err))
			err = -EFAULT;
	}
	free_page(page);
	return err;
}
