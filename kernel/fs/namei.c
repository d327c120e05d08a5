/*
 * Path walk: from a name to a dentry, component by component, through mounts and symbolic links.
 *
 * The walk holds dcache_lock from its first step to its last and takes no references on the way: while the lock is
 * held, nothing that the walk stands on can go away. Only a step that must sleep (a name that is not cached, a link)
 * takes references to where it stands, releases the lock, and goes on after it has taken it again (walk_unlock). The
 * usual walk of cached names therefore costs one lock, and takes references only at its end.
 *
 * A symbolic link is not followed by recursion: its text is put in front of what is left to walk, and MAX_LINKS bounds
 * the loop. Links that lead to an object and not to a path (/proc/<pid>/fd) jump there.
 *
 * struct nameidata in internal.h is the state of a walk:
 *
 *     "/proc/self/fd"      name  what is left: "self/fd"
 *           ^              last  the component that is looked at: "self", 4 bytes, its hash
 *           |              path  where the walk stands: (mount of proc, its root)
 *
 * The usual calls, for a path whose last component exists:
 *
 *     filename_lookup -> path_init            the lock; the root, the working directory or a descriptor
 *                        walk_to_end
 *                          link_path_walk     all components but the last: scan_component, walk_component
 *                          walk_last          the last one; then step_into, onto a mount if one is there
 *                        path_get             the only references
 *                        path_finish          the lock is released
 *
 * Functions marked [dcache_lock] need it held and return with it held.
 */
#include "files.h"

#include <asm/uaccess.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/slab.h>

#define MAX_LINKS 40 /* symbolic links in one walk, as Linux */

/*
 * Nearly all paths fit into the structure, so most calls allocate no page. Only a path that fills the structure to
 * its end may go on, and is then copied a second time, into a page.
 */
int getname(struct filename *f, const char __user *path, bool empty_ok)
{
	long len = strncpy_from_user(f->iname, path, sizeof(f->iname));

	f->page = NULL;
	f->name = f->iname;
	if (unlikely(len == sizeof(f->iname))) {
		f->page = get_free_page(GFP_KERNEL);
		if (!f->page)
			return -ENOMEM;
		f->name = f->page;
		len = strncpy_from_user(f->page, path, PATH_MAX);
		if (len == PATH_MAX)
			len = -ENAMETOOLONG;
	}
	if (len == 0 && !empty_ok)
		len = -ENOENT;
	if (len < 0)
		putname(f);
	return len < 0 ? len : 0;
}

/* [dcache_lock] The caller's working directory. */
static inline struct path current_cwd(void)
{
	struct fs_struct *fs = current->fs;
	struct path p;

	if (atomic_read(&fs->users) == 1)
		return fs->pwd;
	spin_lock(&fs->lock);
	p = fs->pwd;
	spin_unlock(&fs->lock);
	return p;
}

/*
 * Start at openat(2)'s directory. Its references go to nd->base, since the descriptor may be closed by another thread.
 * Files without a mount (pipes) are no directories, but an empty name means such a file itself.
 */
static int init_from_fd(struct nameidata *nd, unsigned dfd)
{
	struct fd f = fdget_raw(dfd);

	if (!f.file)
		return -EBADF;
	if (!f.file->f_mnt && *nd->name) {
		fdput(f);
		return -ENOTDIR;
	}
	nd->base = file_path(f.file);
	path_get(&nd->base);
	fdput(f);
	spin_lock(&dcache_lock);
	nd->path = nd->base;
	return 0;
}

/*
 * Returns with the lock held, because nd->path has no references: the root and the working directory could be exchanged
 * otherwise.
 */
int path_init(struct nameidata *nd, int dfd, const char *name)
{
	nd->base = (struct path){NULL, NULL};
	nd->held = NULL;
	nd->buf = NULL;
	nd->links = 0;
	nd->name = name;
	nd->trailing = false;
	nd->resolve = 0;
	if (*name != '/' && dfd != AT_FDCWD)
		return init_from_fd(nd, dfd);
	spin_lock(&dcache_lock);
	nd->path = *name == '/' ? current_root() : current_cwd();
	return 0;
}

/*
 * The new references are taken before the lock is released, so the place cannot go away in between. The old ones are
 * dropped afterwards, because dput() may sleep; that of the mount last, since the file system may go with it.
 */
