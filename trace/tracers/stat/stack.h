/* The stack tracer: its switch, for /proc and the command line, and its user, for stack_trace_filter. */
#pragma once

#include <trace/ftrace.h>

extern struct ftrace_ops stack_trace_ops;
/* 0 is off, anything else on; the number is what stack_tracer_enabled shows. Thread context. 0 or -errno. */
int stack_tracer_set(int value);
