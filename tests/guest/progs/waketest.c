/*
 * waketest: wake-ups by plan, for the wakeup tracers. Real-time sleepers are woken behind a task that keeps the
 * CPU, so that how long each of them waits is known beforehand. Each case resets tracing_max_latency and
 * prints what the tracer must then say: `PID RT_PRIO AT_LEAST AT_MOST` (microseconds).
 */
#include <check.h>
#include <sched.h>
#include <signal.h>

#define US   1000L
#define MS   1000000L
#define BUSY 50	 /* our own priority, above all sleepers' */
#define SOME 150 /* microseconds more than planned: switches, the tracer, the way there */

struct sleeper {
	pid_t pid;
	int wake[2];
};

static void be_fifo(pid_t pid, int priority)
{
	struct sched_param param = {.sched_priority = priority};

	if (sched_setscheduler(pid, priority ? SCHED_FIFO : SCHED_OTHER, &param))
		vt_die_errno(2, "sched_setscheduler");
}

static void burn(long us)
{
	long end = check_now() + us * US;

	while (check_now() < end)
		;
}

/* One that waits on CPU 0 to be woken, and then ends. */
static void start(struct sleeper *s, int priority)
{
	CHECK_CALL(pipe(s->wake));
	s->pid = check_fork();
	if (s->pid)
		return;
	check_pin(0);
	be_fifo(0, priority);
	check_take(s->wake[0]);
	_exit(0);
}

static void wake(struct sleeper *s)
{
	check_give(s->wake[1], 'w');
}

static void reset_maximum(void)
{
	int fd = open("/sys/kernel/tracing/tracing_max_latency", O_WRONLY);

	CHECK_EQ(write(fd, "0", 1), 1);
	close(fd);
}

/* The sleepers sleep, the CPU is ours, the tracer begins anew. */
static void begin(void)
{
	check_pin(0);
	be_fifo(0, BUSY);
	check_sleep(10 * MS);
	reset_maximum();
}

static void finish(struct sleeper *sleepers, int n)
{
	for (int i = 0; i < n; i++)
		check_wait(sleepers[i].pid);
}

static void wanted(struct sleeper *s, int priority, long at_least)
{
	printf("%d %d %ld %ld\n", s->pid, priority, at_least, at_least + SOME);
}

/* The second one takes over from the first; the third is below it, and nobody is followed when it runs. */
static void higher(void)
{
	struct sleeper s[3];

	start(&s[0], 10);
	start(&s[1], 20);
	start(&s[2], 5);
	begin();
	wake(&s[0]);
	burn(400);
	wake(&s[1]);
	burn(300);
	wake(&s[2]);
	burn(300);
	finish(s, 3);
	wanted(&s[1], 20, 600);
}

static void equal(void)
{
	struct sleeper s[2];

	start(&s[0], 10);
	start(&s[1], 10);
	begin();
	wake(&s[0]);
	burn(300);
	wake(&s[1]);
	burn(300);
	finish(s, 2);
	wanted(&s[0], 10, 600);
}

/* No real-time task any more, it gives way to the next, and its own wait is not told. */
static void demoted(void)
{
	struct sleeper s[2];

	start(&s[0], 10);
	start(&s[1], 5);
	begin();
	wake(&s[0]);
	burn(300);
	be_fifo(s[0].pid, 0);
	burn(100);
	wake(&s[1]);
	burn(200);
	finish(s, 2);
	wanted(&s[1], 5, 200);
}

/* Killed while it waits, it is switched to once more, to end. */
static void killed(void)
{
	struct sleeper s[1];

	start(&s[0], 10);
	begin();
	wake(&s[0]);
	burn(200);
	CHECK_CALL(kill(s[0].pid, SIGKILL));
	burn(100);
	finish(s, 1);
	wanted(&s[0], 10, 300);
}

/*
 * CPU 1 is kept busy as well, until it stops and takes the sleeper over: it waited on CPU 0 first and runs on
 * CPU 1. In milliseconds, since an emulator that runs the CPUs in turns does it in slices.
 */
static void moved(void)
{
	static const cpu_set_t both = {.bits = {3}};
	struct sleeper s[1];
	long end = check_now() + 100 * MS;
	pid_t hog = check_fork();

	if (hog == 0) {
		check_pin(1);
		be_fifo(0, BUSY);
		while (check_now() < end)
			;
		_exit(0);
	}
	start(&s[0], 10);
	begin();
	CHECK_EQ(sched_setaffinity(s[0].pid, sizeof(both), &both), 0);
	while (check_now() < end - 30 * MS)
		;
	reset_maximum();
	wake(&s[0]);
	while (check_now() < end + 30 * MS)
		;
	check_wait(hog);
	finish(s, 1);
	printf("%d 10 15000 45000\n", s[0].pid);
}

/* A real-time task that sleeps again and again on an idle CPU: nothing but the way of a wake-up. */
static void steps(void)
{
	check_pin(0);
	be_fifo(0, 5);
	for (int i = 0; i < 20; i++)
		check_sleep(MS);
	printf("%d 5\n", getpid());
}

static const struct check_case cases[] = {
	{"higher", higher}, {"equal", equal}, {"demoted", demoted},
	{"killed", killed}, {"moved", moved}, {"steps", steps},
};

/* One case: who wants to know its outcome reads what it prints. */
int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < ARRAY_SIZE(cases); i++) {
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			fflush(stdout);
			return check_failures != 0;
		}
	}
	vt_die(2, "no such case");
}
