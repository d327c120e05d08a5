/* Filters by module, "GLOB:mod:MODULE", of set_ftrace_filter and set_ftrace_notrace. Private to trace/. */
#pragma once

#include <lib/types.h>

struct ftrace_module;
struct ftrace_set;
struct seq_file;
struct trace_array;

/*
 * What the two files ask of such filters (trace/modules/filters.c). `exclude`: of set_ftrace_notrace. A kernel without
 * modules has no such struct, and there "mod" is no command.
 */
struct function_modules {
	/*
	 * Carry out one word "[!]GLOB:mod:[!]MODULE". If the module is loaded, this changes `set`, which is the
	 * caller's own; else the filter joins or leaves the array's list at once, and *words, the open file's own.
	 * Writes to text. 0; -EINVAL: a filter that the list does not have was to be taken away; -ENOMEM. Takes
	 * ftrace_lock.
	 */
	int (*word)(struct trace_array *tr, struct ftrace_set *set, struct ftrace_module **words, bool exclude,
		    char *text);
	/*
	 * `set` is about to take the place of the array's: what the words name of modules that have come since they
	 * were written joins it, because the array's list has them no more. 0, -ENOMEM. ftrace_lock held.
	 */
	int (*join)(struct ftrace_module *words, struct ftrace_set *set);
	/* The words are freed. */
	void (*end)(struct ftrace_module **words);
	/* The list is emptied: the file was opened with O_TRUNC. Takes ftrace_lock. */
	void (*clear)(struct trace_array *tr, bool exclude);
	/* Number `n` of the list, as the file shows it; false: there are fewer. ftrace_lock held, as for the next. */
	bool (*is_there)(const struct trace_array *tr, bool exclude, unsigned n);
	void (*show)(struct seq_file *m, const struct trace_array *tr, bool exclude, unsigned n);
};
#define REGISTER_FUNCTION_MODULES(m) REGISTER_IN(function_modules, m)
DECLARE_TABLE(function_modules, const struct function_modules);
/* NULL: this kernel has no modules. */
static inline const struct function_modules *function_modules(void)
{
	const struct function_modules *modules = NULL;

	for_each_in_table(function_modules, modules)
		break;
	return modules;
}
/* tracers/function_files.c: is it such a word, with or without '!'? In a kernel without modules no word is. */
bool function_modules_word(const char *text);
