/*
 * What the two halves of the filter's parser share: filter_parse.c takes the expression apart (parentheses, !, && and
 * ||), filter_term.c its terms (field, operator, value). A parser belongs to one call of filter_parse(): no locks.
 */
#pragma once

#include <lib/errno.h>
#include <lib/string.h>

#include "filter.h"

/*
 * The jumps that lead out of an expression, for when it is false (0) and when it is true (1). Each of the two is a
 * chain of places, each place being one of a term's next[], with the number 2 * term + which. Until its target is
 * known, a place holds the number of the next one of its chain.
 */
#define JUMP_END 0xffff
struct jumps {
	u16 to[2];
};
/*
 * What stands between two parentheses, or the whole text. `or` has the open jumps of what is complete, to the left of
 * the last ||, and `and` those of the operands since then.
 */
struct level {
	struct jumps or, and;
	u16 opened;  /* column of its ( */
	bool negate; /* a ! stands before it */
};

/* The state of one filter_parse(). */
struct parser {
	const char *text;
	const struct trace_event_field *fields;
	struct filter_problem *problem;
	struct event_filter *filter;
	struct level *levels;
	unsigned at; /* column */
	unsigned depth, max_depth, max_preds;
	bool negate; /* an odd number of ! stands before the next operand */
	bool wants_operand;
};

/* Note what is wrong and where, for the caret in error_log. Returns `ret`, so that a caller can return it at once. */
static inline int parser_problem(struct parser *p, enum filter_error error, unsigned column, int ret)
{
	p->problem->error = error;
	p->problem->column = column;
	return ret;
}

/* The same for a fault inside a term, whose column Linux counts one to the right. */
static inline int term_problem(struct parser *p, enum filter_error error, unsigned column)
{
	return parser_problem(p, error, column + 1, -EINVAL);
}

static inline unsigned skip_spaces(const char *text, unsigned at)
{
	while (isspace(text[at]))
		at++;
	return at;
}

/* The column behind the quote that matches the one at `at`; 0: there is none. */
static inline unsigned quote_end(const char *text, unsigned at)
{
	const char *end = strchr(text + at + 1, text[at]);

	return end ? end + 1 - text : 0;
}

/*
 * Parse the term at p->at into *pred, but for its jumps, and leave p->at behind it. 0, or -EINVAL or -EPERM with the
 * problem noted. filter_term.c
 */
int filter_parse_term(struct parser *p, struct filter_pred *pred);
