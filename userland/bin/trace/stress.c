/*
 * stress [--cpu N] [--yield N] [--sleep N] [--pipe N] [--fork N] [--vm N] [--fs N] [--timeout
 * SECONDS] [--count ROUNDS] [--verbose]: workers that compute, yield, sleep, talk through pipes,
 * fork, map memory or make files, for a time or a number of rounds.
 *
 * Each worker is a process, and looks whether the kernel keeps its promises: a byte that changes or
 * a child that is lost is a failure. A vm worker needs 4 MiB, an fs worker some 300 KiB of /tmp.
 *
 *     stress --cpu 4 --fork 2 --timeout 10       six processes for ten seconds
 *
 * It is for finding bugs of the kernel by load: run it while something is traced, or under `latency`.
 */
#include <vt.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static int64_t deadline; /* CLOCK_MONOTONIC in ns; 0: none */
static long rounds;	 /* of each worker; 0: no limit */
static bool verbose;
static volatile sig_atomic_t ended; /* a signal has come to an fs worker */

/* Nanoseconds of the monotonic clock; the time of day may be set while we run. */
static int64_t now(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_MONOTONIC, &t) < 0)
		vt_die_errno(1, "clock_gettime");
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * Whether a worker that has done so many rounds goes on. The clock is read only if there is a time
 * limit, as reading it is a system call and would be most of a short round.
 */
static bool goes_on(long done)
{
	if (ended || (rounds && done >= rounds))
		return false;
	return !deadline || now() < deadline;
}

/*
 * Compute. A round is a million steps of a linear congruential generator (the constants are those of
 * Numerical Recipes); each step needs the one before, so no compiler can shorten the loop. The result
 * goes into a volatile variable, or the whole loop would be removed.
 */
static long work_cpu(void)
{
	volatile unsigned int sink;
	unsigned int x = 1;
	long done = 0;

	for (; goes_on(done); done++) {
		for (int i = 0; i < 1000000; i++)
			x = x * 1664525 + 1013904223;
		sink = x;
	}
	(void)sink;
	return done;
}

/* Give the CPU up in each round. Like all kinds of workers it returns the rounds that it has done. */
static long work_yield(void)
{
	long done = 0;

	for (; goes_on(done); done++)
		sched_yield();
	return done;
}

/* Sleep for a millisecond in each round: this loads timers and wake-ups, not the CPU. */
static long work_sleep(void)
{
	struct timespec span = {.tv_nsec = 1000000};
	long done = 0;

	for (; goes_on(done); done++) {
		if (nanosleep(&span, NULL) < 0 && errno != EINTR)
			vt_die_errno(1, "nanosleep");
	}
	return done;
}

/*
 * Fork a child that ends at once. Its exit status proves that it was this child that was reaped, and
 * that it came through unharmed.
 */
static long work_fork(void)
{
	long done = 0;
	int status;

	for (; goes_on(done); done++) {
		pid_t pid = fork();

		if (pid < 0)
			vt_die_errno(1, "fork");
		if (pid == 0)
			_exit(7);
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
			vt_die(1, "a child was lost");
	}
	return done;
}

/* The other end of a pair of pipes: send back what comes until the pipe is closed. */
static void echo_bytes(int from, int to)
{
	char c;
	ssize_t n;

	while ((n = read(from, &c, 1)) == 1) {
		if (write(to, &c, 1) != 1)
			vt_die_errno(1, "write");
	}
	_exit(n < 0);
}

