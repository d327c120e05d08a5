/*
 * What is counted, and by what: a text becomes a field (struct hist_field) that hit.c can evaluate without looking at
 * the text again.
 *
 *	call_site.sym			an atom: a field of the record, with what stands behind the dot
 *	common_timestamp.usecs-$ts0	an expression of two atoms
 *	-(4+3)				a negation, which needs its parentheses
 *
 * The grammar is Linux's, so there are no other parentheses, and at most three operators. * and / bind before + and -,
 * and operators of one rank go from left to right: the root of an expression is the last + or -, or if there is none
 * the last * or /.
 */
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "hist.h"

const char *const hist_form_names[NR_HIST_FORMS] = {
	[FORM_PLAIN] = NULL,	      [FORM_HEX] = "hex",
	[FORM_SYM] = "sym",	      [FORM_SYM_OFFSET] = "sym-offset",
	[FORM_EXECNAME] = "execname", [FORM_SYSCALL] = "syscall",
	[FORM_LOG2] = "log2",	      [FORM_BUCKETS] = "buckets",
	[FORM_PERCENT] = "percent",   [FORM_GRAPH] = "graph",
	[FORM_USECS] = "usecs",	      [FORM_STACKTRACE] = "stacktrace",
};

#define MAX_OPERATORS 3

/* ---- A field */

/* `type` lives as long as the field's event. NULL: out of memory. */
struct hist_field *hist_field_new(u8 op, const char *name, unsigned len, const char *type, unsigned size)
{
	struct hist_field *f = kzalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return NULL;
	f->op = op;
	f->is_text = op == HIST_TEXT_IN || op == HIST_TEXT_BEHIND || op == HIST_COMM;
	f->is_stack = op == HIST_STACK || op == HIST_STACK_FIELD;
	f->type = type;
	f->size = size;
	f->name = kstrndup(name, len, GFP_KERNEL);
	if (f->name)
		return f;
	kfree(f);
	return NULL;
}

/* Its operands too: an expression has at most three operators, so this goes no deeper. NULL and ERR_PTR are allowed. */
void hist_field_free(struct hist_field *f)
{
	if (!f || IS_ERR(f))
		return;
	hist_field_free(f->operand[0]);
	hist_field_free(f->operand[1]);
	kfree(f->name);
	kfree(f);
}

static const struct trace_event_field *find_in(const struct trace_event_field *f, const char *name, unsigned len)
{
	for (; f->name; f++)
		if (!strncmp(f->name, name, len) && !f->name[len])
			return f;
	return NULL;
}

/*
 * Hits read the field meanwhile. The two describe the same bytes, and the event of the old one stays until a grace
 * period has passed, so either of them is right.
 */
void hist_field_move(struct hist_field *f, const struct trace_event_call *call)
{
	const struct trace_event_field *field = NULL;

	if (!f)
		return;
	hist_field_move(f->operand[0], call);
	hist_field_move(f->operand[1], call);
	if (f->field)
		field = find_in(trace_event_fields(call), f->field->name, strlen(f->field->name));
	if (field) {
		WRITE_ONCE(f->field, field);
		f->type = field->type;
	} else if (f->operand[0]) {
		f->type = f->operand[0]->type;
	}
}

bool hist_has_ref(const struct hist_field *f)
{
	return f && (f->op == HIST_REF || hist_has_ref(f->operand[0]) || hist_has_ref(f->operand[1]));
}

/* ---- Atoms */

/* Is this character the one in ".sym-offset"? It is no operator. */
static bool is_in_modifier(const char *text, const char *at)
{
	return at - text >= 4 && !strncmp(at - 4, ".sym-offset", strlen(".sym-offset"));
}

bool hist_contains_operator(const char *text)
{
	for (const char *c = text; *c; c++)
		if (strchr("+-*/", *c) && !is_in_modifier(text, c))
			return true;
	return false;
}

/* What stands behind the dot, into the field's form. -EINVAL: there is nothing of this name, or not for this field. */
static int parse_form(struct hist_field *f, const char *modifier)
{
	static const char buckets[] = "bucket";

	for (unsigned form = FORM_PLAIN + 1; form < NR_HIST_FORMS; form++) {
		if (form == FORM_BUCKETS || strcmp(modifier, hist_form_names[form]))
			continue;
		f->form = form;
		/* The name that is kept is that of the task that was hit, and this is its pid. */
		return form != FORM_EXECNAME || !strcmp(f->name, "common_pid") ? 0 : -EINVAL;
	}
	if (strncmp(modifier, buckets, strlen(buckets)))
		return -EINVAL;
	modifier += strlen(buckets);
	modifier += *modifier == 's';
	f->form = FORM_BUCKETS;
	if (*modifier != '=' || kstrtoull(modifier + 1, 0, &f->number) || !f->number)
		return -EINVAL;
	return 0;
}

