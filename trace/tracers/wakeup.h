/* Following wake-ups: what the wakeup tracers have in common. Private to trace/. All with trace_types_lock held. */
#pragma once

#include "core/array.h"

/* Limits: a tracer looks at the tasks whose prio is below its limit. */
#define WAKEUP_ALL MAX_PRIO
#define WAKEUP_RT  MAX_RT_PRIO
#define WAKEUP_DL  MAX_DL_PRIO

/*
 * Register the probes of the scheduler for tasks whose prio is below `limit` (0 or -errno, and then nothing is
 * registered), and unregister them, which sleeps until no probe runs. A wake-up is followed only while
 * wakeup_set_enabled() allows it, too.
 */
int wakeup_register_probes(struct trace_array *tr, int limit);
void wakeup_unregister_probes(struct trace_array *tr);
/* Allow following, or not. In both cases the wake-up that is followed now is dropped. */
void wakeup_set_enabled(bool on);
/* Function entries on the followed task's CPU on or off. 0, or -errno: then it is as before. */
int wakeup_function_set(struct trace_array *tr, bool on);
/* set_ftrace_pid has changed. */
void wakeup_update_pids(struct trace_array *tr);
/* Record calls, as function_graph does, or places. No record of the other form comes after this. 0 or -errno. */
int wakeup_set_form(struct trace_array *tr, bool graph);
