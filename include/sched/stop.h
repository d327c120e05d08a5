/*
 * What makes a CPU slow keeps still while the machine is being stopped (kernel/sched/stop_machine.c): a CPU that is
 * asked to come must come soon, whatever a user has switched on.
 */
#pragma once

#include <lib/types.h>

/* Not 0 from the moment in which CPUs are asked to stop until all have stopped. [stop_machine_mutex; read by all] */
extern unsigned stop_asked;

/* To be looked at by code that makes everything on its CPU slower. Any context, not traced. */
static __always_inline bool stop_machine_asked(void)
{
	return unlikely(READ_ONCE(stop_asked));
}

/* Of code that has kept still. */
struct stop_watcher {
	/* The stop is over for this CPU, and stop_machine_asked() was false before. Preemption off, not traced. */
	void (*over)(void);
};
#define REGISTER_STOP_WATCHER(w) REGISTER_IN(stop_watchers, w)
