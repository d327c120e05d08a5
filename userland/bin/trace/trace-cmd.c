/*
 * trace-cmd COMMAND [OPTION...]: trace-cmd's words and options, done by trace-record, trace-show,
 * trace-stat and the files of tracefs. What they do not have is refused by name.
 *
 *     trace-cmd record -e sched -F ls     becomes     trace-record -e sched -F -s -- ls
 *     trace-cmd stop -B mine              writes      0 to instances/mine/tracing_on
 *
 * A command is a function in the table `commands`. It either writes files itself, or gathers words
 * in `run` and becomes the program that does the work (become). report, list, stack and check-events are in the
 * library. All words of a line are looked at before anything is written.
 *
 * Left out: the commands in `debians`, dynamic events, guests and the network; of record the options -D -G -H -i -k -N
 * -r -S and most long ones.
 */
#include <vt_report.h>
#include <limits.h>
#include <sys/wait.h>

static const char help[] =
	"  record   [-p TRACER] [-e EVENT [-f FILTER]] [OPTION...] [COMMAND]  into trace.dat, until its end or ^C\n"
	"  start, set       the same options: set tracing up and go on (start [COMMAND]: run it then); set leaves\n"
	"                   what is there as it is\n"
	"  stop, restart    recording off, on; clear: empty the buffer; reset: all of tracing as after booting\n"
	"  extract  [-o FILE]         what the buffer holds into trace.dat\n"
	"  report   [-i FILE] [-Nlt] [--cpu N] [-F EVENT]  trace.dat as text\n"
	"  show     [-pfs] [-c CPU]   the buffer as text; -p as it comes, -s the snapshot, -f with the file's name\n"
	"  snapshot [-srf] [-c CPU]   show the snapshot; -s take one, -r empty it, -f free it\n"
	"  stat               how tracing is set up, and what the buffers hold\n"
	"  list     [-e|-f [REGEX]] [-F] [-tpoBC] events (-F formats), functions, tracers, options, instances, clocks\n"
	"  stack    [--start|--stop|--reset] the deepest stack since the start of its tracer; check-events: are all\n"
	"                   formats of events understood?\n"
	"  Options of record, start and set: -l -n -g FUNCTION, --module MODULE (-l and -n are of it), -O OPTION,\n"
	"  -R TRIGGER (of the -e before it), -v (the events of each -e after it are off), -d (latency tracers without\n"
	"  functions), -C CLOCK, -b KB, -M MASK, -B INSTANCE, -P PID, -c (with -P or -F: children too), -T (stacks),\n"
	"  -a (all events), --max-graph-depth N. Of record alone: -F (only COMMAND), -o FILE, -m KB (the newest of a\n"
	"  CPU), -s USEC (look for pages so often), -q. All but list, record, report, stack and check-events take\n"
	"  -B INSTANCE, and -a for all of them. Other commands of trace-cmd need Debian's: make debian-root\n";

static const struct vt_long_option longs[] = {{"max-graph-depth", '1'}, {"module", '2'}, {NULL, 0}};

static struct vt_options o = {
	.usage = "trace-cmd COMMAND [OPTION...]", .longs = longs, .help = help, .in_order = true, .bad_status = 1};

/*
 * The words of the command line behind "trace-cmd": argv[0] is the command's name. They are not
 * main()'s, because every command needs them.
 */
static int argc;
static char **argv;

static struct {
	const char *names[16];
	size_t n;
} chosen;

/* ---- Instances */

/*
 * One more instance that the command is about; NULL is the buffer that is always there. Ends the
 * program when there is no such instance.
 */
static void choose(const char *name)
{
	if (chosen.n == ARRAY_SIZE(chosen.names))
		vt_die(1, "more than %d instances", (int)ARRAY_SIZE(chosen.names));
	if (name)
		vt_tracefs_instance(name, false);
	chosen.names[chosen.n++] = name;
}

/* -a: the buffer that is always there, and each instance. */
static void choose_all(void)
{
	char *path = vt_tracefs_path(NULL, "instances"), **names = vt_names(path);

	chosen.n = 0;
	choose(NULL);
	for (char **name = names; name && *name; name++)
		choose(*name);
	free(path);
}

