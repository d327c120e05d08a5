/* edgetest: arguments of system calls right at the edge of what is allowed, and one beyond. */
/* also on Linux */
#include <callnumbers.h>
#include <signal.h>
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

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"ranges", ranges},
		{"sendfile-modes", sendfile_modes},
		{"after-exec", after_exec},
		{"sizes-of-attributes", sizes_of_attributes},
	};

	if (argc > 1 && !strcmp(argv[1], "look"))
		return look();
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
