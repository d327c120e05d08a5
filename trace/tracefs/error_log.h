/* error_log: what was wrong with commands that were refused. */
#pragma once

#include <lib/types.h>

struct trace_array;

/*
 * Remember that `command` was refused by `where` ("event filter parse error") for the reason `what`, and at which
 * column of it the fault lies; all three texts are copied. Without memory for that the error is not logged. Thread
 * context; takes a mutex of its own, inside of any other.
 */
void tracing_log_err(struct trace_array *tr, const char *where, const char *command, const char *what, unsigned column);
/* Forget the array's errors. Thread context; takes the same mutex. */
void tracing_clear_errors(struct trace_array *tr);
