/*
 * Record locks of fcntl(2): on some bytes of a file, for a process (F_SETLK) or for an open file (F_OFD_SETLK).
 *
 * "A process" is its table of files: threads share its locks, fork makes another owner that has none, and execve keeps
 * the table. A process loses its locks on a file with the first descriptor of that file that it closes, whichever it is
 * (filp_close). Programs have to live with that; locks of open files were invented because of it.
 */
#include "locks.h"

#include <fs/file_part.h>
#include <trace/events/filelock.h>
#include <uapi/fcntl.h>

/*
 * The bytes that `fl` names, as the first and the last one. A length below 0 means the bytes before l_start. -EINVAL:
 * they begin below 0, or there is no such l_whence; -EOVERFLOW: they end beyond what a number of type loff_t can tell.
 */
static int flock_range(struct file *f, const struct flock *fl, struct file_lock *lock)
{
	loff_t base = 0, start, len = fl->l_len;

	if (fl->l_whence == SEEK_CUR)
		base = READ_ONCE(f->f_pos);
	else if (fl->l_whence == SEEK_END)
		base = i_size_read(f->f_inode);
	else if (fl->l_whence != SEEK_SET)
		return -EINVAL;
	if (__builtin_add_overflow(base, (loff_t)fl->l_start, &start))
		return -EOVERFLOW;
	if (start < 0 || (len < 0 && start + len < 0))
		return -EINVAL;
	if (len > 0 && len - 1 > OFFSET_MAX - start)
		return -EOVERFLOW;
	lock->start = len < 0 ? start + len : start;
	lock->end = len < 0 ? start - 1 : len ? start + (len - 1) : OFFSET_MAX;
	return 0;
}

/* The request that `fl` stands for; wrong bytes are told before a wrong type. 0, -EINVAL, -EOVERFLOW. */
static int make_request(struct file *f, bool ofd, const struct flock *fl, struct file_lock *lock)
{
	int err;

	*lock = (struct file_lock){.file = f,
				   .owner = ofd ? (const void *)f : current->files,
				   .kind = ofd ? LOCK_OFD : LOCK_POSIX,
				   .type = fl->l_type};
	err = flock_range(f, fl, lock);
	if (err)
		return err;
	return fl->l_type != F_RDLCK && fl->l_type != F_WRLCK && fl->l_type != F_UNLCK ? -EINVAL : 0;
}

/*
 * F_GETLK: which lock would forbid this one? If there is no such lock, only the type is returned, as F_UNLCK. A request
 * with F_UNLCK is allowed for open files only, and returns a lock that the file itself has. 0, -EFAULT, -EINVAL,
 * -EOVERFLOW.
 */
static int fcntl_getlk(struct file *f, unsigned cmd, struct flock __user *arg)
{
	bool ofd = cmd == F_OFD_GETLK;
	struct file_lock request, found;
	struct flock fl;
	int err;

	if (copy_from_user(&fl, arg, sizeof(fl)))
		return -EFAULT;
	if (fl.l_type == F_UNLCK && !ofd)
		return -EINVAL;
	err = make_request(f, ofd, &fl, &request);
	if (!err && ofd && fl.l_pid)
		err = -EINVAL;
	if (err)
		return err;
	if (locks_find(&request, &found)) {
		fl.l_type = found.type;
		fl.l_whence = SEEK_SET;
		fl.l_start = found.start;
		fl.l_len = found.end == OFFSET_MAX ? 0 : found.end - found.start + 1;
		fl.l_pid = found.kind == LOCK_OFD ? -1 : found.pid;
	} else {
		fl.l_type = F_UNLCK;
	}
	return copy_to_user(arg, &fl, sizeof(fl)) ? -EFAULT : 0;
}

/* Does the descriptor stand for this file still? */
static bool still_open(unsigned fd, const struct file *f)
{
	struct files_struct *files = current->files;
	bool same;

	spin_lock(&files->lock);
	same = files_lookup(files, fd) == f;
	spin_unlock(&files->lock);
	return same;
}

/*
 * Set the lock that `request` asks for. The file must be open for what the lock is about, else -EBADF.
 *
 * Another thread may close the descriptor while this one sets the lock. Close takes the descriptor out of the table and
 * then looks for locks; here the lock is set and then the table is looked at. The lock of the table orders the two: if
 * this look comes first, close sees the lock; if it comes second, it finds the descriptor gone and removes the lock.
 */
static int set_record_lock(unsigned fd, const struct flock *fl, const struct file_lock *request, bool wait)
{
	struct file *f = request->file;
	short type = request->type;
	int err;

	if ((type == F_RDLCK && !(f->f_mode & FMODE_READ)) || (type == F_WRLCK && !(f->f_mode & FMODE_WRITE)))
		return -EBADF;
	if (request->kind == LOCK_OFD && fl->l_pid)
		return -EINVAL;
	err = locks_set(request, wait);
	if (!err && request->kind == LOCK_POSIX && type != F_UNLCK && !still_open(fd, f)) {
		locks_remove_posix(f, current->files);
		err = -EBADF;
	}
	return err;
}

static int fcntl_setlk(unsigned fd, struct file *f, unsigned cmd, const struct flock __user *arg)
{
	bool ofd = cmd == F_OFD_SETLK || cmd == F_OFD_SETLKW, wait = cmd == F_SETLKW || cmd == F_OFD_SETLKW;
	struct file_lock request;
	struct flock fl;
	int err;

	if (copy_from_user(&fl, arg, sizeof(fl)))
		return -EFAULT;
	err = make_request(f, ofd, &fl, &request);
	if (!err)
		err = set_record_lock(fd, &fl, &request, wait);
	trace_fcntl_setlk(&request, locks_flags(&request, wait ? FL_SLEEP : 0), err);
	return err;
}

static long locks_fcntl(unsigned fd, struct file *f, unsigned cmd, unsigned long arg)
{
	switch (cmd) {
	case F_GETLK:
	case F_OFD_GETLK:
		return fcntl_getlk(f, cmd, (struct flock __user *)arg);
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		return fcntl_setlk(fd, f, cmd, (const struct flock __user *)arg);
	default:
		return FCNTL_UNKNOWN;
	}
}

static const struct file_part locks_part = {
	.release = locks_remove_file, .close = locks_remove_posix, .fcntl = locks_fcntl, .show = locks_show_fd};
REGISTER_FILE_PART(locks_part);
