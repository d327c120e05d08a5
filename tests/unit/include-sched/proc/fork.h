/* The task that all others are copies of. */
#pragma once

#include <sched/sched.h>

extern struct task_struct init_task;

/* A CPU that leaves looks at all tasks: no CPU leaves here. */
#define for_each_process(p)	   for ((p) = NULL; (p); (p) = NULL)
#define for_each_thread(leader, t) for ((t) = (leader); (t); (t) = NULL)
