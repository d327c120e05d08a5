/* cpuhp: what becomes of tasks when CPU 3 of four leaves and comes back. Each case takes it down and leaves it up. */
#include <callnumbers.h>
#include <deadline.h>
#include <signal.h>
#include <sys/mman.h>
#include <thread.h>
#include <vectors.h>

#define GOING  3
#define LINE   "/sys/devices/system/cpu/cpu3/online"
#define SECOND (1000 * MS)

/* What a task shares with who looks at it. */
struct shared {
	volatile long count;
	volatile int cpu;
	volatile long value;
};

static struct shared *shared(void)
{
	void *memory = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		vt_die_errno(2, "mmap");
	return memory;
}

/* The errno of writing this to the file, or 0. */
static int put(const char *text)
{
	int fd = (int)CHECK_CALL(open(LINE, O_WRONLY)), error;

	error = write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return error;
}

static int here(void)
{
	unsigned cpu = 99;

	CHECK_CALL(CALL(getcpu, &cpu, 0));
	return (int)cpu;
}

static unsigned long cpus_of(pid_t pid)
{
	cpu_set_t set = {0};

	CHECK_CALL(sched_getaffinity(pid, sizeof(set), &set));
	return set.bits[0];
}

static int set_cpus(pid_t pid, unsigned long cpus)
{
	cpu_set_t set = {.bits = {cpus}};

	return sched_setaffinity(pid, sizeof(set), &set);
}

/* A child that counts, and says where. It may run on these CPUs; priority 0: an ordinary task. */
static pid_t counter(struct shared *s, unsigned long cpus, int priority)
{
	pid_t pid = check_fork();

	if (pid)
		return pid;
	if (set_cpus(0, cpus))
		_exit(2);
	if (priority)
		be(SCHED_FIFO, priority);
	for (;;) {
		s->count++;
		s->cpu = here();
		check_sleep(MS);
	}
}

/* It goes on: it counts further, within a time in which even a host that is busy lets it. */
static void goes_on(const struct shared *s)
{
	long before = s->count, end = check_now() + 10 * SECOND;

	while (s->count < before + 5 && check_now() < end)
		check_sleep(MS);
	CHECK(s->count >= before + 5);
}

static void stop(pid_t pid)
{
	CHECK_CALL(kill(pid, SIGKILL));
	check_wait(pid);
}

/* Bound to it alone: they run elsewhere, and may from then on run anywhere; that does not end when it is back. */
static void bound(void)
{
	struct shared *s[3] = {shared(), shared(), shared()};
	pid_t pid[3] = {counter(s[0], 8, 0), counter(s[1], 8, 50), counter(s[2], 8, 0)};

	for (int i = 0; i < 3; i++) {
		goes_on(s[i]);
		CHECK_EQ(s[i]->cpu, GOING);
	}
	CHECK_EQ(put("0"), 0);
	for (int i = 0; i < 3; i++) {
		goes_on(s[i]);
		CHECK(s[i]->cpu != GOING);
		CHECK_EQ(cpus_of(pid[i]), 7);
	}
	CHECK_ERRNO(set_cpus(pid[0], 8), EINVAL);
	CHECK_EQ(set_cpus(pid[0], 9), 0);
	CHECK_EQ(cpus_of(pid[0]), 1);
	CHECK_EQ(put("1"), 0);
	CHECK_EQ(cpus_of(pid[0]), 9);
	CHECK_EQ(cpus_of(pid[1]), 15);
	CHECK_EQ(set_cpus(pid[1], 8), 0);
	goes_on(s[1]);
	CHECK_EQ(s[1]->cpu, GOING);
	for (int i = 0; i < 3; i++)
		stop(pid[i]);
}

/* With another CPU in its mask: the mask stays, and nothing is said about it (cpuhp.sh looks). */
static void half(void)
{
	struct shared *s = shared();
	pid_t pid = counter(s, 12, 0);

	goes_on(s);
	CHECK_EQ(put("0"), 0);
	goes_on(s);
	CHECK_EQ(s->cpu, 2);
	CHECK_EQ(cpus_of(pid), 4);
	CHECK_EQ(put("1"), 0);
	CHECK_EQ(cpus_of(pid), 12);
	stop(pid);
}

/* The task that asks is bound to the CPU that it takes down. */
static void own(void)
{
	check_pin(GOING);
	CHECK_EQ(put("0"), 0);
	CHECK(here() != GOING);
	CHECK_EQ(cpus_of(0), 7);
	CHECK_EQ(put("1"), 0);
}

/* Sleeps whose timers were set on the CPU that goes end when they were to end. */
static void timers(void)
{
	long start, took;
	int ready[2];
	pid_t pid[4];

	CHECK_CALL(pipe(ready));
	for (int i = 0; i < 4; i++) {
		pid[i] = check_fork();
		if (pid[i])
			continue;
		check_pin(GOING);
		check_give(ready[1], 'r');
		start = check_now();
		check_sleep((1000 + i * 100) * MS);
		took = check_now() - start;
		CHECK_RANGE(took, (1000 + i * 100) * MS, (6000 + i * 100) * MS);
		_exit(check_failures || here() == GOING);
	}
	for (int i = 0; i < 4; i++)
		check_take(ready[0]);
	for (int i = 0; i < 4; i++)
		for (long end = check_now() + SECOND; thread_state(pid[i], pid[i]) == 'R' && check_now() < end;)
			check_sleep(MS);
	CHECK_EQ(put("0"), 0);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(check_wait(pid[i]), 0);
	CHECK_EQ(put("1"), 0);
}

