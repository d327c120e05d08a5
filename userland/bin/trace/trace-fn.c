/*
 * trace-fn [options] -- COMMAND [ARG...]: the kernel functions that a command and its children call, as a function
 * trace, as a call graph (-g) or summed up (--profile); trace-fn [options] -p PID: those of a process, until ^C or its
 * end.
 *
 * It writes tracefs files as a person would, and puts back what they held, whatever signal it gets but SIGKILL. It
 * does so before it prints: else a pager that waits for a key would keep the files changed for as long.
 */
#include <vt_trace.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define FAULT 125 /* exit status when not the command but trace-fn failed */

static struct {
	bool graph, profile;
	long depth, pid, min_us;
	char *filter, *notrace; /* words between blanks, NULL: not given */
} opt;

/* Written by the handler, or (command) read by it. */
static volatile sig_atomic_t interrupted, exec_failed, command;

/*
 * The terminal sends ^C, ^\ and its hangup to the command as well, as both are in its foreground
 * group. SIGTERM and SIGHUP may come to this process alone, and are passed on. SIGUSR1 is from the
 * child, see become(). errno is kept: the handler may run between a call and the look at its error.
 */
static void on_signal(int sig)
{
	int err = errno;

	if (sig == SIGUSR1)
		exec_failed = 1;
	else
		interrupted = sig;
	if (command && (sig == SIGTERM || sig == SIGHUP))
		kill((pid_t)command, sig);
	errno = err;
}

/* Those that would end us with files changed. nohup's SIGHUP stays ignored. */
static void catch_signals(void (*handler)(int sig))
{
	static const int signals[] = {SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGUSR1, SIGHUP};
	struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && (signals[i] != SIGHUP || old.sa_handler != SIG_IGN))
			sigaction(signals[i], &act, NULL);
}

/* ---- Files of tracefs */

/* Also run at every exit; then there is nothing left to do. */
static void put_back(void)
{
	vt_tracefs_restore();
}

static void set(const char *file, const char *text)
{
	vt_tracefs_set(NULL, file, text, O_TRUNC, NULL);
}

/* Write a list one word a time, so that the message can name the word that is wrong. */
static void set_words(const char *file, char *words)
{
	int how = O_TRUNC;
	char *word;

	while ((word = strsep(&words, " \t\n,"))) {
		if (!*word)
			continue;
		if (!vt_tracefs_try(NULL, file, word, how)) {
			if (errno == EINVAL)
				vt_die(FAULT, "no function matches '%s': available_filter_functions lists them", word);
			vt_die_errno(FAULT, file);
		}
		how = O_APPEND;
	}
}

static void set_number(const char *file, long value)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", value);
	set(file, text);
}

/* A tracer that somebody else has selected would lose its trace, and the profiler its counts. */
static void refuse_if_used(void)
{
	char *profile = vt_tracefs_read_or_die(NULL, "function_profile_enabled");

	vt_tracefs_refuse_tracer();
	if (opt.profile && strcmp(profile, "0\n"))
		vt_die(FAULT, "the profiler is in use: echo 0 > " VT_TRACING "/function_profile_enabled ends it");
	free(profile);
}

/* Everything but the start. */
static void prepare(long pid)
{
	vt_tracefs_check();
	refuse_if_used();
	if (opt.filter)
		set_words("set_ftrace_filter", opt.filter);
	if (opt.notrace)
		set_words("set_ftrace_notrace", opt.notrace);
	if (opt.depth)
		set_number("max_graph_depth", opt.depth);
	if (opt.min_us)
		set_number("tracing_thresh", opt.min_us);
	if (opt.profile)
		return;
	set("tracing_on", "0");
	set_number("set_ftrace_pid", pid);
	set("options/function-fork", "1");
	if (vt_tracefs_write(NULL, "trace", "", O_TRUNC) < 0)
		vt_die_errno(FAULT, "trace");
	set("tracing_enabled", "1");
	set("current_tracer", opt.graph ? "function_graph" : "function");
}

/* ---- The profiler's tables, one a CPU, as one */

struct row {
	char *name;
	unsigned long hits, ns;
};

static struct row *rows;
static size_t nr_rows;

