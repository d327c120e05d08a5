/* Function commands: what set_ftrace_filter takes and shows besides names of functions. Private to trace/. */
#pragma once

#include <lib/types.h>

struct seq_file;
struct trace_array;

/*
 * Take one word "[!]GLOB:COMMAND[:PARAMETERS]". Words that follow one another may come in force together, all of them
 * when func_probes_commit() returns: event_mutex must be held from the first word until then. Writes to text. 0.
 * -EINVAL: it cannot be understood, matches nothing, or asks for a command that is there, or gone, already. -ERANGE:
 * the count is too large. -ENODEV: no function has the command that is to go; tr is NULL, as for a file that takes no
 * commands. -ENOMEM. After an error this word has changed nothing; *why, NULL before, is its reason if the word itself
 * does not show it.
 */
int ftrace_process_command(struct trace_array *tr, char *text, const char **why);
/* Take a command away from all functions of all arrays. Takes event_mutex. */
void ftrace_remove_command(const char *name);
/* The name of the Nth command, or NULL behind the last; *of_event: its parameters begin with an event. Any context. */
const char *ftrace_command_name(unsigned n, bool *of_event);

/*
 * Walk over all functions with commands: find the first at *pos or behind it, and move *pos there; false: there are no
 * more. The second shows the line of one. event_mutex and ftrace_lock held throughout.
 */
bool ftrace_command_from(struct trace_array *tr, loff_t *pos);
void ftrace_command_show(struct seq_file *m, struct trace_array *tr, loff_t pos);
