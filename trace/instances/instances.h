/* Instances, for what makes them before there is a tracefs. Private to trace/. */
#pragma once

struct trace_array;

/* An array without a directory, for which there is no tracefs yet. ERR_PTR: -EEXIST, -ENOMEM. Boot, thread. */
struct trace_array *trace_array_create(const char *name);
