/* edgetest: arguments of system calls right at the edge of what is allowed, and one beyond. */
/* also on Linux */
#include <callnumbers.h>
#include <posix.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread.h>
#ifndef __linux__
#include <deadline.h>
#endif

#define PAGE	  4096L
#define FILE_NAME "edgetest.file"

/* Ranges of pages: the beginning must be at a page's, the end is rounded up, and the whole lies in user space. */
static void ranges(void)
{
	char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char there[2];

	CHECK(p != MAP_FAILED);
	p[0] = p[PAGE] = 1;
	CHECK_CALL(munmap(p + 2 * PAGE, PAGE));
	CHECK_EQ(CALL(msync, p, 1, 4), 0); /* MS_SYNC */
	CHECK_ERRNO(CALL(msync, p + 1, 1, 4), EINVAL);
	CHECK_ERRNO(CALL(msync, p, 3 * PAGE, 4), ENOMEM);
	CHECK_EQ(CALL(madvise, p, 1, 0), 0);
	CHECK_ERRNO(CALL(madvise, p + 1, 1, 0), EINVAL);
	CHECK_ERRNO(CALL(madvise, p, -PAGE, 0), EINVAL);
	CHECK_EQ(CALL(mincore, p, PAGE + 1, there), 0);
	CHECK_EQ(there[0] & there[1] & 1, 1);
	CHECK_ERRNO(CALL(mincore, p + 1, 1, there), EINVAL);
	CHECK_ERRNO(CALL(mincore, p, -1L, there), ENOMEM);
}

/* All bytes of a file's mapping have positions that a loff_t can tell, also where the file has none. */
static void ranges_of_files(void)
{
	int fd;

	CHECK_CALL(fd = open(FILE_NAME, O_RDWR | O_CREAT | O_TRUNC, 0644));
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 1L << 32) != MAP_FAILED);
	CHECK_ERRNO(CALL(mmap, 0, PAGE, PROT_READ, MAP_PRIVATE, fd, -PAGE), EOVERFLOW);
	CHECK_ERRNO(CALL(mmap, 0, PAGE, PROT_READ, MAP_PRIVATE, fd, 0x7ffffffffffff000), EOVERFLOW);
	CHECK_ERRNO(CALL(mmap, 0, 3 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0x7fffffffffffd000), EOVERFLOW);
#ifndef __linux__ /* which limits it further, to what the file system can store */
	CHECK(CALL(mmap, 0, PAGE, PROT_READ, MAP_PRIVATE, fd, 0x7fffffffffffe000) > 0);
#endif
	close(fd);
	unlink(FILE_NAME);
}

/* sendfile reads from one and writes to the other: each must be open for that. */
static void sendfile_modes(void)
{
	int out, in;

	CHECK_CALL(out = open(FILE_NAME, O_WRONLY | O_CREAT | O_TRUNC, 0644));
	CHECK_EQ(write(out, "text", 4), 4);
	CHECK_CALL(in = open(FILE_NAME, O_RDONLY));
	CHECK_ERRNO(CALL(sendfile64, out, out, 0, 4), EBADF);
	CHECK_ERRNO(CALL(sendfile64, in, in, 0, 4), EBADF);
	CHECK_EQ(CALL(sendfile64, out, in, 0, 2), 2);
	unlink(FILE_NAME);
}

/* What exec leaves of a handler: the default, without flags or a mask. What is ignored stays so, as bare. */
static void after_exec(void)
{
	char *const argv[] = {"edgetest", "look", NULL}, *const envp[] = {NULL};
	struct sigaction act = {.sa_handler = SIG_IGN, .sa_flags = SA_NODEFER | SA_RESTART};
	pid_t pid;

	sigfillset(&act.sa_mask);
	CHECK_CALL(sigaction(SIGUSR1, &act, NULL));
	act.sa_handler = (void (*)(int))_exit;
	CHECK_CALL(sigaction(SIGUSR2, &act, NULL));
	pid = check_fork();
	if (!pid) {
		execve("/proc/self/exe", argv, envp);
		_exit(2);
	}
	CHECK_EQ(check_wait(pid), 0);
}

