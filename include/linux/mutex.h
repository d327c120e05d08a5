/* Sleeping locks. */
#pragma once

#include <sched/mutex.h>

#define mutex_lock_killable(m)	 mutex_lock_interruptible(m) /* gives way to every signal */
#define mutex_lock_nested(m, n)	 mutex_lock(m)
#define mutex_destroy(m)	 ((void)(m))
