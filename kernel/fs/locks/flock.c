/*
 * flock(2): locks on whole files. A lock belongs to an open file, not to a process: descriptors that were duplicated or
 * inherited share it, and it goes with the last of them. How locks are kept and waited for is told in locks.c.
 */
#include "locks.h"

#include <proc/syscall.h>
#include <uapi/fcntl.h>

#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8

/*
 * A file that changes the kind of its lock first gives up the one that it has, as on Linux: another file may come in
 * between, and when the new kind cannot be had at once, LOCK_NB leaves the file without a lock.
 */
static int do_flock(struct file *f, unsigned kind, bool wait)
{
	struct file_lock request = {.file = f, .owner = f, .kind = LOCK_FLOCK, .end = OFFSET_MAX};

	if (kind == LOCK_UN) {
		request.type = F_UNLCK;
		return locks_set(&request, wait); /* all bytes: this cannot fail */
	}
	request.type = kind == LOCK_EX ? F_WRLCK : F_RDLCK;
	if (locks_has(&request, wait))
		return 0;
	locks_give_up(&request);
	return locks_set(&request, wait);
}

/* The rights with which the file was opened do not count. */
SYSCALL_DEFINE2(flock, unsigned int, fd, unsigned int, cmd)
{
	unsigned kind = cmd & ~LOCK_NB;
	struct file *f;
	int err;

	if (kind != LOCK_SH && kind != LOCK_EX && kind != LOCK_UN)
		return -EINVAL;
	f = fget(fd);
	if (!f)
		return -EBADF;
	err = do_flock(f, kind, !(cmd & LOCK_NB));
	fput(f);
	return err;
}
