/*
 * faultset: the settings of fault injection (docs/fault-injection.md), by a call that allocates one object:
 * openat() of a file that is there.
 */
#include <faults.h>
#include <fcntl.h>
#include <posix.h>
#include <sys/stat.h>
#include <thread.h>

#define SLAB  "/sys/kernel/debug/failslab/"
#define PAGES "/sys/kernel/debug/fail_page_alloc/"

static long put(const char *name, const char *text)
{
	int out = open(name, O_WRONLY);
	long got = DO(write, out, text, strlen(text));

	close(out);
	return got < 0 ? got : 0;
}

/* Whether the file can be opened, which is the only thing that is counted. */
static bool opens(void)
{
	long got = DO(openat, HERE, "/etc/passwd", O_RDONLY);

	if (got < 0)
		CHECK_EQ(got, -ENOMEM);
	else
		close((int)got);
	return got >= 0;
}

/* How many of n fail. */
static int failing(int n)
{
	int failed = 0;

	while (n--)
		failed += !opens();
	return failed;
}

static long number(const char *name)
{
	static char text[64];
	int in = open(name, O_RDONLY);
	long n = read(in, text, sizeof(text) - 1);

	close(in);
	text[n > 0 ? n : 0] = 0;
	return n > 0 ? atol(text) : -12345;
}

/* This task alone is hit by chance, with certainty and without end; nothing is said about it. */
static void set_up(void)
{
	CHECK_EQ(put(SLAB "ignore-gfp-wait", "N"), 0);
	CHECK_EQ(put(SLAB "task-filter", "Y"), 0);
	CHECK_EQ(put(SLAB "times", "-1"), 0);
	CHECK_EQ(put(SLAB "verbose", "0"), 0);
	CHECK_EQ(put("/proc/self/make-it-fail", "1"), 0);
}

/* What this task does while everything fails: a write to a file that is open already allocates nothing. */
static int probability = -1;

static void set_probability(const char *text)
{
	if (probability < 0)
		probability = open(SLAB "probability", O_RDWR);
	CHECK_EQ(write(probability, text, strlen(text)), strlen(text));
}

