/*
 * inotify(7). An instance is an open file with a queue of events; a watch says that an instance wants to know of
 * certain events of one inode.
 *
 *     inode->i_watches --> watch --> watch      by inode: who wants to know what happens to this file
 *                            |         |
 *                         instance   instance   each has its watches in a list, by which a number is found
 *                            |
 *                          events               in order; read(2) takes them
 *
 * A watch holds its inode, so a file that is deleted stays until its end was told (IN_DELETE_SELF, IN_IGNORED). It does
 * not hold the mount, so a watch keeps nobody from unmounting; the file system's end removes it (IN_UNMOUNT), and waits
 * for those that other tasks are putting just then (s_watches). Where dentries go when nobody uses them (9p), the watch
 * holds the dentry, too: the next look-up would make another inode.
 *
 * Locks: inotify_mutex [m] guards watches and queues, all of them: an event is queued as a whole, and a rename's two
 * parts stand behind each other. It lies inside i_lock, and nothing is dropped under it that could end a file: what a
 * watch held is put when the mutex is released. The name of a file that is opened, written or closed is copied under
 * dcache_lock, so that a rename at the same moment shows the old name or the new one.
 */
#include "../internal.h"
#include "inotify_watch.h"

#include <fs/anon_inode.h>
#include <fs/fsnotify.h>
#include <fs/libfs.h>
#include <fs/poll.h>
#include <fs/seq_file.h>
#include <kernel/init.h>
#include <mm/slab.h>
#include <proc/cred.h>
#include <proc/syscall.h>
#include <sched/wait.h>
#include <uapi/termios.h>

static DEFINE_MUTEX(inotify_mutex);
static LIST_HEAD(groups);		     /* [m] all instances */
static u32 next_cookie;			     /* [m] */
static DECLARE_WAIT_QUEUE_HEAD(watches_put); /* the ends of file systems that wait for s_watches */

/* [m] Would it repeat what the last event in the queue says? A repetition is not queued, as on Linux. */
static bool is_repetition(const struct inotify_group *g, int wd, u32 mask, const char *name)
{
	const struct queued_event *last;

	if (list_empty(&g->events) || mask & IN_IGNORED)
		return false;
	last = list_last_entry(&g->events, struct queued_event, list);
	return last->event.wd == wd && last->event.mask == mask && !last->event.len == !name &&
	       (!name || !strcmp(last->name, name));
}

/* [m] */
static void append(struct inotify_group *g, struct queued_event *e)
{
	list_add_tail(&e->list, &g->events);
	g->nr_events++;
	g->bytes += sizeof(e->event) + e->event.len;
	wake_up_all(&g->wait);
}

/* It counts for the user whose instance it is, until it is read. NULL: no memory, or none for this user. */
static struct queued_event *alloc_event(struct inotify_group *g, u32 len)
{
	struct queued_event *e = kzalloc(sizeof(*e) + len, GFP_KERNEL | __GFP_NOWARN);

	if (!e || user_charge_memory(g->user, ksize(e)))
		return e;
	kfree(e);
	return NULL;
}

static void free_event(struct inotify_group *g, struct queued_event *e)
{
	user_uncharge_memory(g->user, ksize(e));
	kfree(e);
}

/* [m] When the queue is full, or memory is, its last event says that others were lost. */
static void queue_event(struct inotify_group *g, int wd, u32 mask, u32 cookie, const char *name)
{
	u32 len = name ? ALIGN(strlen(name) + 1, sizeof(struct inotify_event)) : 0;
	struct queued_event *e;

	if (is_repetition(g, wd, mask, name))
		return;
	e = g->nr_events < g->max_events ? alloc_event(g, len) : NULL;
	if (e) {
		e->event = (struct inotify_event){wd, mask, cookie, len};
		if (name)
			strscpy(e->name, name, len);
		append(g, e);
	} else if (!g->overflown) {
		g->overflown = true;
		g->overflow.event = (struct inotify_event){-1, IN_Q_OVERFLOW, 0, 0};
		append(g, &g->overflow);
	}
}

/* [m] Take a watch out of both lists, and tell. The caller puts it, by put_watches(), without the mutex. */
static void take_watch(struct inotify_watch *w, struct inotify_watch **gone)
{
	struct inotify_watch **link = &w->inode->i_watches;

	while (*link != w)
		link = &(*link)->next;
	WRITE_ONCE(*link, w->next);
	list_del(&w->in_group);
	queue_event(w->group, w->wd, IN_IGNORED, 0, NULL);
	atomic_dec(&w->group->user->inotify_watches);
	atomic_dec(&fsnotify_watches);
	w->next = *gone;
	*gone = w;
}

