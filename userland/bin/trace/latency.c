/*
 * latency [-p PRIO] [-P POLICY] [-i USEC] [-l LOOPS] [-t THREADS] [-a CPUS] [-h USEC] [-q]: how
 * late periodic timers wake their threads, in microseconds, as cyclictest measures it.
 *
 *     next:  |----interval----|----interval----|          sleeps to an absolute time, so errors do not add up
 *     wakes:                   ^ now                      latency = now - next: timer, interrupt, scheduler
 *
 * Each thread sleeps to the end of every interval (1000 us) and looks at the clock when it runs
 * again. -P is other, fifo, rr or deadline; -p alone means fifo. A deadline thread may run a tenth
 * of its interval in each. -l: so many wake-ups, then an end; without, ^C ends it, and either way
 * the result is printed. -a: a list such as 0,2-3, whose CPUs the threads get in turn. -h: a
 * histogram of wake-ups up to USEC late. -q: nothing until the end.
 *
 * A thread is a process here, and results lie in memory that all share: each is written by its
 * thread alone and shown by the first process, which does not mind a number that is a moment old.
 * An interval that was slept through is left out, not made up for.
 */
#include <vt.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#define NSEC 1000000000L

/* What a thread has found: written by it alone, shown by all. In microseconds. */
struct result {
	pid_t pid;
	unsigned long cycles, overflows;
	long min, max, act;
	int64_t sum;
};

static const struct policy {
	const char *name;
	int number;
	bool has_priority;
} policies[] = {
	{"other", SCHED_OTHER, false},
	{"fifo", SCHED_FIFO, true},
	{"rr", SCHED_RR, true},
	{"deadline", SCHED_DEADLINE, false},
};

static struct {
	const struct policy *policy;
	long priority, interval, loops, threads, buckets;
	bool quiet, pinned;
	cpu_set_t cpus;
} opt = {.interval = 1000, .threads = 1};

#define MAX_THREADS 64

static struct result *results;	/* shared; one a thread */
static pid_t pids[MAX_THREADS]; /* of the threads that are there; 0: ended */
static unsigned int *histogram; /* shared; opt.buckets of each thread */

/* Runs in a thread, which is sent the signal itself. Its results lie in shared memory already. */
static void on_signal(int sig)
{
	_exit(0);
}

/* The n-th CPU of the list, which begins again at its end. */
static int nth_cpu(long n)
{
	for (;;) {
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
			if (CPU_ISSET(cpu, &opt.cpus) && n-- == 0)
				return cpu;
		}
	}
}

/*
 * Take the CPUs and the policy that the options ask for, or end with a message: the other threads
 * are ended then, too.
 */
static void become(long thread)
{
	struct sched_param param = {.sched_priority = (int)opt.priority};
	struct sched_attr attr = {.size = sizeof(attr),
				  .sched_policy = SCHED_DEADLINE,
				  .sched_runtime = (uint64_t)opt.interval * 100,
				  .sched_deadline = (uint64_t)opt.interval * 1000,
				  .sched_period = (uint64_t)opt.interval * 1000};
	cpu_set_t set = {{0}};
	int err;

	if (opt.pinned) {
		CPU_SET(nth_cpu(thread), &set);
		if (sched_setaffinity(0, sizeof(set), &set) < 0)
			vt_die_errno(1, "cannot run on the CPUs of -a");
	}
	if (opt.policy->number == SCHED_DEADLINE)
		err = sched_setattr(0, &attr, 0);
	else
		err = sched_setscheduler(0, opt.policy->number, &param);
	if (err < 0)
		vt_die(1, "cannot be %s: %s", opt.policy->name, strerror(errno));
}

/* One wake-up that was `us` late. */
static void record(struct result *r, unsigned int *bucket, long us)
{
	if (us < r->min || !r->cycles)
		r->min = us;
	if (us > r->max)
		r->max = us;
	r->act = us;
	r->sum += us;
	r->cycles++;
	if ((unsigned long)us < (unsigned long)opt.buckets)
		bucket[us]++;
	else
		r->overflows++;
}

/* Move the time by so many microseconds. */
static void add_us(struct timespec *t, long us)
{
	t->tv_sec += us / 1000000;
	t->tv_nsec += us % 1000000 * 1000;
	if (t->tv_nsec >= NSEC) {
		t->tv_sec++;
		t->tv_nsec -= NSEC;
	}
}

