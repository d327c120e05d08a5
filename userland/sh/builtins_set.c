/*
 * The builtins set and read, which change the shell's own state: a program could not, as a child has
 * only copies of the variables and parameters.
 *
 *     printf 'a:b c:d\n' | { IFS=: read x y; }        x is "a", y is "b c:d"
 *
 * The last variable of `read` takes the rest of the line.
 */
#include "sh.h"

/* By letter, or by name behind -o. */
static const struct {
	char letter; /* 0: it has a name only */
	const char *name;
	bool *flag;
} set_table[] = {
	{'e', "errexit", &sh.opt_e},	   {'f', "noglob", &sh.opt_f},	{'n', "noexec", &sh.opt_n},
	{'u', "nounset", &sh.opt_u},	   {'v', "verbose", &sh.opt_v}, {'x', "xtrace", &sh.opt_x},
	{0, "pipefail", &sh.opt_pipefail},
};

/* Where the option of a letter is kept, or NULL for an unknown letter. */
static bool *option_flag(char letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(set_table); i++) {
		if (set_table[i].letter == letter)
			return set_table[i].flag;
	}
	return NULL;
}

/* set -o NAME; without a name the options are listed. */
static void set_named(const char *name, bool on)
{
	for (size_t i = 0; i < ARRAY_SIZE(set_table); i++) {
		if (!name)
			printf("%-15s %s\n", set_table[i].name, *set_table[i].flag ? "on" : "off");
		else if (!strcmp(set_table[i].name, name)) {
			*set_table[i].flag = on;
			return;
		}
	}
	if (name)
		sh_error("set: bad option -o %s", name);
}

/*
 * Set these options on or off. Returns false at an unknown letter; those before it have taken effect
 * by then.
 */
bool set_options(const char *letters, bool on)
{
	for (; *letters; letters++) {
		bool *flag = option_flag(*letters);

		if (!flag)
			return false;
		*flag = on;
	}
	return true;
}

/* Replace $1, $2, ... by copies of args, a list that ends in NULL. */
void sh_set_params(char **args)
{
	int n = 0;

	while (args[n])
		n++;
	/* The old list is left: a function or a loop above may still walk it. */
	sh.argv = vt_malloc(sizeof(*sh.argv) * (size_t)(n + 1));
	for (int i = 0; i < n; i++)
		sh.argv[i] = vt_strdup(args[i]);
	sh.argv[n] = NULL;
	sh.argc = n;
}

/*
 * set [-+efnuvx] [-+o NAME] [--] [ARG...]. Options come first; "--" alone clears the parameters. The o may be the last
 * of several letters: set -euo pipefail.
 */
int builtin_set(int argc, char **argv)
{
	int i = 1;

	if (argc == 1)
		var_print("", false, false);
	for (; i < argc && (argv[i][0] == '-' || argv[i][0] == '+') && argv[i][1]; i++) {
		if (!strcmp(argv[i], "--")) {
			sh_set_params(argv + i + 1);
			return 0;
		}
		size_t last = strlen(argv[i]) - 1;
		bool named = argv[i][last] == 'o', on = argv[i][0] == '-';

		if (!set_options(arena_copy(&sh.temp, argv[i] + 1, last - named), on))
			sh_error("set: bad option %s", argv[i]);
		if (named)
			set_named(i + 1 < argc ? argv[++i] : NULL, on);
	}
	if (i < argc)
		sh_set_params(argv + i);
	return 0;
}

/* One byte of standard input. Returns 1, or 0 at the end, at an error (said) and after ^C. */
static int read_byte(unsigned char *c)
{
	ssize_t n;

	do
		n = terminal_read(STDIN_FILENO, c, 1);
	while (n < 0 && errno == EINTR && !sh.interrupted);
	if (n < 0 && errno != EINTR)
		vt_warn("read: %s", strerror(errno));
	return n == 1;
}

/*
 * One line from standard input, byte by byte: what follows belongs to the commands that come after, and a
 * pipe cannot be rewound. Returns false when the end of input came before a newline: x then has what there
 * was.
 */
