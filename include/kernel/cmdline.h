/* Kernel command line: parameters register themselves where they are used. */
#pragma once

#include <lib/types.h>

/* Return 0 when taken, -errno when the value is no good (reported in one line at boot). */
struct boot_param {
	const char *name; /* "ftrace=", "x,": takes a value; "quiet" also matches "quiet" alone with value "" */
	int (*set)(const char *value);
	bool early; /* before memory management is up: must not allocate */
};
#define __setup(str, fn)                                                                  \
	static const struct boot_param __concat(__param_, fn) = {.name = str, .set = fn}; \
	REGISTER_IN(params, __concat(__param_, fn))
#define early_param(str, fn)                                                                             \
	static const struct boot_param __concat(__param_, fn) = {.name = str, .set = fn, .early = true}; \
	REGISTER_IN(params, __concat(__param_, fn))
/* The value of `str` goes into the array `to`, until it can be used; one that is too long is refused. */
#define __setup_text(str, to)                             \
	static int __concat(keep_, to)(const char *value) \
	{                                                 \
		return param_keep(to, sizeof(to), value); \
	}                                                 \
	__setup(str, __concat(keep_, to))
int param_keep(char *to, size_t size, const char *value); /* 0; -E2BIG: `to` is empty then. Context: boot */

/* Words that are known and have no effect, each with the reason; a name as in struct boot_param. */
struct ignored_word {
	const char *name, *why;
};
struct ignored_words {
	const struct ignored_word *words;
	unsigned nr;
};

extern char boot_command_line[2048];   /* as the loader passed it */
extern const char *saved_command_line; /* with the words of a bootconfig; what parse_params() parses. [I] after boot */
/* What has more words than the loader's line: a bootconfig. */
struct word_source {
	/* Calls cmdline_add(). Boot, between the two passes, while memblock_alloc() may be called. */
	void (*find)(void);
};
#define REGISTER_WORD_SOURCE(source) REGISTER_IN(word_sources, source)
void cmdline_find_more(void); /* asks each of them */

/*
 * Put words (each with a blank behind it; NULL: none) before the loader's, and words for init before those it has for
 * init; the early pass is made up for. Context: word_source.find, once.
 */
void cmdline_add(const char *kernel, const char *init);
/*
 * Walk the line once for the early and once for the other parameters. Unknown words go to init: "a=b" as environment,
 * others as arguments (init_argv, init_envp of <proc/exec.h>). Context: boot.
 */
void parse_early_params(void);
/*
 * What the last word for "name=" on the loader's line gives it, NULL: there is none. For what cannot wait for
 * parse_early_params, which ends the value's life, as the next call does.
 */
const char *cmdline_value(const char *name);
void parse_params(void);
