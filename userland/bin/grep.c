/*
 * grep [-EFHchilnoqrsvwx] [-m COUNT] [-e] PATTERN [FILE...]: lines that match an expression.
 *
 * Status 0: some line matched; 1: none; 2: an error. Left out: context (-A -B -C), -f, -P, colours,
 * back-references, telling binary files.
 */
#include <vt.h>
#include <ctype.h>
#include <strings.h>
#include <sys/stat.h>

struct grep {
	struct vt_regex *regex; /* NULL with -F */
	const char *fixed;	/* -F: this text instead */
	bool invert, numbers, count, quiet, only, list, names, ignore_case, silent, recurse, words, whole;
	bool found, failed;
	long most; /* -m; -1: all */
};

/* As vt_regex_search(), for one fixed text. */
static bool find_fixed(const struct grep *g, const char *text, size_t from, size_t *start, size_t *end)
{
	size_t n = strlen(g->fixed);

	for (const char *at = text + from;; at++) {
		if (!(g->ignore_case ? strncasecmp(at, g->fixed, n) : strncmp(at, g->fixed, n))) {
			*start = (size_t)(at - text);
			*end = *start + n;
			return true;
		}
		if (!*at)
			return false;
	}
}

/* What -w takes for a part of a word. */
static bool is_word(unsigned char c)
{
	return isalnum(c) || c == '_';
}

/* The next match at or after from that -w and -x accept. */
static bool find(const struct grep *g, const char *text, size_t from, size_t *start, size_t *end)
{
	/* A match that is refused may hide one that begins a byte later. */
	for (;; from = *start + 1) {
		if (!(g->fixed ? find_fixed(g, text, from, start, end)
			       : vt_regex_search(g->regex, text, from, start, end)))
			return false;
		if (g->whole && (*start != 0 || text[*end]))
			; /* not all of the line */
		else if (!g->words || ((*start == 0 || !is_word((unsigned char)text[*start - 1])) &&
				       !is_word((unsigned char)text[*end])))
			return true;
		if (!text[*start])
			return false;
	}
}

/* What stands before a line: the file when there are several, and the number with -n. */
static void print_prefix(const struct grep *g, const char *name, long number)
{
	if (g->names)
		printf("%s:", name);
	if (g->numbers)
		printf("%ld:", number);
}

/* -o: each match on a line of its own; empty ones are not shown. */
static void print_matches(const struct grep *g, const char *name, long number, const char *line, size_t start,
			  size_t end)
{
	do {
		size_t from = end;

		if (end > start) {
			print_prefix(g, name, number);
			printf("%.*s\n", (int)(end - start), line + start);
		} else {
			from++;
		}
		if (from > strlen(line) || !line[end])
			return;
		end = from;
	} while (find(g, line, end, &start, &end));
}

/* Input that is not a file (trace_pipe, another program) may pause for long: what was found is shown at once.
 */
static bool is_live(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && !(S_ISREG(st.st_mode) && st.st_size > 0);
}

/* Returns 0: what went wrong is noted in g->failed, as one file does not end the search. */
static int grep_file(int fd, const char *name, void *arg)
{
	struct grep *g = arg;
	struct vt_lines lines;
	size_t start, end;
	long number = 0, count = 0;
	/* Only where somebody watches: a flush a line would slow down everything else. */
	bool live = is_live(fd) && isatty(STDOUT_FILENO);
	char *line;

	vt_lines_open(&lines, fd);
	while ((g->most < 0 || count < g->most) && vt_line(&lines, &line, NULL)) {
		number++;
		if (find(g, line, 0, &start, &end) == g->invert)
			continue;
		g->found = true;
		count++;
		/* One line is enough to know. */
		if (g->quiet || g->list)
			break;
		if (g->count)
			continue;
		if (g->only && !g->invert) {
			print_matches(g, name, number, line, start, end);
		} else {
			print_prefix(g, name, number);
			printf("%s\n", line);
		}
		if (live)
			fflush(stdout);
	}
	if (lines.error && !g->silent)
		vt_warn("%s: %s", name, strerror(lines.error));
	g->failed |= lines.error != 0;
	if (g->list && count)
		printf("%s\n", name);
	else if (g->count && !g->quiet)
		printf(g->names ? "%s:%ld\n" : "%.0s%ld\n", name, count);
	vt_lines_free(&lines);
	return 0;
}

