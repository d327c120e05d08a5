/*
 * From the text of a filter to its program (filter.h), in one walk. Each term becomes one entry, whose two jumps say
 * which entry is looked at next, by the term's result. An example with terms 0 to 2:
 *
 *     a == 1 && b == 2 || c == 3        0: true -> 1, false -> 2
 *                                       1: true -> matches, false -> 2
 *                                       2: true -> matches, false -> does not match
 *
 * A jump whose target is not known yet waits in a chain, which is kept in the places of the jumps themselves (struct
 * jumps). && and || resolve the chains that lead to the next term; "!" exchanges two chains and costs nothing. The
 * text comes from users, so there is no recursion: open parentheses are levels in an array. Thread context, may sleep.
 */
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "filter_parser.h"

/* Linux's texts, which programs and tests look for in error_log. */
const char *const filter_error_texts[NR_FILTER_ERRORS] = {
	[FILT_ERR_NONE] = "No error",
	[FILT_ERR_INVALID_OP] = "Invalid operator",
	[FILT_ERR_TOO_MANY_OPEN] = "Too many '('",
	[FILT_ERR_TOO_MANY_CLOSE] = "Too few '('",
	[FILT_ERR_MISSING_QUOTE] = "Missing matching quote",
	[FILT_ERR_MISSING_BRACE_OPEN] = "Missing '{'",
	[FILT_ERR_MISSING_BRACE_CLOSE] = "Missing '}'",
	[FILT_ERR_OPERAND_TOO_LONG] = "Operand too long",
	[FILT_ERR_EXPECT_STRING] = "Expecting string field",
	[FILT_ERR_EXPECT_DIGIT] = "Expecting numeric field",
	[FILT_ERR_ILLEGAL_FIELD_OP] = "Illegal operation for field type",
	[FILT_ERR_FIELD_NOT_FOUND] = "Field not found",
	[FILT_ERR_ILLEGAL_INTVAL] = "Illegal integer value",
	[FILT_ERR_BAD_SUBSYS_FILTER] = "Couldn't find or set field in one of a subsystem's events",
	[FILT_ERR_INVALID_CPULIST] = "Invalid cpulist",
	[FILT_ERR_TOO_MANY_PREDS] = "Too many terms in predicate expression",
	[FILT_ERR_INVALID_VALUE] = "Invalid value (did you forget quotes)?",
	[FILT_ERR_ERRNO] = "Error",
	[FILT_ERR_NO_FILTER] = "No filter found",
	[FILT_ERR_NO_FUNCTION] = "Function not found",
};

/* No jump waits. */
static const struct jumps none = {{JUMP_END, JUMP_END}};

/* ---- The first look: are quotes and parentheses matched, and how many terms are there? */

/* Is this && or ||? A single & is an operator inside a term. */
static bool is_connective(const char *at)
{
	return (at[0] == '&' || at[0] == '|') && at[0] == at[1];
}

/*
 * The first look at the whole text: are all quotes and parentheses matched? It comes before anything else, as on
 * Linux, so an unmatched parenthesis is what a user is told first. It also counts the terms, so that one allocation
 * does for all of them, and leaves in levels[].opened the column of each open parenthesis. 0 or -errno with the
 * problem noted.
 */
static int scan(struct parser *p)
{
	const char *text = p->text;
	bool in_term = false;

	for (unsigned i = 0; text[i]; i++) {
		bool term = false;

		if (isspace(text[i]))
			continue;
		if (text[i] == '(') {
			p->levels[++p->depth].opened = i;
		} else if (text[i] == ')') {
			if (!p->depth--)
				return parser_problem(p, FILT_ERR_TOO_MANY_CLOSE, i, -EPERM);
		} else if (is_connective(text + i)) {
			i++;
		} else {
			term = true;
		}
		p->max_preds += term && !in_term;
		in_term = term;
		if (text[i] == '\'' || text[i] == '"') {
			if (!quote_end(text, i))
				return parser_problem(p, FILT_ERR_MISSING_QUOTE, i, -ESRCH);
			i = quote_end(text, i) - 1;
		}
	}
	if (p->depth)
		return parser_problem(p, FILT_ERR_TOO_MANY_OPEN, p->levels[p->depth].opened, -ENOENT);
	return p->max_preds ? 0 : parser_problem(p, FILT_ERR_NONE, 0, -EINVAL);
}

/* ---- Jumps */

/* The place of jump `nr` (2 * term + which) in the program. */
static u16 *jump_place(struct parser *p, unsigned nr)
{
	return &p->filter->preds[nr / 2].next[nr % 2];
}

/* All jumps that wait in the chain lead to entry `target`. The chain is empty afterwards. */
static void resolve(struct parser *p, u16 *chain, unsigned target)
{
	unsigned nr = *chain;

	while (nr != JUMP_END) {
		u16 *at = jump_place(p, nr);

		nr = *at;
		*at = target;
	}
	*chain = JUMP_END;
}

/* Append the chain `more` to `chain`. `more` is empty afterwards. */
static void join(struct parser *p, u16 *chain, u16 *more)
{
	u16 *end = chain;

	while (*end != JUMP_END)
		end = jump_place(p, *end);
	*end = *more;
	*more = JUMP_END;
}

/*
 * The operands since the last || are complete. Their open jumps become those of the whole level: "false" may still
 * lead to what follows the next ||, "true" decides the level.
 */
static void end_and(struct parser *p, struct level *level)
{
	join(p, &level->or.to[true], &level->and.to[true]);
	join(p, &level->or.to[false], &level->and.to[false]);
}

/*
 * An operand is complete. Its open jumps join those of the && chain that it stands in; a "!" before it exchanges what
 * they mean.
 */