/* The row of this function, new if need be. A function has one line in each CPU's table. */
static struct row *row_of(const char *name)
{
	for (size_t i = 0; i < nr_rows; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	rows = vt_realloc(rows, (nr_rows + 1) * sizeof(*rows));
	rows[nr_rows] = (struct row){.name = vt_strdup(name)};
	return &rows[nr_rows++];
}

/* "123.456 us" in ns. Seven digits at most: the longer the time, the fewer behind the point. */
static unsigned long ns_of(const char *text)
{
	char *digit;
	unsigned long ns = strtoul(text, &digit, 10) * 1000;

	if (*digit++ != '.')
		return ns;
	for (unsigned long unit = 100; *digit >= '0' && *digit <= '9'; unit /= 10)
		ns += (unsigned long)(*digit++ - '0') * unit;
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

/* Each CPU has a file trace_stat/functionN: add them all up. */
static void read_profile(void)
{
	char *text, file[40];

	for (int cpu = 0; cpu < vt_tracefs_cpus(); cpu++) {
		sprintf(file, "trace_stat/function%d", cpu);
		text = vt_tracefs_read_or_die(NULL, file);
		add_table(text);
		free(text);
	}
}

static void print_profile(void)
{
	qsort(rows, nr_rows, sizeof(*rows), by_time);
	printf("%-40s %10s %16s %14s\n", "Function", "Hit", "Time", "Avg");
	for (size_t i = 0; i < nr_rows; i++) {
		unsigned long avg = rows[i].hits ? rows[i].ns / rows[i].hits : 0;

		printf("%-40s %10lu %9lu.%03lu us %7lu.%03lu us\n", rows[i].name, rows[i].hits, rows[i].ns / 1000,
		       rows[i].ns % 1000, avg / 1000, avg % 1000);
	}
}

/* ---- What there is to see, kept in memory: once the tracer is nop the records have another form */

static char *trace_text;
static size_t trace_size;

/*
 * Whether no record was overwritten. If the beginning is lost, so may be the execve that is looked
 * for.
 */
static bool trace_is_whole(void)
{
	bool whole = true;
	char *text, file[40];

	for (int cpu = 0; whole && cpu < vt_tracefs_cpus(); cpu++) {
		sprintf(file, "per_cpu/cpu%d/stats", cpu);
		text = vt_tracefs_read(NULL, file);
		whole = text && strstr(text, "\noverrun: 0\n");
		free(text);
	}
	return whole;
}

/*
 * What a command's trace has before its execve is the end of the write that switched recording on, see become(). A
 * filter may leave the execve out: then that stays, a mutex_unlock if it is chosen.
 */
static void begin_at_execve(void)
{
	char *from = trace_text, *to;

	while (*from == '#')
		from += strcspn(from, "\n") + 1;
	to = strstr(from, "sys_execve");
	if (!to || !trace_is_whole())
		return;
	while (to > from && to[-1] != '\n')
		to--;
	trace_size -= (size_t)(to - from);
	memmove(from, to, trace_size - (size_t)(from - trace_text) + 1);
}

/* Recording off, and what there is to show read, before settings go back. */
static void stop(void)
{
	if (opt.profile) {
		set("function_profile_enabled", "0");
		read_profile();
		return;
	}
	set("tracing_on", "0");
	trace_text = vt_tracefs_read_or_die(NULL, "trace");
	trace_size = strlen(trace_text);
	if (!opt.pid)
		begin_at_execve();
}

static int show(int status)
{
	if (opt.profile) {
		print_profile();
		return vt_finish(status);
	}
	if (vt_write_all(STDOUT_FILENO, trace_text, trace_size) == 0)
		return status;
	vt_warn_errno("write error");
	return 1;
}

/* ---- Whom it traces */

/*
 * The child's last step. It switches recording on by itself, so that how it was woken to do it is not recorded. When
 * the execve fails nothing has run that anybody asked to see; the parent is told by a signal, as a pipe would have to
 * be closed in the command's trace.
 */
static void become(const char *path, char **argv)
{
	int fd = opt.profile ? -1 : open(VT_TRACING "/tracing_on", O_WRONLY | O_CLOEXEC), err;

	if (fd < 0 && !opt.profile)
		vt_die_errno(FAULT, "tracing_on");
	if (fd >= 0 && write(fd, "1", 1) != 1)
		vt_die_errno(FAULT, "tracing_on");
	vt_execve(path, argv);
	err = errno;
	kill(getppid(), SIGUSR1);
	errno = err;
	vt_die_errno(err == ENOENT ? 127 : 126, argv[0]);
}

/* A child that becomes the command when we say so, with the folder that we were started in. */
static pid_t start_command(char **argv, int *go)
{
	char *path = vt_which(argv[0]), c;
	int pipe_fd[2];
	pid_t pid;

	if (!path)
		vt_die(127, "%s: %s", argv[0], strerror(ENOENT));
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
		become(path, argv);
	}
	close(pipe_fd[0]);
	*go = pipe_fd[1];
	return pid;
}

static int wait_command(void)
{
	int status;

	while (waitpid((pid_t)command, &status, 0) < 0)
		if (errno != EINTR)
			vt_die_errno(FAULT, "wait");
	command = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void wait_process(pid_t pid)
{
	const struct timespec step = {.tv_nsec = 20 * 1000 * 1000};

	while (!interrupted && (kill(pid, 0) == 0 || errno != ESRCH))
		nanosleep(&step, NULL);
}

static const char help[] =
	"  -g, --graph           a call graph with times (function_graph) in place of a list of calls\n"
	"  -d, --depth N         with -g: no deeper than so many calls\n"
	"  -l, --filter FILTER   only functions that match, such as 'vfs_*'; several with commas, blanks or -l again\n"
	"  -N, --notrace FILTER  but not these, likewise\n"
	"  -t, --threshold USEC  with -g: only calls that take so long; with --profile: functions, on average\n"
	"  -p, --pid PID         a process that runs, until ^C or its end, in place of a command\n"
	"      --profile         hits and times of each function, of all tasks while the command runs\n"
	"  -h, --help            this\n"
	"  The trace begins with the command's execve and ends when the command does: children that it leaves behind\n"
	"  are cut off. What was in `trace` before is gone; settings are put back. Refused while a tracer (with\n"
	"  --profile: the profiler) is in use. ^C, SIGTERM and SIGHUP end the command; what there is then is shown.\n"
	"  The exit status is the command's, or 125 when trace-fn itself failed.\n";

static const struct vt_long_option long_options[] = {
	{"graph", 'g'},	  {"profile", 'P'},   {"depth", 'd'}, {"filter", 'l'},
	{"notrace", 'N'}, {"threshold", 't'}, {"pid", 'p'},   {NULL, 0},
};

/* -l again adds. Empty words match nothing, and would choose everything. */
static void add_words(char **words, const char *more)
{
	char *all;

	if (!more[strspn(more, " \t\n,")])
		vt_die(FAULT, "no function matches '%s'", more);
	all = *words ? vt_malloc(strlen(*words) + strlen(more) + 2) : vt_strdup(more);
	if (*words)
		sprintf(all, "%s %s", *words, more);
	free(*words);
	*words = all;
}

static void check(const struct vt_options *o, int argc)
{
	if (opt.depth && !opt.graph)
		vt_die(FAULT, "-d DEPTH wants -g: only a call graph has a depth");
	if (opt.min_us && !opt.graph && !opt.profile)
		vt_die(FAULT, "-t USEC wants -g or --profile: a list of calls has no times");
	if (opt.graph && opt.profile)
		vt_die(FAULT, "one of -g and --profile at a time");
	if (opt.pid && o->index < argc)
		vt_die(FAULT, "a PID or a command, not both");
	if (!opt.pid && o->index == argc)
		vt_usage(o);
}

/* Options into `opt`. What they mean together is check()'s. */
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
			add_words(&opt.filter, o->arg);
			break;
		case 'N':
			add_words(&opt.notrace, o->arg);
			break;
		case 'h':
			vt_help(o);
		}
	}
	check(o, argc);
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "trace-fn [-g|--profile] [-d N] [-l FILTER] [-N FILTER] [-t USEC] "
					"{-p PID | [--] COMMAND [ARG...]}, or trace-fn --help",
			       .options = "gPhd:l:N:t:p:",
			       .longs = long_options,
			       .help = help,
			       .in_order = true,
			       .bad_status = FAULT};
	int go = -1, status = 0;

	vt_tracefs_fault = FAULT;
	parse(&o, argc, argv);
	if (opt.pid && kill((pid_t)opt.pid, 0) < 0)
		vt_die(FAULT, "no process %ld", opt.pid);
	if (!opt.pid)
		command = start_command(argv + o.index, &go);
	catch_signals(on_signal);
	atexit(vt_trace_unlock);
	vt_trace_lock(FAULT);
	atexit(put_back);
	prepare(opt.pid ? opt.pid : command);
	if (opt.profile)
		set("function_profile_enabled", "1");
	if (opt.pid) {
		if (!opt.profile)
			set("tracing_on", "1");
		wait_process((pid_t)opt.pid);
	} else {
		vt_write_all(go, "g", 1);
		close(go);
		status = wait_command();
	}
	if (exec_failed && (status == 126 || status == 127)) /* else it was the command that sent SIGUSR1 */
		return status;
	stop();
	put_back();
	vt_trace_unlock();
	catch_signals(SIG_DFL);
	return show(status);
}
