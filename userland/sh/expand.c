/*
 * Words into fields: expansion, splitting at $IFS, file names, quotes taken away (POSIX 2.6).
 *
 *     word    "$x"*.c            with x='a b'
 *     x_expand  a_b (each X_QUOTED), then *.c      one row of elements, where _ is the blank
 *     split     one field: the blank came from quotes, so it does not separate
 *     finish    file names that match, or the text itself
 *
 * A word becomes a row of elements of 16 bits: a byte, and flags that say where it came from (see
 * X_QUOTED and the others in sh.h). So one pass can expand everything, and the later steps still
 * know which bytes may split, which may match, and that an empty "" stood there.
 */
#include "sh.h"
#include <fnmatch.h>

/* Doubling: a text of n bytes is copied at most twice on its way. */
void x_add(struct xtext *x, unsigned short element)
{
	if (x->n == x->size) {
		x->size = x->size ? x->size * 2 : 64;
		x->v = vt_realloc(x->v, x->size * sizeof(*x->v));
	}
	x->v[x->n++] = element;
}

void x_add_string(struct xtext *x, const char *s, unsigned short flags)
{
	while (*s)
		x_add(x, (unsigned char)*s++ | flags);
}

void x_free(struct xtext *x)
{
	free(x->v);
	*x = (struct xtext){0};
}

/* A break between parameters is its byte here, if it has one: `x=$@` joins them by blanks, `x=$*` by $IFS. */
char *x_string(const struct xtext *x)
{
	char *text = arena_alloc(&sh.temp, x->n + 1);
	size_t n = 0;

	for (size_t i = 0; i < x->n; i++) {
		if (!(x->v[i] & (X_BREAK | X_MARK)) || (char)x->v[i])
			text[n++] = (char)x->v[i];
	}
	text[n] = '\0';
	return text;
}

/* Twice the size is enough: each byte gets at most one backslash. */
char *x_pattern(const struct xtext *x)
{
	char *text = arena_alloc(&sh.temp, x->n * 2 + 1);
	size_t n = 0;

	for (size_t i = 0; i < x->n; i++) {
		if (x->v[i] & (X_BREAK | X_MARK))
			continue;
		if ((x->v[i] & X_QUOTED) && strchr("*?[]\\-!^", (char)x->v[i]))
			text[n++] = '\\';
		text[n++] = (char)x->v[i];
	}
	text[n] = '\0';
	return text;
}

/* "$@" without parameters is no field at all, although it is quoted. */
static bool is_empty_at(const char *s)
{
	return sh.argc == 0 && (!strncmp(s, "\"$@\"", 4) || !strncmp(s, "\"${@}\"", 6));
}

/* A backslash at s. Returns how many bytes it took. */
static size_t expand_backslash(struct xtext *x, const char *s, size_t n, bool quoted, bool here)
{
	/* A backslash at the very end stands for itself. */
	if (n < 2) {
		x_add(x, '\\' | X_QUOTED);
		return 1;
	}
	if (s[1] == '\n')
		return 2;
	/*
	 * Within double quotes a backslash is special only before these; in a here-document " is
	 * not.
	 */
	if (quoted && !(strchr("$`\\", s[1]) || (s[1] == '"' && !here)))
		x_add(x, '\\' | X_QUOTED);
	x_add(x, (unsigned char)s[1] | X_QUOTED);
	return 2;
}

/* $'..' of n bytes. */
static void expand_dollar_quote(struct xtext *x, const char *s, size_t n)
{
	const char *end = s + n - 1;

	x_add(x, X_MARK);
	for (s += 2; s < end;) {
		int c = (unsigned char)*s++;

		if (c == '\\')
			c = vt_escape(&s);
		/* \c is not special here: vt_escape() tells of it by -1. */
		if (c >= 0)
			x_add(x, (unsigned short)c | X_QUOTED);
	}
}

/*
 * A '..' or ".." string at s. Returns its length with both quotes. The quotes leave X_MARK, so that ''
 * is an empty field and not nothing.
 */
