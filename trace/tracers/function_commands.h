/* Function commands: what set_ftrace_filter takes and shows besides names of functions. Private to trace/. */
#pragma once

#include <lib/types.h>

struct seq_file;
struct trace_array;

/* What the file asks of the room that has them (trace/commands). Without it each command is an unknown one. */
struct function_commands {
	/*
	 * Take one word "[!]GLOB:COMMAND[:PARAMETERS]". Words that follow one another may come in force together, all
	 * of them when commit() returns: event_mutex must be held from the first word until then. Writes to text. 0.
	 * -EINVAL: it cannot be understood, matches nothing, or asks for a command that is there, or gone, already.
	 * -ERANGE: the count is too large. -ENODEV: no function has the command that is to go; tr is NULL, as for a
	 * file that takes no commands. -ENOMEM. After an error this word has changed nothing; *why, NULL before, is its
	 * reason if the word itself does not show it.
	 */
	int (*word)(struct trace_array *tr, char *text, const char **why);
	/* The words come in force. 0; or -errno, and nothing of them is in force. event_mutex held; sleeps. */
	int (*commit)(void);
	/*
	 * Walk over all functions with commands: find the first at *pos or after it, and move *pos there; false: there
	 * are no more. The second shows the line of one. event_mutex and ftrace_lock held throughout.
	 */
	bool (*from)(struct trace_array *tr, loff_t *pos);
	void (*show)(struct seq_file *m, struct trace_array *tr, loff_t pos);
	/*
	 * The name of the Nth command, or NULL after the last; *of_event: its parameters begin with an event. Any
	 * context.
	 */
	const char *(*name)(unsigned n, bool *of_event);
};
#define REGISTER_FUNCTION_COMMANDS(c) REGISTER_IN(function_commands, c)
DECLARE_TABLE(function_commands, const struct function_commands);
/* NULL: this kernel has no function commands. */
static inline const struct function_commands *function_commands(void)
{
	const struct function_commands *commands = NULL;

	for_each_in_table(function_commands, commands)
		break;
	return commands;
}
