/* proctasks: what the files of /proc/<pid> say, against what the process knows by itself. */
#include <callnumbers.h>
#include <fcntl.h>
#include <numbers.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PAGE	4096UL
#define PRESENT (1UL << 63)
#define PFN(e)	((e) & ((1UL << 55) - 1))

static ssize_t read_at(int fd, void *buf, size_t n, off_t at)
{
	return lseek(fd, at, SEEK_SET) == at ? read(fd, buf, n) : -1;
}

static ssize_t write_at(int fd, const void *buf, size_t n, off_t at)
{
	return lseek(fd, at, SEEK_SET) == at ? write(fd, buf, n) : -1;
}

/* The file's text, cut at the size of the buffer; its length, or -1. */
static char text[65536];
static ssize_t slurp(const char *path)
{
	int fd = open(path, O_RDONLY);
	size_t n = 0;
	ssize_t got;

	text[0] = '\0';
	if (fd < 0)
		return -1;
	while (n < sizeof(text) - 1 && (got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	text[n] = '\0';
	return (ssize_t)n;
}

static ssize_t slurp_of(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return slurp(path);
}

/* The sum of what stands behind `name` in the lines of `text`. */
static long sum_of(const char *name)
{
	size_t n = strlen(name);
	long sum = 0;

	for (char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, n))
			sum += strtol(line + n, NULL, 10);
	}
	return sum;
}

static long status_kb(const char *name)
{
	CHECK(slurp("/proc/self/status") > 0);
	return sum_of(name);
}

/* Nothing is touched for the first time between two of these: buffers are static and written before. */
static void smaps_sums(void)
{
	long rss, size;

	memset(text, 1, sizeof(text));
	CHECK(slurp("/proc/self/smaps") > 0);
	CHECK(slurp("/proc/self/smaps") > 0);
	rss = sum_of("Rss:");
	CHECK_EQ(sum_of("Private_Clean:") + sum_of("Private_Dirty:") + sum_of("Shared_Clean:") +
			 sum_of("Shared_Dirty:"),
		 rss);
	CHECK(sum_of("Pss:") <= rss && sum_of("Pss:") > 0);
	CHECK_EQ(status_kb("VmRSS:"), rss);
	CHECK(slurp("/proc/self/smaps") > 0);
	size = sum_of("Size:");
	CHECK_EQ(status_kb("VmSize:"), size);
	CHECK(slurp("/proc/self/smaps_rollup") > 0);
	CHECK_EQ(sum_of("Rss:"), rss);
	CHECK(slurp("/proc/self/statm") > 0);
	CHECK_EQ(strtol(strchr(text, ' '), NULL, 10) * 4, rss);
}

/* The lines of the area that begins at `at`, alone in `text`. */
static void smap_of(const void *at)
{
	char head[32], *start, *end;

	CHECK(slurp("/proc/self/smaps") > 0);
	snprintf(head, sizeof(head), "%08lx-", (unsigned long)at);
	start = strstr(text, head);
	if (!CHECK(start != NULL))
		return;
	end = strstr(start, "VmFlags:");
	if (end)
		*strchr(end, '\n') = '\0';
	memmove(text, start, strlen(start) + 1);
}

