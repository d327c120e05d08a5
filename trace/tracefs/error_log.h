/* error_log: what was wrong with commands that were refused. */
#pragma once

#include <lib/types.h>

struct trace_array;

/*
 * Remember that `command` was refused by `where` ("event filter parse error") for the reason `what`, and at which
 * column of it the fault lies; all three are copied. Thread context; takes a mutex of its own, inside of
 * any other. Out of memory: it is forgotten.
 */
void tracing_log_err(struct trace_array *tr, const char *where, const char *command, const char *what, unsigned column);
/* The array is about to go, or all is to be forgotten. */
void tracing_clear_errors(struct trace_array *tr);
