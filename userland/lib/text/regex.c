/*
 * Basic and extended regular expressions: compiled to a program of small instructions, run on all paths at
 * once.
 *
 * The method is Thompson's (Communications of the ACM 11, 1968): the set of instructions a match may stand at
 * is carried from byte to byte, so that no expression takes more than (its length) x (the text's length)
 * steps. Each instruction of the set remembers where the groups on the way to it began and ended (Pike's
 * addition, in his editor sam). The method cannot do back-references within an expression.
 *
 *     a(b|c)*d      0 BYTE a    1 SPLIT 2,7    2 SPLIT 3,5    3 BYTE b    4 JUMP 6    5 BYTE c    6 JUMP 1
 *                   7 BYTE d    8 MATCH
 *
 * A matcher that tries one way after the other (backtracking) may need exponential time, as for
 * (a*)*b; this one follows all ways together and looks at each byte once.
 */
#include "regex.h"

#include <ctype.h>
#include <limits.h>

/* State of compiling. Branches are relocatable: parts are moved and copied, so jumps in ops are relative
 * until done. */
struct re_parser {
	struct vt_regex *re;
	const char *at; /* next byte of the pattern */
	bool extended;
	int depth;	   /* of groups */
	const char *error; /* a literal, not owned; parsing goes on until somebody looks */
};

static void parse_alternatives(struct re_parser *p);

/*
 * Append an instruction and return its index. While compiling, jumps hold the distance from their own
 * instruction, as a 16-bit number that wraps round for jumps back: so a part can be copied or moved
 * without a change. A program that is too large sets p->error and returns 0, an index that may be
 * written to, as is re->count: ops has one more than RE_MAX.
 */
static int emit(struct re_parser *p, int code)
{
	struct vt_regex *re = p->re;

	if (re->count >= RE_MAX) {
		p->error = "regular expression too big";
		return 0;
	}
	re->ops[re->count] = (struct re_op){.code = (unsigned char)code};
	return re->count++;
}

/* Open a gap of one instruction at index; what lies behind moves up whole, so its distances stay right. */
static void insert(struct re_parser *p, int index, int code)
{
	struct re_op *ops = p->re->ops;
	int last = emit(p, code);

	if (p->error)
		return;
	memmove(ops + index + 1, ops + index, sizeof(*ops) * (size_t)(last - index));
	ops[index] = (struct re_op){.code = (unsigned char)code};
}

/* Add a byte to a set of 256 bits; with ignore_case its other form as well. */
static void set_add(uint32_t *set, unsigned char c, bool ignore_case)
{
	set[c / 32] |= 1U << (c % 32);
	if (ignore_case) {
		c = (unsigned char)(isupper(c) ? tolower(c) : toupper(c));
		set[c / 32] |= 1U << (c % 32);
	}
}

/* A [:name:] at p->at, stepped over. Returns whether there was one. */
static bool set_class(struct re_parser *p, uint32_t *set)
{
	int (*is)(int c);
	size_t n = vt_class(p->at, &is);

	for (int c = 0; n && c < 256; c++) {
		if (is(c))
			set_add(set, (unsigned char)c, p->re->ignore_case);
	}
	p->at += n;
	return n != 0;
}

/*
 * A bracket whose '[' has been taken. "]" right behind "[" or "[^" is a member: "[]a]" holds two
 * characters. "-" at either end is itself.
 */
