/*
 * $((...)): C's integer expressions on 64-bit numbers.
 *
 *     arith_eval -> assignment -> ternary -> || -> && -> binary, by level -> unary -> primary
 *
 * An expression is evaluated while it is read, by recursive descent, without a tree. A branch that
 * C would not evaluate (behind && || ?:) is read with `skip` set, so that its syntax is checked but
 * nothing happens. Left out: nothing of POSIX; of bash ** and base#number.
 *
 * Overflow wraps: all arithmetic that could overflow is done on unsigned numbers, where C defines
 * it.
 */
#include "sh.h"
#include <ctype.h>
#include <limits.h>

/* So many variables may have expressions as values, one in another. bash has 1024; here the stack is smaller. */
#define DEEPEST 16

struct arith {
	const char *at; /* next byte of the expression; not owned */
	bool skip;	/* in a branch that is not taken: nothing is assigned or divided */
	int depth;	/* this many variables lead here, each of which has an expression as its value */
};

/* Loosest level that a parenthesis or an assignment's right side may hold. */
static long ternary(struct arith *a);
static long evaluate(struct arith *a);

/* Newlines count as blanks: an expression may go over lines. */
static void blanks(struct arith *a)
{
	a->at += strspn(a->at, " \t\n");
}

/* Take op if it stands here. */
static bool accept(struct arith *a, const char *op)
{
	size_t n = strlen(op);

	blanks(a);
	if (strncmp(a->at, op, n))
		return false;
	a->at += n;
	return true;
}

/*
 * Division is refused for a zero divisor; the one overflow wraps as the other operations do. LONG_MIN
 * / -1 does not fit into a long, and the x86 instruction traps on it.
 */
static long divide(struct arith *a, long x, long y, bool remainder)
{
	if (a->skip)
		return 0;
	if (y == 0)
		sh_error("arithmetic: division by zero");
	if (y == -1)
		return remainder ? 0 : (long)-(unsigned long)x;
	return remainder ? x % y : x / y;
}

/*
 * The order of the first sixteen is that of `assigns` below: an operator's number is its
 * assignment's index.
 */
enum op {
	OP_OR,
	OP_XOR,
	OP_AND,
	OP_EQ,
	OP_NE,
	OP_LE,
	OP_GE,
	OP_LT,
	OP_GT,
	OP_SHL,
	OP_SHR,
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_MOD
};

/*
 * Do one binary operation. Shift counts are taken modulo 64, as both machines do it: C leaves the
 * rest undefined.
 */
static long apply(struct arith *a, enum op op, long x, long y)
{
	switch (op) {
	case OP_OR:
		return x | y;
	case OP_XOR:
		return x ^ y;
	case OP_AND:
		return x & y;
	case OP_EQ:
		return x == y;
	case OP_NE:
		return x != y;
	case OP_LE:
		return x <= y;
	case OP_GE:
		return x >= y;
	case OP_LT:
		return x < y;
	case OP_GT:
		return x > y;
	case OP_SHL:
		return (long)((unsigned long)x << (y & 63));
	case OP_SHR:
		return x >> (y & 63);
	case OP_ADD:
		return (long)((unsigned long)x + (unsigned long)y);
	case OP_SUB:
		return (long)((unsigned long)x - (unsigned long)y);
	case OP_MUL:
		return (long)((unsigned long)x * (unsigned long)y);
	case OP_DIV:
	case OP_MOD:
		return divide(a, x, y, op == OP_MOD);
	}
	return 0;
}

/*
 * Levels from the loosest; two-byte operators stand before their first bytes. C's precedence, which
 * places & below ==: 1 & 2 == 2 is 1 & (2 == 2).
 */
static const struct {
	const char *text;
	int level;
	enum op op;
} operators[] = {
	{"|", 0, OP_OR},   {"^", 1, OP_XOR}, {"&", 2, OP_AND}, {"==", 3, OP_EQ}, {"!=", 3, OP_NE}, {"<<", 5, OP_SHL},
	{">>", 5, OP_SHR}, {"<=", 4, OP_LE}, {">=", 4, OP_GE}, {"<", 4, OP_LT},	 {">", 4, OP_GT},  {"+", 6, OP_ADD},
	{"-", 6, OP_SUB},  {"*", 7, OP_MUL}, {"/", 7, OP_DIV}, {"%", 7, OP_MOD},
};

#define LEVELS 8

/*
 * Take the binary operator that stands here if it is of this level, and return it; else return -1 and
 * leave it for another level.
 */
static int accept_operator(struct arith *a, int level)
{
	blanks(a);
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		size_t n = strlen(operators[i].text);
		char next;

		if (strncmp(a->at, operators[i].text, n))
			continue;
		next = a->at[n];
		if (n == 1 && next == a->at[0] && strchr("|&", next))
			continue; /* || and && are not | and & */
		if (operators[i].level != level)
			return -1;
		a->at += n;
		return operators[i].op;
	}
	return -1;
}

/*
 * The value of a variable as a number. POSIX allows the text of the variable to be an expression
 * itself: with a=b+1 and b=2, $((a)) is 3. Where the variable is skipped, so is that expression. A variable that is
 * not set counts as 0.
 */
static long variable(struct arith *a, const char *name)
{
	const char *value = var_get(name);
	struct arith inner = {.at = value, .skip = a->skip, .depth = a->depth + 1};
	long n;

	if (!value && sh.opt_u && !a->skip)
		sh_error("%s: parameter not set", name);
	if (!value || !*value)
		return 0;
	if (vt_number(value, LONG_MIN, LONG_MAX, &n) == 0)
		return n;
	if (a->depth > DEEPEST) /* x=x+1 as a value refers to itself */
		sh_error("arithmetic: %s: recursion", name);
	return evaluate(&inner);
}

