/*
 * kmem-stat [-n ROWS] [--] COMMAND [ARG...]: who allocates kernel memory while a command runs, and how much of it is
 * lost inside of objects that are larger than what was asked for.
 *
 * It selects the tracer kmemtrace for as long as the command runs and prints trace_stat/slab, in the manner of
 * `perf kmem stat --caller`. What others allocate meanwhile counts as well: the kernel does not say for whom it was.
 */
#include <vt_trace.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>

#define FAULT 125 /* exit status when not the command but kmem-stat failed */

static volatile sig_atomic_t command;

/* ^C and ^\ reach the command by themselves, as both are in the terminal's foreground group; these two may not. */
static void on_signal(int sig)
{
	int err = errno;

	if (command && (sig == SIGTERM || sig == SIGHUP))
		kill((pid_t)command, sig);
	errno = err;
}

/* None of them ends us before the tracer is what it was. The command gets the default, as exec drops handlers. */
static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE};
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &act, NULL);
}

static void restore(void)
{
	vt_tracefs_restore();
	vt_trace_unlock();
}

/* The status that a shell would give. The child leaves by _exit: what atexit() was told is for the parent to do. */
static int run(const char *path, char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		vt_die_errno(FAULT, "fork");
	if (pid == 0) {
		vt_execve(path, argv);
		vt_warn_errno(argv[0]);
		_exit(126);
	}
	command = pid;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			vt_die_errno(FAULT, "wait");
	command = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static struct {
	unsigned long hits, req, alloc;
} sum;

/* " CALLSITE | ALLOC/EACH | REQ/EACH | HITS | FRAG%": add it to the sums. False: it is not a row. */
static bool add_row(const char *line)
{
	unsigned long numbers[3];
	const char *at = line;

	for (int i = 0; i < 3; i++) {
		char *end;

		at = strchr(at, '|');
		if (!at)
			return false;
		numbers[i] = strtoul(++at, &end, 10);
		if (end == at)
			return false;
	}
	sum.alloc += numbers[0];
	sum.req += numbers[1];
	sum.hits += numbers[2];
	return true;
}

/* The header, the first `most` rows, and what all rows come to. */
static void show(char *table, long most)
{
	unsigned long lost, frag;
	long rows = 0;

	for (char *rest = table, *line; (line = strsep(&rest, "\n"));)
		if (*line && (!add_row(line) || ++rows <= most))
			printf("%s\n", line);
	if (rows > most)
		printf(" ... %ld more\n", rows - most);
	lost = sum.alloc - sum.req;
	frag = sum.alloc ? lost * 10000 / sum.alloc : 0;
	printf("\nSUMMARY\n=======\n");
	printf("Total allocations:                            %lu\n", sum.hits);
	printf("Total bytes requested:                        %lu\n", sum.req);
	printf("Total bytes allocated:                        %lu\n", sum.alloc);
	printf("Total bytes wasted on internal fragmentation: %lu\n", lost);
	printf("Internal fragmentation:                       %lu.%02lu%%\n", frag / 100, frag % 100);
}

static const char help[] = "  -n ROWS   show so many call sites, those that lose most (20)\n"
			   "  COMMAND   what is allocated while it runs counts, whoever allocates it\n"
			   "  The exit status is the command's, or 125 when kmem-stat itself failed.\n";

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "kmem-stat [-n ROWS] [--] COMMAND [ARG...]",
			       .options = "n:",
			       .help = help,
			       .in_order = true,
			       .bad_status = FAULT};
	long most = 20;
	char *table, *path;
	int status;

	vt_tracefs_fault = FAULT;
	while (vt_option(&o, argc, argv) != -1)
		most = vt_number_or_die(FAULT, o.arg, 1, INT_MAX);
	if (o.index == argc)
		vt_usage(&o);
	path = vt_which(argv[o.index]);
	if (!path)
		vt_die(127, "%s: %s", argv[o.index], strerror(ENOENT));
	catch_signals();
	atexit(restore);
	vt_trace_lock(FAULT);
	vt_tracefs_refuse_tracer();
	vt_tracefs_set(NULL, "current_tracer", "kmemtrace", O_TRUNC, NULL);
	status = run(path, argv + o.index);
	restore(); /* the numbers stay, and our own allocations do not count */
	table = vt_tracefs_read_or_die(NULL, "trace_stat/slab");
	show(table, most);
	free(table);
	return vt_finish(status);
}