static int look(void)
{
	struct sigaction act;

	for (int sig = 1; sig < 32; sig++) {
		if (sigaction(sig, NULL, &act))
			continue;
		CHECK_EQ(act.sa_flags & (SA_NODEFER | SA_RESTART | SA_SIGINFO | SA_ONSTACK | 1), 0);
		if (sig == SIGUSR1 || sig == SIGUSR2) {
			CHECK(act.sa_handler == (sig == SIGUSR1 ? SIG_IGN : SIG_DFL));
			CHECK_EQ(sigismember(&act.sa_mask, SIGTERM), 0);
		}
	}
	fflush(stdout);
	return check_failures != 0;
}

/* A program that knows the first version of the structure only may ask, and one that leaves room for later ones. */
static void sizes_of_attributes(void)
{
	static char page[PAGE + 1];

	CHECK_EQ(CALL(sched_getattr, 0, page, 48, 0), 0);
	CHECK_ERRNO(CALL(sched_getattr, 0, page, 47, 0), EINVAL);
	CHECK_EQ(CALL(sched_getattr, 0, page, PAGE, 0), 0);
	CHECK_ERRNO(CALL(sched_getattr, 0, page, PAGE + 1, 0), EINVAL);
	CHECK_ERRNO(CALL(sched_getattr, 0, page, 48, 1), EINVAL);
	CHECK_ERRNO(CALL(sched_getattr, -1, page, 48, 0), EINVAL);
}

/* Names that end in no component of their own, and the name that is empty. */
static void names_without_a_last_part(void)
{
	char buf[8];

	CHECK_ERRNO(CALL(mkdirat, AT_FDCWD, "/", 0755), EEXIST);
	CHECK_ERRNO(CALL(unlinkat, AT_FDCWD, "/", 0x200), EBUSY); /* AT_REMOVEDIR */
	CHECK_ERRNO(CALL(unlinkat, AT_FDCWD, "//", 0), EISDIR);
	CHECK_ERRNO(rename("/", "x"), EBUSY);
	CHECK_ERRNO(open("", O_RDONLY), ENOENT);
	CHECK_ERRNO(CALL(chdir, ""), ENOENT);
	CHECK_ERRNO(CALL(readlinkat, AT_FDCWD, "/", buf, sizeof(buf)), EINVAL);
	CHECK_ERRNO(CALL(readlinkat, AT_FDCWD, "", buf, sizeof(buf)), ENOENT);
	CHECK_ERRNO(open("/tmp", O_RDONLY | O_CREAT | O_DIRECTORY, 0644), EINVAL);
	CHECK_ERRNO(open("/tmp", O_RDONLY | O_CREAT, 0644), EISDIR);
	CHECK_ERRNO(open("/", O_RDONLY | O_CREAT, 0644), EISDIR);
}

/* A link whose whole text is "/" leads to the root, although the link's own name was the last part before. */
static void link_to_the_root(void)
{
	struct stat root, st;

	unlink("edgetest.link");
	CHECK_CALL(symlink("/", "edgetest.link"));
	CHECK_CALL(stat("/", &root));
	if (CHECK_EQ(stat("edgetest.link", &st), 0))
		CHECK(st.st_ino == root.st_ino && st.st_dev == root.st_dev);
	CHECK_ERRNO(CALL(mkdirat, AT_FDCWD, "edgetest.link", 0755), EEXIST);
	CHECK_EQ(CALL(chdir, "edgetest.link"), 0);
	CHECK_EQ(CALL(chdir, "/tmp"), 0);
	unlink("edgetest.link");
}

/*
 * open(2) reserves the descriptor before it waits for a FIFO's other end: dup2 to that number finds neither a file
 * to close nor a free place.
 */
