/* Filters by module, "GLOB:mod:MODULE", of set_ftrace_filter and set_ftrace_notrace. Private to trace/. */
#pragma once

#include <lib/types.h>

struct ftrace_module;
struct ftrace_set;
struct seq_file;
struct trace_array;

/* Is it such a word, with or without '!'? Any context. */
bool ftrace_is_module_word(const char *text);
/*
 * Carry out one word "[!]GLOB:mod:[!]MODULE". If the module is loaded, this changes `set`, which is the caller's own;
 * else the filter joins or leaves the array's list at once, and *words, the open file's own. `exclude`: of
 * set_ftrace_notrace. Writes to text. 0; -EINVAL: a filter that the list does not have was to be taken away; -ENOMEM.
 * Takes ftrace_lock.
 */
int ftrace_module_word(struct trace_array *tr, struct ftrace_set *set, struct ftrace_module **words, bool exclude,
		       char *text);
/*
 * `set` is about to take the place of the array's: what the words name of modules that have come since they were
 * written joins it, because the array's list has them no more. 0, -ENOMEM. ftrace_lock held.
 */
int ftrace_module_words_join(struct ftrace_module *words, struct ftrace_set *set);
/* The words are freed. */
void ftrace_module_words_end(struct ftrace_module **words);
/* The list is emptied: the file was opened with O_TRUNC, or the array goes. Takes ftrace_lock. */
void ftrace_modules_clear(struct trace_array *tr, bool exclude);

/* Number `n` of the list, as the file shows it; false: there are fewer. ftrace_lock held, as for the next. */
bool ftrace_module_is_there(const struct trace_array *tr, bool exclude, unsigned n);
void ftrace_module_show(struct seq_file *m, const struct trace_array *tr, bool exclude, unsigned n);
