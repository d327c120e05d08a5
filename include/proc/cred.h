/* Who a task runs as. */
#pragma once

#include <lib/atomic.h>
#include <lib/types.h>

#define NGROUPS_MAX 65536

/* Supplementary groups: immutable once a task has them, shared by reference. */
struct group_info {
	atomic_t count;
	unsigned ngroups;
	gid_t gid[];
};
void put_groups(struct group_info *groups); /* NULL is fine */
static inline void get_groups(struct group_info *groups)
{
	if (groups)
		atomic_inc(&groups->count);
}
