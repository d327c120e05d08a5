/*
 * flock(2): locks on whole files, by which programs that ask keep out of each other's way. A lock belongs to an open
 * file, not to a process: descriptors that were duplicated or inherited share it, and it goes with the last of them.
 *
 * The locks of a file are a list at its inode. One mutex guards all lists, and all tasks that wait are on one queue. A
 * task that is woken for another file's lock looks and sleeps again, which costs little: locks are rare and held long.
 */
#include "files.h"

#include <fs/flock.h>
#include <mm/slab.h>
#include <proc/syscall.h>
#include <sched/wait.h>

#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8

struct flock_entry {
	struct flock_entry *next;
	struct file *file;
	bool exclusive;
};

static DEFINE_MUTEX(flock_mutex);
static DECLARE_WAIT_QUEUE_HEAD(flock_wait);

/* Take this file's lock off the list, if it has one, for the caller to free. [flock_mutex] */
static struct flock_entry *take_off(struct file *f)
{
	struct flock_entry **link = &f->f_inode->i_flock, *e;

	while (*link && (*link)->file != f)
		link = &(*link)->next;
	e = *link;
	if (e)
		*link = e->next;
	return e;
}

static void flock_unlock(struct file *f)
{
	struct flock_entry *e;

	mutex_lock(&flock_mutex);
	e = take_off(f);
	mutex_unlock(&flock_mutex);
	if (!e)
		return;
	kfree(e);
	wake_up_all(&flock_wait);
}

void flock_release(struct file *f)
{
	flock_unlock(f);
}

/*
 * Put `new` in the list if no other file's lock forbids it. The file may have a lock here although lock() has given its
 * own up: another task with the same file was faster. A file has one lock at most, so that one goes.
 */
static bool try_lock(struct file *f, struct flock_entry *new)
{
	struct flock_entry *old = NULL;
	bool free = true;

	mutex_lock(&flock_mutex);
	for (const struct flock_entry *e = f->f_inode->i_flock; e && free; e = e->next)
		free = e->file == f || (!e->exclusive && !new->exclusive);
	if (free) {
		old = take_off(f);
		new->next = f->f_inode->i_flock;
		f->f_inode->i_flock = new;
	}
	mutex_unlock(&flock_mutex);
	if (old && old->exclusive)
		wake_up_all(&flock_wait);
	kfree(old);
	return free;
}

/*
 * A file that changes the kind of its lock first gives up the one that it has, as on Linux: another file may come in
 * between, and when the new kind cannot be had at once, LOCK_NB leaves the file without a lock.
 */
static int lock(struct file *f, bool exclusive, bool wait)
{
	struct flock_entry *new = kzalloc(sizeof(*new), GFP_KERNEL);
	int err = 0;

	if (!new)
		return -ENOMEM;
	new->file = f;
	new->exclusive = exclusive;
	flock_unlock(f);
	if (!try_lock(f, new))
		err = wait ? wait_event_interruptible(&flock_wait, try_lock(f, new)) : -EAGAIN;
	if (err)
		kfree(new);
	return err;
}

/* Does the file have a lock of this kind already? */
static bool has_lock(struct file *f, bool exclusive)
{
	const struct flock_entry *e;
	bool has = false;

	mutex_lock(&flock_mutex);
	for (e = f->f_inode->i_flock; e && !has; e = e->next)
		has = e->file == f && e->exclusive == exclusive;
	mutex_unlock(&flock_mutex);
	return has;
}

/* The rights with which the file was opened do not count. */
SYSCALL_DEFINE2(flock, unsigned int, fd, unsigned int, cmd)
{
	unsigned kind = cmd & ~LOCK_NB;
	struct file *f;
	int err = 0;

	if (kind != LOCK_SH && kind != LOCK_EX && kind != LOCK_UN)
		return -EINVAL;
	f = fget(fd);
	if (!f)
		return -EBADF;
	if (kind == LOCK_UN)
		flock_unlock(f);
	else if (!has_lock(f, kind == LOCK_EX))
		err = lock(f, kind == LOCK_EX, !(cmd & LOCK_NB));
	fput(f);
	return err;
}
