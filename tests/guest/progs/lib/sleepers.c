/* Tasks that make one futex call that sleeps: starting them, seeing them asleep, and what became of the call.
 */
#include <sleepers.h>

#include <signal.h>
#include <sys/mman.h>
#include <thread.h>

#define PDEATHSIG 1

long futex(futex_t *word, int op, unsigned val, const void *time_or_val2, futex_t *word2, unsigned val3)
{
	return vt_syscall(SYS_futex, (long)word, op, val, (long)time_or_val2, (long)word2, val3);
}

long futex_wake(futex_t *word, unsigned n)
{
	return futex(word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, n, NULL, NULL, 0);
}

/* On a thread's stack: no libc that keeps state. A test that fails and ends must leave no sleeper behind. */
static void sleep_once(void *arg)
{
	struct sleeper *s = arg;

	vt_syscall(SYS_prctl, PDEATHSIG, SIGKILL, 0, 0, 0, 0);
	s->began = check_now();
	s->result = futex(s->word, s->op, s->val, s->time, NULL, s->bitset);
	s->end = check_now();
}

/* Poll until it sleeps or has ended. Whether it sleeps. */
static bool settle(const struct sleeper *s)
{
	long give_up = check_now() + SLEEPER_PATIENCE;

	while (check_now() < give_up) {
		if (s->end)
			return false;
		if (thread_state(s->pid, s->pid) == 'S' && !s->end)
			return true;
		check_sleep(200000);
	}
	return false;
}

void sleeper_start(struct sleeper *s)
{
	pid_t pid;

	s->result = SLEEPER_STUCK;
	s->end = 0;
	if (s->forked) {
		pid = check_fork();
		if (pid == 0) {
			sleep_once(s);
			_exit(0);
		}
	} else {
		pid = thread_start(-1, sleep_once, s);
	}
	s->pid = pid; /* by the parent only: *s is shared */
	settle(s);
}

void sleepers_start(struct sleeper *s, int n, futex_t *word, unsigned val)
{
	for (int i = 0; i < n; i++) {
		s[i] = (struct sleeper){.word = word, .op = FUTEX_WAIT | FUTEX_PRIVATE_FLAG, .val = val};
		sleeper_start(&s[i]);
		CHECK(sleeper_sleeps(&s[i]));
	}
}

bool sleeper_sleeps(const struct sleeper *s)
{
	if (settle(s))
		return true;
	if (s->end)
		printf("  a sleeper's call has returned %ld\n", s->result);
	else
		printf("  a sleeper is in state %c\n", thread_state(s->pid, s->pid));
	return false;
}

/* The call's end is said by the task itself, its own end comes soon after. */
long sleeper_join(struct sleeper *s)
{
	long give_up = check_now() + SLEEPER_PATIENCE;

	while (!s->end && check_now() < give_up)
		check_sleep(200000);
	if (!s->end)
		kill(s->pid, SIGKILL);
	check_wait(s->pid);
	return s->result;
}

bool sleepers_woken(struct sleeper *s, int n)
{
	bool good = true;

	for (int i = 0; i < n; i++) {
		long result = sleeper_join(&s[i]);

		if (result == 0)
			continue;
		good = false;
		printf("  sleeper %d of %d %s (%ld)\n", i, n,
		       result == SLEEPER_STUCK ? "was not woken" : "was woken, but not by FUTEX_WAKE", result);
	}
	return good;
}

bool sleepers_sleep(const struct sleeper *s, int n)
{
	bool good = true;

	for (int i = 0; i < n; i++)
		good &= sleeper_sleeps(&s[i]);
	return good;
}

bool word_becomes(const volatile futex_t *word, futex_t value)
{
	long give_up = check_now() + SLEEPER_PATIENCE;

	while (*word != value && check_now() < give_up)
		check_sleep(200000);
	return CHECK_EQ(*word, value);
}

futex_t *shared_words(int n)
{
	futex_t *words =
		mmap(NULL, (size_t)n * sizeof(*words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (words == MAP_FAILED)
		vt_die_errno(2, "mmap");
	return words;
}

struct timespec later_on(int clock, long ns)
{
	struct timespec t = {0};
	long at;

	if (clock_gettime(clock, &t))
		vt_die_errno(2, "clock_gettime");
	at = t.tv_sec * 1000000000L + t.tv_nsec + ns;
	return (struct timespec){.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};
}

struct timespec later(long ns)
{
	return later_on(CLOCK_MONOTONIC, ns);
}