/*
 * A name with what may follow it: = += ... as an assignment, ++ or --, or nothing. The assignment is
 * done here and not as a binary operator, as its left side must be a name and no value.
 */
static long identifier(struct arith *a)
{
	static const char *const assigns[] = {"|=", "^=",  "&=",  "",	"",   "",   "",	  "",
					      "",   "<<=", ">>=", "+=", "-=", "*=", "/=", "%="};
	size_t n = var_name_length(a->at);
	char *name = arena_copy(&sh.temp, a->at, n);
	long value;

	a->at += n;
	if (accept(a, "++") || accept(a, "--")) {
		value = variable(a, name);
		if (!a->skip)
			var_set_number(name, a->at[-1] == '+' ? value + 1 : value - 1);
		return value;
	}
	blanks(a);
	if (a->at[0] == '=' && a->at[1] != '=') {
		a->at++;
		value = ternary(a);
	} else {
		size_t op = 0;

		while (op < ARRAY_SIZE(assigns) && (!*assigns[op] || !accept(a, assigns[op])))
			op++;
		if (op == ARRAY_SIZE(assigns))
			return variable(a, name);
		/*
		 * The order of evaluation of the two does not matter to the result unless the right
		 * side assigns the same variable, which C leaves undefined too.
		 */
		value = apply(a, (enum op)op, variable(a, name), ternary(a));
	}
	if (!a->skip)
		var_set_number(name, value);
	return value;
}

/* A parenthesis, a variable or a number. A number's base follows C: 0x.. and 0.. . */
static long primary(struct arith *a)
{
	char *end;
	long n;

	if (accept(a, "(")) {
		n = ternary(a);
		if (!accept(a, ")"))
			sh_error("arithmetic: missing )");
		return n;
	}
	if (var_name_length(a->at))
		return identifier(a);
	if (!isdigit((unsigned char)*a->at))
		sh_error("arithmetic: number expected at \"%s\"", a->at);
	/* Unsigned, so that 0xffffffffffffffff is -1 and not the largest number. */
	n = (long)strtoul(a->at, &end, 0);
	if (isalnum((unsigned char)*end))
		sh_error("arithmetic: bad number \"%s\"", a->at);
	a->at = end;
	return n;
}

/*
 * Signs, ~ and ! may be repeated; ++ and -- before a name are assignments, before anything else two
 * signs.
 */
static long unary(struct arith *a)
{
	blanks(a);
	if (!strncmp(a->at, "++", 2) || !strncmp(a->at, "--", 2)) {
		int step = *a->at == '+' ? 1 : -1;
		size_t n = var_name_length(a->at + 2);

		if (n) {
			char *name = arena_copy(&sh.temp, a->at + 2, n);
			long value = variable(a, name) + step;

			a->at += 2 + n;
			if (!a->skip)
				var_set_number(name, value);
			return value;
		}
	}
	if (accept(a, "-"))
		return (long)-(unsigned long)unary(a);
	if (accept(a, "+"))
		return unary(a);
	if (accept(a, "~"))
		return ~unary(a);
	if (accept(a, "!"))
		return !unary(a);
	return primary(a);
}

/*
 * All levels of binary operators in one function: level LEVELS is the operand. Operators of one
 * level group to the left.
 */
static long binary(struct arith *a, int level)
{
	long value;
	int op;

	if (level == LEVELS)
		return unary(a);
	value = binary(a, level + 1);
	while ((op = accept_operator(a, level)) >= 0)
		value = apply(a, (enum op)op, value, binary(a, level + 1));
	return value;
}

/*
 * The right side of && is skipped when the left is 0. `skip` comes back as it was, as this may
 * stand in a skipped branch itself.
 */
static long logical_and(struct arith *a)
{
	long value = binary(a, 0), right;
	bool skip = a->skip;

	while (accept(a, "&&")) {
		a->skip = skip || !value;
		right = binary(a, 0);
		value = value && right;
	}
	a->skip = skip;
	return value;
}

/* As logical_and(): the right side is skipped when the left is not 0. */
static long logical_or(struct arith *a)
{
	long value = logical_and(a), right;
	bool skip = a->skip;

	while (accept(a, "||")) {
		a->skip = skip || value;
		right = logical_and(a);
		value = value || right;
	}
	a->skip = skip;
	return value;
}

/*
 * c ? a : b, grouping to the right. The branch that is not taken is read with `skip` set: a division
 * by zero or an assignment in it does nothing.
 */
static long ternary(struct arith *a)
{
	long value = logical_or(a), yes, no;
	bool skip = a->skip;

	if (!accept(a, "?"))
		return value;
	a->skip = skip || !value;
	yes = ternary(a);
	if (!accept(a, ":"))
		sh_error("arithmetic: missing :");
	a->skip = skip || value;
	no = ternary(a);
	a->skip = skip;
	return value ? yes : no;
}

/* A whole text. Leading blanks are stepped over here, so that $(( )) is recognised as empty: its value is 0. */
static long evaluate(struct arith *a)
{
	long value;

	blanks(a);
	if (!*a->at)
		return 0;
	do
		value = ternary(a);
	while (accept(a, ","));
	blanks(a);
	if (*a->at)
		sh_error("arithmetic: unexpected \"%s\"", a->at);
	return value;
}

long arith_eval(const char *text)
{
	struct arith a = {.at = text};

	return evaluate(&a);
}
