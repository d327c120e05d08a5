/*
 * schedsmp: who runs where on several CPUs, and what happens to one task from two of them. What is waited for comes at
 * once or not at all, so the cases with a ticker want six CPUs and -icount; "renice" wants CPUs that run at once.
 */
#include <deadline.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define SECOND	(1000 * MS)
#define CHANGES 10000
#define TURN	(20 * US)

/* What a task that wants a CPU all the time shares with who looks at it. */
struct spinner {
	volatile long count; /* it runs */
	volatile bool go;    /* asks it to end when it runs */
	volatile bool gone;
};

static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		vt_die_errno(2, "mmap");
	return memory;
}

static void set_sysctl(const char *path, const char *text)
{
	int fd = (int)CHECK_CALL(open(path, O_WRONLY));

	CHECK_EQ(write(fd, text, strlen(text)), (long)strlen(text));
	close(fd);
}

static void set_cpus(pid_t pid, unsigned long cpus)
{
	cpu_set_t set = {.bits = {cpus}};

	CHECK_EQ(sched_setaffinity(pid, sizeof(set), &set), 0);
}

/* Which of two tasks goes first: a real-time priority, or a deadline in seconds (the budget outlasts the test). */
enum rank { LATER, SOONER };

static void be_ranked(bool deadline, enum rank rank)
{
	static const int priorities[] = {10, 50}, deadlines[] = {2000, 1000};

	if (deadline)
		be_deadline(100 * SECOND, deadlines[rank] * SECOND, deadlines[rank] * SECOND);
	else
		be(SCHED_FIFO, priorities[rank]);
}

/* One on `cpu`, and it has run there. Its parent gives it its policy: by itself it might never get so far. */
static pid_t start_spinner(struct spinner *s, int cpu, bool deadline, enum rank rank)
{
	pid_t pid;

	*s = (struct spinner){0};
	pid = check_fork();
	if (pid == 0) {
		be_ranked(deadline, rank);
		check_pin(cpu);
		while (!s->go)
			s->count++;
		s->gone = true;
		_exit(0);
	}
	while (!s->count)
		check_sleep(MS);
	return pid;
}

static void stop(pid_t pid)
{
	CHECK_CALL(kill(pid, SIGKILL));
	check_wait(pid);
}

/* Timers every few microseconds on CPU 5: an emulator that runs the CPUs in turns makes no turn longer than that. */
static pid_t start_ticker(void)
{
	pid_t pid = check_fork();

	if (pid)
		return pid;
	be(SCHED_FIFO, 70);
	check_pin(5);
	for (;;)
		check_sleep(TURN);
}

/* Without sleeping, so that this CPU does not look for work by itself: does it become true within 2 ms? */
#define SOON(condition)                                    \
	({                                                 \
		long end_ = check_now() + 2 * MS;          \
		while (!(condition) && check_now() < end_) \
			;                                  \
		(condition);                               \
	})

/* Two on CPU 2, of which the first waits: when it may, it comes here, where only a fair task runs. */
static bool widened(struct spinner *s, bool deadline)
{
	pid_t waits, runs;
	long count;
	bool soon;

	check_pin(1);
	waits = start_spinner(&s[0], 2, deadline, LATER);
	runs = start_spinner(&s[1], 2, deadline, SOONER);
	count = s[0].count;
	check_sleep(5 * MS);
	CHECK_EQ(s[0].count, count);
	s[0].go = true;
	set_cpus(waits, 6);
	soon = SOON(s[0].gone);
	stop(runs);
	stop(waits);
	return soon;
}

/* One must leave CPU 1, and may use CPU 2, where it would wait, and CPU 3, which idles. */
static bool moved_off(struct spinner *s, bool deadline)
{
	pid_t moves, runs;
	long count;
	bool soon;

	check_pin(4);
	moves = start_spinner(&s[0], 1, deadline, LATER);
	runs = start_spinner(&s[1], 2, deadline, SOONER);
	set_cpus(moves, 12);
	count = s[0].count;
	soon = SOON(s[0].count != count);
	stop(runs);
	stop(moves);
	return soon;
}

static void masks(void)
{
	struct spinner *s = shared(2 * sizeof(*s));
	pid_t ticker = start_ticker();

	/* Deadline tasks may be pinned where nothing is promised to them. */
	set_sysctl("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	set_sysctl("/proc/sys/kernel/sched_deadline_period_max_us", "4000000000");
	for (int deadline = 0; deadline < 2; deadline++) {
		int widened_late = 0, moved_late = 0;

		/* The emulator may leave a CPU without a turn for once. */
		for (int i = 0; i < 4; i++) {
			widened_late += !widened(s, deadline);
			moved_late += !moved_off(s, deadline);
		}
		CHECK_RANGE(widened_late, 0, 2);
		CHECK_RANGE(moved_late, 0, 2);
	}
	set_sysctl("/proc/sys/kernel/sched_deadline_period_max_us", "4194304");
	set_sysctl("/proc/sys/kernel/sched_rt_runtime_us", "950000");
	stop(ticker);
}

static void spend(unsigned loops)
{
	for (volatile unsigned i = 0; i < loops; i++)
		;
}

/* Somebody else's nice value for a task leaves alone the policy that it gets at the same time. */
static void renice(void)
{
	pid_t target = check_fork(), nicer;
	long lost = 0;

	if (target == 0)
		for (;;)
			check_sleep(SECOND);
	nicer = check_fork();
	if (nicer == 0)
		for (unsigned n = 0;; n++) {
			setpriority(PRIO_PROCESS, target, 5);
			spend(100 + n % 64); /* or it has the locks nearly all the time */
		}
	for (unsigned round = 0; round < CHANGES; round++) {
		CHECK_EQ(set_policy(target, SCHED_OTHER, 0), 0);
		spend(round * 7 % 400);
		CHECK_EQ(set_policy(target, SCHED_FIFO, 10), 0);
		spend(300);
		lost += sched_getscheduler(target) != SCHED_FIFO;
	}
	CHECK_EQ(lost, 0);
	stop(nicer);
	stop(target);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"masks", masks},
		{"renice", renice},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