static void smaps_area(void)
{
	char *at = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	for (int i = 0; i < 10; i++)
		at[i * (long)PAGE] = 1;
	CHECK_EQ(at[12 * PAGE], 0); /* read only: the page of zeros, which counts as nothing */
	smap_of(at);
	CHECK_EQ(sum_of("Size:"), 64);
	CHECK(sum_of("Rss:") == 40 && sum_of("Pss:") == 40);
	CHECK_EQ(sum_of("Anonymous:"), 40);
	CHECK(sum_of("Private_Dirty:") == 40 && sum_of("Pss_Dirty:") == 40);
	CHECK(strstr(text, "VmFlags: rd wr mr mw me ") != NULL);
	CHECK(strstr(text, "\nSwap:                  0 kB\nSwapPss:") != NULL);
	CHECK_CALL(CALL(mlock, at, 4 * PAGE));
	CHECK(slurp("/proc/self/smaps_rollup") > 0 && sum_of("Locked:") == 16 && strstr(text, "\nSwap:"));
	CHECK_CALL(CALL(munlock, at, 4 * PAGE));
	pid = check_fork();
	if (!pid) {
		at[0] = 2; /* a copy of its own */
		smap_of(at);
		CHECK_EQ(sum_of("Rss:"), 40);
		CHECK_EQ(sum_of("Shared_Dirty:") + sum_of("Shared_Clean:"), 36);
		CHECK(sum_of("Pss:") == 22 && sum_of("Pss_Dirty:") == 4 + sum_of("Shared_Dirty:") / 2);
		_exit(check_failures != 0);
	}
	CHECK_EQ(check_wait(pid), 0);
}

static unsigned long page_entry(const void *at)
{
	unsigned long entry = 0;
	int fd = (int)CHECK_CALL(open("/proc/self/pagemap", O_RDONLY));

	CHECK_EQ(lseek(fd, (off_t)((unsigned long)at / PAGE * 8), SEEK_SET), (unsigned long)at / PAGE * 8);
	CHECK_EQ(read(fd, &entry, sizeof(entry)), sizeof(entry));
	CHECK_ERRNO(read(fd, &entry + 1, 4), EINVAL);
	close(fd);
	return entry;
}

/* One page has one frame, whoever maps it; a copy has another. */
static void pagemap_frames(void)
{
	unsigned long *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned long *own = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long before;
	pid_t pid;

	*own = 1;
	*shared = 0;
	before = page_entry(own);
	CHECK(before & PRESENT && PFN(before));
	CHECK_EQ(page_entry((char *)own + PAGE), 0);
	pid = check_fork();
	if (!pid) {
		shared[0] = page_entry(shared);
		shared[1] = page_entry(own);
		*own = 2;
		shared[2] = page_entry(own);
		_exit(check_failures != 0);
	}
	CHECK_EQ(check_wait(pid), 0);
	CHECK_EQ(PFN(page_entry(shared)), PFN(shared[0]));
	CHECK((page_entry(shared) >> 61) & 1);
	CHECK_EQ(PFN(shared[1]), PFN(before));
	CHECK(shared[2] & PRESENT && PFN(shared[2]) != PFN(before));
}

static volatile long cell = 4711;

/* Another process's memory, read and written from outside. */
static void mem_of_others(void)
{
	int to_child[2], to_parent[2], fd;
	char path[32];
	long value = 0;
	pid_t pid;

	CHECK_CALL(pipe(to_child));
	CHECK_CALL(pipe(to_parent));
	pid = check_fork();
	if (!pid) {
		cell = 1;
		check_give(to_parent[1], 'x');
		check_take(to_child[0]);
		_exit(cell == 2 ? 0 : 1);
	}
	check_take(to_parent[0]);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = (int)CHECK_CALL(open(path, O_RDWR));
	CHECK_EQ(read_at(fd, &value, sizeof(value), (off_t)(unsigned long)&cell), sizeof(value));
	CHECK_EQ(value, 1);
	value = 2;
	CHECK_EQ(write_at(fd, &value, sizeof(value), (off_t)(unsigned long)&cell), sizeof(value));
	CHECK_ERRNO(read_at(fd, &value, sizeof(value), 16), EIO);
	check_give(to_child[1], 'x');
	CHECK_EQ(check_wait(pid), 0);
	CHECK_EQ(read_at(fd, &value, sizeof(value), (off_t)(unsigned long)&cell), 0); /* nothing is left */
	CHECK_EQ(cell, 4711);
	close(fd);
}