static int reserved_fd;
static volatile bool about_to_open;

static void open_fifo(void *arg)
{
	long fd;

	about_to_open = true;
	fd = CALL(openat, AT_FDCWD, "edgetest.fifo", O_RDONLY, 0);

	_exit(fd != reserved_fd);
}

static void descriptor_in_the_making(void)
{
	pid_t pid;
	int other;

	unlink("edgetest.fifo");
	CHECK_CALL(CALL(mknodat, AT_FDCWD, "edgetest.fifo", S_IFIFO | 0600, 0));
	CHECK_CALL(reserved_fd = open("/dev/null", O_RDONLY));
	close(reserved_fd); /* the lowest free number */
	pid = thread_start(-1, open_fifo, NULL);
	while (!about_to_open)
		check_sleep(MS);
	for (int looks = 0; looks < 5; looks++) { /* a short sleep, for a lock that we have, does not count */
		if (!process_gets(pid, 'S'))
			return;
		check_sleep(5 * MS);
	}
	CHECK_ERRNO(CALL(dup3, 1, reserved_fd, 0), EBUSY);
	CHECK_CALL(other = open("edgetest.fifo", O_WRONLY));
	CHECK(thread_join(&pid, 1));
	CHECK_EQ(CALL(dup3, 1, reserved_fd, 0), reserved_fd); /* now there is a file, which dup3 closes */
	close(reserved_fd);
	close(other);
	unlink("edgetest.fifo");
}

/* Two processes that share their memory have one value of oom_score_adj; a third process keeps its own. */
static int shared_go[2];

static void take_and_look(void *arg)
{
	char byte;
	int fd;

	CALL(read, shared_go[0], &byte, 1);
	fd = (int)CALL(openat, AT_FDCWD, "/proc/thread-self/oom_score_adj", O_RDONLY, 0);
	CALL(read, fd, (char *)arg, 7);
	_exit(0);
}

static void oom_value_of_sharers(void)
{
	static char seen[8];
	int hold[2];
	pid_t sharer, other;
	char path[48];

	CHECK_CALL(CALL(pipe2, shared_go, 0));
	CHECK_CALL(CALL(pipe2, hold, 0));
	check_put("/proc/self/oom_score_adj", "111");
	other = check_fork();
	if (!other) {
		check_take(hold[0]);
		_exit(0);
	}
	sharer = thread_start(-1, take_and_look, seen);
	check_put("/proc/self/oom_score_adj", "333");
	check_give(shared_go[1], 'x');
	CHECK(thread_join(&sharer, 1));
	CHECK(!strcmp(seen, "333\n"));
	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)other);
	CHECK(check_holds(path, "111\n"));
	check_give(hold[1], 'x');
	CHECK_EQ(check_wait(other), 0);
}

#ifndef __linux__
/* What only this kernel's machine has, or what a busy one would hide. */
static void constant_texts(void)
{
	static const char *const files[] = {"/sys/kernel/tracing/README", "/proc/config.gz"};
	char byte;

	for (int i = 0; i < 2; i++) {
		int fd = CHECK_CALL(open(files[i], O_RDONLY));

		CHECK_ERRNO(CALL(read, fd, (char *)8, 10), EFAULT);
		CHECK_EQ(CALL(lseek, fd, 0, SEEK_CUR), 0);
		CHECK_EQ(read(fd, &byte, 1), 1);
		close(fd);
	}
}