static void parse_bracket(struct re_parser *p)
{
	/* Lives as long as the expression: copies of the instruction share it. */
	uint32_t *set = calloc(8, sizeof(*set));
	bool negate = *p->at == '^';
	const char *first = p->at += negate;
	int op = emit(p, RE_SET);

	if (!set)
		vt_die(2, "out of memory");
	while (*p->at && (*p->at != ']' || p->at == first)) {
		unsigned char low, high;
		const char *class_end = p->at[0] == '[' && p->at[1] == ':' ? strstr(p->at + 2, ":]") : NULL;

		if (set_class(p, set))
			continue;
		if (class_end && class_end < p->at + 2 + strcspn(p->at + 2, "]"))
			p->error = "invalid character class";
		low = high = (unsigned char)*p->at++;
		if (p->at[0] == '-' && p->at[1] && p->at[1] != ']') {
			high = (unsigned char)p->at[1];
			p->at += 2;
		}
		if (low > high)
			p->error = "invalid range end";
		for (int c = low; c <= high; c++)
			set_add(set, (unsigned char)c, p->re->ignore_case);
	}
	if (*p->at++ != ']') {
		p->at--;
		p->error = "unmatched [";
	}
	for (int i = 0; negate && i < 8; i++)
		set[i] = ~set[i];
	p->re->ops[op].set = set;
}

/*
 * With ignore_case the instruction has the small letter, and takes() makes the text's byte small.
 */
static void emit_byte(struct re_parser *p, unsigned char c)
{
	int op = emit(p, RE_BYTE);

	p->re->ops[op].byte = p->re->ignore_case ? (unsigned char)tolower(c) : c;
}

/* \w (a letter, digit or underscore), \s (a blank) and with a capital what is not, as a set: the text of a bracket. */
static void emit_set(struct re_parser *p, const char *bracket)
{
	const char *rest = p->at;

	p->at = bracket;
	parse_bracket(p);
	p->at = rest;
}

static void emit_save(struct re_parser *p, int save)
{
	int op = emit(p, RE_SAVE);

	p->re->ops[op].byte = (unsigned char)save;
}

/*
 * \( \) or ( ). Of the first nine groups it is remembered where they begin and end; they are counted by
 * their opening. A ")" without its "(" is not an end: depth counts the groups that are open.
 */
static void parse_group(struct re_parser *p)
{
	int save = p->re->saves;

	if (save < 2 * VT_REGEX_GROUPS) {
		p->re->saves += 2;
		emit_save(p, save);
	}
	p->depth++;
	parse_alternatives(p);
	p->depth--;
	if (save < 2 * VT_REGEX_GROUPS)
		emit_save(p, save + 1);
	if (!p->extended && p->at[0] == '\\' && p->at[1] == ')')
		p->at += 2;
	else if (p->extended && p->at[0] == ')')
		p->at++;
	else if (!p->error)
		p->error = "unmatched (";
}

/* What follows a backslash that is no operator of this syntax. */
static void parse_escape(struct re_parser *p)
{
	char c = *p->at++;

	switch (c) {
	case '\0':
		p->at--;
		p->error = "trailing backslash";
		break;
	case '<':
		emit(p, RE_WORD_START);
		break;
	case '>':
		emit(p, RE_WORD_END);
		break;
	case 'b':
		emit(p, RE_WORD_EDGE);
		break;
	case 'B':
		emit(p, RE_NO_WORD_EDGE);
		break;
	case 'w':
	case 'W':
		emit_set(p, c == 'w' ? "[:alnum:]_]" : "^[:alnum:]_]");
		break;
	case 's':
	case 'S':
		emit_set(p, c == 's' ? "[:space:]]" : "^[:space:]]");
		break;
	case '1' ... '9':
		p->error = "back-references are not supported";
		break;
	default:
		emit_byte(p, (unsigned char)c);
	}
}

/* In basic syntax ^ is an anchor at the start of a branch only, and $ at its end only. */
static bool is_anchor(const struct re_parser *p, const char *branch)
{
	if (p->extended)
		return true;
	if (*p->at == '^')
		return p->at == branch;
	return !p->at[1] || (p->at[1] == '\\' && (p->at[2] == ')' || p->at[2] == '|'));
}

