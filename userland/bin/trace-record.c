/*
 * trace-record [options] [-- COMMAND [ARG...]]: record what the kernel does while a command runs, or until
 * ^C, into a trace.dat, which trace-cmd report and KernelShark open on any machine.
 *
 * Pages go from the buffers into files while it runs, so that a recording may be longer than the buffers.
 * What tracefs held before is put back at the end, whatever signal comes but SIGKILL.
 */
#include <vt_trace.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MAX_ARRAYS 16

/* The buffer that is always there, and instances. */
static struct array {
	const char *name; /* NULL: the former */
	const char *tracer;
	bool events; /* some were asked for */
	struct vt_dat_buffer buffer;
} arrays[MAX_ARRAYS];
static size_t nr_arrays = 1;

/* What was asked for, in order; applied once the whole line is understood. */
static struct wish {
	struct array *array;
	int letter;
	const char *text;
} * wishes;
static size_t nr_wishes;

static struct {
	int version;
	bool extract, only_command, quiet;
	const char *output;
} opt = {.version = 7, .output = "trace.dat"};

static int nr_cpus, output_fd = -1, command_status;
static char *prefix; /* of files that hold pages meanwhile; NULL: none may be there */
static bool output_regular, output_made;

/* Written by the handler, or (command) read by it. */
static volatile sig_atomic_t interrupted, command;

/* ---- Signals and the end */

/* The terminal sends ^C, ^\ and its end to the command as well; who tells us alone to end means both. */
static void on_signal(int sig)
{
	int err = errno;

	interrupted = sig;
	if (command > 0 && (sig == SIGTERM || sig == SIGHUP))
		kill((pid_t)command, sig);
	errno = err;
}

/* Without SA_RESTART: a wait ends. nohup's SIGHUP stays ignored. */
static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGHUP};
	struct sigaction act = {.sa_handler = on_signal}, old;

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 &&
		    (signals[i] != SIGHUP || old.sa_handler != SIG_IGN))
			sigaction(signals[i], &act, NULL);
}

/* Also at every exit; then there may be nothing left to do. The pages are let go first: until then the tracer
 * stays. */
static void clean_up(void)
{
	for (size_t i = 0; i < nr_arrays; i++)
		for (int cpu = 0; cpu < nr_cpus && arrays[i].buffer.cpus; cpu++)
			vt_spool_close(&arrays[i].buffer.cpus[cpu]);
	vt_tracefs_restore();
	if (output_made)
		unlink(opt.output);
	output_made = false;
}

/* ---- What tracefs is told */

static void set(const struct array *a, const char *file, const char *text)
{
	vt_tracefs_set(a->name, file, text, O_TRUNC, NULL);
}

/* "all", "sched", "sched:sched_switch", "sched_switch", patterns. */
static void add_event(const struct array *a, const char *text)
{
	vt_tracefs_set(a->name, "set_event", strcmp(text, "all") ? text : "*:*", O_APPEND, "no event");
}

/* Functions between blanks or commas, one a time, so that the one that is wrong can be named. */
static void add_functions(const struct array *a, const char *file, const char *text)
{
	char *words = vt_strdup(text), *rest = words, *word;

	while ((word = strsep(&rest, " \t\n,")))
		if (*word)
			vt_tracefs_set(a->name, file, word, O_APPEND, "no function");
	free(words);
}

/* "stacktrace" or "nostacktrace". */
static void set_trace_option(const struct array *a, const char *text)
{
	char file[80], *path;
	bool off = !strncmp(text, "no", 2);

	for (int skip = 0; skip <= 2 * off; skip += 2) { /* "nonblock" may be an option's own name */
		snprintf(file, sizeof(file), "options/%s", text + skip);
		path = vt_tracefs_path(a->name, file);
		if (!strchr(text, '/') && access(path, W_OK) == 0) {
			set(a, file, skip ? "0" : "1");
			free(path);
			return;
		}
		free(path);
	}
	vt_die(1, "no option '%s'", text);
}

