/*
 * What other shells have and this one lacks is refused by its name, with what to write in its place.
 *
 * Most of bash's extras mean something else in POSIX: `cmd &>file` runs cmd in the background, `((x))` is two
 * subshells, {1..3} a plain word. A script that was written for bash would do something that nobody has asked
 * for. So these are errors of syntax: they are found while a command is read up to the end of its last line,
 * before any of it runs. What POSIX leaves no doubt about is taken: `( (a); b)`, and even `((a); b)`; braces
 * in quotes, in assignments and in {} words; and a command called `declare` where somebody has made one.
 *
 *     cmd &>f       bash: both outputs to f       POSIX: cmd in the background, then f is emptied
 *     ((x=1))       bash: arithmetic              POSIX: the command x=1 in two subshells
 *     {1..3}        bash: 1 2 3                   POSIX: the word {1..3}
 */
#include "sh.h"
#include <ctype.h>

void foreign_refuse(const struct lexer *lx, const char *what, const char *instead)
{
	if (sh.interactive)
		sh_error("%s is bash's; use %s", what, instead);
	/* As in messages of the parser: behind a newline the count is one ahead. */
	sh_error("line %d: %s is bash's; use %s", lx->line - (lx->token == T_NEWLINE), what, instead);
}

/* Commands. Reserved ones are refused even where a function or program has the name. */
static const struct {
	const char *name, *what, *instead;
	bool reserved;
} commands[] = {
	{"[[", "[[ ]]", "[ ]", true},
	{"function", "function NAME", "NAME() { ...; }", true},
	{"select", "select", "a loop with read", true},
	{"let", "let", "x=$((...)) or : $((...))", false},
	{"declare", "declare", "NAME=VALUE, with local, readonly or export", false},
	{"typeset", "typeset", "NAME=VALUE, with local, readonly or export", false},
	{"mapfile", "mapfile", "while read", false},
	{"readarray", "readarray", "while read", false},
	{"pushd", "pushd", "cd, and cd -", false},
	{"popd", "popd", "cd -", false},
	{"shopt", "shopt", "set", false},
	{"coproc", "coproc", "a pipe or &", false},
	{"disown", "disown", "setsid", false},
};

static bool defined[ARRAY_SIZE(commands)]; /* a definition of this function has been read */

/*
 * The parser calls this when it has read `NAME()`. The function need not have run: a script may define
 * `declare` in its first line and call it in the same command.
 */
void foreign_defined(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		defined[i] |= !strcmp(commands[i].name, name);
}

/*
 * Whether somebody has made a command of that name: a function, defined or at least read, or a program
 * in $PATH. Then the name means that command and is not refused.
 */
static bool is_there(size_t i)
{
	char *path;

	if (defined[i] || exec_is_function(commands[i].name))
		return true;
	path = vt_which(commands[i].name);
	free(path);
	return path != NULL;
}

/*
 * `word` is the first word of a command, still with its quotes: '[[' in quotes is a plain name. An
 * array element or += looks like a command to POSIX, as it is no assignment.
 */
void foreign_command(const struct lexer *lx, const char *word)
{
	size_t n = var_name_length(word);
	const char *bracket;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(commands[i].name, word) && (commands[i].reserved || !is_there(i)))
			foreign_refuse(lx, commands[i].what, commands[i].instead);
	}
	if (n && !strncmp(word + n, "+=", 2))
		foreign_refuse(lx, "NAME+=VALUE", "NAME=$NAME...");
	bracket = n && word[n] == '[' ? strchr(word + n, ']') : NULL;
	if (bracket && (bracket[1] == '=' || !strncmp(bracket + 1, "+=", 2)))
		foreign_refuse(lx, "an array (NAME[N]=VALUE)", "set -- and \"$@\", or several variables");
}

/*
 * `x=(` is an assignment of nothing and then a subshell to POSIX. Only a parenthesis right behind the
 * "=" is meant; `x= (a)` gets the parser's own message.
 */
void foreign_array(const struct lexer *lx, const char *word)
{
	size_t n = strlen(word);

	/* The parenthesis has been taken; it stood right behind the "=". */
	if (n && word[n - 1] == '=' && lx->at >= 2 && lx->buf[lx->at - 2] == '=')
		foreign_refuse(lx, "an array (NAME=( ))", "set -- and \"$@\", or several variables");
}

/*
 * The length of what stands at s and hides its content from these checks: a quoted string, an escaped
 * byte, $.. or `..`. 0 when s is a plain byte.
 */
static size_t hidden(const char *s)
{
	const char *end;

	switch (*s) {
	case '\\':
		return s[1] ? 2 : 1;
	case '\'':
		end = strchr(s + 1, '\'');
		return end ? (size_t)(end - s) + 1 : 1;
	case '"':
		return lex_dquote_length(s);
	case '$':
	case '`':
		return lex_dollar_length(s);
	default:
		return 0;
	}
}

/* A number or one letter, as the ends of {a..b} are. Returns its length, or 0. */
static size_t sequence_end(const char *s)
{
	size_t n = *s == '-';

	if (isalpha((unsigned char)*s))
		return 1;
	while (isdigit((unsigned char)s[n]))
		n++;
	return n > (*s == '-') ? n : 0;
}

