/*
 * chrt [-f|-r|-o|-b|-i|-d] [-R] [-v] [-T NS] [-D NS] [-P NS] PRIORITY COMMAND [ARG...]
 * chrt [-f...] [-R] [-a] [-v] -p [PRIORITY] PID
 * chrt -m | -V | -h
 *
 * Show or set a scheduling policy, of a process or for a command. -R: children do not inherit it. -a: all threads.
 *
 * -d takes three times in nanoseconds: in each period (-P, --sched-period) the process gets so much CPU time
 * (-T, --sched-runtime), at the latest so long after the period began (-D, --sched-deadline). Without -D it is the
 * period, and without -T the deadline.
 *
 * The words are util-linux's. Left out: getting away without PRIORITY for -o, -b, -i and -d (give 0).
 *
 *     policy      priority      runs
 *     DEADLINE    -             before all others, so much in each period
 *     FIFO, RR    1 to 99       before all below, until it sleeps; RR takes turns with its equals
 *     OTHER       0 (nice)      shares the CPU;  BATCH the same, IDLE with what is left
 */
#include <vt.h>
#include <limits.h>
#include <sched.h>
#include <sys/resource.h>

/* In the order of util-linux's -m. */
static const struct policy {
	char letter;
	int policy;
	const char *name;
} policies[] = {
	{'o', SCHED_OTHER, "SCHED_OTHER"}, {'f', SCHED_FIFO, "SCHED_FIFO"}, {'r', SCHED_RR, "SCHED_RR"},
	{'b', SCHED_BATCH, "SCHED_BATCH"}, {'i', SCHED_IDLE, "SCHED_IDLE"}, {'d', SCHED_DEADLINE, "SCHED_DEADLINE"},
};

static const struct vt_long_option long_options[] = {
	{"other", 'o'},
	{"fifo", 'f'},
	{"rr", 'r'},
	{"batch", 'b'},
	{"idle", 'i'},
	{"deadline", 'd'},
	{"sched-runtime", 'T'},
	{"sched-deadline", 'D'},
	{"sched-period", 'P'},
	{"reset-on-fork", 'R'},
	{"all-tasks", 'a'},
	{"max", 'm'},
	{"pid", 'p'},
	{"verbose", 'v'},
	{"version", 'V'},
	{NULL, 0}, /* --help is everybody's */
};

static const char usage[] = "chrt [-f|-r|-o|-b|-i|-d] [-Rv] [-T NS] [-D NS] [-P NS] PRIORITY COMMAND [ARG...] | "
			    "chrt [-f...] [-av] -p [PRIORITY] PID | chrt -m";
static const char help[] =
	"  -f, --fifo             real time, until it sleeps or one of higher priority (1 to 99) comes\n"
	"  -r, --rr               the same, in turns with those of its priority; the default\n"
	"  -o, --other            ordinary time sharing; PRIORITY is 0, here and below\n"
	"  -b, --batch            the same for work that nobody waits for\n"
	"  -i, --idle             when nobody else wants the CPU\n"
	"  -d, --deadline         so much CPU time in each period\n"
	"  -T, --sched-runtime NS    -d: how much, in nanoseconds, 1024 at least; by default the deadline\n"
	"  -D, --sched-deadline NS   -d: how long after the period's beginning at the latest; by default the period\n"
	"  -P, --sched-period NS     -d: how long a period is; by default the deadline\n"
	"  -R, --reset-on-fork    children begin as ordinary tasks\n"
	"  -a, --all-tasks        -p: all threads of the process\n"
	"  -p, --pid              show, or set, the policy of a process that runs\n"
	"  -m, --max              show the priorities of each policy\n"
	"  -v, --verbose          show the policy that was set (-p: the old one too)\n"
	"  -h, --help             this\n"
	"  -V, --version          the version\n";

/* What the command line asks for; all but the flags goes to the kernel as it is. */
static struct sched_attr wanted = {.size = sizeof(wanted), .sched_policy = SCHED_RR}; /* the real one's default too */
static bool verbose;

/* Show a task's policy in util-linux's words; pid 0 is this process. `when` is "current" or "new". */
static void show(int pid, const char *when)
{
	struct sched_attr attr;
	const char *name = "unknown";

	if (sched_getattr(pid, &attr, sizeof(attr), 0) < 0)
		vt_die(1, "failed to get pid %d's policy: %s", pid, strerror(errno));
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		if (policies[i].policy == (int)attr.sched_policy)
			name = policies[i].name;
	}
	if (pid == 0)
		pid = getpid();
	printf("pid %d's %s scheduling policy: %s%s\n", pid, when, name,
	       attr.sched_flags & SCHED_FLAG_RESET_ON_FORK ? "|SCHED_RESET_ON_FORK" : "");
	printf("pid %d's %s scheduling priority: %u\n", pid, when, attr.sched_priority);
	if (attr.sched_policy == SCHED_DEADLINE)
		printf("pid %d's %s runtime/deadline/period parameters: %lu/%lu/%lu\n", pid, when, attr.sched_runtime,
		       attr.sched_deadline, attr.sched_period);
}

/* The lowest and highest priority of each policy. */
static void show_limits(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		int min = sched_get_priority_min(policies[i].policy), max = sched_get_priority_max(policies[i].policy);

		/* A kernel may lack a policy; the others are shown all the same. */
		if (min < 0 || max < 0)
			printf("%s not supported?\n", policies[i].name);
		else
			printf("%s min/max priority\t: %d/%d\n", policies[i].name, min, max);
	}
}

