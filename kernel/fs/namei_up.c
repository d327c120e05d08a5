/*
 * The way up in a path walk, and the walks of openat2(2), which must not leave a directory or enter certain things
 * (RESOLVE_*). namei.c has the walk itself, and asks here at `..` and at links.
 */
#include "internal.h"

/* An absolute name begins at dfd, too, if that is the root meanwhile; the walk itself passes over the slashes. */
int path_init_resolve(struct nameidata *nd, int dfd, const char *name, unsigned resolve)
{
	int err;

	if (*name == '/' && resolve & RESOLVE_BENEATH)
		return -EXDEV;
	err = path_init(nd, dfd, *name == '/' && resolve & RESOLVE_IN_ROOT ? "." : name);
	if (err)
		return err;
	nd->name = name;
	nd->resolve = resolve;
	if (resolve & RESOLVE_SCOPED) {
		nd->scope = nd->path;
		path_get(&nd->scope);
	}
	return 0;
}

/*
 * [dcache_lock] Does the way up from p lead to the root? A rename may have moved the directory out of it while the lock
 * was released; then it would lead past the root.
 */
static bool is_below(struct path p, const struct path *root)
{
	for (;;) {
		if (p.dentry == root->dentry && p.mnt == root->mnt)
			return true;
		if (p.dentry != p.mnt->mnt_root)
			p.dentry = p.dentry->d_parent;
		else if (p.mnt->mnt_at.dentry)
			p = p.mnt->mnt_at;
		else
			return false;
	}
}

/*
 * From the root of a mount the way up leads to the place that it covers, and further up if that is a root as well. At
 * the caller's root ".." stays.
 */
int walk_dotdot(struct nameidata *nd)
{
	struct path root = walk_root(nd);
	struct path p = nd->path;

	if (unlikely(nd->resolve & RESOLVE_SCOPED)) {
		if (!is_below(p, &root))
			return -EAGAIN;
		if (nd->resolve & RESOLVE_BENEATH && p.dentry == root.dentry && p.mnt == root.mnt)
			return -EXDEV;
	}

	for (;;) {
		if (p.dentry == root.dentry && p.mnt == root.mnt)
			break;
		if (p.dentry != p.mnt->mnt_root) {
			p.dentry = p.dentry->d_parent;
			break;
		}
		if (!p.mnt->mnt_at.dentry)
			break;
		p = p.mnt->mnt_at;
	}
	if (unlikely(nd->resolve & RESOLVE_NO_XDEV) && p.mnt != nd->path.mnt)
		return -EXDEV;
	nd->path.mnt = p.mnt;
	return step_within(nd, p.dentry);
}

/* An object that a link leads to has no place that could lie beneath anything. */
int may_follow(const struct nameidata *nd, const struct dentry *link)
{
	bool magic = link->d_inode->i_op->get_path;

	if (nd->resolve & RESOLVE_NO_SYMLINKS || (magic && nd->resolve & RESOLVE_NO_MAGICLINKS))
		return -ELOOP;
	return magic && nd->resolve & RESOLVE_SCOPED ? -EXDEV : 0;
}
