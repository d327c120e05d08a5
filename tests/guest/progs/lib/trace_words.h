/*
 * Texts for files of tracefs, made of words that tracefs itself has: available_tracers, available_filter_functions,
 * available_events, options/, what a file holds, and the lines of README about it, which are read as a grammar:
 * [ ] may be left out, | stands between alternatives, <name> and words such as COMMAND, N or event stand for something.
 * The working directory is tracefs. One process uses this, or several that it has forked.
 */
#ifndef TRACE_WORDS_H
#define TRACE_WORDS_H

#include <stdbool.h>

#define WORDS_TEXT 192 /* bytes of a text at most */
#define WORDS_PATH 96

/* How a text is made. */
enum words_shape {
	WORDS_NUMBER,	 /* a number */
	WORDS_OWN,	 /* a word or a line of what the file holds */
	WORDS_REMOVE,	 /* the same with what takes it away: !LINE, -:NAME, noNAME */
	WORDS_README,	 /* a word of the README about this file, expanded */
	WORDS_LINE,	 /* a line of it, expanded */
	WORDS_NAME,	 /* a tracer, a function or a pattern, an event or a system, an option */
	WORDS_COMMAND,	 /* a pattern of functions, a colon, and a word of the README about this file */
	WORDS_CONDITION, /* a condition on fields of the file's event, maybe behind a word */
	WORDS_EMPTY,
	WORDS_GARBAGE, /* any bytes but zero */
	NR_WORDS_SHAPES
};

extern unsigned long words_seed; /* of this run; texts and words_below() follow from it */

void words_learn(void);		  /* reads all that is the same for all files; once, before forks */
void words_begin(unsigned who);	  /* process number `who` begins, with a sequence of its own */
unsigned words_below(unsigned n); /* 0 to n - 1 */
const char *words_event(void);	  /* "SYSTEM:EVENT" */
const char *words_option(void);	  /* a name in options/ */
void words_text(char *text, enum words_shape shape, const char *file); /* WORDS_TEXT bytes; file: where it is for */
/* False: it would print records on the console, or panic. */
bool words_may_be_written(const char *text);

#endif
