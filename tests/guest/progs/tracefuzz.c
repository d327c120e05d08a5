/*
 * tracefuzz MILLISECONDS LIMIT [SEED]: does every write to tracefs, and every read, come to its end?
 *
 * Four writers put random settings into random control files, two readers read what there is to read, all at
 * once and without regard for each other. Each notes what it is at and since when. The parent looks on: an
 * operation that takes longer than LIMIT milliseconds of the guest's clock has hung, or as good as. It is
 * told with what everybody else was at. Afterwards each must finish what it was at, within the same limit.
 *
 * The working directory is tracefs. Nothing is chosen that prints records on the console.
 */
#include <check.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define WRITERS	      4
#define READERS	      2
#define MAX_READS     64 /* of one file, which may grow as fast as it is read */
#define TEXT_MAX      96
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static struct shared {
	volatile int stop;
	struct at {
		volatile long since; /* ns, 0: between two operations */
		volatile unsigned long done;
		volatile long longest;
		char what[TEXT_MAX], longest_what[TEXT_MAX]; /* whose time `longest` is */
	} at[WRITERS + READERS];
} * shared;

/* A file, and what may be written to it. NULL ends the texts. */
static const struct setting {
	const char *file;
	const char *texts[14];
} settings[] = {
	{"current_tracer",
	 {"function", "function_graph", "nop", "irqsoff", "preemptirqsoff", "wakeup", "sched_switch"}},
	{"trace_clock", {"local", "global", "counter", "uptime", "mono", "tai"}},
	{"set_ftrace_filter",
	 {"*:snapshot", "!*:snapshot", "*", "", "vfs_*", "*lock*", "schedule:traceoff:5", "!schedule:traceoff:0",
	  "*:stacktrace:9", "!*:stacktrace:0", "vfs_*:enable_event:sched:sched_switch",
	  "!*:enable_event:sched:sched_switch", "*sched*:snapshot:3"}},
	{"set_ftrace_notrace", {"", "*rcu*", "do_*"}},
	{"set_graph_function", {"", "vfs_read", "schedule"}},
	{"events/enable", {"0", "1"}},
	{"events/sched/enable", {"0", "1", "x"}},
	{"set_event", {"", "sched: irq:", "!sched:", "syscalls:*read*", "nosuch"}},
	{"events/sched/sched_switch/trigger",
	 {"snapshot", "!snapshot", "traceon", "!traceon", "stacktrace:7", "!stacktrace",
	  "enable_event:irq:irq_handler_entry"}},
	{"events/sched/sched_waking/filter", {"pid > 3", "0", "nosuch == 1"}},
	{"snapshot", {"0", "1", "2"}},
	{"per_cpu/cpu1/snapshot", {"1", "2"}},
	{"buffer_size_kb", {"8", "64", "300"}},
	{"trace", {""}},
	{"tracing_on", {"0", "1", "1"}},
	{"tracing_cpumask", {"f", "3", "c"}},
	{"function_profile_enabled", {"0", "1"}},
	{"max_graph_depth", {"0", "2"}},
	{"set_ftrace_pid", {"", "1"}},
	{"options/function-trace", {"0", "1"}},
	{"options/latency-format", {"0", "1"}},
	{"options/pause-on-trace", {"0", "1"}},
	{"options/stacktrace", {"0", "1"}},
	{"options/overwrite", {"0", "1"}},
	{"options/funcgraph-irqs", {"0", "1"}},
	{"options/event-fork", {"0", "1"}},
	{"saved_cmdlines_size", {"3", "128"}},
	{"instances/fuzz/events/enable", {"0", "1"}},
	{"instances/fuzz/current_tracer", {"function", "nop"}},
};

static const char *const readable[] = {
	"trace",
	"trace",
	"trace_pipe",
	"per_cpu/cpu0/trace",
	"per_cpu/cpu1/trace_pipe",
	"per_cpu/cpu2/trace_pipe_raw",
	"snapshot",
	"set_ftrace_filter",
	"enabled_functions",
	"set_event",
	"trace_stat/function0",
	"per_cpu/cpu3/stats",
	"saved_cmdlines",
	"events/sched/sched_switch/trigger",
	"latency_trace",
	"instances/fuzz/trace",
};

static unsigned long seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005ul + 1442695040888963407ul;
	return (seed >> 33) % n;
}

static void begin(struct at *at, const char *verb, const char *file, const char *text)
{
	snprintf(at->what, sizeof(at->what), "%s %s '%s'", verb, file, text);
	at->since = check_now();
}

