/* rlimits: each limit of setrlimit stops what Linux says it stops. Each case runs in a process of its own. */
#include <check.h>
#include <numbers.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { CPU, FSIZE, DATA, STACK, NPROC = 6, AS = 9, SIGPENDING = 11, NICE = 13, RTPRIO, RTTIME };

#define MIB	 (1UL << 20)
#define PAGE	 4096UL
#define USER	 1000
#define NO_LIMIT (~0UL)

static void limit(int which, unsigned long soft, unsigned long hard)
{
	unsigned long both[2] = {soft, hard};

	CHECK_EQ(check_syscall(SYS_prlimit64, 0, which, (long)both, 0, 0, 0), 0);
}

static unsigned long soft_limit(int which)
{
	unsigned long both[2] = {0, 0};

	CHECK_EQ(check_syscall(SYS_prlimit64, 0, which, 0, (long)both, 0, 0), 0);
	return both[0];
}

static void become_user(long uid)
{
	CHECK_CALL(check_syscall(SYS_setuid, uid, 0, 0, 0, 0, 0));
}

static void on_signal(int sig, void (*handler)(int))
{
	struct sigaction act = {.sa_handler = handler};

	CHECK_CALL(sigaction(sig, &act, NULL));
}

/* --- RLIMIT_FSIZE */

static void write_too_much(void)
{
	int fd = CHECK_CALL(open("/tmp/fsize", O_CREAT | O_RDWR | O_TRUNC, 0600));

	limit(FSIZE, 10, 10);
	CHECK_EQ(write(fd, "0123456789", 10), 10);
	write(fd, "x", 1);
}

static void file_size(void)
{
	static const char text[64];
	int fd = CHECK_CALL(open("/tmp/fsize", O_CREAT | O_RDWR | O_TRUNC, 0600)), ends[2];

	CHECK_CALL(ftruncate(fd, 100));
	limit(FSIZE, 40, 40);
	on_signal(SIGXFSZ, SIG_IGN);
	CHECK_EQ(write(fd, text, 64), 40); /* what there is room for */
	CHECK_EQ(write(fd, text, 0), 0);
	CHECK_ERRNO(write(fd, text, 1), EFBIG);
	CHECK_CALL(ftruncate(fd, 80)); /* smaller than it is */
	CHECK_ERRNO(ftruncate(fd, 81), EFBIG);
	CHECK_CALL(ftruncate(fd, 20));
	CHECK_CALL(ftruncate(fd, 40));
	CHECK_ERRNO(ftruncate(fd, 41), EFBIG);
	CHECK_CALL(pipe(ends)); /* no file that grows */
	CHECK_EQ(write(ends[1], text, 64), 64);
	CHECK_CALL(close(fd));
	on_signal(SIGXFSZ, SIG_DFL);
	limit(FSIZE, 10, 40);
	CHECK_EQ(check_in_child(write_too_much) & 0x7f, SIGXFSZ);
	CHECK_CALL(unlink("/tmp/fsize"));
}

/* --- RLIMIT_CPU and RLIMIT_RTTIME */

static int report;

static void on_xcpu(int sig)
{
	check_give(report, 'x');
}

static void burn(void)
{
	for (;;)
		;
}

/* One SIGXCPU at the soft limit, which then is a second more; SIGKILL at the hard one. Returns the CPU time,
 * us. */
static long burn_until_killed(void (*prepare)(void))
{
	int ends[2], status;
	struct rusage usage;
	char got[4];
	pid_t pid;

	CHECK_CALL(pipe(ends));
	pid = check_fork();
	if (pid == 0) {
		report = ends[1];
		on_signal(SIGXCPU, on_xcpu);
		prepare();
		burn();
	}
	close(ends[1]);
	CHECK_EQ(wait4(pid, &status, 0, &usage), pid);
	CHECK_EQ(status, SIGKILL);
	CHECK_EQ(read(ends[0], got, sizeof(got)), 1);
	close(ends[0]);
	return usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec + usage.ru_stime.tv_sec * 1000000 +
	       usage.ru_stime.tv_usec;
}

