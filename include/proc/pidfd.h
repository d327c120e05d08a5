/* Processes that are known by their signal_struct, and as files (kernel/proc/pidfd.c). */
#pragma once

#include <lib/types.h>

struct file;
struct signal_struct;
struct task_struct;

/* The leader that the process has now, with a reference; NULL: it was waited for. Takes tasklist_lock; any context. */
struct task_struct *get_process_leader(struct signal_struct *sig);

/* A file for the process that this belongs to, which may be a new one. flags: O_NONBLOCK. ERR_PTR. Thread context. */
struct file *pidfd_file(struct signal_struct *sig, unsigned flags);

/* For CLONE_PIDFD: a file and its descriptor that nobody can have used yet. Thread context. */
struct reserved_pidfd {
	struct file *file; /* NULL: there is none */
	int fd;
};
/* The program gets the number at `to` already. 0 or -errno, with nothing held. */
int pidfd_reserve(struct signal_struct *sig, int __user *to, struct reserved_pidfd *r);
/* One of these follows; they do nothing where there is no file. */
void pidfd_install(const struct reserved_pidfd *r);
void pidfd_give_up(const struct reserved_pidfd *r);

/* The process that a file is about; NULL: it is another kind of file. The file keeps it. */
struct signal_struct *pidfd_signal(const struct file *f);