/*
 * "a..b}" or "a..b..step}" at s. bash takes two numbers or two letters, not one of each; a step may
 * follow.
 */
static bool is_sequence(const char *s)
{
	size_t first = sequence_end(s), second, step = 0;

	if (!first || strncmp(s + first, "..", 2))
		return false;
	second = sequence_end(s + first + 2);
	if (!second || !isalpha((unsigned char)*s) != !isalpha((unsigned char)s[first + 2]))
		return false;
	s += first + 2 + second;
	if (!strncmp(s, "..", 2)) {
		step = sequence_end(s + 2);
		s += step ? step + 2 : 0;
	}
	return *s == '}';
}

/*
 * Behind an opening brace: whether bash makes several words of it. A comma does that if it stands
 * between braces that match and not within inner ones: {a,b} is a list and {a} is not. In {a{b,c}}
 * only the inner one is.
 */
static bool is_list(const char *s)
{
	bool comma = false;
	int depth = 1;

	for (size_t n; *s; s += n) {
		n = hidden(s);
		if (n)
			continue;
		n = 1;
		if (*s == ',')
			comma |= depth == 1;
		else if (*s == '{')
			depth++;
		else if (*s == '}' && --depth == 0)
			return comma;
	}
	return false;
}

/* Called for words of commands and of `for`, not for assignments: bash expands no braces there. */
void foreign_braces(const struct lexer *lx, const char *word)
{
	for (size_t n; *word; word += n) {
		n = hidden(word);
		if (n)
			continue;
		n = 1;
		if (*word == '{' && (is_sequence(word + 1) || is_list(word + 1)))
			foreign_refuse(lx, "{a,b} or {1..3}",
				       "the words themselves, or $(seq 1 3); in quotes it is text");
	}
}

/*
 * Look at the content of ${ }; s stands behind the brace. The operator is what follows the name.
 *
 *     ${!x}   ${x[1]}   ${x/a/b}   ${x^^}   ${x@Q}         refused
 *     ${x}    ${#x}     ${x:-a}    ${x#a}   ${x:1:2}       POSIX's, or taken from bash
 */
static void check_parameter(const struct lexer *lx, const char *s)
{
	size_t n;

	if (*s == '!' && var_name_length(s + 1))
		foreign_refuse(lx, "${!NAME}", "eval");
	s += *s == '#' && var_name_length(s + 1);
	n = var_name_length(s);
	if (!n)
		return;
	if (s[n] == '[')
		foreign_refuse(lx, "an array (${NAME[N]})", "set -- and \"$@\", or several variables");
	if (s[n] == '/')
		foreign_refuse(lx, "${NAME/TEXT/TEXT}", "sed, or ${NAME#TEXT} and ${NAME%TEXT}");
	if (s[n] == '^' || s[n] == ',')
		foreign_refuse(lx, "${NAME^} or ${NAME,}", "tr");
	if (s[n] == '@')
		foreign_refuse(lx, "${NAME@X}", "printf");
}

/*
 * Parameters within double quotes count as well; single quotes hide them, unless they stand within
 * double ones, where they are plain bytes.
 */
void foreign_parameters(const struct lexer *lx, const char *word)
{
	bool quoted = false;

	for (size_t n; *word; word += n) {
		n = 1;
		if (*word == '"')
			quoted = !quoted;
		else if (!strncmp(word, "${", 2))
			check_parameter(lx, word + 2);
		else if (*word == '\\' || *word == '`' || !strncmp(word, "$(", 2) || !strncmp(word, "$'", 2) ||
			 (*word == '\'' && !quoted))
			n = hidden(word);
	}
}

/* `>&` must be followed by a descriptor's number or "-"; bash also takes a file. */
void foreign_duplicate(const struct lexer *lx, const char *target, bool out)
{
	size_t n = strspn(target, "0123456789");

	/* What is quoted or expanded is known only when it runs. */
	if (strpbrk(target, "'\"\\$`") || !strcmp(target, "-") || (n && !target[n]))
		return;
	if (n && !strcmp(target + n, "-"))
		foreign_refuse(lx, "moving a descriptor (>&N-)", "M>&N N>&-");
	if (out)
		foreign_refuse(lx, ">&FILE", ">FILE 2>&1");
	foreign_refuse(lx, "<&FILE", "<FILE");
}

/*
 * The first of two parentheses has been taken. bash takes them for arithmetic where the second one's match is
 * followed by another ")". Only what has been read is looked at: arithmetic goes over lines rarely, two
 * subshells often.
 */
void foreign_arithmetic(const struct lexer *lx)
{
	int depth = 0;

	if (lx->at >= lx->end || lx->buf[lx->at] != '(')
		return;
	for (size_t i = lx->at; i < lx->end; i++) {
		char c = lx->buf[i];

		if (c == '\n' || c == '\'' || c == '"' || c == '\\')
			return; /* commands, by all that can be said */
		depth += (c == '(') - (c == ')');
		if (depth)
			continue;
		if (i + 1 < lx->end && lx->buf[i + 1] == ')')
			foreign_refuse(lx, "(( ))", "[ $((...)) -ne 0 ]; for subshells write ( ( with a blank");
		return;
	}
}
