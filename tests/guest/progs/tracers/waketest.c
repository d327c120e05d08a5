/*
 * waketest: wake-ups by plan, for the wakeup tracers. Real-time sleepers are woken behind a task that keeps
 * the CPU, so that how long each of them waits is known beforehand. Each case resets tracing_max_latency and
 * prints what the tracer must then say: `PID POLICY RT_PRIO AT_LEAST AT_MOST` (microseconds).
 */
#include <check.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

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

/* Of two deadline tasks that become runnable now the one with the shorter period runs first. */
static void be_deadline(unsigned long runtime, unsigned long deadline, unsigned long period)
{
	struct sched_attr attr = {.size = sizeof(attr),
				  .sched_policy = SCHED_DEADLINE,
				  .sched_runtime = runtime,
				  .sched_deadline = deadline,
				  .sched_period = period};

	if (sched_setattr(0, &attr, 0))
		vt_die_errno(2, "sched_setattr");
}

/* One that waits on CPU 0 to be woken, and then ends. Priority 0: a deadline task. */
static void start(struct sleeper *s, int priority)
{
	CHECK_CALL(pipe(s->wake));
	s->pid = check_fork();
	if (s->pid)
		return;
	check_pin(0);
	if (priority)
		be_fifo(0, priority);
	else
		be_deadline(5 * MS, 1000 * MS, 1000 * MS);
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

/* The sleepers sleep, the CPU is ours, the tracer begins again. */
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
	printf("%d %d %d %ld %ld\n", s->pid, priority ? SCHED_FIFO : SCHED_DEADLINE, priority, at_least,
	       at_least + SOME);
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

/* Behind a deadline task with an earlier deadline. Nothing takes over from it. (One CPU: they are not
 * pinned.) */
static void deadline(void)
{
	struct sleeper s[2];

	start(&s[0], 0);
	start(&s[1], 99);
	begin();
	be_deadline(50 * MS, 100 * MS, 100 * MS);
	reset_maximum();
	wake(&s[0]);
	burn(300);
	wake(&s[1]);
	burn(300);
	finish(s, 2);
	wanted(&s[0], 0, 600);
}

/* Woken behind its deadline and before its next period, a task waits for its budget: that is no latency. */
static void throttled(void)
{
	int there[2];
	long woken, ran;
	pid_t pid;

	CHECK_CALL(pipe(there));
	pid = check_fork();
	if (pid == 0) {
		be_deadline(MS, 5 * MS, 300 * MS);
		check_take(there[0]);
		_exit(0);
	}
	check_sleep(20 * MS);
	woken = check_now();
	check_give(there[1], 'w');
	CHECK_EQ(check_wait(pid), 0);
	ran = check_now();
	CHECK_RANGE((ran - woken) / MS, 200, 300);
	printf("%d %d 0 0 %d\n", pid, SCHED_DEADLINE, SOME);
}

/*
 * It waits on CPU 0, and then may go to CPU 1, where only a fair task runs: it is there at once. That task
 * itself lets it go, so that an emulator that runs the CPUs in turns is at CPU 1 then. It notes when: its timer
 * may come while CPU 0 still has its turn.
 */
static void moved(void)
{
	static const cpu_set_t both = {.bits = {3}};
	volatile long *let_go = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct sleeper s[1];
	long at = check_now() + 60 * MS, woken;
	pid_t helper;

	CHECK(let_go != MAP_FAILED);
	start(&s[0], 10);
	helper = check_fork();
	if (helper == 0) {
		check_pin(1);
		check_sleep(at - check_now());
		*let_go = check_now();
		CHECK_EQ(sched_setaffinity(s[0].pid, sizeof(both), &both), 0);
		_exit(check_failures);
	}
	begin();
	while (check_now() < at - 5 * MS)
		;
	reset_maximum();
	woken = check_now();
	wake(&s[0]);
	while (check_now() < at + 5 * MS)
		;
	CHECK_EQ(check_wait(helper), 0);
	finish(s, 1);
	CHECK_RANGE(*let_go, at, at + 5 * MS);
	wanted(&s[0], 10, (*let_go - woken) / US - SOME / 2);
}

/* One that waits on CPU 1 to be woken. */
static void start_on_1(struct sleeper *s, int priority)
{
	CHECK_CALL(pipe(s->wake));
	s->pid = check_fork();
	if (s->pid)
		return;
	check_pin(1);
	be_fifo(0, priority);
	check_take(s->wake[0]);
	_exit(0);
}

/*
 * Two wait on CPU 1 behind a task that is above them: the first is woken from CPU 0, the second, which is
 * below it, by the task in front of them. We are a fair task: the end of others wakes us, and must not take
 * over.
 */
static void across(void)
{
	volatile int *go_on = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct sleeper s[2];
	int there[2];
	pid_t busy;

	CHECK(go_on != MAP_FAILED);
	CHECK_CALL(pipe(there));
	start_on_1(&s[0], 20);
	start_on_1(&s[1], 10);
	busy = check_fork();
	if (busy == 0) {
		check_pin(1);
		be_fifo(0, BUSY);
		check_sleep(20 * MS);
		check_give(there[1], 't');
		while (!*go_on)
			;
		wake(&s[1]);
		burn(5000);
		_exit(0);
	}
	check_pin(0);
	check_take(there[0]);
	burn(1000);
	reset_maximum();
	wake(&s[0]);
	burn(3000);
	*go_on = 1;
	CHECK_EQ(check_wait(busy), 0);
	finish(s, 2);
	printf("%d %d 20 8000 1000000\n%d %d 10 5000 1000000\n", s[0].pid, SCHED_FIFO, s[1].pid, SCHED_FIFO);
}

/* The first waits on CPU 0, behind us; then we wake one on CPU 1 that is above it, and runs at once. */
static void beside(void)
{
	struct sleeper s[2];

	start(&s[0], 10);
	start_on_1(&s[1], 20);
	begin();
	wake(&s[0]);
	burn(1000);
	wake(&s[1]);
	burn(3000);
	finish(s, 2);
	printf("%d %d 10 4000 1000000\n", s[0].pid, SCHED_FIFO);
}

/* A real-time task that sleeps again and again on an idle CPU: nothing but the way of a wake-up. */
static void steps(void)
{
	check_pin(0);
	be_fifo(0, 5);
	for (int i = 0; i < 20; i++)
		check_sleep(MS);
	printf("%d %d 5 0 %d\n", getpid(), SCHED_FIFO, SOME);
}

/* Any CPUs, and now and then real-time, not so often that others starve. */
static void change_at_random(unsigned *seed, int cpus)
{
	cpu_set_t set = {.bits = {rand_r(seed) % ((1UL << cpus) - 1) + 1}};
	int what = rand_r(seed) % 16;

	if (what == 0)
		be_fifo(0, rand_r(seed) % 40 + 1);
	else if (what < 5)
		be_fifo(0, 0);
	else if (what < 7)
		CHECK_CALL(sched_setaffinity(0, sizeof(set), &set));
	else if (what < 10)
		check_sleep(rand_r(seed) % 300 * US);
}

/* One of two that wake each other, until the other one is gone. */
static void one_of_two(int in, int out, unsigned seed, int cpus)
{
	char byte = 'x';

	signal(SIGPIPE, SIG_IGN);
	be_fifo(0, 0);
	while (write(out, &byte, 1) == 1 && read(in, &byte, 1) == 1)
		change_at_random(&seed, cpus);
	_exit(check_failures);
}

/* Two tasks that wake each other, of which one is killed, waiting, sleeping or running, after a while. */
static void storm_pair(unsigned seed, int cpus)
{
	int there[2], back[2];
	pid_t pids[2];

	CHECK_CALL(pipe(there));
	CHECK_CALL(pipe(back));
	for (int i = 0; i < 2; i++) {
		pids[i] = check_fork();
		if (pids[i])
			continue;
		close(i ? there[1] : there[0]);
		close(i ? back[0] : back[1]);
		one_of_two(i ? there[0] : back[0], i ? back[1] : there[1], seed + i, cpus);
	}
	for (int i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
	check_sleep((rand_r(&seed) % 50 + 10) * MS);
	kill(pids[seed % 2], SIGKILL);
	for (int i = 0; i < 2; i++)
		check_wait(pids[i]);
}

static volatile sig_atomic_t storm_over;

static void end_storm(int sig)
{
	storm_over = 1;
}

/* On all CPUs, until SIGTERM: wake-ups, moves, changes of policy and ends of tasks that wait. */
static void storm(void)
{
	int cpus = check_cpus();
	pid_t workers[3];

	signal(SIGTERM, end_storm);
	for (unsigned i = 0; i < ARRAY_SIZE(workers); i++) {
		workers[i] = check_fork();
		if (workers[i])
			continue;
		be_fifo(0, 60); /* or the pairs would keep us from ending them */
		for (unsigned seed = 1000 * i; !storm_over; seed += 2)
			storm_pair(seed, cpus);
		_exit(check_failures);
	}
	while (!storm_over)
		check_sleep(10 * MS);
	for (unsigned i = 0; i < ARRAY_SIZE(workers); i++) {
		kill(workers[i], SIGTERM);
		CHECK_EQ(check_wait(workers[i]), 0);
	}
}

static const struct check_case cases[] = {
	{"higher", higher},	  {"equal", equal},   {"demoted", demoted},   {"killed", killed},
	{"moved", moved},	  {"steps", steps},   {"deadline", deadline}, {"storm", storm},
	{"throttled", throttled}, {"across", across}, {"beside", beside},
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
