/*
 * test and [: conditions on files, strings and numbers.
 *
 * Recursive descent over the words. POSIX decides by how many words there are; looking for a binary
 * operator in second place first comes to the same for up to four of them.
 *
 *     [ -f a -a ! -d b ]     or: and -o and     and: primary -a primary     primary: ! primary, ( or ), -X word,
 *                                                                                    word OP word, word
 */
#include <vt.h>
#include <limits.h>
#include <sys/stat.h>

struct test {
	char **word; /* next one */
	char **end;  /* behind the last word */
	bool bad;    /* a message has been printed: the status is 2 */
};

static bool test_or(struct test *t);

/* Say what is wrong, once. Returns false, for the callers' convenience. */
static bool test_error(struct test *t, const char *why, const char *what)
{
	if (!t->bad)
		vt_warn("%s '%s'", why, what);
	t->bad = true;
	return false;
}

/*
 * A file that cannot be looked at does not satisfy anything. -r, -w and -x ask the kernel, which knows
 * about root. The answer of access() is for the real user: a program that runs with other rights may
 * differ.
 */
static bool test_file(char letter, const char *path)
{
	struct stat st;

	if (letter == 'r' || letter == 'w' || letter == 'x')
		return access(path, letter == 'r' ? R_OK : letter == 'w' ? W_OK : X_OK) == 0;
	if ((letter == 'h' || letter == 'L' ? lstat(path, &st) : stat(path, &st)) < 0)
		return false;
	switch (letter) {
	case 'f':
		return S_ISREG(st.st_mode);
	case 'd':
		return S_ISDIR(st.st_mode);
	case 'c':
		return S_ISCHR(st.st_mode);
	case 'b':
		return S_ISBLK(st.st_mode);
	case 'p':
		return S_ISFIFO(st.st_mode);
	case 'S':
		return S_ISSOCK(st.st_mode);
	case 'h':
	case 'L':
		return S_ISLNK(st.st_mode);
	case 's':
		return st.st_size > 0;
	case 'u':
		return st.st_mode & S_ISUID;
	case 'g':
		return st.st_mode & S_ISGID;
	case 'k':
		return st.st_mode & S_ISVTX;
	case 'O':
		return st.st_uid == geteuid();
	case 'G':
		return st.st_gid == getegid();
	}
	return true; /* e: it is there */
}

/* Decimal only, as POSIX wants it: 010 is ten. A bad one is an error, not 0. */
static long test_number(struct test *t, const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	/* Blanks on both sides are taken, as other shells do it: `wc -l` of some systems pads its number. */
	if (end == text || end[strspn(end, " \t\n")])
		test_error(t, "integer expression expected:", text);
	return n;
}

/* -n -z -t, else a file. */
static bool test_unary(struct test *t, char letter, const char *arg)
{
	switch (letter) {
	case 'n':
		return *arg;
	case 'z':
		return !*arg;
	case 't':
		return isatty((int)test_number(t, arg));
	}
	return test_file(letter, arg);
}

/* A dash and one letter of those known. */
static bool is_unary(const char *word)
{
	return word[0] == '-' && word[1] && !word[2] && strchr("nztrwxfdcbpShLseugkOG", word[1]);
}

/* By device and inode: two names of one file, or a link and what it leads to. */
static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* Modification times; a file that is not there is older than any other. */
static int compare_times(const char *a, const char *b)
{
	struct stat sa, sb;

	if (stat(a, &sa) < 0)
		sa.st_mtim = (struct timespec){LONG_MIN, 0};
	if (stat(b, &sb) < 0)
		sb.st_mtim = (struct timespec){LONG_MIN, 0};
	if (sa.st_mtim.tv_sec != sb.st_mtim.tv_sec)
		return sa.st_mtim.tv_sec < sb.st_mtim.tv_sec ? -1 : 1;
	return sa.st_mtim.tv_nsec < sb.st_mtim.tv_nsec ? -1 : sa.st_mtim.tv_nsec > sb.st_mtim.tv_nsec;
}