static size_t expand_quotes(struct xtext *x, const char *s)
{
	size_t n;

	if (*s == '"') {
		/*
		 * The quotes leave a mark, so that "" is a field; the text within is expanded as
		 * quoted.
		 */
		n = lex_dquote_length(s);
		if (!is_empty_at(s))
			x_add(x, X_MARK);
		x_expand(x, s + 1, n - 2, X_QUOTED, false);
		return n;
	}
	x_add(x, X_MARK);
	for (n = 1; s[n] && s[n] != '\''; n++)
		x_add(x, (unsigned char)s[n] | X_QUOTED);
	return s[n] ? n + 1 : n;
}

/*
 * ~ or ~/... at the start of a word, or of what stands between the colons of an assignment. Returns how many bytes it
 * took.
 */
static size_t expand_tilde(struct xtext *x, const char *text)
{
	const char *home = var_get("HOME");

	if (text[0] != '~' || !home || (text[1] && text[1] != '/' && !(x->assigned && text[1] == ':')))
		return 0;
	x_add_string(x, home, X_QUOTED);
	return 1;
}

/*
 * Each branch takes `taken` bytes of the text. What stands alone (a $ before a blank) is a plain
 * byte.
 */
void x_expand(struct xtext *x, const char *text, size_t n, unsigned short flags, bool here)
{
	const char *end = text + n;

	while (text < end) {
		size_t taken = 1;

		if (*text == '\\') {
			taken = expand_backslash(x, text, (size_t)(end - text), flags & X_QUOTED, here);
		} else if (*text == '$' && text[1] == '\'' && !(flags & X_QUOTED)) {
			taken = lex_dollar_length(text);
			expand_dollar_quote(x, text, taken);
		} else if (*text == '$' || *text == '`') {
			taken = lex_dollar_length(text);
			x_dollar(x, text, taken, flags & X_QUOTED);
		} else if ((*text == '"' || *text == '\'') && !(flags & X_QUOTED)) {
			taken = expand_quotes(x, text);
		} else if (*text == '"' && !here) {
			/* within the word of "${x:-"..."}": the quotes only group */
		} else {
			x_add(x, (unsigned char)*text | flags);
			if (*text == ':' && x->assigned && !flags && text + 1 < end)
				taken += expand_tilde(x, text + 1);
		}
		text += taken;
	}
}

void x_expand_word(struct xtext *x, const char *text, unsigned short flags)
{
	text += flags & X_QUOTED ? 0 : expand_tilde(x, text);
	x_expand(x, text, strlen(text), flags, false);
}

static char *expand_unsplit(const char *text, bool assigned)
{
	struct xtext x = {.assigned = assigned};
	char *result;

	x_expand_word(&x, text, 0);
	result = x_string(&x);
	x_free(&x);
	return result;
}

/* For redirections and the subject of case: POSIX splits and matches nothing there. */
char *expand_string(const char *text)
{
	return expand_unsplit(text, false);
}

/* For assignments, where the same holds. */
char *expand_value(const char *text)
{
	return expand_unsplit(text, true);
}

/* NAME=VALUE as one word. */
static char *expand_assignment(const char *text)
{
	struct xtext x = {.assigned = true};
	size_t name = var_name_length(text) + 1;
	char *result;

	for (size_t i = 0; i < name; i++)
		x_add(&x, (unsigned char)text[i]);
	x_expand_word(&x, text + name, 0);
	result = x_string(&x);
	x_free(&x);
	return result;
}

char *expand_pattern(const char *text)
{
	struct xtext x = {0};
	char *result;

	x_expand_word(&x, text, 0);
	result = x_pattern(&x);
	x_free(&x);
	return result;
}

/* All of the body is as if in double quotes, but " itself is plain. */
char *expand_here(const char *body)
{
	struct xtext x = {0};
	char *result;

	x_expand(&x, body, strlen(body), X_QUOTED, true);
	result = x_string(&x);
	x_free(&x);
	return result;
}

/* The list that grows while words are expanded. */
struct fields {
	char **v; /* NULL-terminated, in sh.temp */
	size_t n, size;
};

