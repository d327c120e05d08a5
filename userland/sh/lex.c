/*
 * Input into tokens. Words keep their quotes; expansion takes those away.
 *
 * The lexer steps over $(..), ${..}, `..` and quoted strings as parts of a word without
 * understanding them: only nesting and quotes count. The same functions measure such constructs
 * again when a word is expanded. Input comes in lines and only when needed, so that what follows a
 * command on standard input can be read by that command.
 *
 *     echo "$(ls *.c)" >f &      becomes      T_WORD echo   T_WORD "$(ls *.c)"   T_REDIR > (T_WORD f)   T_AMP
 */
#include "sh.h"
#include <ctype.h>

#define META "|&;()<> \t\n" /* what ends an unquoted word */

/* The text is not copied: it has to stay until the last command of it has run. */
void lex_string(struct lexer *lx, const char *text, struct arena *arena)
{
	*lx = (struct lexer){.buf = (char *)text, .end = strlen(text), .fixed = true, .line = 1, .arena = arena};
}

/* buf may move: places in it are kept as indexes, never as pointers. */
void lex_append(struct lexer *lx, const char *text, size_t n)
{
	lx->buf = vt_realloc(lx->buf, lx->end + n);
	memcpy(lx->buf + lx->end, text, n);
	lx->end += n;
}

/* Forget the input that was taken, so that a long script does not grow in memory line by line. */
void lex_drop(struct lexer *lx)
{
	/* A fixed text is somebody else's, and its places are indexes into it. */
	if (lx->fixed || !lx->at)
		return;
	memmove(lx->buf, lx->buf + lx->at, lx->end - lx->at);
	lx->end -= lx->at;
	lx->at = 0;
}

/*
 * The byte i places ahead, or -1 at the end of input. More input is read when it is needed: this is
 * the only place that does, and it may show a prompt and wait for a line. lx->buf may move.
 */
static int peek_at(struct lexer *lx, size_t i)
{
	while (lx->at + i >= lx->end) {
		if (!lx->more || !lx->more(lx))
			return -1;
	}
	return (unsigned char)lx->buf[lx->at + i];
}

static int peek(struct lexer *lx)
{
	return peek_at(lx, 0);
}

/* set -v: a line, before any of it is taken, and so before it runs. */
static void show_line(const struct lexer *lx)
{
	const char *line = lx->buf + lx->at, *end = memchr(line, '\n', lx->end - lx->at);

	fprintf(stderr, "%.*s\n", (int)((end ? end : lx->buf + lx->end) - line), line);
}

/* Step over one byte, counting lines for messages. Returns it, or -1 at the end. */
static int take(struct lexer *lx)
{
	int c = peek(lx);

	if (c < 0)
		return c;
	if (sh.opt_v && lx->input && !lx->in_line)
		show_line(lx);
	lx->in_line = c != '\n';
	lx->at++;
	if (c == '\n')
		lx->line++;
	return c;
}

static void scan_dollar(struct lexer *lx);
static void scan_dollar_quote(struct lexer *lx);

/*
 * Step over text up to the quote that was just opened. In double quotes $ and ` nest: "$(echo ")")" is
 * one string. A missing end is an error, but only at the end of input: until then more lines are asked
 * for.
 */
static void scan_quote(struct lexer *lx, int quote)
{
	for (;;) {
		int c = peek(lx);

		if (c < 0)
			sh_error("syntax error: unterminated quoted string");
		if (quote == '"' && (c == '$' || c == '`')) {
			scan_dollar(lx);
			continue;
		}
		take(lx);
		if (c == quote)
			return;
		if (c == '\\' && quote != '\'')
			take(lx);
	}
}

/* A here-document of a command within $(..). Its delimiter is kept as it was typed: n bytes of lx->buf. */
struct inner_here {
	size_t at, n;
	bool strip; /* <<- */
};

#define INNER_HERES 4 /* on one line; the bodies of more are looked at as commands */
#define INNER_CASES 8 /* one in another; in more of them the patterns need their opening parenthesis */

/* Step over << and its delimiter; the first < has been taken. Returns whether it is one: <<< is not. */
static bool scan_delimiter(struct lexer *lx, struct inner_here *here)
{
	take(lx);
	if (peek(lx) == '<') {
		take(lx);
		return false;
	}
	here->strip = peek(lx) == '-';
	if (here->strip)
		take(lx);
	while (peek(lx) == ' ' || peek(lx) == '\t')
		take(lx);
	here->at = lx->at;
	while (peek(lx) >= 0 && !strchr(META, peek(lx))) {
		int c = take(lx);

		if (c == '\'' || c == '"')
			scan_quote(lx, c);
	}
	here->n = lx->at - here->at;
	return true;
}

