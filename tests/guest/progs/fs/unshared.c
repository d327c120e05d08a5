/*
 * unshared: tasks that share their descriptors, working directory and umask leave them: unshare(2), and close_range(2),
 * which copies only what it does not close. fs.nr_open bounds the tables.
 */
/* also on Linux */
#include <callnumbers.h>
#include <posix.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread.h>

enum { FS = 0x200, FILES = 0x400, SIGHAND = 0x800, VM = 0x100, THREAD = 0x10000, SYSVSEM = 0x40000 };
enum { NEWTIME = 0x80, NEWNS = 0x20000, NEWUSER = 0x10000000, NEWNET = 0x40000000 };
enum { UNSHARE = 2, CLOEXEC = 4 };
#define HIGH 300

static int ends[2]; /* from the child to its parent */

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) != -1;
}

static int null_at(int fd)
{
	int null = (int)CHECK_CALL(open("/dev/null", O_RDWR));

	CHECK_EQ(CALL(dup3, null, fd, 0), fd);
	CHECK_CALL(close(null));
	return fd;
}

/* A child that shares descriptors and directory with its parent (memory is its own, as after fork), and its status. */
static int shares(void (*f)(void))
{
	pid_t pid;

	fflush(stdout);
	pid = (pid_t)CALL(clone, FS | FILES | SIGCHLD, 0, 0, 0, 0);
	if (!pid) {
		check_failures = 0;
		f();
		fflush(stdout);
		_exit(!!check_failures);
	}
	return check_wait(pid);
}

static void leaves_files(void)
{
	CHECK_CALL(close(40));
	CHECK_CALL(CALL(unshare, FILES));
	CHECK(is_open(HIGH));
	CHECK_CALL(close(HIGH));
	null_at(41);
}

static void leaves_directory(void)
{
	umask(011);
	CHECK_CALL(CALL(unshare, FS));
	umask(077);
	CHECK_CALL(chdir("/"));
	null_at(42);
}

static void files_and_directory(void)
{
	char cwd[256], now[256];

	CHECK(CALL(getcwd, cwd, sizeof(cwd)) > 0);
	null_at(40);
	null_at(HIGH);
	CHECK_EQ(shares(leaves_files), 0);
	CHECK(!is_open(40) && !is_open(41) && is_open(HIGH));
	CHECK_EQ(shares(leaves_directory), 0);
	CHECK(is_open(42));
	CHECK(CALL(getcwd, now, sizeof(now)) > 0 && !strcmp(cwd, now));
	CHECK_EQ(umask(022), 011);
}

static void asks_for_more(void)
{
	CHECK_CALL(CALL(unshare, 0));
	CHECK_CALL(CALL(unshare, FS | FILES | SYSVSEM));
	CHECK_CALL(CALL(unshare, THREAD)); /* no other thread is there */
	CHECK_CALL(CALL(unshare, SIGHAND));
	CHECK_CALL(CALL(unshare, VM));
	CHECK_ERRNO(CALL(unshare, 1), EINVAL);
	CHECK_ERRNO(CALL(unshare, 0x4000 /* CLONE_VFORK */), EINVAL);
	CHECK_ERRNO(CALL(unshare, 1UL << 40), EINVAL);
#ifndef __linux__ /* here are no namespaces */
	CHECK_ERRNO(CALL(unshare, NEWNS), EINVAL);
	CHECK_ERRNO(CALL(unshare, NEWTIME), EINVAL);
	CHECK_ERRNO(CALL(unshare, NEWUSER), EINVAL);
	become_user(1000);
	CHECK_ERRNO(CALL(unshare, NEWUSER), EINVAL);
	CHECK_ERRNO(CALL(unshare, NEWNET | FILES), EPERM);
#endif
}

static void sleeps(void *arg)
{
	char byte;

	read(*(int *)arg, &byte, 1);
}

/* With another thread, and with a process that shares the memory. */
static void not_alone(void)
{
	pid_t pid;

	CHECK_CALL(pipe(ends));
	pid = thread_start(-1, sleeps, &ends[0]);
	CHECK_CALL(CALL(unshare, THREAD));
	CHECK_ERRNO(CALL(unshare, VM), EINVAL);
	check_give(ends[1], 'x');
	CHECK(thread_join(&pid, 1));
	CHECK_CALL(CALL(unshare, VM));
	thread_start_in_group(sleeps, &ends[0]);
	CHECK_ERRNO(CALL(unshare, THREAD), EINVAL);
	CHECK_ERRNO(CALL(unshare, SIGHAND), EINVAL);
	CHECK_ERRNO(CALL(unshare, VM), EINVAL);
	CHECK_CALL(CALL(unshare, FILES | FS));
}

/* --- close_range(2) --- */