/* It stands behind the environment's pointers, as the kernel put it. */
static void auxv_as_given(void)
{
	char **end = environ;
	long *vector;
	size_t n = 0;

	while (*end)
		end++;
	vector = (long *)(end + 1);
	while (vector[n])
		n += 2;
	n += 2;
	CHECK_EQ(slurp("/proc/self/auxv"), n * sizeof(long));
	CHECK(!memcmp(text, vector, n * sizeof(long)));
}

/* This process was forked, so what exec has found out was copied. */
static void environ_as_given(void)
{
	CHECK(slurp("/proc/self/environ") > 0);
	CHECK(environ[0] && !strcmp(text, environ[0]));
}

static long address_spaces(void)
{
	CHECK(slurp("/proc/slabinfo") > 0);
	return sum_of("mm_struct ");
}

static void open_and_end(void)
{
	CHECK_CALL(open("/proc/self/mem", O_RDWR));
	CHECK_CALL(open("/proc/self/pagemap", O_RDONLY));
}

/* An open mem or pagemap holds an address space, and lets it go when it is closed. */
static void memory_is_let_go(void)
{
	long before = address_spaces();

	for (int i = 0; i < 60; i++)
		CHECK_EQ(check_in_child(open_and_end), 0);
	for (int i = 0; i < 500 && address_spaces() > before + 20; i++)
		check_sleep(10000000);
	CHECK_RANGE(address_spaces() - before, -1000, 20);
}

static void limits_as_told(void)
{
	unsigned long limit[2];
	char *line;

	limit[0] = 100;
	limit[1] = 200;
	CHECK_CALL(check_syscall(SYS_prlimit64, 0, 7, (long)limit, 0, 0, 0));
	CHECK(slurp("/proc/self/limits") > 0);
	line = text;
	for (int i = 0; i < 16; i++) {
		char *at;

		line = strchr(line, '\n') + 1;
		CHECK_CALL(check_syscall(SYS_prlimit64, 0, i, 0, (long)limit, 0, 0));
		at = line + 26;
		for (int k = 0; k < 2; k++, at += 21) {
			if (limit[k] == ~0UL)
				CHECK(!strncmp(at, "unlimited ", 10));
			else
				CHECK_EQ(strtoul(at, NULL, 10), limit[k]);
		}
	}
	CHECK(strstr(text, "Max open files            100                  200                  files     \n"));
}

/* Wait until it sleeps in a read of the pipe. */
static void wait_blocked(pid_t pid)
{
	for (int i = 0; i < 5000; i++) {
		if (slurp_of(pid, "wchan") > 0 && !strcmp(text, "pipe_read"))
			return;
		check_sleep(1000000);
	}
	CHECK(!"the child came to its read");
}

/* A child that has done so much reading and writing, and now sleeps in a read. */
static void io_and_place(void)
{
	static char buffer[1000];
	int quiet[2], work[2], fd;
	unsigned long args[4];
	char *at;
	pid_t pid;

	CHECK_CALL(pipe(quiet));
	CHECK_CALL(pipe(work));
	pid = check_fork();
	if (!pid) {
		for (int i = 0; i < 3; i++)
			CHECK_EQ(write(work[1], buffer, 700), 700);
		CHECK_EQ(read(work[0], buffer, 1000), 1000);
		CHECK_EQ(read(work[0], buffer, 1000), 1000);
		fd = open("/dev/null", O_RDWR);
		CHECK_EQ(write_at(fd, buffer, 11, 0), 11);
		CHECK_EQ(read_at(fd, buffer, 11, 0), 0);
		CHECK_ERRNO(write(work[0], buffer, 5), EBADF);
		read(quiet[0], buffer, 77);
		_exit(check_failures != 0);
	}
	wait_blocked(pid);
	CHECK(slurp_of(pid, "io") > 0);
	CHECK(!strcmp(text, "rchar: 2000\nwchar: 2111\nsyscr: 3\nsyscw: 5\n"));
	CHECK(slurp_of(pid, "syscall") > 0);
	at = text;
	for (int i = 0; i < 4; i++)
		args[i] = strtoul(at, &at, 0);
	CHECK_EQ(args[0], SYS_read);
	CHECK_EQ(args[1], quiet[0]);
	CHECK_EQ(args[2], (unsigned long)buffer);
	CHECK_EQ(args[3], 77);
	CHECK(slurp_of(pid, "stack") > 0);
	CHECK(strstr(text, "] pipe_read+0x") && strstr(text, "] schedule+0x"));
	check_give(quiet[1], 'x');
	CHECK_EQ(check_wait(pid), 0);
}

