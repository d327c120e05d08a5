/*
 * From the text of a filter to its program (filter.h), in one walk. Each term becomes one entry, whose two jumps say
 * which entry comes next. Jumps whose target is not known yet are chained through their own places (struct jumps).
 */
#include <kernel/ksyms.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/task.h>

#include "filter.h"

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

const struct trace_event_field trace_common_fields[] = {
	{"unsigned short", "common_type", 0, 2, false, FILTER_OTHER},
	{"unsigned char", "common_flags", 2, 1, false, FILTER_OTHER},
	{"unsigned char", "common_preempt_count", 3, 1, false, FILTER_OTHER},
	{"int", "common_pid", 4, 4, true, FILTER_OTHER},
	{},
};

/* Names that are no field of the record, but can be asked for where the record is made. */
static const struct trace_event_field generic_fields[] = {
	{"int", "CPU", 0, 4, true, FILTER_CPU},
	{"int", "cpu", 0, 4, true, FILTER_CPU},
	{"char *", "COMM", 0, TASK_COMM_LEN, false, FILTER_COMM},
	{"char *", "comm", 0, TASK_COMM_LEN, false, FILTER_COMM},
	{},
};

/* In the order in which they are tried: <= before <. */
static const char op_texts[NR_FILTER_OPS][3] = {
	[OP_GLOB] = "~", [OP_NE] = "!=", [OP_EQ] = "==", [OP_LE] = "<=",
	[OP_LT] = "<",	 [OP_GE] = ">=", [OP_GT] = ">",	 [OP_BAND] = "&",
};

/*
 * Jumps of an expression that leave it, for when it is true and when it is false: chains of places, each a term's
 * next[], 2 * term + which. The place holds the next one of its chain until its target is known.
 */
#define END 0xffff
struct jumps {
	u16 to[2];
};
static const struct jumps none = {{END, END}};

/* What stands between two parentheses, or the whole. a && b || c && d: `or` is what is left of the last ||. */
struct level {
	struct jumps or, and;
	u16 opened;  /* column of its ( */
	bool negate; /* a ! stands before it */
};

struct parser {
	const char *text;
	const struct trace_event_field *fields;
	struct filter_problem *problem;
	struct event_filter *filter;
	struct level *levels;
	unsigned at; /* column */
	unsigned depth, max_depth, max_preds;
	bool negate; /* before the next operand stood an odd number of ! */
	bool wants_operand;
};

/* Notes what is wrong and where, for error_log's caret, and hands `ret` back for the caller to return. */
static int problem(struct parser *p, enum filter_error error, unsigned column, int ret)
{
	p->problem->error = error;
	p->problem->column = column;
	return ret;
}

/* Inside a term. */
static int term_problem(struct parser *p, enum filter_error error, unsigned column)
{
	return problem(p, error, column + 1, -EINVAL);
}

static unsigned skip_spaces(const char *text, unsigned at)
{
	while (isspace(text[at]))
		at++;
	return at;
}

/* ---- The first look: are quotes and parentheses matched, and how many of what are there? */

/* && or ||. A single & is an operator inside a term. */
static bool is_connective(const char *at)
{
	return (at[0] == '&' || at[0] == '|') && at[0] == at[1];
}

/* Behind the quote that matches the one at `at`; 0: there is none. */
static unsigned quote_end(const char *text, unsigned at)
{
	const char *end = strchr(text + at + 1, text[at]);

	return end ? end + 1 - text : 0;
}

/*
 * Parentheses and quotes of the whole text, before anything else is looked at. Also says how many terms there are at
 * most, and leaves in levels[].opened the columns of what is open.
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
				return problem(p, FILT_ERR_TOO_MANY_CLOSE, i, -EPERM);
		} else if (is_connective(text + i)) {
			i++;
		} else {
			term = true;
		}
		p->max_preds += term && !in_term;
		in_term = term;
		if (text[i] == '\'' || text[i] == '"') {
			if (!quote_end(text, i))
				return problem(p, FILT_ERR_MISSING_QUOTE, i, -ESRCH);
			i = quote_end(text, i) - 1;
		}
	}
	if (p->depth)
		return problem(p, FILT_ERR_TOO_MANY_OPEN, p->levels[p->depth].opened, -ENOENT);
	return p->max_preds ? 0 : problem(p, FILT_ERR_NONE, 0, -EINVAL);
}

/* ---- Jumps */

