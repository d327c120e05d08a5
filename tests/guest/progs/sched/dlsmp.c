/*
 * dlsmp: SCHED_DEADLINE on several CPUs: affinity, who runs, admission over all of them, and a storm of policies.
 */
#include <deadline.h>
#include <limits.h>
#include <signal.h>
#include <watch.h>
#include <sys/mman.h>

/* Memory that children share with us. */
static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		vt_die_errno(2, "mmap");
	return memory;
}

static void affinity(void)
{
	cpu_set_t all = {{0}}, one = {{0}};
	int cpus = check_cpus();

	for (int cpu = 0; cpu < cpus; cpu++)
		CPU_SET(cpu, &all);
	CPU_SET(0, &one);
	check_pin(cpus - 1);
	CHECK_ERRNO(set_deadline(0, MS, 10 * MS, 0, SCHED_FLAG_RESET_ON_FORK), EPERM);
	CHECK_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
	CHECK_EQ(set_deadline(0, MS, 10 * MS, 0, SCHED_FLAG_RESET_ON_FORK), 0);
	CHECK_ERRNO(sched_setaffinity(0, sizeof(one), &one), EBUSY);
	CHECK_EQ(check_cpus(), cpus);
	CHECK_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
	CHECK_EQ(set_policy(0, SCHED_OTHER, 0), 0);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
}

/* cpus * 95 %, in as many tasks of 95 %; one of 1 % more does not fit. */
static void admission(void)
{
	int cpus = check_cpus(), ready[2];
	pid_t pids[64];

	CHECK_CALL(pipe(ready));
	for (int i = 0; i < cpus; i++) {
		pids[i] = check_fork();
		if (pids[i] == 0) {
			CHECK_EQ(set_deadline(0, 950 * MS, 1000 * MS, 0, SCHED_FLAG_RESET_ON_FORK), 0);
			check_give(ready[1], 'r');
			sleep_until(check_now() + 100000 * MS);
		}
		check_take(ready[0]);
	}
	CHECK_ERRNO(set_deadline(0, 10 * MS, 1000 * MS, 0, SCHED_FLAG_RESET_ON_FORK), EBUSY);
	for (int i = 0; i < cpus; i++) {
		CHECK_CALL(kill(pids[i], SIGKILL));
		check_wait(pids[i]);
		CHECK_EQ(set_deadline(0, 950 * MS, 1000 * MS, 0, SCHED_FLAG_RESET_ON_FORK), 0);
		CHECK_EQ(set_policy(0, SCHED_OTHER, 0), 0);
	}
}

#define SPINNERS 8
#define SECOND	 (1000 * MS)

/* What the spinners of one experiment share with who looks at them. */
struct spinners {
	volatile long counts[SPINNERS];
	volatile bool wait[SPINNERS]; /* asks it to read from its pipe */
};

static void spin(struct spinners *s, int me, int wake)
{
	for (;; s->counts[me]++)
		if (s->wait[me])
			check_take(wake);
}

/* Do exactly those of the mask run, sooner or later, all of them and no other? */
static bool settled(const struct spinners *s, unsigned long running)
{
	long before[SPINNERS];
	unsigned long moved = ~running;

	for (int tries = 0; tries < 3000 && moved != running; tries++) {
		for (int i = 0; i < SPINNERS; i++)
			before[i] = s->counts[i];
		check_sleep(10 * MS);
		moved = 0;
		for (int i = 0; i < SPINNERS; i++)
			moved |= (unsigned long)(s->counts[i] != before[i]) << i;
	}
	if (moved != running)
		printf("  running are %lx, not %lx\n", moved, running);
	return moved == running;
}

static void set_sysctl(const char *path, const char *text)
{
	int fd = (int)CHECK_CALL(open(path, O_WRONLY));

	CHECK_EQ(write(fd, text, strlen(text)), (long)strlen(text));
	close(fd);
}

/*
 * Of eight that never stop, the four with the earliest deadlines run, and no other, after each of them comes, sleeps,
 * wakes up, ends or leaves the class. The one who looks has an earlier deadline than all.
 */