/*
 * One thread. All that it writes to is touched before the loop begins, so that no page fault falls
 * into a measurement. The time to sleep to is absolute and moves by whole intervals: with relative
 * sleeps the time between two looks at the clock would be added to every period, and lateness would be
 * hidden.
 *
 *     next = start + 1000, start + 2000, ...      late = now - next
 */
static void measure(long thread)
{
	struct result *r = &results[thread];
	unsigned int *bucket = histogram + thread * opt.buckets;
	struct timespec next, now;

	r->pid = getpid();
	memset(bucket, 0, (size_t)opt.buckets * sizeof(*bucket));
	become(thread);
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!opt.loops || r->cycles < (unsigned long)opt.loops) {
		add_us(&next, opt.interval);
		if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL))
			continue; /* what was stopped goes on */
		clock_gettime(CLOCK_MONOTONIC, &now);
		record(r, bucket, (long)vt_elapsed(&next, &now));
		while (vt_elapsed(&next, &now) >= opt.interval)
			add_us(&next, opt.interval);
	}
}

/*
 * A line for each thread in cyclictest's form, so that scripts that read cyclictest's output can read
 * this: C is the number of wake-ups; Min, Act (the last), Avg and Max are in microseconds.
 */
static void show_threads(void)
{
	for (long i = 0; i < opt.threads; i++) {
		const struct result *r = &results[i];

		printf("T:%2ld (%5d) P:%2ld I:%ld C:%7lu Min:%7ld Act:%5ld Avg:%5ld Max:%8ld\n", i, (int)r->pid,
		       opt.priority, opt.interval, r->cycles, r->min, r->act,
		       r->cycles ? (long)(r->sum / (int64_t)r->cycles) : 0, r->max);
	}
	fflush(stdout);
}

/* A row a microsecond, a column a thread. */
static void show_histogram(void)
{
	printf("# Histogram\n");
	for (long us = 0; us < opt.buckets; us++) {
		printf("%06ld", us);
		for (long i = 0; i < opt.threads; i++)
			printf("%s%06u", i ? "\t" : " ", histogram[i * opt.buckets + us]);
		printf("\n");
	}
	printf("# Total:");
	for (long i = 0; i < opt.threads; i++)
		printf(" %09lu", results[i].cycles - results[i].overflows);
	printf("\n# Histogram Overflows:");
	for (long i = 0; i < opt.threads; i++)
		printf(" %05lu", results[i].overflows);
	printf("\n");
}

/* On a terminal: move the cursor up over the lines shown before, and write them again. */
static void show_again(void)
{
	static bool before;

	if (before)
		printf("\033[%ldA", opt.threads);
	before = true;
	show_threads();
}

/*
 * Take the threads that have ended. Adds those with a bad status to *failed, and returns how many
 * ended.
 */
static long reap(int *failed)
{
	long n = 0;
	int status;
	pid_t pid;

	for (; (pid = waitpid(-1, &status, WNOHANG)) > 0; n++) {
		*failed += status != 0;
		for (long i = 0; i < opt.threads; i++)
			if (pids[i] == pid)
				pids[i] = 0;
	}
	return n;
}

/* Send every thread that is there to its end. */
static void end_all(void)
{
	for (long i = 0; i < opt.threads; i++)
		if (pids[i])
			kill(pids[i], SIGINT);
}

/*
 * Wait until all threads have ended; returns how many have failed. The signals are blocked and taken
 * by sigtimedwait(), which also ends after half a second to show the results: so there is no handler,
 * and no moment in which a signal could come unseen. A signal that ends this process ends all threads,
 * and so does the failure of one.
 */
static int wait_all(const sigset_t *signals, bool watch)
{
	struct timespec span = {.tv_nsec = NSEC / 2};
	int failed = 0;

	for (long left = opt.threads; (left -= reap(&failed)) > 0;) {
		int sig = sigtimedwait(signals, NULL, &span);

		if (sig == SIGINT || sig == SIGTERM || failed)
			end_all();
		if (watch && sig < 0)
			show_again();
	}
	if (watch)
		show_again();
	else if (!failed)
		show_threads();
	return failed;
}

/*
 * Fork the threads. Signals are blocked around it: one that comes before a child has its handler stays
 * pending until the child lets it in.
 */
static void start_all(const sigset_t *signals)
{
	const struct sigaction act = {.sa_handler = on_signal};

	fflush(stdout); /* else each child would print it, too */
	for (long i = 0; i < opt.threads; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			end_all();
			vt_die_errno(1, "fork");
		}
		if (pid == 0) {
			sigaction(SIGINT, &act, NULL);
			sigaction(SIGTERM, &act, NULL);
			sigprocmask(SIG_UNBLOCK, signals, NULL);
			measure(i);
			_exit(0);
		}
		pids[i] = pid;
	}
}

