/* Following wake-ups: what the wakeup tracers have in common. Private to trace/. All with trace_types_lock held. */
#pragma once

#include "core/array.h"

/* Which tasks a tracer looks at: those whose prio is below. */
#define WAKEUP_ALL MAX_PRIO
#define WAKEUP_RT  MAX_RT_PRIO
#define WAKEUP_DL  MAX_DL_PRIO

/*
 * The scheduler tells us from now on, and not any more; a wake-up is followed only while that is enabled, too. 0 or
 * -errno: then nothing is registered. Unregistering sleeps until no probe runs.
 */
int wakeup_register_probes(struct trace_array *tr, int limit);
void wakeup_unregister_probes(struct trace_array *tr);
/* Either way what is followed now is dropped. */
void wakeup_set_enabled(bool on);
/* Function entries on the followed task's CPU on or off. 0, or -errno: then it is as before. */
int wakeup_function_set(struct trace_array *tr, bool on);
/* set_ftrace_pid has changed. */
void wakeup_update_pids(struct trace_array *tr);
/* Records are calls, as of function graph, or places. No record of the other form comes after this. 0 or -errno. */
int wakeup_set_form(struct trace_array *tr, bool graph);
