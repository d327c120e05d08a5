/*
 * sed [-nE] [-e SCRIPT]... [SCRIPT] [FILE...]: edit a stream of lines.
 *
 * Commands: s/EXPRESSION/TEXT/FLAGS (flags g, p, I and a number; & or \0 is what matched, \1 to \9 its groups), p,
 * d, q, =, { and }. Addresses: a number, $, /EXPRESSION/, two of them for a range, ! for all other lines. Left out: the
 * hold space, branches, a i c n N r w y, -i, -f.
 *
 * The script becomes an array of commands before the first line is read; a { knows the index of its
 * }, so a block that is not selected is one step. Then each line passes through the array:
 *
 *     2,4{ s/a/b/; p }        0: { (2,4) end 3    1: s    2: p    3: }
 *
 * Of a line only the text is held, without its newline. p, d and q decide what is printed; without -n
 * each line is printed at its end as well. A last line without a newline is printed without one, but by q.
 */
#include <vt.h>

enum address_kind { NO_ADDRESS, LINE, LAST, MATCH };

struct address {
	enum address_kind kind;
	long line;		/* LINE */
	struct vt_regex *regex; /* MATCH */
};

struct command {
	struct address from, to;
	bool negate;
	bool inside; /* between from and to */
	bool begun;  /* the range has begun once */
	char name;
	int end; /* of {: index of its } */
	/* s */
	struct vt_regex *regex;
	char *text; /* owned; what replaces a match, still with its backslashes */
	long nth;   /* the first match to replace */
	bool global, print;
};

/* Text that grows: a line without its newline. It may hold zero bytes. */
struct text {
	char *at; /* owned; NULL: no line */
	size_t length, size;
	bool cut; /* the line came without a newline */
};

static struct {
	struct command *commands;
	int count;
	bool quiet, extended; /* -n, -E */
	const char *script;   /* while it is read: what is left */

	char **files; /* those not opened yet; NULL at the end */
	struct vt_lines input;
	const char *name; /* of input; NULL: none is open */
	bool failed;	  /* a file could not be read */

	struct text line, next; /* next: no line if not read yet */
	bool owes_newline;	/* what was printed last has none yet: more may follow */
	long number;		/* of line, from 1 */
} sed;

/* --- reading the script --- */

static void script_error(const char *what) __attribute__((noreturn));
static void script_error(const char *what)
{
	vt_die(1, "%s, at '%s'", what, sed.script);
}

/* Step over any of these bytes in the script. */
static void skip(const char *bytes)
{
	sed.script += strspn(sed.script, bytes);
}

/* The length of a bracket of an expression at s, in which the delimiter is a byte like others; 0: s begins none. */
static size_t bracket_length(const char *s)
{
	const char *end = s;

	if (*end != '[')
		return 0;
	end += 1 + (end[1] == '^');
	/* A ] right at the start is a member, and a class such as [:alpha:] has one of its own. */
	end += *end == ']';
	for (; *end && *end != ']'; end++) {
		const char *class = end[0] == '[' && end[1] == ':' ? strstr(end, ":]") : NULL;

		if (class)
			end = class + 1;
	}
	return *end ? (size_t)(end + 1 - s) : 0;
}

/*
 * Take what stands before the next delimiter, and the delimiter. A backslash before the delimiter makes it an
 * ordinary character; all other backslashes are left. Returns new memory.
 */
static char *take_until(char delimiter, bool expression)
{
	size_t n = 0, bracket;
	char *taken = vt_malloc(strlen(sed.script) + 1);

	while (*sed.script != delimiter) {
		bracket = expression ? bracket_length(sed.script) : 0;
		if (bracket) {
			memcpy(taken + n, sed.script, bracket);
			n += bracket;
			sed.script += bracket;
			continue;
		}
		if (sed.script[0] == '\\' && sed.script[1] == delimiter)
			sed.script++;
		else if (sed.script[0] == '\\' && sed.script[1])
			taken[n++] = *sed.script++;
		if (!*sed.script)
			script_error("missing delimiter");
		taken[n++] = *sed.script++;
	}
	sed.script++;
	taken[n] = '\0';
	return taken;
}

/* Make \t and \n in pattern the bytes that they stand for, in place. */
static void unescape(char *pattern)
{
	char *to = pattern;

	for (; *pattern; pattern++) {
		if (pattern[0] != '\\' || !pattern[1]) {
			*to++ = *pattern;
			continue;
		}
		pattern++;
		if (*pattern == 't' || *pattern == 'n') {
			*to++ = *pattern == 't' ? '\t' : '\n';
		} else {
			*to++ = '\\';
			*to++ = *pattern;
		}
	}
	*to = '\0';
}