/* Names that every event has, and that are no field of its record. */
static const struct {
	const char *name;
	u8 op;
	const char *type;
	u8 size;
} special[] = {
	{"common_timestamp", HIST_TIME, "u64", 8},
	{"common_cpu", HIST_CPU, "unsigned int", 4},
	{"common_stacktrace", HIST_STACK, "unsigned long[]", 0},
	{"hitcount", HIST_COUNT, "u64", 8},
	/* Former names, for events that have no such field. */
	{"cpu", HIST_CPU, "unsigned int", 4},
	{"CPU", HIST_CPU, "unsigned int", 4},
	{"stacktrace", HIST_STACK, "unsigned long[]", 0},
};
#define NR_SPECIAL_FIRST 4

/* A field that is not of the record, by one of the names special[from..to). NULL: it is none of these; -ENOMEM. */
static struct hist_field *parse_special(const char *name, unsigned len, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		if (!strncmp(special[i].name, name, len) && !special[i].name[len]) {
			const char *shown = special[i].op == HIST_STACK ? "common_stacktrace"
					    : special[i].op == HIST_CPU ? "common_cpu"
									: special[i].name;

			return hist_field_new(special[i].op, shown, strlen(shown), special[i].type, special[i].size)
				       ?: ERR_PTR(-ENOMEM);
		}
	return NULL;
}

/*
 * A number of the record, or a string that lies in it. An array of numbers is nothing that can be counted; one behind
 * the record's fixed part may be addresses. In an array within that part there is no word that says where it lies.
 * NULL: it cannot be counted; ERR_PTR(-ENOMEM).
 */
static struct hist_field *field_of_record(const struct trace_event_field *field)
{
	bool is_dynamic = field->filter_type == FILTER_DYN_STRING || field->filter_type == FILTER_RDYN_STRING;
	bool is_text = is_dynamic || field->filter_type == FILTER_STATIC_STRING;
	bool is_array = !is_text && strchr(field->type, '[');
	bool is_behind = !strncmp(field->type, "__data_loc", strlen("__data_loc"));
	struct hist_field *f;
	u8 op = is_dynamic ? HIST_TEXT_BEHIND : is_text ? HIST_TEXT_IN : is_array ? HIST_STACK_FIELD : HIST_NUMBER;

	if (is_array && !is_behind)
		return NULL;
	if (op == HIST_NUMBER && (field->size > 8 || (field->size & (field->size - 1)) || !field->size))
		return NULL;
	f = hist_field_new(op, field->name, strlen(field->name), field->type, field->size);
	if (!f)
		return ERR_PTR(-ENOMEM);
	f->field = field;
	f->is_signed = field->is_signed;
	if (is_dynamic || !field->size)
		f->size = HIST_TEXT;
	return f;
}

/*
 * "NAME[.MODIFIER]" of the event. The names that every event has come first, then fields of the record; former names of
 * the first come last, since an event may have a field of that name.
 */
static struct hist_field *parse_field(struct hist_parse *p, const char *text)
{
	const char *dot = strchr(text, '.');
	unsigned len = dot ? dot - text : (int)strlen(text);
	const struct trace_event_field *field = find_in(trace_event_fields(p->file->call), text, len);
	struct hist_field *f = parse_special(text, len, 0, NR_SPECIAL_FIRST);
	bool is_array;

	if (!field)
		field = find_in(trace_common_fields, text, len);
	if (!f && field)
		f = field_of_record(field);
	if (!f)
		f = parse_special(text, len, NR_SPECIAL_FIRST, ARRAY_SIZE(special));
	if (IS_ERR(f))
		return f;
	if (!f)
		return ERR_PTR(hist_error(p, HIST_ERR_FIELD_NOT_FOUND, text));
	/* A string has one form, and only the time can be in microseconds. */
	if (dot && (parse_form(f, dot + 1) || f->is_text || (f->form == FORM_USECS && f->op != HIST_TIME))) {
		hist_field_free(f);
		return ERR_PTR(hist_error(p, HIST_ERR_BAD_FIELD_MODIFIER, dot + 1));
	}
	/* An array is addresses, if somebody says so; else there is no way to count it. */
	is_array = f->op == HIST_STACK_FIELD;
	if (is_array != (f->form == FORM_STACKTRACE)) {
		hist_field_free(f);
		return ERR_PTR(hist_error(p, is_array ? HIST_ERR_FIELD_NOT_FOUND : HIST_ERR_BAD_FIELD_MODIFIER, text));
	}
	f->in_usecs = f->form == FORM_USECS;
	p->hist->uses_time |= f->op == HIST_TIME;
	return f;
}

