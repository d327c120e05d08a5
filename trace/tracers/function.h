/* The function tracer and its option func-no-repeats (function_repeats.c). */
#pragma once

#include "core/array.h"

/*
 * As trace_function, but a call that repeats the CPU's last entry is only counted: false, there is no record then. Any
 * context, preemption off.
 */
bool trace_function_no_repeats(struct trace_array *tr, unsigned long ip, unsigned long parent_ip, u32 pc,
			       unsigned long flags);

/* function_early.c: put the calls that were noted before into tr, whose buffer is empty, as the tracer begins. Boot. */
void ftrace_early_move(struct trace_array *tr);

/* Print "schedule <-do_wait", in the form that the array's options ask for. */
void trace_print_function(struct seq_file *s, struct trace_array *tr, unsigned long ip, unsigned long parent_ip);
