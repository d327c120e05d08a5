/* The events of memory; their headers say where each stands. */
#define CREATE_TRACE_POINTS
#include <trace/events/exceptions.h>
