/*
 * oomtest: programs that fill memory, for tests of which process the OOM killer chooses. `hold KIB` touches so much,
 * adds a line to /tmp/held and sleeps; `stuck KIB` sleeps in the kernel, so that no signal ends it; `eat` touches
 * more and more; `rights` checks the right to write oom_score_adj; `vforked` is a process that must not be chosen;
 * `names` fills the file system with names, `pipes` fills pipes; `asks KIB FILE` fills memory while another
 * process makes a trace buffer of this size larger.
 */
#include <check.h>
#include <fcntl.h>
#include <numbers.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sched.h>

#define CHUNK (256L << 10)
#define ROOM  (16L << 20)
#ifndef F_GETPIPE_SZ
#endif

/* False: there is no address space or the kernel says no. */
static bool touch_more(long bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return false;
	for (long i = 0; i < bytes; i += 4096)
		p[i] = 1;
	return true;
}

static void hold(long kib)
{
	int ready;

	if (!touch_more(kib << 10))
		vt_die_errno(1, "hold");
	ready = open("/tmp/held", O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (ready < 0 || write(ready, "x\n", 2) != 2)
		vt_die_errno(1, "/tmp/held");
}

static void sleep_on(void)
{
	for (;;)
		check_sleep(1000000000L);
}

static void eat(void)
{
	while (touch_more(CHUNK))
		;
	vt_die_errno(1, "eat");
}

/* A user other than root may make its task more of a candidate, and go back to what root has set. */
static int rights(void)
{
	int fd = CHECK_CALL(open("/proc/self/oom_score_adj", O_RDWR));
	int old = CHECK_CALL(open("/proc/self/oom_adj", O_RDWR));

	CHECK_EQ(write(fd, "100", 3), 3);
	CHECK_CALL(check_syscall(SYS_setuid, 1000, 0, 0, 0, 0, 0));
	CHECK_EQ(write(fd, "300", 3), 3);
	CHECK_EQ(write(fd, "100", 3), 3);
	CHECK_ERRNO(write(fd, "99", 2), EACCES);
	CHECK_ERRNO(write(fd, "-1000", 5), EACCES);
	CHECK_ERRNO(write(old, "1", 1), EACCES);
	CHECK_EQ(write(old, "2", 1), 1);
	return check_failures ? 1 : 0;
}

static long oom_score(void)
{
	char digits[16] = "";
	int fd = open("/proc/self/oom_score", O_RDONLY);

	if (fd < 0 || read(fd, digits, sizeof(digits) - 1) <= 0)
		return -1;
	close(fd);
	return atol(digits);
}

/*
 * A child for which its parent waits as in vfork: with memory of its own it counts as any other, with the parent's it
 * is never chosen.
 */
static int vforked(void)
{
	volatile long shared = 0;
	int status = 0;
	long pid;

	pid = vt_syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0, 0);
	if (pid == 0)
		_exit(oom_score() > 100);
	CHECK_EQ(waitpid((pid_t)pid, &status, 0), pid);
	CHECK_EQ(status, 1 << 8);
	pid = vt_syscall(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0, 0);
	if (pid == 0) {
		shared = oom_score();
		vt_syscall(SYS_exit, 0, 0, 0, 0, 0, 0);
	}
	CHECK_EQ(waitpid((pid_t)pid, &status, 0), pid);
	CHECK_EQ(shared, 0);
	CHECK(oom_score() > 100);
	return check_failures ? 1 : 0;
}

static long mem_kib(const char *name)
{
	static char text[4096];
	int fd = CHECK_CALL(open("/proc/meminfo", O_RDONLY));
	const char *at;

	memset(text, 0, sizeof(text));
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	at = strstr(text, name);
	return at ? strtol(at + strlen(name), NULL, 10) : -1;
}

/*
 * A user fills the file system: a file with as much beside its pages as in them, and then as many names as go. A
 * sixteenth of memory stays, as no process has these pages whose end would give them back.
 */
static int names(void)
{
	long most = 0, n = 0;
	char name[256];
	int fd;

	CHECK_CALL(mkdir("/tmp/names", 0777));
	CHECK_CALL(chmod("/tmp/names", 0777));
	CHECK_CALL(chdir("/tmp/names"));
	CHECK_CALL(check_syscall(SYS_setuid, 1000, 0, 0, 0, 0, 0));
	fd = CHECK_CALL(open("a", O_RDWR | O_CREAT, 0600));
	while (lseek(fd, most << 21, SEEK_SET) >= 0 && write(fd, "x", 1) == 1)
		most++;
	CHECK_EQ(errno, ENOSPC);
	CHECK_CALL(ftruncate(fd, (most - 64) << 21)); /* room for some names */
	memset(name, 'n', sizeof(name));
	do
		snprintf(name + 240, sizeof(name) - 240, "%ld", n++);
	while (!mknod(name, S_IFREG | 0600, 0));
	CHECK_EQ(errno, ENOSPC);
	CHECK(n > 200);
	CHECK_RANGE(mem_kib("MemFree:"), mem_kib("MemTotal:") / 16 - 128, mem_kib("MemTotal:") / 16 + 512);
	while (n--) {
		snprintf(name + 240, sizeof(name) - 240, "%ld", n);
		unlink(name);
	}
	CHECK_CALL(unlink("a"));
	return check_failures ? 1 : 0;
}

