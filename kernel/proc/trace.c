/* The events of tasks, signals and restartable sequences; their headers say where each stands. */
#define CREATE_TRACE_POINTS
#include <trace/events/task.h>

#define CREATE_TRACE_POINTS
#include <trace/events/signal.h>

#define CREATE_TRACE_POINTS
#include <trace/events/rseq.h>
