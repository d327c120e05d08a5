/* What a task leaves behind that ends because of an oops. */
#pragma once

#include <lib/types.h>

/*
 * A room that has sleeping locks which others wait for gives them back here, and remembers that what they guard may be
 * half changed. Called by the task that is about to end (make_task_dead), in thread context with interrupts and
 * preemption on; `current` may hold any sleeping lock, so none may be waited for. Returns.
 */
struct oops_exit {
	void (*died)(void);
};
#define REGISTER_OOPS_EXIT(e) REGISTER_IN(oops_exits, e)
