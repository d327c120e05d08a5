/* The function tracer and its option func-no-repeats (trace_func_repeats.c). */
#pragma once

#include "trace.h"

/*
 * trace_function, but for a repetition of the CPU's last entry, which is counted. Is there a record of this entry?
 * Preemption off.
 */
bool trace_function_no_repeats(struct trace_array *tr, unsigned long ip, unsigned long parent_ip, u32 pc,
			       unsigned long flags);
/* The buffer was emptied, or the option is about to be set: nothing was called yet. Any context. */
void trace_func_repeats_forget(struct trace_array *tr);

/* "schedule <-do_wait", as the options say. */
void trace_print_function(struct seq_file *s, struct trace_array *tr, unsigned long ip, unsigned long parent_ip);
