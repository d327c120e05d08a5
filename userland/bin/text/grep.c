/*
 * grep [-EFHLachilnoqrRsvwx] [-A N] [-B N] [-C N] [-m COUNT] [-e] PATTERN [FILE...]: lines that match
 * an expression.
 *
 * -A, -B and -C show N lines after, before, or both; "--" stands where some are left out in
 * between. Lines before a match are shown when it comes, so the last N are kept in a ring; lines
 * after it are counted down (`due`). Status 0: some line matched; 1: none; 2: an error. Left out:
 * -f, -P, back-references.
 *
 * A pattern of several lines is several patterns. A zero byte ends a line, too, and makes a file one that is no text:
 * then a message says that it matches, and no line is shown, as by GNU's grep; with -a it is a byte like others. -r
 * leaves out links, devices and FIFOs below the directory; -R follows links, but not in a circle.
 *
 *     -B 2:   kept:  | line 7 | line 8 |   line n is in slot n % 2, and is written over by line n + 2
 */
#include <vt.h>
#include <vt_term.h>
#include <ctype.h>
#include <strings.h>
#include <sys/stat.h>

#define CONTEXT_MAX (1L << 20) /* lines; -B keeps as many */

struct grep {
	struct vt_regex *regex; /* NULL with -F */
	const char *fixed;	/* -F: this text instead */
	bool invert, numbers, count, quiet, only, list, list_others, names, ignore_case, silent, recurse, follow, words,
		whole, text, no_names, extended, is_fixed;
	bool found, failed, colours, flushes;
	long most;		     /* -m; -1: all */
	long before, after;	     /* lines of context; -1: not asked for, so that no "--" is shown either */
	bool shown;		     /* a line, of any file */
	const struct folder *folder; /* that is being searched, or NULL */
};

/* A directory on the way down. */
struct folder {
	const struct folder *up;
	struct stat st;
};

/* A line without its newline, with a zero behind it. With -a it may hold zeros itself. */
struct line {
	char *text;
	size_t n;
};

/* Where grep_file() stands in one file. */
struct place {
	const char *name;
	long number;	   /* of the line just read */
	long last;	   /* line that was shown last; 0: none */
	long due;	   /* lines after a match that are still to be shown */
	struct line *kept; /* ring of the last g->before lines, each in its own memory, or NULL */
	char *rest;	   /* behind a zero byte in the line that was read: a line of its own */
	size_t left;	   /* bytes of rest, with the zero at its end; 0: the next line is to be read */
	bool binary;	   /* a zero byte was seen */
	bool hidden;	   /* a line matched that is not shown, as the file is no text */
};

/* Whether the last operand is a file: its name need not be shown with -r either. NULL: there is no operand. */
static bool is_one_file(const char *path)
{
	struct stat st;

	return path && (!strcmp(path, "-") || stat(path, &st) < 0 || !S_ISDIR(st.st_mode));
}

/* As vt_regex_search(), but for -F: the text itself is looked for, byte by byte. */
static bool find_fixed(const struct grep *g, struct line line, size_t from, struct vt_match *m)
{
	size_t n = strlen(g->fixed);

	for (m->start = from; m->start <= line.n; m->start++) {
		const char *at = line.text + m->start;

		if (!(g->ignore_case ? strncasecmp(at, g->fixed, n) : strncmp(at, g->fixed, n))) {
			m->end = m->start + n;
			return true;
		}
	}
	return false;
}

/* What -w takes for a part of a word. */
static bool is_word(unsigned char c)
{
	return isalnum(c) || c == '_';
}

/*
 * The next match at or after `from` that -w and -x accept. -w wants no part of a word on either side (of an expression
 * the search itself sees to that: a shorter match may do), -x the whole line.
 */
static bool find(const struct grep *g, struct line line, size_t from, struct vt_match *m)
{
	/* A match that is refused may hide one that begins a byte later. */
	for (; from <= line.n; from = m->start + 1) {
		if (!(g->fixed ? find_fixed(g, line, from, m) : vt_regex_search(g->regex, line.text, line.n, from, m)))
			return false;
		if (g->whole && (m->start != 0 || m->end != line.n))
			; /* not all of the line */
		else if (!g->words || ((m->start == 0 || !is_word((unsigned char)line.text[m->start - 1])) &&
				       !is_word((unsigned char)line.text[m->end])))
			return true;
	}
	return false;
}

/*
 * Print what stands before a line: the file's name when there are several, and the number with -n.
 * `sep` is ':' for a line that matches, and '-' for one that is shown with it.
 */
