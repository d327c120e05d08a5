/*
 * What a dollar or a backquote stands for: parameters, commands, arithmetic.
 *
 * Each function adds elements to an xtext. Outside of double quotes they are marked X_SPLIT, so
 * that only what an expansion brought is split; within them X_QUOTED.
 *
 *     $x  ${x}            the value               ${x:-w} ${x:=w} ${x:?w} ${x:+w}      if not set (or empty)
 *     ${#x}               its length              ${x#p} ${x##p} ${x%p} ${x%%p}        without an end
 *     $(c) `c`            what c prints           ${x:n:m}                             a part of it
 *     $((e))              its number              $? $$ $! $# $- $0 $1 $@ $*           special parameters
 *
 * Strings lie in sh.temp, since an error jumps away (sh_error()). Only the elements of an xtext come from malloc: an
 * error at the console loses those of the word it stood in.
 */
#include "sh.h"
#include <ctype.h>
#include <fnmatch.h>
#include <sys/wait.h>

/*
 * The value of a special parameter ($?, $$, ...) or of a positional one ($1, ...); NULL when the name
 * is of neither kind, or when the parameter is not set. The text lies in sh.temp or lives longer.
 */
static const char *special_value(const char *name)
{
	char number[24], *flags;
	long value;

	switch (*name) {
	case '?':
		value = sh.status;
		break;
	case '$':
		value = sh.pid;
		break;
	case '#':
		value = sh.argc;
		break;
	case '!':
		if (!sh.last_background)
			return NULL;
		value = sh.last_background;
		break;
	case '-':
		flags = arena_alloc(&sh.temp, 8);
		sprintf(flags, "%s%s%s%s%s%s%s", sh.opt_e ? "e" : "", sh.opt_f ? "f" : "", sh.interactive ? "i" : "",
			sh.opt_n ? "n" : "", sh.opt_u ? "u" : "", sh.opt_v ? "v" : "", sh.opt_x ? "x" : "");
		return flags;
	default:
		value = atol(name);
		if (value == 0)
			return sh.arg0;
		return value <= sh.argc ? sh.argv[value - 1] : NULL;
	}
	sprintf(number, "%ld", value);
	return arena_copy(&sh.temp, number, strlen(number));
}

/*
 * The value of a variable or of a special parameter; NULL when it is not set. @ and * are several
 * values, which add_params() handles.
 */
static const char *param_value(const char *name)
{
	return var_name_length(name) ? var_get(name) : special_value(name);
}

/*
 * Append all positional parameters. With $1='a b' and $2=c:
 *
 *     "$@"   two fields:  a b | c              $@ and $*   three fields, split again:  a | b | c
 *     "$*"   one field:   a b c, joined by the first byte of $IFS
 *
 * X_BREAK separates fields even in quotes; X_MARK makes an empty parameter in quotes count as a field.
 */
static void add_params(struct xtext *x, char which, unsigned short flags)
{
	const char *ifs = var_get("IFS");
	/* IFS set but empty: the parameters are joined by nothing. */
	unsigned char join = which == '*' && ifs ? (unsigned char)*ifs : ' ';

	/* $@ and unquoted $*: a break between each two, which split() turns into fields. */
	for (int i = 0; i < sh.argc; i++) {
		if (i && which == '*' && (flags & X_QUOTED)) {
			if (join)
				x_add(x, join | X_QUOTED);
		} else if (i) {
			x_add(x, join | X_BREAK);
		}
		if (flags & X_QUOTED)
			x_add(x, X_MARK);
		x_add_string(x, sh.argv[i], flags & X_QUOTED ? X_QUOTED : X_SPLIT);
	}
}

/* $name as it is. Unset is nothing, or with -u an error. */
static void add_value(struct xtext *x, const char *name, unsigned short flags)
{
	const char *value;

	if (*name == '@' || *name == '*') {
		add_params(x, *name, flags);
		return;
	}
	value = param_value(name);
	if (value)
		x_add_string(x, value, flags & X_QUOTED ? X_QUOTED : X_SPLIT);
	else if (sh.opt_u)
		sh_error("%s: parameter not set", name);
}

/*
 * ${x#p} ${x##p} ${x%p} ${x%%p}: the value without its shortest or longest beginning (#) or end (%)
 * that matches the pattern. fnmatch() compares whole strings, so each cut is tried: from the short ones on for the
 * shortest, from the long ones on for the longest. With x=a.b.c:
 *
 *     ${x#*.} b.c      ${x##*.} c      ${x%.*} a.b      ${x%%.*} a
 */
static char *strip(const char *value, const char *pattern, bool at_end, bool longest)
{
	size_t n = strlen(value);
	char *text = arena_copy(&sh.temp, value, n);

	/* fnmatch() matches whole strings: each length is tried, the wanted end of them first. */
	for (size_t i = 0; i <= n; i++) {
		/* The number of bytes kept (at_end) or tried (at the front), so that the right length comes
		 * first. */
		size_t at = at_end == longest ? i : n - i;
		char cut = text[at];
		bool match;

		if (at_end) {
			if (fnmatch(pattern, text + at, 0) == 0)
				return arena_copy(&sh.temp, value, at);
			continue;
		}
		text[at] = '\0';
		match = fnmatch(pattern, text, 0) == 0;
		text[at] = cut;
		if (match)
			return text + at;
	}
	return text;
}

