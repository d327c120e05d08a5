/*
 * What inotify.c is made of: instances, watches and events; and the flags of inotify_add_watch(2). Locks:
 * m inotify_mutex, I immutable.
 */
#pragma once

#include <fs/fsnotify.h>
#include <sched/wait.h>

#define IN_ALL_EVENTS  0x00000fffu
#define IN_ONLYDIR     0x01000000u
#define IN_DONT_FOLLOW 0x02000000u
#define IN_EXCL_UNLINK 0x04000000u
#define IN_MASK_CREATE 0x10000000u
#define IN_MASK_ADD    0x20000000u
#define IN_ONESHOT     0x80000000u
#define IN_FLAGS       (IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK | IN_MASK_CREATE | IN_MASK_ADD | IN_ONESHOT)
#define IN_ALWAYS      (IN_UNMOUNT | IN_Q_OVERFLOW | IN_IGNORED) /* told without being asked for */

/* Events that wait in an instance made later; instances and watches of a user. Others may write them at any time. */
extern unsigned inotify_max_events, inotify_max_instances, inotify_max_watches; /* [a] */

/* As read(2) gives it, followed by `len` bytes: the name and at least one zero, in multiples of 16. */
struct inotify_event {
	s32 wd;
	u32 mask, cookie, len;
};
struct queued_event {
	struct list_head list; /* [m] */
	struct inotify_event event;
	char name[]; /* event.len bytes */
};
struct inotify_group {
	struct list_head events;  /* [m] */
	struct list_head watches; /* [m] */
	unsigned nr_events;	  /* [m] */
	unsigned max_events;	  /* [I] */
	unsigned bytes;		  /* [m] of all events, as read(2) gives them */
	int next_wd;		  /* [m] numbers are not used again */
	bool overflown;		  /* [m] the event that says so is queued: `overflow` */
	struct queued_event overflow;
	wait_queue_head_t wait;
	struct user_struct *user; /* [immutable] with a reference */
	struct list_head all;	  /* [m] in groups */
};
struct inotify_watch {
	struct inotify_watch *next; /* [m] of the same inode */
	struct list_head in_group;  /* [m] */
	struct inotify_group *group;
	struct inode *inode; /* with a reference */
	struct dentry *held; /* with a reference, or NULL */
	int wd;
	u32 mask; /* [m] */
};