/* Compile an expression, or end with its error. Changes the pattern: \t and \n become bytes. */
static struct vt_regex *compile(char *pattern, bool ignore_case)
{
	const char *error;
	struct vt_regex *regex;

	if (!*pattern)
		script_error("empty expression");
	unescape(pattern);
	regex = vt_regex_compile(pattern, sed.extended, ignore_case, &error);
	if (!regex)
		vt_die(1, "%s: %s", pattern, error);
	return regex;
}

/* One address and the blanks behind it, if one stands here. */
static struct address take_address(void)
{
	struct address a = {.kind = NO_ADDRESS};
	char *end;

	if (*sed.script >= '0' && *sed.script <= '9') {
		a.kind = LINE;
		a.line = strtol(sed.script, &end, 10);
		sed.script = end;
	} else if (*sed.script == '$') {
		a.kind = LAST;
		sed.script++;
	} else if (*sed.script == '/') {
		char *pattern;

		sed.script++;
		pattern = take_until('/', true);
		a.kind = MATCH;
		a.regex = compile(pattern, false);
		free(pattern);
	}
	skip(" \t");
	return a;
}

/* End the program at a \1 to \9 in a replacement whose group the expression has not. */
static void check_replacement(const char *text, int groups)
{
	for (; *text; text++) {
		if (*text != '\\')
			continue;
		text++;
		if (*text >= '1' && *text <= '9' && *text - '0' > groups)
			vt_die(1, "\\%c: the expression has no such group", *text);
	}
}

/*
 * Read s/EXPRESSION/TEXT/FLAGS behind the s. Any byte can be the delimiter: s,/tmp,/var, needs no
 * backslashes.
 */
static void take_substitution(struct command *c)
{
	bool ignore_case = false;
	char delimiter = *sed.script;
	char *pattern;

	if (!delimiter || delimiter == '\n' || delimiter == '\\')
		script_error("bad delimiter");
	sed.script++;
	pattern = take_until(delimiter, true);
	c->text = take_until(delimiter, false);
	for (;; sed.script++) {
		if (*sed.script == 'g') {
			c->global = true;
		} else if (*sed.script == 'p') {
			c->print = true;
		} else if (*sed.script == 'I' || *sed.script == 'i') {
			ignore_case = true;
		} else if (*sed.script >= '1' && *sed.script <= '9') {
			char *end;

			c->nth = strtol(sed.script, &end, 10);
			sed.script = end - 1;
		} else {
			break;
		}
	}
	c->regex = compile(pattern, ignore_case);
	check_replacement(c->text, vt_regex_count_groups(c->regex));
	free(pattern);
}

/* The index of the innermost { that has no } yet, or -1. */
static int open_block(void)
{
	for (int i = sed.count - 1; i >= 0; i--) {
		if (sed.commands[i].name == '{' && !sed.commands[i].end)
			return i;
	}
	return -1;
}

/*
 * One command with its addresses; `;`, a newline or } must follow, but behind { another command
 * may.
 */
static void take_command(struct command *c)
{
	int open = open_block();

	c->from = take_address();
	if (*sed.script == ',') {
		sed.script++;
		skip(" \t");
		c->to = take_address();
		if (c->from.kind == NO_ADDRESS || c->to.kind == NO_ADDRESS)
			script_error("address expected");
	}
	if (c->from.kind == LINE && !c->from.line) {
		if (c->to.kind != MATCH)
			script_error("invalid usage of line address 0");
		c->inside = c->begun = true; /* 0,/x/ may end with the first line */
	}
	if (*sed.script == '!') {
		c->negate = true;
		sed.script++;
		skip(" \t");
	}
	if (!*sed.script || !strchr("spdq={}", *sed.script))
		script_error(*sed.script ? "unknown command" : "command expected");
	c->name = *sed.script++;
	if (c->name == 'q' && c->to.kind != NO_ADDRESS)
		script_error("command only uses one address");
	if (c->name == 's')
		take_substitution(c);
	if (c->name == '}') {
		if (open < 0 || c->from.kind != NO_ADDRESS)
			script_error("unexpected }");
		sed.commands[open].end = sed.count;
	}
	skip(" \t");
	if (c->name != '{' && *sed.script && !strchr(";\n}", *sed.script))
		script_error("extra characters after command");
}

