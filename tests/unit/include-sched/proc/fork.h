/* The task that all others are copies of. */
#pragma once

#include <sched/sched.h>

extern struct task_struct init_task;
