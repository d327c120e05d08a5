/* Locks on files: flock(2) and the record locks of fcntl(2) (kernel/fs/locks.c). Thread context; all take a mutex. */
#pragma once

struct file;
struct seq_file;

/*
 * A process closes a descriptor of this file, and the inode has locks: the record locks of its table of files, `owner`,
 * are gone, whichever descriptor they were set by.
 */
void locks_remove_posix(struct file *f, const void *owner);

/* The last reference to this file is gone, and its inode has locks: those that belong to the open file are gone. */
void locks_remove_file(struct file *f);

/* The text of /proc/locks. Always 0. */
int locks_show(struct seq_file *m, void *v);

/* In fdinfo: the locks that belong to this open file, or that the table of files `owner` has on its inode. */
void locks_show_fd(struct seq_file *m, const struct file *f, const void *owner);
