/* Structures of the scheduling system calls (Linux's generic ABI). */
#pragma once

#include <uapi/types.h>

struct sched_param {
	int sched_priority;
};

/* sched_setattr(2); `size` tells versions apart, this is the second. */
struct sched_attr {
	__u32 size;
	__u32 sched_policy;
	__u64 sched_flags;
	__s32 sched_nice;
	__u32 sched_priority;
	__u64 sched_runtime; /* SCHED_DEADLINE, ns */
	__u64 sched_deadline;
	__u64 sched_period;
	__u32 sched_util_min, sched_util_max; /* 0 */
};
#define SCHED_ATTR_SIZE_VER0 48
#define SCHED_ATTR_SIZE_VER1 56
_Static_assert(sizeof(struct sched_attr) == SCHED_ATTR_SIZE_VER1);