/* Whether the line of n bytes at `line` is the delimiter, whose quotes do not count. */
static bool is_delimiter(const struct lexer *lx, const struct inner_here *here, size_t line, size_t n)
{
	const char *delimiter = lx->buf + here->at, *end = delimiter + here->n, *at = lx->buf + line;

	for (; here->strip && n && *at == '\t'; n--)
		at++;
	for (; delimiter < end; delimiter++) {
		if (strchr("'\"\\", *delimiter))
			continue;
		if (!n || *at != *delimiter)
			return false;
		at++;
		n--;
	}
	return !n;
}

/* Step over a body with the line of its delimiter. It may hold any quotes and parentheses. */
static void scan_body(struct lexer *lx, const struct inner_here *here)
{
	size_t line;
	int c;

	do {
		line = lx->at;
		do
			c = take(lx);
		while (c >= 0 && c != '\n');
	} while (c >= 0 && !is_delimiter(lx, here, line, lx->at - 1 - line));
}

/* What is known of the commands within $(..): where a `case` is open, a single ")" ends a pattern. */
struct inner_commands {
	int cases, depths[INNER_CASES]; /* the depth of parentheses at which each one stands */
	bool fresh;			/* a command may begin here, so reserved words count */
};

/* Whether this word stands here, with its end. */
static bool is_word_here(struct lexer *lx, const char *word)
{
	size_t n = strlen(word);
	int after;

	for (size_t i = 0; i < n; i++) {
		if (peek_at(lx, i) != word[i])
			return false;
	}
	after = peek_at(lx, n);
	return after < 0 || strchr(META, after);
}

/* A word may begin here: `case` and `esac` are counted, and behind other reserved words a command may begin. */
static void scan_reserved(struct lexer *lx, struct inner_commands *commands, int depth)
{
	static const char *const before_commands[] = {"if", "then", "elif",  "else",  "do",
						      "{",  "!",    "while", "until", "time"};

	if (is_word_here(lx, "case") && commands->cases < INNER_CASES)
		commands->depths[commands->cases++] = depth;
	else if (is_word_here(lx, "esac") && commands->cases)
		commands->cases--;
	commands->fresh = false;
	for (size_t i = 0; i < ARRAY_SIZE(before_commands); i++) {
		if (!is_word_here(lx, before_commands[i]))
			continue;
		for (size_t n = strlen(before_commands[i]); n > 0; n--)
			take(lx);
		commands->fresh = true;
	}
}

/*
 * Step over a nested construct, whose opening has been taken, up to its close. Inner opens count; open is -2 where
 * there are none. What stands in quotes or here-documents does not count. `before` is the byte before the present one:
 * a # begins a comment only behind a blank or a separator.
 */
static void scan_nested(struct lexer *lx, int open, int close)
{
	bool commands = close == ')' && peek(lx) != '('; /* else arithmetic, where << shifts */
	struct inner_here heres[INNER_HERES];
	struct inner_commands inner = {.fresh = commands};
	int depth = 1, before = ' ', pending = 0;

	while (depth) {
		int c;

		if (inner.fresh && !strchr(" \t\n", peek(lx)))
			scan_reserved(lx, &inner, depth);
		c = peek(lx);
		if (c < 0)
			sh_error("syntax error: missing '%c'", close);
		if (c == '$' && peek_at(lx, 1) == '\'') {
			take(lx);
			scan_dollar_quote(lx);
			before = c;
			continue;
		}
		if (c == '$' || c == '`') {
			scan_dollar(lx);
			before = c;
			continue;
		}
		take(lx);
		inner.fresh |= commands && strchr(";&|()\n", c);
		if (c == '\\')
			take(lx);
		else if (c == '"' || c == '\'')
			scan_quote(lx, c);
		/*
		 * A comment within $(..): its quotes and parentheses do not count. In ${..} # is an
		 * operator.
		 */
		else if (c == '#' && close == ')' && strchr(" \t\n;", before))
			while (peek(lx) >= 0 && peek(lx) != '\n')
				take(lx);
		else if (c == '<' && commands && pending < INNER_HERES && peek(lx) == '<')
			pending += scan_delimiter(lx, &heres[pending]);
		else if (c == close && !(inner.cases && inner.depths[inner.cases - 1] == depth))
			depth--;
		else if (c == open)
			depth++;
		for (int i = 0; c == '\n' && i < pending; i++)
			scan_body(lx, &heres[i]);
		pending = c == '\n' ? 0 : pending;
		before = c;
	}
}