/* In the arena a larger list is a new one; the old one stays until the command ends. */
static void field_add(struct fields *f, char *text)
{
	/* Room for the NULL at the end is always kept. */
	if (f->n + 1 >= f->size) {
		size_t size = f->size ? f->size * 2 : 16;
		char **v = arena_alloc(&sh.temp, size * sizeof(*v));

		memcpy(v, f->v, f->n * sizeof(*v));
		f->v = v;
		f->size = size;
	}
	f->v[f->n++] = text;
	f->v[f->n] = NULL;
}

/*
 * Finish one field: the names of the files that its pattern matches, or its text if it has no pattern
 * or nothing matches. set -f turns patterns off.
 */
static void field_finish(struct fields *f, const struct xtext *part)
{
	bool pattern = false;
	char **names;
	size_t count;

	for (size_t i = 0; i < part->n; i++)
		/* Only bytes that no quote has covered can be pattern characters. */
		pattern |= !(part->v[i] & ~(0xff | X_SPLIT)) && strchr("*?[", part->v[i] & 0xff);
	if (!pattern || sh.opt_f) {
		field_add(f, x_string(part));
		return;
	}
	count = glob_expand(x_pattern(part), &names);
	/* POSIX: a pattern that matches nothing stays as it was written. */
	if (!count)
		field_add(f, x_string(part));
	for (size_t i = 0; i < count; i++)
		field_add(f, names[i]);
}

/*
 * Only bytes from an expansion split; what was written in the script never does. With x='a b', `$x` is
 * two fields, but the blank in `a\ b` stays.
 */
static bool is_separator(unsigned short element, const char *set)
{
	return (element & X_SPLIT) && (element & 0xff) && strchr(set, element & 0xff);
}

/*
 * Step over one separator: blanks of $IFS around at most one other byte of it. Returns whether there
 * was such a byte. With IFS=": " the text "a : b" has two fields, "a::b" three.
 */
static bool skip_separator(const struct xtext *x, size_t *i, const char *ifs)
{
	bool hard = false;

	for (; *i < x->n && is_separator(x->v[*i], ifs); ++*i) {
		if (strchr(" \t\n", x->v[*i] & 0xff))
			continue;
		/* A second one begins a new, empty field: "a,,b" has three. */
		if (hard)
			break;
		hard = true;
	}
	return hard;
}

/* Cut x into fields. A field of no bytes counts only if there were quotes or a hard separator. */
static void split(struct fields *f, const struct xtext *x)
{
	const char *ifs = var_get("IFS");
	struct xtext part = {0};
	bool present = false;

	if (!ifs)
		ifs = " \t\n";
	for (size_t i = 0; i < x->n;) {
		bool cut = x->v[i] & X_BREAK, hard;

		/* A part of a field. A mark adds no byte but makes the field count. */
		if (!cut && !is_separator(x->v[i], ifs)) {
			if (!(x->v[i] & X_MARK))
				x_add(&part, x->v[i]);
			present = true;
			i++;
			continue;
		}
		hard = cut ? i++, false : skip_separator(x, &i, ifs);
		if (present || hard)
			field_finish(f, &part);
		present = false;
		part.n = 0;
	}
	if (present)
		field_finish(f, &part);
	x_free(&part);
}

/* Commands that assign variables, if they are written so: POSIX calls them declaration utilities. */
static bool is_declaration(const char *command)
{
	return !strcmp(command, "export") || !strcmp(command, "readonly") || !strcmp(command, "local");
}

/*
 * One word can become no field (an unset variable), one or many ("$@", patterns). A NAME=VALUE of `local` and the like
 * is one field and no pattern, as an assignment is: the blanks in `local x=$1` stay in the value.
 */
char **expand_words(const struct word *words, int *count, bool command)
{
	bool declares = command && words && is_declaration(words->text);
	struct fields f = {0};
	struct xtext x = {0};

	for (; words; words = words->next) {
		if (declares && var_is_assignment(words->text)) {
			field_add(&f, expand_assignment(words->text));
			continue;
		}
		x.n = 0;
		x_expand_word(&x, words->text, 0);
		split(&f, &x);
	}
	x_free(&x);
	/* No field at all is an empty list, not NULL. */
	if (!f.v)
		f.v = arena_alloc(&sh.temp, sizeof(*f.v));
	f.v[f.n] = NULL;
	if (count)
		*count = (int)f.n;
	return f.v;
}