static void closes_its_own(void)
{
	CHECK_CALL(CALL(close_range, 50, ~0U, UNSHARE));
	CHECK(!is_open(50) && !is_open(HIGH) && is_open(49));
}

static void marks_its_own(void)
{
	CHECK_CALL(CALL(close_range, 49, 60, UNSHARE | CLOEXEC));
	CHECK_EQ(fcntl(50, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(fcntl(HIGH, F_GETFD), 0);
	CHECK_CALL(CALL(close_range, 49, 49, 0));
	CHECK(is_open(50) && !is_open(49));
}

static void closes_from_the_middle(void)
{
	CHECK_CALL(CALL(close_range, 50, 200, UNSHARE));
	CHECK(!is_open(50) && !is_open(128) && is_open(49) && is_open(HIGH));
	null_at(128);
	CHECK_CALL(CALL(close_range, 100, 200, UNSHARE)); /* nobody shares it any more */
	CHECK(!is_open(128));
}

static void ranges(void)
{
	null_at(49);
	null_at(50);
	null_at(128);
	null_at(HIGH);
	CHECK_ERRNO(CALL(close_range, 5, 4, UNSHARE), EINVAL);
	CHECK_ERRNO(CALL(close_range, 5, 5, 1), EINVAL);
	CHECK_ERRNO(CALL(close_range, 5, 5, 8), EINVAL);
	CHECK_EQ(shares(closes_its_own), 0);
	CHECK_EQ(shares(marks_its_own), 0);
	CHECK_EQ(shares(closes_from_the_middle), 0);
	CHECK(is_open(49) && is_open(50) && is_open(128) && is_open(HIGH));
	CHECK_EQ(fcntl(50, F_GETFD), 0);
	CHECK_CALL(CALL(close_range, 50, ~0U, CLOEXEC));
	CHECK_EQ(fcntl(HIGH, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(fcntl(49, F_GETFD), 0);
}

#ifndef __linux__ /* where a program may set fs.nr_open */
#define NR_OPEN "/proc/sys/fs/nr_open"

static int set_nr_open(const char *text)
{
	int fd = (int)CHECK_CALL(open(NR_OPEN, O_WRONLY)), err = write(fd, text, strlen(text)) < 0 ? errno : 0;

	close(fd);
	return err;
}

static void too_many_to_copy(void)
{
	CHECK_ERRNO(CALL(unshare, FILES), EMFILE);
	CHECK_ERRNO(CALL(close_range, 3, 10, UNSHARE), EMFILE);
	CHECK_CALL(CALL(close_range, 3, ~0U, UNSHARE)); /* what it closes it need not copy */
	CHECK_CALL(CALL(close_range, 3, ~0U, 0));
}

/* A copy is only as large as what is in it, and grows up to fs.nr_open. */
static void small_table(void)
{
	CHECK_EQ(CALL(dup3, 2, 999, 0), 999);
	CHECK_ERRNO(CALL(dup3, 2, 1024, 0), EBADF);
	CHECK_ERRNO(fcntl(2, F_DUPFD, 1024), EMFILE);
}

/* As Linux's selftest core/unshare_test does it, and the other ways to a table. */
static void nr_open(void)
{
	struct rlimit limit = {66560, 66560};

	CHECK(check_holds(NR_OPEN, "65536\n"));
	CHECK_EQ(set_nr_open("63"), EINVAL);
	CHECK_EQ(set_nr_open("2147483648"), EINVAL);
	CHECK_EQ(set_nr_open("2147483647"), EINVAL);
	CHECK_EQ(set_nr_open("x"), EINVAL);
	CHECK_ERRNO(setrlimit(RLIMIT_NOFILE, &limit), EPERM);
	CHECK_EQ(set_nr_open("66560"), 0);
	CHECK(check_holds(NR_OPEN, "66560\n"));
	CHECK_CALL(setrlimit(RLIMIT_NOFILE, &limit));
	CHECK_EQ(CALL(dup3, 2, 65600, 0), 65600);
	CHECK_EQ(set_nr_open("1000"), 0);
	CHECK_CALL(fcntl(65600, F_GETFD));
	CHECK_ERRNO(CALL(clone, SIGCHLD, 0, 0, 0, 0), EMFILE);
	CHECK_EQ(shares(too_many_to_copy), 0);
	CHECK_CALL(close(65600));
	CHECK_EQ(CALL(dup3, 2, 2000, 0), 2000); /* the table has the room already */
	CHECK_CALL(close(2000));
	CHECK_EQ(check_in_child(small_table), 0);
	CHECK_EQ(set_nr_open("65536"), 0);
}
#endif

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"files_and_directory", files_and_directory},
		{"asks_for_more", asks_for_more},
		{"not_alone", not_alone},
		{"ranges", ranges},
#ifndef __linux__
		{"nr_open", nr_open},
#endif
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