static bool read_line(struct xtext *x, bool raw)
{
	unsigned char c;

	while (read_byte(&c)) {
		if (c == '\n')
			return true;
		if (c == '\\' && !raw) {
			if (!read_byte(&c))
				return false;
			if (c != '\n')
				x_add(x, c | X_QUOTED);
		} else if (c) {
			x_add(x, c);
		}
	}
	return false;
}

/*
 * Whether an element of the line ends a word: a byte of $IFS that no backslash has quoted. A quoted
 * byte carries X_QUOTED, as in expansions.
 */
static bool separates(unsigned short element, const char *ifs)
{
	return !(element & X_QUOTED) && strchr(ifs, element & 0xff);
}

/*
 * White space of $IFS: any amount of it is one separator, where each other byte of $IFS is one of
 * its own.
 */
static bool is_blank(unsigned short element)
{
	return strchr(" \t\n", element & 0xff) != NULL;
}

/* Where blanks of $IFS end, from `at` on. */
static size_t skip_blanks(const struct xtext *x, size_t at, const char *ifs)
{
	while (at < x->n && separates(x->v[at], ifs) && is_blank(x->v[at]))
		at++;
	return at;
}

/*
 * Take the next word of the line, from *at on, and step over what separates it from the following one: blanks
 * around at most one other byte. The last variable gets the rest, with the separators within it, but without
 * blanks at its end. A single word with its separator is no rest: of "a:b:" y is b, of "a:b:c:" it is b:c:.
 */
static char *read_word(const struct xtext *x, size_t *at, const char *ifs, bool last)
{
	size_t start = skip_blanks(x, *at, ifs), end = start;
	struct xtext word = {0};
	char *text;

	while (end < x->n && !separates(x->v[end], ifs))
		end++;
	*at = skip_blanks(x, end, ifs);
	if (*at < x->n && separates(x->v[*at], ifs))
		*at = skip_blanks(x, *at + 1, ifs);
	if (last && *at < x->n) {
		end = x->n;
		while (separates(x->v[end - 1], ifs) && is_blank(x->v[end - 1]))
			end--;
	}
	for (; start < end; start++)
		x_add(&word, x->v[start]);
	/* In sh.temp: it lives until the command ends; var_set() copies it. */
	text = x_string(&word);
	x_free(&word);
	return text;
}

/*
 * By hand, because vt_option() ends the process on a bad option, and here that would be the shell. Returns
 * the index of the first name.
 */
static int read_options(int argc, char **argv, bool *raw)
{
	int i;

	for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (!strcmp(argv[i], "--"))
			return i + 1;
		if (!strcmp(argv[i], "-r"))
			*raw = true;
		else if (!strcmp(argv[i], "-p") && i + 1 < argc)
			fprintf(stderr, "%s", argv[++i]);
		else
			sh_error("read: bad option %s (Usage: read [-r] [-p PROMPT] [NAME...])", argv[i]);
	}
	return i;
}

/* read [-r] [NAME...]: one line into variables, the last of which takes what is left; without names into REPLY. */
int builtin_read(int argc, char **argv)
{
	const char *ifs = var_get("IFS");
	struct xtext x = {0};
	bool raw = false, whole;
	int first = read_options(argc, argv, &raw);
	size_t at = 0;

	/* Names are looked at first: an error after the line is read would lose it. */
	for (int i = first; i < argc; i++) {
		if (!var_name_length(argv[i]) || argv[i][var_name_length(argv[i])])
			sh_error("read: %s: bad variable name", argv[i]);
	}
	/* POSIX: an unfinished last line is assigned, but the status says that the end has come. */
	whole = read_line(&x, raw);
	/* A copy: IFS may be among the names. */
	ifs = ifs ? arena_copy(&sh.temp, ifs, strlen(ifs)) : " \t\n";
	if (first >= argc)
		var_set("REPLY", x_string(&x));
	for (int i = first; i < argc; i++)
		var_set(argv[i], read_word(&x, &at, ifs, i == argc - 1));
	x_free(&x);
	return !whole;
}