static const char *const binaries[] = {"=",   "==",  "!=",  "<",   ">",	  "-eq", "-ne",
				       "-lt", "-le", "-gt", "-ge", "-ef", "-nt", "-ot"};

/* Whether the word stands between two others. */
static bool is_binary(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(binaries); i++) {
		if (!strcmp(word, binaries[i]))
			return true;
	}
	return false;
}

/* The six relations by their names after the dash. */
static bool relation(const char *name, long order)
{
	if (name[0] == 'e')
		return order == 0;
	if (name[0] == 'n')
		return order != 0;
	if (name[0] == 'l')
		return order < 0 || (name[1] == 'e' && order == 0);
	return order > 0 || (name[1] == 'e' && order == 0);
}

/* Strings compare by bytes, numbers as such; < and > have to be quoted from the shell. */
static bool test_binary(struct test *t, const char *a, const char *op, const char *b)
{
	long x, y;

	if (op[0] == '=')
		return !strcmp(a, b);
	if (op[0] == '!')
		return strcmp(a, b) != 0;
	if (op[0] == '<')
		return strcmp(a, b) < 0;
	if (op[0] == '>')
		return strcmp(a, b) > 0;
	if (!strcmp(op, "-ef"))
		return same_file(a, b);
	if (!strcmp(op, "-nt"))
		return compare_times(a, b) > 0;
	if (!strcmp(op, "-ot"))
		return compare_times(a, b) < 0;
	/* Both are read before either is judged, so that each bad one is said. */
	x = test_number(t, a);
	y = test_number(t, b);
	return !t->bad && relation(op + 1, x < y ? -1 : x > y);
}

/* A binary operator in second place wins over everything: [ -n = -n ] and [ "$x" = y ] with any $x. */
static bool test_primary(struct test *t)
{
	ptrdiff_t left = t->end - t->word;
	bool value;

	if (left >= 3 && is_binary(t->word[1])) {
		t->word += 3;
		return test_binary(t, t->word[-3], t->word[-2], t->word[-1]);
	}
	if (left >= 2 && !strcmp(t->word[0], "!")) {
		t->word++;
		return !test_primary(t);
	}
	if (left >= 2 && is_unary(t->word[0])) {
		t->word += 2;
		return test_unary(t, t->word[-2][1], t->word[-1]);
	}
	if (left >= 3 && !strcmp(t->word[0], "(")) {
		t->word++;
		value = test_or(t);
		if (t->word == t->end || strcmp(*t->word, ")"))
			return test_error(t, "missing", ")");
		t->word++;
		return value;
	}
	if (left == 0)
		return test_error(t, "argument expected after", t->word[-1]);
	return *(*t->word++) != '\0';
}

/*
 * -a binds closer than -o. Both sides are read whatever the first says: their words have to be
 * stepped over.
 */
static bool test_and(struct test *t)
{
	bool value = test_primary(t);

	while (t->word < t->end && !strcmp(*t->word, "-a")) {
		t->word++;
		value = test_primary(t) && value;
	}
	return value;
}

/* -o binds loosest. Both sides are read here as well. */
static bool test_or(struct test *t)
{
	bool value = test_and(t);

	while (t->word < t->end && !strcmp(*t->word, "-o")) {
		t->word++;
		value = test_and(t) || value;
	}
	return value;
}

/* Returns 0 when the condition holds, 1 when not, 2 when it is no condition. */
int vt_test(int argc, char **argv)
{
	struct test t = {argv + 1, argv + argc, false};
	bool value;

	if (!strcmp(vt_basename(argv[0]), "[")) {
		if (strcmp(argv[argc - 1], "]")) {
			vt_warn("[: missing ]");
			return 2;
		}
		t.end--;
	}
	if (t.word >= t.end)
		return 1;
	value = test_or(&t);
	if (!t.bad && t.word < t.end)
		test_error(&t, "unexpected word", *t.word);
	return t.bad ? 2 : !value;
}
