/* Function commands: what set_ftrace_filter takes and shows besides names of functions. Private to trace/. */
#pragma once

#include <lib/types.h>

struct seq_file;
struct trace_array;

/*
 * One word "[!]GLOB:COMMAND[:PARAMETERS]"; in force when it returns. Writes to text. tr NULL: a file that takes none.
 * 0, -EINVAL for what cannot be understood, matches nothing, or is there, or not there, already; -ERANGE, -ENODEV,
 * -ENOMEM: and nothing has changed. Takes event_mutex.
 */
int ftrace_process_command(struct trace_array *tr, char *text);
/* The name of the Nth command, NULL: there are fewer; *of_event: its parameters begin with an event. Any context. */
const char *ftrace_command_name(unsigned n, bool *of_event);

/*
 * Walk over all functions with commands: the first at *pos or behind it, whose number is stored there; false: there is
 * no more. The second shows its line. event_mutex held throughout.
 */
bool ftrace_command_from(struct trace_array *tr, loff_t *pos);
void ftrace_command_show(struct seq_file *m, struct trace_array *tr, loff_t pos);