static void fdinfo_of_a_file(void)
{
	int fd = (int)CHECK_CALL(open("/tmp/fdinfo", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
	char path[64];
	struct stat st;

	CHECK_EQ(write(fd, "0123456789", 10), 10);
	CHECK_EQ(lseek(fd, 7, SEEK_SET), 7);
	CHECK_CALL(fstat(fd, &st));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	CHECK(slurp(path) > 0);
	CHECK_EQ(sum_of("pos:"), 7);
	CHECK_EQ(strtol(strstr(text, "flags:") + 6, NULL, 8), fcntl(fd, F_GETFL, 0) | O_CLOEXEC);
	CHECK_EQ(sum_of("ino:"), st.st_ino);
	CHECK_EQ(sum_of("mnt_id:"), 1);
	close(fd);
	CHECK_EQ(slurp(path), -1);
}

/* What only root and the process itself may see. */
static void kept_from_others(void)
{
	static const char *const names[] = {"io",  "stack", "syscall",	    "auxv",    "personality",
					    "mem", "smaps", "smaps_rollup", "pagemap", "fdinfo/0"};
	char path[64];

	CHECK_CALL(check_syscall(SYS_setuid, 1000, 0, 0, 0, 0, 0));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "/proc/1/%s", names[i]);
		CHECK_EQ(slurp(path), -1);
		CHECK_EQ(errno, EACCES);
	}
	CHECK_EQ(slurp_of(1, "wchan"), 1);
	CHECK(*text == '0');
	CHECK(slurp_of(1, "limits") > 0);
	CHECK(slurp("/proc/self/smaps") > 0);
}

/* A name is one line of status, as on Linux, whatever stands in it. */
static void name_is_one_line(void)
{
	static const char wanted[] = "Name:\ta\\nUid:\t9\\\\\nState:\t";

	CHECK_CALL(check_syscall(SYS_prctl, 15 /* PR_SET_NAME */, (long)"a\nUid:\t9\\", 0, 0, 0, 0));
	CHECK(slurp("/proc/self/status") > 0);
	CHECK(!strncmp(text, wanted, sizeof(wanted) - 1));
}

/* A limit that holds for all but root. */
static void file_max_holds(void)
{
	static const char *const bad[] = {"x", "\n", "7x", "2147483648", "4294967296"};
	long before;
	pid_t pid;
	int fd = (int)CHECK_CALL(open("/proc/sys/fs/file-max", O_RDWR));

	CHECK(slurp("/proc/sys/fs/file-nr") > 0);
	before = strtol(text, NULL, 10);
	CHECK_RANGE(before, 4, 1000);
	/* Not a number, an empty one, one with something behind it, one that fits no int. */
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_ERRNO(write(fd, bad[i], strlen(bad[i])), EINVAL);
	CHECK(slurp("/proc/sys/fs/file-max") > 0);
	CHECK_EQ(write(fd, "3", 1), 1);
	CHECK_CALL(open("/dev/null", O_RDONLY));
	pid = check_fork();
	if (!pid) {
		CHECK_CALL(check_syscall(SYS_setuid, 1000, 0, 0, 0, 0, 0));
		CHECK_ERRNO(open("/dev/null", O_RDONLY), ENFILE);
		_exit(check_failures != 0);
	}
	CHECK_EQ(check_wait(pid), 0);
	CHECK(write(fd, text, strlen(text)) > 0);
}

static void on_signal(int sig)
{
}

