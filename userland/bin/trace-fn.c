/*
 * trace-fn [options] -- COMMAND [ARG...]: the kernel functions that a command and its children call, as a function
 * trace, as a call graph (-g) or summed up (--profile); trace-fn [options] -p PID: those of a process, until ^C or its
 * end.
 *
 * It writes tracefs files as a person would, and puts back what they held.
 */
#include <vt.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define TRACING "/sys/kernel/tracing"
#define FAULT 125 /* exit status when not the command but trace-fn failed */

static struct {
	bool graph, profile;
	long depth, pid, min_us;
	const char *filter;
} opt;

/* Files that we change, in the order of being written, with what they held before. */
static struct setting {
	const char *file;
	char *before; /* NULL: not changed */
} settings[] = {
	{.file = "set_ftrace_filter"}, {.file = "set_ftrace_pid"},	{.file = "options/function-fork"},
	{.file = "max_graph_depth"},   {.file = "tracing_thresh"},	{.file = "tracing_on"},
	{.file = "current_tracer"},    {.file = "function_profile_enabled"},
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = sig;
}

/* ---- Files of tracefs */

/* The newline has a word looked at by the write; the close of the file would have nobody to tell what is wrong. */
static int write_setting(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_TRUNC), ret = 0, err;
	size_t n = strlen(text);
	char *line;

	if (fd < 0)
		return -1;
	line = vt_malloc(n + 2);
	memcpy(line, text, n + 1);
	if (n && line[n - 1] != '\n')
		strcpy(line + n++, "\n");
	if (n)
		ret = vt_write_all(fd, line, n);
	err = errno;
	free(line);
	close(fd);
	errno = err;
	return ret;
}

/* What a file holds, as it can be written again: lines of comment are no settings. */
static char *read_setting(const char *file)
{
	char *text = vt_read_file(file, NULL), *to = text;

	if (!text)
		return NULL;
	for (char *line = text, *end; *line; line = end) {
		end = strchr(line, '\n');
		end = end ? end + 1 : line + strlen(line);
		if (*line == '#' || !strncmp(line, "no pid", 6))
			continue;
		memmove(to, line, (size_t)(end - line));
		to += end - line;
	}
	*to = '\0';
	return text;
}

/* Last first: the tracer goes before its filters change. */
static void put_back(void)
{
	for (size_t i = ARRAY_SIZE(settings); i-- > 0;) {
		if (settings[i].before && write_setting(settings[i].file, settings[i].before) < 0)
			vt_warn("%s keeps a value of this trace: %s", settings[i].file, strerror(errno));
	}
}

static void give_up(const char *what)
{
	int err = errno;

	put_back();
	errno = err;
	vt_die_errno(FAULT, what);
}

static void set(const char *file, const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		if (strcmp(settings[i].file, file))
			continue;
		if (!settings[i].before)
			settings[i].before = read_setting(file);
		if (!settings[i].before)
			give_up(file);
	}
	if (write_setting(file, text) == 0)
		return;
	if (errno == EINVAL && opt.filter && text == opt.filter) {
		put_back();
		vt_die(FAULT, "no function matches '%s': available_filter_functions lists them", text);
	}
	give_up(file);
}

static void set_number(const char *file, long value)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", value);
	set(file, text);
}

/* Everything but the start. Who else uses the tracer would lose the trace. */
static void prepare(long pid)
{
	char *tracer;

	if (chdir(TRACING) < 0)
		vt_die(FAULT, "no tracefs at " TRACING ": mount -t tracefs tracefs " TRACING);
	tracer = read_setting("current_tracer");
	if (!tracer)
		vt_die_errno(FAULT, "current_tracer");
	if (strcmp(tracer, "nop\n"))
		vt_die(FAULT, "the tracer %.*s is in use: echo nop > " TRACING "/current_tracer ends it",
		       (int)strcspn(tracer, "\n"), tracer);
	free(tracer);
	set("tracing_on", "0");
	if (opt.filter)
		set("set_ftrace_filter", opt.filter);
	if (opt.depth)
		set_number("max_graph_depth", opt.depth);
	if (opt.min_us)
		set_number("tracing_thresh", opt.min_us);
	if (opt.profile)
		return;
	set_number("set_ftrace_pid", pid);
	set("options/function-fork", "1");
	if (write_setting("trace", "") < 0)
		give_up("trace");
}