static void end_operand(struct parser *p, struct jumps operand, bool negate)
{
	struct level *level = &p->levels[p->depth];

	join(p, &level->and.to[true], &operand.to[!negate]);
	join(p, &level->and.to[false], &operand.to[negate]);
	p->wants_operand = false;
}

/* A term becomes the next entry, with both jumps open. -EINVAL, -EPERM. */
static int parse_term(struct parser *p)
{
	unsigned nr = p->filter->nr;
	struct filter_pred *pred = &p->filter->preds[nr];
	int ret;

	if (nr == p->max_preds)
		return parser_problem(p, FILT_ERR_TOO_MANY_PREDS, p->at, -EINVAL);
	ret = filter_parse_term(p, pred);
	if (ret)
		return ret;
	pred->next[false] = pred->next[true] = JUMP_END;
	p->filter->nr++;
	end_operand(p, (struct jumps){{[false] = 2 * nr, [true] = 2 * nr + 1}}, p->negate);
	p->negate = false;
	return 0;
}

/* ---- Expressions */

/*
 * What stands where an operand is due: a parenthesis opens a level, a "!" is remembered for the operand, all else is
 * a term.
 */
static int parse_operand(struct parser *p)
{
	const char *at = p->text + p->at;

	if (*at == '(') {
		if (p->depth == p->max_depth)
			return parser_problem(p, FILT_ERR_TOO_MANY_OPEN, p->at, -EINVAL);
		p->levels[++p->depth] = (struct level){none, none, p->at, p->negate};
		p->negate = false;
	} else if (*at == '!' && at[1] != '=' && at[1] != '~') {
		p->negate = !p->negate;
	} else if (!*at) {
		return parser_problem(p, FILT_ERR_NO_FILTER, p->at, -EINVAL);
	} else {
		return parse_term(p);
	}
	p->at++;
	return 0;
}

/* What stood between the parentheses becomes one operand of the level outside. */
static int close_level(struct parser *p)
{
	struct level *level = &p->levels[p->depth];

	if (!p->depth)
		return parser_problem(p, FILT_ERR_TOO_MANY_CLOSE, p->at, -EPERM);
	end_and(p, level);
	p->depth--;
	p->at++;
	end_operand(p, level->or, level->negate);
	return 0;
}

/*
 * What stands behind an operand: ")" closes a level. After && the next term is looked at only if all so far was true,
 * so the true jumps lead to it; after || the false ones do.
 */
static int parse_connective(struct parser *p)
{
	struct level *level = &p->levels[p->depth];
	const char *at = p->text + p->at;

	if (*at == ')')
		return close_level(p);
	if (!is_connective(at))
		return parser_problem(p, FILT_ERR_TOO_MANY_PREDS, p->at, -EPERM);
	/* What is decided so far goes on with the next term. */
	if (*at == '&') {
		resolve(p, &level->and.to[true], p->filter->nr);
	} else {
		end_and(p, level);
		resolve(p, &level->or.to[false], p->filter->nr);
	}
	p->wants_operand = true;
	p->at += 2;
	return 0;
}

/*
 * Operands and connectives alternate. At the end the jumps that are still open lead to the two numbers behind the
 * last entry: nr means that the record matches, nr + 1 that it does not.
 */
static int parse_expression(struct parser *p)
{
	struct level *whole = &p->levels[0];
	int ret;

	*whole = (struct level){none, none, 0, false};
	p->wants_operand = true;
	for (;;) {
		p->at = skip_spaces(p->text, p->at);
		if (!p->wants_operand && !p->text[p->at])
			break;
		ret = p->wants_operand ? parse_operand(p) : parse_connective(p);
		if (ret)
			return ret;
	}
	if (p->depth)
		return parser_problem(p, FILT_ERR_TOO_MANY_OPEN, p->levels[p->depth].opened, -ENOENT);
	end_and(p, whole);
	resolve(p, &whole->or.to[true], p->filter->nr);
	resolve(p, &whole->or.to[false], p->filter->nr + 1);
	return 0;
}

/* ---- */

/*
 * One allocation for the struct, its entries, and a copy of the text, which the patterns of the program point into.
 * NULL: no memory.
 */
static struct event_filter *alloc_filter(unsigned max_preds, const char *text)
{
	size_t preds = max_preds * sizeof(struct filter_pred), len = strlen(text) + 1;
	struct event_filter *filter = kvzalloc(sizeof(*filter) + preds + len, GFP_KERNEL);

	if (filter) {
		filter->words = (char *)filter->preds + preds;
		memcpy(filter->words, text, len);
	}
	return filter;
}

static int parse(struct parser *p)
{
	int ret = scan(p);

	if (ret)
		return ret;
	p->filter = alloc_filter(p->max_preds, p->text);
	if (!p->filter)
		return -ENOMEM;
	p->depth = 0;
	return parse_expression(p);
}

/* There cannot be more levels than opening parentheses, so their number is counted first. */
struct event_filter *filter_parse(const struct trace_event_field *fields, const char *text,
				  struct filter_problem *problem)
{
	struct parser p = {.text = text, .fields = fields, .problem = problem};
	int ret;

	*problem = (struct filter_problem){};
	for (unsigned i = 0; text[i]; i++)
		p.max_depth += text[i] == '(';
	p.levels = kvzalloc((p.max_depth + 1) * sizeof(*p.levels), GFP_KERNEL);
	if (!p.levels)
		return ERR_PTR(-ENOMEM);
	ret = parse(&p);
	kvfree(p.levels);
	if (!ret)
		return p.filter;
	filter_free(p.filter);
	return ERR_PTR(ret);
}

void filter_free(struct event_filter *filter)
{
	kvfree(filter);
}