/* SigIgn and SigCgt are masks of what is ignored and of what has a handler: bit 0 is signal 1. */
static void masks_of_actions(void)
{
	const struct sigaction handled = {.sa_handler = on_signal};
	unsigned long ignored = 0, caught = 0;

	CHECK(signal(SIGUSR2, SIG_IGN) != SIG_ERR);
	CHECK_CALL(sigaction(SIGUSR1, &handled, NULL));
	CHECK(slurp("/proc/self/status") > 0);
	if (CHECK(strstr(text, "SigIgn:\t")) && CHECK(strstr(text, "SigCgt:\t"))) {
		ignored = strtoul(strstr(text, "SigIgn:\t") + 8, NULL, 16);
		caught = strtoul(strstr(text, "SigCgt:\t") + 8, NULL, 16);
	}
	CHECK_EQ(ignored & 0xfff, 1UL << (SIGUSR2 - 1));
	CHECK_EQ(caught & 0xfff, 1UL << (SIGUSR1 - 1));
}

/* The level of the console is from 1 to 15, and a whole number; the rest of the line is Linux's and is ignored. */
static void console_level(void)
{
	static const char *const bad[] = {"x", "0", "5x", "16", "-1"};
	int fd = (int)CHECK_CALL(open("/proc/sys/kernel/printk", O_RDWR));
	long before;

	CHECK(slurp("/proc/sys/kernel/printk") > 0);
	before = strtol(text, NULL, 10);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_ERRNO(write(fd, bad[i], strlen(bad[i])), EINVAL);
	CHECK(slurp("/proc/sys/kernel/printk") > 0);
	CHECK_EQ(strtol(text, NULL, 10), before);
	CHECK_EQ(write(fd, "9 4 1 7", 7), 7);
	CHECK(slurp("/proc/sys/kernel/printk") > 0);
	CHECK_EQ(strtol(text, NULL, 10), 9);
	CHECK(before >= 1 && before <= 9);
	text[0] = (char)('0' + before);
	CHECK_EQ(write(fd, text, 1), 1);
	close(fd);
}

static void groups_are(pid_t pid, const char *wanted)
{
	const char *line;

	if (!CHECK(slurp_of(pid, "status") > 0))
		return;
	line = strstr(text, "\nGroups:\t");
	if (CHECK(line) && !CHECK(!strncmp(line + 9, wanted, strlen(wanted))))
		printf("  wanted '%s', got '%.40s'\n", wanted, line + 9);
}

/* Another process's supplementary groups, while it takes others again and again. */
static void groups_of_others(void)
{
	unsigned groups[] = {5, 6, 70000};
	int there[2];
	pid_t pid;

	CHECK_CALL(pipe(there));
	pid = check_fork();
	if (!pid) {
		CHECK_CALL(check_syscall(SYS_setgroups, 3, (long)groups, 0, 0, 0, 0));
		check_give(there[1], 't');
		sleep(100);
		_exit(0);
	}
	check_take(there[0]);
	groups_are(pid, "5 6 70000 \n");
	kill(pid, SIGKILL);
	check_wait(pid);
	pid = check_fork();
	if (!pid)
		for (int n = 0;; n = (n + 1) % 4)
			check_syscall(SYS_setgroups, n, (long)groups, 0, 0, 0, 0);
	for (int i = 0; i < 300; i++)
		groups_are(pid, "");
	kill(pid, SIGKILL);
	check_wait(pid);
	groups_are(getpid(), "\n");
}

#define UNDER "/tmp/proctasks.under"