/* One thing that may be repeated. */
static void parse_atom(struct re_parser *p, const char *branch)
{
	char c = *p->at;

	if ((c == '^' || c == '$') && is_anchor(p, branch)) {
		p->at++;
		emit(p, c == '^' ? RE_START : RE_END);
	} else if (p->extended && c == '(') {
		p->at++;
		parse_group(p);
	} else if (!p->extended && c == '\\' && p->at[1] == '(') {
		p->at += 2;
		parse_group(p);
	} else if (c == '.') {
		p->at++;
		emit(p, RE_ANY);
	} else if (c == '[') {
		p->at++;
		parse_bracket(p);
	} else if (c == '\\') {
		p->at++;
		parse_escape(p);
	} else {
		p->at++;
		emit_byte(p, (unsigned char)c);
	}
}

/* A number of a repetition. One that is too large for an int stays too large. */
static int repeat_count(const char *text, char **end)
{
	unsigned long n = strtoul(text, end, 10);

	return n > INT_MAX ? INT_MAX : (int)n;
}

/* Whether {m}, {m,}, {m,n} or {,n} stands here. Any other { of an extended expression is a plain one: "main() {". */
static bool is_interval(const char *at)
{
	size_t least = strspn(at + 1, "0123456789"), most;

	at += 1 + least;
	if (*at != ',')
		return least && *at == '}';
	most = strspn(at + 1, "0123456789");
	return (least || most) && at[1 + most] == '}';
}

/*
 * Take a repetition operator: {m,n} as it stands, * + ? as what they mean; most is -1 for no limit.
 * Returns false, with p->at unmoved, when no operator stands here, and after an error.
 */
static bool parse_repeat(struct re_parser *p, int *least, int *most)
{
	const char *at = p->at;
	char c = *at;
	char *end;

	if (!p->extended && c == '\\')
		c = at[1] == '+' || at[1] == '?' || at[1] == '{' ? *++at : 0;
	else if (!p->extended && c != '*')
		return false;
	if (!c || !strchr("*+?{", c) || (p->extended && c == '{' && !is_interval(at)))
		return false;
	*least = c == '+';
	*most = c == '?' ? 1 : -1;
	at++;
	if (c == '{') {
		*least = repeat_count(at, &end);
		/* {m}, {m,n} and {m,}: up to 255, POSIX's RE_DUP_MAX. */
		*most = *end == ',' ? (isdigit((unsigned char)end[1]) ? repeat_count(end + 1, &end) : (end++, -1))
				    : *least;
		if (!p->extended && *end == '\\')
			end++;
		if (*end != '}' || *least > 255 || *most > 255 || (*most >= 0 && *most < *least)) {
			p->error = "invalid repetition";
			return false;
		}
		at = end + 1;
	}
	p->at = at;
	return true;
}

/* Append a copy of size instructions at start. Sets are shared by the copies. */
static void copy(struct re_parser *p, const struct re_op *part, int size)
{
	for (int i = 0; i < size && !p->error; i++) {
		int op = emit(p, part[i].code);

		p->re->ops[op] = part[i];
	}
}

/* SPLIT over what lies from index to the end: into it, or behind it. x? is: SPLIT(x, out) x. */
static void make_optional(struct re_parser *p, int index)
{
	insert(p, index, RE_SPLIT);
	p->re->ops[index].next = 1;
	p->re->ops[index].other = (unsigned short)(p->re->count - index);
}

/*
 * x* is: SPLIT(x, out) x JUMP(back). A star of something that may be empty, (a*)*, makes a circle of
 * jumps; add_thread() ends there.
 */
static void make_star(struct re_parser *p, int index)
{
	int jump;

	insert(p, index, RE_SPLIT);
	jump = emit(p, RE_JUMP);
	p->re->ops[jump].next = (unsigned short)(index - jump);
	p->re->ops[index].next = 1;
	p->re->ops[index].other = (unsigned short)(p->re->count - index);
}

/* Replace the atom from start to the end by least copies, then a star or most - least nested optional ones.
 */