/* In $'..' a backslash hides the quote. */
static void scan_dollar_quote(struct lexer *lx)
{
	int c;

	take(lx);
	while ((c = take(lx)) != '\'') {
		if (c < 0)
			sh_error("syntax error: unterminated quoted string");
		if (c == '\\')
			take(lx);
	}
}

/* Step over a $.. or `..` construct. It is only measured here; param.c does what it says. */
static void scan_dollar(struct lexer *lx)
{
	int c = take(lx);

	if (c == '`') {
		scan_quote(lx, '`');
		return;
	}
	c = peek(lx);
	/* $((..)) is two parentheses deep and needs no case of its own. */
	if (c == '{' || c == '(') {
		take(lx);
		/* A { alone is a byte like others: ${x:-{} is { if x is not set. */
		scan_nested(lx, c == '{' ? -2 : c, c == '{' ? '}' : ')');
	} else if (c == '_' || isalpha(c)) {
		while (peek(lx) == '_' || isalnum(peek(lx)))
			take(lx);
		/* $10 is $1 and a 0: only braces make it ten. */
	} else if (c > 0 && (isdigit(c) || strchr("@*#?$!-", c))) {
		take(lx);
	}
}

/*
 * How far a scan goes on a string. Quotes are known to be closed: the word has been scanned before.
 */
static size_t measure(const char *s, void (*scan)(struct lexer *lx))
{
	struct lexer lx;

	lex_string(&lx, s, NULL);
	scan(&lx);
	return lx.at;
}

size_t lex_dollar_length(const char *s)
{
	if (s[0] == '$' && s[1] == '\'')
		return 1 + measure(s + 1, scan_dollar_quote);
	return measure(s, scan_dollar);
}

/* For measure(): from the opening quote on. */
static void scan_dquote(struct lexer *lx)
{
	take(lx);
	scan_quote(lx, '"');
}

size_t lex_dquote_length(const char *s)
{
	return measure(s, scan_dquote);
}

/*
 * A word ends at an unquoted blank or operator. Its text keeps the quotes, since only the expansion
 * knows what they protect; `\` takes the next byte with it, whatever that is.
 */
static void scan_word(struct lexer *lx)
{
	size_t start = lx->at;

	for (;;) {
		int c = peek(lx);

		if (c < 0 || strchr(META, c))
			break;
		if (c == '$' && peek_at(lx, 1) == '\'') {
			take(lx);
			scan_dollar_quote(lx);
		} else if (c == '$' || c == '`') {
			scan_dollar(lx);
		} else {
			take(lx);
			if (c == '\\')
				take(lx);
			else if (c == '"' || c == '\'')
				scan_quote(lx, c);
		}
	}
	lx->token = T_WORD;
	lx->text = arena_copy(lx->arena, lx->buf + start, lx->at - start);
}

/* One line of input into the arena, without its newline; NULL at the end. */
static char *here_line(struct lexer *lx)
{
	size_t start = lx->at;
	int c = take(lx);

	if (c < 0)
		return NULL;
	while (c >= 0 && c != '\n')
		c = take(lx);
	return arena_copy(lx->arena, lx->buf + start, lx->at - start - (c == '\n'));
}

/* Whether the line ends in a backslash that no other one hides: then the next line is a part of it. */
static bool hides_newline(const char *line, size_t n)
{
	size_t backslashes = 0;

	while (backslashes < n && line[n - 1 - backslashes] == '\\')
		backslashes++;
	return backslashes % 2;
}

/*
 * Read the body of one here-document: lines up to the delimiter. At the end of input without it, what
 * there was is the body, as in other shells.
 *
 *     cat <<A; cat <<-B        the bodies stand behind this whole line, A's first
 *     text of A
 *     A
 *     	text of B (its tab goes)
 *     B
 */
static void read_here(struct lexer *lx, struct redir *r)
{
	char *line, *body = arena_copy(lx->arena, "", 0);
	bool joined = false;
	size_t used = 0;

	while ((line = here_line(lx))) {
		size_t n;
		char *grown;

		/* <<-: tabs go from the delimiter's line as well, so that it can be indented. */
		if (r->strip)
			line += strspn(line, "\t");
		if (!joined && !strcmp(line, r->target))
			break;
		n = strlen(line);
		joined = !r->quoted && hides_newline(line, n);
		/*
		 * Each line copies what is there: quadratic, but a body is a page or two, and the
		 * copies go with the tree.
		 */
		grown = arena_alloc(lx->arena, used + n + 2);
		memcpy(grown, body, used);
		memcpy(grown + used, line, n);
		used += n;
		grown[used++] = '\n';
		grown[used] = '\0';
		body = grown;
	}
	r->body = body;
}