/* A task whose registers were the last that the CPU held finds its own again, and not what the CPU came up with. */
static void registers(void)
{
	struct shared *s = shared();
	pid_t pid = check_fork();
	long got[VECTORS];

	if (!pid) {
		check_pin(GOING);
		vectors_set(0x5a5a1234);
		s->count = 1;
		while (s->count == 1)
			check_sleep(20 * MS);
		vectors_get(got);
		s->value = got[0];
		s->cpu = here();
		s->count = 3;
		for (;;)
			check_sleep(SECOND);
	}
	while (s->count != 1)
		check_sleep(MS);
	CHECK_CALL(kill(pid, SIGSTOP));
	while (thread_state(pid, pid) != 'T')
		check_sleep(MS);
	CHECK_EQ(put("0"), 0);
	CHECK_EQ(put("1"), 0);
	CHECK_EQ(set_cpus(pid, 8), 0);
	s->count = 2;
	CHECK_CALL(kill(pid, SIGCONT));
	while (s->count != 3)
		check_sleep(MS);
	CHECK_EQ(s->cpu, GOING);
	CHECK_EQ(s->value, 0x5a5a1234);
	stop(pid);
}

/* Bandwidth that was promised needs the CPU. When the tasks are gone, it may go. */
static void promised(void)
{
	int ready[2];
	pid_t pid[4];

	CHECK_CALL(pipe(ready));
	for (int i = 0; i < 4; i++) {
		pid[i] = check_fork();
		if (!pid[i]) {
			be_deadline(80 * MS, 100 * MS, 100 * MS);
			check_give(ready[1], 'r');
			for (;;)
				check_sleep(SECOND);
		}
	}
	for (int i = 0; i < 4; i++)
		check_take(ready[0]);
	CHECK_EQ(put("0"), EBUSY);
	CHECK(check_holds(LINE, "1\n"));
	for (int i = 0; i < 4; i++)
		stop(pid[i]);
	CHECK_EQ(put("0"), 0);
	CHECK_EQ(put("1"), 0);
}

/*
 * Tasks that use up their budget each time, and then wait for their period, go on. The budget is half of the period: a
 * guest's CPU that has to wait for the host is charged for it, and the task pays that back.
 */
static void throttled(void)
{
	struct shared *s[3];
	pid_t pid[3];

	for (int i = 0; i < 3; i++) {
		s[i] = shared();
		pid[i] = check_fork();
		if (!pid[i]) {
			be_deadline(10 * MS, 20 * MS, 20 * MS);
			for (;;)
				s[i]->count++;
		}
	}
	for (int n = 0; n < 5; n++) {
		CHECK_EQ(put("0"), 0);
		for (int i = 0; i < 3; i++)
			goes_on(s[i]);
		CHECK_EQ(put("1"), 0);
	}
	for (int i = 0; i < 3; i++) {
		goes_on(s[i]);
		stop(pid[i]);
	}
}

/* What is no answer to the question whether it is online, and what is one already. */
static void words(void)
{
	static const char *const bad[] = {"2", "-1", "x", "o", "\n", "maybe"};

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_EQ(put(bad[i]), EINVAL);
	CHECK(check_holds(LINE, "1\n"));
	CHECK_EQ(put("1"), 0);
	CHECK_EQ(put("off"), 0);
	CHECK(check_holds(LINE, "0\n"));
	CHECK_EQ(put("n"), 0);
	CHECK_EQ(put("on"), 0);
	CHECK(check_holds(LINE, "1\n"));
}

static volatile int rang;

static void on_alarm(int sig)
{
	rang = 1;
}

static void burns(void *arg)
{
	while (!rang)
		;
}

static void switch_cpu(int cpu, const char *text)
{
	char path[48];
	int fd;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	fd = (int)CHECK_CALL(open(path, O_WRONLY));
	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/*
 * One CPU runs when a timer of CPU time is looked at; then threads on four use up what is left, and it is in time: not
 * four times as late. What the host takes from a CPU is counted for the thread that runs there, hence the room.
 */
static void cpu_timer(void)
{
	struct timespec set[2] = {{0, 0}, {2, 0}}, used;
	int id = -1;

	signal(SIGALRM, on_alarm);
	for (int cpu = 1; cpu <= GOING; cpu++)
		switch_cpu(cpu, "0");
	CHECK_CALL(CALL(timer_create, 2, 0, &id));
	CHECK_CALL(CALL(timer_settime, id, 0, set, 0));
	for (long end = check_now() + 20 * MS; check_now() < end;) /* a tick looks */
		;
	for (int i = 0; i < 3; i++)
		thread_start_in_group(burns, NULL);
	for (int cpu = 1; cpu <= GOING; cpu++)
		switch_cpu(cpu, "1");
	burns(NULL);
	CHECK_CALL(CALL(clock_gettime, 2, &used));
	CHECK_RANGE(used.tv_sec * SECOND + used.tv_nsec, 2 * SECOND, 5 * SECOND);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"bound", bound},	  {"half", half},	    {"own", own},
		{"timers", timers},	  {"registers", registers}, {"promised", promised},
		{"throttled", throttled}, {"words", words},	    {"cpu-timer", cpu_timer},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