/*
 * Set what is wanted, or end the program. The kernel says no more than EINVAL of times that do not fit
 * together, so the reason is worked out here.
 */
static void set(int pid)
{
	const char *fault = NULL;
	int err;

	/* The call sets the nice value as well, which is to stay. Where it cannot be asked for, the call fails too. */
	wanted.sched_nice = getpriority(PRIO_PROCESS, (id_t)pid);
	if (sched_setattr(pid, &wanted, 0) == 0)
		return;
	err = errno;
	if (err == EINVAL && wanted.sched_policy == SCHED_DEADLINE)
		fault = vt_deadline_fault(&wanted);
	vt_die(1, "failed to set pid %d's policy: %s%s%s", pid, strerror(err), fault ? ": " : "", fault ? fault : "");
}

static void show_current(int pid)
{
	show(pid, "current");
}

static void change(int pid)
{
	if (verbose)
		show(pid, "current");
	set(pid);
	if (verbose)
		show(pid, "new");
}

/* Each thread of a process, or only the one. */
static void each_thread(int pid, bool all, void (*work)(int tid))
{
	char path[32], **names;

	if (!all) {
		work(pid);
		return;
	}
	sprintf(path, "/proc/%d/task", pid ? pid : getpid());
	names = vt_names(path);
	if (!names)
		vt_die(1, "cannot obtain the list of tasks: %s", strerror(errno));
	for (char **name = names; *name; name++)
		work(atoi(*name));
	vt_names_free(names);
}

/* A time in nanoseconds; all that 64 bits hold is taken, and the kernel refuses what is too long. */
static unsigned long nanoseconds(const char *text)
{
	unsigned long ns;
	char *end;

	errno = 0;
	ns = strtoul(text, &end, 0);
	if (end == text || *end || strchr(text, '-'))
		vt_die(1, "invalid number '%s'", text);
	if (errno == ERANGE)
		vt_die(1, "number '%s' is too large", text);
	return ns;
}

/*
 * A priority that the policy allows, checked before anything is changed, in util-linux's words. If the
 * kernel does not have the policy, that comes out later.
 */
static unsigned int priority(const char *text)
{
	int min = sched_get_priority_min((int)wanted.sched_policy),
	    max = sched_get_priority_max((int)wanted.sched_policy);
	long n = vt_number_or_die(1, text, INT_MIN, INT_MAX);

	if (min >= 0 && max >= 0 && (n < min || n > max))
		vt_die(1, "unsupported priority value for the policy: %ld: see --max for valid range", n);
	return (unsigned int)n;
}

/* A letter other than m, a and p. */
static void take_option(int letter, const char *arg)
{
	switch (letter) {
	case 'R':
		wanted.sched_flags |= SCHED_FLAG_RESET_ON_FORK;
		return;
	case 'v':
		verbose = true;
		return;
	case 'T':
		wanted.sched_runtime = nanoseconds(arg);
		return;
	case 'D':
		wanted.sched_deadline = nanoseconds(arg);
		return;
	case 'P':
		wanted.sched_period = nanoseconds(arg);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		if (policies[i].letter == letter)
			wanted.sched_policy = (unsigned int)policies[i].policy;
	}
}

/*
 * Fill in what was not given: the deadline is the period, and the runtime the deadline. A period of 0
 * is the deadline to the kernel.
 */
static void complete_deadline(void)
{
	if (wanted.sched_policy != SCHED_DEADLINE) {
		if (wanted.sched_runtime || wanted.sched_deadline || wanted.sched_period)
			vt_die(1, "--sched-{runtime,deadline,period} options are supported for SCHED_DEADLINE only");
		return;
	}
	if (!wanted.sched_deadline)
		wanted.sched_deadline = wanted.sched_period;
	if (!wanted.sched_runtime)
		wanted.sched_runtime = wanted.sched_deadline;
}

/* -p with its operands: PID shows the policy, PRIORITY PID sets it. */
static int of_process(char **operands, int left, bool all)
{
	int pid = (int)vt_number_or_die(1, operands[left - 1], 0, INT_MAX);

	if (left > 1) {
		complete_deadline();
		wanted.sched_priority = priority(operands[0]);
	}
	each_thread(pid, all, left > 1 ? change : show_current);
	return vt_finish(0);
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = usage,
			       .options = "ofrbidT:D:P:RapmvVh",
			       .longs = long_options,
			       .help = help,
			       .in_order = true,
			       .bad_status = 1};
	bool process = false, all = false;
	int left, c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'm') {
			show_limits();
			return vt_finish(0);
		}
		if (c == 'V') {
			printf("chrt from Vitrine\n");
			return vt_finish(0);
		}
		if (c == 'h')
			vt_help(&o);
		process |= c == 'p';
		all |= c == 'a';
		take_option(c, o.arg);
	}
	left = argc - o.index;
	if (left < (process ? 1 : 2) || (process && left > 2))
		vt_usage(&o);
	if (process)
		return of_process(argv + o.index, left, all);
	complete_deadline();
	wanted.sched_priority = priority(argv[o.index]);
	set(0);
	if (verbose) {
		show(0, "new");
		fflush(stdout); /* the command's output comes behind */
	}
	vt_exec(argv + o.index + 1);
}
