/*
 * A line about dynamic events that is being carried out, and what is wrong with it. Parsers see no more of the room
 * than this, so unit tests build them on the host.
 */
#pragma once

#include <lib/types.h>

#define DYN_NAME_MAX 64 /* characters of a name of a group or an event, as in Linux */

/* The words are in `copy`, and may be cut into pieces there. */
struct dyn_command {
	const char *raw;  /* as it was written, without the comment and the white space at its ends */
	const char *text; /* its words with one blank between them: what error_log shows */
	char *copy;	  /* the same with zeros for the blanks */
	char **words;
	unsigned nr;	  /* of words, 1 or more; words[nr] is NULL */
	const char *log;  /* the kind whose create runs, for error_log: "trace_kprobe" */
	const char *said; /* what dyn_refuse() was told; NULL: it was not called */
};

/*
 * The line is wrong: error_log gets Linux's words `what`, with the caret under `at`, which is in one of the words of
 * the command, or at the end of one. NULL: under the line's first character. Returns -EINVAL, for `return
 * dyn_refuse(...)`. Thread context.
 */
int dyn_refuse(struct dyn_command *c, const char *at, const char *what);
/* The same when the raw line is shown, and `at` is a place in it. For kinds that do not look at words. */
int dyn_refuse_raw(struct dyn_command *c, const char *at, const char *what);

/*
 * "[GROUP/][EVENT]" at `name`, which is in a word of the command and is cut at the slash, or at the dot that may stand
 * for it. *group stays as it is when there is none; *event becomes NULL when only "GROUP/" stands there. 0, or -EINVAL
 * by dyn_refuse(). Any context.
 */
int dyn_parse_name(struct dyn_command *c, char *name, const char **group, const char **event);
/* Is it made of letters, digits and _, and does not begin with a digit? dash: - is good, too. Any context. */
bool dyn_name_is_good(const char *name, bool dash);
