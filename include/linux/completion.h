/* "It is done", said once by one and waited for by another. */
#pragma once

#include <linux/jiffies.h>
#include <sched/wait.h>

#define DECLARE_COMPLETION_ONSTACK(c) DECLARE_COMPLETION(c)
#define wait_for_completion_killable(c) wait_for_completion_interruptible(c) /* gives way to every signal */
