/*
 * find [PATH...] [EXPRESSION]: the files at and below PATH for which an expression is true.
 *
 * Tests: -name, -iname, -path PATTERN; -type LETTER[,LETTER]...; -size [+-]N[cwbkMG]; -newer FILE;
 * -empty; -perm [-/]MODE. Actions: -print, -print0, -exec COMMAND... \; or {} +, -prune, -delete. Between them
 * ! -not -a -o ( ). For all files: -maxdepth, -mindepth, -depth (a directory after what is in it, as with -delete).
 * -prune and -delete together are refused, also behind -depth. Left out: following links (-H -L), -ok, -quit, -printf,
 * tests of owners and ages. A path of 4096 bytes or more is reported and not entered.
 *
 * A test is a line in `primaries`: its name, the function that runs it on a file, and one that
 * takes its arguments from the command line. The library does the rest: vt_expression_take() reads
 * the expression, the walk calls visit() for each file.
 *
 *     find /tmp -name '*.c' -size +1k      tests[0] = name_fits "*.c", tests[1] = size_fits +1 of 1024 bytes
 */
#include <vt.h>
#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>
#include <sys/stat.h>

/* A test or an action, and what belongs to it. */
struct test {
	const char *name;
	bool (*run)(struct test *test, const struct vt_file *file);
	char *text;		    /* a pattern, or letters of types */
	char sign;		    /* -size: +, - or 0; -perm: -, / or 0 */
	long number, unit;	    /* -size: so many units of so many bytes */
	mode_t mode;		    /* -perm */
	struct timespec mtime;	    /* -newer */
	struct vt_command *command; /* -exec */
};

static struct {
	struct test *tests;
	size_t count;
	struct vt_expression *expression;
	bool acts;	    /* it has an action, so no -print is added */
	long shallow, deep; /* -mindepth, -maxdepth */
	bool pruned;	    /* the current file is not to be entered */
	bool prunes, deletes;
	int status;
	struct vt_walker walker;
} find = {.deep = LONG_MAX};

/* Something could not be looked at; errno says why. */
static void fail(const char *what)
{
	vt_warn("'%s': %s", what, strerror(errno));
	find.status = 1;
}

/* --- tests and actions --- */

/* -name: the last part of the path, as a shell pattern. */
static bool name_fits(struct test *test, const struct vt_file *file)
{
	return fnmatch(test->text, file->name, 0) == 0;
}

/* -path: all of it; * matches slashes too. */
static bool path_fits(struct test *test, const struct vt_file *file)
{
	return fnmatch(test->text, file->path, 0) == 0;
}