static void print_prefix(const struct grep *g, const char *name, long number, char sep)
{
	const char *end = g->colours ? "\033[0m" : "";

	if (g->names)
		printf("%s%s%s%c", g->colours ? "\033[35m" : "", name, end, sep);
	if (g->numbers)
		printf("%s%ld%s%c", g->colours ? "\033[32m" : "", number, end, sep);
}

/* A match, and with colours one of GNU grep's for it. */
static void print_match(const struct grep *g, struct line line, const struct vt_match *m)
{
	fputs(g->colours ? "\033[01;31m" : "", stdout);
	fwrite(line.text + m->start, 1, m->end - m->start, stdout);
	fputs(g->colours ? "\033[0m" : "", stdout);
}

/* What is left of a line from a byte on, and its newline. */
static void print_rest(struct line line, size_t from)
{
	fwrite(line.text + from, 1, line.n - from, stdout);
	putchar('\n');
}

/* A line in which each match has its colour. */
static void print_coloured(const struct grep *g, struct line line, struct vt_match *m)
{
	size_t shown = 0;

	do {
		fwrite(line.text + shown, 1, m->start - shown, stdout);
		if (m->end > m->start)
			print_match(g, line, m);
		shown = m->end;
	} while (find(g, line, m->end > m->start ? m->end : m->end + 1, m));
	print_rest(line, shown);
}

/* -o: each match on a line of its own; empty ones are not shown. */
static void print_matches(const struct grep *g, const struct place *p, struct line line, struct vt_match *m)
{
	do {
		if (m->end == m->start)
			continue;
		print_prefix(g, p->name, p->number, ':');
		print_match(g, line, m);
		putchar('\n');
	} while (find(g, line, m->end > m->start ? m->end : m->end + 1, m));
}

/* Keep a line for -B. */
static void keep(const struct grep *g, struct place *p, struct line line)
{
	struct line *slot;

	if (g->before <= 0)
		return;
	slot = &p->kept[p->number % g->before];
	slot->n = line.n;
	slot->text = memcpy(vt_realloc(slot->text, line.n + 1), line.text, line.n + 1);
}

/*
 * Print the kept lines that come before a match, and "--" in front if lines were left out since the
 * last one shown. With -o only matches are shown.
 */
static void print_before(struct grep *g, struct place *p)
{
	long first = p->number - (g->before > 0 ? g->before : 0);

	if (first <= p->last)
		first = p->last + 1;
	if (g->shown && (g->before >= 0 || g->after >= 0) && (!p->last || first > p->last + 1))
		printf("--\n");
	for (; !g->only && first < p->number; first++) {
		print_prefix(g, p->name, first, '-');
		print_rest(p->kept[first % g->before], 0);
	}
	g->shown = true;
	p->last = p->number;
	p->due = g->only ? 0 : g->after;
}

/*
 * Show a line that does not match but stands close behind one that does. Returns whether it was shown.
 */
static bool print_after(const struct grep *g, struct place *p, struct line line)
{
	if (p->due <= 0)
		return false;
	p->due--;
	p->last = p->number;
	print_prefix(g, p->name, p->number, '-');
	print_rest(line, 0);
	return true;
}

/* A line that matches, with what stands around it. */
static void print_line(struct grep *g, struct place *p, struct line line, struct vt_match *m)
{
	if (g->only && g->invert)
		return;
	print_before(g, p);
	if (g->only) {
		print_matches(g, p, line, m);
	} else {
		print_prefix(g, p->name, p->number, ':');
		if (g->colours && !g->invert)
			print_coloured(g, line, m);
		else
			print_rest(line, 0);
	}
}

/*
 * Whether input may pause for long (a pipe, trace_pipe, a terminal): then what was found is shown at
 * once. Files of /proc and tracefs say that they are empty, and count as live.
 */
static bool is_live(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && !(S_ISREG(st.st_mode) && st.st_size > 0);
}

/*
 * The next line, or without -a the next piece of one between zero bytes. Returns false at the end. With the first line
 * the rest of the block that was read is looked at: mostly that is all of the file.
 */
static bool next_line(const struct grep *g, struct vt_lines *lines, struct place *p, struct line *line)
{
	if (p->left) {
		line->text = p->rest;
	} else {
		if (!vt_line(lines, &line->text, &line->n))
			return false;
		if (g->text)
			return true;
		p->left = line->n + 1;
		p->binary |= !p->number && memchr(lines->buf + lines->at, '\0', lines->end - lines->at);
	}
	line->n = strlen(line->text);
	p->rest = line->text + line->n + 1;
	p->left -= line->n + 1;
	p->binary |= p->left != 0;
	return true;
}

