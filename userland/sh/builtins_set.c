/* The builtins set and read. */
#include "sh.h"

static bool *option_flag(char letter)
{
	switch (letter) {
	case 'e':
		return &sh.opt_e;
	case 'x':
		return &sh.opt_x;
	case 'u':
		return &sh.opt_u;
	case 'f':
		return &sh.opt_f;
	case 'n':
		return &sh.opt_n;
	}
	return NULL;
}

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
		if (!set_options(argv[i] + 1, argv[i][0] == '-'))
			sh_error("set: bad option %s", argv[i]);
	}
	if (i < argc)
		sh_set_params(argv + i);
	return 0;
}

/* One line from standard input, byte by byte: what follows belongs to somebody else. Returns false at the
 * end. */
static bool read_line(struct xtext *x, bool raw)
{
	unsigned char c;
	ssize_t n;

	for (;;) {
		n = read(STDIN_FILENO, &c, 1);
		if (n < 0 && errno == EINTR && !sh.interrupted)
			continue;
		if (n <= 0)
			return false;
		if (c == '\n')
			return true;
		if (c == '\\' && !raw) {
			if (read(STDIN_FILENO, &c, 1) <= 0)
				return false;
			if (c != '\n')
				x_add(x, c | X_QUOTED);
			continue;
		}
		if (c)
			x_add(x, c);
	}
}

static bool separates(unsigned short element, const char *ifs)
{
	return !(element & X_QUOTED) && strchr(ifs, element & 0xff);
}

static bool is_blank(unsigned short element)
{
	return strchr(" \t\n", element & 0xff) != NULL;
}

/* Take the next word from *at on; the last variable gets the rest without blanks at its end. */
static char *read_word(const struct xtext *x, size_t *at, const char *ifs, bool last)
{
	struct xtext word = {0};
	size_t end = x->n;
	char *text;

	while (*at < end && separates(x->v[*at], ifs) && is_blank(x->v[*at]))
		++*at;
	while (last && end > *at && separates(x->v[end - 1], ifs) && is_blank(x->v[end - 1]))
		end--;
	while (*at < end && (last || !separates(x->v[*at], ifs)))
		x_add(&word, x->v[(*at)++]);
	/* Blanks around one other separator belong to it. */
	while (*at < end && separates(x->v[*at], ifs) && is_blank(x->v[*at]))
		++*at;
	if (*at < end && separates(x->v[*at], ifs))
		++*at;
	text = x_string(&word);
	x_free(&word);
	return text;
}

int builtin_read(int argc, char **argv)
{
	struct vt_options o = {.usage = "read [-r] [-p PROMPT] [NAME...]", .options = "rp:", .bad_status = 2};
	const char *ifs = var_get("IFS");
	struct xtext x = {0};
	bool raw = false, whole;
	size_t at = 0;
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'r')
			raw = true;
		else
			fprintf(stderr, "%s", o.arg);
	}
	whole = read_line(&x, raw);
	if (!ifs)
		ifs = " \t\n";
	if (o.index >= argc)
		var_set("REPLY", x_string(&x));
	for (int i = o.index; i < argc; i++) {
		if (!var_name_length(argv[i]) || argv[i][var_name_length(argv[i])])
			sh_error("read: %s: bad variable name", argv[i]);
		var_set(argv[i], read_word(&x, &at, ifs, i == argc - 1));
	}
	x_free(&x);
	return !whole;
}