/* A number as C writes it. */
static struct hist_field *parse_number(struct hist_parse *p, const char *text)
{
	struct hist_field *f;
	u64 number;

	if (kstrtoull(text, 0, &number))
		return ERR_PTR(hist_error(p, HIST_ERR_EXPECT_NUMBER, text));
	f = hist_field_new(HIST_CONST, text, strlen(text), "u64", sizeof(u64));
	if (!f)
		return ERR_PTR(-ENOMEM);
	f->number = number;
	return f;
}

/*
 * A variable of this command that is just a field stands for the field. NULL: the name is none. A text with a variable
 * in it, as "sched.sched_waking.$x", is no field: x could be defined by itself, and the search would never end.
 */
static const char *find_defined(const struct hist_parse *p, const char *name)
{
	for (unsigned i = 0; i < p->nr_defs; i++) {
		const char *value = p->def_values[i];

		if (!strcmp(p->def_names[i], name) && !strchr(value, '$') && !hist_contains_operator(value))
			return value;
	}
	return NULL;
}

/* Is the event that was named, if one was, that of this command? */
static bool is_of_this_event(const struct hist_parse *p, const struct hist_name *name)
{
	const struct trace_event_call *call = p->file->call;

	return !name->system || (!strcmp(name->system, call->class->system) && !strcmp(name->event, call->name));
}

/* "$var" or "system.event.$var". */
static struct hist_field *parse_ref(struct hist_parse *p, const struct hist_name *name, const char *text)
{
	const char *var = name->name + 1, *value = is_of_this_event(p, name) ? find_defined(p, var) : NULL;
	unsigned n;
	struct hist *owner;
	const struct hist_field *of;
	struct hist_field *f;
	int ref;

	if (value)
		return hist_parse_atom(p, value);
	owner = hist_resolve(p, name->system, name->event, var, &n);
	if (!owner)
		return ERR_PTR(hist_error(p, HIST_ERR_VAR_NOT_FOUND, var));
	ref = hist_add_ref(p->hist, owner, n);
	if (ref < 0)
		return ERR_PTR(ref);
	of = owner->vars[n].value;
	f = hist_field_new(HIST_REF, text, strlen(text), of ? of->type : "u64", of ? of->size : sizeof(u64));
	if (!f)
		return ERR_PTR(-ENOMEM);
	f->ref = ref;
	f->is_signed = of && of->is_signed;
	f->is_text = of && of->is_text;
	f->is_stack = of && of->is_stack;
	f->in_usecs = of && of->in_usecs;
	return f;
}

struct hist_field *hist_parse_atom(struct hist_parse *p, const char *text)
{
	struct hist_name name = {};
	int err;

	if (isdigit(*text))
		return parse_number(p, text);
	err = hist_split_name(&name, text);
	if (err)
		return ERR_PTR(err);
	if (*name.name == '$' && name.name[1])
		return parse_ref(p, &name, text);
	return parse_field(p, name.name);
}

/* ---- Expressions */

static struct hist_field *parse_expr(struct hist_parse *p, char *text, unsigned *nr);

/* The root of the expression, with what it does; NULL: there is none, and the text is an atom. */
static char *find_root(char *text, enum hist_op *op)
{
	char *minus = NULL, *sum = NULL, *product = NULL, *root;

	for (char *c = text; *c; c++) {
		if (*c == '-' && !is_in_modifier(text, c))
			minus = sum = c;
		else if (*c == '+')
			sum = c;
		else if (*c == '*' || *c == '/')
			product = c;
	}
	root = minus == text && minus ? minus : sum ? sum : product;
	if (root)
		*op = root == text && *root == '-' ? HIST_NEGATE
		      : *root == '-'		   ? HIST_MINUS
		      : *root == '+'		   ? HIST_PLUS
		      : *root == '*'		   ? HIST_TIMES
						   : HIST_BY;
	return root;
}

/* An operator with its operands, which it takes over, also on error. `sign` stands in the text. */
static struct hist_field *make_expr(enum hist_op op, struct hist_field *a, struct hist_field *b, char sign)
{
	char text[2] = {sign, '\0'};
	struct hist_field *f = hist_field_new(op, text, 1, a->type, a->size);
	const char *form[2] = {hist_form_names[a->form], b ? hist_form_names[b->form] : NULL};
	char *name;

	if (b)
		name = kasprintf(GFP_KERNEL, "%s%s%s%c%s%s%s", a->name, form[0] ? "." : "", form[0] ?: "", sign,
				 b->name, form[1] ? "." : "", form[1] ?: "");
	else
		name = kasprintf(GFP_KERNEL, "-(%s%s%s)", a->name, form[0] ? "." : "", form[0] ?: "");
	if (!f || !name) {
		hist_field_free(f);
		hist_field_free(a);
		hist_field_free(b);
		kfree(name);
		return ERR_PTR(-ENOMEM);
	}
	kfree(f->name);
	f->name = name;
	f->operand[0] = a;
	f->operand[1] = b;
	f->is_signed = a->is_signed;
	f->in_usecs = a->in_usecs;
	return f;
}

