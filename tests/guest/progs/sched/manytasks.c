/*
 * manytasks [MOST | numbers]: what an operation costs while there are 100, a tenth of MOST and MOST tasks
 * that sleep (10,000), in instructions: to be run with -icount on one CPU. Prints a table, and fails when a
 * cost grows with the number of tasks. "numbers": what tasks and groups are called while pid_max is 340, and that a
 * timer does not take a later thread for the one that had its number; "again": that numbers are given again.
 */
#include <check.h>
#include <callnumbers.h>
#include <limits.h>
#include <numbers.h>
#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread.h>

#define ROUNDS 20

static int hold[2];  /* sleepers read from it until all its writers are gone */
static pid_t leader; /* of a process group in which nobody is but what an operation puts there */

static void sleep_until_released(void)
{
	char byte;

	close(hold[1]);
	read(hold[0], &byte, 1);
}

/* --- operations; each does one round */

static pid_t spawn_exiting(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		vt_die_errno(1, "fork");
	return pid;
}

static void fork_wait(void)
{
	waitpid(spawn_exiting(), NULL, 0);
}

static void fork_wait_any(void)
{
	spawn_exiting();
	wait(NULL);
}

static int there[2], back[2];

static void wake(void)
{
	check_give(there[1], 'x');
	check_take(back[0]);
}

static void kill_one(void)
{
	kill(leader, 0);
}

static void kill_group(void)
{
	kill(-leader, SIGCONT);
}

static void nice_group(void)
{
	setpriority(PRIO_PGRP, leader, 0);
}

static void make_group(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		setpgid(0, getppid());
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void make_session(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void poll_child(void)
{
	waitpid(leader, NULL, WNOHANG);
}

static void poll_any(void)
{
	waitpid(-1, NULL, WNOHANG);
}

static void read_stat(void)
{
	char text[512], name[32];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)leader);
	fd = open(name, O_RDONLY);
	read(fd, text, sizeof(text));
	close(fd);
}

static int processes_seen;

static void ps(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	char text[512], name[300];

	processes_seen = 0;
	while ((entry = readdir(dir))) {
		int fd;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(name, sizeof(name), "/proc/%s/stat", entry->d_name);
		fd = open(name, O_RDONLY);
		if (fd < 0)
			continue;
		read(fd, text, sizeof(text));
		close(fd);
		processes_seen++;
	}
	closedir(dir);
}

/* It never returns from its wait but ends with its process, so what its stack holds by then is no matter. */
static void thread_sleeps(void *unused)
{
	char byte = 'x';

	write(back[1], &byte, 1);
	read(hold[0], &byte, 1);
}

static int threads_wanted;

/* As many threads in one process as there are tasks, made and ended. */
static void threads(void)
{
	pid_t pid = check_fork();

	if (pid == 0) {
		for (int i = 0; i < threads_wanted; i++) {
			thread_start_in_group(thread_sleeps, NULL);
			check_take(back[0]);
		}
		_exit(0);
	}
	CHECK_EQ(check_wait(pid), 0);
	processes_seen = threads_wanted;
}

struct operation {
	const char *name;
	void (*run)(void);
	int rounds;
	bool linear;
};

static const struct operation operations[] = {
	{"fork, exit, wait for it", fork_wait, ROUNDS, false},
	{"fork, exit, wait for any", fork_wait_any, ROUNDS, false},
	{"wake and be woken", wake, ROUNDS, false},
	{"kill a process", kill_one, ROUNDS, false},
	{"kill a group of two", kill_group, ROUNDS, false},
	{"nice of a group of two", nice_group, ROUNDS, false},
	{"fork, setpgid, exit", make_group, ROUNDS, false},
	{"fork, setsid, exit", make_session, ROUNDS, false},
	{"wait, WNOHANG, one", poll_child, ROUNDS, false},
	{"wait, WNOHANG, any", poll_any, ROUNDS, false},
	{"read /proc/PID/stat", read_stat, ROUNDS, false},
	{"ps, a process", ps, 1, true},
	{"threads, made and ended, one", threads, 1, true},
};
#define OPERATIONS ARRAY_SIZE(operations)

static int counts[] = {100, 1000, 10000};
static long costs[OPERATIONS][ARRAY_SIZE(counts)];

/* The least of three: a tick or a worker that gives memory back may come into one of them. */
static long measure(const struct operation *op)
{
	long start, took, least = LONG_MAX;

	if (!op->linear)
		op->run(); /* once for caches */
	for (int try = 0; try < (op->linear ? 1 : 3); try++) {
		start = check_now();
		for (int i = 0; i < op->rounds; i++)
			op->run();
		took = (check_now() - start) / op->rounds;
		least = took < least ? took : least;
	}
	return op->linear ? least / processes_seen : least;
}

static void start_partner(void)
{
	CHECK_CALL(pipe(there));
	CHECK_CALL(pipe(back));
	leader = check_fork();
	if (leader == 0) {
		setpgid(0, 0);
		if (check_fork() == 0) {
			sleep_until_released();
			_exit(0);
		}
		close(hold[1]);
		close(there[1]);
		for (char byte; read(there[0], &byte, 1) == 1;)
			write(back[1], &byte, 1);
		_exit(0);
	}
	setpgid(leader, leader);
	wake();
}

static void make_sleepers(int n)
{
	while (n--) {
		if (check_fork() == 0) {
			sleep_until_released();
			_exit(0);
		}
	}
}