/* Fill pipes until there are no more. The sizes of the first and of the last, in KiB; returns how many. */
static int fill_pipes(long size_kib[2])
{
	static char bytes[1 << 16];
	int ends[2], n = 0;

	while (!pipe(ends)) {
		size_kib[!!n++] = fcntl(ends[0], F_GETPIPE_SZ) >> 10;
		CHECK_CALL(fcntl(ends[1], F_SETFL, O_NONBLOCK));
		CHECK_EQ(write(ends[1], bytes, sizeof(bytes)), size_kib[n > 1] << 10);
	}
	return n;
}

static void user_fills_pipes(void)
{
	long size_kib[2];
	int n;

	CHECK_CALL(check_syscall(SYS_setuid, 1000, 0, 0, 0, 0, 0));
	n = fill_pipes(size_kib);
	CHECK_RANGE(n, 500, 513);
	CHECK_EQ(size_kib[0], 64);
	CHECK_EQ(size_kib[1], 8);
}

/* What a user has in pipes is bounded, as no choice of a process sees it. It is given back, and root has no bound. */
static int pipes(void)
{
	long size_kib[2], before = mem_kib("MemFree:");
	int ends[2], status = 0;
	pid_t pid;

	for (int round = 0; round < 2; round++) {
		CHECK_CALL(pipe(ends));
		pid = check_fork();
		if (pid == 0) {
			user_fills_pipes();
			check_give(ends[1], 'f');
			for (;;)
				check_sleep(1000000000L);
		}
		CHECK_EQ(check_take(ends[0]), 'f');
		CHECK_RANGE(before - mem_kib("MemFree:"), mem_kib("MemTotal:") / 8, mem_kib("MemTotal:") / 8 + 8192);
		kill(pid, SIGKILL);
		CHECK_EQ(waitpid(pid, &status, 0), pid);
	}
	CHECK(fill_pipes(size_kib) > 500);
	CHECK_EQ(size_kib[1], 64);
	return check_failures ? 1 : 0;
}

/* Makes a trace buffer larger and smaller again, until it is killed. */
static void resize(const char *file, long kib, pid_t parent)
{
	char size[16];
	int fd = CHECK_CALL(open(file, O_WRONLY));

	for (bool larger = true; getppid() == parent; larger = !larger) {
		int len = snprintf(size, sizeof(size), "%ld", larger ? kib + 1024 : kib);

		CHECK_EQ(write(fd, size, len), len);
	}
	_exit(1);
}

static void be_realtime(int prio)
{
	CHECK_CALL(check_syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, (long)&prio, 0, 0, 0));
}

/* Does the file of /proc/PID that is open there hold this? */
static bool file_holds(int fd, const char *what)
{
	static char text[8192];
	ssize_t n = CHECK_CALL(check_syscall(SYS_pread64, fd, (long)text, sizeof(text) - 1, 0, 0, 0));

	text[n] = 0;
	return strstr(text, what);
}

/* Keeps the CPU while the parent sleeps, until that process is to be killed. */
static void keep_cpu(pid_t pid, int start, volatile bool *killed)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
	fd = CHECK_CALL(open(name, O_RDONLY));
	be_realtime(1);
	check_take(start);
	while (!file_holds(fd, "Pnd:\t0000000000000100"))
		if (getppid() == 1)
			_exit(1);
	*killed = true;
	_exit(0);
}

/*
 * A large request that memory has become too small for. This process looks every now and then where the one that asks
 * is. When it takes pages, it must stay there: two processes with higher priorities use its CPU, one to fill memory. It
 * has next to nothing then, but asks for much, and goes first.
 */
static int asks(long kib, const char *file)
{
	volatile bool *killed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	volatile char *room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ends[2], fd, status = 0;
	pid_t pid, parent = getpid();
	char name[32];

	CHECK_CALL(pipe(ends));
	check_pin(0);
	be_realtime(2);
	pid = check_fork();
	if (pid == 0) {
		CHECK_CALL(check_syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, (long)&(int){0}, 0, 0, 0));
		resize(file, kib, parent);
	}
	if (check_fork() == 0)
		keep_cpu(pid, ends[0], killed);
	snprintf(name, sizeof(name), "/proc/%d/stack", (int)pid);
	fd = CHECK_CALL(open(name, O_RDONLY));
	while (!file_holds(fd, "] large_request_dead+"))
		check_sleep(200000);
	check_give(ends[1], 'k');
	for (long i = 0; !*killed && i < ROOM; i += 4096)
		room[i] = 1;
	if (!CHECK(*killed))
		return 1;
	CHECK_CALL(munmap((void *)room, ROOM)); /* at once: others need some, too */
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, SIGKILL);
	return check_failures ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "asks"))
		return asks(atol(argv[2]), argv[3]);
	if (argc == 3 && !strcmp(argv[1], "hold"))
		hold(atol(argv[2])), sleep_on();
	if (argc == 3 && !strcmp(argv[1], "stuck"))
		hold(atol(argv[2])), check_put("/sys/kernel/debug/provoke-crash/DIRECT", "HUNG_TASK");
	if (argc == 2 && !strcmp(argv[1], "eat"))
		eat();
	if (argc == 2 && !strcmp(argv[1], "rights"))
		return rights();
	if (argc == 2 && !strcmp(argv[1], "vforked"))
		return vforked();
	if (argc == 2 && !strcmp(argv[1], "pipes"))
		return pipes();
	if (argc == 2 && !strcmp(argv[1], "names"))
		return names();
	vt_die(2, "usage: oomtest hold KIB | stuck KIB | eat | rights | vforked | names | pipes | asks KIB FILE");
	return 0;
}