static void prepare_cpu(void)
{
	limit(CPU, 1, 2);
}

static void cpu_time(void)
{
	CHECK_RANGE(burn_until_killed(prepare_cpu), 1900000, 60000000);
}

static void prepare_no_cpu(void)
{
	limit(CPU, 0, 1);
}

/* A soft limit of 0 is over at the first tick. */
static void no_cpu_time(void)
{
	CHECK_RANGE(burn_until_killed(prepare_no_cpu), 800000, 60000000);
}

static void prepare_rt(void)
{
	struct sched_param param = {.sched_priority = 1};

	check_pin(0);
	limit(RTTIME, 40000, 80000);
	CHECK_CALL(sched_setscheduler(0, SCHED_FIFO, &param));
}

static void real_time(void)
{
	CHECK_RANGE(burn_until_killed(prepare_rt), 70000, 30000000);
}

/* --- RLIMIT_AS, RLIMIT_DATA and RLIMIT_STACK */

static unsigned long memory_now(void)
{
	char text[64] = "";
	int fd = CHECK_CALL(open("/proc/self/statm", O_RDONLY));

	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return strtoul(text, NULL, 10) * 4096;
}

static void *map(size_t size, int prot, int flags)
{
	return mmap(NULL, size, prot, flags | MAP_ANONYMOUS, -1, 0);
}

