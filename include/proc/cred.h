/* The rights of a task: user and group ids, supplementary groups, and what all tasks of one user have in common. */
#pragma once

#include <lib/atomic.h>
#include <lib/list.h>
#include <lib/types.h>
#include <sched/task.h>

#define NGROUPS_MAX 65536

/*
 * Supplementary groups: immutable once a task has them, and shared by reference. The groups of another task are read
 * under RCU: that task may take a new list at any moment, and the old one is freed a grace period later.
 */
struct group_info {
	atomic_t count;
	struct rcu_head rcu;
	unsigned ngroups;
	gid_t gid[];
};
void put_groups(struct group_info *groups); /* NULL is fine */
static inline void get_groups(struct group_info *groups)
{
	if (groups)
		atomic_inc(&groups->count);
}

/* The ids of a task, to be changed all at once. */
struct cred_ids {
	u32 uid, euid, suid, fsuid; /* real, effective, saved, for files */
	u32 gid, egid, sgid, fsgid;
};
struct cred_ids current_ids(void);
/* Make these the ids of the current task. If its rights change, its memory is not dumpable any more. Thread context. */
void commit_ids(const struct cred_ids *new);

/* access(2) asks for the real user: from override_fsids() to revert_fsids() files are looked at with the real ids. */
struct fsids {
	u32 uid, gid;
	u64 effective; /* capabilities */
};
struct fsids override_fsids(void);
void revert_fsids(struct fsids old);

/*
 * What all tasks of one real user have together, which RLIMIT_NPROC and RLIMIT_SIGPENDING bound. It exists as long as
 * the user has a task or a queued signal. Locks: a atomic, h the lock of the hash, I immutable.
 */
struct user_struct {
	atomic_t refs;				     /* [a] */
	atomic_t processes;			     /* [a] tasks, zombies and threads included */
	atomic_t sigpending;			     /* [a] queued signals */
	atomic_t pipe_pages;			     /* [a] that its pipes may hold */
	atomic_t epoll_watches;			     /* [a] items of instances of epoll */
	atomic_t inotify_instances, inotify_watches; /* [a] */
	atomic_t file_locks;			     /* [a] and requests for some */
	atomic_t sent_files;			     /* [a] that lie in messages of sockets */
	atomic64_t memory;			     /* [a] bytes that user_charge_memory() has counted */
	atomic64_t shared_pages;		     /* [a] of memfds and shared mappings, mapped or not */
	unsigned long oom_pages;		     /* [oom_mutex] of its processes, when a victim was chosen last */
	u32 uid;				     /* [I] */
	struct hlist_node node;			     /* [h] */
	struct rcu_head rcu;
};
extern struct user_struct root_user; /* never goes */

/* The user of a task that may be changing it, with a reference. Any context but nmi. */
struct user_struct *get_task_user(struct task_struct *t);
void put_user_struct(struct user_struct *user); /* any context but nmi */
/*
 * The current task is about to get the real user `uid`: move its count there. When that user has too many tasks, the
 * task is marked PF_NPROC_EXCEEDED and the next exec fails, as on Linux, since programs do not expect setuid to fail.
 * 0, or -EAGAIN: no memory. Thread context, before the uid is written.
 */
int set_user(u32 uid);
/*
 * Count kernel memory that a user's programs have made, and that neither a process shows nor another limit bounds: what
 * is in sockets, events that nobody has read, long texts of /proc. False: the user has too much, or memory is nearly
 * full; nothing is counted then. Any context but nmi.
 */
bool user_charge_memory(struct user_struct *user, size_t bytes);
void user_uncharge_memory(struct user_struct *user, size_t bytes);
/* The pages that a user has outside its processes, for the choice of a victim (kernel/mm/oom). Any context. */
unsigned long user_outside_pages(const struct user_struct *user);
/*
 * Has the user more tasks than the caller's limit, and is that a limit to the caller? CAP_SYS_RESOURCE and
 * CAP_SYS_ADMIN have no such limit.
 */
bool nproc_exceeded(const struct user_struct *user);