static void defaults(void)
{
	static const struct {
		const char *file, *text;
	} all[] = {
		{SLAB "probability", "0\n"},
		{SLAB "interval", "1\n"},
		{SLAB "times", "1\n"},
		{SLAB "space", "0\n"},
		{SLAB "verbose", "2\n"},
		{SLAB "task-filter", "N\n"},
		{SLAB "ignore-gfp-wait", "Y\n"},
		{PAGES "probability", "0\n"},
		{PAGES "interval", "1\n"},
		{PAGES "times", "1\n"},
		{PAGES "space", "0\n"},
		{PAGES "verbose", "2\n"},
		{PAGES "task-filter", "N\n"},
		{PAGES "ignore-gfp-wait", "Y\n"},
		{PAGES "min-order", "1\n"},
		{"/proc/self/fail-nth", "0\n"},
		{"/proc/self/make-it-fail", "0\n"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		CHECK(check_holds(all[i].file, all[i].text));
}

static void refused(void)
{
	int file, mark;

	CHECK_EQ(put(SLAB "probability", "-1"), -EINVAL);
	CHECK_EQ(put(SLAB "probability", "x"), -EINVAL);
	CHECK_EQ(put(SLAB "times", "-2"), -EINVAL);
	CHECK_EQ(put(SLAB "space", "-1"), -EINVAL);
	CHECK_EQ(put(SLAB "interval", "1 2"), -EINVAL);
	CHECK_EQ(put(SLAB "task-filter", "2"), -EINVAL);
	CHECK_EQ(put(PAGES "times", "-1"), 0);
	CHECK_EQ(number(PAGES "times"), -1);
	CHECK_EQ(put(PAGES "times", "1"), 0);
	CHECK_EQ(put("/proc/self/fail-nth", "-1"), -EINVAL);
	CHECK_EQ(put("/proc/self/fail-nth", "one"), -EINVAL);
	CHECK_EQ(put("/proc/self/fail-nth", "99999999999"), -ERANGE);
	CHECK_EQ(put("/proc/self/make-it-fail", "2"), -EINVAL);
	CHECK_EQ(put("/proc/self/make-it-fail", "-1"), -EINVAL);
	CHECK_EQ(number("/proc/self/make-it-fail"), 0);
	file = open("/proc/self/fail-nth", O_RDWR);
	mark = open("/proc/self/make-it-fail", O_RDWR);
	become_user(1000);
	CHECK_ERRNO(write(mark, "1", 1), EPERM);
	CHECK_EQ(write(file, "5", 1), 1);
	CHECK_EQ(write(file, "0", 1), 1);
}

/* The nth allocation, and neither one before nor one behind it; what the file says meanwhile. */
static void nth(void)
{
	int file = open("/proc/self/fail-nth", O_RDWR);
	char text[8] = "";

	CHECK_EQ(put(SLAB "verbose", "0"), 0);
	CHECK_EQ(write(file, "3", 1), 1);
	CHECK_EQ(failing(5), 0); /* those that may sleep do not count */
	CHECK_EQ(CALL(pread64, file, text, 8, 0), 2);
	CHECK_EQ(atol(text), 3);
	CHECK_EQ(put(SLAB "ignore-gfp-wait", "N"), 0); /* which is one: of the open */
	CHECK_EQ(CALL(pwrite64, file, "4", 1, 0), 1);
	CHECK_EQ(failing(3), 0);
	CHECK_EQ(CALL(pread64, file, text, 8, 0), 2);
	CHECK_EQ(atol(text), 1);
	CHECK(!opens());
	CHECK_EQ(CALL(pread64, file, text, 8, 0), 2);
	CHECK_EQ(atol(text), 0);
	CHECK_EQ(failing(20), 0);
	CHECK_EQ(number(SLAB "times"), 0);	      /* it is counted there, too, */
	CHECK_EQ(CALL(pwrite64, file, "1", 1, 0), 1); /* and does not depend on it */
	CHECK(!opens());
}

/* The number is a thread's own; a child has none of it, and the mark for chance. */
static volatile int threads_failing = -1;

static void in_thread(void *arg)
{
	threads_failing = failing(10);
}

static void whose(void)
{
	int file = open("/proc/self/fail-nth", O_RDWR);
	long pid, tid;

	CHECK_EQ(put("/proc/self/make-it-fail", "1"), 0);
	CHECK_EQ(put(SLAB "ignore-gfp-wait", "N"), 0);
	CHECK_EQ(write(file, "1000", 4), 4);
	pid = check_fork();
	if (!pid)
		_exit(number("/proc/self/fail-nth") != 0 || number("/proc/self/make-it-fail") != 1 || failing(2000));
	CHECK_EQ(check_wait((pid_t)pid), 0);
	tid = thread_try_in_group(in_thread, NULL);
	CHECK_CALL(tid < 0 ? -1 : 0);
	while (thread_state(getpid(), (pid_t)tid))
		check_sleep(MS);
	CHECK_EQ(threads_failing, 0);
	CHECK_EQ(CALL(pwrite64, file, "0", 1, 0), 1);
}

static void chance(void)
{
	set_up();
	set_probability("100");
	CHECK_EQ(failing(10), 10);
	set_probability("0");
	CHECK_EQ(failing(10), 0);
	set_probability("50");
	CHECK_RANGE(failing(400), 120, 280);
	set_probability("0");
	CHECK_EQ(put(SLAB "interval", "3"), 0);
	set_probability("100");
	CHECK_EQ(failing(30), 10);
	set_probability("0");
	CHECK_EQ(put(SLAB "interval", "1"), 0);
	CHECK_EQ(put(SLAB "times", "4"), 0);
	set_probability("100");
	CHECK_EQ(failing(10), 4);
	set_probability("0");
	CHECK_EQ(number(SLAB "times"), 0);
}

/* Each success takes its object's size off; a failure comes when no more than one is left. */
static void space(void)
{
	int left, size;

	set_up();
	CHECK_EQ(put(SLAB "space", "2000"), 0);
	set_probability("100");
	CHECK(opens());
	set_probability("0");
	size = 2000 - (int)number(SLAB "space");
	CHECK_RANGE(size, 64, 1000);
	CHECK_EQ(put(SLAB "space", "2000"), 0);
	set_probability("100");
	left = failing(100);
	set_probability("0");
	CHECK_EQ(100 - left, (2000 - 1) / size);
	CHECK_EQ(number(SLAB "space"), 2000 - (2000 - 1) / size * size);
}

static void filter(void)
{
	set_up();
	CHECK_EQ(put("/proc/self/make-it-fail", "0"), 0);
	set_probability("100");
	CHECK_EQ(failing(10), 0);
	set_probability("0");
	CHECK_EQ(put(SLAB "ignore-gfp-wait", "Y"), 0);
	CHECK_EQ(put("/proc/self/make-it-fail", "1"), 0);
	set_probability("100");
	CHECK_EQ(failing(10), 0);
	set_probability("0");
	CHECK_EQ(put(SLAB "ignore-gfp-wait", "N"), 0);
	CHECK_EQ(put("/proc/self/make-it-fail", "0"), 0);
	CHECK_EQ(put(SLAB "task-filter", "N"), 0);
	set_probability("100");
	CHECK(!opens());
	set_probability("0");
}

/* Pages: those of a file in memory, which are single ones. */
static void order(void)
{
	static char room[5 * 4096];
	int file = open("/tmp/pages", O_RDWR | O_CREAT, 0600), nth_file = open("/proc/self/fail-nth", O_RDWR);
	char text[8] = "";

	CHECK_EQ(put(PAGES "ignore-gfp-wait", "N"), 0);
	CHECK_EQ(put(PAGES "verbose", "0"), 0);
	CHECK_EQ(write(nth_file, "3", 1), 1);
	CHECK_EQ(write(file, room, sizeof(room)), sizeof(room));
	CHECK_EQ(CALL(pread64, nth_file, text, 8, 0), 2);
	CHECK_EQ(atol(text), 3);
	CHECK_EQ(put(PAGES "min-order", "0"), 0);
	CHECK_EQ(CALL(pwrite64, nth_file, "3", 1, 0), 1);
	CHECK_EQ(write(file, room, sizeof(room)), 2 * 4096);
	CHECK_EQ(CALL(pread64, nth_file, text, 8, 0), 2);
	CHECK_EQ(atol(text), 0);
	unlink("/tmp/pages");
}

/* One fault with the message that `verbose` wants, for the script to look at. */
static void message(void)
{
	set_up();
	CHECK_EQ(put(SLAB "verbose", "1"), 0);
	CHECK_EQ(put("/proc/self/fail-nth", "1"), 0);
	CHECK(!opens());
	CHECK_EQ(put(SLAB "verbose", "2"), 0);
	CHECK_EQ(put("/proc/self/fail-nth", "1"), 0);
	CHECK(!opens());
}

static void put_back(void)
{
	put(SLAB "probability", "0");
	put(SLAB "interval", "1");
	put(SLAB "times", "1");
	put(SLAB "space", "0");
	put(SLAB "verbose", "2");
	put(SLAB "task-filter", "N");
	put(SLAB "ignore-gfp-wait", "Y");
	put(PAGES "ignore-gfp-wait", "Y");
	put(PAGES "min-order", "1");
	put(PAGES "verbose", "2");
	put(PAGES "times", "1");
}

#define CASE(name)          \
	{                   \
#name, name \
	}
static const struct check_case cases[] = {
	CASE(defaults), CASE(refused),	CASE(nth),     CASE(put_back), CASE(whose),    CASE(put_back),
	CASE(chance),	CASE(put_back), CASE(space),   CASE(put_back), CASE(filter),   CASE(put_back),
	CASE(order),	CASE(put_back), CASE(message), CASE(put_back), CASE(defaults),
};

int main(int argc, char **argv)
{
	return check_main(argc, argv, cases, sizeof(cases) / sizeof(*cases));
}
