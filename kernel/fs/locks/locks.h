/* What flock(2) and the record locks of fcntl(2) share: locks.c. Thread context. */
#pragma once

#include "../files.h"

#include <fs/seq_file.h>
#include <lib/list.h>

#define OFFSET_MAX S64_MAX /* the last byte that a file could have: "up to the end, wherever that is" */

enum lock_kind {
	LOCK_FLOCK, /* of an open file, on the whole inode; locks of flock(2) know nothing of the other two kinds */
	LOCK_POSIX, /* of a process, that is of its table of files, on some bytes */
	LOCK_OFD,   /* of an open file, on some bytes; conflicts with those of processes as well */
};

/*
 * A lock, or the request for one while it waits. Locks: m file_lock_mutex; I immutable once others can see it. The
 * inode lasts as long as the lock: a lock goes before the last descriptor that its owner has of that inode.
 */
struct file_lock {
	struct file_lock *next;	   /* [m] in its inode's list */
	struct list_head link;	   /* [m] in the list of all locks or of all requests that wait */
	struct file_lock *blocker; /* [m; a look without] lock or request that this one waits for; NULL: it may try */
	struct file *file;	   /* [I] by which it was set */
	const void *owner;	   /* [I] the open file, or the table of files */
	enum lock_kind kind;	   /* [I] */
	short type;		   /* [I] F_RDLCK, F_WRLCK; F_UNLCK in a request alone */
	pid_t pid;		   /* [I] of the process that has set it */
	struct user_struct *user;  /* [I] the user that it counts for; a reference */
	loff_t start, end;	   /* [m] first and last byte */
};

/*
 * Give the owner what is asked for: its locks on these bytes are replaced, cut or joined, so that in the end it has
 * one type or none on each byte. A lock of another owner that forbids it is waited for if `wait`.
 * 0, -EAGAIN, -EDEADLK (two processes would wait for each other), -ERESTARTSYS (a signal), -ENOLCK (no memory, or
 * the user has too many; for flock(2) it is -ENOMEM, as on Linux).
 */
int locks_set(const struct file_lock *request, bool wait);

/*
 * Is there a lock that forbids this one, or, for a request of type F_UNLCK, one of the owner itself? The first goes to
 * *out.
 */
bool locks_find(const struct file_lock *request, struct file_lock *out);

/* Does the owner have a lock of just this type on all of these bytes? Then that is recorded as a request granted. */
bool locks_has(const struct file_lock *request, bool wait);

/* flock(2): the file's lock goes, as another type is asked for. This cannot fail, and is no event by itself. */
void locks_give_up(const struct file_lock *request);

/* What events have as fl_flags of such a request. `more`: FL_SLEEP for one that waits, FL_CLOSE for a close, 0. */
unsigned locks_flags(const struct file_lock *l, unsigned more);

/* What the room does as a part of open files (fs/file_part.h). */
void locks_remove_posix(struct file *f, const void *owner);
void locks_remove_file(struct file *f);
void locks_show_fd(struct seq_file *m, const struct file *f, const void *owner);