static u16 *place(struct parser *p, unsigned nr)
{
	return &p->filter->preds[nr / 2].next[nr % 2];
}

/* All jumps of a chain go to entry `target`. */
static void resolve(struct parser *p, u16 *chain, unsigned target)
{
	unsigned nr = *chain;

	while (nr != END) {
		u16 *at = place(p, nr);

		nr = *at;
		*at = target;
	}
	*chain = END;
}

/* The chain `more` is appended to `chain`, and is empty then. */
static void join(struct parser *p, u16 *chain, u16 *more)
{
	u16 *end = chain;

	while (*end != END)
		end = place(p, *end);
	*end = *more;
	*more = END;
}

/* What stood behind the last || is complete. */
static void end_and(struct parser *p, struct level *level)
{
	join(p, &level->or.to[true], &level->and.to[true]);
	join(p, &level->or.to[false], &level->and.to[false]);
}

/* An operand is complete; "!" in front of it exchanges the meanings of its two chains. */
static void end_operand(struct parser *p, struct jumps operand, bool negate)
{
	struct level *level = &p->levels[p->depth];

	join(p, &level->and.to[true], &operand.to[!negate]);
	join(p, &level->and.to[false], &operand.to[negate]);
	p->wants_operand = false;
}

/* ---- A term: field, operator, value */

static const struct trace_event_field *find_in(const struct trace_event_field *f, const char *name, unsigned len)
{
	for (; f->name; f++)
		if (!strncmp(f->name, name, len) && !f->name[len])
			return f;
	return NULL;
}

static bool takes(struct parser *p, const char *word)
{
	unsigned len = strlen(word);

	if (strncmp(p->text + p->at, word, len))
		return false;
	p->at += len;
	return true;
}

/* What a field of a pointer's size may be looked at as: an address in a function, a string of the task's. */
static int parse_suffix(struct parser *p, struct filter_pred *pred)
{
	bool user = takes(p, ".ustring");

	pred->in_function = !user && takes(p, ".function");
	if (!user && !pred->in_function)
		return 0;
	if (pred->size != sizeof(long) || (pred->filter_type != FILTER_OTHER && pred->filter_type != FILTER_PTR_STRING))
		return term_problem(p, FILT_ERR_ILLEGAL_FIELD_OP, p->at);
	pred->filter_type = user ? FILTER_USER_STRING : FILTER_OTHER;
	return 0;
}

/* The record's own fields go before the names that always stand for something. */
static int parse_field(struct parser *p, struct filter_pred *pred)
{
	const char *name = p->text + p->at;
	const struct trace_event_field *f;
	unsigned len = 0;

	while (isalnum(name[len]) || name[len] == '_')
		len++;
	if (!len)
		return problem(p, FILT_ERR_NONE, 0, -EPERM);
	f = find_in(p->fields, name, len) ?: find_in(generic_fields, name, len) ?:
	    find_in(trace_common_fields, name, len);
	p->at += len;
	if (!f)
		return term_problem(p, FILT_ERR_FIELD_NOT_FOUND, p->at);
	pred->filter_type = f->filter_type;
	pred->offset = f->offset;
	pred->size = f->size;
	pred->is_signed = f->is_signed;
	return parse_suffix(p, pred);
}

static bool is_text(const struct filter_pred *pred)
{
	return pred->filter_type == FILTER_STATIC_STRING || pred->filter_type == FILTER_DYN_STRING ||
	       pred->filter_type == FILTER_PTR_STRING || pred->filter_type == FILTER_USER_STRING ||
	       pred->filter_type == FILTER_COMM;
}

/* A number's size; a structure or an array of numbers can be compared with nothing. */
static bool is_comparable(const struct filter_pred *pred)
{
	if (is_text(pred))
		return true;
	return pred->filter_type != FILTER_NONE && pred->size <= 8 && !(pred->size & (pred->size - 1));
}

static int parse_op(struct parser *p, struct filter_pred *pred)
{
	p->at = skip_spaces(p->text, p->at);
	for (unsigned op = 0; op < NR_FILTER_OPS; op++) {
		unsigned len = strlen(op_texts[op]);

		if (strncmp(p->text + p->at, op_texts[op], len))
			continue;
		pred->op = op;
		p->at = skip_spaces(p->text, p->at + len);
		return is_comparable(pred) ? 0 : term_problem(p, FILT_ERR_ILLEGAL_FIELD_OP, p->at);
	}
	return term_problem(p, FILT_ERR_INVALID_OP, p->at);
}

