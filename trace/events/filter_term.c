/*
 * A term of a filter: field, operator, value, as in `prev_pid > 1`, `comm ~ "sh*"` or `ip.function == vfs_read`. The
 * result is a struct filter_pred, which filter.c can evaluate without looking at the text again: numbers are ranges,
 * functions are ranges of addresses, patterns point into the filter's copy of the text.
 *
 * Errors name the place by a column, one to the right of the fault, as Linux does. Linux's order of the checks is
 * kept, so that the same mistake gives the same message.
 */
#include <kernel/ksyms.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/task.h>

#include "filter_parser.h"

/* The beginning of every record (struct trace_entry). */
const struct trace_event_field trace_common_fields[] = {
	{"unsigned short", "common_type", 0, 2, false, FILTER_OTHER},
	{"unsigned char", "common_flags", 2, 1, false, FILTER_OTHER},
	{"unsigned char", "common_preempt_count", 3, 1, false, FILTER_OTHER},
	{"int", "common_pid", 4, 4, true, FILTER_OTHER},
	{},
};

/*
 * Names that are no field of the record. They ask for what is known where the record is made: the CPU and the task's
 * name.
 */
static const struct trace_event_field generic_fields[] = {
	{"int", "CPU", 0, 4, true, FILTER_CPU},
	{"int", "cpu", 0, 4, true, FILTER_CPU},
	{"char *", "COMM", 0, TASK_COMM_LEN, false, FILTER_COMM},
	{"char *", "comm", 0, TASK_COMM_LEN, false, FILTER_COMM},
	{},
};

/* The operators, in the order in which they are tried: "<=" must come before "<". */
static const char op_texts[NR_FILTER_OPS][3] = {
	[OP_GLOB] = "~", [OP_NE] = "!=", [OP_EQ] = "==", [OP_LE] = "<=",
	[OP_LT] = "<",	 [OP_GE] = ">=", [OP_GT] = ">",	 [OP_BAND] = "&",
};

/* The field of this name (len bytes, no zero) in a table that ends with a field without name; NULL. */
static const struct trace_event_field *find_in(const struct trace_event_field *f, const char *name, unsigned len)
{
	for (; f->name; f++)
		if (!strncmp(f->name, name, len) && !f->name[len])
			return f;
	return NULL;
}

/* Is `word` next in the text? Then go behind it. */
static bool takes(struct parser *p, const char *word)
{
	unsigned len = strlen(word);

	if (strncmp(p->text + p->at, word, len))
		return false;
	p->at += len;
	return true;
}

/*
 * A field of the size of a pointer may be looked at in two other ways: as an address in a function (.function), or as
 * a pointer to a string in the task's memory (.ustring).
 */
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

/*
 * Find the field by its name. The record's own fields come before the names that always stand for something, so an
 * event may have a field called cpu.
 */
static int parse_field(struct parser *p, struct filter_pred *pred)
{
	const char *name = p->text + p->at;
	const struct trace_event_field *f;
	unsigned len = 0;

	while (isalnum(name[len]) || name[len] == '_')
		len++;
	if (!len)
		return parser_problem(p, FILT_ERR_NONE, 0, -EPERM);
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

/* Is the field a string, of whatever kind? */
static bool is_text(const struct filter_pred *pred)
{
	return pred->filter_type == FILTER_STATIC_STRING || pred->filter_type == FILTER_DYN_STRING ||
	       pred->filter_type == FILTER_PTR_STRING || pred->filter_type == FILTER_USER_STRING ||
	       pred->filter_type == FILTER_RDYN_STRING || pred->filter_type == FILTER_COMM;
}

/*
 * May the field be compared at all? A string may, and a number of 1, 2, 4 or 8 bytes; a structure or an array of
 * numbers may not.
 */
static bool is_comparable(const struct filter_pred *pred)
{
	if (is_text(pred))
		return true;
	return pred->filter_type != FILTER_NONE && pred->size <= 8 && !(pred->size & (pred->size - 1));
}

/* Find the operator, and go behind it and the blanks around it. */
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

/*
 * A string in quotes, for ==, != and the pattern match ~. The closing quote in the filter's copy of the text becomes
 * a zero, so the program can point to the pattern there.
 */
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
 * Turn a comparison of numbers into a range: the field matches if field - low, computed in the field's width, is at
 * most span; "invert" turns that round. So one unsigned comparison does for signed and unsigned fields and for all
 * operators. The bits of the value that do not fit into the field are cut off, as on Linux.
 *
 *     <= v   low = least, span = v - least            >  v   the same, inverted
 *     >= v   low = v, span = greatest - v             <  v   the same, inverted
 *     == v   low = v, span = 0                        != v   the same, inverted
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

/* A number, decimal, octal or hexadecimal, with a minus if the field is signed. */
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

/*
 * CPUS{list}: == and != compare the field, a CPU or a set of CPUs, with the list; & asks whether the two share a CPU.
 * For a number and a list of one CPU that is an ordinary comparison, which is faster.
 */
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

/* A function, by its name or by any address in it. The field matches if it lies anywhere in that function. */
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

/* The value says by its first characters what it is; only after .function it is a function in any case. */
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

int filter_parse_term(struct parser *p, struct filter_pred *pred)
{
	return parse_field(p, pred) ?: parse_op(p, pred) ?: parse_value(p, pred);
}
