/*
 * man [-k] [1|7] NAME: a page of this system's documentation (7), or how a program is used (1), which is what
 * its own --help says; man -k WORD: which pages and programs have to do with it.
 *
 * Pages are the Markdown of docs/ and README.md, laid out for the terminal by lib/text/markdown.c. They come with
 * a session's first files, so a machine that was booted without those has only the programs. In a root of
 * other programs the first files are in /vitrine (userland/etc/enter-root).
 */
#include <vt.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

#define PAGES "/usr/share/doc/vitrine"

static const char *pages; /* the directory that there is */

/* Names that a page is looked for by, beside its own. */
static const struct {
	const char *name, *page;
} aliases[] = {
	{"ftrace", "README"},
	{"vitrine", "README"},
	{"intro", "README"},
	{"tracefs", "README"},
	{"tutorial", "tutorials"},
	{"wakeup_rt", "tracer-wakeup"},
	{"wakeup_dl", "tracer-wakeup"},
	{"trace.dat", "traces"},
	{"trace_pipe_raw", "raw"},
	{"trace_options", "trace-options"},
	{"user_events", "user-events"},
	{"user_events_data", "user-events"},
	{"user_events_status", "user-events"},
	{"rooms", "architecture"},
	{"stack_trace", "stack-tracer"},
	{"kernelshark", "traces"},
};

static pid_t pager;

/*
 * On a terminal, standard output goes through `less`: this process writes into a pipe that the pager
 * reads. end_pager() waits for it. SIGPIPE is ignored, because a person may leave
 * the pager before the page ends.
 */
static void begin_pager(void)
{
	static char *const argv[] = {"less", NULL};
	int ends[2];

	if (!isatty(STDOUT_FILENO))
		return;
	if (pipe2(ends, O_CLOEXEC) < 0 || (pager = fork()) < 0)
		vt_die_errno(1, "less");
	if (pager == 0) {
		dup2(ends[0], STDIN_FILENO);
		vt_exec(argv);
	}
	dup2(ends[1], STDOUT_FILENO);
	close(ends[0]);
	close(ends[1]);
	signal(SIGPIPE, SIG_IGN); /* who has read enough ends it before the text does */
}

/* Close our end, so that the pager sees the end of the text, and wait for it. Returns the status. */
static int end_pager(int status)
{
	if (pager <= 0)
		return vt_finish(status);
	fflush(stdout);
	close(STDOUT_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Columns of the terminal, but no more than are good to read. */
static size_t line_width(void)
{
	struct winsize size = {0};

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 20)
		return 80;
	return size.ws_col < 100 ? size.ws_col : 100;
}

/* The text of PREFIXname.md among the pages, or NULL. */
static char *read_page(const char *prefix, const char *name)
{
	char *path, *text;

	if (strchr(name, '/'))
		return NULL;
	path = vt_malloc(strlen(pages) + strlen(prefix) + strlen(name) + 8);
	sprintf(path, "%s/%s%s.md", pages, prefix, name);
	text = vt_read_file(path, NULL);
	free(path);
	return text;
}

/*
 * The text of the page of that name: docs/NAME.md, docs/tracer-NAME.md, or that of an alias; or NULL.
 */
static char *find_page(const char *name)
{
	char *text = read_page("", name);

	if (!text)
		text = read_page("tracer-", name);
	for (size_t i = 0; i < ARRAY_SIZE(aliases) && !text; i++)
		if (!strcmp(aliases[i].name, name))
			text = read_page("", aliases[i].page);
	return text;
}

/* Lay a page out for the terminal and show it. */
static int show_page(char *text)
{
	size_t width = line_width();

	begin_pager();
	vt_markdown(text, width);
	return end_pager(0);
}

/*
 * Run a command with both of its outputs going to `out`: usage texts come on either. Returns the
 * status of waitpid(), or -1 if it could not be started.
 */
static int run_to(int out, char *const argv[])
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(out, STDOUT_FILENO);
		dup2(out, STDERR_FILENO);
		vt_exec(argv);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/*
 * Print what the shell's `help` says of a command that is built into it. Returns false, having printed
 * nothing, if there is none of that name. The name is passed as $0 and not pasted into the command's
 * text, where a quote in it would be read as the shell's.
 */
static bool print_builtin(const char *name, bool only_ask)
{
	char *argv[] = {"sh", "-c", "help \"$0\"", (char *)name, NULL};
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	bool is_one = run_to(nowhere, argv) == 0;

	close(nowhere);
	if (is_one && !only_ask)
		run_to(STDOUT_FILENO, argv);
	return is_one;
}

/*
 * Print what a program says of itself. echo, printf, true and false take --help as any other word, so
 * the shell, which has them built in, is asked.
 */
static void print_help(char *path, const char *name)
{
	static const char *const silent[] = {"echo", "printf", "true", "false"};
	char *argv[] = {path, "--help", NULL};

	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		if (!strcmp(silent[i], name) && print_builtin(name, false))
			return;
	run_to(STDOUT_FILENO, argv);
}

/* Show how a program is used; path NULL stands for a command that is built into the shell. */
static int show_program(const char *name, char *path, bool has_page)
{
	begin_pager();
	if (path)
		print_help(path, name);
	else
		print_builtin(name, false);
	if (has_page)
		printf("\n`man 7 %s` is the page of that name.\n", name);
	return end_pager(0);
}

/* The names in a folder, sorted; an empty list for one that cannot be read. */
static char **sorted_names(const char *dir)
{
	static char *empty[] = {NULL};
	char **names = vt_names(dir);
	size_t n = 0;

	if (!names)
		return empty;
	while (names[n])
		n++;
	qsort(names, n, sizeof(*names), vt_by_name);
	return names;
}

/*
 * Whether the word stands in a heading of the page. *title becomes its first heading. Cuts text into
 * lines.
 */
static bool heading_has(char *text, const char *word, const char **title)
{
	bool found = false;

	*title = "";
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		if (*line != '#')
			continue;
		line += strspn(line, "# ");
		if (!**title)
			*title = line;
		found |= strcasestr(line, word) != NULL;
	}
	return found;
}