static void address_space(void)
{
	char *brk_now = sbrk(0), *p;
	char *const argv[] = {"true", NULL};

	limit(AS, memory_now() + MIB, NO_LIMIT);
	CHECK_EQ(map(2 * MIB, PROT_READ, MAP_PRIVATE), MAP_FAILED);
	CHECK_EQ(errno, ENOMEM);
	CHECK_EQ(map(2 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED), MAP_FAILED);
	CHECK_EQ(check_syscall(SYS_brk, (long)brk_now + 2 * MIB, 0, 0, 0, 0, 0), brk_now);
	p = map(MIB / 2, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	CHECK(p != MAP_FAILED);
	CHECK_ERRNO(check_syscall(SYS_mremap, (long)p, MIB / 2, 2 * MIB, 1, 0, 0), ENOMEM);
	CHECK_EQ(map(MIB, PROT_READ, MAP_PRIVATE), MAP_FAILED);
	CHECK_EQ(check_syscall(SYS_mremap, (long)p, MIB / 2, MIB / 4, 0, 0, 0), p);
	CHECK(map(MIB / 2, PROT_READ, MAP_PRIVATE) != MAP_FAILED); /* what was given back counts no more */
	limit(AS, 64 << 10, NO_LIMIT);
	CHECK_ERRNO(execve("/bin/true", argv, environ), ENOMEM);
}

static long remap(char *from, unsigned long size, unsigned long new_size, char *to)
{
	return check_syscall(SYS_mremap, (long)from, size, new_size, 3, (long)to, 0);
}

/* Of 3 pages at `to` and 4 at `from`, in a process that has nothing left of a limit. */
static void grow_over(char *from, char *to)
{
	to[0] = 't';
	from[0] = 'f';
	CHECK_ERRNO(remap(from, 2 * PAGE, 6 * PAGE, to), ENOMEM); /* 4 more, 3 go: nothing changes */
	CHECK_EQ(to[0], 't');
	CHECK_EQ(from[0], 'f');
	CHECK_EQ(remap(from, 2 * PAGE, 5 * PAGE, to), to);
	CHECK_EQ(to[0], 'f');
	CHECK_EQ(to[4 * PAGE], 0);
}

/* What mremap unmaps where it puts a mapping makes room for it to grow. */
static void grow_in(int which)
{
	char *from = map(4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	char *to = map(8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE), *one;
	unsigned long soft = 8 * MIB;

	CHECK_CALL(munmap(to + 3 * PAGE, 5 * PAGE));
	do {
		limit(which, soft -= PAGE, NO_LIMIT);
		one = map(PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	} while (one != MAP_FAILED && munmap(one, PAGE) == 0);
	grow_over(from, to);
}

static void grow_in_space(void)
{
	grow_in(AS);
}

static void grow_in_data(void)
{
	grow_in(DATA);
}

static void data(void)
{
	char *p;

	limit(DATA, MIB, NO_LIMIT);
	CHECK_EQ(map(2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE), MAP_FAILED);
	CHECK_EQ(errno, ENOMEM);
	CHECK(map(2 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED) != MAP_FAILED);
	p = map(2 * MIB, PROT_READ, MAP_PRIVATE);
	CHECK(p != MAP_FAILED);
	CHECK_ERRNO(check_syscall(SYS_mprotect, (long)p, 2 * MIB, PROT_READ | PROT_WRITE, 0, 0, 0), ENOMEM);
	CHECK_CALL(check_syscall(SYS_mprotect, (long)p, MIB / 4, PROT_READ | PROT_WRITE, 0, 0, 0));
	p[0] = 1;
}

/* The bytes that RLIMIT_DATA counts: private areas that may be written and do not grow down. */
static unsigned long data_now(void)
{
	static char text[8192];
	int fd = CHECK_CALL(open("/proc/self/maps", O_RDONLY));
	unsigned long sum = 0, from, to;
	size_t have = 0;
	ssize_t n;
	char *line;

	while ((n = read(fd, text + have, sizeof(text) - 1 - have)) > 0)
		have += n;
	close(fd);
	text[have] = 0;
	for (line = text; *line; line = strchr(line, '\n') + 1) {
		char *rights;

		from = strtoul(line, &rights, 16);
		to = strtoul(rights + 1, &rights, 16);
		if (rights[2] == 'w' && rights[4] == 'p' && strncmp(strchr(line, '\n') - 7, "[stack]", 7))
			sum += to - from;
	}
	return sum;
}

/* To the byte: what is left of the limit may be mapped, and not a page more. */
static void data_exactly(void)
{
	limit(DATA, data_now() + 3 * PAGE, NO_LIMIT);
	CHECK_EQ(map(4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE), MAP_FAILED);
	CHECK_EQ(errno, ENOMEM);
	CHECK(map(2 * PAGE + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE) != MAP_FAILED);
	CHECK_EQ(map(1, PROT_READ | PROT_WRITE, MAP_PRIVATE), MAP_FAILED);
}

/* A mapping ends with a page, whatever length is asked for. */
static void odd_length(void)
{
	unsigned long before = memory_now();
	char *p = map(PAGE + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE);

	CHECK_EQ(memory_now() - before, 2 * PAGE);
	p[2 * PAGE - 1] = 1;
	CHECK_EQ(p[2 * PAGE - 1], 1);
	CHECK_CALL(munmap(p, PAGE + 1));
	CHECK_EQ(memory_now(), before);
}

static __attribute__((noinline)) int use_stack(unsigned long bytes)
{
	volatile char frame[4096];

	frame[0] = 1;
	return bytes > sizeof(frame) ? use_stack(bytes - sizeof(frame)) + frame[0] : frame[0];
}

static void use_stack_2(void)
{
	limit(STACK, MIB, NO_LIMIT);
	CHECK(use_stack(2 * MIB));
}

static void use_stack_20(void)
{
	limit(STACK, 64 * MIB, NO_LIMIT);
	CHECK(use_stack(20 * MIB)); /* more than the 8 MiB that it begins with */
}

static void use_stack_and_space(void)
{
	limit(AS, memory_now() + MIB, NO_LIMIT);
	CHECK(use_stack(2 * MIB));
}

static char *empty[20001];

/* The errno, if the program of this path does not run. */
static int exec_with_empty_arguments(const char *path, int n)
{
	for (int i = 0; i < n; i++)
		empty[i] = "";
	execve(path, empty, environ);
	return errno;
}

/* A quarter of the stack is for arguments. Each takes a pointer and a byte here, although all strings are empty. */
static void exec_with_too_many_arguments(void)
{
	limit(STACK, 640 << 10, NO_LIMIT);
	CHECK_EQ(exec_with_empty_arguments("/bin/false", 18500),
		 E2BIG); /* false: an exec that succeeds is a failure too */
}

/* But 128 KiB there are for them in any case. */
static void exec_with_a_small_stack(void)
{
	limit(STACK, 200 << 10, NO_LIMIT);
	CHECK_EQ(exec_with_empty_arguments("/bin/true", 10000), 0);
}

static void exec_with_more_than_that(void)
{
	limit(STACK, 200 << 10, NO_LIMIT);
	CHECK_EQ(exec_with_empty_arguments("/bin/false", 15000), E2BIG);
}

static void stack(void)
{
	CHECK_EQ(check_in_child(exec_with_too_many_arguments), 0);
	CHECK_EQ(check_in_child(exec_with_a_small_stack), 0);
	CHECK_EQ(check_in_child(exec_with_more_than_that), 0);
	CHECK_EQ(check_in_child(use_stack_2) & 0x7f, SIGSEGV);
	CHECK_EQ(check_in_child(use_stack_20), 0);
	CHECK_EQ(check_in_child(use_stack_and_space) & 0x7f, SIGSEGV);
}

/* --- RLIMIT_NPROC */

/* Make children that wait until we end; the errno of the first that cannot be, or 0 after `most`. */
static int make_children(int most, int *made)
{
	int ends[2];

	CHECK_CALL(pipe(ends));
	for (*made = 0; *made < most; ++*made) {
		pid_t pid = fork();
		char byte;

		if (pid < 0)
			return errno;
		if (pid == 0) {
			close(ends[1]);
			read(ends[0], &byte, 1);
			_exit(0);
		}
	}
	return 0;
}

static void root_forks(void)
{
	int made;

	limit(NPROC, 1, 1);
	CHECK_EQ(make_children(5, &made), 0);
}

static void user_forks(void)
{
	int made;

	limit(NPROC, 3, 3);
	become_user(USER);
	CHECK_EQ(make_children(5, &made), EAGAIN);
	CHECK_EQ(made, 2); /* and ourselves */
}

/* setuid succeeds where the new user has too many; exec then does not. */
static void exec_as_one_too_many(void)
{
	char *const argv[] = {"true", NULL};

	limit(NPROC, 0, 0);
	become_user(USER + 1);
	CHECK_ERRNO(execve("/bin/true", argv, environ), EAGAIN);
	limit(NPROC, 0, 0);
	CHECK_ERRNO(fork(), EAGAIN);
}

/* A user who was within the limit at setuid may exec, even where the limit has become smaller since. */
static void exec_within(void)
{
	char *const argv[] = {"true", NULL};

	limit(NPROC, 0, 0);
	execve("/bin/true", argv, environ);
	CHECK(false);
}

static void exec_by_child(void)
{
	become_user(USER + 1);
	CHECK_EQ(check_in_child(exec_within), 0);
}

/* As many processes as the limit allows are not too many, and the setuid that makes one of them is no reason. */
static void exec_as_the_last(void)
{
	char *const argv[] = {"true", NULL};

	limit(NPROC, 1, 1);
	become_user(USER + 2);
	limit(NPROC, 0, 0);
	execve("/bin/true", argv, environ);
	CHECK_EQ(errno, 0);
	_exit(1);
}

static void processes(void)
{
	CHECK_EQ(check_in_child(exec_as_the_last), 0);
	CHECK_EQ(check_in_child(exec_by_child), 0);
	CHECK_EQ(check_in_child(root_forks), 0);
	CHECK_EQ(check_in_child(user_forks), 0);
	CHECK_EQ(check_in_child(exec_as_one_too_many), 0);
}

/* --- RLIMIT_SIGPENDING */

static void pending_signals(void)
{
	int info[32] = {0, 0, -1}; /* SI_QUEUE */
	sigset_t all = ~0UL;

	limit(SIGPENDING, 2, 2);
	become_user(USER);
	CHECK_CALL(sigprocmask(SIG_SETMASK, &all, NULL));
	for (int i = 0; i < 4; i++) {
		long ret = vt_syscall(SYS_rt_sigqueueinfo, getpid(), 40, (long)info, 0, 0, 0);

		CHECK_EQ(ret, i < 2 ? 0 : -EAGAIN);
	}
	CHECK_CALL(raise(SIGUSR1)); /* one each: not refused */
	CHECK_EQ(vt_syscall(SYS_rt_sigtimedwait, (long)&(sigset_t){1UL << 39}, 0, (long)&(struct timespec){0}, 8, 0, 0),
		 40);
	/* SIGUSR1 counts as well. */
	CHECK_EQ(vt_syscall(SYS_rt_sigqueueinfo, getpid(), 40, (long)info, 0, 0, 0), -EAGAIN);
}

/* What a process leaves pending does not count when it has been waited for, even while a pidfd still names it. */
static void pending_of_the_dead(void)
{
	int info[32] = {0, 0, -1}, status = -1, child, fd, ready[2]; /* SI_QUEUE */
	sigset_t forty = 1UL << 39;
	char byte;

	limit(SIGPENDING, 2, 2);
	become_user(USER);
	CHECK_CALL(sigprocmask(SIG_SETMASK, &forty, NULL));
	CHECK_CALL(pipe(ready));
	child = fork();
	if (!child) {
		for (int i = 0; i < 2; i++)
			if (vt_syscall(SYS_rt_sigqueueinfo, getpid(), 40, (long)info, 0, 0, 0))
				_exit(1);
		write(ready[1], "", 1);
		for (;;)
			pause();
	}
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	fd = (int)CHECK_CALL(vt_syscall(SYS_pidfd_open, child, 0, 0, 0, 0, 0));
	CHECK_EQ(vt_syscall(SYS_rt_sigqueueinfo, getpid(), 40, (long)info, 0, 0, 0), -EAGAIN);
	CHECK_CALL(kill(child, SIGKILL));
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, SIGKILL);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(vt_syscall(SYS_rt_sigqueueinfo, getpid(), 40, (long)info, 0, 0, 0), 0);
	close(fd);
}

/* --- RLIMIT_NICE and RLIMIT_RTPRIO */

static long set_nice(int nice)
{
	return vt_syscall(SYS_setpriority, 0, 0, nice, 0, 0, 0);
}

static long set_fifo(int priority)
{
	struct sched_param param = {.sched_priority = priority};

	return vt_syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, (long)&param, 0, 0, 0);
}

static void priorities(void)
{
	limit(NICE, 30, 30);
	limit(RTPRIO, 5, 5);
	become_user(USER);
	CHECK_EQ(set_nice(-11), -EACCES);
	CHECK_EQ(set_nice(-10), 0);
	CHECK_EQ(set_nice(5), 0);
	CHECK_EQ(set_nice(0), 0);
	CHECK_EQ(set_fifo(6), -EPERM);
	CHECK_EQ(set_fifo(5), 0);
	CHECK_EQ(set_fifo(1), 0);
	CHECK_EQ(set_fifo(5), 0);
}

static void no_priorities(void)
{
	become_user(USER);
	CHECK_EQ(soft_limit(NICE), 0);
	CHECK_EQ(soft_limit(RTPRIO), 0);
	CHECK_EQ(set_nice(1), 0);
	CHECK_EQ(set_nice(0), -EACCES);
	CHECK_EQ(set_fifo(1), -EPERM);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"file-size", file_size},
		{"cpu-time", cpu_time},
		{"no-cpu-time", no_cpu_time},
		{"real-time", real_time},
		{"address-space", address_space},
		{"data", data},
		{"data-exactly", data_exactly},
		{"odd-length", odd_length},
		{"grow-in-space", grow_in_space},
		{"grow-in-data", grow_in_data},
		{"stack", stack},
		{"processes", processes},
		{"pending-signals", pending_signals},
		{"pending-of-the-dead", pending_of_the_dead},
		{"priorities", priorities},
		{"no-priorities", no_priorities},
	};

	check_seconds = 90; /* a limit that is not enforced would let its case run for ever */
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