static void grant(const struct wish *w)
{
	switch (w->letter) {
	case 'e':
		add_event(w->array, w->text);
		break;
	case 'l':
		add_functions(w->array, "set_ftrace_filter", w->text);
		break;
	case 'n':
		add_functions(w->array, "set_ftrace_notrace", w->text);
		break;
	case 'g':
		add_functions(w->array, "set_graph_function", w->text);
		break;
	case 'O':
		set_trace_option(w->array, w->text);
		break;
	case 'C':
		vt_tracefs_set(w->array->name, "trace_clock", w->text, O_TRUNC, "no clock");
		break;
	case 'b':
		set(w->array, "buffer_size_kb", w->text);
		break;
	}
}

static bool has_wish(const struct array *a, int letter)
{
	for (size_t i = 0; i < nr_wishes; i++)
		if (wishes[i].array == a && wishes[i].letter == letter)
			return true;
	return false;
}

/* A list that is asked for replaces the one that was there; events always do, for nobody asked for those. */
static void empty_lists(const struct array *a)
{
	static const struct {
		int letter;
		const char *file;
	} lists[] = {{'l', "set_ftrace_filter"}, {'n', "set_ftrace_notrace"}, {'g', "set_graph_function"}};

	set(a, "set_event", "");
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (has_wish(a, lists[i].letter))
			set(a, lists[i].file, "");
}

/* The command and its children only. */
static void choose_task(const struct array *a, long pid)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", pid);
	set(a, "set_event_pid", text);
	set(a, "set_ftrace_pid", text);
	set(a, "options/event-fork", "1");
	set(a, "options/function-fork", "1");
}

/* One that exists may be refused too: those of latencies want a clock of nanoseconds. */
static void set_tracer(const struct array *a)
{
	char *known = vt_tracefs_read_or_die(a->name, "available_tracers"), *rest = known, *word;
	bool found = false;

	while ((word = strsep(&rest, " \n")))
		found |= !strcmp(word, a->tracer);
	free(known);
	if (!found)
		vt_die(1, "no tracer '%s'", a->tracer);
	set(a, "current_tracer", a->tracer);
}

/*
 * Not ourselves: to take a page away takes as many calls as fill another, so there would be no end of it. Of
 * events there are few, and sched_switch is wanted of everybody.
 */
static void leave_us_out(const struct array *a)
{
	char text[24];

	snprintf(text, sizeof(text), "%d", (int)getpid());
	vt_tracefs_set(a->name, "set_ftrace_notrace_pid", text, O_APPEND, NULL);
}

/* Everything but the start. */
static void prepare(struct array *a)
{
	set(a, "tracing_on", "0");
	set(a, "current_tracer", "nop");
	empty_lists(a);
	for (size_t i = 0; i < nr_wishes; i++)
		if (wishes[i].array == a)
			grant(&wishes[i]);
	if (opt.only_command)
		choose_task(a, command);
	if (vt_tracefs_write(a->name, "trace", "", O_TRUNC) < 0)
		vt_die_errno(1, "trace");
	if (a->tracer) {
		leave_us_out(a);
		set_tracer(a);
	}
}

/* ---- Pages */

/* The tracers that keep one maximum, which is text to be read at the end. */
static bool is_latency_tracer(const struct array *a)
{
	static const char *const names[] = {"irqsoff", "preemptoff", "preemptirqsoff",
					    "wakeup",  "wakeup_rt",  "wakeup_dl"};
	char *tracer = vt_tracefs_read_or_die(a->name, "current_tracer");
	bool found = false;

	tracer[strcspn(tracer, "\n")] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		found |= !strcmp(names[i], tracer);
	free(tracer);
	return found;
}

