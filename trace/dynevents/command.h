/*
 * A line about dynamic events while it is carried out, and what is wrong with it. Parsers know the line only through
 * this header, so unit tests can build them on the host.
 */
#pragma once

#include <lib/types.h>

#define DYN_NAME_MAX 64 /* bytes of the name of a group or an event with its zero, as in Linux */

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
 * Report that the line is wrong: error_log gets Linux's words `what`, with the caret under `at`. `at` points into one
 * of the command's words or to its end; with NULL the caret is under the line's first character. Returns -EINVAL, for
 * `return dyn_refuse(...)`. Thread context.
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
/* The same for what stands behind the colon of the line's first word; without a colon both stay as they are. */
int dyn_parse_event(struct dyn_command *c, const char **group, const char **event);
/*
 * Does the name consist of letters, digits and _, and not begin with a digit? `dash`: - is allowed, too. Any context.
 */
bool dyn_name_is_good(const char *name, bool dash);