static char *lower(char *text)
{
	for (char *at = text; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return text;
}

/* The pattern is in lower case already. */
static bool iname_fits(struct test *test, const struct vt_file *file)
{
	char *name = lower(vt_strdup(file->name));
	bool fits = fnmatch(test->text, name, 0) == 0;

	free(name);
	return fits;
}

/* -type: the letter that ls shows, but f for a plain file. */
static bool type_fits(struct test *test, const struct vt_file *file)
{
	char mode[11], letter = vt_mode_text(file->st->st_mode, mode)[0];

	return strchr(test->text, letter == '-' ? 'f' : letter) != NULL;
}

/* A unit that is begun counts as a whole one, as POSIX has it: -size -1k finds only empty files. */
static bool size_fits(struct test *test, const struct vt_file *file)
{
	long units = file->st->st_size / test->unit + (file->st->st_size % test->unit != 0);

	if (test->sign)
		return test->sign == '+' ? units > test->number : units < test->number;
	return units == test->number;
}

/* -newer: changed later than the other file, to the nanosecond. */
static bool is_newer(struct test *test, const struct vt_file *file)
{
	const struct timespec *a = &file->st->st_mtim, *b = &test->mtime;

	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* -empty: a plain file of no bytes, or a directory without names. */
static bool is_empty(struct test *test, const struct vt_file *file)
{
	char **names;
	bool empty;

	if (!S_ISDIR(file->st->st_mode))
		return S_ISREG(file->st->st_mode) && file->st->st_size == 0;
	names = vt_names(file->path);
	if (!names)
		fail(file->path);
	empty = names && !names[0];
	vt_names_free(names);
	return empty;
}

/* -perm: exactly this mode, all of these bits (-), or any of them (/), where no bit at all is any. */
static bool perm_fits(struct test *test, const struct vt_file *file)
{
	mode_t found = file->st->st_mode & 07777 & (test->sign ? test->mode : 07777);

	return test->sign == '/' ? !test->mode || found : found == test->mode;
}

/* -maxdepth and -mindepth have done their work when they were read; as tests they are true. */
static bool always(struct test *test, const struct vt_file *file)
{
	return true;
}

/* -prune: true, and the directory is not entered. */
static bool prune(struct test *test, const struct vt_file *file)
{
	find.pruned = true;
	return true;
}

/* -print and -print0, which puts a zero behind the path: a path may hold newlines, but never a zero. */
static bool print(struct test *test, const struct vt_file *file)
{
	fputs(file->path, stdout);
	putchar(test && !strcmp(test->name, "-print0") ? '\0' : '\n');
	return true;
}

/* -delete: true if the file is gone. The directory that the walk began in has no name to be removed by. */
static bool delete_file(struct test *test, const struct vt_file *file)
{
	if (!strcmp(file->path, ".") || (S_ISDIR(file->st->st_mode) ? rmdir : unlink)(file->path) == 0)
		return true;
	vt_warn("cannot delete '%s': %s", file->path, strerror(errno));
	find.status = 1;
	return false;
}

/* -exec: true if the command ends with status 0; with {} + always. */
static bool execute(struct test *test, const struct vt_file *file)
{
	return vt_command_run(test->command, file->path);
}

/* --- reading the expression: each takes what belongs to a test, from *args on, and steps over it --- */

static char *take_argument(struct test *test, char ***args)
{
	if (!**args)
		vt_die(1, "missing argument to `%s'", test->name);
	return *(*args)++;
}

static void take_pattern(struct test *test, char ***args)
{
	test->text = take_argument(test, args);
	if (test->run == iname_fits)
		lower(test->text);
}

/* Letters between commas, checked now, so that a mistake ends the program before the walk. */
static void take_types(struct test *test, char ***args)
{
	const char *at = test->text = take_argument(test, args);

	for (; *at && strchr("bcdpfls", *at) && at[1]; at += 2) {
		if (at[1] != ',')
			vt_die(1, "Must separate multiple arguments to -type using: ','");
	}
	if (!*at || !strchr("bcdpfls", *at))
		vt_die(1, "Unknown argument to -type: %s", at);
}

/* Read decimal digits and nothing else. Returns whether that is what text is. */
static bool decimal(const char *text, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && !errno;
}

/* [+-]N and a letter for the unit; without one blocks of 512 bytes, as POSIX has it. */
static void take_size(struct test *test, char ***args)
{
	static const char letters[] = "cwbkMG";
	static const long units[] = {1, 2, 512, 1 << 10, 1 << 20, 1 << 30};
	const char *text = take_argument(test, args), *unit = text + strspn(text, "+-0123456789");
	char *digits = vt_strdup(text);
	const char *letter = *unit ? strchr(letters, *unit) : letters + 2;

	if (!letter)
		vt_die(1, "invalid -size type `%c'", *unit);
	test->unit = units[letter - letters];
	test->sign = strchr("+-", *text) ? *text : '\0';
	digits[unit - text] = '\0';
	if ((*unit && unit[1]) || !decimal(digits + (test->sign != '\0'), &test->number))
		vt_die(1, "Invalid argument `%s' to -size", text);
	free(digits);
}

/* The other file is looked at once, before the walk. A link is taken itself, not what it leads to. */
static void take_newer(struct test *test, char ***args)
{
	const char *name = take_argument(test, args);
	struct stat st;

	if (lstat(name, &st) < 0)
		vt_die(1, "'%s': %s", name, strerror(errno));
	test->mtime = st.st_mtim;
}

/* Depth is one for the whole walk, wherever in the expression it stands. */
static void take_depth(struct test *test, char ***args)
{
	const char *text = take_argument(test, args);

	if (!decimal(text, strcmp(test->name, "-maxdepth") ? &find.shallow : &find.deep))
		vt_die(1, "Expected a positive decimal integer argument to %s, but got '%s'", test->name, text);
}

static void take_perm(struct test *test, char ***args)
{
	const char *text = take_argument(test, args);

	test->sign = strchr("-/", *text) ? *text : '\0';
	if (!vt_change_mode(text + (test->sign != '\0'), 0, &test->mode))
		vt_die(1, "invalid mode `%s'", text);
}

/* For vt_walk(), with -depth or -delete. */
static bool enter(const struct vt_file *file)
{
	return (long)file->depth < find.deep;
}

/* -depth and -delete, and -prune, which would not keep anything from -delete. */
static void take_order(struct test *test, char ***args)
{
	if (test->run == prune)
		find.prunes = true;
	else
		find.walker.enter = enter;
	find.deletes |= test->run == delete_file;
	if (find.prunes && find.deletes)
		vt_die(1, "-prune keeps nothing from -delete");
}

static void take_command(struct test *test, char ***args)
{
	test->command = vt_command_take(test->name, args);
}

static const struct primary {
	const char *name;
	bool (*run)(struct test *test, const struct vt_file *file);
	void (*take)(struct test *test, char ***args); /* NULL: nothing belongs to it */
} primaries[] = {
	{"-name", name_fits, take_pattern},
	{"-iname", iname_fits, take_pattern},
	{"-path", path_fits, take_pattern},
	{"-type", type_fits, take_types},
	{"-size", size_fits, take_size},
	{"-newer", is_newer, take_newer},
	{"-empty", is_empty, NULL},
	{"-perm", perm_fits, take_perm},
	{"-prune", prune, take_order},
	{"-depth", always, take_order},
	{"-delete", delete_file, take_order},
	{"-maxdepth", always, take_depth},
	{"-mindepth", always, take_depth},
	{"-print", print, NULL},
	{"-print0", print, NULL},
	{"-exec", execute, take_command},
};

/*
 * For vt_expression_take(): read one test with its arguments. Returns its index in find.tests. An
 * action (-print, -exec, -delete) anywhere in the expression keeps the -print from being added at the end.
 */
static size_t take_test(char ***args)
{
	const struct primary *p = primaries, *end = primaries + ARRAY_SIZE(primaries);
	const char *word = *(*args)++;
	struct test *test;

	while (p < end && strcmp(p->name, word))
		p++;
	if (p == end && word[0] == '-')
		vt_die(1, "unknown predicate `%s'", word);
	if (p == end) {
		vt_warn("paths must precede expression: `%s'", word);
		/* The shell may have made names of a pattern. */
		if (find.count && access(word, F_OK) == 0)
			vt_warn("possible unquoted pattern after predicate `%s'?", find.tests[find.count - 1].name);
		exit(1);
	}
	find.tests = vt_realloc(find.tests, sizeof(*find.tests) * (find.count + 1));
	test = &find.tests[find.count];
	*test = (struct test){.name = p->name, .run = p->run};
	if (p->take)
		p->take(test, args);
	find.acts |= p->run == print || p->run == execute || p->run == delete_file;
	return find.count++;
}

/* --- the walk --- */

static bool run_test(size_t number, const void *file)
{
	return find.tests[number].run(&find.tests[number], file);
}

/*
 * One file of the walk. Returns whether a directory is to be entered. Without an action a file for
 * which the expression is true is printed.
 */
static bool visit(const struct vt_file *file)
{
	find.pruned = false;
	if ((long)file->depth >= find.shallow && (long)file->depth <= find.deep &&
	    vt_expression_true(find.expression, run_test, file) && !find.acts)
		print(NULL, file);
	return !find.pruned && enter(file) && !find.walker.enter;
}

/*
 * Whether the paths end before this word: it begins with "-", or is a bracket or "!". "-" alone is a
 * path.
 */
static bool begins_expression(const char *word)
{
	return (word[0] == '-' && word[1]) || !strcmp(word, "(") || !strcmp(word, "!");
}

int main(int argc, char **argv)
{
	static char *here[] = {".", NULL};
	char **paths = argv + 1, **args;

	if (argc > 1 && !strcmp(argv[1], "--help")) {
		printf("Usage: find [PATH...] [EXPRESSION]\n");
		return vt_finish(0);
	}
	if (argc > 1 && !strcmp(argv[1], "--"))
		paths++;
	for (args = paths; *args && !begins_expression(*args);)
		args++;
	find.walker.visit = visit;
	find.walker.fail = fail;
	find.expression = vt_expression_take(args, take_test);
	/* What was an option is no path; without any, the walk begins here. */
	*args = NULL;
	for (char **path = *paths ? paths : here; *path; path++)
		vt_walk(&find.walker, *path);
	for (size_t i = 0; i < find.count; i++) {
		if (find.tests[i].command && !vt_command_finish(find.tests[i].command))
			find.status = 1;
	}
	return vt_finish(find.status);
}
