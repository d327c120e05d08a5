/*
 * killstorm: families that fork, exec, stop, go on and are killed at any moment; every child must be reaped
 * with a status it can have.
 */
#include <check.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define CHILDREN 6 /* of each family at a time */

static unsigned long long random_state;

static unsigned next_random(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(random_state >> 33);
}

static void nap(long ns)
{
	struct timespec t = {0, ns};

	nanosleep(&t, NULL);
}

/* What a child does until it ends by itself, with status 0 to 7, or is killed. */
static void __attribute__((noreturn)) child(char *self, unsigned kind)
{
	char seed[16];
	char *again[] = {self, "child", seed, NULL};
	volatile unsigned spin;

	switch (kind % 8) {
	case 0:
		for (;;)
			nap(999999999);
	case 1:
		for (spin = 0; spin < 2000000; spin++)
			;
		break;
	case 2:
		nap(kind % 3000000);
		break;
	case 3:
	case 4:
		snprintf(seed, sizeof(seed), "%u", kind / 8);
		execve("/proc/self/exe", again, environ);
		_exit(99);
	case 5:
		if (fork() == 0) /* its parent may be gone before it: then init reaps it */
			nap(kind % 500000);
		break;
	case 6:
		raise(SIGSTOP);
		break;
	}
	_exit(kind & 7);
}

static bool is_possible(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status) < 8;
	return WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);
}

/* One step of a family: a new child in a free place, a signal to one that is there, or a look at who has ended. */
static void step(char *self, pid_t *pids, unsigned long *reaped)
{
	static const int signals[] = {SIGKILL, SIGTERM, SIGSTOP, SIGCONT, SIGKILL, SIGCONT};
	unsigned i = next_random() % CHILDREN, kind = next_random();
	int status;
	pid_t pid;

	if (!pids[i]) {
		pids[i] = fork();
		if (pids[i] == 0)
			child(self, kind);
		CHECK_CALL(pids[i]);
	} else if (kind % 4) {
		CHECK_EQ(kill(pids[i], signals[kind / 4 % 6]), 0);
	}
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		CHECK(is_possible(status));
		for (i = 0; i < CHILDREN; i++)
			if (pids[i] == pid)
				pids[i] = 0;
		++*reaped;
	}
}

static int family(char *self, unsigned number, long rounds)
{
	pid_t pids[CHILDREN] = {0};
	unsigned long reaped = 0;
	int status;

	random_state = number * 7919 + 1;
	for (long round = 0; round < rounds && !check_failures; round++)
		step(self, pids, &reaped);
	for (int i = 0; i < CHILDREN; i++) {
		if (!pids[i])
			continue;
		kill(pids[i], SIGKILL);
		CHECK_EQ(waitpid(pids[i], &status, 0), pids[i]);
		CHECK(is_possible(status));
		reaped++;
	}
	CHECK_EQ(waitpid(-1, &status, 0), -1);
	printf("killstorm: family %u: %lu reaped\n", number, reaped);
	return vt_finish(check_failures ? 1 : 0);
}

/* killstorm FAMILIES ROUNDS; "killstorm child KIND" is what its children exec. */
int main(int argc, char **argv)
{
	long families, rounds;
	int bad = 0, status;

	if (argc > 2 && !strcmp(argv[1], "child"))
		child(argv[0], (unsigned)vt_number_or_die(2, argv[2], 0, 0xffffffff));
	families = argc > 1 ? vt_number_or_die(2, argv[1], 1, 64) : 4;
	rounds = argc > 2 ? vt_number_or_die(2, argv[2], 1, 1000000000) : 500;
	for (long i = 0; i < families; i++)
		if (check_fork() == 0)
			return family(argv[0], (unsigned)i, rounds);
	for (long i = 0; i < families; i++) {
		CHECK_CALL(wait(&status));
		bad |= status != 0;
	}
	printf("killstorm: %s\n", bad || check_failures ? "something was wrong" : "all well");
	return vt_finish(bad || check_failures);
}
