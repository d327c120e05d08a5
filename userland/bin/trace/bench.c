/*
 * bench: what one operation costs, in nanoseconds of the monotonic clock; under -icount that is guest
 *instructions.
 *
 *	bench clock			the clock's value, for timing from outside
 *	bench write FILE TEXT		one write(2)
 *	bench read FILE			a file from its beginning to its end
 *	bench module FILE		loading it; it stays loaded
 *	bench NAME COUNT		COUNT times getpid, pipe, wakeup, yield, open, fork or spin: the mean of one
 *
 * Each prints one line: a word and numbers.
 */
#include <vt.h>
#include <sched.h>
#include <sys/module.h>
#include <sys/wait.h>
#include <time.h>

static void fail(const char *what)
{
	vt_die_errno(1, what);
}

/* Nanoseconds. A long has 64 bits on both machines; the small printf of newlib knows no long long. */
static long now(void)
{
	struct timespec time;

	if (clock_gettime(CLOCK_MONOTONIC, &time))
		fail("clock_gettime");
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

/* The shortest system call there is, so its time is the cost of entering and leaving the kernel. */
static void getpid_loop(long n)
{
	while (n-- > 0)
		getpid();
}

/*
 * A task that is alone on its CPU gives way to itself: the cost of the scheduler without a switch of
 * tasks.
 */
static void yield_loop(long n)
{
	while (n-- > 0)
		if (sched_yield())
			fail("sched_yield");
}

/*
 * A walk of two components, a descriptor taken and given back. The file is made by the first round.
 */
static void open_loop(long n)
{
	int fd;

	while (n-- > 0) {
		fd = open("/tmp/bench", O_RDONLY | O_CREAT, 0600);
		if (fd < 0 || close(fd))
			fail("/tmp/bench");
	}
}

/* The child ends at once: an address space is copied and thrown away, and the parent is woken. */
static void fork_loop(long n)
{
	pid_t child;

	while (n-- > 0) {
		child = fork();
		if (child == 0)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			fail("fork");
	}
}

/* The far side: sends each byte back until the near side closes. */
static void echo(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1)
		if (write(out, &byte, 1) != 1)
			_exit(1);
	_exit(0);
}

/* A round is two writes, two reads and, on one CPU, two switches. The far side may be a real-time task. */
static void pipe_rounds(long n, int priority)
{
	struct sched_param param = {.sched_priority = priority};
	int there[2], back[2];
	char byte = 0;
	pid_t child;

	if (pipe(there) || pipe(back))
		fail("pipe");
	child = fork();
	if (child < 0)
		fail("fork");
	if (child == 0) {
		close(there[1]);
		close(back[0]);
		if (priority && sched_setscheduler(0, SCHED_FIFO, &param))
			fail("sched_setscheduler");
		echo(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	while (n-- > 0)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			fail("pipe");
	close(there[1]);
	close(back[0]);
	if (waitpid(child, NULL, 0) != child)
		fail("waitpid");
}

static void pipe_loop(long n)
{
	pipe_rounds(n, 0);
}

/*
 * The same with a far side of real time: its wake-up takes the CPU from the near side at once, where
 * the other one waits for the next switch.
 */
static void wakeup_loop(long n)
{
	pipe_rounds(n, 1);
}

/* A program that asks the kernel for nothing: what it takes longer under a tracer is the tracer's. */
static void spin_loop(long n)
{
	for (; n > 0; n--)
		for (int i = 0; i < 50000; i++)
			__asm__ volatile("");
}

static const struct operation {
	const char *name;
	void (*loop)(long n);
} operations[] = {
	{"getpid", getpid_loop}, {"pipe", pipe_loop}, {"wakeup", wakeup_loop}, {"yield", yield_loop},
	{"open", open_loop},	 {"fork", fork_loop}, {"spin", spin_loop},
};

/*
 * Time a long and a short loop and divide the difference by the number of rounds: what both have in
 * common (setting up, reading the clock) falls out. The first short loop warms caches and makes the
 * file.
 *
 *     short = setup + few * cost      long = setup + (few + n) * cost      cost = (long - short) / n
 */
static void measure(const struct operation *operation, long n)
{
	long start, middle, end;
	long few = n / 10 + 1;

	operation->loop(few);
	start = now();
	operation->loop(few);
	middle = now();
	operation->loop(few + n);
	end = now();
	printf("%s %ld\n", operation->name, ((end - middle) - (middle - start)) / n);
}

/* One write of `text`, as `echo text > file` does it but without the shell's own part. */
static void measure_write(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_TRUNC);
	long start;

	if (fd < 0)
		fail(file);
	start = now();
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		fail(file);
	printf("write %ld\n", now() - start);
	close(fd);
}

/* A file from its beginning to its end: bytes, lines, and how long reading took. */
static void measure_read(const char *file)
{
	static char buffer[4096];
	long start, time = 0;
	long bytes = 0, lines = 0;
	int fd = open(file, O_RDONLY);
	ssize_t got, i;

	if (fd < 0)
		fail(file);
	for (;;) {
		start = now();
		got = read(fd, buffer, sizeof(buffer));
		time += now() - start;
		if (got <= 0)
			break;
		bytes += got;
		for (i = 0; i < got; i++)
			lines += buffer[i] == '\n';
	}
	if (got < 0)
		fail(file);
	printf("read %ld bytes %ld lines %ld\n", time, bytes, lines);
	close(fd);
}

static void measure_module(const char *path)
{
	int fd = open(path, O_RDONLY);
	long start = now();

	if (fd < 0 || finit_module(fd, "", 0))
		fail(path);
	printf("module %ld\n", now() - start);
	close(fd);
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "bench clock | write FILE TEXT | read FILE | module FILE | "
					"{getpid|pipe|wakeup|yield|open|fork|spin} COUNT",
			       .options = "",
			       .in_order = true,
			       .bad_status = 2};
	long count;

	vt_operands(&o, argc, argv, 0, argc);
	if (argc == 2 && !strcmp(argv[1], "clock")) {
		printf("clock %ld\n", now());
		return vt_finish(0);
	}
	if (argc == 4 && !strcmp(argv[1], "write")) {
		measure_write(argv[2], argv[3]);
		return vt_finish(0);
	}
	if (argc != 3)
		vt_usage(&o);
	if (!strcmp(argv[1], "module")) {
		measure_module(argv[2]);
		return 0;
	}
	if (!strcmp(argv[1], "read")) {
		measure_read(argv[2]);
		return vt_finish(0);
	}
	count = vt_number_or_die(2, argv[2], 1, 1L << 40);
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		if (!strcmp(argv[1], operations[i].name)) {
			measure(&operations[i], count);
			return vt_finish(0);
		}
	}
	vt_usage(&o);
}