/* The bodies of here-documents follow the line that names them, in the order they were named. */
static void newline(struct lexer *lx)
{
	lx->token = T_NEWLINE;
	for (struct redir *r = lx->here; r; r = r->here_next)
		read_here(lx, r);
	lx->here = NULL;
}

/*
 * One of < > << >> <> <& >& >| <<-, with the descriptor that stood before it, or -1. The target is
 * the next token, taken by the parser.
 */
static void redirection(struct lexer *lx, int fd)
{
	struct redir *r = arena_alloc(lx->arena, sizeof(*r));
	int c = take(lx), next = peek(lx);

	*r = (struct redir){.type = c == '<' ? REDIR_IN : REDIR_OUT, .out = c == '>', .fd = fd < 0 ? c == '>' : fd};
	if (next == '(')
		foreign_refuse(lx, c == '<' ? "<( )" : ">( )", "a pipe, or a file in /tmp");
	if (next == '&')
		r->type = REDIR_DUP;
	else if (next == c)
		r->type = c == '<' ? REDIR_HERE : REDIR_APPEND;
	else if (c == '<' && next == '>')
		r->type = REDIR_READ_WRITE;
	if (r->type != REDIR_IN && r->type != REDIR_OUT)
		take(lx);
	else if (next == '|')
		take(lx); /* >| is > where noclobber does not exist */
	if (r->type == REDIR_HERE && peek(lx) == '<')
		foreign_refuse(lx, "<<<", "printf '%s\\n' TEXT |, or a here-document <<");
	if (r->type == REDIR_HERE && peek(lx) == '-') {
		take(lx);
		r->strip = true;
	}
	lx->token = T_REDIR;
	lx->redir = r;
}

/*
 * Step over blanks, comments, and newlines that a backslash hides. A carriage return counts as a
 * blank: scripts that come from other systems end their lines with one.
 */
static void skip_blanks(struct lexer *lx)
{
	for (;;) {
		int c = peek(lx);

		if (c == '\\' && peek_at(lx, 1) == '\n')
			take(lx);
		else if (c == '#')
			while (peek_at(lx, 1) >= 0 && peek_at(lx, 1) != '\n')
				take(lx);
		else if (c != ' ' && c != '\t' && c != '\r')
			return;
		take(lx);
	}
}

/* An operator of one byte, or of two equal ones. */
static void operator(struct lexer *lx, int c)
{
	static const struct {
		char byte;
		enum token one, two;
	} operators[] = {
		{'&', T_AMP, T_AND_IF},	   {'|', T_PIPE, T_OR_IF},    {';', T_SEMI, T_DSEMI},
		{'(', T_LPAREN, T_LPAREN}, {')', T_RPAREN, T_RPAREN},
	};

	take(lx);
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		if (operators[i].byte != c)
			continue;
		lx->token = operators[i].one;
		if (operators[i].two != operators[i].one && peek(lx) == c) {
			take(lx);
			lx->token = operators[i].two;
		}
	}
	if (lx->token == T_AMP && peek(lx) == '>')
		foreign_refuse(lx, "&>", ">FILE 2>&1");
	if (lx->token == T_PIPE && peek(lx) == '&')
		foreign_refuse(lx, "|&", "2>&1 |");
	if ((lx->token == T_SEMI || lx->token == T_DSEMI) && peek(lx) == '&')
		foreign_refuse(lx, ";& or ;;&", ";; and the commands once more");
}

/*
 * Digits right before < or > are a descriptor: `2>f`. Returns it, or -1 when they are the beginning of
 * a word (`echo 2 >f` has an argument). At most three digits are looked at.
 */
static int descriptor(struct lexer *lx)
{
	size_t i = 0;
	int fd = 0;

	while (i < 3 && isdigit(peek_at(lx, i)))
		fd = fd * 10 + peek_at(lx, i++) - '0';
	/* Then they are the start of a word: `echo 2` has an argument. */
	if (i == 0 || (peek_at(lx, i) != '<' && peek_at(lx, i) != '>'))
		return -1;
	while (i--)
		take(lx);
	return fd;
}

/*
 * A reserved word is a word here: only the parser knows where one may stand. When a line ends, the
 * bodies of its here-documents are read before the next token.
 */
void lex_next(struct lexer *lx)
{
	int c, fd = -1;

	skip_blanks(lx);
	c = peek(lx);
	if (c < 0) {
		lx->token = T_EOF;
		return;
	}
	lx->first_line = false;
	if (isdigit(c)) {
		fd = descriptor(lx);
		c = peek(lx);
	}
	if (c == '<' || c == '>')
		redirection(lx, fd);
	else if (c == '\n') {
		take(lx);
		newline(lx);
	} else if (strchr("&|;()", c))
		operator(lx, c);
	else
		scan_word(lx);
}