/* What the watches held may be the last reference, so no lock is held. The file system may go when it is put. */
static void put_watches(struct inotify_watch *gone)
{
	struct inotify_watch *next;

	for (; gone; gone = next) {
		struct super_block *sb = gone->inode->i_sb;

		next = gone->next;
		dput(gone->held);
		iput(gone->inode);
		kfree(gone);
		if (atomic_dec_and_test(&sb->s_watches))
			wake_up_all(&watches_put);
	}
}

/* [m] Tell the watches of an inode. `unlinked`: the name is of a file that has lost it. */
static void inotify_tell(struct inode *inode, u32 mask, u32 cookie, const char *name, bool unlinked,
			 struct inotify_watch **gone)
{
	struct inotify_watch *w, *next;

	for (w = inode->i_watches; w; w = next) {
		next = w->next;
		if (!(mask & (w->mask | IN_ALWAYS) & ~IN_ISDIR) || (unlinked && w->mask & IN_EXCL_UNLINK))
			continue;
		queue_event(w->group, w->wd, mask & (w->mask | IN_ALWAYS | IN_ISDIR), cookie, name);
		if (w->mask & IN_ONESHOT)
			take_watch(w, gone);
	}
}

/*
 * The directory is told first, with the name; a root has no name. Both are looked at without the mutex first: most
 * files are not watched. The parent is held, as a rename may drop it.
 */
static void inotify_dentry(struct dentry *d, u32 mask)
{
	struct dentry *parent = NULL;
	struct inotify_watch *gone = NULL;
	char name[NAME_MAX + 1];
	bool unlinked;

	if (S_ISDIR(d->d_inode->i_mode))
		mask |= IN_ISDIR;
	spin_lock(&dcache_lock);
	if (d->d_parent && d->d_parent != d && READ_ONCE(d->d_parent->d_inode->i_watches)) {
		parent = __dget(d->d_parent);
		strscpy(name, d->d_name.name, sizeof(name));
		unlinked = d->d_flags & DCACHE_UNLINKED;
	}
	spin_unlock(&dcache_lock);
	if (!parent && !READ_ONCE(d->d_inode->i_watches))
		return;
	mutex_lock(&inotify_mutex);
	if (parent)
		inotify_tell(parent->d_inode, mask, 0, name, unlinked, &gone);
	inotify_tell(d->d_inode, mask, 0, NULL, false, &gone);
	mutex_unlock(&inotify_mutex);
	put_watches(gone);
	dput(parent);
}

/* Events about the file itself say nothing of directories in two cases, as on Linux. */
static u32 self_mask(const struct inode *inode, u32 mask)
{
	return S_ISDIR(inode->i_mode) && !(mask & (IN_DELETE_SELF | IN_MOVE_SELF)) ? mask | IN_ISDIR : mask;
}

static void inotify_inode(struct inode *inode, u32 mask)
{
	struct inotify_watch *gone = NULL;

	mutex_lock(&inotify_mutex);
	inotify_tell(inode, self_mask(inode, mask), 0, NULL, false, &gone);
	mutex_unlock(&inotify_mutex);
	put_watches(gone);
}

static void inotify_name(struct inode *dir, const struct inode *what, const char *name, u32 mask)
{
	struct inotify_watch *gone = NULL;

	mutex_lock(&inotify_mutex);
	inotify_tell(dir, what && S_ISDIR(what->i_mode) ? mask | IN_ISDIR : mask, 0, name, false, &gone);
	mutex_unlock(&inotify_mutex);
	put_watches(gone);
}

/* One cookie for both parts, under one mutex, so that no other event of an instance stands between them. */
static void inotify_moved(struct inode *from, const char *old, struct inode *to, struct dentry *moved)
{
	u32 isdir = S_ISDIR(moved->d_inode->i_mode) ? IN_ISDIR : 0;
	struct inotify_watch *gone = NULL;

	mutex_lock(&inotify_mutex);
	next_cookie++;
	inotify_tell(from, IN_MOVED_FROM | isdir, next_cookie, old, false, &gone);
	inotify_tell(to, IN_MOVED_TO | isdir, next_cookie, moved->d_name.name, false, &gone);
	mutex_unlock(&inotify_mutex);
	put_watches(gone);
}