/*
 * Go through a file's lines. Returns how many matched. After the last match that -m allows, only the
 * lines that are still due are read: the rest of a pipe belongs to others.
 */
static long grep_lines(struct grep *g, struct vt_lines *lines, struct place *p, bool live)
{
	bool more = g->most != 0;
	long count = 0;
	struct line line;

	while ((more || p->due > 0) && next_line(g, lines, p, &line)) {
		struct vt_match m = {0};
		bool shown;

		p->number++;
		if (!more || find(g, line, 0, &m) == g->invert) {
			shown = !p->binary && print_after(g, p, line);
		} else {
			g->found = true;
			more = ++count != g->most;
			/* One line is enough to know. */
			if (g->quiet || g->list || g->list_others)
				break;
			p->hidden = p->binary && !g->count;
			if (p->hidden)
				break;
			shown = !g->count;
			if (shown)
				print_line(g, p, line, &m);
		}
		keep(g, p, line);
		if (shown && live)
			fflush(stdout);
	}
	return count;
}

/* Returns 0: what went wrong is noted in g->failed, as one file does not end the search. */
static int grep_file(int fd, const char *name, void *arg)
{
	struct grep *g = arg;
	struct place p = {.name = name};
	struct vt_lines lines;
	/* Only where somebody watches: a flush a line would slow down everything else. */
	bool live = g->flushes || (is_live(fd) && isatty(STDOUT_FILENO));
	long count;

	if (g->before > 0)
		p.kept = vt_malloc((size_t)g->before * sizeof(*p.kept));
	for (long i = 0; i < g->before; i++)
		p.kept[i].text = NULL;
	vt_lines_open(&lines, fd);
	count = grep_lines(g, &lines, &p, live);
	/* What -m has left belongs to who reads the file on: `(grep -m 1 x; cat) <file`. */
	if (fd == STDIN_FILENO && g->most >= 0 && lines.end > lines.at)
		lseek(fd, -(off_t)(lines.end - lines.at), SEEK_CUR);
	if (lines.error && !g->silent)
		vt_warn("%s: %s", name, strerror(lines.error));
	g->failed |= lines.error != 0;
	if ((g->list && count) || (g->list_others && !count && !lines.error))
		printf("%s\n", name);
	else if (p.hidden && !g->quiet)
		vt_warn("%s: binary file matches", name);
	else if (g->count)
		printf(g->names ? "%s:%ld\n" : "%.0s%ld\n", name, count);
	vt_lines_free(&lines);
	for (long i = 0; i < g->before; i++)
		free(p.kept[i].text);
	free(p.kept);
	return 0;
}

/* A file, a directory with -r, or "-" for standard input. An error is noted and the search goes on. */
static void grep_path(struct grep *g, const char *path);

/*
 * Whether -r searches what it has found by itself: a file or a directory. A link could lead in a circle, and to read a
 * FIFO or a device could take for ever. What cannot be looked at is left to grep_path(), which says why.
 */