void walk_unlock(struct nameidata *nd)
{
	struct path old = nd->base;
	struct dentry *old_held = nd->held;

	nd->base = nd->path;
	nd->held = NULL;
	path_get(&nd->base);
	spin_unlock(&dcache_lock);
	dput(old_held);
	path_put(&old);
}

/* The last component of a name (nd->last) may lie in this page, so it is freed when the caller is done with that. */
void path_free_names(struct nameidata *nd)
{
	if (unlikely(nd->buf))
		free_page(nd->buf);
	nd->buf = NULL;
}

/*
 * Drop the references of a walk that had to release the lock on its way, that of the mount last: the file system of a
 * dentry may go with it. No lock is held.
 */
static void drop_references(struct nameidata *nd)
{
	if (nd->held)
		dput(nd->held);
	if (nd->base.dentry)
		path_put(&nd->base);
	if (unlikely(nd->resolve & RESOLVE_SCOPED))
		path_put(&nd->scope);
}

/* The caller has taken its own references by now. */
void path_finish(struct nameidata *nd)
{
	spin_unlock(&dcache_lock);
	drop_references(nd);
	path_free_names(nd);
}

/* [dcache_lock] Is it known without waiting that a cached name is still true? */
static bool still_valid(struct dentry *d)
{
	if (d->d_op && d->d_op->d_revalidate_wait)
		return false;
	return !d->d_op || !d->d_op->d_revalidate || d->d_op->d_revalidate(d);
}

/*
 * [i_lock of dir, a reference to d] The cached name was not known to be true: ask a file system that has to wait for
 * the answer. What is mounted on a name keeps it, or it could not be unmounted. 1: true; 0: not; or -errno.
 */
static int ask_if_valid(struct inode *dir, struct dentry *d)
{
	if (!d->d_op || !d->d_op->d_revalidate_wait)
		return 0;
	return d->d_mounted ? 1 : d->d_op->d_revalidate_wait(dir, d);
}

/*
 * Asks the cache, and then the file system. A cached name that is no longer true goes; those who use the object keep
 * it. i_lock of the directory keeps two tasks from making two dentries for one name. In a directory that was removed no
 * name may come into being, not even a negative one, which would hold it.
 */
struct dentry *lookup_one(struct dentry *parent, const char *name, unsigned len, u32 hash)
{
	struct inode *dir = parent->d_inode;
	struct dentry *d;
	int valid, err;

	spin_lock(&dcache_lock);
	d = __d_lookup(parent, name, len, hash);
	valid = d && still_valid(d);
	if (d)
		__dget(d);
	spin_unlock(&dcache_lock);
	if (d && !valid)
		valid = ask_if_valid(dir, d);
	if (valid > 0)
		return d;
	if (d) {
		if (!valid)
			d_delete(d);
		dput(d);
	}
	if (valid < 0)
		return ERR_PTR(valid);
	if (!dir->i_op || !dir->i_op->lookup)
		return ERR_PTR(-ENOTDIR);
	if (!dir->i_nlink)
		return ERR_PTR(-ENOENT);
	d = d_alloc(parent, name, len);
	if (!d)
		return ERR_PTR(-ENOMEM);
	err = dir->i_op->lookup(dir, d);
	if (err && err != -ENOENT) {
		dput(d);
		return ERR_PTR(err);
	}
	return d;
}

/*
 * [dcache_lock, released meanwhile] The name is not in the cache: ask the file system. While the lock is released the
 * directory may be renamed or removed; the reference keeps it, and the walk goes on from where it was, as if it had
 * passed before. nd->held keeps the result until the walk has moved on.
 */
static noinline struct dentry *lookup_slow(struct nameidata *nd)
{
	struct dentry *dir, *d;

	if (unlikely(nd->resolve & RESOLVE_CACHED))
		return ERR_PTR(-EAGAIN);
	walk_unlock(nd);
	dir = nd->base.dentry;
	mutex_lock(&dir->d_inode->i_lock);
	d = lookup_one(dir, nd->last, nd->last_len, nd->last_hash);
	mutex_unlock(&dir->d_inode->i_lock);
	spin_lock(&dcache_lock);
	if (!IS_ERR(d))
		nd->held = d;
	return d;
}

/*
 * A negative dentry is the fast answer for a name that does not exist. One that is no longer true (d_revalidate) is
 * looked up again.
 */
struct dentry *walk_last(struct nameidata *nd)
{
	struct dentry *d = __d_lookup(nd->path.dentry, nd->last, nd->last_len, nd->last_hash);