static void inotify_gone(struct inode *inode)
{
	struct inotify_watch *gone = NULL;

	mutex_lock(&inotify_mutex);
	inotify_tell(inode, IN_DELETE_SELF, 0, NULL, false, &gone);
	while (inode->i_watches)
		take_watch(inode->i_watches, &gone);
	mutex_unlock(&inotify_mutex);
	put_watches(gone);
}

/*
 * The watches are found by their instances: those of inodes would have to be looked for in the whole tree. One that
 * another task has taken out holds its inode still, and an inode must not outlive its super block.
 */
static void inotify_unmount(const struct super_block *sb)
{
	struct inotify_watch *w, *next, *gone = NULL;
	struct inotify_group *g;

	mutex_lock(&inotify_mutex);
	list_for_each_entry(g, &groups, all)
		list_for_each_entry_safe(w, next, &g->watches, in_group) {
			if (w->inode->i_sb != sb)
				continue;
			queue_event(w->group, w->wd, self_mask(w->inode, IN_UNMOUNT), 0, NULL);
			take_watch(w, &gone);
		}
	mutex_unlock(&inotify_mutex);
	put_watches(gone);
	wait_event(&watches_put, !atomic_read(&sb->s_watches));
}

static const struct fsnotify_ops inotify_ops = {
	.dentry = inotify_dentry,
	.inode = inotify_inode,
	.name = inotify_name,
	.moved = inotify_moved,
	.gone = inotify_gone,
	.unmount = inotify_unmount,
};

static int inotify_setup(void)
{
	fsnotify_ops = &inotify_ops;
	return 0;
}
fs_initcall(inotify_setup);

/*
 * [m] The next event if it fits into n bytes, off the queue; NULL: the queue is empty; ERR_PTR(-EINVAL): it does not.
 */
static struct queued_event *next_event(struct inotify_group *g, size_t n)
{
	struct queued_event *e;

	if (list_empty(&g->events))
		return NULL;
	e = list_first_entry(&g->events, struct queued_event, list);
	if (sizeof(e->event) + e->event.len > n)
		return ERR_PTR(-EINVAL);
	list_del(&e->list);
	g->nr_events--;
	g->bytes -= sizeof(e->event) + e->event.len;
	return e;
}

/* Copy one event out and free it: its bytes, or -EFAULT, and then it is lost, as on Linux. */
static ssize_t give_event(struct inotify_group *g, struct queued_event *e, char __user *buf)
{
	ssize_t n = sizeof(e->event) + e->event.len;

	if (copy_to_user(buf, &e->event, sizeof(e->event)) ||
	    copy_to_user(buf + sizeof(e->event), e->name, e->event.len))
		n = -EFAULT;
	if (e != &g->overflow) {
		free_event(g, e);
		return n;
	}
	mutex_lock(&inotify_mutex);
	g->overflown = false;
	mutex_unlock(&inotify_mutex);
	return n;
}

static bool has_events(struct inotify_group *g)
{
	return !list_empty(&g->events);
}

/* As many events as fit, at least one; a signal or O_NONBLOCK ends the wait for it. */
static ssize_t inotify_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	struct inotify_group *g = f->private_data;
	struct queued_event *e;
	ssize_t done = 0, got;

	for (;;) {
		mutex_lock(&inotify_mutex);
		e = next_event(g, n - done);
		mutex_unlock(&inotify_mutex);
		if (e && !IS_ERR(e)) {
			got = give_event(g, e, buf + done);
			if (got < 0)
				return done ? done : got;
			done += got;
			continue;
		}
		if (done)
			return done;
		if (e)
			return PTR_ERR(e);
		if (f->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(&g->wait, has_events(g)))
			return -ERESTARTSYS;
	}
}

static unsigned inotify_poll(struct file *f, struct poll_table *pt)
{
	struct inotify_group *g = f->private_data;

	poll_wait(f, &g->wait, pt);
	return has_events(g) ? POLLIN | POLLRDNORM : 0;
}

static long inotify_ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	struct inotify_group *g = f->private_data;

	return cmd == FIONREAD ? put_user((int)READ_ONCE(g->bytes), (int __user *)arg) : -ENOTTY;
}

