/* Waiting on the host: the test says what happens meanwhile, and whether the task is killed in the end. */
#pragma once

#include <sched/spinlock.h>

typedef struct {
	unsigned woken;
} wait_queue_head_t;

#define init_waitqueue_head(q) ((q)->woken = 0)
#define wake_up_all(q)	       ((q)->woken++)
/* A wait with a time limit ends by it, one without by a signal. */
#define wait_event_killable_timeout(q, cond, timeout) \
	((cond) ? 1L : (host_waits(), (cond)) ? 1L : (timeout) == MAX_SCHEDULE_TIMEOUT ? (long)-ERESTARTSYS : 0L)

void host_waits(void);