/* Print each page that speaks of the word: in its name or headings, or else (deep) anywhere. Returns how
 * many. */
static int list_pages(const char *word, bool deep)
{
	int found = 0;

	for (char **name = sorted_names(pages); *name; name++) {
		const char *title;
		char *text;
		bool matches;

		(*name)[strcspn(*name, ".")] = '\0';
		text = read_page("", *name);
		if (!text)
			continue;
		matches = strcasestr(*name, word) || (deep && strcasestr(text, word));
		matches |= heading_has(text, word, &title);
		if (matches)
			printf("%-20s (7)  %s\n", strncmp(*name, "tracer-", 7) ? *name : *name + 7, title);
		found += matches;
		free(text);
	}
	return found;
}

/* Print each program whose name has the word in it. Returns how many. */
static int list_programs(const char *word)
{
	int found = 0;

	for (char **name = sorted_names("/bin"); *name; name++) {
		if (strcasestr(*name, word)) {
			printf("%-20s (1)  a program\n", *name);
			found++;
		}
	}
	return found;
}

/*
 * man -k: names and headings first; pages that only mention the word are listed when nothing else
 * is found.
 */
static int search(const char *word)
{
	int found = list_programs(word) + list_pages(word, false);

	if (!found)
		found = list_pages(word, true);
	if (!found)
		vt_die(16, "%s: nothing appropriate", word);
	return vt_finish(0);
}

/*
 * A program goes before a page of the same name unless 7 was asked for, as with other systems' man.
 * The statuses are theirs too: 16 stands for "nothing found".
 */
static int show(const char *name, char section)
{
	char *page = find_page(name), *program = vt_which(name);

	if (program && access(program, X_OK) < 0)
		program = NULL;
	if ((program || print_builtin(name, true)) && section != '7')
		return show_program(name, program, page != NULL);
	if (page && section != '1')
		return show_page(page);
	if (access(pages, R_OK) < 0)
		vt_die(16, "no program %s, and no pages in " PAGES ": a session's first files have them", name);
	vt_die(16, "no page and no program %s (man -k %s searches)", name, name);
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "man [1|7] NAME | man -k WORD",
			       .options = "k",
			       .help = "  -k  list pages and programs that have to do with WORD\n"
				       "  1   only a program, 7: only a page (man 7 latency)\n",
			       .bad_status = 2};
	bool by_word = false;
	char section = '\0';

	pages = access(PAGES, R_OK) < 0 ? "/vitrine" PAGES : PAGES;
	while (vt_option(&o, argc, argv) != -1)
		by_word = true;
	if (argc - o.index == 2 && (!strcmp(argv[o.index], "1") || !strcmp(argv[o.index], "7")))
		section = *argv[o.index++];
	if (argc - o.index != 1)
		vt_usage(&o);
	return by_word ? search(argv[o.index]) : show(argv[o.index], section);
}
