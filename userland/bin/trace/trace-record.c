/*
 * trace-record [options] [-- COMMAND [ARG...]]: record what the kernel does while a command runs, or until
 * ^C, into a trace.dat, which trace-cmd report and KernelShark open on any machine.
 *
 * Pages go from the buffers into files while it runs, so that a recording may be longer than the buffers.
 * What tracefs held before is put back as soon as recording ends, whatever signal comes but SIGKILL.
 *
 *     trace_pipe_raw of each CPU  ->  spool files beside the output (tracespool.c)  ->  trace.dat (tracedat.c)
 */
#include <vt_trace.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MAX_ARRAYS 16

/* The buffer that is always there, and instances. */
static struct vt_array arrays[MAX_ARRAYS];
static size_t nr_arrays = 1;

static struct {
	int version;
	bool extract, only_command, alone, children, quiet, no_functions;
	long interval, max; /* in us, and in KB; 0: neither was asked for */
	const char *output;
} opt = {.version = 7, .output = "trace.dat"};

static struct vt_out out = {.fd = -1, .part_fd = -1};
static int nr_cpus, command_status;
static bool in_pieces; /* what was recorded stays where it is */

/* Written by the handler, or read by it (command; waiting: a descriptor whose writes may have no end, or -1). */
static volatile sig_atomic_t interrupted, command, waiting = -1;

/* ---- Signals and the end */

/*
 * A signal that another process sends to this one alone is passed on, as it means the command as well; one from the
 * kernel (^C) has come to both. A write or close that waits ends with EINTR, one that is about to wait with EAGAIN.
 */
static void on_signal(int sig, siginfo_t *info, void *context)
{
	int err = errno;

	interrupted = sig;
	if (waiting >= 0)
		fcntl((int)waiting, F_SETFL, O_WRONLY | O_NONBLOCK);
	if (command > 0 && info->si_code <= 0)
		kill((pid_t)command, sig);
	errno = err;
}

/*
 * It does nothing but exist: with a handler, SIGCHLD interrupts a wait (EINTR) instead of being
 * ignored.
 */
static void on_child(int sig)
{
}

/*
 * Block all signals, or let them come. They may come while the program waits, for pages or for a
 * reader of the file, and never while settings change: the handler's work would otherwise see half of
 * them.
 */
static void hold_signals(bool hold)
{
	static const sigset_t all = ~0UL;

	sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &all, NULL);
}