/* Memory that was never used yet costs the first few some more; beyond a tenth it is growth. */
static void compare(const char *name, const long *cost)
{
	printf("%-28s %9ld %9ld %9ld\n", name, cost[0], cost[1], cost[2]);
	CHECK_RANGE(cost[1], 1, cost[0] * 11 / 10 + 100);
	CHECK_RANGE(cost[2], 1, cost[0] * 11 / 10 + 100);
}

static pid_t next_number(void)
{
	pid_t pid = spawn_exiting();

	waitpid(pid, NULL, 0);
	return pid;
}

static volatile int thread_stop, told;

static void thread_waits(void *arg)
{
	while (!thread_stop)
		check_sleep(1000000);
}

static void on_signal(int sig)
{
	told++;
}

static void end_thread(pid_t tid)
{
	thread_stop = 1;
	while (thread_state(getpid(), tid))
		check_sleep(1000000);
	thread_stop = 0;
}

/* A timer tells one thread (SIGEV_THREAD_ID): a later one that was given that thread's number hears nothing of it. */
static void told_thread(void)
{
	struct {
		long value;
		int signo, notify, tid, pad[11];
	} event = {.signo = SIGUSR1, .notify = 4 /* SIGEV_THREAD_ID */};
	long once[4] = {0, 0, 0, 1000000};
	pid_t tid = 0, later = 0;
	int timer = -1;

	signal(SIGUSR1, on_signal);
	event.tid = tid = thread_start_in_group(thread_waits, NULL);
	CHECK_CALL(CALL(timer_create, 1, &event, &timer));
	CHECK_CALL(CALL(timer_settime, timer, 0, once, 0));
	for (int ms = 0; ms < 1000 && !told; ms++)
		check_sleep(1000000);
	CHECK_EQ(told, 1);
	end_thread(tid);
	for (int i = 0; i < 1000 && later != tid; i++) {
		if (later)
			end_thread(later);
		later = thread_start_in_group(thread_waits, NULL);
	}
	CHECK_EQ(later, tid);
	CHECK_CALL(CALL(timer_settime, timer, 0, once, 0));
	check_sleep(20000000);
	CHECK_EQ(told, 1);
	end_thread(later);
	CHECK_CALL(CALL(timer_delete, timer));
}

/*
 * With pid_max 340: after the first round numbers are 300 to 339. That of a group whose leader is gone is not
 * given again while somebody is in the group.
 */
static int numbers(void)
{
	pid_t pid, group, ahead = 0;

	for (int i = 0; i < 400; i++)
		ahead = next_number();
	CHECK_RANGE(ahead, 300, 339);
	CHECK_CALL(pipe(hold));
	group = check_fork();
	if (group == 0) {
		setpgid(0, 0);
		if (check_fork() == 0) {
			sleep_until_released();
			_exit(0);
		}
		_exit(0);
	}
	CHECK_EQ(check_wait(group), 0);
	CHECK_CALL(kill(-group, 0));
	for (int i = 0; i < 100; i++) {
		pid = next_number();
		CHECK_RANGE(pid, 300, 339);
		CHECK(pid != group);
	}
	close(hold[1]); /* its last member goes, and init reaps it */
	for (int i = 0; i < 100000 && pid != group; i++)
		pid = next_number();
	CHECK_EQ(pid, group);
	CHECK_ERRNO(kill(-group, 0), ESRCH);
	told_thread();
	return check_failures != 0;
}

/*
 * With pid_max 512, after many tasks at once had all numbers below: those that are free again are given again. More
 * than half of them are asked for at once, so that no part of the table can be missing.
 */
static int again(void)
{
	pid_t pid[120];
	char byte;

	for (int i = 0; i < 400; i++)
		CHECK_RANGE(next_number(), 300, 511);
	CHECK_CALL(pipe(hold));
	for (size_t i = 0; i < ARRAY_SIZE(pid); i++) {
		pid[i] = check_fork();
		if (pid[i] == 0) {
			close(hold[1]);
			read(hold[0], &byte, 1);
			_exit(0);
		}
		CHECK_RANGE(pid[i], 300, 511);
	}
	/* The others go round and round meanwhile: each round has to pass over those that are held. */
	for (int i = 0; i < 300; i++)
		CHECK_RANGE(next_number(), 300, 511);
	close(hold[1]);
	for (size_t i = 0; i < ARRAY_SIZE(pid); i++)
		CHECK_EQ(check_wait(pid[i]), 0);
	return check_failures != 0;
}

int main(int argc, char **argv)
{
	long made = 0;

	if (argc > 1 && !strcmp(argv[1], "numbers"))
		return numbers();
	if (argc > 1 && !strcmp(argv[1], "again"))
		return again();
	if (argc > 1) {
		counts[2] = atoi(argv[1]);
		counts[1] = counts[2] / 10;
	}
	check_pin(0);
	CHECK_CALL(pipe(hold));
	start_partner();
	for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
		make_sleepers(counts[c] - made);
		made = threads_wanted = counts[c];
		for (size_t i = 0; i < OPERATIONS; i++)
			costs[i][c] = measure(&operations[i]);
	}
	printf("%-28s %9d %9d %9d\n", "instructions, tasks:", counts[0], counts[1], counts[2]);
	for (size_t i = 0; i < OPERATIONS; i++)
		compare(operations[i].name, costs[i]);
	fflush(stdout);
	_exit(check_failures != 0);
}
