/*
 * Truth expressions made of command-line words: tests joined by ! -a -o and parentheses.
 *
 *     -name a -o ! -type d     becomes     test 0, SKIP_IF (to the end), test 1, NOT
 *
 * The words are compiled to steps that run one after the other and share one truth value. So what
 * is evaluated for each of many files is a short loop. The messages are those of GNU's find.
 *
 * There is no tree and no recursion when it is evaluated: a test that need not be run (the right side
 * of -o behind a true left side) is jumped over. Reading recurses: or -> and -> operand -> or.
 */
#include <vt.h>

#define NESTED_MAX 256 /* parentheses in parentheses; reading recurses for each */

struct step {
	enum { TEST, NOT, SKIP_IF, SKIP_UNLESS } kind;
	size_t value; /* of TEST: its number; of SKIP: the last of the steps that are not run */
};

struct vt_expression {
	struct step *steps;
	size_t count;
	/* while it is read */
	char **args; /* what is left */
	size_t (*take)(char ***args);
	int nested; /* open parentheses */
};

/* One more step. Returns its index, for a jump over it to be completed later. */
static size_t add_step(struct vt_expression *e, int kind, size_t value)
{
	e->steps = vt_realloc(e->steps, sizeof(*e->steps) * (e->count + 1));
	e->steps[e->count] = (struct step){.kind = kind, .value = value};
	return e->count++;
}

/* Whether the next word is one of two that mean the same. */
static bool next_is(const struct vt_expression *e, const char *a, const char *b)
{
	return *e->args && (!strcmp(*e->args, a) || !strcmp(*e->args, b));
}

/* Step over the next word if it is one of the two. Returns whether it was. */
static bool take_word(struct vt_expression *e, const char *a, const char *b)
{
	bool taken = next_is(e, a, b);

	e->args += taken;
	return taken;
}

/* End the program unless an operand may stand here: behind the word `before`. */
static void check_operand(const struct vt_expression *e, const char *before)
{
	bool nothing = !*e->args;

	if (next_is(e, "-a", "-and") || next_is(e, "-o", "-or"))
		vt_die(1, "invalid expression; you have used a binary operator '%s' with nothing before it.", *e->args);
	if (nothing && !strcmp(before, "("))
		vt_die(1, "invalid expression; expected to find a ')' but didn't see one. "
			  "Perhaps you need an extra predicate after '('");
	if (nothing && (!strcmp(before, "!") || !strcmp(before, "-not")))
		vt_die(1, "expected an expression after '%s'", before);
	if (nothing)
		vt_die(1, "invalid expression");
	if (!next_is(e, ")", ")"))
		return;
	if (!strcmp(before, "("))
		vt_die(1, "invalid expression; empty parentheses are not allowed.");
	if (!e->nested)
		vt_die(1, "you have too many ')'");
	vt_die(1, "expected an expression between '%s' and ')'", before);
}

static void take_or(struct vt_expression *e, const char *before);

/* ! TEST, ( EXPRESSION ) or a test. */
static void take_operand(struct vt_expression *e, const char *before)
{
	bool negate = false;

	while (next_is(e, "!", "-not")) {
		negate = !negate;
		before = *e->args++;
	}
	check_operand(e, before);
	if (take_word(e, "(", "(")) {
		if (e->nested++ == NESTED_MAX)
			vt_die(1, "more than %d nested parentheses", NESTED_MAX);
		take_or(e, "(");
		if (!take_word(e, ")", ")"))
			vt_die(1, "invalid expression; I was expecting to find a ')' somewhere but did not see one.");
		e->nested--;
	} else {
		add_step(e, TEST, e->take(&e->args));
	}
	if (negate)
		add_step(e, NOT, 0);
}

/* Operands with -a or nothing between them. */
static void take_and(struct vt_expression *e, const char *before)
{
	take_operand(e, before);
	while (*e->args && !next_is(e, "-o", "-or") && !next_is(e, ")", ")")) {
		size_t skip = add_step(e, SKIP_UNLESS, 0);

		take_operand(e, take_word(e, "-a", "-and") ? e->args[-1] : "");
		e->steps[skip].value = e->count - 1;
	}
}

/*
 * Operands of -a, joined by -o, which binds less. The step between two sides jumps over the right one
 * if the left one is true; where it jumps to is known when the right side has been read.
 */
static void take_or(struct vt_expression *e, const char *before)
{
	take_and(e, before);
	while (take_word(e, "-o", "-or")) {
		size_t skip = add_step(e, SKIP_IF, 0);

		take_and(e, e->args[-1]);
		e->steps[skip].value = e->count - 1;
	}
}

struct vt_expression *vt_expression_take(char **args, size_t (*take)(char ***args))
{
	struct vt_expression *e = vt_malloc(sizeof(*e));

	*e = (struct vt_expression){.args = args, .take = take};
	if (*args)
		take_or(e, "");
	if (*e->args)
		vt_die(1, "you have too many ')'");
	return e;
}

/*
 * Run the program that the parser made: tests in order, with jumps over those that cannot change the result.
 * test(number, arg) is called for the others alone.
 */
bool vt_expression_true(const struct vt_expression *e, bool (*test)(size_t number, const void *arg), const void *arg)
{
	bool truth = true;

	for (size_t at = 0; at < e->count; at++) {
		const struct step *step = &e->steps[at];

		if (step->kind == TEST)
			truth = test(step->value, arg);
		else if (step->kind == NOT)
			truth = !truth;
		else if (truth == (step->kind == SKIP_IF))
			at = step->value;
	}
	return truth;
}
