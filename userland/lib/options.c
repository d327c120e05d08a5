/*
 * Command-line options and numbers.
 *
 * A smaller getopt: state lies in a structure instead of global variables, and --help and messages are the
 * same for every program. As with GNU's getopt an option may stand behind operands: its words are moved in
 * front of them, so that all operands stand together at the end. A program whose operands are a command with
 * options of its own sets in_order, and its options end at the first operand.
 *
 *     ls /tmp -l /etc -a      becomes      ls -l -a /tmp /etc
 *                                                   ^ index at the end
 *
 * `index` is where the next option goes, `passed` counts the operands between index and the word that
 * is looked at next. A cluster (-la) is one word with several letters: `at` points at the next of
 * them.
 */
#include <vt.h>
#include <limits.h>

void vt_usage(const struct vt_options *o)
{
	fprintf(stderr, "Usage: %s\n", o->usage);
	exit(o->bad_status);
}

void vt_help(const struct vt_options *o)
{
	printf("Usage: %s\n%s", o->usage, o->help ? o->help : "");
	exit(vt_finish(0));
}

/* Does not return. */
static void option_bad(const struct vt_options *o, const char *why, const char *what)
{
	vt_warn("%s '%s' (try %s --help)", why, what, vt_name);
	exit(o->bad_status);
}

/* Take the word behind the operands that were passed over: it moves in front of them. */
static const char *take_word(struct vt_options *o, char **argv)
{
	char **to = argv + o->index++, *word = to[o->passed];

	memmove(to + 1, to, (size_t)o->passed * sizeof(*to));
	*to = word;
	return word;
}

/* The argument of a letter: the rest of its cluster, or the next word. */
static const char *option_argument(struct vt_options *o, int argc, char **argv, const char *letter)
{
	const char *rest = o->at;

	o->at = NULL;
	if (rest && *rest)
		return rest;
	if (o->index + o->passed >= argc)
		option_bad(o, "missing argument of option", letter);
	return take_word(o, argv);
}

/* "-" alone is an operand: standard input. */
static bool is_operand(const char *word)
{
	return word[0] != '-' || word[1] == '\0';
}

/* A long option as a cluster, "d3" for "--depth=3", in new memory that stays; of no known option: the program ends. */
static const char *as_cluster(const struct vt_options *o, const char *word)
{
	const char *value = strchr(word, '=');
	size_t n = (value ? (size_t)(value - word) : strlen(word)) - 2;

	for (const struct vt_long_option *l = o->longs; l && l->name; l++) {
		const char *known = strchr(o->options, l->letter);
		char *cluster;

		if (strlen(l->name) != n || strncmp(word + 2, l->name, n) || !known)
			continue;
		if (value && (known[1] != ':' || !value[1]))
			break;
		cluster = vt_malloc(strlen(word));
		sprintf(cluster, "%c%s", l->letter, value ? value + 1 : "");
		return cluster;
	}
	option_bad(o, "unknown option", word);
	return NULL;
}

/* Step to the next word that is an option. Returns false when the options are over. */
static bool option_word(struct vt_options *o, int argc, char **argv)
{
	const char *word;

	/* A structure that was only given usage and options begins at argv[1]. */
	if (o->index == 0)
		o->index = 1;
	while (!o->in_order && o->index + o->passed < argc && is_operand(argv[o->index + o->passed]))
		o->passed++;
	if (o->index + o->passed >= argc || is_operand(argv[o->index + o->passed]))
		return false;
	word = take_word(o, argv);
	if (!strcmp(word, "--"))
		return false;
	if (!strcmp(word, "--help"))
		vt_help(o);
	o->at = word[1] == '-' ? as_cluster(o, word) : word + 1;
	return true;
}

/*
 * `o->options` lists the letters, each with a colon behind it when it takes an argument. The argument
 * may follow directly (-n5) or be the next word (-n 5).
 */
int vt_option(struct vt_options *o, int argc, char **argv)
{
	const char *known;
	char letter[3] = "-?";

	if ((!o->at || !*o->at) && !option_word(o, argc, argv))
		return -1;
	letter[1] = *o->at++;
	/* A colon stands in the list of letters but is no option. */
	known = letter[1] == ':' ? NULL : strchr(o->options, letter[1]);
	if (!known)
		option_bad(o, "unknown option", letter);
	if (known[1] == ':')
		o->arg = option_argument(o, argc, argv, letter);
	return letter[1];
}

void vt_operands(struct vt_options *o, int argc, char **argv, int least, int most)
{
	while (vt_option(o, argc, argv) != -1)
		;
	if (argc - o->index < least || argc - o->index > most)
		vt_usage(o);
}

/*
 * errno is the only way strtol() tells of an overflow; it is cleared because it may be left from
 * before.
 */
int vt_number(const char *text, long min, long max, long *value)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 0);
	if (end == text || *end)
		return -EINVAL;
	if (errno == ERANGE || n < min || n > max)
		return -ERANGE;
	*value = n;
	return 0;
}

/*
 * A number within [min, max], in any base that strtol() knows; else say what is wrong with it and exit with `status`.
 */
long vt_number_or_die(int status, const char *text, long min, long max)
{
	long n = 0;

	switch (vt_number(text, min, max, &n)) {
	case -EINVAL:
		vt_die(status, "invalid number '%s'", text);
	case -ERANGE:
		if (max == LONG_MAX && strtol(text, NULL, 0) < min)
			vt_die(status, "number '%s' is less than %ld", text, min);
		if (max == LONG_MAX)
			vt_die(status, "number '%s' is too large", text);
		vt_die(status, "number '%s' is not in %ld..%ld", text, min, max);
	}
	return n;
}

/* Digits of a fraction beyond nanoseconds are cut off. */
static int seconds_fraction(const char **text, int64_t *ns)
{
	int64_t unit = 100000000;
	int digits = 0;

	for (; **text >= '0' && **text <= '9'; (*text)++, unit /= 10, digits++)
		*ns += (**text - '0') * unit;
	return digits;
}

/*
 * Whole numbers only, as there is no floating point: the part before the point and the nanoseconds
 * behind it are kept apart and multiplied by the unit at the end.
 */
int vt_seconds(const char *text, int64_t *ns)
{
	static const struct {
		char letter;
		int seconds;
	} units[] = {{'\0', 1}, {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	int64_t whole = 0, part = 0;
	int digits = 0;

	for (; *text >= '0' && *text <= '9'; text++, digits++) {
		whole = whole * 10 + (*text - '0');
		/* More digits could overflow before the unit is known; nobody waits for more than three years. */
		if (whole > 100000000)
			return -EINVAL;
	}
	if (*text == '.') {
		text++;
		digits += seconds_fraction(&text, &part);
	}
	/* "." alone and a unit alone have no digits, and are refused. */
	for (size_t i = 0; digits && i < ARRAY_SIZE(units); i++) {
		if (*text == units[i].letter && (!*text || !text[1])) {
			if (whole > 9000000000 / units[i].seconds) /* 64 bits have room for 9.2e18 ns */
				return -EINVAL;
			*ns = (whole * 1000000000 + part) * units[i].seconds;
			return 0;
		}
	}
	return -EINVAL;
}
