/* edgetest: arguments of system calls right at the edge of what is allowed, and one beyond. */
/* also on Linux */
#include <callnumbers.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

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
}

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
	long *nowhere = (long *)8;

	CHECK_CALL(CALL(pipe2, ends, 0));
	CHECK_EQ(write(ends[1], "abc", 3), 3);
	CHECK_ERRNO(CALL(readv, ends[0], parts, 2), EINVAL);
	CHECK_ERRNO(CALL(writev, ends[1], parts, 2), EINVAL);
	parts[0].len = 1;
	parts[1].len = -1;
	CHECK_ERRNO(CALL(readv, ends[0], parts, 2), EINVAL);
	CHECK_ERRNO(CALL(pselect6, 4, nowhere, 0, 0, 0, 0), EFAULT);
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

	p[0] = 1;
	CHECK_EQ(p[PAGE], 0); /* the page of zeros, which is everybody's */
	CHECK_EQ(exclusive((char *)p), 1);
	CHECK_EQ(exclusive((char *)p + PAGE), 0);
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
		{"sendfile-modes", sendfile_modes},
		{"after-exec", after_exec},
		{"sizes-of-attributes", sizes_of_attributes},
		{"names-without-a-last-part", names_without_a_last_part},
		{"numbers-of-devices", numbers_of_devices},
		{"times-to-set", times_to_set},
		{"bad-parts", bad_parts},
		{"exclusive-pages", exclusive_pages},
	};

	if (argc > 1 && !strcmp(argv[1], "look"))
		return look();
	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