static void earliest(void)
{
	static const struct {
		int first;
		unsigned long then;
	} ends[SPINNERS] = {{0, 0x3c}, {2, 0x78}, {3, 0xf0}, {4, 0xe2}, {5, 0xc2}, {6, 0x82}, {7, 0x02}, {1, 0}};
	struct spinners *s = shared(sizeof(*s));
	int wakes[SPINNERS][2];
	pid_t pids[SPINNERS];

	CHECK_EQ(check_cpus(), 4);
	set_sysctl("/proc/sys/kernel/sched_deadline_period_max_us", "4000000000");
	CHECK_EQ(set_deadline(0, 90 * SECOND, 900 * SECOND, 0, SCHED_FLAG_RESET_ON_FORK), 0);
	for (int i = SPINNERS - 1; i >= 0; i--) {
		CHECK_CALL(pipe(wakes[i]));
		pids[i] = check_fork();
		if (pids[i] == 0)
			spin(s, i, wakes[i][0]);
		/* By us: with four before it, it does not run at all as an ordinary task. Budgets outlast the test:
		 * what is looked at is the order alone, however slow the machine is. */
		CHECK_EQ(set_deadline(pids[i], 100 * SECOND, (1000 + 10 * i) * SECOND, 0, 0), 0);
	}
	CHECK(settled(s, 0x0f));
	for (int i = 0; i < 4; i++) {
		s->wait[i] = true;
		CHECK(settled(s, 0x1f & ~(1UL << i)));
		s->wait[i] = false;
		check_give(wakes[i][1], 'w');
		CHECK(settled(s, 0x0f));
	}
	CHECK_EQ(set_policy(pids[2], SCHED_FIFO, 99), 0);
	CHECK(settled(s, 0x1b));
	CHECK_EQ(set_deadline(pids[2], 100 * SECOND, 1015 * SECOND, 0, 0), 0);
	CHECK(settled(s, 0x0f));
	/* One that runs gets the last deadline of all; then they end, the earliest first: who waits cannot. */
	CHECK_EQ(set_deadline(pids[1], 100 * SECOND, 2000 * SECOND, 0, 0), 0);
	CHECK(settled(s, 0x1d));
	for (int i = 0; i < SPINNERS; i++) {
		CHECK_CALL(kill(pids[ends[i].first], SIGKILL));
		check_wait(pids[ends[i].first]);
		CHECK(settled(s, ends[i].then));
	}
	CHECK_EQ(set_policy(0, SCHED_OTHER, 0), 0);
	set_sysctl("/proc/sys/kernel/sched_deadline_period_max_us", "4194304");
}

#define STORMERS 24
#define LIFE	 (6000 * MS)

static unsigned long dice;

/* Some policy for pid, whose task may have gone or may not be admitted now. */
static void some_policy(pid_t pid)
{
	long period = (long)(200 + watch_random(&dice) % 20000) * US;
	unsigned long r = watch_random(&dice) >> 8;
	int ret;

	switch (r % 6) {
	case 0:
	case 1:
	case 2:
		ret = set_deadline(pid, period / (long)(5 + r % 20), r % 8 ? period : period / 2, period,
				   SCHED_FLAG_RESET_ON_FORK);
		break;
	case 3:
		ret = set_policy(pid, SCHED_RR, (int)(1 + r % 9));
		break;
	default:
		ret = set_policy(pid, SCHED_OTHER, 0);
	}
	if (ret)
		CHECK(errno == ESRCH || errno == EBUSY || errno == EINVAL || errno == EPERM);
}

static void some_affinity(pid_t pid, int cpus)
{
	cpu_set_t set = {{watch_random(&dice) >> 8}};

	set.bits[0] &= (1UL << cpus) - 1;
	if (!set.bits[0])
		set.bits[0] = (1UL << cpus) - 1;
	if (sched_setaffinity(pid, sizeof(set), &set))
		CHECK(errno == ESRCH || errno == EBUSY);
}

static void short_life(void)
{
	pid_t child = check_fork();

	if (child == 0) {
		some_policy(0);
		for (volatile int i = 0; i < 20000; i++)
			;
		_exit(0);
	}
	if (dice % 2)
		CHECK_CALL(kill(child, SIGKILL));
	check_wait(child);
}

/* One of them: changes itself and the others, wakes its neighbour, sleeps, yields, works. */
static void stormer(int me, int cpus, const pid_t *pids, const int *mine, const int *next, long end)
{
	cpu_set_t all = {{0}};
	long done = 0;

	dice = (unsigned long)me * 7919 + 1;
	all.bits[0] = (1UL << cpus) - 1;
	for (; check_now() < end || done < 10; done++) {
		unsigned long r = watch_random(&dice) >> 16;
		pid_t whom = r % 3 ? 0 : pids[r / 3 % STORMERS];

		some_policy(whom);
		if (r % 5 == 0)
			some_affinity(whom, cpus);
		if (r % 7 == 0)
			sched_yield();
		if (r % 11 == 0)
			check_sleep((long)(r % 2000) * US);
		if (r % 37 == 0)
			short_life();
		check_give(next[1], 'x');
		check_take(mine[0]);
		for (volatile unsigned i = 0; i < r % 30000; i++)
			;
	}
	/* The ring is in step but for one round for each: so many bytes end everybody's waiting. */
	for (int i = 0; i < 2 * STORMERS; i++)
		check_give(next[1], 'e');
	set_policy(0, SCHED_OTHER, 0);
	sched_setaffinity(0, sizeof(all), &all);
	fflush(stdout);
	_exit(check_failures ? 1 : 0);
}

/* All of them come to their end by themselves: a task that is lost somewhere does not. */
static void storm(void)
{
	pid_t *pids = shared(sizeof(*pids) * STORMERS);
	int pipes[STORMERS][2], cpus = check_cpus();
	long end = check_now() + LIFE;
	bool killed;

	watch_init();
	for (int i = 0; i < STORMERS; i++)
		CHECK_CALL(pipe(pipes[i]));
	for (int i = 0; i < STORMERS; i++) {
		pid_t pid = check_fork();

		if (pid == 0)
			stormer(i, cpus, pids, pipes[i], pipes[(i + 1) % STORMERS], end);
		pids[i] = pid;
	}
	for (int i = 0; i < STORMERS; i++) {
		int status = watch_child(pids[i], 60000, &killed);

		CHECK(!killed);
		CHECK_EQ(status, 0);
	}
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"affinity", affinity},
		{"admission", admission},
		{"earliest", earliest},
		{"storm", storm},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
