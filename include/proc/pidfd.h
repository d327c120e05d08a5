/*
 * Processes that are known by their signal_struct, and as files. The room kernel/proc/pidfd has these files; where it
 * is left out there are none, and CLONE_PIDFD is -EINVAL.
 */
#pragma once

#include <lib/types.h>

struct file;
struct signal_struct;
struct task_struct;

/*
 * The leader that the process has now, with a reference; NULL: it was waited for. Takes tasklist_lock; any context
 * (kernel/proc/pid.c).
 */
struct task_struct *get_process_leader(struct signal_struct *sig);

/* For CLONE_PIDFD: a file and its descriptor that nobody can have used yet. */
struct reserved_pidfd {
	struct file *file; /* NULL: there is none */
	int fd;
};

/* Thread context, no lock held. */
struct pidfd_ops {
	/*
	 * A file for the process that this belongs to, which may be a new one. The program gets the number at `to`
	 * already. 0 or -errno, with nothing held.
	 */
	int (*reserve)(struct signal_struct *sig, int __user *to, struct reserved_pidfd *r);
	/* The process that a file is about; NULL: it is another kind of file. The file keeps it. */
	struct signal_struct *(*process)(const struct file *f);
};
/* One room at most registers itself. */
#define REGISTER_PIDFD_OPS(ops) REGISTER_IN(pidfd_ops, ops)
DECLARE_TABLE(pidfd_ops, const struct pidfd_ops);

/* NULL: the room is left out. */
static inline const struct pidfd_ops *pidfd_ops(void)
{
	return &__start_ptrs_pidfd_ops[0] < &__stop_ptrs_pidfd_ops[0] ? __start_ptrs_pidfd_ops[0] : NULL;
}