/* The port's own file as well as /dev/console: open for what was asked, and without a position. */
/* Records that were overwritten unread are an error once; then comes the oldest that there still is. */
static void lost_records(void)
{
	int fd = CHECK_CALL(open("/dev/kmsg", O_RDWR | O_NONBLOCK)), other;
	char line[1024], oldest[1024];

	for (int i = 0; i < 4096; i++)
		CHECK_EQ(write(fd, "<7>edgetest\n", 12), 12);
	CHECK_ERRNO(read(fd, line, sizeof(line)), EPIPE);
	other = CHECK_CALL(open("/dev/kmsg", O_RDONLY | O_NONBLOCK));
	CHECK(read(other, oldest, sizeof(oldest)) > 0);
	CHECK(read(fd, line, sizeof(line)) > 0);
	CHECK_EQ(strtoul(line + 2, NULL, 10), strtoul(oldest + 2, NULL, 10));
	CHECK_EQ(CALL(lseek, fd, 0, SEEK_END), 0);
	CHECK_ERRNO(CALL(lseek, fd, 0, SEEK_CUR), EINVAL);
	close(fd);
	close(other);
}

static void terminals_have_no_position(void)
{
	static const char *const files[] = {"/dev/console", "/dev/ttyAMA0", "/dev/ttyS0"};
	int found = 0;

	for (int i = 0; i < 3; i++) {
		int fd = open(files[i], O_RDWR | O_NOCTTY);

		if (fd < 0)
			continue;
		found++;
		CHECK_ERRNO(CALL(lseek, fd, 0, SEEK_CUR), ESPIPE);
		CHECK_ERRNO(CALL(pread64, fd, NULL, 0, 0), ESPIPE);
		CHECK_EQ(write(fd, "", 0), 0);
		close(fd);
	}
	CHECK_EQ(found, 2);
}

/* A regular file whose bytes the kernel cannot read for itself is no program, whatever its permissions say. */
static void exec_of_a_made_text(void)
{
	static const char *const argv[] = {"README", NULL}, *const envp[] = {NULL};

	CHECK_CALL(chmod("/sys/kernel/tracing/README", 0755));
	CHECK_ERRNO(CALL(execve, "/sys/kernel/tracing/README", argv, envp), EACCES);
	CHECK_CALL(chmod("/sys/kernel/tracing/README", 0444));
}

/* A line of /proc/meminfo, in KiB. */
static long meminfo(const char *name)
{
	char text[4096], *at;
	int fd = CHECK_CALL(open("/proc/meminfo", O_RDONLY));
	long n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n < 0 ? 0 : n] = 0;
	at = strstr(text, name);
	return at ? atol(at + strlen(name)) : -1;
}

/* The nodes of a file's tree go with the file: here two of them each time, for a page at 0 and one far behind. */
static void files_give_all_back(void)
{
	long before = 0, after;
	char name[40];

	snprintf(name, sizeof(name), "/tmp/edgetest.tree.%d", getpid());
	for (int i = 0; i < 1100; i++) {
		int fd = CHECK_CALL(open(name, O_RDWR | O_CREAT | O_TRUNC, 0644));

		CHECK_EQ(write(fd, "x", 1), 1);
		CHECK_EQ(CALL(pwrite64, fd, "x", 1, 600 * PAGE), 1);
		close(fd);
		unlink(name);
		if (i == 99)
			before = meminfo("MemFree:"); /* caches are warm */
	}
	after = meminfo("MemFree:");
	for (int i = 0; i < 1000 && before - after > 2000; i++) { /* what waits for a grace period comes back */
		check_sleep(10 * MS);
		after = meminfo("MemFree:");
	}
	CHECK_RANGE(before - after, -100000, 2000);
}

static long dentries(void)
{
	char *text = vt_read_file("/proc/slabinfo", NULL), *line = text ? strstr(text, "\ndentry ") : NULL;
	long n = line ? atol(line + 8) : -1;

	free(text);
	return n;
}

/* The cache remembers 1,024 names that are not there, and no more, even if some of them have become files since. */
static void missing_names_are_forgotten(void)
{
	char name[48];
	struct stat st;
	long before = 0;

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "/tmp/edgetest.%d.%d", getpid(), i);
		CHECK_ERRNO(stat(name, &st), ENOENT);
		if (i == 1500)
			before = dentries();
		if (i >= 1500 && i < 1564)
			check_put(name, "");
	}
	CHECK(before > 0);
	for (int i = 0; i < 1000 && dentries() - before > 1000; i++)
		check_sleep(10 * MS); /* what is forgotten is freed after a grace period */
	CHECK_RANGE(dentries() - before, -1000, 1000);
	for (int i = 1500; i < 1564; i++) {
		snprintf(name, sizeof(name), "/tmp/edgetest.%d.%d", getpid(), i);
		CHECK_CALL(unlink(name));
	}
}