static void open_buffer(struct array *a, size_t number)
{
	a->buffer.instance = a->name;
	if (is_latency_tracer(a)) {
		a->buffer.text = vt_strdup("");
		return;
	}
	a->buffer.cpus = vt_malloc((size_t)nr_cpus * sizeof(*a->buffer.cpus));
	memset(a->buffer.cpus, 0, (size_t)nr_cpus * sizeof(*a->buffer.cpus));
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		char *name = vt_malloc(strlen(prefix) + 32);

		sprintf(name, "%s.%u.cpu%d", prefix, (unsigned)number, cpu);
		if (vt_spool_open(&a->buffer.cpus[cpu], name, a->name, cpu) < 0)
			vt_die_errno(1, "trace_pipe_raw");
		free(name);
	}
}

/* Whether all pages found a place. The rest stays in the kernel's buffers. */
static bool take(bool rest)
{
	for (size_t i = 0; i < nr_arrays; i++)
		for (int cpu = 0; cpu < nr_cpus && arrays[i].buffer.cpus; cpu++)
			if (vt_spool_take(&arrays[i].buffer.cpus[cpu], rest) < 0)
				return false;
	return true;
}

/* Sleep until a buffer has pages to take, or some ms. */
static void wait_pages(int ms)
{
	static struct pollfd fds[MAX_ARRAYS * 64];
	nfds_t n = 0;

	for (size_t i = 0; i < nr_arrays; i++)
		for (int cpu = 0; cpu < nr_cpus && arrays[i].buffer.cpus && n < ARRAY_SIZE(fds); cpu++)
			fds[n++] = (struct pollfd){.fd = arrays[i].buffer.cpus[cpu].raw, .events = POLLIN};
	poll(fds, n, ms);
}

/* ---- The command */

/* A child that becomes the command when it can read a byte. */
static void start_command(char **argv, int *go)
{
	char *path = vt_which(argv[0]), c;
	int ends[2];
	pid_t pid;

	if (!path || access(path, X_OK) < 0)
		vt_die(1, "%s: %s", argv[0], strerror(path ? errno : ENOENT));
	if (pipe2(ends, O_CLOEXEC) < 0)
		vt_die_errno(1, "pipe");
	pid = fork();
	if (pid < 0)
		vt_die_errno(1, "fork");
	if (pid == 0) {
		close(ends[1]);
		if (vt_read(ends[0], &c, 1) != 1)
			_exit(1); /* there is nothing to trace with */
		execve(path, argv, environ);
		vt_warn_errno(argv[0]);
		_exit(errno == ENOENT ? 127 : 126);
	}
	free(path);
	close(ends[0]);
	*go = ends[1];
	command = pid;
}

/* Has it ended? Then command_status is what the shell would say of it. Without a command: did ^C come? */
static bool ended(void)
{
	int how;

	if (command <= 0)
		return interrupted;
	if (waitpid((pid_t)command, &how, WNOHANG) != (pid_t)command)
		return false;
	command = 0;
	command_status = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
	return true;
}

/* Until the command's end, or ^C; false when the disk was full before: then the command has run on untraced.
 */
static bool record(int go)
{
	bool good = true;

	for (size_t i = 0; i < nr_arrays; i++)
		set(&arrays[i], "tracing_on", "1");
	if (command) {
		vt_write_all(go, "g", 1);
		close(go);
	}
	while (!ended()) {
		wait_pages(20);
		if (good && !take(false)) {
			vt_warn("%s: %s: recording ends here", opt.output, strerror(errno));
			good = false;
			for (size_t i = 0; i < nr_arrays; i++)
				set(&arrays[i], "tracing_on", "0");
			if (command <= 0)
				break;
		}
	}
	return good;
}

/* ---- The file */

/* Room for all but the pages, so that a full disk is known before anything is taken from the buffers. */
static void reserve(size_t n)
{
	static const char zeros[VT_TRACE_PAGE];

	for (size_t done = 0; done < n; done += sizeof(zeros))
		if (vt_write_all(output_fd, zeros, sizeof(zeros)) < 0)
			vt_die(1, "%s: %s: nothing was recorded, the buffers are as they were", opt.output,
			       strerror(errno));
	lseek(output_fd, 0, SEEK_SET);
}