/* Memory that the threads will share with us, all zero. */
static void *shared(size_t size)
{
	void *p = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		vt_die_errno(1, "mmap");
	return p;
}

static const struct number {
	char letter;
	long *value, min, max;
} numbers[] = {
	{'p', &opt.priority, 1, 99},	     {'i', &opt.interval, 10, 100000000}, {'l', &opt.loops, 1, LONG_MAX},
	{'t', &opt.threads, 1, MAX_THREADS}, {'h', &opt.buckets, 1, 1000000},
};

static const struct policy *find_policy(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		if (!strcmp(name, policies[i].name))
			return &policies[i];
	}
	vt_die(1, "'%s' is none of other, fifo, rr, deadline", name);
}

static void parse_option(int c, const char *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (numbers[i].letter == c)
			*numbers[i].value = vt_number_or_die(1, arg, numbers[i].min, numbers[i].max);
	}
	if (c == 'P')
		opt.policy = find_policy(arg);
	else if (c == 'q')
		opt.quiet = true;
	else if (c == 'a' && !(opt.pinned = vt_cpu_list(arg, &opt.cpus)))
		vt_die(1, "'%s' is no list of CPUs", arg);
}

/* What no thread could become is said once, before there are any. */
static void check_deadline(void)
{
	unsigned long min, max, us = (unsigned long)opt.interval;

	vt_deadline_periods(&min, &max);
	if (us < min || us > max)
		vt_die(1, "an interval of deadline threads has %lu to %lu us", min, max);
}

/* A CPU that is not there is refused once, by its number, instead of by each thread as EINVAL. */
static void check_cpus(void)
{
	cpu_set_t there = {{0}};

	if (!vt_cpus_online(&there))
		return; /* the threads will find out */
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &opt.cpus) && !CPU_ISSET(cpu, &there))
			vt_die(1, "there is no CPU %d; there is: %s", cpu, vt_cpu_text(&there));
	}
}

static const char help[] = "  -p PRIO     priority of real-time threads, 1 to 99; alone it means -P fifo\n"
			   "  -P POLICY   other, fifo, rr, or deadline: a tenth of each interval (other)\n"
			   "  -i USEC     interval between wake-ups, 10 to 100000000 (1000)\n"
			   "  -l LOOPS    an end after so many wake-ups (until ^C)\n"
			   "  -t THREADS  how many, 1 to 64 (1)\n"
			   "  -a CPUS     a list such as 0,2-3: the CPUs of the threads, in turn (any)\n"
			   "  -h USEC     a histogram of wake-ups up to USEC late\n"
			   "  -q          nothing until the end\n";

/*
 * Options into `opt`, then what they mean together: a priority chooses fifo, a policy with priorities takes 1, deadline
 * has conditions of its own. Does not return when they make no sense.
 */
static void parse(int argc, char **argv)
{
	struct vt_options o = {.usage = "latency [-p PRIO] [-P other|fifo|rr|deadline] [-i USEC] [-l LOOPS] "
					"[-t THREADS] [-a CPUS] [-h USEC] [-q]",
			       .options = "p:P:i:l:t:a:h:q",
			       .help = help,
			       .bad_status = 1};
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1)
		parse_option(c, o.arg);
	if (argc > o.index)
		vt_usage(&o);
	if (!opt.policy)
		opt.policy = find_policy(opt.priority ? "fifo" : "other");
	if (opt.priority && !opt.policy->has_priority)
		vt_die(1, "policy %s has no priorities", opt.policy->name);
	if (!opt.priority && opt.policy->has_priority)
		opt.priority = 1;
	if (opt.policy->number == SCHED_DEADLINE)
		check_deadline();
	if (opt.pinned)
		check_cpus();
}

int main(int argc, char **argv)
{
	sigset_t signals = 1UL << (SIGINT - 1) | 1UL << (SIGTERM - 1) | 1UL << (SIGCHLD - 1);

	parse(argc, argv);
	results = shared((size_t)opt.threads * sizeof(*results));
	histogram = shared((size_t)(opt.threads * opt.buckets) * sizeof(*histogram));
	sigprocmask(SIG_BLOCK, &signals, NULL);
	printf("policy: %s\n", opt.policy->name);
	start_all(&signals);
	if (wait_all(&signals, !opt.quiet && isatty(1)))
		return 1; /* the thread has said why */
	if (opt.buckets)
		show_histogram();
	return vt_finish(0);
}
