/* The events of timers and of power; their headers say where each stands. */
#define CREATE_TRACE_POINTS
#include <trace/events/timer.h>

#define CREATE_TRACE_POINTS
#include <trace/events/power.h>