	if (unlikely(!d || !still_valid(d))) {
		d = lookup_slow(nd);
		if (IS_ERR(d))
			return d;
	}
	return d->d_inode ? d : NULL;
}

/*
 * Build target + "/" + what is left to walk, in the page that holds the target or will hold it. -ENOENT for an empty
 * target, -ENAMETOOLONG.
 */
static int splice_link(struct nameidata *nd, char *page, const char *target)
{
	size_t len = strlen(target), rest = strlen(nd->name);
	bool slash = rest || nd->trailing;

	if (!len)
		return -ENOENT;
	if (len + slash + rest >= PATH_MAX)
		return -ENAMETOOLONG;
	if (target != page)
		memmove(page, target, len + 1);
	if (slash)
		page[len++] = '/';
	memcpy(page + len, nd->name, rest + 1);
	return 0;
}

/*
 * Put the text of a link in front of the rest. Thread context, no lock; a reference holds the link. The old page of the
 * walk can go only after the rest was copied out of it.
 */
static int expand_link(struct nameidata *nd, struct dentry *link)
{
	char *page = get_free_page(GFP_KERNEL);
	const char *target;
	int err;

	if (!page)
		return -ENOMEM;
	target = link->d_inode->i_op->get_link(link, link->d_inode, page);
	err = IS_ERR(target) ? PTR_ERR(target) : splice_link(nd, page, target);
	if (err) {
		free_page(page);
		return err;
	}
	free_page(nd->buf);
	nd->name = nd->buf = page;
	return 0;
}

/*
 * A reference keeps the link while the lock is released; it is dropped before that of its mount. Links can lead in
 * circles, so they are counted: -ELOOP. An absolute target starts again at the caller's root, any other one at the
 * directory that the link lies in. A link may also lead to an object (1): /proc/<pid>/fd/3 is the file, whatever its
 * name is now.
 */
noinline int follow_link(struct nameidata *nd, struct dentry *link)
{
	struct path to = {NULL, NULL};
	int err;

	if (++nd->links > MAX_LINKS)
		return -ELOOP;
	err = unlikely(nd->resolve) ? may_follow(nd, link) : 0;
	if (err)
		return err;
	__dget(link);
	walk_unlock(nd);
	if (link->d_inode->i_op->get_path)
		err = link->d_inode->i_op->get_path(link->d_inode, &to) ?: 1;
	else
		err = expand_link(nd, link);
	dput(link);
	if (err == 1) {
		path_put(&nd->base);
		nd->base = to;
	}
	spin_lock(&dcache_lock);
	if (!err && *nd->name == '/')
		to = walk_root(nd);
	else if (err != 1)
		return err;
	if (unlikely(nd->resolve & RESOLVE_NO_XDEV) && to.mnt != nd->path.mnt)
		return -EXDEV;
	nd->path = to;
	if (!err && unlikely(nd->resolve & RESOLVE_BENEATH))
		return -EXDEV;
	return err;
}

/*
 * Find the end of the component at `s`, its hash and its kind. nd->name is what follows it, and empty when it is the
 * last one.
 */
static int scan_component(struct nameidata *nd, const char *s)
{
	const char *p = s;
	u32 hash = 0;

	for (; *p && *p != '/'; p++)
		hash = name_hash_step(hash, *p);
	nd->last = s;
	nd->last_len = p - s;
	nd->last_hash = hash;
	nd->last_type = LAST_NORM;
	if (unlikely(*s == '.')) {
		if (nd->last_len == 1)
			nd->last_type = LAST_DOT;
		else if (nd->last_len == 2 && s[1] == '.')
			nd->last_type = LAST_DOTDOT;
	}
	nd->trailing = *p == '/';
	while (*p == '/')
		p++;
	nd->name = p;
	return nd->last_len > NAME_MAX ? -ENAMETOOLONG : 0;
}

/*
 * [dcache_lock] Walk one component that is not the last: "." changes nothing, ".." needs no look-up, a link is put in
 * front of the rest, and anything else is stepped into. Whether that is a directory is asked when the next component is
 * looked at. 0 or -errno.
 */
static int walk_component(struct nameidata *nd)
{
	struct dentry *d;
	int err;

	if (unlikely(nd->last_type != LAST_NORM)) {
		return nd->last_type == LAST_DOTDOT ? walk_dotdot(nd) : 0;
	}
	d = walk_last(nd);
	if (unlikely(!d))
		return -ENOENT;
	if (IS_ERR(d))
		return PTR_ERR(d);
	if (S_ISLNK(d->d_inode->i_mode)) {
		err = follow_link(nd, d);
		return err < 0 ? err : 0;
	}
	return step_within(nd, d);
}

