/* Waiting on the host: the test says what happens meanwhile, and whether the task is killed in the end. */
#pragma once

#include <sched/spinlock.h>

typedef struct {
	unsigned woken;
} wait_queue_head_t;

#define init_waitqueue_head(q)	     ((q)->woken = 0)
#define wake_up_all(q)		     ((q)->woken++)
#define wait_event_killable(q, cond) ((cond) ? 0 : (host_waits(), (cond)) ? 0 : -ERESTARTSYS)

void host_waits(void);
