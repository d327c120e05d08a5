/* What is called before there are ring buffers (trace/ftrace_early.c). Boot CPU, interrupts off. */
#pragma once

#include "trace.h"

/* The calls are not wanted, or no site calls the hook any more and what was noted goes. */
void ftrace_early_drop(void);
/* The function tracer is about to begin in tr, whose buffer is empty: the calls of its functions go there. */
void ftrace_early_move(struct trace_array *tr);
