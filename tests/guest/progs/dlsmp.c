/*
 * dlsmp: SCHED_DEADLINE on several CPUs: affinity, deadlines that global EDF promises, admission over all of them,
 * and a storm of policies.
 */
#include <deadline.h>
#include <limits.h>
#include <numbers.h>
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

#define SPAN (1000 * MS) /* every task runs jobs for so long */

/* What the tasks of one experiment share. */
struct feasible {
	long start;
	long latest; /* of any job, before its deadline (negative) or after */
};

/* A job each period, done before its deadline? Returns how many were not. */
static int periodic(struct feasible *f, long work, long period)
{
	int late = 0;

	for (long at = f->start; at + period <= f->start + SPAN; at += period) {
		long lateness;

		sleep_until(at);
		burn(work);
		lateness = check_now() - at - period;
		late += lateness > 0;
		if (lateness > f->latest)
			f->latest = lateness; /* two at once: the figure is only shown */
	}
	return late;
}

/*
 * Under -icount the CPUs run one after the other, each until the next timer is due somewhere. So each gets a timer
 * that comes every 200 us, from its hard interrupt and whatever runs: the turns are short then, and so is the time
 * between an interrupt's cause and its being served, and what a task is charged while others have their turn.
 */
static pid_t start_metronome(int cpu)
{
	const long interval[4] = {0, 200, 0, 200}; /* s, us; s, us */
	sigset_t blocked = 1UL << (SIGALRM - 1);
	pid_t pid = check_fork();

	if (pid)
		return pid;
	check_pin(cpu);
	CHECK_CALL(sigprocmask(SIG_BLOCK, &blocked, NULL));
	CHECK_CALL(check_syscall(NR_setitimer, 0, (long)interval, 0, 0, 0, 0));
	for (;;)
		check_sleep(1000 * MS);
}

/*
 * The utilisation is 2.8, none above 0.35: below m - (m - 1) * 0.35 = 2.95 for four CPUs, so global EDF misses no
 * deadline (Goossens, Funk, Baruah: "Priority-driven scheduling of periodic task systems on multiprocessors", 2003).
 * All are born on CPU 0, where any three of them would be too many. Two hogs want what is left.
 */
static void feasible(void)
{
	static const long periods[] = {80, 90, 100, 120, 150, 180, 200, 240}; /* ms */
	struct feasible *f = shared(sizeof(*f));
	pid_t others[6], pids[ARRAY_SIZE(periods)];
	int n = ARRAY_SIZE(periods), ready[2], go[2], cpus = check_cpus();
	cpu_set_t all = {{(1UL << cpus) - 1}};

	CHECK_EQ(cpus, 4);
	CHECK_CALL(pipe(ready));
	CHECK_CALL(pipe(go));
	CHECK_EQ(set_policy(0, SCHED_FIFO, 60), 0);
	for (int i = 0; i < 4; i++)
		others[i] = start_metronome(i);
	for (int i = 4; i < 6; i++) {
		others[i] = check_fork();
		if (others[i] == 0) {
			CHECK_EQ(set_policy(0, SCHED_OTHER, 0), 0);
			for (;;)
				;
		}
	}
	check_pin(0);
	for (int i = 0; i < n; i++) {
		pids[i] = check_fork();
		if (pids[i] == 0) {
			long period = periods[i] * MS;

			CHECK_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
			check_give(ready[1], 'r');
			check_take(go[0]);
			CHECK_EQ(set_deadline(0, period * 35 / 100, period, period, SCHED_FLAG_RESET_ON_FORK), 0);
			check_failures += periodic(f, period * 30 / 100, period);
			fflush(stdout);
			_exit(check_failures);
		}
		check_take(ready[0]);
	}
	f->latest = LONG_MIN;
	f->start = check_now() + 30 * MS;
	for (int i = 0; i < n; i++)
		check_give(go[1], 'g');
	for (int i = 0; i < n; i++)
		CHECK_EQ(check_wait(pids[i]), 0);
	printf("  the job nearest to its deadline was done %ld us before it\n", -f->latest / US);
	for (int i = 0; i < 6; i++) {
		CHECK_CALL(kill(others[i], SIGKILL));
		check_wait(others[i]);
	}
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
	for (; check_now() < end; done++) {
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
	_exit(check_failures || done < 10 ? 1 : 0);
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
		{"feasible", feasible},
		{"storm", storm},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