static void grep_path(struct grep *g, const char *path);

static void grep_directory(struct grep *g, const char *path)
{
	char **names = vt_names(path);

	if (!names) {
		if (!g->silent)
			vt_warn_errno(path);
		g->failed = true;
		return;
	}
	for (char **name = names; *name; name++) {
		char *full = vt_join(path, *name);

		grep_path(g, full);
		free(full);
	}
	vt_names_free(names);
}

static void grep_path(struct grep *g, const char *path)
{
	struct stat st;
	int fd;

	/* GNU's words for a directory that is given without -r. */
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		if (g->recurse)
			grep_directory(g, path);
		else if (!g->silent)
			vt_warn("%s: Is a directory", path);
		return;
	}
	fd = strcmp(path, "-") ? open(path, O_RDONLY) : STDIN_FILENO;
	if (fd < 0) {
		if (!g->silent)
			vt_warn_errno(path);
		g->failed = true;
		return;
	}
	grep_file(fd, strcmp(path, "-") ? path : "(standard input)", g);
	if (fd != STDIN_FILENO)
		close(fd);
}

/* Several patterns (-e) become one, by alternation. */
static char *add_pattern(char *all, const char *pattern, bool extended)
{
	const char *between = extended ? "|" : "\\|";
	char *joined;

	if (!all)
		return vt_strdup(pattern);
	joined = vt_malloc(strlen(all) + strlen(pattern) + 3);
	strcpy(stpcpy(stpcpy(joined, all), between), pattern);
	free(all);
	return joined;
}

/* Which flag an option letter sets. */
static bool *grep_flag(struct grep *g, int c)
{
	switch (c) {
	case 'v':
		return &g->invert;
	case 'i':
		return &g->ignore_case;
	case 'n':
		return &g->numbers;
	case 'c':
		return &g->count;
	case 'q':
		return &g->quiet;
	case 'o':
		return &g->only;
	case 'l':
		return &g->list;
	case 's':
		return &g->silent;
	case 'r':
		return &g->recurse;
	case 'w':
		return &g->words;
	case 'x':
		return &g->whole;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "grep [-EFHchilnoqrsvwx] [-m COUNT] [-e] PATTERN [FILE...]",
			       .options = "EFHchilnoqrsvwxe:m:",
			       .bad_status = 2};
	struct grep g = {.most = -1};
	const char *patterns[32], *error = NULL;
	bool extended = false, fixed = false, no_names = false, names = false;
	char *all = NULL;
	size_t count = 0;
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (grep_flag(&g, c))
			*grep_flag(&g, c) = true;
		else if (c == 'e' && count == ARRAY_SIZE(patterns))
			vt_die(2, "too many patterns");
		else if (c == 'e')
			patterns[count++] = o.arg;
		else if (c == 'm')
			g.most = vt_number_or_die(2, o.arg, 0, 1L << 40);
		else
			*(c == 'E' ? &extended : c == 'F' ? &fixed : c == 'H' ? &names : &no_names) = true;
	}
	if (!count && o.index >= argc)
		vt_usage(&o);
	if (!count)
		patterns[count++] = argv[o.index++];
	for (size_t i = 0; i < count; i++)
		all = add_pattern(all, patterns[i], extended);
	if (fixed && count > 1)
		vt_die(2, "-F takes one pattern");
	if (fixed)
		g.fixed = all;
	else if (!(g.regex = vt_regex_compile(all, extended, g.ignore_case, &error)))
		vt_die(2, "%s", error);
	g.names = names || (!no_names && (argc - o.index > 1 || g.recurse));
	if (o.index >= argc)
		grep_path(&g, g.recurse ? "." : "-");
	for (; o.index < argc; o.index++)
		grep_path(&g, argv[o.index]);
	if (vt_finish(0))
		return 2;
	/* POSIX: -q is content with a match even when there was an error. */
	return g.found && (g.quiet || !g.failed) ? 0 : g.failed ? 2 : 1;
}