/* Send one byte there and back; it must come back the same. */
static long work_pipe(void)
{
	int there[2], back[2], status;
	long done = 0;
	pid_t pid;

	if (pipe(there) < 0 || pipe(back) < 0)
		vt_die_errno(1, "pipe");
	pid = fork();
	if (pid < 0)
		vt_die_errno(1, "fork");
	if (pid == 0) {
		close(there[1]);
		close(back[0]);
		echo_bytes(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	for (; goes_on(done); done++) {
		/*
		 * Another value each round: a byte that was left over from the last would not be
		 * noticed otherwise.
		 */
		unsigned char out = (unsigned char)done, in;

		if (write(there[1], &out, 1) != 1 || read(back[0], &in, 1) != 1)
			vt_die_errno(1, "pipe");
		if (in != out)
			vt_die(1, "a byte was changed");
	}
	close(there[1]);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		vt_die(1, "the other end failed");
	return done;
}

/*
 * Map memory and write to each page, so that the pages are made one by one. A child then writes to
 * half of them, which copies these (copy on write), and ends. The parent's pages must have kept their
 * values.
 */
static long work_vm(void)
{
	const size_t size = 4 << 20, step = 4096;
	long done = 0;
	int status;

	for (; goes_on(done); done++) {
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		pid_t pid;

		if (p == MAP_FAILED)
			vt_die_errno(1, "mmap");
		for (size_t i = 0; i < size; i += step)
			p[i] = (char)(i / step + (size_t)done);
		pid = fork();
		if (pid < 0)
			vt_die_errno(1, "fork");
		if (pid == 0) {
			memset(p, 0, size / 2); /* its own copies */
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status != 0)
			vt_die(1, "a child was lost");
		for (size_t i = 0; i < size; i += step) {
			if (p[i] != (char)(i / step + (size_t)done))
				vt_die(1, "a byte of memory was changed");
		}
		munmap(p, size);
	}
	return done;
}

#define FS_FILES 32

/* Write a file, read it back under another name, remove it. */
static void check_file(const char *name, const char *other, long seed)
{
	static char out[8192], in[sizeof(out)];
	int fd = open(name, O_CREAT | O_EXCL | O_RDWR, 0600);

	memset(out, (int)seed, sizeof(out));
	if (fd < 0 || vt_write_all(fd, out, sizeof(out)) < 0 || close(fd) < 0 || rename(name, other) < 0)
		vt_die_errno(1, name);
	fd = open(other, O_RDONLY);
	if (fd < 0 || read(fd, in, sizeof(in)) != sizeof(in) || close(fd) < 0)
		vt_die_errno(1, other);
	if (memcmp(in, out, sizeof(in)))
		vt_die(1, "a byte of a file was changed");
}

static void on_end(int sig)
{
	ended = 1;
}

/*
 * Make a directory of files, list it and remove it; the number of names must be right. A signal ends the worker when
 * its round is done, or the files would stay.
 */
static long work_fs(void)
{
	char dir[32], name[48], other[48];
	long done = 0;

	signal(SIGINT, on_end);
	signal(SIGTERM, on_end);
	signal(SIGHUP, on_end);
	snprintf(dir, sizeof(dir), "/tmp/stress-%d", (int)getpid());
	for (; goes_on(done); done++) {
		char **names;
		size_t n = 0;

		if (mkdir(dir, 0700) < 0)
			vt_die_errno(1, dir);
		for (int i = 0; i < FS_FILES; i++) {
			snprintf(name, sizeof(name), "%s/new%d", dir, i);
			snprintf(other, sizeof(other), "%s/%d", dir, i);
			check_file(name, other, done + i);
		}
		names = vt_names(dir);
		for (; names && names[n]; n++) {
			snprintf(name, sizeof(name), "%s/%s", dir, names[n]);
			if (unlink(name) < 0)
				vt_die_errno(1, name);
		}
		vt_names_free(names);
		if (n != FS_FILES || rmdir(dir) < 0)
			vt_die(1, "%s: %ld files in place of %d", dir, (long)n, FS_FILES);
	}
	return done;
}

static const struct kind {
	const char *name;
	long (*work)(void);
} kinds[] = {
	{"cpu", work_cpu},   {"yield", work_yield}, {"sleep", work_sleep}, {"pipe", work_pipe},
	{"fork", work_fork}, {"vm", work_vm},	    {"fs", work_fs},
};

static const char usage[] = "stress [--cpu N] [--yield N] [--sleep N] [--pipe N] [--fork N] [--vm N] [--fs N] "
			    "[--timeout SECONDS] [--count ROUNDS] [--verbose]";

static const char help[] = "  --cpu N      N workers that compute\n"
			   "  --yield N    that call sched_yield\n"
			   "  --sleep N    that sleep a millisecond at a time\n"
			   "  --pipe N     pairs that send a byte there and back\n"
			   "  --fork N     that fork and wait\n"
			   "  --vm N       that map 4 MiB, write to it, and fork\n"
			   "  --fs N       that make, rename, read and remove files in /tmp\n"
			   "  --timeout SECONDS    an end after so long (1.5, 2m, 1h); else only ^C ends it, or\n"
			   "  --count ROUNDS       when each worker has done so many\n"
			   "  --verbose, -v        say how many rounds each has done\n";

/*
 * Fork one worker. Returns its pid, or -1 after a message. The worker asks to get SIGTERM when this
 * process dies; that it is not an orphan already is looked at afterwards, as the parent may have died
 * before.
 */
static pid_t start(const struct kind *kind)
{
	pid_t us = getpid(), pid = fork();

	if (pid < 0)
		vt_warn_errno("fork");
	if (pid == 0) {
		long done;

		/* However we end, the workers end with us. */
		prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
		if (getppid() != us)
			_exit(1);
		done = kind->work();

		if (verbose)
			printf("%s: %ld rounds\n", kind->name, done);
		exit(vt_finish(0));
	}
	return pid;
}

/* --name VALUE or --name=VALUE at argv[*i]. Returns the value, or NULL if it is another option. */
static const char *option_value(const char *name, int argc, char **argv, int *i)
{
	const char *word = argv[*i];
	size_t n = strlen(name);

	if (strncmp(word, "--", 2) || strncmp(word + 2, name, n))
		return NULL;
	if (word[2 + n] == '=')
		return word + 3 + n;
	if (word[2 + n])
		return NULL;
	if (++*i >= argc)
		vt_die(1, "missing argument of option '%s'", word);
	return argv[*i];
}

/* argv[*i] and its value, if it has one. */
static void parse_option(int argc, char **argv, int *i, long *workers)
{
	const char *value;
	int64_t ns;

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		value = option_value(kinds[k].name, argc, argv, i);
		if (value) {
			workers[k] = vt_number_or_die(1, value, 0, 1000);
			return;
		}
	}
	if ((value = option_value("timeout", argc, argv, i))) {
		if (vt_seconds(value, &ns) < 0)
			vt_die(1, "invalid time '%s'", value);
		deadline = now() + ns;
	} else if ((value = option_value("count", argc, argv, i))) {
		rounds = vt_number_or_die(1, value, 1, LONG_MAX);
	} else if (!strcmp(argv[*i], "--verbose") || !strcmp(argv[*i], "-v")) {
		verbose = true;
	} else if (!strcmp(argv[*i], "--help")) {
		printf("Usage: %s\n%s", usage, help);
		exit(vt_finish(0));
	} else {
		vt_die(1, "unknown option '%s' (try stress --help)", argv[*i]);
	}
}

/*
 * The workers run side by side; each reports by its exit status whether the kernel has kept its
 * promises.
 */
int main(int argc, char **argv)
{
	long workers[ARRAY_SIZE(kinds)] = {0}, started = 0, failed = 0;
	int status;

	for (int i = 1; i < argc; i++)
		parse_option(argc, argv, &i, workers);
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		for (long i = 0; i < workers[k]; i++) {
			if (start(&kinds[k]) < 0)
				failed++;
			else
				started++;
		}
	}
	if (!started && !failed)
		vt_die(1, "Usage: %s", usage);
	/* Any order: what counts is that none is lost. */
	for (; started > 0; started--) {
		pid_t pid = wait(&status);

		if (pid < 0 && errno == EINTR)
			started++;
		else if (pid < 0 || status != 0)
			failed++;
	}
	if (failed)
		vt_warn("%ld workers failed", failed);
	return failed != 0;
}