static void repeat_atom(struct re_parser *p, int start, int least, int most)
{
	int size = p->re->count - start, optional;
	struct re_op *part = vt_malloc(sizeof(*part) * (size_t)(size ? size : 1));

	memcpy(part, p->re->ops + start, sizeof(*part) * (size_t)size);
	p->re->count = start;
	for (int i = 0; i < least; i++)
		copy(p, part, size);
	optional = p->re->count;
	if (most < 0) {
		copy(p, part, size);
		make_star(p, optional);
	}
	/* Built from the inside out: x{0,2} is (x(x)?)?, so each round puts one x in front and wraps the
	 * whole. */
	for (int i = least; i < most; i++) {
		int tail = p->re->count - optional;
		struct re_op *inner = vt_malloc(sizeof(*inner) * (size_t)(tail ? tail : 1));

		memcpy(inner, p->re->ops + optional, sizeof(*inner) * (size_t)tail);
		p->re->count = optional;
		copy(p, part, size);
		copy(p, inner, tail);
		make_optional(p, optional);
		free(inner);
	}
	free(part);
}

/* In extended syntax a ")" that closes nothing is an ordinary byte. */
static bool at_branch_end(const struct re_parser *p)
{
	if (!*p->at || p->error)
		return true;
	if (p->extended)
		return *p->at == '|' || (*p->at == ')' && p->depth);
	return p->at[0] == '\\' && (p->at[1] == '|' || (p->at[1] == ')' && p->depth));
}

/* Atoms with their repetitions, up to | or the end of the group. */
static void parse_branch(struct re_parser *p)
{
	const char *branch = p->at;
	int least, most;

	while (!at_branch_end(p)) {
		int start = p->re->count;

		/* A star with nothing before it is a plain star. */
		if (p->at == branch && (*p->at == '*' || (p->extended && strchr("+?{", *p->at))))
			emit_byte(p, (unsigned char)*p->at++);
		else
			parse_atom(p, branch);
		/* POSIX: in basic syntax a star after the anchor ^ is a plain star. */
		if (!p->extended && start < p->re->count && p->re->ops[start].code == RE_START && *p->at == '*') {
			emit_byte(p, '*');
			p->at++;
			continue;
		}
		/* a** and a+? are allowed, and mean what they say. */
		while (!p->error && parse_repeat(p, &least, &most))
			repeat_atom(p, start, least, most);
	}
}

/* a|b is: SPLIT(a, b) a JUMP(out) b. */
static void parse_alternatives(struct re_parser *p)
{
	int start = p->re->count, jump;

	parse_branch(p);
	if (p->error || !(p->extended ? *p->at == '|' : p->at[0] == '\\' && p->at[1] == '|'))
		return;
	p->at += p->extended ? 1 : 2;
	insert(p, start, RE_SPLIT);
	jump = emit(p, RE_JUMP);
	p->re->ops[start].next = 1;
	p->re->ops[start].other = (unsigned short)(p->re->count - start);
	parse_alternatives(p);
	p->re->ops[jump].next = (unsigned short)(p->re->count - jump);
}

/* The program is not shrunk to its size: one expression lives as long as the process. */
struct vt_regex *vt_regex_compile(const char *pattern, bool extended, bool ignore_case, const char **error)
{
	struct vt_regex *re = vt_malloc(sizeof(*re));
	struct re_parser p = {.re = re, .at = pattern, .extended = extended};

	*re = (struct vt_regex){.ops = vt_malloc(sizeof(struct re_op) * (RE_MAX + 1)), .ignore_case = ignore_case};
	parse_alternatives(&p);
	if (!p.error && *p.at)
		p.error = "unmatched )";
	emit(&p, RE_MATCH);
	if (p.error) {
		*error = p.error;
		free(re->ops);
		free(re);
		return NULL;
	}
	for (int i = 0; i < re->count; i++) {
		re->ops[i].next = (unsigned short)(re->ops[i].next + i);
		re->ops[i].other = (unsigned short)(re->ops[i].other + i);
	}
	return re;
}
