/* References to tasks: get_task_struct(), put_task_struct(). */
#pragma once

#include <linux/sched.h>
#include <sched/task_inline.h>