/*
 * The options of the short commands: -a (all instances) and -B NAME are done here. Returns the next
 * letter of `more`, or -1 at the end. Without -a and -B the command is about the buffer that is always
 * there.
 */
static int short_option(const char *more)
{
	static char letters[32];
	int c;

	snprintf(letters, sizeof(letters), "haB:%s", more);
	o.options = letters;
	while ((c = vt_option(&o, argc, argv)) != -1 && strchr("haB", c)) {
		if (c == 'h')
			vt_help(&o);
		if (c == 'a')
			choose_all();
		else
			choose(o.arg);
	}
	if (c == -1 && o.index < argc)
		vt_die(1, "%s does not take '%s'", argv[0], argv[o.index]);
	if (c == -1 && !chosen.n)
		choose(NULL);
	return c;
}

/* Write a text to this file of each instance that was chosen; the first error ends the program. */
static void each_chosen(const char *file, const char *text)
{
	for (size_t i = 0; i < chosen.n; i++)
		if (vt_tracefs_write(chosen.names[i], file, text, O_TRUNC) < 0)
			vt_die_errno(1, file);
}

/* ---- Other programs */

/* The words of a program that does the command's work. */
static struct {
	char *word[128];
	int n;
} run;

/* One more word for the program that does the work. It must outlive become(). */
static void add(const char *word)
{
	if (run.n == (int)ARRAY_SIZE(run.word) - 1)
		vt_die(1, "more than %d words", run.n);
	run.word[run.n++] = (char *)word;
}

/* An option, with its argument if it takes one. */
static void add_option(char letter, const char *argument)
{
	char *option = vt_malloc(3);

	sprintf(option, "-%c", letter);
	add(option);
	if (argument)
		add(argument);
}

/*
 * Turn into the program that does the work. It is found by its own name but called "trace-cmd record"
 * in argv[0], as its messages begin with that: the user has not asked for a trace-record.
 */
static void become(void) __attribute__((noreturn));
static void become(void)
{
	char *path = vt_which(run.word[0]), ours[32];

	if (!path)
		vt_die_errno(127, run.word[0]);
	snprintf(ours, sizeof(ours), "trace-cmd %s", argv[0]);
	run.word[0] = ours;
	add(NULL);
	vt_execve(path, run.word);
	vt_die_errno(126, path);
}

/* ---- record, start, set */

/*
 * The letters are those of trace-cmd's own record; a colon stands behind those that take an argument,
 * and digits are ours for long options without a letter (`longs`).
 */
#define SETTINGS       "hae:f:R:vp:cC:dO:g:l:n:P:b:B:TM:m:s:1:2:"
#define RECORD_OPTIONS SETTINGS "Fo:q"

/*
 * One option of record, start or set, as a letter of trace-record's: for record (no array) into its words, else into
 * the wishes for the array that the last -B named.
 */
static void take_option(struct vt_array *a, int c)
{
	static const struct {
		char letter, other;
		const char *text; /* NULL: the option's own argument */
	} others[] = {{'a', 'e', "all"}, {'T', 'O', "stacktrace"}, {'P', 't', NULL},
		      {'1', 'D', NULL},	 {'2', 'k', NULL},	   {'s', 'i', NULL}};
	static bool off;
	const char *text = o.arg;

	if (c == 'h')
		vt_help(&o);
	if (c == 'p')
		printf("  plugin '%s'\n", text);
	off |= c == 'v';
	if (c == 'B' && off)
		vt_die(1, "-B after -v deletes an instance: rmdir " VT_TRACING "/instances/%s does", text);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (others[i].letter != c)
			continue;
		c = others[i].other;
		text = others[i].text ?: text;
		break;
	}
	if (!a) {
		add_option((char)c, strchr("cdFqv", c) ? NULL : text);
	} else if (c == 'p') {
		a->tracer = text;
		a->used = true;
	} else if (c != 'B') {
		vt_wish_add(a, c, text);
	}
}

/*
 * record: trace-record does it. What has been printed so far is flushed, since become() does not
 * come back.
 */
static int do_record(void)
{
	bool only = false, children = false;
	int c;

	add("trace-record");
	o.options = RECORD_OPTIONS;
	while ((c = vt_option(&o, argc, argv)) != -1) {
		only |= c == 'F';
		children |= c == 'c';
		take_option(NULL, c);
	}
	/* Children follow a command that is chosen unless they are not wanted: here the other way round. */
	if (only && !children)
		add("-s");
	add("--");
	for (; o.index < argc; o.index++)
		add(argv[o.index]);
	if (vt_finish(0))
		return 1;
	become();
}