/*
 * A line for each watch, the newest first, in Linux's format but for the file handle, which no file system here has:
 * number, inode, device, and the events with IN_ONESHOT and IN_EXCL_UNLINK, all hexadecimal.
 */
static void inotify_show_fdinfo(struct seq_file *m, const struct file *f)
{
	struct inotify_group *g = f->private_data;
	const struct inotify_watch *w;

	mutex_lock(&inotify_mutex);
	list_for_each_entry(w, &g->watches, in_group)
		seq_printf(m, "inotify wd:%x ino:%llx sdev:%llx mask:%x ignored_mask:0 \n", w->wd,
			   (unsigned long long)w->inode->i_ino, (unsigned long long)w->inode->i_sb->s_dev,
			   w->mask & (IN_ALL_EVENTS | IN_ONESHOT | IN_EXCL_UNLINK));
	mutex_unlock(&inotify_mutex);
}

/* The end of an instance. Its watches go without a word, and its events with it. */
static int inotify_release(struct inode *inode, struct file *f)
{
	struct inotify_group *g = f->private_data;
	struct inotify_watch *gone = NULL;
	struct queued_event *e, *next;

	mutex_lock(&inotify_mutex);
	list_del(&g->all);
	while (!list_empty(&g->watches))
		take_watch(list_first_entry(&g->watches, struct inotify_watch, in_group), &gone);
	mutex_unlock(&inotify_mutex);
	put_watches(gone);
	list_for_each_entry_safe(e, next, &g->events, list)
		if (e != &g->overflow)
			free_event(g, e);
	atomic_dec(&g->user->inotify_instances);
	put_user_struct(g->user);
	kfree(g);
	return 0;
}

static const struct file_operations inotify_fops = {
	.read = inotify_read,
	.poll = inotify_poll,
	.unlocked_ioctl = inotify_ioctl,
	.release = inotify_release,
	.show_fdinfo = inotify_show_fdinfo,
	.sigio = true,
};

/* A new instance that its user may have: ERR_PTR(-EMFILE, -ENOMEM). */
static struct inotify_group *new_group(void)
{
	struct inotify_group *g = kzalloc(sizeof(*g), GFP_KERNEL);

	if (!g)
		return ERR_PTR(-ENOMEM);
	g->user = get_task_user(current);
	if ((unsigned)atomic_inc_return(&g->user->inotify_instances) > READ_ONCE(inotify_max_instances)) {
		atomic_dec(&g->user->inotify_instances);
		put_user_struct(g->user);
		kfree(g);
		return ERR_PTR(-EMFILE);
	}
	g->max_events = READ_ONCE(inotify_max_events);
	INIT_LIST_HEAD(&g->events);
	INIT_LIST_HEAD(&g->watches);
	init_waitqueue_head(&g->wait);
	mutex_lock(&inotify_mutex);
	list_add_tail(&g->all, &groups);
	mutex_unlock(&inotify_mutex);
	return g;
}

/* O_CLOEXEC and O_NONBLOCK have the values of IN_CLOEXEC and IN_NONBLOCK. */
SYSCALL_DEFINE1(inotify_init1, int, flags)
{
	struct inotify_group *g;
	struct file *f;
	int fd;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	g = new_group();
	if (IS_ERR(g))
		return PTR_ERR(g);
	f = anon_inode_file("inotify", &inotify_fops, g, O_RDONLY | (flags & O_NONBLOCK));
	if (IS_ERR(f)) {
		inotify_release(NULL, &(struct file){.private_data = g});
		return PTR_ERR(f);
	}
	fd = get_unused_fd_flags(flags & O_CLOEXEC);
	if (fd < 0)
		fput(f);
	else
		fd_install(fd, f);
	return fd;
}

SYSCALL_DEFINE0(inotify_init)
{
	return sys_inotify_init1(0);
}

/* [m] The instance's watch of this inode, or NULL. */
static struct inotify_watch *find_watch(const struct inotify_group *g, const struct inode *inode)
{
	struct inotify_watch *w = inode->i_watches;

	while (w && w->group != g)
		w = w->next;
	return w;
}

/* Another mask for a watch that is there. The flags about the look-up are not kept. */
static int change_watch(struct inotify_watch *w, u32 mask)
{
	u32 keep = mask & (IN_ALL_EVENTS | IN_EXCL_UNLINK | IN_ONESHOT);

	if (mask & IN_MASK_CREATE)
		return -EEXIST;
	w->mask = mask & IN_MASK_ADD ? w->mask | keep : keep;
	return w->wd;
}

