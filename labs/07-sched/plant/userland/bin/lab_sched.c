/*
 * lab_sched MS KIND:NAME:NICE[:A[:B]]...: tasks that want CPU 0 for MS milliseconds, from the same moment on. What they
 * got stands in the records of sched_switch; nothing is printed but what a kind says.
 *
 *	hog:NAME:NICE		runs all the time
 *	nap:NAME:NICE:A:B	sleeps A ms, runs B us, and so on
 *	late:NAME:NICE:A	sleeps A ms once, and then runs all the time
 *	fork:NAME:NICE:A	has one child after the other, which each runs A us
 *	slice:NAME:NICE		runs all the time, and prints at its end which slice it had, in ns
 *				(sched_rr_get_interval)
 *	yield:NAME:NICE		calls sched_yield() all the time
 *	move:NAME:NICE:A	runs on CPU 1 alone for A ms, then on CPU 0
 */
#include <sched.h>
#include <bits/syscall.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <vt.h>

#define MOST 40

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void pause_for(int64_t ns)
{
	struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	nanosleep(&t, NULL);
}

/*
 * Looks at the clock every 2 us: with icount, a look takes the host as long as hundreds of other instructions, and one
 * that does nothing takes it no time at all.
 */
static void spin_until(int64_t end)
{
	while (now() < end)
		for (int i = 0; i < 10; i++)
			asm volatile(".rept 200\n\tnop\n\t.endr");
}

static void pin(int cpu)
{
	cpu_set_t set = {{1UL << cpu}};

	if (sched_setaffinity(0, sizeof(set), &set))
		vt_die_errno(1, "sched_setaffinity");
}

static void forks(int64_t end, int64_t ns)
{
	while (now() < end) {
		pid_t pid = fork();

		if (pid == 0) {
			spin_until(now() + ns);
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

/* The slice is asked for when half of the time is over, and all are there. */
static void tell_slice(int64_t end)
{
	struct timespec slice;
	char name[17] = "";

	spin_until((now() + end) / 2);
	if (vt_syscall(SYS_sched_rr_get_interval, 0, (long)&slice, 0, 0, 0, 0) < 0)
		vt_die_errno(1, "sched_rr_get_interval");
	spin_until(end);
	prctl(PR_GET_NAME, (unsigned long)name, 0, 0, 0);
	printf("slice %s %ld\n", name, (long)(slice.tv_sec * 1000000000 + slice.tv_nsec));
	fflush(stdout);
}

/* The work of one task until `end`; kind and numbers as above. */
static void work(const char *kind, long a, long b, int64_t end)
{
	if (!strcmp(kind, "nap")) {
		while (now() < end) {
			pause_for(a * 1000000);
			spin_until(now() + b * 1000);
		}
	} else if (!strcmp(kind, "fork")) {
		forks(end, a * 1000);
	} else if (!strcmp(kind, "yield")) {
		while (now() < end)
			sched_yield();
	} else if (!strcmp(kind, "move")) {
		pin(1);
		spin_until(now() + a * 1000000);
		pin(0);
		spin_until(end);
	} else if (!strcmp(kind, "slice")) {
		tell_slice(end);
	} else {
		if (!strcmp(kind, "late"))
			pause_for(a * 1000000);
		spin_until(end);
	}
}

/* A task: it waits for the end of the pipe `begin`. */
static void task(char *spec, int begin, long ms)
{
	char *kind = strsep(&spec, ":"), *name = strsep(&spec, ":"), *nice_of = strsep(&spec, ":");
	char *a = strsep(&spec, ":"), *b = strsep(&spec, ":");
	char byte;

	if (!nice_of)
		vt_die(2, "a task is KIND:NAME:NICE[:A[:B]]");
	prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0);
	pin(0);
	if (setpriority(PRIO_PROCESS, 0, atoi(nice_of)))
		vt_die_errno(1, "setpriority");
	read(begin, &byte, 1);
	work(kind, a ? atol(a) : 0, b ? atol(b) : 0, now() + ms * 1000000);
	_exit(0);
}

int main(int argc, char **argv)
{
	int begin[2];
	long ms;

	if (argc < 3 || argc > MOST)
		vt_die(2, "Usage: lab_sched MS KIND:NAME:NICE[:A[:B]]...");
	ms = vt_number_or_die(2, argv[1], 1, 100000);
	if (pipe(begin))
		vt_die_errno(1, "pipe");
	for (int i = 2; i < argc; i++) {
		if (fork() == 0) {
			close(begin[1]);
			task(argv[i], begin[0], ms);
		}
	}
	pin(0);
	pause_for(20000000); /* until they all wait */
	close(begin[1]);
	while (wait(NULL) > 0)
		;
	return 0;
}
