/* The function tracer and its option func-no-repeats (function_repeats.c). */
#pragma once

#include "core/array.h"

/*
 * trace_function, but for a repetition of the CPU's last entry, which is counted. Is there a record of this entry?
 * Preemption off.
 */
bool trace_function_no_repeats(struct trace_array *tr, unsigned long ip, unsigned long parent_ip, u32 pc,
			       unsigned long flags);

/* function_early.c: the tracer is about to begin in tr, whose buffer is empty: earlier calls go there. Boot. */
void ftrace_early_move(struct trace_array *tr);

/* "schedule <-do_wait", as the options say. */
void trace_print_function(struct seq_file *s, struct trace_array *tr, unsigned long ip, unsigned long parent_ip);
