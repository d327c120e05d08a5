/* The part of <sched.h> that newlib's <sys/types.h> wants. */
#ifndef VT_SYS_SCHED_H
#define VT_SYS_SCHED_H

struct sched_param {
	int sched_priority; /* 1..99 for FIFO and RR, 0 for the others */
};

#endif
