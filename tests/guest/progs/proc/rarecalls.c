/* rarecalls: bits, limits and answers of calls that few programs make. */
/* also on Linux */
#include <posix.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#ifdef __aarch64__
#define SYS_personality SYS_arm64_personality
#endif
#define CALL(name, ...) CALL_(name, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_(name, a, b, c, d, e, f, ...) \
	check_syscall(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

enum { UNAME26_BIT = 0x20000, NO_RANDOM = 0x40000, READ_EXEC = 0x400000, STICKY = 0x4000000 };

static long persona(unsigned bits)
{
	return CALL(personality, bits);
}

struct names {
	char sysname[65], node[65], release[65], version[65], machine[65], domain[65];
};

static void exec_self(const char *what)
{
	char *argv[] = {"rarecalls", (char *)what, NULL};

	CALL(execve, "/proc/self/exe", argv, NULL);
	_exit(100);
}

static void persona_of_child(void)
{
	CHECK_EQ(persona(READ_EXEC | NO_RANDOM | STICKY), 0);
	exec_self("persona");
}

static void personalities(void)
{
	struct names now, old;
	char text[16];
	int status;

	for (unsigned bit = 1u << 17; bit <= 1u << 27; bit <<= 1) {
		CHECK_CALL(persona(bit));
		CHECK_EQ(persona(0xffffffff), bit);
		snprintf(text, sizeof(text), "%08x\n", bit);
		CHECK(check_holds("/proc/self/personality", text));
	}
	CHECK_EQ(persona(0), 1u << 27);
	CHECK_CALL(CALL(newuname, &now));
	persona(UNAME26_BIT);
	CHECK_CALL(CALL(newuname, &old));
	CHECK(!strncmp(old.release, "2.6.", 4));
	CHECK_EQ(atoi(old.release + 4), 60 + atoi(strchr(now.release, '.') + 1));
	persona(0);
#ifdef __x86_64__
	CHECK_EQ(persona(8), 0);
	CHECK_CALL(CALL(newuname, &old));
	CHECK(!strcmp(old.machine, "i686"));
	CHECK_EQ(persona(0), 8);
#elif !defined(__linux__)
	CHECK_ERRNO(persona(8), EINVAL); /* no 32-bit program can run */
#endif
	status = check_in_child(persona_of_child);
	CHECK_EQ(status, 0);
}

/* A descriptor set that is never ready, so only the time ends the call. */
static void sticky_timeouts(void)
{
	struct timeval tv = {0, 20000};
	struct timespec ts = {0, 20000000};

	CHECK_EQ(CALL(pselect6, 0, NULL, NULL, NULL, &ts, NULL), 0);
	CHECK_EQ(ts.tv_nsec, 0);
	persona(STICKY);
	ts.tv_nsec = 20000000;
	CHECK_EQ(CALL(pselect6, 0, NULL, NULL, NULL, &ts, NULL), 0);
	CHECK_EQ(ts.tv_nsec, 20000000);
	CHECK_EQ(CALL(ppoll, NULL, 0, &ts, NULL, 8), 0);
	CHECK_EQ(ts.tv_nsec, 20000000);
#ifdef __x86_64__
	CHECK_EQ(CALL(select, 0, NULL, NULL, NULL, &tv), 0);
	CHECK_EQ(tv.tv_usec, 20000);
#endif
	(void)tv;
}

/* Does the line of maps for this address have these rights? */
static bool has_rights(const void *at, const char *rights)
{
	char *text = vt_read_file("/proc/self/maps", NULL), start[24], *line;
	bool ok;

	snprintf(start, sizeof(start), "%lx-", (unsigned long)at);
	line = text ? strstr(text, start) : NULL;
	line = line ? strchr(line, ' ') : NULL;
	ok = line && !strncmp(line + 1, rights, 4);
	free(text);
	return ok;
}

static void reading_implies_executing(void)
{
	char *shy = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *bold;

	CHECK(has_rights(shy, "r--p"));
	persona(READ_EXEC);
	bold = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(has_rights(bold, "r-xs"));
	CHECK_CALL(CALL(mprotect, shy, 4096, PROT_READ | PROT_WRITE));
	CHECK(has_rights(shy, "rwxp"));
	CHECK_CALL(CALL(mprotect, shy, 4096, PROT_NONE));
	CHECK(has_rights(shy, "---p"));
}

static long slack(void)
{
	return CALL(prctl, 30, 0, 0, 0, 0);
}

static void set_slack(long ns)
{
	CHECK_EQ(CALL(prctl, 29, ns, 0, 0, 0), 0);
}

static void slack_of_child(void)
{
	CHECK_EQ(slack(), 12345);
	set_slack(99);
	CHECK_EQ(slack(), 99);
	set_slack(0); /* what its creator had */
	CHECK_EQ(slack(), 12345);
}

static void timer_slack(void)
{
	set_slack(12345);
	CHECK_EQ(slack(), 12345);
	CHECK(check_holds("/proc/self/timerslack_ns", "12345\n"));
	CHECK_EQ(check_in_child(slack_of_child), 0);
	check_put("/proc/self/timerslack_ns", "777\n");
	CHECK_EQ(slack(), 777);
	check_put("/proc/self/timerslack_ns", "0");
	CHECK(slack() > 0 && slack() != 777);
	int fd = (int)CHECK_CALL(open("/proc/self/timerslack_ns", O_WRONLY));
	CHECK_ERRNO(write(fd, "x\n", 2), EINVAL);
}

static unsigned char resident[8];
static void count_resident(const char *at, int pages, const char *wanted)
{
	char got[9] = "";

	CHECK_CALL(CALL(mincore, at, pages * 4096L, resident));
	for (int i = 0; i < pages; i++)
		got[i] = (char)('0' + (resident[i] & 1));
	if (!CHECK(!strcmp(got, wanted)))
		printf("  pages %s, not %s\n", got, wanted);
}

static char *shared;
static void touch_shared(void)
{
	shared[4096] = 1;
}

static void pages_in_memory(void)
{
	int fd = (int)CHECK_CALL(open("rare.file", O_RDWR | O_CREAT | O_TRUNC, 0600));
	char *own = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *file;

	shared = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	own[4096] = 1;
	count_resident(own, 4, "0100");
	count_resident(shared, 3, "000");
	CHECK_EQ(check_in_child(touch_shared), 0);
	count_resident(shared, 3, "010");
	CHECK_EQ(write(fd, own, 2 * 4096), 2 * 4096);
	CHECK_CALL(ftruncate(fd, 4 * 4096));
	file = mmap(NULL, 4 * 4096, PROT_READ, MAP_SHARED, fd, 0);
	count_resident(file, 4, "1100");
	munmap(file + 4096, 4096);
	CHECK_ERRNO(CALL(mincore, file, 3 * 4096, resident), ENOMEM);
	CHECK_ERRNO(CALL(mincore, file + 1, 1, resident), EINVAL);
	CHECK_ERRNO(CALL(mincore, file, 4096, 8), EFAULT);
	CHECK_CALL(unlink("rare.file"));
}

static void moves_zeroes(const char *device, bool zeroes)
{
	int fd = (int)CHECK_CALL(open(device, O_RDONLY)), ends[2], nonzero = 0;
	char got[6000];

	CHECK_CALL(pipe(ends));
	CHECK_EQ(CALL(splice, fd, NULL, ends[1], NULL, 5000, 0), 5000);
	memset(got, 1, sizeof(got));
	CHECK_EQ(read(ends[0], got, sizeof(got)), 5000);
	for (int i = 0; i < 5000; i++)
		nonzero += got[i] != 0;
	CHECK(zeroes ? !nonzero : nonzero > 4000);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

static void devices_into_pipes(void)
{
	int null = (int)CHECK_CALL(open("/dev/null", O_RDONLY)), zero, out, ends[2];
	struct stat st;

	moves_zeroes("/dev/zero", true);
	moves_zeroes("/dev/full", true);
	moves_zeroes("/dev/urandom", false);
	CHECK_CALL(pipe(ends));
	CHECK_ERRNO(CALL(splice, null, NULL, ends[1], NULL, 1, 0), EINVAL);
	zero = (int)CHECK_CALL(open("/dev/zero", O_RDONLY));
	out = (int)CHECK_CALL(open("rare.file", O_RDWR | O_CREAT | O_TRUNC, 0600));
	CHECK_EQ(CALL(sendfile64, out, zero, NULL, 9000), 9000);
	CHECK_CALL(fstat(out, &st));
	CHECK_EQ(st.st_size, 9000);
	CHECK_EQ(write(ends[1], "seed", 4), 4);
	null = (int)CHECK_CALL(open("/dev/random", O_RDWR));
	CHECK_EQ(CALL(splice, ends[0], NULL, null, NULL, 4, 0), 4);
	CHECK_CALL(unlink("rare.file"));
}

static void entropy(void)
{
	int fd = (int)CHECK_CALL(open("/dev/urandom", O_RDONLY)), bits = 0;

	CHECK_CALL(ioctl(fd, 0x80045200, &bits));
	CHECK_EQ(bits, 256);
	CHECK(check_holds("/proc/sys/kernel/random/poolsize", "256\n"));
	CHECK(check_holds("/proc/sys/kernel/random/entropy_avail", "256\n"));
}

/* A coarse clock's resolution is a tick, and an interval timer of CPU time is set for at most a tick more. */
static void ticks(void)
{
	struct timespec res = {0}, exact = {0};
	struct itimerval set = {{0, 0}, {0, 10000}}, off = {{0, 0}, {0, 0}}, now = off;

	CHECK_CALL(CALL(clock_getres, 6, &res));
	CHECK_RANGE(res.tv_nsec, 1000000, 10000000);
#ifdef __linux__
	CHECK_CALL(clock_getres((clockid_t)5, &exact)); /* by way of the vDSO */
#else
	CHECK_CALL(CALL(clock_getres, 5, &exact));
#endif
	CHECK_EQ(exact.tv_nsec, res.tv_nsec);
	CHECK_CALL(CALL(clock_getres, 1, &exact));
	CHECK_EQ(exact.tv_nsec, 1);
	for (int which = 1; which <= 2; which++) {
		CHECK_CALL(setitimer(which, &set, NULL));
		CHECK_CALL(getitimer(which, &now));
		CHECK_RANGE(now.it_value.tv_usec, 1, 10000 + res.tv_nsec / 1000);
		CHECK_CALL(setitimer(which, &off, NULL));
	}
}

static void robust_lists(void)
{
	static long head[3];
	void *was = NULL, *now = NULL;
	size_t len = 0;

	CHECK_CALL(CALL(get_robust_list, 0, &was, &len));
	CHECK_EQ(len, 24);
	CHECK_CALL(CALL(set_robust_list, head, 24));
	CHECK_CALL(CALL(get_robust_list, getpid(), &now, &len));
	CHECK(now == head);
	CHECK_CALL(CALL(set_robust_list, was, 24));
	CHECK_ERRNO(CALL(get_robust_list, 0x7ffffff, &now, &len), ESRCH);
	CHECK_ERRNO(CALL(get_robust_list, 0, 8, &len), EFAULT);
}

static void created_or_found(void)
{
	int made = (int)CHECK_CALL(open("rare.file", O_RDWR | O_CREAT, 0600));
	int found = (int)CHECK_CALL(open("rare.file", O_RDWR | O_CREAT, 0600));

	CHECK_EQ(CALL(fcntl, made, 1028, 0), 1);
	CHECK_EQ(CALL(fcntl, found, 1028, 0), 0);
	CHECK_CALL(unlink("rare.file"));
}

#ifndef __linux__
/* Nothing can be mounted on what comes and goes with a descriptor. */
static void mounts_on_descriptors(void)
{
	char path[48], other[48];
	int fd = (int)CHECK_CALL(open("rare.file", O_RDWR | O_CREAT, 0600)), link;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	link = (int)CHECK_CALL(open(path, 010000000 | O_NOFOLLOW)); /* O_PATH */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", link);
	CHECK_ERRNO(CALL(mount, "rare.file", path, "", 4096, NULL), ENOENT);
	snprintf(other, sizeof(other), "/proc/self/fdinfo/%d", fd);
	CHECK_ERRNO(CALL(mount, "rare.file", other, "", 4096, NULL), ENOENT);
	CHECK_ERRNO(CALL(mount, "none", other, "ramfs", 0, NULL), ENOENT);
	CHECK_CALL(unlink("rare.file"));
}

/* On a file system that cannot be written, nobody is asked for rights. */
static void read_only_first(void)
{
	pid_t child;

	CHECK_CALL(mkdir("rare.dir", 0755));
	CHECK_CALL(CALL(mount, "none", "rare.dir", "ramfs", 1, NULL));
	child = check_fork();
	if (child == 0) {
		CHECK_CALL(CALL(setuid, 1000));
		CHECK_ERRNO(access("rare.dir", 2), EROFS);
		CHECK_CALL(access("rare.dir", 5));
		_exit(check_failures);
	}
	CHECK_EQ(check_wait(child), 0);
	CHECK_CALL(CALL(umount, "rare.dir", 0));
	CHECK_CALL(rmdir("rare.dir"));
}

static int pipe_bytes(void)
{
	int ends[2];

	if (pipe(ends))
		return -errno;
	return (int)CALL(fcntl, ends[0], 1032, 0);
}

#define SOFT "/proc/sys/fs/pipe-user-pages-soft"
#define HARD "/proc/sys/fs/pipe-user-pages-hard"
#define MAX  "/proc/sys/fs/pipe-max-size"

/* 40 pages softly: two pipes of 16 and then small ones, which cannot grow; 44 hard: two of these, and no more. */
static void user_pages(void)
{
	char *soft = vt_read_file(SOFT, NULL);
	int ends[2];
	pid_t child;

	CHECK(check_holds(HARD, "0\n"));
	check_put(SOFT, "40\n");
	check_put(HARD, "44\n");
	child = check_fork();
	if (child == 0) {
		CHECK_CALL(CALL(setuid, 4321));
		CHECK_CALL(pipe(ends));
		CHECK_EQ(CALL(fcntl, ends[0], 1032, 0), 65536);
		CHECK_EQ(pipe_bytes(), 65536);
		CHECK_EQ(pipe_bytes(), 8192);
		CHECK_EQ(pipe_bytes(), 8192);
		CHECK_EQ(CALL(fcntl, ends[0], 1031, 4096), 4096);
		CHECK_EQ(pipe_bytes(), 65536); /* 1 + 16 + 2 + 2 pages were in use, and so are 16 more */
		CHECK_ERRNO(CALL(fcntl, ends[0], 1031, 65536), EPERM);
		CHECK_EQ(CALL(fcntl, ends[0], 1032, 0), 4096);
		for (int i = 0; i < 3; i++) /* 37 pages and 2 more each: 43 */
			CHECK_EQ(pipe_bytes(), 8192);
		CHECK_EQ(pipe_bytes(), -ENFILE);
		_exit(check_failures);
	}
	CHECK_EQ(check_wait(child), 0);
	CHECK_EQ(pipe_bytes(), 65536); /* to root it is no limit */
	check_put(SOFT, "0\n");
	check_put(HARD, "0\n");
	check_put(MAX, "4096\n");
	child = check_fork();
	if (child == 0) {
		CHECK_CALL(CALL(setuid, 4321));
		CHECK_EQ(pipe_bytes(), 4096);
		_exit(check_failures);
	}
	CHECK_EQ(check_wait(child), 0);
	CHECK_EQ(pipe_bytes(), 65536);
	check_put(MAX, "1048576\n");
	check_put(SOFT, soft);
	free(soft);
}

/* A real-time task has no slack, and gets it back with an ordinary policy. */
static void real_time_slack(void)
{
	int prio = 5;

	set_slack(555);
	CHECK_CALL(CALL(sched_setscheduler, 0, 1, &prio));
	CHECK_EQ(slack(), 0);
	set_slack(444);
	CHECK_EQ(slack(), 0);
	prio = 0;
	CHECK_CALL(CALL(sched_setscheduler, 0, 0, &prio));
	CHECK_EQ(slack(), 50000);
}

static void others_slack(void)
{
	pid_t child;

	check_put("/proc/1/timerslack_ns", "50000\n");
	child = check_fork();
	if (child == 0) {
		char c;

		CHECK_CALL(CALL(setuid, 1000));
		CHECK_ERRNO(read(open("/proc/1/timerslack_ns", O_RDONLY), &c, 1), EPERM);
		CHECK_ERRNO(write(open("/proc/1/timerslack_ns", O_WRONLY), "1\n", 2), EPERM);
		_exit(check_failures);
	}
	CHECK_EQ(check_wait(child), 0);
}
#endif

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"personalities", personalities},
		{"sticky-timeouts", sticky_timeouts},
		{"reading-implies-executing", reading_implies_executing},
		{"timer-slack", timer_slack},
		{"pages-in-memory", pages_in_memory},
		{"devices-into-pipes", devices_into_pipes},
		{"entropy", entropy},
		{"ticks", ticks},
		{"robust-lists", robust_lists},
		{"created-or-found", created_or_found},
#ifndef __linux__
		{"mounts-on-descriptors", mounts_on_descriptors},
		{"read-only-first", read_only_first},
		{"user-pages", user_pages},
		{"real-time-slack", real_time_slack},
		{"others-slack", others_slack},
#endif
	};

	if (argc > 1 && !strcmp(argv[1], "persona"))
		return persona(0xffffffff) != (NO_RANDOM | STICKY);
	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