/* The word of ${x-word} and so on: n bytes. */
static char *word_string(const char *word, size_t n)
{
	return expand_string(arena_copy(&sh.temp, word, n));
}

/*
 * The operators - = ? + of ${x-word}, with or without a colon. `set` says whether the parameter counts
 * as set: with a colon an empty value does not. The word is n bytes, not yet expanded.
 */
static void conditional(struct xtext *x, const char *name, char op, bool set, const char *word, size_t n,
			unsigned short flags)
{
	if (op == '+') {
		if (set)
			x_expand_word(x, arena_copy(&sh.temp, word, n), flags & X_QUOTED ? X_QUOTED : X_SPLIT);
		return;
	}
	if (set) {
		add_value(x, name, flags);
		return;
	}
	/* The word is expanded only when it is used: POSIX forbids side effects otherwise. */
	if (op == '-') {
		x_expand_word(x, arena_copy(&sh.temp, word, n), flags & X_QUOTED ? X_QUOTED : X_SPLIT);
	} else if (op == '=') {
		/* $1 and the special parameters cannot be assigned. */
		if (!var_name_length(name))
			sh_error("%s: cannot assign in this way", name);
		var_set(name, word_string(word, n));
		add_value(x, name, flags);
	} else {
		sh_error("%s: %s", name, n ? word_string(word, n) : "parameter not set or null");
	}
}

/* Length of the name at s: an identifier, digits or one special byte. */
static size_t name_length(const char *s)
{
	size_t n = var_name_length(s);

	if (n)
		return n;
	while (isdigit((unsigned char)s[n]))
		n++;
	return n ? n : *s && strchr("@*#?$!-", *s) != NULL;
}

/*
 * ${x:offset} and ${x:offset:length}; word is what follows the first colon. For example ${x:1:2} of
 * abcd is bc, ${x: -1} is d (with the blank, else it is the operator :-).
 */
static void substring(struct xtext *x, const char *value, char *word, unsigned short flags)
{
	char *colon = strchr(word, ':');
	long size = (long)strlen(value), offset, length = size;

	if (colon)
		*colon++ = '\0';
	/* Both are arithmetic: ${x:n+1:2} works. */
	offset = arith_eval(expand_string(word));
	if (colon)
		length = arith_eval(expand_string(colon));
	/* From the end. Beyond the beginning there is nothing, as in bash. */
	if (offset < 0)
		offset = offset + size < 0 ? size : offset + size;
	if (offset > size)
		offset = size;
	/* Not a length, but how many bytes to leave off at the end. */
	if (length < 0)
		length = size + length - offset < 0 ? 0 : size + length - offset;
	if (length > size - offset)
		length = size - offset;
	x_add_string(x, arena_copy(&sh.temp, value + offset, (size_t)length), flags & X_QUOTED ? X_QUOTED : X_SPLIT);
}

/* Does not return. The construct of n bytes is shown as it was written. */
static void bad_substitution(const char *s, size_t n)
{
	sh_error("%s: bad substitution", arena_copy(&sh.temp, s, n));
}

/*
 * Do the operator at `op`, which follows the name; `end` points at the closing brace. For $@ and $*
 * only the first parameter is looked at.
 */
static void braced_operator(struct xtext *x, char *name, const char *op, const char *end, unsigned short flags)
{
	const char *value = *name == '@' || *name == '*' ? (sh.argc ? sh.argv[0] : NULL) : param_value(name);
	bool colon = *op == ':', doubled;

	/* A colon without one of -=?+ after it is a substring. */
	if (colon && (op + 1 == end || !strchr("-=?+", op[1]))) {
		substring(x, value ? value : "", arena_copy(&sh.temp, op + 1, (size_t)(end - op - 1)), flags);
		return;
	}
	/* With a colon an empty value counts as not set. */
	op += colon;
	if (strchr("-=?+", *op)) {
		conditional(x, name, *op, value && (!colon || *value), op + 1, (size_t)(end - op - 1), flags);
		return;
	}
	if (*op != '#' && *op != '%')
		bad_substitution(name, strlen(name));
	/* ## and %% take the longest match. */
	doubled = op[1] == *op;
	value = strip(value ? value : "",
		      expand_pattern(arena_copy(&sh.temp, op + 1 + doubled, (size_t)(end - op - 1 - doubled))),
		      *op == '%', doubled);
	x_add_string(x, value, flags & X_QUOTED ? X_QUOTED : X_SPLIT);
}

