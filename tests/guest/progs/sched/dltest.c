/* dltest: SCHED_DEADLINE on one CPU, under -icount: budgets, periods, order. */
#include <deadline.h>
#include <limits.h>
#include <numbers.h>
#include <signal.h>

#define SLOP (100 * US) /* a few interrupts, switches and system calls */

static pid_t start_hog(int policy, int priority)
{
	pid_t pid = check_fork();

	if (pid)
		return pid;
	be(policy, priority);
	for (;;)
		;
}

static void stop(pid_t pid)
{
	CHECK_CALL(kill(pid, SIGKILL));
	check_wait(pid);
}

/* 2 ms of 10, beside a FIFO hog and a fair one that both want everything. */
static void budget(void)
{
	pid_t fifo, fair;
	long start, used, elapsed;

	be(SCHED_FIFO, 99);
	fifo = start_hog(SCHED_FIFO, 50);
	fair = start_hog(SCHED_OTHER, 0);
	be_deadline(2 * MS, 10 * MS, 10 * MS);
	sched_yield(); /* from the beginning of a period */
	start = check_now();
	used = cpu_time();
	while (check_now() < start + 395 * MS)
		;
	elapsed = check_now() - start;
	used = cpu_time() - used;
	printf("  %ld us of %ld us\n", used / US, elapsed / US);
	/* The last period's budget is used: exactly as many as periods have begun. */
	CHECK_RANGE(used, 79 * MS, 81 * MS);
	be(SCHED_FIFO, 99);
	stop(fifo);
	stop(fair);
}

/* It runs for 2 ms, then not for 8, 20 times, although nobody else wants the CPU. */
static void throttling(void)
{
	long last, now, began;

	be_deadline(2 * MS, 10 * MS, 10 * MS);
	sched_yield();
	began = last = check_now();
	for (int gaps = 0; gaps < 20; last = now) {
		now = check_now();
		if (now - last < MS)
			continue;
		CHECK_RANGE(last - began, 2 * MS - SLOP, 2 * MS + SLOP);
		CHECK_RANGE(now - last, 8 * MS - SLOP, 8 * MS + SLOP);
		began = now;
		gaps++;
	}
}

/* Each yield goes on at the beginning of the next period. */
static void yielding(void)
{
	long first, now;

	be_deadline(4 * MS, 10 * MS, 10 * MS);
	sched_yield();
	first = check_now();
	for (int i = 1; i <= 20; i++) {
		burn(i % 4 * 500 * US);
		sched_yield();
		now = check_now();
		CHECK_RANGE(now - first, i * 10 * MS - SLOP, i * 10 * MS + SLOP);
	}
}

/* The three come in the order of their deadlines, not in that in which they were made. */
static void order(void)
{
	static const long deadlines[] = {90 * MS, 30 * MS, 60 * MS};
	int result[2], go;
	pid_t pids[3];
	long at;

	be(SCHED_FIFO, 99);
	CHECK_CALL(pipe(result));
	at = check_now() + 100 * MS;
	for (int i = 0; i < 3; i++) {
		pids[i] = check_fork();
		if (pids[i] == 0) {
			be_deadline(9 * MS, deadlines[i], 90 * MS);
			sleep_until(at);
			check_give(result[1], (char)('a' + i));
			burn(5 * MS);
			check_give(result[1], (char)('A' + i));
			_exit(0);
		}
	}
	/* A stranger with the earliest deadline of all holds the CPU while they wake up. */
	be_deadline(20 * MS, 20 * MS, 200 * MS);
	sleep_until(at - MS);
	while (check_now() < at + 2 * MS)
		;
	be(SCHED_OTHER, 0);
	for (int i = 0; i < 6; i++) {
		go = check_take(result[0]);
		CHECK_EQ(go, "bBcCaA"[i]);
	}
	for (int i = 0; i < 3; i++)
		CHECK_EQ(check_wait(pids[i]), 0);
}

/* One that wakes up with an earlier deadline takes the CPU at once, one with a later waits. */
static void preempts(void)
{
	int result[2];
	pid_t early, late;
	long start;

	CHECK_CALL(pipe(result));
	be(SCHED_FIFO, 99);
	start = check_now() + 50 * MS;
	early = check_fork();
	if (early == 0) {
		be_deadline(2 * MS, 10 * MS, 10 * MS);
		sleep_until(start + 10 * MS);
		CHECK_RANGE(check_now() - start, 10 * MS, 10 * MS + SLOP);
		_exit(check_failures);
	}
	late = check_fork();
	if (late == 0) {
		be_deadline(2 * MS, 90 * MS, 90 * MS);
		sleep_until(start + 10 * MS);
		check_give(result[1], 'l');
		_exit(0);
	}
	be_deadline(40 * MS, 60 * MS, 60 * MS);
	sleep_until(start);
	burn(20 * MS);
	check_give(result[1], 'm');
	CHECK_EQ(check_wait(early), 0);
	CHECK_EQ(check_take(result[0]), 'm');
	CHECK_EQ(check_take(result[0]), 'l');
	CHECK_EQ(check_wait(late), 0);
}