/* Add the commands of one script to the others; a { may be closed in a later one. */
static void take_script(const char *script)
{
	sed.script = script;
	for (skip(" \t\n;"); *sed.script; skip(" \t\n;")) {
		struct command c = {.nth = 1};

		take_command(&c);
		sed.commands = vt_realloc(sed.commands, sizeof(c) * (size_t)(sed.count + 1));
		sed.commands[sed.count++] = c;
	}
}

/* --- input --- */

/* Open the next file that can be. Returns false when there are no more. */
static bool open_next(void)
{
	while (*sed.files) {
		const char *name = *sed.files++;
		int fd = strcmp(name, "-") ? open(name, O_RDONLY) : STDIN_FILENO;

		if (fd >= 0) {
			vt_lines_open(&sed.input, fd);
			sed.name = name;
			return true;
		}
		vt_warn_errno(name);
		sed.failed = true;
	}
	return false;
}

/* Close the file; an error of reading is reported, and the next file is read all the same. */
static void close_input(void)
{
	if (sed.input.error) {
		errno = sed.input.error;
		vt_warn_errno(sed.name);
		sed.failed = true;
	}
	if (sed.input.fd != STDIN_FILENO)
		close(sed.input.fd);
	vt_lines_free(&sed.input);
	sed.name = NULL;
}

/* Append n bytes; the room at least doubles, so that a line is copied a few times at most. */
static void add(struct text *t, const char *s, size_t n)
{
	if (t->length + n + 1 > t->size) {
		t->size = 2 * (t->length + n + 1);
		t->at = vt_realloc(t->at, t->size);
	}
	memcpy(t->at + t->length, s, n);
	t->length += n;
	t->at[t->length] = '\0';
}

/* A line of its own memory, or no line after the last file. */
static struct text read_line(void)
{
	struct text text = {0};
	char *line;
	size_t n;

	while (sed.name || open_next()) {
		if (vt_line(&sed.input, &line, &n)) {
			add(&text, line, n);
			text.cut = sed.input.cut;
			break;
		}
		close_input();
	}
	return text;
}

/* Only asked when the script has a $: looking ahead would hold back the lines of a trace_pipe. */
static bool is_last(void)
{
	if (!sed.next.at)
		sed.next = read_line();
	return !sed.next.at;
}

/* Go on to the next line. Returns false after the last. */
static bool next_line(void)
{
	free(sed.line.at);
	sed.line = sed.next.at ? sed.next : read_line();
	sed.next.at = NULL;
	sed.number++;
	return sed.line.at != NULL;
}

/* --- editing --- */

/* Is the line the one, or one of those, that the address names? No address names all. */
static bool address_fits(const struct address *a)
{
	struct vt_match match;

	switch (a->kind) {
	case LINE:
		return sed.number == a->line;
	case LAST:
		return is_last();
	case MATCH:
		return vt_regex_search(a->regex, sed.line.at, sed.line.length, 0, &match);
	default:
		return true;
	}
}

/*
 * Whether a range begins here. As GNU's, one that is to begin at a number begins later if a block or a d has kept that
 * line from this command, but not behind a number where it is to end.
 */
static bool begins(const struct command *c)
{
	if (c->from.kind != LINE || c->begun || sed.number <= c->from.line)
		return address_fits(&c->from);
	return c->to.kind != LINE || sed.number <= c->to.line;
}

/*
 * Whether a command is for this line. A range begins at a line that fits `from` and ends at the next
 * later line that fits `to`; if `to` is a number that has passed already, the range is one line.
 * `inside` remembers from line to line that a range is open.
 */
static bool selected(struct command *c)
{
	if (c->to.kind == NO_ADDRESS)
		return address_fits(&c->from) != c->negate;
	if (c->inside) {
		c->inside = c->to.kind == LINE ? sed.number < c->to.line : !address_fits(&c->to);
		/* The end may have been on a line that a block or a d kept from this command. */
		return (c->to.kind != LINE || sed.number <= c->to.line) != c->negate;
	}
	if (!begins(c))
		return c->negate;
	c->begun = true;
	c->inside = c->to.kind != LINE || sed.number < c->to.line;
	return !c->negate;
}

/* Append what a group of a match has taken: nothing, if the match did not go through it. */
static void add_group(struct text *t, const struct vt_match *match, int group)
{
	const size_t *at = match->group[group];

	if (at[0] != SIZE_MAX)
		add(t, sed.line.at + at[0], at[1] - at[0]);
}