/* ${...} of n bytes at s. */
static void braced(struct xtext *x, const char *s, size_t n, unsigned short flags)
{
	const char *end = s + n - 1, *at = s + 2;
	bool length = *at == '#' && at + 1 < end && name_length(at + 1) && at + 1 + name_length(at + 1) == end;
	/*
	 * ${#} alone is the number of parameters: # is a length only if a name and the end follow.
	 */
	size_t name_n = name_length(at += length);
	char *name = arena_copy(&sh.temp, at, name_n);

	if (!name_n || at + name_n > end)
		bad_substitution(s, n);
	at += name_n;
	if (length) {
		const char *value = param_value(name);
		char number[24];

		sprintf(number, "%ld", *name == '@' || *name == '*' ? (long)sh.argc : value ? (long)strlen(value) : 0);
		x_add_string(x, number, flags & X_QUOTED ? X_QUOTED : X_SPLIT);
	} else if (at == end) {
		add_value(x, name, flags);
	} else {
		braced_operator(x, name, at, end, flags);
	}
}

/*
 * In `..` a backslash is taken away before $ ` and backslash, and before " where all of it stands in double
 * quotes. This is why backquotes nest badly, and why $(..) exists.
 */
static char *backquoted(const char *s, size_t n, bool quoted)
{
	const char *hidden = quoted ? "$`\\\"" : "$`\\";
	/* Shorter than n: both backquotes go. */
	char *text = arena_alloc(&sh.temp, n), *to = text;

	for (size_t i = 1; i + 1 < n; i++) {
		if (s[i] == '\\' && i + 2 < n && strchr(hidden, s[i + 1]))
			i++;
		*to++ = s[i];
	}
	*to = '\0';
	return text;
}

/*
 * Append all that comes from fd, without zero bytes, which no C string could hold. Newlines at the end
 * are dropped, so that x=$(pwd) is a name and not a line.
 */
static void add_output(struct xtext *x, int fd, unsigned short flags)
{
	char buf[4096];
	size_t start = x->n;
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)) {
		for (ssize_t i = 0; i < n; i++) {
			if (buf[i])
				x_add(x, (unsigned char)buf[i] | flags);
		}
	}
	if (n < 0)
		vt_warn_errno("command substitution");
	/* Only newlines of this output: what stood before the substitution stays. */
	while (x->n > start && (x->v[x->n - 1] & 0xff) == '\n')
		x->n--;
}

/*
 * Command substitution: run the text in a child and append what it prints. The writing end must be
 * closed here before reading, or the end of input would never come. The child is waited for by its
 * pid, as it is no job: it has no number and no group of its own. Its status is that of a command without a name.
 *
 *     shell: pipe, fork, read until the end, waitpid        child: standard output is the pipe, run, exit
 */
static void command(struct xtext *x, const char *text, unsigned short flags)
{
	int fds[2], status;
	pid_t pid, ended;

	sh.substitutions++;
	if (pipe(fds) < 0)
		sh_error("cannot make a pipe: %s", strerror(errno));
	pid = job_fork_blocked();
	if (pid < 0) {
		close(fds[0]);
		close(fds[1]);
		sh_error("cannot fork: %s", strerror(errno));
	}
	if (pid == 0) {
		job_default_signals();
		exec_child();
		job_unblock_child();
		close(fds[0]);
		if (dup2(fds[1], STDOUT_FILENO) < 0)
			vt_die_errno(2, "pipe");
		if (fds[1] != STDOUT_FILENO)
			close(fds[1]);
		sh_exit(exec_string(text));
	}
	close(fds[1]);
	add_output(x, fds[0], flags & X_QUOTED ? X_QUOTED : X_SPLIT);
	close(fds[0]);
	do
		ended = waitpid(pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended < 0)
		sh_error("wait: %s", strerror(errno));
	/* Not yet $?, which stays for the other words of the command: see exec_simple(). */
	sh.substituted = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The text is expanded as if quoted: $x in it is put in before the expression is read. */
static void arithmetic(struct xtext *x, const char *text, size_t n, unsigned short flags)
{
	struct xtext expression = {0};
	char number[24];

	x_expand(&expression, text, n, X_QUOTED, false);
	sprintf(number, "%ld", arith_eval(x_string(&expression)));
	x_free(&expression);
	x_add_string(x, number, flags & X_QUOTED ? X_QUOTED : X_SPLIT);
}

/* n was measured by lex_dollar_length(): the construct is complete. */
void x_dollar(struct xtext *x, const char *s, size_t n, unsigned short flags)
{
	if (*s == '`')
		command(x, backquoted(s, n, flags & X_QUOTED), flags);
	else if (n == 1)
		x_add(x, '$' | flags);
	else if (s[1] == '{')
		braced(x, s, n, flags);
	else if (s[1] == '(' && s[2] == '(' && s[n - 2] == ')')
		arithmetic(x, s + 3, n - 5, flags);
	else if (s[1] == '(')
		command(x, arena_copy(&sh.temp, s + 2, n - 3), flags);
	else
		add_value(x, arena_copy(&sh.temp, s + 1, n - 1), flags);
}