/*
 * The wake-up rule. It has 1.5 ms left of 2, sleeps until 0.5 ms before its deadline and wants 3 ms. The pair would
 * exceed the bandwidth, so it is renewed: 2 ms now, the rest in the period that begins 10 ms from now. Without the
 * rule it would have 1.5 ms and then a new budget at the old deadline.
 */
static void wake_up_rule(void)
{
	long start, woken;

	be_deadline(2 * MS, 10 * MS, 10 * MS);
	sched_yield();
	start = check_now();
	burn(500 * US);
	sleep_until(start + 9500 * US);
	woken = check_now();
	burn(3 * MS);
	CHECK_RANGE(check_now() - woken, 11 * MS - SLOP, 11 * MS + SLOP);
	/* A budget that does not exceed it is kept: 1.5 of 2 ms left, 9 of 10 ms to go. */
	sched_yield();
	start = check_now();
	burn(500 * US);
	sleep_until(start + MS);
	burn(2500 * US); /* 1.5 now, 1 from the next period on */
	CHECK_RANGE(check_now() - start, 11 * MS - SLOP, 11 * MS + SLOP);
}

/* Deadline before the period's end: who wakes up in between waits for the next period. */
static void constrained(void)
{
	long start;

	be_deadline(2 * MS, 4 * MS, 20 * MS);
	sched_yield();
	start = check_now();
	burn(500 * US);
	sleep_until(start + 10 * MS);
	CHECK_RANGE(check_now() - start, 20 * MS - SLOP, 20 * MS + SLOP);
	/* Before the deadline: what is left is cut to the density, 1 ms * 2/4, and the rest comes with the next
	 * period. */
	sched_yield();
	start = check_now();
	sleep_until(start + 3 * MS);
	burn(MS);
	CHECK_RANGE(check_now() - start, 20500 * US - SLOP, 20500 * US + SLOP);
}

/* Leaving the class and coming back brings no new budget. */
static void no_gain(void)
{
	struct sched_param other = {0};
	pid_t hog, child;
	int result[2];
	long start, used;

	be(SCHED_FIFO, 99);
	CHECK_CALL(pipe(result));
	hog = start_hog(SCHED_FIFO, 50);
	start = check_now() + 10 * MS;
	child = check_fork();
	if (child == 0) {
		be_deadline(2 * MS, 10 * MS, 10 * MS);
		sleep_until(start);
		used = cpu_time();
		while (check_now() < start + 195 * MS)
			;
		used = cpu_time() - used;
		CHECK_RANGE(used, 39 * MS, 42 * MS);
		_exit(check_failures);
	}
	for (sleep_until(start); check_now() < start + 190 * MS; check_sleep(300 * US)) {
		CHECK_EQ(sched_setscheduler(child, SCHED_OTHER, &other), 0);
		CHECK_EQ(set_deadline(child, 2 * MS, 10 * MS, 10 * MS, 0), 0);
	}
	CHECK_EQ(check_wait(child), 0);
	stop(hog);
}

static int overruns;

static void count_overrun(int sig)
{
	overruns++;
}

static void overrun_signal(void)
{
	struct sigaction act = {.sa_handler = count_overrun};
	long end;

	CHECK_CALL(sigaction(SIGXCPU, &act, NULL));
	CHECK_EQ(set_deadline(0, 2 * MS, 10 * MS, 0, SCHED_FLAG_DL_OVERRUN), 0);
	sched_yield();
	CHECK_EQ(overruns, 0); /* yielding is none */
	end = check_now() + 101 * MS;
	while (check_now() < end)
		;
	CHECK_RANGE(overruns, 10, 11);
	CHECK_EQ(set_deadline(0, 2 * MS, 10 * MS, 0, 0), 0);
	overruns = 0;
	burn(20 * MS);
	CHECK_EQ(overruns, 0);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"budget", budget},	      {"throttling", throttling},
		{"yield", yielding},	      {"order", order},
		{"preempts", preempts},	      {"wake-up", wake_up_rule},
		{"constrained", constrained}, {"no-gain", no_gain},
		{"overrun", overrun_signal},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