/*
 * Append what replaces a match: & and \0 are the match, \1 to \9 are its groups, \n is a newline, \t a tab, and \
 * before anything else only itself.
 */
static void add_replacement(struct text *t, const char *text, const struct vt_match *match)
{
	for (; *text; text++) {
		if (*text == '&' || (text[0] == '\\' && text[1] == '0')) {
			text += *text == '\\';
			add(t, sed.line.at + match->start, match->end - match->start);
		} else if (*text != '\\' || !text[1]) {
			add(t, text, 1);
		} else if (*++text >= '1' && *text <= '9') {
			add_group(t, match, *text - '1');
		} else if (*text == 'n') {
			add(t, "\n", 1);
		} else {
			add(t, *text == 't' ? "\t" : text, 1);
		}
	}
}

/*
 * s: build the new line from the pieces between matches and what replaces these. An empty match
 * takes one byte of the line along, or there would be no end of it. Returns whether something was
 * replaced.
 */
static bool substitute(const struct command *c)
{
	struct text out = {.cut = sed.line.cut};
	const char *line = sed.line.at;
	size_t at = 0, last = (size_t)-1; /* last: where the match before ended */
	struct vt_match match;
	long found = 0;
	bool done = false;

	while ((c->global || !done) && vt_regex_search(c->regex, line, sed.line.length, at, &match)) {
		add(&out, line + at, match.start - at);
		/* An empty match right behind another does not count. */
		if (match.start != match.end || match.start != last) {
			if (++found >= c->nth) {
				add_replacement(&out, c->text, &match);
				done = true;
			} else {
				add(&out, line + match.start, match.end - match.start);
			}
		}
		at = last = match.end;
		if (match.start == match.end) {
			if (at == sed.line.length)
				break;
			add(&out, line + at++, 1);
		}
	}
	add(&out, line + at, sed.line.length - at);
	free(sed.line.at);
	sed.line = out;
	return done;
}

/* The newline of what was printed before, now that more follows. */
static void pay_newline(void)
{
	if (sed.owes_newline)
		putchar('\n');
	sed.owes_newline = false;
}

static void print_line(void)
{
	pay_newline();
	fwrite(sed.line.at, 1, sed.line.length, stdout);
	sed.owes_newline = true;
	if (!sed.line.cut)
		pay_newline();
}

enum after { GO_ON, DELETE, QUIT };

/* Run the commands on one line, in order. A { that is not selected jumps to its }. */
static enum after edit(void)
{
	for (int i = 0; i < sed.count; i++) {
		struct command *c = &sed.commands[i];

		if (c->name == '}')
			continue;
		if (!selected(c)) {
			if (c->name == '{')
				i = c->end;
			continue;
		}
		if (c->name == 'd')
			return DELETE;
		if (c->name == 'q')
			return QUIT;
		if (c->name == '=') {
			pay_newline();
			printf("%ld\n", sed.number);
		}
		if (c->name == 'p' || (c->name == 's' && substitute(c) && c->print))
			print_line();
	}
	return GO_ON;
}

int main(int argc, char **argv)
{
	static char *only_stdin[] = {"-", NULL};
	struct vt_options o = {
		.usage = "sed [-nE] [-e SCRIPT]... [SCRIPT] [FILE...]", .options = "nEre:", .bad_status = 1};
	const char **scripts = vt_malloc(sizeof(*scripts) * (size_t)argc);
	enum after after = GO_ON;
	int c, count = 0;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'n')
			sed.quiet = true;
		else if (c == 'e')
			scripts[count++] = o.arg;
		else
			sed.extended = true;
	}
	if (!count) {
		if (o.index == argc)
			vt_usage(&o);
		scripts[count++] = argv[o.index++];
	}
	/* After all options: -E may stand behind -e. */
	for (int i = 0; i < count; i++)
		take_script(scripts[i]);
	if (open_block() >= 0)
		vt_die(1, "a { has no }");
	free(scripts);
	sed.files = o.index < argc ? argv + o.index : only_stdin;

	while (after != QUIT && next_line()) {
		after = edit();
		if (after != DELETE && !sed.quiet)
			print_line();
		if (after == QUIT)
			pay_newline(); /* as GNU's does, though nothing follows */
		/* Somebody watches, perhaps a trace_pipe. */
		if (isatty(STDOUT_FILENO))
			fflush(stdout);
	}
	return vt_finish(sed.failed ? 2 : 0);
}
