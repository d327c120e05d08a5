/* The scheduler's events; <trace/events/sched.h> says where each stands. */
#define CREATE_TRACE_POINTS
#include <trace/events/sched.h>