static int parse_text(struct parser *p, struct filter_pred *pred)
{
	unsigned from = p->at + 1, end = quote_end(p->text, p->at);

	if (pred->op != OP_NE && pred->op != OP_EQ && pred->op != OP_GLOB)
		return term_problem(p, FILT_ERR_ILLEGAL_FIELD_OP, p->at);
	if (!is_text(pred))
		return term_problem(p, FILT_ERR_EXPECT_DIGIT, p->at);
	if (!end)
		return term_problem(p, FILT_ERR_MISSING_QUOTE, strlen(p->text));
	p->at = end;
	if (end - 1 - from >= FILTER_PATTERN_MAX)
		return term_problem(p, FILT_ERR_OPERAND_TOO_LONG, end - 1);
	p->filter->words[end - 1] = '\0';
	pred->text = p->filter->words + from;
	pred->invert = pred->op == OP_NE;
	if (pred->op == OP_GLOB && *pred->text == '!') {
		pred->invert = true;
		pred->text++;
	}
	return 0;
}

/*
 * A comparison as a range, counted upwards in the field's width from `low`, and maybe inverted. What of the value does
 * not fit the field is cut off, as Linux does.
 */
static void set_range(struct filter_pred *pred, u64 value)
{
	unsigned bits = pred->size * 8;
	u64 all = ~0ULL >> (64 - bits), least = pred->is_signed ? 1ULL << (bits - 1) : 0;

	pred->low = value & all;
	switch (pred->op) {
	case OP_LE:
	case OP_GT:
		pred->low = least;
		pred->span = (value - least) & all;
		break;
	case OP_GE:
	case OP_LT:
		pred->span = (least - 1 - value) & all;
		break;
	}
	pred->invert = pred->op == OP_NE || pred->op == OP_GT || pred->op == OP_LT;
}

static int parse_number(struct parser *p, struct filter_pred *pred)
{
	char number[24];
	unsigned from = p->at, len;
	u64 value;
	int ret;

	if (is_text(pred))
		return term_problem(p, FILT_ERR_EXPECT_STRING, from);
	if (pred->op == OP_GLOB || pred->filter_type == FILTER_CPUMASK)
		return term_problem(p, FILT_ERR_ILLEGAL_FIELD_OP, from);
	p->at += p->text[from] == '-';
	while (isalnum(p->text[p->at]))
		p->at++;
	len = p->at - from;
	if (len >= sizeof(number))
		return term_problem(p, FILT_ERR_OPERAND_TOO_LONG, p->at);
	memcpy(number, p->text + from, len);
	number[len] = '\0';
	if (pred->is_signed)
		ret = kstrtoll(number, 0, (s64 *)&value);
	else
		ret = kstrtoull(number, 0, &value);
	if (ret)
		return term_problem(p, FILT_ERR_ILLEGAL_INTVAL, from);
	set_range(pred, value);
	return 0;
}

/* CPUS{list}. Of one CPU, for a number: that number. */
static int parse_cpus(struct parser *p, struct filter_pred *pred)
{
	const char *text = p->text;
	unsigned from;
	u64 cpus;

	if (is_text(pred) || (pred->op != OP_EQ && pred->op != OP_NE && pred->op != OP_BAND))
		return term_problem(p, FILT_ERR_ILLEGAL_FIELD_OP, p->at);
	p->at += strlen("CPUS");
	if (text[p->at] != '{')
		return term_problem(p, FILT_ERR_MISSING_BRACE_OPEN, p->at);
	from = ++p->at;
	while (text[p->at] && text[p->at] != '}')
		p->at++;
	if (!text[p->at])
		return term_problem(p, FILT_ERR_MISSING_BRACE_CLOSE, p->at);
	if (p->at == from || !filter_parse_cpus(text + from, text + p->at, &cpus))
		return term_problem(p, FILT_ERR_INVALID_CPULIST, p->at);
	p->at++;
	if (pred->filter_type != FILTER_CPUMASK && cpus && !(cpus & (cpus - 1))) {
		pred->op = pred->op == OP_BAND ? OP_EQ : pred->op;
		set_range(pred, __builtin_ctzll(cpus));
		return 0;
	}
	pred->in_cpus = true;
	pred->low = cpus;
	return 0;
}