/*
 * For atexit(): an error on the way puts back what was changed before it. vt_tracefs_keep() ends
 * that.
 */
static void restore(void)
{
	vt_tracefs_restore();
}

/* What start was given to run when all is set up; tracing goes on after it. The status is the command's. */
static int run_command(char *const words[])
{
	int status;

	if (vt_finish(0))
		return 1;
	if (vt_run(words, &status) < 0)
		vt_die_errno(1, words[0]);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/*
 * The options of start and set, for up to `max` arrays: the first is the buffer that is always there, and each -B
 * begins another. Adds to *how, and returns how many arrays there are.
 */
static size_t take_settings(struct vt_array *arrays, size_t max, int *how)
{
	size_t nr = 1;
	int c;

	o.options = SETTINGS;
	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'm' || c == 's')
			vt_die(1, "only record takes -%c", c);
		if (c == 'c' || c == 'd')
			*how |= c == 'c' ? VT_WISH_CHILDREN : VT_WISH_NO_FUNCTIONS;
		else
			take_option(&arrays[nr - 1], c);
		if (c == 'B' && nr == max)
			vt_die(1, "more than %d instances", (int)nr - 1);
		if (c == 'B')
			arrays[nr++] = (struct vt_array){.name = o.arg, .used = true};
	}
	return nr;
}

/*
 * start (`how` is 0) and set (VT_WISH_ADD, which leaves what is there as it is). The options are read
 * to their end before anything changes. -B begins another instance: the options behind it are for that
 * one.
 *
 *     trace-cmd start -e sched -B mine -p function      sched events in the main buffer, functions in `mine`
 *
 * An error on the way puts everything back, until vt_tracefs_keep() says that the settings are to
 * stay.
 */
static int set_up(int how)
{
	static struct vt_array arrays[16];
	size_t nr = take_settings(arrays, ARRAY_SIZE(arrays), &how);

	if (o.index < argc && how & VT_WISH_ADD)
		vt_die(1, "%s takes no command ('%s'): record and start do", argv[0], argv[o.index]);
	atexit(restore);
	for (size_t i = 0; i < nr; i++) {
		if (arrays[i].name)
			vt_tracefs_instance(arrays[i].name, true);
		if (arrays[i].used || nr == 1)
			vt_wish_prepare(&arrays[i], 0, how);
	}
	for (size_t i = 0; i < nr && !(how & VT_WISH_ADD); i++)
		if (arrays[i].used || nr == 1)
			vt_tracefs_set(arrays[i].name, "tracing_on", "1", O_TRUNC, NULL);
	vt_tracefs_keep();
	return o.index < argc ? run_command(argv + o.index) : vt_finish(0);
}

static int do_start(void)
{
	return set_up(0);
}

static int do_set(void)
{
	return set_up(VT_WISH_ADD);
}

/* ---- stop, restart, clear, reset */

static int do_stop(void)
{
	short_option("");
	each_chosen("tracing_on", "0");
	return 0;
}

/* tracing_enabled is written as well: it is an older switch of the same kind, and off it would win. */
static int do_restart(void)
{
	short_option("");
	each_chosen("tracing_enabled", "1");
	each_chosen("tracing_on", "1");
	return 0;
}

/* Opening `trace` with O_TRUNC empties the buffer; nothing has to be written. */
static int do_clear(void)
{
	short_option("");
	each_chosen("trace", "");
	return 0;
}

/* reset: all CPUs are traced again; the mask has a bit for each. */
static int do_reset(void)
{
	char mask[24];
	int cpus = vt_tracefs_cpus();

	short_option("");
	snprintf(mask, sizeof(mask), "%lx", cpus < 64 ? (1UL << cpus) - 1 : ~0UL);
	for (size_t i = 0; i < chosen.n; i++)
		vt_tracefs_reset(chosen.names[i], mask);
	return 0;
}

/* ---- show, snapshot, stat, extract */