static void begin(void)
{
	if (opt.profile) {
		set("function_profile_enabled", "1");
		return;
	}
	set("current_tracer", opt.graph ? "function_graph" : "function");
	set("tracing_on", "1");
}

/* ---- The profiler's tables, one a CPU, as one */

struct row {
	char name[64];
	unsigned long hits, ns;
};

static struct row *rows;
static size_t nr_rows;

static struct row *row_of(const char *name)
{
	for (size_t i = 0; i < nr_rows; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	rows = vt_realloc(rows, (nr_rows + 1) * sizeof(*rows));
	rows[nr_rows] = (struct row){.name = ""};
	snprintf(rows[nr_rows].name, sizeof(rows[nr_rows].name), "%s", name);
	return &rows[nr_rows++];
}

/* "123.456 us" in ns. */
static unsigned long ns_of(const char *text)
{
	char *end;
	unsigned long ns = strtoul(text, &end, 10) * 1000;

	if (*end == '.')
		ns += strtoul(end + 1, NULL, 10); /* three digits */
	return ns;
}

/* "  name   hits   time us   avg us   s^2 us"; the first two lines are the head. */
static void add_table(char *text)
{
	char *line, *rest = text;

	for (int n = 0; (line = strsep(&rest, "\n")); n++) {
		char *words[3], *word;
		int got = 0;
		struct row *row;

		while (n >= 2 && got < 3 && (word = strsep(&line, " \t")))
			if (*word)
				words[got++] = word;
		if (got < 3)
			continue;
		row = row_of(words[0]);
		row->hits += strtoul(words[1], NULL, 10);
		row->ns += ns_of(words[2]);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : strcmp(x->name, y->name);
}

static void show_profile(void)
{
	char **names = vt_names("trace_stat");

	if (!names)
		give_up("trace_stat");
	for (char **name = names; *name; name++) {
		char *path, *text;

		if (strncmp(*name, "function", 8))
			continue;
		path = vt_join("trace_stat", *name);
		text = vt_read_file(path, NULL);
		if (!text)
			give_up(path);
		add_table(text);
		free(text);
		free(path);
	}
	vt_names_free(names);
	qsort(rows, nr_rows, sizeof(*rows), by_time);
	printf("%-40s %10s %16s %14s\n", "Function", "Hit", "Time", "Avg");
	for (size_t i = 0; i < nr_rows; i++) {
		unsigned long avg = rows[i].hits ? rows[i].ns / rows[i].hits : 0;

		printf("%-40s %10lu %9lu.%03lu us %7lu.%03lu us\n", rows[i].name, rows[i].hits, rows[i].ns / 1000,
		       rows[i].ns % 1000, avg / 1000, avg % 1000);
	}
}

static void show(void)
{
	int fd;

	if (opt.profile) {
		set("function_profile_enabled", "0");
		show_profile();
		return;
	}
	set("tracing_on", "0");
	fd = open("trace", O_RDONLY);
	if (fd < 0 || vt_copy(fd, STDOUT_FILENO) < 0)
		give_up("trace");
	close(fd);
}

/* ---- Whom it traces */

/* A child that becomes the command when we say so, with the folder that we were started in. */
static pid_t start_command(char **argv, int *go)
{
	int pipe_fd[2];
	pid_t pid;
	char c;

	if (pipe(pipe_fd) < 0)
		vt_die_errno(FAULT, "pipe");
	pid = fork();
	if (pid < 0)
		vt_die_errno(FAULT, "fork");
	if (pid == 0) {
		close(pipe_fd[1]);
		if (vt_read(pipe_fd[0], &c, 1) != 1)
			_exit(FAULT); /* there is nothing to trace with */
		close(pipe_fd[0]);
		vt_exec(argv);
	}
	close(pipe_fd[0]);
	fcntl(pipe_fd[1], F_SETFD, FD_CLOEXEC);
	*go = pipe_fd[1];
	return pid;
}

static int wait_command(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			give_up("wait");
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void wait_process(pid_t pid)
{
	const struct timespec step = {.tv_nsec = 20 * 1000 * 1000};

	while (!interrupted && (kill(pid, 0) == 0 || errno != ESRCH))
		nanosleep(&step, NULL);
}

static const char help[] =
	"  -g, --graph      a call graph with times (function_graph) in place of a list of calls\n"
	"  -d DEPTH         with -g: no deeper than so many calls\n"
	"  -l FILTER        only functions that match, such as 'vfs_*'; several separated by blanks\n"
	"  -t USEC          with -g: only calls that take at least so long; with --profile: functions, on average\n"
	"  -p PID           a process that runs, until ^C or its end, in place of a command\n"
	"  --profile        hits and times of each function, of all tasks while the command runs\n";

static void parse(struct vt_options *o, int argc, char **argv)
{
	int c;

	while ((c = vt_option(o, argc, argv)) != -1) {
		switch (c) {
		case 'g':
			opt.graph = true;
			break;
		case 'P':
			opt.profile = true;
			break;
		case 'd':
			opt.depth = vt_number_or_die(FAULT, o->arg, 1, INT_MAX);
			break;
		case 't':
			opt.min_us = vt_number_or_die(FAULT, o->arg, 1, INT_MAX);
			break;
		case 'p':
			opt.pid = vt_number_or_die(FAULT, o->arg, 1, INT_MAX);
			break;
		case 'l':
			opt.filter = o->arg;
			break;
		}
	}
	if (opt.depth && !opt.graph)
		vt_die(FAULT, "-d DEPTH wants -g: only a call graph has a depth");
	if (opt.min_us && !opt.graph && !opt.profile)
		vt_die(FAULT, "-t USEC wants -g or --profile: a list of calls has no times");
	if (opt.graph && opt.profile)
		vt_die(FAULT, "one of -g and --profile at a time");
	if (!opt.pid == (o->index == argc))
		vt_usage(o);
}

/* Long options as the letters that stand for them. */
static void shorten(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--graph"))
			argv[i] = "-g";
		else if (!strcmp(argv[i], "--profile"))
			argv[i] = "-P";
		else if (argv[i][0] != '-')
			break;
		else if (strchr("dltp", argv[i][1]) && !argv[i][2])
			i++; /* its argument */
	}
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "trace-fn [-g|--profile] [-d DEPTH] [-l FILTER] [-t USEC] "
					"{-p PID | [--] COMMAND [ARG...]}",
			       .options = "gPd:l:t:p:",
			       .help = help,
			       .bad_status = FAULT};
	const struct sigaction act = {.sa_handler = on_signal};
	int go = -1, status = 0;
	pid_t pid;

	shorten(argc, argv);
	parse(&o, argc, argv);
	if (opt.pid && kill((pid_t)opt.pid, 0) < 0)
		vt_die(FAULT, "no process %ld", opt.pid);
	pid = opt.pid ? (pid_t)opt.pid : start_command(argv + o.index, &go);
	/* ^C is the command's; we show what there is, and clean up. */
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	prepare(pid);
	begin();
	if (opt.pid) {
		wait_process(pid);
	} else {
		vt_write_all(go, "g", 1);
		close(go);
		status = wait_command(pid);
	}
	show();
	put_back();
	return vt_finish(status);
}
