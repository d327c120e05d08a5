/* One task, which the test moves from CPU to CPU. */
#pragma once

extern struct task_struct host_task;
#define get_current() (&host_task)
