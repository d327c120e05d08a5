/*
 * What was wrong with a word of set_ftrace_filter and the other files that choose functions.
 *
 * A refused write gives its writer only an errno. When the code that refuses gives no reason, the file is asked for an
 * explanation (struct trace_hint), which goes to error_log and the kernel log. It repeats the search for the names of
 * the word, and says which one there is not, and what is close to it. Nothing here changes a filter. Context: a thread,
 * no lock held; r->text is the refused word as it was written.
 */
#include <kernel/ksyms.h>
#include <lib/close_names.h>
#include <lib/errno.h>
#include <lib/string.h>

#include "events/text_file.h"
#include "ftrace/internal.h"
#include "tracers/function_commands.h"
#include "tracers/function_modules.h"
#include "refusals.h"

#define WORD_MAX 128 /* longer ones are explained by their beginning */

/*
 * What Linux writes before the name of a system call, by machine and by layer; here it is sys_ alone. A student who
 * types "__x64_sys_openat" from a book is told of sys_openat.
 */
static const char *without_prefix_of_linux(const char *name)
{
	static const char *const prefixes[] = {"__x64_", "__ia32_", "__arm64_", "__se_", "__do_"};

	for (unsigned i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t len = strlen(prefixes[i]);

		if (!strncmp(name, prefixes[i], len) && !strncmp(name + len, "sys_", 4))
			return name + len;
	}
	return name;
}

/*
 * Names that are close to `pattern`. The stars around it are left out of the comparison: *shcedule* is close to what
 * shcedule is close to.
 */
static void say_close_functions(struct trace_refusal *r, const char *pattern)
{
	struct close_names close;
	char word[CLOSE_NAME_SIZE];
	unsigned rec;
	size_t len;

	strscpy(word, *pattern == '*' ? pattern + 1 : pattern, sizeof(word));
	len = strlen(word);
	if (len && word[len - 1] == '*')
		word[len - 1] = '\0';
	close_names_init(&close, without_prefix_of_linux(word));
	mutex_lock(&ftrace_lock);
	for_each_ftrace_rec(rec)
		close_names_offer(&close, ftrace_rec_name(&ftrace_recs[rec]));
	mutex_unlock(&ftrace_lock);
	refusal_say_close(r, &close);
	if (!close.nr)
		refusal_say(r, "; available_filter_functions has the names");
}

/* A plain walk over all sites is good enough: only the writer of a wrong name waits for it. */
static bool matches_any(const char *pattern)
{
	bool any = false;
	unsigned rec;

	mutex_lock(&ftrace_lock);
	for_each_ftrace_rec(rec)
		any |= glob_match(pattern, ftrace_rec_name(&ftrace_recs[rec]));
	mutex_unlock(&ftrace_lock);
	return any;
}

/*
 * Explains why a pattern matches no function. There are three reasons: the function exists but is not traced (inlined,
 * or in a folder without call sites), the name is an event's, or the name is misspelt. False, and nothing is said: a
 * function matches.
 */
static bool say_no_match(struct trace_refusal *r, const char *pattern)
{
	if (matches_any(pattern))
		return false;
	if (kallsyms_lookup_name(pattern)) {
		refusal_quote(r, "", pattern,
			      " is in the kernel, but cannot be traced: it has no site that calls a tracer");
		return true;
	}
	refusal_quote(r, "nothing matches ", pattern, "");
	if (refusal_knows_event(r, NULL, pattern))
		refusal_say(r, "; it is an event, which set_event takes");
	else
		say_close_functions(r, pattern);
	return true;
}

/* ---- "GLOB:COMMAND:PARAMETERS" */

/*
 * 1: `command` is the name of a command. 2: it is one whose parameters begin with an event. 0: there is no such
 * command.
 */
static unsigned kind_of_command(const char *command)
{
	const struct function_commands *commands = function_commands();
	const char *name;
	bool of_event;

	for (unsigned n = 0; commands && (name = commands->name(n, &of_event)); n++)
		if (!strcmp(name, command))
			return 1 + of_event;
	return 0;
}

