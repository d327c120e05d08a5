/*
 * Kernel threads. A module stops its threads in its exit (kthread_stop), or waits for them (a completion and
 * kthread_complete_and_exit): after either the thread runs none of its code.
 */
#pragma once

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/sched.h>

#define kthread_create_on_node(fn, data, node, ...) kthread_create(fn, data, __VA_ARGS__)
#define kthread_run_on_cpu(fn, data, cpu, ...)                                  \
	({                                                                      \
		struct task_struct *_t = kthread_create_on_cpu(fn, data, cpu, __VA_ARGS__); \
		if (!IS_ERR(_t))                                                \
			wake_up_process(_t);                                    \
		_t;                                                             \
	})
