/* Checks, cases in processes of their own, and small things around them. */
#include <check.h>
#include <signal.h>
#include <sched.h>
#include <numbers.h>

int check_failures;
int check_seconds;

static void failed_at(const char *file, int line)
{
	check_failures++;
	printf("  %s:%d: ", vt_basename(file), line);
}

bool check_true(bool ok, const char *text, const char *file, int line)
{
	if (!ok) {
		failed_at(file, line);
		printf("%s does not hold\n", text);
	}
	return ok;
}

bool check_equal(long got, long wanted, const char *text, const char *file, int line)
{
	if (got == wanted)
		return true;
	failed_at(file, line);
	printf("%s is %ld, not %ld\n", text, got, wanted);
	return false;
}

bool check_range(long got, long lo, long hi, const char *text, const char *file, int line)
{
	if (got >= lo && got <= hi)
		return true;
	failed_at(file, line);
	printf("%s is %ld, not in %ld..%ld\n", text, got, lo, hi);
	return false;
}

long check_call(long result, const char *text, const char *file, int line)
{
	int error = errno;

	if (result == -1) {
		failed_at(file, line);
		printf("%s: %s\n", text, strerror(error));
	}
	return result;
}

bool check_errno(long result, int wanted, const char *text, const char *file, int line)
{
	int error = errno;

	if (result == -1 && error == wanted)
		return true;
	failed_at(file, line);
	if (result == -1)
		printf("%s: %s", text, strerror(error));
	else
		printf("%s returned %ld", text, result);
	printf(", not %s\n", strerror(wanted));
	return false;
}

pid_t check_fork(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		vt_die_errno(2, "fork");
	return pid;
}

int check_wait(pid_t pid)
{
	int status = -1;
	pid_t got;

	do {
		got = waitpid(pid, &status, 0);
	} while (got < 0 && errno == EINTR);
	return got == pid ? status : -1;
}

int check_in_child(void (*f)(void))
{
	pid_t pid = check_fork();

	if (pid == 0) {
		check_failures = 0;
		f();
		exit(check_failures ? 1 : 0);
	}
	return check_wait(pid);
}

pid_t check_exits_with(int code)
{
	pid_t pid = check_fork();

	if (pid == 0)
		_exit(code);
	return pid;
}

char thread_state(pid_t pid, pid_t tid)
{
	char path[64], text[256], *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	end = strrchr(text, ')'); /* behind the name, in which anything may stand */
	return end ? end[2] : 0;
}

void check_put(const char *name, const char *text)
{
	int fd = CHECK_CALL(open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644));

	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	CHECK_EQ(close(fd), 0);
}

bool check_holds(const char *name, const char *text)
{
	char *got = vt_read_file(name, NULL);
	bool same = got && !strcmp(got, text);

	free(got);
	return same;
}

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc < 2;
}

/*
 * What started us may ignore signals, as nohup does with SIGHUP, or block them; cases begin without either. Handlers
 * that the program has set before its cases stay.
 */
static void default_signals(void)
{
	struct sigaction act;
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		if (sigaction(sig, NULL, &act) == 0 && act.sa_handler == SIG_IGN)
			signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What check_seconds says holds on a quiet host. A case that hangs does so however long it is waited for. */
#define PATIENCE 5

/*
 * A case in a process group of its own, so that all of it can be killed: its wait status, -1 when it took too long.
 * Looked at again and again, since what is broken may be just what a wait or an alarm relies on; less often the longer
 * it takes, so that a guest where a case waits for ever is idle, and the tests end it.
 */
static int run_limited(void (*f)(void))
{
	long begun = check_now(), end = begun + PATIENCE * check_seconds * 1000000000L;
	pid_t pid = check_fork();
	int status;

	if (pid == 0) {
		setpgid(0, 0);
		default_signals();
		f();
		exit(check_failures ? 1 : 0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (check_now() > end) {
			printf("  not done after %d s\n", PATIENCE * check_seconds);
			kill(-pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		check_sleep(1000000 + (check_now() - begun) / 32);
	}
	kill(-pid, SIGKILL); /* what it left behind */
	return status;
}

/* The case's name stands there before it runs: should it never end, the console says which it was. */
static bool run_case(const struct check_case *c)
{
	int status;

	printf("%s ...\n", c->name);
	status = check_seconds ? run_limited(c->run) : check_in_child(c->run);
	if (status == 0)
		printf("%s ok\n", c->name);
	else if (status > 0 && WIFSIGNALED(status))
		printf("%s FAILED: %s\n", c->name, vt_signal_text(WTERMSIG(status)));
	else
		printf("%s FAILED\n", c->name);
	return status == 0;
}

int check_main(int argc, char **argv, const struct check_case *cases, size_t n)
{
	int ran = 0, bad = 0;
	char failed[200] = ""; /* their names once more: what a console shows of a long test is its end */

	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(failed);

		if (!wanted(cases[i].name, argc, argv))
			continue;
		ran++;
		if (run_case(&cases[i]))
			continue;
		bad++;
		snprintf(failed + len, sizeof(failed) - len, " %s", cases[i].name);
	}
	printf("%s: %d of %d cases passed%s%s\n", vt_name, ran - bad, ran, bad ? ", not:" : "", failed);
	return vt_finish(bad || !ran ? 1 : 0);
}

long check_now(void)
{
	struct timespec now = {0};

	if (clock_gettime(CLOCK_MONOTONIC, &now))
		vt_die_errno(2, "clock_gettime");
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

void check_sleep(long ns)
{
	struct timespec span = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	while (nanosleep(&span, &span) < 0 && errno == EINTR)
		;
}

void check_pin(int cpu)
{
	cpu_set_t set = {{0}};

	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		vt_die_errno(2, "sched_setaffinity");
}

int check_cpus(void)
{
	cpu_set_t set = {{0}};
	int n = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		vt_die_errno(2, "sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		n += CPU_ISSET(cpu, &set);
	return n;
}

void check_give(int fd, char byte)
{
	if (write(fd, &byte, 1) != 1)
		vt_die_errno(2, "write to a pipe");
}

char check_take(int fd)
{
	char byte;
	ssize_t n;

	do {
		n = read(fd, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		vt_die(2, "nothing came through a pipe");
	return byte;
}

long check_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	long result = vt_syscall(nr, a, b, c, d, e, f);

	if (result < 0 && result > -4096) {
		errno = (int)-result;
		return -1;
	}
	return result;
}
