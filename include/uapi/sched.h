/* Structures and numbers of the scheduling system calls (Linux's generic ABI). */
#pragma once

#include <lib/types.h>

#define SCHED_RESET_ON_FORK	 0x40000000 /* or'ed into the policy of sched_setscheduler */
#define SCHED_FLAG_RESET_ON_FORK 0x01	    /* in sched_attr.sched_flags */

struct sched_param {
	int sched_priority;
};

/* sched_setattr(2); `size` tells versions apart, this is the first. */
struct sched_attr {
	u32 size;
	u32 sched_policy;
	u64 sched_flags;
	s32 sched_nice;
	u32 sched_priority;
	u64 sched_runtime; /* SCHED_DEADLINE, ns */
	u64 sched_deadline;
	u64 sched_period;
};
#define SCHED_ATTR_SIZE_VER0 48
static_assert(sizeof(struct sched_attr) == SCHED_ATTR_SIZE_VER0);

#define PRIO_PROCESS 0
#define PRIO_PGRP    1
#define PRIO_USER    2