/* Of numbers alone: computed now. Takes over f. */
static struct hist_field *fold(struct hist_field *f)
{
	struct hist_field *folded;
	char text[24];

	if (f->operand[0]->op != HIST_CONST || (f->operand[1] && f->operand[1]->op != HIST_CONST) ||
	    f->op == HIST_NEGATE)
		return f;
	scnprintf(text, sizeof(text), "%llu", (unsigned long long)hist_eval(f, NULL));
	folded = hist_field_new(HIST_CONST, text, strlen(text), "u64", sizeof(u64));
	if (folded)
		folded->number = hist_eval(f, NULL);
	hist_field_free(f);
	return folded ?: ERR_PTR(-ENOMEM);
}

/* An operand: a number. A string is refused, with the caret under it. */
static struct hist_field *parse_operand(struct hist_parse *p, char *text, unsigned *nr)
{
	struct hist_field *f = parse_expr(p, text, nr);

	if (IS_ERR(f) || (!f->is_text && !f->is_stack))
		return f;
	hist_field_free(f);
	return ERR_PTR(hist_error(p, HIST_ERR_INVALID_STR_OPERAND, text));
}

/* "-(...)", and nothing behind it. */
static struct hist_field *parse_negation(struct hist_parse *p, char *text, unsigned *nr)
{
	struct hist_field *f;
	char *end;

	if (++*nr > MAX_OPERATORS)
		return ERR_PTR(hist_error(p, HIST_ERR_TOO_MANY_SUBEXPR, text));
	end = strrchr(text, ')');
	if (text[1] != '(' || !end)
		return ERR_PTR(-EINVAL);
	if (end[1])
		return ERR_PTR(hist_error(p, HIST_ERR_UNARY_MINUS_SUBEXPR, text + 2));
	*end = '\0';
	f = parse_operand(p, text + 2, nr);
	*end = ')';
	return IS_ERR(f) ? f : make_expr(HIST_NEGATE, f, NULL, '-');
}

/* What is wrong with two good operands? 0, -EINVAL, -EDOM. `right` is the text of b. */
static int check_operands(struct hist_parse *p, enum hist_op op, const struct hist_field *a, const struct hist_field *b,
			  const char *right)
{
	if (a->in_usecs != b->in_usecs)
		return hist_error(p, HIST_ERR_TIMESTAMP_MISMATCH, NULL);
	if (op != HIST_BY || b->op != HIST_CONST || b->number)
		return 0;
	hist_error(p, HIST_ERR_DIVISION_BY_ZERO, right);
	return -EDOM;
}

/* A reference that is an operand uses the variable up, so that a pair is counted once. */
static void read_once(struct hist_parse *p, const struct hist_field *f)
{
	if (f->op == HIST_REF)
		p->hist->refs[f->ref].once = true;
}

/*
 * An expression, or an atom. *nr is the number of operators so far: too many are told at the text at which Linux finds
 * out. The text is cut at its root meanwhile, and is whole on return: find_defined() may look at it for a later
 * variable.
 */
static struct hist_field *parse_expr(struct hist_parse *p, char *text, unsigned *nr)
{
	struct hist_field *a, *b;
	enum hist_op op;
	char *root, sign;
	int err;

	if (*nr > MAX_OPERATORS)
		return ERR_PTR(hist_error(p, HIST_ERR_TOO_MANY_SUBEXPR, text));
	root = find_root(text, &op);
	if (!root)
		return hist_parse_atom(p, text);
	if (op == HIST_NEGATE)
		return parse_negation(p, text, nr);
	++*nr;
	if (root == text || !root[1])
		return ERR_PTR(-EINVAL);
	sign = *root;
	*root = '\0';
	a = parse_operand(p, text, nr);
	b = IS_ERR(a) ? a : parse_operand(p, root + 1, nr);
	err = IS_ERR(b) ? PTR_ERR(b) : check_operands(p, op, a, b, root + 1);
	*root = sign;
	if (!err) {
		read_once(p, a);
		read_once(p, b);
		a = make_expr(op, a, b, sign);
		return IS_ERR(a) ? a : fold(a);
	}
	if (b != a)
		hist_field_free(b);
	hist_field_free(a);
	return ERR_PTR(err);
}

struct hist_field *hist_parse_value(struct hist_parse *p, char *text)
{
	unsigned nr = 0;

	return parse_expr(p, text, &nr);
}