/* What cannot seek (a port, a pipe) gets the file once it is whole; pages wait in /tmp. */
static void open_output(const struct vt_dat *d)
{
	struct stat st;
	bool there = stat(opt.output, &st) == 0;

	output_fd = open(opt.output, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (output_fd < 0 || fstat(output_fd, &st) < 0)
		vt_die_errno(1, opt.output);
	output_regular = S_ISREG(st.st_mode);
	output_made = output_regular && !there;
	prefix = vt_malloc(strlen(opt.output) + 40);
	sprintf(prefix, "%s.%d", output_regular ? opt.output : "/tmp/trace-record", (int)getpid());
	if (output_regular) {
		ftruncate(output_fd, 0);
		reserve(vt_dat_room(d));
	}
}

/* The port is closed, or the pipe's reader is gone. The pages are there still. */
static void save_elsewhere(struct vt_dat *d, struct vt_dat_buffer *buffers)
{
	const char *why = strerror(errno);
	char name[48];
	int fd;

	snprintf(name, sizeof(name), "/tmp/trace-record.%d.dat", (int)getpid());
	fd = output_regular ? -1 : open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || vt_dat_write(d, fd, buffers, nr_arrays, false) < 0)
		vt_die(1, "%s: %s", opt.output, why);
	vt_die(1, "%s: %s: the trace is in %s", opt.output, why, name);
}

static void write_file(struct vt_dat *d)
{
	struct vt_dat_buffer buffers[MAX_ARRAYS];
	off_t end;

	for (size_t i = 0; i < nr_arrays; i++) {
		if (arrays[i].buffer.text)
			arrays[i].buffer.text = vt_tracefs_read_or_die(arrays[i].name, "trace");
		buffers[i] = arrays[i].buffer;
	}
	if (vt_dat_write(d, output_fd, buffers, nr_arrays, !output_regular) < 0)
		save_elsewhere(d, buffers);
	end = lseek(output_fd, 0, SEEK_CUR);
	if (output_regular)
		ftruncate(output_fd, end);
	if (close(output_fd) < 0)
		vt_die_errno(1, opt.output);
	output_made = false;
}

static unsigned long total_pages(void)
{
	unsigned long n = 0;

	for (size_t i = 0; i < nr_arrays; i++)
		for (int cpu = 0; cpu < nr_cpus && arrays[i].buffer.cpus; cpu++)
			n += arrays[i].buffer.cpus[cpu].pages;
	return n;
}

static int run(char **argv)
{
	struct vt_dat *d;
	int go = -1;
	bool good = true;

	vt_tracefs_check();
	nr_cpus = vt_tracefs_cpus();
	d = vt_dat_new(opt.version, nr_cpus);
	open_output(d);
	if (*argv)
		start_command(argv, &go);
	for (size_t i = 1; i < nr_arrays; i++) /* new ones get the options of the first */
		vt_tracefs_instance(arrays[i].name);
	for (size_t i = 0; i < nr_arrays; i++) {
		if (opt.extract)
			set(&arrays[i], "tracing_on", "0");
		else
			prepare(&arrays[i]);
		open_buffer(&arrays[i], i);
	}
	if (!opt.extract)
		good = record(go);
	for (size_t i = 0; i < nr_arrays && good; i++)
		set(&arrays[i], "tracing_on", "0");
	if (good && !take(true)) {
		vt_warn("%s: %s", prefix, strerror(errno));
		good = false;
	}
	if (!good) {
		vt_warn("the rest is in the buffers, and tracing stays as it is set: trace-record -x takes it");
		vt_tracefs_keep();
	}
	write_file(d);
	if (!opt.quiet)
		fprintf(stderr, "%s: %lu pages of records of %d CPUs\n", opt.output, total_pages(), nr_cpus);
	clean_up();
	return good ? command_status : 1;
}

/* ---- The command line */