/*
 * [m] Put a new watch into both lists: its number. If the file has lost its last name meanwhile, its end is still told:
 * the caller's path holds the dentry, and the end is told when the dentry goes.
 */
static int insert_watch(struct inotify_group *g, struct inotify_watch *w, const struct path *path, u32 mask)
{
	struct inode *inode = path->dentry->d_inode;

	if ((unsigned)atomic_inc_return(&g->user->inotify_watches) > READ_ONCE(inotify_max_watches)) {
		atomic_dec(&g->user->inotify_watches);
		return -ENOSPC;
	}
	w->group = g;
	w->inode = inode;
	ihold(inode);
	atomic_inc(&inode->i_sb->s_watches);
	if (!(path->dentry->d_flags & DCACHE_PINNED) && !(path->dentry->d_flags & DCACHE_UNLINKED) && inode->i_nlink &&
	    path->dentry != path->dentry->d_parent)
		w->held = dget(path->dentry);
	w->wd = ++g->next_wd;
	w->mask = mask & (IN_ALL_EVENTS | IN_EXCL_UNLINK | IN_ONESHOT);
	atomic_inc(&fsnotify_watches);
	list_add(&w->in_group, &g->watches);
	w->next = inode->i_watches;
	WRITE_ONCE(inode->i_watches, w);
	return w->wd;
}

/* The watch of this path, new or changed: its number or -errno. */
static int watch_path(struct inotify_group *g, const struct path *path, u32 mask)
{
	struct inotify_watch *w, *new;
	int res = inode_permission(path->dentry->d_inode, MAY_READ);

	if (res)
		return res;
	new = kzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	mutex_lock(&inotify_mutex);
	w = find_watch(g, path->dentry->d_inode);
	res = w ? change_watch(w, mask) : insert_watch(g, new, path, mask);
	mutex_unlock(&inotify_mutex);
	if (w || res < 0)
		kfree(new);
	return res;
}

/* The instance behind a descriptor, with a reference to its file; -EBADF, or -EINVAL for another file. */
static struct file *inotify_fget(int fd)
{
	struct file *f = fget(fd);

	if (!f)
		return ERR_PTR(-EBADF);
	if (f->f_op == &inotify_fops)
		return f;
	fput(f);
	return ERR_PTR(-EINVAL);
}

/* The order of the checks is Linux's. */
SYSCALL_DEFINE3(inotify_add_watch, int, fd, const char __user *, pathname, u32, mask)
{
	unsigned how = (mask & IN_DONT_FOLLOW ? 0 : LOOKUP_FOLLOW) | (mask & IN_ONLYDIR ? LOOKUP_DIRECTORY : 0);
	struct path path;
	struct file *f;
	int res;

	if (mask & ~(IN_ALL_EVENTS | IN_FLAGS | IN_ALWAYS | IN_ISDIR) || !mask)
		return -EINVAL;
	f = inotify_fget(fd);
	if (f == ERR_PTR(-EBADF))
		return -EBADF;
	res = -EINVAL;
	if ((mask & (IN_MASK_ADD | IN_MASK_CREATE)) == (IN_MASK_ADD | IN_MASK_CREATE) || IS_ERR(f))
		goto put_file;
	res = user_path_at(AT_FDCWD, pathname, how, &path);
	if (res)
		goto put_file;
	res = watch_path(f->private_data, &path, mask);
	path_put(&path);
put_file:
	if (!IS_ERR(f))
		fput(f);
	return res;
}

/* What the watch has told stays in the queue, and IN_IGNORED comes behind it. */
SYSCALL_DEFINE2(inotify_rm_watch, int, fd, s32, wd)
{
	struct file *f = inotify_fget(fd);
	struct inotify_watch *w, *gone = NULL;
	struct inotify_group *g;

	if (IS_ERR(f))
		return PTR_ERR(f);
	g = f->private_data;
	mutex_lock(&inotify_mutex);
	list_for_each_entry(w, &g->watches, in_group)
		if (w->wd == wd) {
			take_watch(w, &gone);
			break;
		}
	mutex_unlock(&inotify_mutex);
	fput(f);
	if (!gone)
		return -EINVAL;
	put_watches(gone);
	return 0;
}