/* A process sees the mounts below its own root, by the names that they have from there. */
static void mounts_below_a_root(void)
{
	char link[32], where[64] = "";
	int proc, lower, upper, fd, lines = 0;
	pid_t pid = check_fork();

	if (!pid) {
		proc = (int)CHECK_CALL(open("/proc", O_RDONLY));
		CHECK_CALL(mkdir(UNDER, 0755));
		CHECK_CALL(CALL(mount, "lower", UNDER, "tmpfs", 0, 0));
		lower = (int)CHECK_CALL(open(UNDER, O_RDONLY));
		CHECK_CALL(CALL(mount, "upper", UNDER, "tmpfs", 0, 0));
		upper = (int)CHECK_CALL(open(UNDER, O_RDONLY));
		CHECK_CALL(CALL(fchdir, lower));
		CHECK_CALL(CALL(chroot, "."));
		snprintf(link, sizeof(link), "self/fd/%d", upper);
		CHECK_EQ(CALL(readlinkat, proc, link, where, sizeof(where)), 1); /* it covers the very root */
		CHECK_EQ(where[0], '/');
		fd = (int)CHECK_CALL(CALL(openat, proc, "self/mounts", O_RDONLY));
		memset(text, 0, sizeof(text));
		CHECK(read(fd, text, sizeof(text) - 1) > 0);
		for (const char *c = text; *c; c++)
			lines += *c == '\n';
		CHECK_EQ(lines, 2);
		CHECK(strstr(text, "lower / tmpfs") && strstr(text, "upper / tmpfs"));
		_exit(check_failures != 0);
	}
	CHECK_EQ(check_wait(pid), 0);
	CHECK_CALL(CALL(umount, UNDER, 0));
	CHECK_CALL(CALL(umount, UNDER, 0));
	CHECK_CALL(rmdir(UNDER));
}

/* A child that sleeps, with a number from 300 on, or with this one. Numbers are given in turn, so it comes. */
static pid_t sleeper(pid_t wanted)
{
	for (int i = 0; i < 2000; i++) {
		pid_t pid = check_fork();

		if (!pid) {
			sleep(100);
			_exit(0);
		}
		if (pid == wanted || (!wanted && pid >= 300))
			return pid;
		kill(pid, SIGKILL);
		check_wait(pid);
	}
	vt_die(2, "no child has the number");
}

/* The directory of a process that has ended stays empty when another one gets its number. */
static void number_given_again(void)
{
	int fd = (int)CHECK_CALL(open("/proc/sys/kernel/pid_max", O_RDWR)), dir;
	char name[32];
	pid_t pid;

	CHECK_EQ(write(fd, "320", 3), 3);
	pid = sleeper(0);
	snprintf(name, sizeof(name), "/proc/%d/task", (int)pid);
	dir = (int)CHECK_CALL(open(name, O_RDONLY));
	snprintf(name, sizeof(name), "%d", (int)pid);
	CHECK_CALL(CALL(faccessat, dir, name, 0));
	for (int i = 0; i < 2; i++) {
		kill(pid, SIGKILL);
		check_wait(pid);
		CHECK_ERRNO(CALL(faccessat, dir, name, 0), ENOENT);
		CHECK_EQ(sleeper(pid), pid);
		CHECK_ERRNO(CALL(faccessat, dir, name, 0), ENOENT);
	}
	kill(pid, SIGKILL);
	check_wait(pid);
	CHECK_EQ(write(fd, "32768", 5), 5);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"smaps_sums", smaps_sums},
		{"smaps_area", smaps_area},
		{"pagemap_frames", pagemap_frames},
		{"mem_of_others", mem_of_others},
		{"auxv_as_given", auxv_as_given},
		{"environ_as_given", environ_as_given},
		{"memory_is_let_go", memory_is_let_go},
		{"limits_as_told", limits_as_told},
		{"io_and_place", io_and_place},
		{"fdinfo_of_a_file", fdinfo_of_a_file},
		{"kept_from_others", kept_from_others},
		{"name_is_one_line", name_is_one_line},
		{"file_max_holds", file_max_holds},
		{"masks_of_actions", masks_of_actions},
		{"console_level", console_level},
		{"groups_of_others", groups_of_others},
		{"mounts_below_a_root", mounts_below_a_root},
		{"number_given_again", number_given_again},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