/* "mod" is no entry of the table of commands, as it changes a filter and calls nothing. So it is named here. */
static void say_commands(struct trace_refusal *r)
{
	const struct function_commands *commands = function_commands();
	const char *name;
	bool of_event;

	refusal_say(r, "%s%s", commands || function_modules() ? "; there are:" : "", function_modules() ? " mod" : "");
	for (unsigned n = 0; commands && (name = commands->name(n, &of_event)); n++)
		refusal_say(r, " %s", name);
}

/*
 * The parameters SYSTEM:EVENT of enable_event and disable_event. True: the event exists, and *params has moved behind
 * it. False: the reason is said.
 */
static bool explain_event(struct trace_refusal *r, const char *command, char **params)
{
	const char *system = strsep(params, ":"), *event = strsep(params, ":");

	if (!event) {
		refusal_say(r, "%s needs an event: FUNCTION:%s:SYSTEM:EVENT[:COUNT]", command, command);
	} else if (!refusal_knows_event(r, system, event)) {
		refusal_quote(r, "no event ", event, " in");
		refusal_quote(r, " ", system, "");
		refusal_say_close_events(r, system, event);
	} else {
		return true;
	}
	return false;
}

/*
 * "!GLOB:mod:MODULE" names a filter that the file does not have. Adding one is never refused, as the module may be
 * loaded later.
 */
static void explain_module(struct trace_refusal *r)
{
	refusal_quote(r, "no such filter waits for a module: ", r->text, "; the file shows those that do");
}

/*
 * The parts are looked at from left to right, as trace/commands reads them, and the first that is wrong is the
 * explanation. That a command is there already, or is not there, is the reason that the function gives itself.
 */
static void explain_command(struct trace_refusal *r, const char *glob, const char *command, char *params)
{
	bool remove = *glob == '!';
	unsigned kind = kind_of_command(command);

	if (!kind && refusal_knows_event(r, glob, command)) {
		refusal_quote(r, "", r->text, " is an event, which set_event takes");
		return;
	}
	if (!kind) {
		refusal_quote(r, "no command ", command, "");
		say_commands(r);
		return;
	}
	if ((*(glob + remove) && say_no_match(r, glob + remove)) || (kind == 2 && !explain_event(r, command, &params)))
		return;
	if (!*glob)
		refusal_say(r, "no function stands before ':%s'", command);
}

/* ---- The files */

/*
 * set_ftrace_filter takes names, commands and filters by module. Other errors than these two (no memory, a busy site)
 * have nothing to do with the word.
 */
static void explain_filter(struct trace_refusal *r)
{
	char text[WORD_MAX], *rest = text;
	const char *glob, *command;

	if (r->error != EINVAL && r->error != ERANGE)
		return;
	strscpy(text, r->text, sizeof(text));
	glob = strsep(&rest, ":");
	command = strsep(&rest, ":");
	if (function_modules_word(r->text))
		explain_module(r);
	else if (command)
		explain_command(r, glob, command, rest);
	else
		say_no_match(r, glob + (*glob == '!'));
}

/* A file that takes names and filters by module, but no commands. */
static void explain_names(struct trace_refusal *r)
{
	if (function_modules_word(r->text) && *r->text == '!')
		explain_module(r);
	else if (strchr(r->text, ':'))
		refusal_quote(r, "", r->text, " is a command, and only set_ftrace_filter takes commands");
	else if (r->error == EINVAL && !say_no_match(r, r->text + (*r->text == '!')) && *r->text == '!')
		refusal_quote(r, "", r->text + 1, " is not in the file, so it cannot be taken away");
}

#define FILTER_HINT(id, fn)                                                              \
	static const struct trace_hint id##_hint = {                                     \
		.subject = #id,                                                          \
		.takes = "the name of a function or a pattern, or '!' and one of these", \
		.explain = fn,                                                           \
	};                                                                               \
	REGISTER_TRACE_HINT(id##_hint)
FILTER_HINT(set_ftrace_filter, explain_filter);
FILTER_HINT(set_ftrace_notrace, explain_names);
FILTER_HINT(set_graph_function, explain_names);
FILTER_HINT(set_graph_notrace, explain_names);
FILTER_HINT(stack_trace_filter, explain_names);