/*
 * Stops in front of the last component, which its callers treat differently (open, create, remove). A directory must
 * give the right to search it (MAY_EXEC) before a name in it is looked at.
 *
 * A name that ends here without a component ("/", or a link whose text was "/") is LAST_ROOT. Each round begins with
 * the directory that the walk stands on, since a link may have led anywhere.
 */
noinline int link_path_walk(struct nameidata *nd)
{
	const char *s = nd->name;
	int err;

	for (;;) {
		struct inode *dir = nd->path.dentry->d_inode;

		while (*s == '/')
			s++;
		if (unlikely(!*s)) {
			nd->last_type = LAST_ROOT;
			nd->trailing = s != nd->name;
			nd->name = s;
			return 0;
		}
		if (unlikely(!S_ISDIR(dir->i_mode)))
			return -ENOTDIR;
		err = inode_permission(dir, MAY_EXEC);
		if (!err)
			err = scan_component(nd, s);
		if (err || !*nd->name)
			return err;
		err = walk_component(nd);
		if (unlikely(err))
			return err;
		s = nd->name;
	}
}

/*
 * [dcache_lock] Walk the whole of a name that must exist. A link at the end is followed if the caller wants that, or if
 * slashes follow it. 0 or -errno.
 */
static int walk_to_end(struct nameidata *nd, unsigned flags)
{
	struct dentry *d;
	int err;

	for (;;) {
		err = link_path_walk(nd);
		if (err)
			return err;
		if (nd->last_type != LAST_NORM) {
			if (nd->last_type == LAST_DOTDOT)
				err = walk_dotdot(nd);
			if (err)
				return err;
			break;
		}
		d = walk_last(nd);
		if (!d)
			return -ENOENT;
		if (IS_ERR(d))
			return PTR_ERR(d);
		if (!S_ISLNK(d->d_inode->i_mode) || !((flags & LOOKUP_FOLLOW) || nd->trailing)) {
			step_into(nd, d);
			break;
		}
		err = follow_link(nd, d);
		if (err < 0)
			return err;
		if (err)
			break;
	}
	if (((flags & LOOKUP_DIRECTORY) || nd->trailing) && !S_ISDIR(nd->path.dentry->d_inode->i_mode))
		return -ENOTDIR;
	return 0;
}

/* The only references of a walk over cached names are the ones that are taken here, under the lock, for the caller. */
int filename_lookup(int dfd, const char *name, unsigned flags, struct path *out)
{
	struct nameidata nd;
	int err;

	if (!*name && !(flags & LOOKUP_EMPTY))
		return -ENOENT;
	err = path_init(&nd, dfd, name);
	if (err)
		return err;
	err = *name ? walk_to_end(&nd, flags) : 0;
	if (!err) {
		*out = nd.path;
		path_get(out);
	}
	path_finish(&nd);
	return err;
}

/* The parent must be a directory even when the last component was reached through a link. */
int path_parentat(struct nameidata *nd, int dfd, const char *name, struct path *parent)
{
	int err = path_init(nd, dfd, name);

	if (err)
		return err;
	err = link_path_walk(nd);
	if (!err && !S_ISDIR(nd->path.dentry->d_inode->i_mode))
		err = -ENOTDIR;
	if (!err) {
		*parent = nd->path;
		path_get(parent);
	}
	spin_unlock(&dcache_lock);
	drop_references(nd);
	if (err)
		path_free_names(nd);
	return err;
}

int kern_path_at(int dfd, const char *path, unsigned flags, struct path *out)
{
	return filename_lookup(dfd, path, flags, out);
}

/* The copy of the path lasts as long as the walk. */
int user_path_at(int dfd, const char __user *path, unsigned flags, struct path *out)
{
	struct filename f;
	int err = getname(&f, path, flags & LOOKUP_EMPTY);

	if (err)
		return err;
	err = filename_lookup(dfd, f.name, flags, out);
	putname(&f);
	return err;
}

/* For callers that have no use for the mount. */
struct dentry *path_lookup_at(int dfd, const char *path, unsigned flags)
{
	struct path p;
	int err = filename_lookup(dfd, path, flags, &p);

	if (err)
		return ERR_PTR(err);
	if (p.mnt)
		mntput(p.mnt);
	return p.dentry;
}