/* show: trace-show does it, for the first instance that was chosen. */
static int do_show(void)
{
	bool pipe = false, snapshot = false, name = false;
	const char *cpu = NULL;
	int c;

	while ((c = short_option("psfc:")) != -1) {
		pipe |= c == 'p';
		snapshot |= c == 's';
		name |= c == 'f';
		if (c == 'c')
			cpu = o.arg;
	}
	add("trace-show");
	if (pipe || snapshot)
		add(pipe ? "-p" : "-s");
	if (cpu)
		add_option('c', cpu);
	if (chosen.names[0])
		add_option('B', chosen.names[0]);
	if (name) {
		char *path = vt_tracefs_path(chosen.names[0], pipe ? "trace_pipe" : snapshot ? "snapshot" : "trace");

		printf("%s\n", path);
		if (vt_finish(0))
			return 1;
	}
	become();
}

/*
 * snapshot: with -s, -r or -f a number is written to the file, as the kernel documents it; without,
 * the snapshot is shown.
 */
static int do_snapshot(void)
{
	const char *text = NULL, *cpu = NULL;
	char file[48] = "snapshot";
	int c;

	while ((c = short_option("srfc:")) != -1) {
		if (c == 'c')
			cpu = o.arg;
		else
			text = c == 's' ? "1" : c == 'r' ? "2" : "0";
	}
	if (text && cpu)
		snprintf(file, sizeof(file), "per_cpu/cpu%ld/snapshot", vt_number_or_die(1, cpu, 0, INT_MAX));
	if (text) {
		each_chosen(file, text);
		return 0;
	}
	add("trace-show");
	add("-s");
	if (cpu)
		add_option('c', cpu);
	if (chosen.names[0])
		add_option('B', chosen.names[0]);
	become();
}

/* trace-stat shows one instance, or without -B all of them; several but not all is not possible. */
static int do_stat(void)
{
	bool all = chosen.n;

	short_option("");
	all = chosen.n > 1;
	add("trace-stat");
	if (chosen.names[0] && !all)
		add_option('B', chosen.names[0]);
	become();
}

/* extract: trace-record -x, which takes what the buffers hold and does not trace. */
static int do_extract(void)
{
	const char *output = NULL;

	while (short_option("o:") != -1)
		output = o.arg;
	add("trace-record");
	add("-x");
	if (output)
		add_option('o', output);
	for (size_t i = 0; i < chosen.n; i++)
		if (chosen.names[i])
			add_option('B', chosen.names[i]);
	become();
}

/* ---- */

/* A command is done here, or in the library. */
static const struct {
	const char *name;
	int (*work)(void);
	int (*library)(struct vt_options *o, int argc, char **argv);
} commands[] = {
	{"record", do_record, NULL},	  {"start", do_start, NULL},	  {"set", do_set, NULL},
	{"stop", do_stop, NULL},	  {"restart", do_restart, NULL},  {"reset", do_reset, NULL},
	{"clear", do_clear, NULL},	  {"show", do_show, NULL},	  {"snapshot", do_snapshot, NULL},
	{"stat", do_stat, NULL},	  {"extract", do_extract, NULL},  {"list", NULL, vt_list_main},
	{"report", NULL, vt_report_main}, {"stack", NULL, vt_stack_main}, {"check-events", NULL, vt_check_events_main},
};

/* Commands that only Debian's trace-cmd has. */
static const char *const debians[] = {"agent",	 "attach",  "convert", "dump",	      "hist",  "listen",  "mem",
				      "options", "profile", "restore", "setup-guest", "split", "sqlhist", "stream"};

/* Only `report` works without tracefs: it reads a file that may come from another machine. */
int main(int nr, char **words)
{
	const char *name = nr > 1 ? words[1] : "";

	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
		vt_help(&o);
	if (nr < 2) {
		fprintf(stderr, "Usage: %s\n%s", o.usage, o.help);
		return 1;
	}
	argc = nr - 1;
	argv = words + 1;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].name, name))
			continue;
		if (strcmp(name, "report"))
			vt_tracefs_check();
		return commands[i].work ? commands[i].work() : commands[i].library(&o, argc, argv);
	}
	for (size_t i = 0; i < ARRAY_SIZE(debians); i++)
		if (!strcmp(debians[i], name))
			vt_die(1, "%s: that needs Debian's: make debian-root", name);
	vt_die(1, "no command '%s' (try trace-cmd --help)", name);
}