static bool is_searched(const struct grep *g, const char *path)
{
	struct stat st;

	return (g->follow ? stat : lstat)(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
}

/*
 * -r: everything in the directory and below, unless a link has led back into it. It is closed again before the first
 * of its files is opened. `shown` is what its files' names begin with: "" for a directory that was not named.
 */
static void grep_directory(struct grep *g, const char *path, const char *shown)
{
	struct folder here = {.up = g->folder};
	char **names = stat(path, &here.st) < 0 ? NULL : vt_names(path);

	for (const struct folder *f = here.up; names && f; f = f->up) {
		if (f->st.st_dev != here.st.st_dev || f->st.st_ino != here.st.st_ino)
			continue;
		if (!g->silent)
			vt_warn("%s: warning: recursive directory loop", path);
		vt_names_free(names);
		return;
	}
	if (!names) {
		if (!g->silent)
			vt_warn_errno(path);
		g->failed = true;
		return;
	}
	g->folder = &here;
	for (char **name = names; *name; name++) {
		char *full = vt_join(strcmp(*name, "-") ? shown : path, *name); /* - alone is standard input */

		if (is_searched(g, full))
			grep_path(g, full);
		free(full);
	}
	g->folder = here.up;
	vt_names_free(names);
}

/*
 * One argument: a file, - for standard input, or a directory, whose files are searched with -r. Errors are counted in
 * g->failed; -s does not say them. -q has its answer with the first match: what comes then may have no end.
 */
static void grep_path(struct grep *g, const char *path)
{
	struct stat st;
	int fd;

	if (g->quiet && g->found)
		return;
	/* GNU's words for a directory that is given without -r. */
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		if (g->recurse)
			grep_directory(g, path, path);
		else if (!g->silent)
			vt_warn("%s: Is a directory", path);
		g->failed |= !g->recurse;
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

/* Join a further -e to the expression by alternation, so that one search finds any of them. */
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

/*
 * Add each line of `lines` to the expression; with -F as text, with a backslash before what would mean something in a
 * basic expression. Counts the lines in *count.
 */
static char *add_lines(char *all, const char *lines, bool extended, bool fixed, size_t *count)
{
	char *line = vt_malloc(2 * strlen(lines) + 1), *to = line;

	for (;; lines++) {
		if (*lines && *lines != '\n') {
			if (fixed && strchr("\\.[*^$", *lines))
				*to++ = '\\';
			*to++ = *lines;
			continue;
		}
		*to = '\0';
		all = add_pattern(all, line, extended && !fixed);
		to = line;
		++*count;
		if (!*lines)
			break;
	}
	free(line);
	return all;
}

/* Which flag an option letter sets; NULL: none. Both rows are in the same order. */
static bool *grep_flag(struct grep *g, int c)
{
	static const char letters[] = "vincqolLsrRwxaHhEF\1";
	bool *const flags[] = {&g->invert,   &g->ignore_case, &g->numbers,     &g->count,  &g->quiet,
			       &g->only,     &g->list,	      &g->list_others, &g->silent, &g->recurse,
			       &g->follow,   &g->words,	      &g->whole,       &g->text,   &g->names,
			       &g->no_names, &g->extended,    &g->is_fixed,    &g->flushes};
	const char *at = strchr(letters, c);

	return at ? flags[at - letters] : NULL;
}

/* -A, -B and -C. What -A or -B says for its own side goes before -C, wherever on the line it stands. */
static void take_context(struct grep *g, int c, const char *arg)
{
	static bool own_before, own_after;
	long n = vt_number_or_die(2, arg, 0, CONTEXT_MAX);

	if (c == 'A' || (c == 'C' && !own_after))
		g->after = n;
	if (c == 'B' || (c == 'C' && !own_before))
		g->before = n;
	own_after |= c == 'A';
	own_before |= c == 'B';
}

int main(int argc, char **argv)
{
	static const struct vt_long_option longs[] = {{"line-buffered", '\1'}, {NULL, 0}};
	struct vt_options o = {
		.usage =
			"grep [-EFHLachilnoqrRsvwx] [-A N] [-B N] [-C N] [-m COUNT] [--color[=WHEN]] [--line-buffered] "
			"[-e] PATTERN [FILE...]",
		.options = "EFHLachilnoqrRsvwx\1e:m:A:B:C:",
		.longs = longs,
		.bad_status = 2};
	struct grep g = {.most = -1, .before = -1, .after = -1};
	const char *patterns[32], *error = NULL;
	char *all = NULL;
	size_t count = 0, lines = 0;
	int c;

	g.colours = vt_colour_option(&argc, argv, 2);
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
			take_context(&g, c, o.arg);
	}
	if (!count && o.index >= argc)
		vt_usage(&o);
	if (!count)
		patterns[count++] = argv[o.index++];
	for (size_t i = 0; i < count; i++)
		all = add_lines(all, patterns[i], g.extended, g.is_fixed, &lines);
	if (g.is_fixed && lines == 1)
		g.fixed = patterns[0];
	else if (!(g.regex = vt_regex_compile(all, g.extended && !g.is_fixed, g.ignore_case, &error)))
		vt_die(2, "%s", error);
	else if (g.words && !g.whole)
		vt_regex_words(g.regex);
	g.recurse |= g.follow;
	g.list &= !g.quiet;
	g.list_others &= !g.quiet;
	g.count &= !g.list && !g.list_others && !g.quiet; /* the names say enough */
	g.names |= !g.no_names && (argc - o.index > 1 || (g.recurse && !is_one_file(argv[o.index])));
	if (o.index >= argc && g.recurse)
		grep_directory(&g, ".", "");
	else if (o.index >= argc)
		grep_path(&g, "-");
	for (; o.index < argc; o.index++)
		grep_path(&g, argv[o.index]);
	if (vt_finish(0))
		return 2;
	/* POSIX: -q is content with a match even when there was an error. */
	return g.found && (g.quiet || !g.failed) ? 0 : g.failed ? 2 : 1;
}
