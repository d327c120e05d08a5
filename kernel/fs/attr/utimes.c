/*
 * Setting the times of a file: utimensat(2) and its older forms. All of them become a struct iattr for change_path() or
 * change_fd(). Times are nanoseconds since 1970 in 64 bits; earlier ones become 0.
 */
#include "../files.h"

#include <proc/syscall.h>
#include <time/ktime.h>
#include <uapi/time.h>

/*
 * Put one of utimensat's two times into `attr`; `which` is its ATTR_* bit. UTIME_OMIT leaves the time alone. 0 or
 * -EINVAL.
 */
static int take_time(struct iattr *attr, const struct timespec *t, unsigned which, u64 *ns)
{
	if (t->tv_nsec == UTIME_OMIT)
		return 0;
	attr->valid |= which;
	if (t->tv_nsec == UTIME_NOW)
		*ns = inode_now();
	else if (t->tv_nsec < 0 || t->tv_nsec >= NSEC_PER_SEC)
		return -EINVAL;
	else
		*ns = t->tv_sec < 0 ? 0 : ktime_set(t->tv_sec, t->tv_nsec);
	return 0;
}

/*
 * Both times; NULL means now. A caller who may write the file may set both to now (ATTR_TOUCH); only the owner may
 * choose a time. 0 or -EINVAL.
 */
static int utimes_attr(struct iattr *attr, const struct timespec *t)
{
	static const struct timespec now[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
	int err;

	*attr = (struct iattr){0};
	if (!t)
		t = now;
	if (t[0].tv_nsec == UTIME_NOW && t[1].tv_nsec == UTIME_NOW)
		attr->valid = ATTR_TOUCH;
	err = take_time(attr, &t[0], ATTR_ATIME, &attr->atime);
	return err ? err : take_time(attr, &t[1], ATTR_MTIME, &attr->mtime);
}

/* Without a name the descriptor itself is meant (futimens); without both, the name is a bad address. */
static long do_utimes(int dfd, const char __user *name, const struct timespec *times, int flags)
{
	struct iattr attr;
	int err;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	err = utimes_attr(&attr, times);
	if (err)
		return err;
	if (!name && dfd != AT_FDCWD)
		return flags ? -EINVAL : change_fd(dfd, &attr);
	return change_path(
		dfd, name,
		(flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) | (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0), &attr);
}

/* Two times that are both left alone end the call before its other arguments are looked at, as on Linux. */
SYSCALL_DEFINE4(utimensat, int, dfd, const char __user *, filename, struct timespec __user *, utimes, int, flags)
{
	struct timespec t[2];

	if (utimes && copy_from_user(t, utimes, sizeof(t)))
		return -EFAULT;
	if (utimes && t[0].tv_nsec == UTIME_OMIT && t[1].tv_nsec == UTIME_OMIT)
		return 0;
	return do_utimes(dfd, filename, utimes ? t : NULL, flags);
}

/*
 * The older calls have microseconds or seconds. Microseconds are checked before they become nanoseconds, because some
 * wrong values would then be UTIME_NOW or UTIME_OMIT.
 */
SYSCALL_DEFINE3(futimesat, int, dfd, const char __user *, filename, struct timeval __user *, utimes)
{
	struct timeval tv[2];
	struct timespec t[2];

	if (!utimes)
		return do_utimes(dfd, filename, NULL, 0);
	if (copy_from_user(tv, utimes, sizeof(tv)))
		return -EFAULT;
	for (int i = 0; i < 2; i++) {
		if (tv[i].tv_usec < 0 || tv[i].tv_usec >= NSEC_PER_SEC / NSEC_PER_USEC)
			return -EINVAL;
		t[i] = (struct timespec){tv[i].tv_sec, tv[i].tv_usec * NSEC_PER_USEC};
	}
	return do_utimes(dfd, filename, t, 0);
}

SYSCALL_DEFINE2(utimes, char __user *, filename, struct timeval __user *, utimes)
{
	return sys_futimesat(AT_FDCWD, (unsigned long)filename, (unsigned long)utimes);
}

/* utime(2)'s argument, in seconds. */
struct utimbuf {
	s64 actime, modtime;
};

SYSCALL_DEFINE2(utime, char __user *, filename, struct utimbuf __user *, times)
{
	struct utimbuf buf;

	if (!times)
		return do_utimes(AT_FDCWD, filename, NULL, 0);
	if (copy_from_user(&buf, times, sizeof(buf)))
		return -EFAULT;
	return do_utimes(AT_FDCWD, filename, (struct timespec[2]){{buf.actime, 0}, {buf.modtime, 0}}, 0);
}
