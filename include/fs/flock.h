/* Locks of flock(2) (kernel/fs/flock.c). */
#pragma once

struct file;

/* The last reference to this file is gone, and its inode has i_flock: so may the file. Thread context, a mutex. */
void flock_release(struct file *f);
