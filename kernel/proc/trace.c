/* The events of tasks and signals; their headers say where each stands. */
#define CREATE_TRACE_POINTS
#include <trace/events/task.h>

#define CREATE_TRACE_POINTS
#include <trace/events/signal.h>