static const char help[] =
	"  -p TRACER    a tracer: function, function_graph, ...; those of latencies give their maximum as text\n"
	"  -e EVENT     an event (sched:sched_switch), a system (sched), a pattern or all; again for more\n"
	"  -l FUNCTION  only functions that match; -n FUNCTION not these; -g FUNCTION a graph of these only\n"
	"  -O OPTION    a trace option, or noOPTION; -C CLOCK a trace clock; -b KB the size of a CPU's buffer\n"
	"  -B NAME      what follows is for this instance, made if it is not there\n"
	"  -F           only the command and its children\n"
	"  -x           only take what is in the buffers, as tracing is set up now\n"
	"  -6           write version 6 of the format, for old readers\n"
	"  -o FILE      in place of trace.dat; it may be a pipe or a port\n"
	"  -P PORT      to the virtio port of that name, and so into a file of the host\n"
	"  -q           say nothing when all is well\n"
	"  Without a command it records until ^C. Settings are put back. The exit status is the command's, or 1 and a\n"
	"  message when something else failed.\n";

static struct array *find_array(const char *name)
{
	for (size_t i = 1; i < nr_arrays; i++)
		if (!strcmp(arrays[i].name, name))
			return &arrays[i];
	if (nr_arrays == MAX_ARRAYS)
		vt_die(1, "more than %d instances", MAX_ARRAYS - 1);
	arrays[nr_arrays].name = name;
	return &arrays[nr_arrays++];
}

static void add_wish(struct array *a, int letter, const char *text)
{
	wishes = vt_realloc(wishes, (nr_wishes + 1) * sizeof(*wishes));
	wishes[nr_wishes++] = (struct wish){a, letter, text};
	if (letter == 'b')
		vt_number_or_die(1, text, 1, INT_MAX);
	if (letter == 'e')
		a->events = true;
}

/* A port of virtio-serial, by the name that the host has given it. */
static const char *port_path(const char *name)
{
	static const char ports[] = "/dev/virtio-ports/";
	char *path = vt_malloc(sizeof(ports) + strlen(name));

	sprintf(path, "%s%s", ports, name);
	if (access(path, W_OK) < 0)
		vt_die(1, "no port '%s': vrun --port %s=FILE gives the machine one", name, name);
	return path;
}

static void parse(struct vt_options *o, int argc, char **argv)
{
	struct array *a = &arrays[0];
	int c;

	while ((c = vt_option(o, argc, argv)) != -1) {
		switch (c) {
		case '6':
			opt.version = 6;
			break;
		case 'x':
			opt.extract = true;
			break;
		case 'F':
			opt.only_command = true;
			break;
		case 'q':
			opt.quiet = true;
			break;
		case 'o':
			opt.output = o->arg;
			break;
		case 'P':
			opt.output = port_path(o->arg);
			break;
		case 'B':
			a = find_array(o->arg);
			break;
		case 'p':
			a->tracer = o->arg;
			break;
		default:
			add_wish(a, c, o->arg);
		}
	}
}

static void check(const struct vt_options *o, int argc)
{
	bool something = opt.extract;

	for (size_t i = 0; i < nr_arrays; i++)
		something |= arrays[i].tracer || arrays[i].events;
	if (!something)
		vt_die(1, "nothing to record: -p TRACER, -e EVENT, or -x for what is there");
	if (opt.only_command && o->index == argc)
		vt_die(1, "-F wants a command");
	if (opt.extract && (o->index < argc || nr_wishes || arrays[0].tracer))
		vt_die(1, "-x takes what is there: no command, and nothing to set");
}

int main(int argc, char **argv)
{
	struct vt_options o = {
		.usage =
			"trace-record [-6Fqx] [-p TRACER] [-e EVENT] [-l FUNC] [-n FUNC] [-g FUNC] [-O OPTION] "
			"[-C CLOCK] [-b KB] [-B NAME ...] [-o FILE | -P PORT] [-- COMMAND [ARG...]]",
		.options = "6Fqxp:e:l:n:g:O:C:b:B:o:P:",
		.help = help,
		.bad_status = 1};

	parse(&o, argc, argv);
	check(&o, argc);
	catch_signals();
	atexit(clean_up);
	return run(argv + o.index);
}