static void end(struct at *at)
{
	long took = check_now() - at->since;

	if (took > at->longest) {
		at->longest = took;
		memcpy(at->longest_what, at->what, sizeof(at->what));
	}
	at->since = 0;
	at->done++;
}

/* What the kernel says to it is not our subject. */
static void write_something(struct at *at)
{
	const struct setting *s = &settings[below(ARRAY_SIZE(settings))];
	unsigned n = 0;
	const char *text;
	int fd;

	while (n < ARRAY_SIZE(s->texts) && s->texts[n])
		n++;
	text = s->texts[below(n)];
	begin(at, "write", s->file, text);
	fd = open(s->file, O_WRONLY | (below(2) ? O_TRUNC : O_APPEND));
	if (fd >= 0) {
		if (write(fd, text, strlen(text)) < 0 || write(fd, "\n", 1) < 0)
			errno = 0;
		close(fd);
	}
	end(at);
}

static void make_or_remove(struct at *at)
{
	bool make = below(2);

	begin(at, make ? "mkdir" : "rmdir", "instances/fuzz", "");
	if ((make ? mkdir("instances/fuzz", 0700) : rmdir("instances/fuzz")) < 0)
		errno = 0;
	end(at);
}

static void writer(struct at *at)
{
	while (!shared->stop)
		if (below(24))
			write_something(at);
		else
			make_or_remove(at);
}

static void reader(struct at *at)
{
	static char page[4096];

	while (!shared->stop) {
		const char *file = readable[below(ARRAY_SIZE(readable))];
		int fd, reads = MAX_READS;

		begin(at, "open", file, "");
		fd = open(file, O_RDONLY | O_NONBLOCK);
		end(at);
		while (fd >= 0 && reads-- && !shared->stop) {
			long n;

			begin(at, "read", file, "");
			n = read(fd, page, sizeof(page));
			end(at);
			if (n <= 0)
				break;
		}
		if (fd >= 0)
			close(fd);
	}
}

/* Everybody's state, for who has to find out why. */
static void tell(const char *why, long now)
{
	printf("%s\n", why);
	for (unsigned i = 0; i < WRITERS + READERS; i++) {
		const struct at *at = &shared->at[i];

		printf("%u: %lu done; %s for %ld ms\n", i, at->done, at->since ? at->what : "nothing",
		       at->since ? (now - at->since) / 1000000 : 0);
	}
	fflush(stdout);
}

/* 0, or what is wrong was told. */
static int look_on(long until, long limit)
{
	for (long now = check_now(); now < until; now = check_now()) {
		for (unsigned i = 0; i < WRITERS + READERS; i++) {
			long since = shared->at[i].since;

			if (since && now - since > limit) {
				tell("an operation does not come to its end:", now);
				return 1;
			}
		}
		check_sleep(5000000);
	}
	return 0;
}

static void start(unsigned i)
{
	if (check_fork())
		return;
	seed = seed * 31 + i + 1;
	if (i < WRITERS)
		writer(&shared->at[i]);
	else
		reader(&shared->at[i]);
	_exit(0);
}

/* All that were told to stop have done so. 0, or it was told. */
static int all_end(long limit)
{
	long until = check_now() + limit;
	unsigned ended = 0;
	int status;

	while (ended < WRITERS + READERS) {
		pid_t pid = waitpid(-1, &status, WNOHANG);

		if (pid > 0)
			ended++;
		else if (check_now() > until) {
			tell("not all end:", check_now());
			return 1;
		} else
			check_sleep(1000000);
	}
	return 0;
}

int main(int argc, char **argv)
{
	long ms = argc > 2 ? atol(argv[1]) : 0, limit = argc > 2 ? atol(argv[2]) * 1000000 : 0, longest = 0;
	unsigned long done = 0;
	const char *what = "";
	int failed;

	if (ms <= 0 || limit <= 0) {
		fprintf(stderr, "usage: tracefuzz MILLISECONDS LIMIT [SEED]\n");
		return 2;
	}
	seed = argc > 3 ? strtoul(argv[3], NULL, 0) : 1;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	for (unsigned i = 0; i < WRITERS + READERS; i++)
		start(i);
	failed = look_on(check_now() + ms * 1000000, limit);
	shared->stop = 1;
	failed |= all_end(limit);
	for (unsigned i = 0; i < WRITERS + READERS; i++) {
		done += shared->at[i].done;
		if (shared->at[i].longest >= longest) {
			longest = shared->at[i].longest;
			what = shared->at[i].longest_what;
		}
	}
	printf("%lu operations, the longest took %ld us: %s\n", done, longest / 1000, what);
	return failed;
}
