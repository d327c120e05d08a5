/* Structures and numbers of the scheduling system calls (Linux's generic ABI). */
#pragma once

#include <lib/types.h>

#define SCHED_RESET_ON_FORK	 0x40000000 /* or'ed into the policy of sched_setscheduler */

/* sched_attr.sched_flags */
#define SCHED_FLAG_RESET_ON_FORK 0x01
#define SCHED_FLAG_DL_OVERRUN	 0x04 /* SIGXCPU when the budget is used up */
#define SCHED_FLAG_KEEP_POLICY	 0x08 /* and reset-on-fork */
#define SCHED_FLAG_KEEP_PARAMS	 0x10
#define SCHED_FLAG_UTIL_CLAMP	 0x60
#define SCHED_FLAGS                                                                                             \
	(SCHED_FLAG_RESET_ON_FORK | SCHED_FLAG_DL_OVERRUN | SCHED_FLAG_KEEP_POLICY | SCHED_FLAG_KEEP_PARAMS)

struct sched_param {
	int sched_priority;
};

/* sched_setattr(2); `size` tells versions apart, this is the second. */
struct sched_attr {
	u32 size;
	u32 sched_policy;
	u64 sched_flags;
	s32 sched_nice;
	u32 sched_priority;
	u64 sched_runtime; /* SCHED_DEADLINE, ns */
	u64 sched_deadline;
	u64 sched_period;
	u32 sched_util_min, sched_util_max; /* 0 */
};
#define SCHED_ATTR_SIZE_VER0 48
#define SCHED_ATTR_SIZE_VER1 56
static_assert(sizeof(struct sched_attr) == SCHED_ATTR_SIZE_VER1);

#define PRIO_PROCESS 0
#define PRIO_PGRP    1
#define PRIO_USER    2