/*
 * Stacks that wait for the worker are taken only when the CPU has none at hand. With real-time priority on one CPU,
 * the worker does not run between the exits, which fill both places, and the forks of the next turn.
 */
static void no_stack_is_lost(void)
{
	struct sched_param rt = {.sched_priority = 1}, fair = {0};
	long before;

	check_pin(0);
	before = meminfo("KernelStack:");
	CHECK_EQ(CALL(sched_setscheduler, 0, SCHED_FIFO, &rt), 0);
	for (int turn = 0; turn < 30; turn++) {
		pid_t pids[8];

		for (int i = 0; i < 8; i++)
			pids[i] = check_exits_with(i);
		for (int i = 0; i < 8; i++)
			CHECK_EQ(check_wait(pids[i]), i << 8);
	}
	CHECK_EQ(CALL(sched_setscheduler, 0, 0, &fair), 0);
	for (int i = 0; i < 500 && meminfo("KernelStack:") > before + 160; i++)
		check_sleep(10000000); /* the worker frees the rest */
	CHECK_RANGE(meminfo("KernelStack:") - before, -1000, 160);
}
#endif

/* Structures that tell about files, in raw form: their layout is part of the call. */
static void numbers_of_devices(void)
{
	static unsigned raw[64]; /* struct statx */
	struct stat st;

	CHECK_CALL(stat("/dev/null", &st));
	CHECK_EQ(st.st_rdev, 1 << 8 | 3);
	CHECK_CALL(CALL(statx, AT_FDCWD, "/dev/null", 0, 0x7ff, raw));
	CHECK_EQ(raw[32], 1); /* stx_rdev_major */
	CHECK_EQ(raw[33], 3);
	CHECK_ERRNO(CALL(fstatfs, -1, raw), EBADF);
	CHECK_ERRNO(CALL(fsync, -1), EBADF);
	CHECK_ERRNO(CALL(syncfs, -1), EBADF);
}

/* Nanoseconds of a time to set: 0 to 999,999,999, and two values beyond with a meaning of their own. */
static void times_to_set(void)
{
	long times[4] = {100, 999999999, 200, 0};
	struct stat st;

	check_put(FILE_NAME, "x");
	CHECK_CALL(CALL(utimensat, AT_FDCWD, FILE_NAME, times, 0));
	CHECK_CALL(stat(FILE_NAME, &st));
	CHECK_EQ(st.st_mtim.tv_sec, 200);
	CHECK_EQ(st.st_atim.tv_nsec, 999999999);
	times[1] = 1000000000;
	CHECK_ERRNO(CALL(utimensat, AT_FDCWD, FILE_NAME, times, 0), EINVAL);
	times[1] = -1;
	CHECK_ERRNO(CALL(utimensat, AT_FDCWD, FILE_NAME, times, 0), EINVAL);
	CHECK_CALL(stat(FILE_NAME, &st));
	CHECK_EQ(st.st_atim.tv_nsec, 999999999);
	unlink(FILE_NAME);
	times[1] = times[3] = 0x3ffffffe; /* UTIME_OMIT: there is nothing to do, so the file is not looked for */
	CHECK_EQ(CALL(utimensat, AT_FDCWD, FILE_NAME, times, 0), 0);
	CHECK_ERRNO(CALL(utimensat, AT_FDCWD, 0, 0, 0), EFAULT);
	CHECK_ERRNO(CALL(truncate, "no such file", -1), EINVAL);
}