/* Would this signal, uncaught, end the program? */
static bool ends_programs(int sig)
{
	static const int others[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (sig == others[i])
			return false;
	return true;
}

/* Without SA_RESTART: a wait ends. A fault comes again at once, and then ends us. What is ignored (nohup) stays so,
 * but for what shells ignore for those in the background, and for SIGCHLD, without which nobody could be waited for. */
static void catch_signals(void)
{
	struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, old;

	hold_signals(true);
	signal(SIGCHLD, on_child);
	for (int sig = 1; sig < NSIG; sig++) {
		bool fault = sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE || sig == SIGTRAP;

		act.sa_flags = SA_SIGINFO | (fault ? SA_RESETHAND : 0);
		if (ends_programs(sig) && sigaction(sig, NULL, &old) == 0 &&
		    (old.sa_handler != SIG_IGN || sig == SIGINT || sig == SIGQUIT))
			sigaction(sig, &act, NULL);
	}
}

/* Call this for the pages of each CPU of each array. */
static void each_spool(void (*work)(struct vt_spool *s))
{
	for (size_t i = 0; i < nr_arrays; i++)
		for (int cpu = 0; cpu < nr_cpus && arrays[i].buffer.cpus; cpu++)
			work(&arrays[i].buffer.cpus[cpu]);
}

/* At every exit; after a whole recording there is nothing left to do. The pages are let go first: until then the
 * tracer stays. */
static void clean_up(void)
{
	hold_signals(true);
	each_spool(in_pieces ? vt_spool_stop : vt_spool_close);
	vt_tracefs_restore();
	if (!in_pieces)
		vt_out_drop(&out);
	vt_trace_unlock();
}

/* ---- Pages */

/* The tracers that keep one maximum, which is text to be read at the end. */
static bool is_latency_tracer(const struct vt_array *a)
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

/*
 * Prepare to take the pages of an array, a file for each CPU. A latency tracer has no pages to take
 * but a text at the end.
 */
static void open_buffer(struct vt_array *a, size_t number)
{
	a->buffer.instance = a->name;
	if (a->used && is_latency_tracer(a)) {
		a->buffer.text = vt_strdup("");
		return;
	}
	a->buffer.cpus = vt_malloc((size_t)nr_cpus * sizeof(*a->buffer.cpus));
	for (int cpu = 0; cpu < nr_cpus; cpu++)
		a->buffer.cpus[cpu] = (struct vt_spool){.fd = -1, .raw = -1};
	for (int cpu = 0; cpu < nr_cpus && a->used; cpu++) {
		char *name = vt_malloc(strlen(out.part) + 32);

		sprintf(name, "%s.%02u.cpu%03d", out.part, (unsigned)number, cpu); /* so that names sort */
		if (vt_spool_open(&a->buffer.cpus[cpu], name, a->name, cpu) < 0)
			vt_die_errno(1, "trace_pipe_raw");
		a->buffer.cpus[cpu].max = ((unsigned long)opt.max * 1024 + VT_TRACE_PAGE - 1) / VT_TRACE_PAGE;
		free(name);
	}
}

/* Switch recording on or off, in all arrays that are used. */
static void set_tracing(bool on)
{
	for (size_t i = 0; i < nr_arrays; i++)
		if (arrays[i].used)
			vt_tracefs_set(arrays[i].name, "tracing_on", on ? "1" : "0", O_TRUNC, NULL);
}

/*
 * Take the pages there are, of all CPUs. Returns whether all found a place; if not (the disk is full),
 * the rest stays in the kernel's buffers. `rest`: also take pages that are not full yet.
 */
static bool take(bool rest)
{
	for (size_t i = 0; i < nr_arrays; i++)
		for (int cpu = 0; cpu < nr_cpus && arrays[i].used && arrays[i].buffer.cpus; cpu++)
			if (vt_spool_take(&arrays[i].buffer.cpus[cpu], rest) < 0)
				return false;
	return true;
}

/* Sleep until a buffer has pages to take, if they are wanted, or for the interval that was asked for, or a signal. */
static void wait_pages(bool wanted)
{
	static struct pollfd fds[MAX_ARRAYS * 64];
	static const sigset_t none;
	const struct timespec interval = {opt.interval / 1000000, opt.interval % 1000000 * 1000};
	nfds_t n = 0;

	for (size_t i = 0; i < nr_arrays && wanted && !opt.interval; i++)
		for (int cpu = 0; cpu < nr_cpus && arrays[i].used && arrays[i].buffer.cpus; cpu++)
			if (n < ARRAY_SIZE(fds))
				fds[n++] = (struct pollfd){.fd = arrays[i].buffer.cpus[cpu].raw, .events = POLLIN};
	ppoll(fds, n, wanted && opt.interval ? &interval : NULL, &none);
}

/* ---- The command */

/* The program's path; a name of no program ends us here, before anything is changed. */
static char *find_command(const char *name)
{
	char *path = vt_which(name);

	if (!path || access(path, X_OK) < 0)
		vt_die(1, "%s: %s", name, strerror(path ? errno : ENOENT));
	return path;
}

/* The child becomes the command when it can read a byte. Signals meanwhile end it. */
static void become(const char *path, char **argv, int go)
{
	char c;

	for (int sig = 1; sig < NSIG; sig++) {
		struct sigaction now;

		if (sigaction(sig, NULL, &now) == 0 && now.sa_handler != SIG_IGN && now.sa_handler != SIG_DFL)
			signal(sig, SIG_DFL);
	}
	hold_signals(false);
	if (vt_read(go, &c, 1) != 1)
		_exit(1); /* there is nothing to trace with */
	vt_execve(path, argv);
	vt_warn_errno(argv[0]);
	_exit(errno == ENOENT ? 127 : 126);
}

/*
 * Fork the command, which waits for a byte from the descriptor that is returned: its pid must be
 * known before tracing is set up, and it must not run before.
 */
static int start_command(const char *path, char **argv)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		vt_die_errno(1, "pipe");
	pid = fork();
	if (pid < 0)
		vt_die_errno(1, "fork");
	if (pid == 0) {
		close(ends[1]);
		become(path, argv, ends[0]);
	}
	close(ends[0]);
	command = pid;
	return ends[1];
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

/*
 * Switch recording on and let the command run. A signal that came while settings changed has been
 * held; it is taken here, and then the command does not begin.
 */
static void begin(int go)
{
	set_tracing(true);
	if (!command)
		fputs("Hit Ctrl^C to stop recording\n", stderr); /* trace-cmd's words */
	if (!command)
		return;
	hold_signals(false);
	hold_signals(true);
	if (interrupted)
		vt_die(128 + (int)interrupted, "signal %d: nothing was recorded", (int)interrupted);
	vt_write_all(go, "g", 1);
	close(go);
}

/*
 * Take pages until the command has ended, or until ^C without one. Returns false when the disk became
 * full: recording ends, but the command, which did not ask to be recorded, runs on to its own end.
 */
static bool record(int go)
{
	bool good = true;

	begin(go);
	while (!ended()) {
		wait_pages(good);
		if (good && !take(false)) {
			vt_warn("%s: %s: recording ends here", opt.output, strerror(errno));
			good = false;
			set_tracing(false);
			if (command <= 0)
				break;
		}
	}
	return good;
}

/* ---- The file */

/*
 * Write the file to a pipe or a port. That may wait for a reader without end, so signals are let in
 * and end it. Returns whether all was written; if not, the pages are still in their spools.
 */
static bool give_away(struct vt_dat *d, struct vt_dat_buffer *buffers)
{
	int ret;

	interrupted = 0;
	waiting = out.fd;
	hold_signals(false);
	ret = vt_dat_write(d, out.fd, buffers, nr_arrays, true);
	if (ret < 0)
		fcntl(out.fd, F_SETFL, O_WRONLY | O_NONBLOCK); /* so that close waits for nobody */
	if (close(out.fd) < 0)
		ret = -1;
	hold_signals(true);
	waiting = -1;
	if (interrupted)
		errno = EINTR;
	return ret == 0 && !interrupted;
}

/* To the place beside, in which there is room for all but the pages, and then to its name. */
static void write_beside(struct vt_dat *d, struct vt_dat_buffer *buffers, const char *name)
{
	if (vt_dat_write(d, out.part_fd, buffers, nr_arrays, false) == 0 && vt_out_rename(&out, name) == 0)
		return;
	in_pieces = true;
	vt_die(1, "%s: %s: what was recorded is in pieces, %s*", name, strerror(errno), out.part);
}

/*
 * Write the recording. A regular file is written beside its name and renamed when it is whole; a
 * pipe or a port gets it at once, and if nobody takes it there, it goes into a file after all.
 */
static void write_file(struct vt_dat *d, struct vt_dat_buffer *buffers)
{
	const char *why;
	char name[48];

	if (out.regular) {
		write_beside(d, buffers, out.dest);
	} else if (!give_away(d, buffers)) {
		why = strerror(errno);
		snprintf(name, sizeof(name), "%s.dat", out.part);
		write_beside(d, buffers, name);
		vt_die(1, "%s: %s: the trace is in %s", opt.output, why, name);
	}
}

/* For the message at the end. */
static unsigned long total_pages(void)
{
	unsigned long n = 0;

	for (size_t i = 0; i < nr_arrays; i++)
		for (int cpu = 0; cpu < nr_cpus && arrays[i].buffer.cpus; cpu++)
			n += arrays[i].buffer.cpus[cpu].pages;
	return n;
}

/*
 * Set tracing up as was asked for, and open the buffers. An error ends the program, and clean_up()
 * puts everything back.
 */
static void prepare(void)
{
	for (size_t i = 1; i < nr_arrays; i++) /* new ones get the options of the first */
		vt_tracefs_instance(arrays[i].name, !opt.extract);
	if (opt.extract)
		set_tracing(false);
	for (size_t i = 0; i < nr_arrays; i++) {
		if (arrays[i].used && !opt.extract)
			vt_wish_prepare(&arrays[i], opt.only_command ? command : 0,
					VT_WISH_RECORDER | (opt.children ? VT_WISH_CHILDREN : 0) |
						(opt.no_functions ? VT_WISH_NO_FUNCTIONS : 0));
		open_buffer(&arrays[i], i);
	}
}

/* A latency tracer's maximum, for which there is room before the tracer goes. Without, it stays, and so do pages. */
static void take_text(struct vt_array *a)
{
	int err;

	a->buffer.text = vt_tracefs_read_or_die(a->name, "trace");
	if (vt_out_more(&out, strlen(a->buffer.text)) == 0)
		return;
	err = errno;
	vt_tracefs_keep();
	vt_out_drop(&out);
	in_pieces = total_pages() > 0;
	vt_die(1, "%s: %s: the trace is in the buffers: trace-record -x takes it%s%s%s", opt.output, strerror(err),
	       in_pieces ? "; other buffers' pages are in " : "", in_pieces ? out.part : "", in_pieces ? ".*" : "");
}

/* The rest of the pages, and what the file says besides; then everything is as it was, whoever reads the file. */
static bool finish(struct vt_dat *d, struct vt_dat_buffer *buffers, bool good)
{
	if (good)
		set_tracing(false);
	if (good && !take(true)) {
		vt_warn("%s: %s", opt.output, strerror(errno));
		good = false;
	}
	for (size_t i = 0; i < nr_arrays; i++) {
		if (arrays[i].buffer.text)
			take_text(&arrays[i]);
		buffers[i] = arrays[i].buffer;
	}
	vt_dat_note(d, buffers, nr_arrays);
	each_spool(vt_spool_stop);
	if (!good) {
		vt_warn("the rest is in the buffers, and tracing stays as it is set: trace-record -x takes it");
		vt_tracefs_keep();
	}
	return vt_tracefs_restore() && good;
}

/*
 * The order is: what can fail without a trace; the lock; room on the disk; the command, which
 * waits; settings; recording; the file; settings back.
 */
static int run(char **argv)
{
	struct vt_dat_buffer buffers[MAX_ARRAYS];
	char *path = *argv ? find_command(*argv) : NULL;
	struct vt_dat *d;
	bool good = true;
	int go = -1, subbuf = 0;

	vt_tracefs_check();
	nr_cpus = vt_tracefs_cpus();
	for (size_t i = 0; i < nr_arrays; i++)
		subbuf = arrays[i].used ? vt_tracefs_same_subbuf(arrays[i].name, subbuf) : subbuf;
	d = vt_dat_new(opt.version, nr_cpus, subbuf ?: VT_TRACE_PAGE);
	vt_out_open(&out, opt.output);
	catch_signals();
	vt_trace_lock(1);
	vt_out_reserve(&out, vt_dat_room(d));
	if (path)
		go = start_command(path, argv);
	prepare();
	if (!opt.extract)
		good = record(go);
	good = finish(d, buffers, good);
	write_file(d, buffers);
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
	"  -f FILTER    of the -e before it only records for which this holds, as in its file `filter`\n"
	"  -R TRIGGER   a trigger for the -e before it; -v the events of each -e after it are off (its -R works)\n"
	"  -k MODULE    of -l and -n only this module's functions; -d none in latency tracers\n"
	"  -T           a stack behind each event; -D DEPTH a graph no deeper; -M MASK only these CPUs (3: 0 and 1)\n"
	"  -F           only the command and its children; -s: without these\n"
	"  -t PID       only this task, again for more; -c: and their children\n"
	"  -x           only take what is in the buffers, as tracing is set up now; -6: in the older version 6\n"
	"  -o FILE      in place of trace.dat; it may be a pipe or a port\n"
	"  -P PORT      to the virtio port of that name, and so into a file of the host\n"
	"  -q           say nothing when all is well\n"
	"  -m KB        keep only the newest so many of a CPU; -i USEC look for pages so often, not by half buffers\n"
	"  Without a command it records until ^C. Settings are put back. The exit status is the command's, or 1 and a\n"
	"  message when something else failed.\n";

/* The instance of this name, added to those to record. */
static struct vt_array *find_array(const char *name)
{
	for (size_t i = 1; i < nr_arrays; i++)
		if (!strcmp(arrays[i].name, name))
			return &arrays[i];
	if (nr_arrays == MAX_ARRAYS)
		vt_die(1, "more than %d instances", MAX_ARRAYS - 1);
	arrays[nr_arrays].name = name;
	return &arrays[nr_arrays++];
}

static void add_wish(struct vt_array *a, int letter, const char *text)
{
	vt_wish_add(a, letter, text);
	if (letter == 'e')
		a->events = true;
}

/* Note an option that is only given or not. Returns whether the letter is one. */
static bool take_flag(int c)
{
	static const struct {
		char letter;
		bool *flag;
	} flags[] = {{'x', &opt.extract},  {'F', &opt.only_command}, {'s', &opt.alone},
		     {'c', &opt.children}, {'q', &opt.quiet},	     {'d', &opt.no_functions}};

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (flags[i].letter == c)
			return *flags[i].flag = true;
	return false;
}

/* Options into `opt` and into wishes. As in trace-cmd, what follows -B belongs to that instance. */
static void parse(struct vt_options *o, int argc, char **argv)
{
	struct vt_array *a = &arrays[0];
	int c;

	while ((c = vt_option(o, argc, argv)) != -1) {
		switch (c) {
		case '6':
			opt.version = 6;
			break;
		case 'T':
			vt_wish_add(a, 'O', "stacktrace");
			break;
		case 'i':
			opt.interval = vt_number_or_die(1, o->arg, 0, INT_MAX);
			break;
		case 'm':
			opt.max = vt_number_or_die(1, o->arg, 1, INT_MAX);
			break;
		case 'o':
			opt.output = o->arg;
			break;
		case 'P':
			opt.output = vt_out_port(o->arg);
			break;
		case 'B':
			a = find_array(o->arg);
			break;
		case 'p':
			a->tracer = o->arg;
			a->used = true;
			break;
		default:
			if (!take_flag(c))
				add_wish(a, c, o->arg);
		}
	}
}

/* What the options mean together. Does not return if there is nothing to record, or if they contradict each other. */
static void check(const struct vt_options *o, int argc)
{
	bool something = opt.extract, tracer = false;

	for (size_t i = 0; i < nr_arrays; i++) {
		something |= arrays[i].tracer || arrays[i].events;
		tracer |= arrays[i].tracer != NULL;
		arrays[i].used |= i > 0 || opt.extract;
	}
	if (!something)
		vt_die(1, "nothing to record: -p TRACER, -e EVENT, or -x for what is there");
	if (opt.only_command && o->index == argc)
		vt_die(1, "-F wants a command");
	if (opt.alone && !opt.only_command)
		vt_die(1, "-s wants -F");
	opt.children |= opt.only_command && !opt.alone;
	if (opt.extract && (o->index < argc || vt_wish_count() || tracer))
		vt_die(1, "-x takes what is there: no command, and nothing to set");
}

int main(int argc, char **argv)
{
	struct vt_options o = {
		.usage = "trace-record [-6cdFqsTvx] [-p TRACER] [-e EVENT [-f FILTER] [-R TRIGGER]] [-l FUNC] "
			 "[-n FUNC] [-g FUNC] [-k MODULE] [-O OPTION] [-C CLOCK] [-D DEPTH] [-M MASK] [-t PID] "
			 "[-b KB] [-m KB] [-i USEC] [-B NAME ...] "
			 "[-o FILE | -P PORT] [-- COMMAND [ARG...]]",
		.options = "6cdFqsTvxp:e:f:R:l:n:g:k:O:C:D:M:t:b:m:i:B:o:P:",
		.help = help,
		.in_order = true,
		.bad_status = 1};

	parse(&o, argc, argv);
	check(&o, argc);
	atexit(clean_up);
	return run(argv + o.index);
}