/* A function by name, or by an address in it: the field is anywhere in it. */
static int parse_function(struct parser *p, struct filter_pred *pred)
{
	const char *at = p->text + p->at;
	unsigned long address, size, offset;
	char name[KSYM_NAME_LEN];
	unsigned len = 0;

	if (pred->op != OP_EQ && pred->op != OP_NE)
		return term_problem(p, FILT_ERR_INVALID_OP, p->at);
	while (at[len] && !isspace(at[len]) && at[len] != ')' && at[len] != '&' && at[len] != '|')
		len++;
	if (len >= sizeof(name))
		return term_problem(p, FILT_ERR_OPERAND_TOO_LONG, p->at + len);
	memcpy(name, at, len);
	name[len] = '\0';
	if (!isdigit(*name))
		address = kallsyms_lookup_name(name);
	else if (kstrtoul(name, 0, &address))
		return term_problem(p, FILT_ERR_ILLEGAL_INTVAL, p->at);
	if (!address || !kallsyms_lookup(address, &size, &offset, name))
		return term_problem(p, FILT_ERR_NO_FUNCTION, p->at);
	p->at += len;
	pred->low = address - offset;
	pred->span = size - 1;
	pred->invert = pred->op == OP_NE;
	return 0;
}

static int parse_value(struct parser *p, struct filter_pred *pred)
{
	char c = p->text[p->at];

	if (pred->in_function)
		return parse_function(p, pred);
	if (c == '\'' || c == '"')
		return parse_text(p, pred);
	if (!strncmp(p->text + p->at, "CPUS", 4))
		return parse_cpus(p, pred);
	if (isdigit(c) || c == '-')
		return parse_number(p, pred);
	return term_problem(p, FILT_ERR_INVALID_VALUE, p->at);
}

static int parse_term(struct parser *p)
{
	unsigned nr = p->filter->nr;
	struct filter_pred *pred = &p->filter->preds[nr];
	int ret;

	if (nr == p->max_preds)
		return problem(p, FILT_ERR_TOO_MANY_PREDS, p->at, -EINVAL);
	ret = parse_field(p, pred) ?: parse_op(p, pred) ?: parse_value(p, pred);
	if (ret)
		return ret;
	pred->next[false] = pred->next[true] = END;
	p->filter->nr++;
	end_operand(p, (struct jumps){{[false] = 2 * nr, [true] = 2 * nr + 1}}, p->negate);
	p->negate = false;
	return 0;
}

/* ---- Expressions */

static int parse_operand(struct parser *p)
{
	const char *at = p->text + p->at;

	if (*at == '(') {
		if (p->depth == p->max_depth)
			return problem(p, FILT_ERR_TOO_MANY_OPEN, p->at, -EINVAL);
		p->levels[++p->depth] = (struct level){none, none, p->at, p->negate};
		p->negate = false;
	} else if (*at == '!' && at[1] != '=' && at[1] != '~') {
		p->negate = !p->negate;
	} else if (!*at) {
		return problem(p, FILT_ERR_NO_FILTER, p->at, -EINVAL);
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
		return problem(p, FILT_ERR_TOO_MANY_CLOSE, p->at, -EPERM);
	end_and(p, level);
	p->depth--;
	p->at++;
	end_operand(p, level->or, level->negate);
	return 0;
}

static int parse_connective(struct parser *p)
{
	struct level *level = &p->levels[p->depth];
	const char *at = p->text + p->at;

	if (*at == ')')
		return close_level(p);
	if (!is_connective(at))
		return problem(p, FILT_ERR_TOO_MANY_PREDS, p->at, -EPERM);
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

/* Operands and connectives alternate; at the end the open jumps lead to "matches" (nr) and "does not" (nr + 1). */
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
		return problem(p, FILT_ERR_TOO_MANY_OPEN, p->levels[p->depth].opened, -ENOENT);
	end_and(p, whole);
	resolve(p, &whole->or.to[true], p->filter->nr);
	resolve(p, &whole->or.to[false], p->filter->nr + 1);
	return 0;
}

/* ---- */

/* The struct, its terms and a copy of the text, which strings of the program point into. */
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