/* Pieces of which one, the first or the last, has a length that is negative; sets and flags that cannot be read. */
static void bad_parts(void)
{
	static char text[8];
	struct {
		void *base;
		long len;
	} parts[2] = {{text, -1}, {text, 1}};
	int ends[2], on = 1;
	long *nowhere = (long *)8, at_once[2] = {0, 0};
	void *constant = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK_CALL(CALL(pipe2, ends, 0));
	CHECK_EQ(write(ends[1], "abc", 3), 3);
	CHECK_ERRNO(CALL(readv, ends[0], parts, 2), EINVAL);
	CHECK_ERRNO(CALL(writev, ends[1], parts, 2), EINVAL);
	parts[0].len = 1;
	parts[1].len = -1;
	CHECK_ERRNO(CALL(readv, ends[0], parts, 2), EINVAL);
	CHECK_ERRNO(CALL(pselect6, 4, nowhere, 0, 0, 0, 0), EFAULT);
	CHECK_ERRNO(CALL(pselect6, 4, constant, 0, 0, at_once, 0), EFAULT); /* the answer has no place */
	CHECK_EQ(fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
	CHECK_ERRNO(CALL(ioctl, ends[0], 0x5421, nowhere), EFAULT); /* FIONBIO */
	CHECK_EQ(fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
	CHECK_EQ(CALL(ioctl, ends[0], 0x5421, &on), 0);
	CHECK_EQ(fcntl(ends[0], F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	on = 0;
	CHECK_EQ(CALL(ioctl, ends[0], 0x5421, &on), 0);
	CHECK_EQ(fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
}

/* /proc/self/pagemap calls a page exclusive (bit 56) as long as it is in one address space only. */
static unsigned long exclusive(const char *p)
{
	unsigned long entry = 0;
	int fd = CHECK_CALL(open("/proc/self/pagemap", O_RDONLY));

	CHECK_EQ(CALL(pread64, fd, &entry, 8, (unsigned long)p / PAGE * 8), 8);
	CHECK_EQ(entry >> 63, 1); /* present */
	close(fd);
	return entry >> 56 & 1;
}

static void exclusive_pages(void)
{
	volatile char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int hold[2];
	pid_t pid;

	/* Read first: a write may get several pages at once on Linux, if nothing is there yet. */
	CHECK_EQ(p[PAGE], 0); /* the page of zeros, which is everybody's */
	p[0] = 1;
	CHECK_EQ(exclusive((char *)p), 1);
	CHECK_CALL(CALL(pipe2, hold, 0));
	pid = check_fork();
	if (!pid) {
		check_take(hold[0]);
		_exit(0);
	}
	CHECK_EQ(exclusive((char *)p), 0);
	check_give(hold[1], 'x');
	CHECK_EQ(check_wait(pid), 0);
	CHECK_EQ(exclusive((char *)p), 1);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"ranges", ranges},
		{"ranges-of-files", ranges_of_files},
		{"sendfile-modes", sendfile_modes},
		{"after-exec", after_exec},
		{"sizes-of-attributes", sizes_of_attributes},
		{"names-without-a-last-part", names_without_a_last_part},
		{"numbers-of-devices", numbers_of_devices},
		{"times-to-set", times_to_set},
		{"bad-parts", bad_parts},
		{"exclusive-pages", exclusive_pages},
		{"link-to-the-root", link_to_the_root},
		{"descriptor-in-the-making", descriptor_in_the_making},
		{"oom-value-of-sharers", oom_value_of_sharers},
#ifndef __linux__
		{"constant-texts", constant_texts},
		{"lost-records", lost_records},
		{"terminals-have-no-position", terminals_have_no_position},
		{"exec-of-a-made-text", exec_of_a_made_text},
		{"files-give-all-back", files_give_all_back},
		{"missing-names-are-forgotten", missing_names_are_forgotten},
		{"no-stack-is-lost", no_stack_is_lost},
#endif
	};

	if (argc > 1 && !strcmp(argv[1], "look"))
		return look();
	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
