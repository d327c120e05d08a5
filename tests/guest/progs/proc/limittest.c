/*
 * limittest: the last value of an argument that a system call takes, and the first one that it does not. A row is one
 * call that needs nothing but its arguments. Where a call takes bits, each combination that is refused has a row.
 */
/* also on Linux */
#include <callnumbers.h>
#include <posix.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PAGE	  4096L
#define FILE_NAME "limittest.file"
#define ANY	  0x7fffffffL /* the result is a number of its own */
#define AT(p)	  ((long)(p))

static char *pages;	   /* two pages, written to */
static int file, pipes[2]; /* of FILE_NAME, for reading and writing; with a byte in it */
static char buf[8 * PAGE], zeros[256];
static struct {
	void *base;
	size_t len;
} vecs[1025];
static const long second[2] = {0, 999999999}, too_many_ns[2] = {0, 1000000000}, less[2] = {0, -1}, before[2] = {-1, 0};
static const long timer[4] = {0, 0, 0, 999999}, bad_timer[4] = {0, 1000000, 0, 0}, bad_interval[4] = {0, 0, 0, -1};
static const long now_and_omit[4] = {0, (1L << 30) - 1, 0, (1L << 30) - 2}, bad_stamp[4] = {0, 0, 0, 1000000000};
static const long limits[2] = {2, 1}, same_limits[2] = {1024, 1024};
static const unsigned long all_but_one = -2UL, all = -1UL, one = 1;
static const struct {
	void *sp;
	int flags;
	size_t size;
} small_stack = {buf, 0, 1024}, odd_stack = {buf, 8, sizeof(buf)}, good_stack = {buf, 0, sizeof(buf)},
  no_stack = {NULL, 2, 0};

struct row {
	const char *name;
	long nr, a[6], wanted; /* negative: -errno */
};

#define ROW(result, call, ...)                                                 \
	{                                                                      \
#call "(" #__VA_ARGS__ ")", SYS_##call, {__VA_ARGS__ }, result \
	}

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];
		long result = check_syscall(r->nr, r->a[0], r->a[1], r->a[2], r->a[3], r->a[4], r->a[5]);

		if (result == -1)
			result = -errno;
		if (result == r->wanted || (r->wanted == ANY && result >= 0))
			continue;
		check_failures++;
		printf("  %s: %ld, not %ld\n", r->name, result, r->wanted);
	}
}
#define CHECK_ROWS(rows) check_rows(rows, ARRAY_SIZE(rows))

static void memory(void)
{
	const long p = AT(pages), sealed = CHECK_CALL(CALL(memfd_create, "sealed", 2));
	const struct row rows[] = {
		ROW(-EINVAL, mmap, 0, 0, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		ROW(-EINVAL, mmap, 0, PAGE, 3, MAP_ANONYMOUS, -1, 0), /* neither shared nor private */
		ROW(-EINVAL, mmap, 0, PAGE, 1, MAP_PRIVATE, file, 1),
		ROW(-EBADF, mmap, 0, PAGE, 1, MAP_PRIVATE, -1, 0),
		ROW(-ENODEV, mmap, 0, PAGE, 1, MAP_PRIVATE, pipes[0], 0),
		ROW(0, fcntl, sealed, 1033, 8), /* F_ADD_SEALS, F_SEAL_WRITE */
		ROW(-EPERM, mmap, 0, PAGE, 3, MAP_SHARED, sealed, 0),
		ROW(-EPERM, write, sealed, p, 1),
		ROW(-ENOMEM, mmap, 0, -PAGE, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		ROW(-EEXIST, mmap, p, PAGE, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
		ROW(-EINVAL, mmap, p + 1, PAGE, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
		ROW(-EINVAL, munmap, p, 0),
		ROW(-EINVAL, munmap, p + 1, PAGE),
		ROW(-EINVAL, munmap, p, -PAGE),
		ROW(-EINVAL, mprotect, p + 1, PAGE, 3),
		ROW(0, mprotect, p, 0, 3),
		ROW(0, mprotect, p, 1, 3),
		ROW(-EINVAL, mprotect, p, PAGE, 0x100),
		ROW(-EINVAL, mremap, p, PAGE, 0, 0),
		ROW(-EINVAL, mremap, p + 1, PAGE, PAGE, 0),
		ROW(-EINVAL, mremap, p, PAGE, PAGE, 8),
		ROW(-EINVAL, mremap, p, PAGE, PAGE, 2, p + 8 * PAGE),	  /* a new place, without leave to move */
		ROW(-EINVAL, mremap, p, 2 * PAGE, 2 * PAGE, 3, p + PAGE), /* which lies in the old one */
		ROW(-EINVAL, mremap, p, PAGE, -PAGE, 1),		  /* more than any program has */
		ROW(-EINVAL, mremap, p, PAGE, -PAGE, 3, p + 8 * PAGE),
		ROW(-EINVAL, mremap, p, PAGE, PAGE, 3, -PAGE),
		ROW(-EINVAL, msync, p, PAGE, 8),
		ROW(-EINVAL, msync, p, PAGE, 5), /* now and later */
		ROW(0, msync, p, PAGE, 1),
		ROW(-EINVAL, madvise, p, PAGE, 99),
		ROW(0, madvise, p, 0, 4),
		ROW(-EINVAL, mlock2, p, PAGE, 2),
		ROW(-EINVAL, mlockall, 0),
		ROW(-EINVAL, mlockall, 8),
		ROW(-EINVAL, mlockall, 4), /* how, without what */
		ROW(-EINVAL, membarrier, 1 << 30, 0),
		ROW(-EINVAL, membarrier, 0, 1),
	};

	CHECK_ROWS(rows);
	CALL(close, sealed);
}

static void files(void)
{
	const struct row rows[] = {
		ROW(0, readv, pipes[0], AT(vecs), 0),
		ROW(0, readv, file, AT(vecs), 1024),
		ROW(-EINVAL, readv, file, AT(vecs), 1025),
		ROW(-EINVAL, readv, file, AT(vecs), -1),
		ROW(0, writev, file, AT(vecs), 1024),
		ROW(-EINVAL, writev, file, AT(vecs), 1025),
		ROW(-EINVAL, preadv, file, AT(vecs), 1, -1),
		ROW(-EINVAL, pread64, file, AT(buf), 1, -1),
		ROW(-EINVAL, pwrite64, file, AT(buf), 1, -1),
		ROW(-ESPIPE, pread64, pipes[0], AT(buf), 1, 0),
		ROW(-ESPIPE, lseek, pipes[0], 0, 0),
		ROW(-EINVAL, lseek, file, 0, 5),
		ROW(-EINVAL, lseek, file, -1, 0),
		ROW(-EINVAL, lseek, file, -2, 2),
		ROW(0, lseek, file, -1, 2),
		ROW(-ENXIO, lseek, file, 1, 3), /* data at the end, and behind it */
		ROW(-ENXIO, lseek, file, 1, 4),
		ROW(1, lseek, file, 0, 4),
		ROW(-EINVAL, ftruncate, file, -1),
		ROW(-EINVAL, ftruncate, pipes[1], 0),
		ROW(-EINVAL, fallocate, file, 0, 0, 0),
		ROW(-EINVAL, fallocate, file, 0, -1, 1),
		ROW(-EOPNOTSUPP, fallocate, file, 2, 0, 1), /* a hole, and shorter for it */
		ROW(-ESPIPE, fallocate, pipes[1], 0, 0, 1),
		ROW(-EBADF, close, -1),
		ROW(-EBADF, dup, -1),
		ROW(-EBADF, dup, 1024),
		ROW(-EINVAL, dup3, file, file, 0),
		ROW(-EINVAL, dup3, file, 100, 1),
		ROW(-EBADF, dup3, file, 1024, 0),
		ROW(1023, dup3, file, 1023, 02000000),
		ROW(1, fcntl, 1023, 1),
		ROW(-EMFILE, fcntl, file, 0, 1023),
		ROW(-EINVAL, fcntl, file, 0, 1024),
		ROW(0, close, 1023),
		ROW(-EBADF, close, 1023),
		ROW(1022, fcntl, file, 0, 1022),
		ROW(0, fcntl, 1022, 1),
		ROW(-EINVAL, close_range, 1022, 1021, 0),
		ROW(-EINVAL, close_range, 1022, 1022, 1),
		ROW(0, close_range, 1022, 1022, 4),
		ROW(1, fcntl, 1022, 1),
		ROW(0, close_range, 1022, -1, 0),
		ROW(-EBADF, fcntl, 1022, 1),
		ROW(-EINVAL, fcntl, file, 99),
		ROW(-EINVAL, flock, file, 0),
		ROW(-EINVAL, flock, file, 3),
		ROW(0, flock, file, 4 | 8),
		ROW(-EINVAL, pipe2, AT(buf), 1),
		ROW(-EINVAL, eventfd2, 0, 2),
		ROW(-EINVAL, epoll_create1, 1),
		ROW(-EINVAL, inotify_init1, 1),
		ROW(-EINVAL, memfd_create, AT("x"), 0x80),
		ROW(-EINVAL, fadvise64, file, 0, 0, 6),
		ROW(0, fadvise64, file, 0, 0, 5),
		ROW(-ESPIPE, fadvise64, pipes[0], 0, 0, 0),
	};

	CHECK_ROWS(rows);
}

static void names(void)
{
	const long name = AT(FILE_NAME), none = AT("limittest.none"), cwd = AT_FDCWD, sub = AT("limittest.file/x");
	const struct row rows[] = {
		ROW(-EINVAL, faccessat, cwd, name, 8),
		ROW(0, faccessat, cwd, name, 4),
		ROW(-EACCES, faccessat, cwd, name, 1),
		ROW(-ENOENT, faccessat, cwd, none, 0),
		ROW(-ENOTDIR, faccessat, cwd, sub, 0),
		ROW(-EINVAL, linkat, cwd, name, cwd, none, 1),
		ROW(-EEXIST, linkat, cwd, name, cwd, name, 0),
		ROW(-EINVAL, unlinkat, cwd, name, 1),
		ROW(-ENOTDIR, unlinkat, cwd, name, 0x200),
		ROW(-EINVAL, renameat2, cwd, name, cwd, none, 8),
		ROW(-EINVAL, renameat2, cwd, name, cwd, none, 3), /* both, and keep the other one */
		ROW(-EEXIST, renameat2, cwd, name, cwd, name, 1),
		ROW(-ENOENT, renameat2, cwd, name, cwd, none, 2),
		ROW(-EINVAL, newfstatat, cwd, name, AT(buf), 1),
		ROW(-EINVAL, readlinkat, cwd, name, AT(buf), 0),
		ROW(-EINVAL, readlinkat, cwd, name, AT(buf), 8),
		ROW(-EPERM, mknodat, cwd, none, S_IFDIR | 0700, 0),
		ROW(-EINVAL, mknodat, cwd, none, S_IFLNK | 0700, 0),
		ROW(-EEXIST, mknodat, cwd, name, S_IFREG | 0700, 0),
		ROW(-EINVAL, utimensat, cwd, name, AT(bad_stamp), 0),
		ROW(-EINVAL, utimensat, cwd, name, AT(now_and_omit), 1),
		ROW(0, utimensat, cwd, name, AT(now_and_omit), 0),
		ROW(-EINVAL, fchownat, cwd, name, -1, -1, 1),
		ROW(0, fchownat, cwd, name, -1, -1, 0),
		ROW(-ENOTDIR, openat, file, none, O_RDONLY, 0),
		ROW(-EBADF, openat, -1, none, O_RDONLY, 0),
		ROW(-ENOTDIR, openat, cwd, name, O_RDONLY | O_DIRECTORY, 0),
		ROW(-EEXIST, openat, cwd, name, O_RDONLY | O_CREAT | O_EXCL, 0600),
		ROW(-ERANGE, getcwd, AT(buf), 1),
		ROW(-ENOTDIR, getdents64, file, AT(buf), sizeof(buf)),
		ROW(-ENOTDIR, fchdir, file),
		ROW(0777, umask, 07777),
		ROW(0777, umask, 022),
	};

	CALL(umask, 0777);
	CHECK_ROWS(rows);
}

static void processes(void)
{
	const struct row rows[] = {
		ROW(-EINVAL, setuid, -1),
		ROW(-EINVAL, setgid, -1),
		ROW(0, setreuid, -1, -1),
		ROW(0, setregid, -1, -1),
		ROW(0, setresuid, -1, -1, -1),
		ROW(0, setresgid, -1, -1, -1),
		ROW(-EINVAL, kill, getpid(), 65),
		ROW(-EINVAL, kill, getpid(), -1),
		ROW(0, kill, getpid(), 0),
		ROW(-EINVAL, tgkill, 0, getpid(), 0),
		ROW(-EINVAL, tgkill, getpid(), 0, 0),
		ROW(-ESRCH, tgkill, 1, getpid(), 0),
		ROW(-EINVAL, tkill, 0, 0),
		ROW(-EINVAL, rt_sigaction, 0, 0, AT(buf), 8),
		ROW(-EINVAL, rt_sigaction, 65, 0, AT(buf), 8),
		ROW(0, rt_sigaction, 64, 0, AT(buf), 8),
		ROW(-EINVAL, rt_sigaction, 64, 0, AT(buf), 4),
		ROW(-EINVAL, rt_sigaction, SIGKILL, AT(zeros), 0, 8),
		ROW(-EINVAL, rt_sigaction, SIGSTOP, AT(zeros), 0, 8),
		ROW(0, rt_sigaction, SIGKILL, 0, AT(buf), 8),
		ROW(-EINVAL, rt_sigprocmask, 3, AT(zeros), 0, 8),
		ROW(0, rt_sigprocmask, 3, 0, 0, 8),
		ROW(-EINVAL, rt_sigprocmask, 0, 0, 0, 16),
		ROW(-EINVAL, rt_sigpending, AT(buf), 9),
		ROW(-EINVAL, rt_sigtimedwait, AT(zeros), 0, AT(too_many_ns), 8),
		ROW(-EAGAIN, rt_sigtimedwait, AT(zeros), 0, AT(zeros), 8),
		ROW(-ENOMEM, sigaltstack, AT(&small_stack), 0),
		ROW(-EINVAL, sigaltstack, AT(&odd_stack), 0),
		ROW(0, sigaltstack, AT(&good_stack), 0),
		ROW(0, sigaltstack, AT(&no_stack), 0),
		ROW(-EINVAL, wait4, -1, 0, 4, 0),
		ROW(-ECHILD, wait4, -1, 0, 1, 0),
		ROW(-EINVAL, waitid, 0, 0, 0, 0, 0),
		ROW(-EINVAL, waitid, 4, 0, 0, 4, 0),
		ROW(-EINVAL, waitid, 1, 0, 0, 4, 0),
		ROW(-ECHILD, waitid, 0, 0, 0, 5, 0),
		ROW(-EINVAL, getrusage, 2, AT(buf)),
		ROW(-EINVAL, getrusage, -2, AT(buf)),
		ROW(0, getrusage, 1, AT(buf)),
		ROW(0, getrusage, -1, AT(buf)),
		ROW(-EINVAL, getpriority, -1, 0),
		ROW(-EINVAL, getpriority, 3, 0),
		ROW(-ESRCH, getpriority, 0, 0x3fffffff),
		ROW(-EINVAL, setpriority, 3, 0, 0),
		ROW(-EINVAL, prlimit64, 0, 16, 0, AT(buf)),
		ROW(0, prlimit64, 0, 15, 0, AT(buf)),
		ROW(-EINVAL, prlimit64, 0, 4, AT(limits), 0),
		ROW(-EINVAL, setpgid, 0, -1),
		ROW(-EINVAL, setpgid, -1, 0),
		ROW(-ESRCH, getpgid, 0x3fffffff),
		ROW(-ESRCH, getsid, 0x3fffffff),
		ROW(-EINVAL, sched_get_priority_max, 8),
		ROW(-EINVAL, sched_get_priority_min, -1),
		ROW(99, sched_get_priority_max, 1),
		ROW(1, sched_get_priority_min, 2),
		ROW(0, sched_get_priority_max, 6),
		ROW(-EINVAL, sched_getaffinity, 0, 4, AT(buf)),
		ROW(-EINVAL, sched_setaffinity, 0, 8, AT(zeros)),
		ROW(-EINVAL, sched_getscheduler, -1),
		ROW(-EINVAL, set_robust_list, AT(buf), 23),
		ROW(-EINVAL, pidfd_open, getpid(), 1),
		ROW(-EINVAL, pidfd_open, 0, 0),
		ROW(-EINVAL, getgroups, -1, 0),
		ROW(-EINVAL, getrandom, AT(buf), 1, 8),
		ROW(-EINVAL, getrandom, AT(buf), 1, 6),
		ROW(257, getrandom, AT(buf), 257, 1),
		ROW(1, getrandom, AT(buf), 1, 4),
		ROW(0, getrandom, AT(buf), 0, 0),
		ROW(0, getcpu, 0, 0),
	};

	CHECK_ROWS(rows);
}

/* Options of prctl: what is set is what is told, also after one that was refused. */
static void options(void)
{
	int got = 0;
	char name[16];
	const struct row rows[] = {
		ROW(-EINVAL, prctl, 1, 65),
		ROW(0, prctl, 1, 64),
		ROW(0, prctl, 2, AT(&got)),
		ROW(-EINVAL, prctl, 4, 2),
		ROW(-EINVAL, prctl, 4, -1),
		ROW(0, prctl, 4, 0),
		ROW(0, prctl, 3),
		ROW(0, prctl, 4, 1),
		ROW(1, prctl, 3),
		ROW(-EINVAL, prctl, 38, 0),
		ROW(-EINVAL, prctl, 38, 2),
		ROW(-EINVAL, prctl, 38, 1, 1),
		ROW(-EINVAL, prctl, 38, 1, 0, 1),
		ROW(-EINVAL, prctl, 38, 1, 0, 0, 1),
		ROW(-EINVAL, prctl, 39, 1),
		ROW(-EINVAL, prctl, 39, 0, 0, 0, 1),
		ROW(-EINVAL, prctl, 9999),
		ROW(0, prctl, 15, AT("sixteen letters.")),
		ROW(0, prctl, 16, AT(name)),
	};

	CHECK_ROWS(rows);
	CHECK_EQ(got, 64);
	CHECK(!strcmp(name, "sixteen letters"));
	CHECK_EQ(CALL(prctl, 36, 5), 0);
	CHECK_EQ(CALL(prctl, 37, &got), 0);
	CHECK_EQ(got, 1);
	CHECK_EQ(CALL(prctl, 36, 0), 0);
	CHECK_EQ(CALL(prctl, 1, 0), 0);
}

/* Descriptors that are read in pieces of one size: the size itself, and a byte less. */
static void short_reads(void)
{
	const long event = CALL(eventfd2, 1, 0), clock = CALL(timerfd_create, 1, 0);
	const long signals = CALL(signalfd4, -1, AT(zeros), 8, 0);
	const struct row rows[] = {
		ROW(-EINVAL, read, event, AT(buf), 7),	   ROW(-EINVAL, write, event, AT(buf), 7),
		ROW(8, read, event, AT(buf), 8),	   ROW(0, timerfd_settime, clock, 0, AT(timer), 0),
		ROW(-EINVAL, read, clock, AT(buf), 7),	   ROW(8, read, clock, AT(buf), 8),
		ROW(-EINVAL, read, signals, AT(buf), 127),
	};

	CHECK_ROWS(rows);
	CHECK_CALL(close((int)event));
	CHECK_CALL(close((int)clock));
	CHECK_CALL(close((int)signals));
}

static void times_and_counts(void)
{
	const struct row rows[] = {
		ROW(-EINVAL, nanosleep, AT(too_many_ns), 0),
		ROW(-EINVAL, nanosleep, AT(less), 0),
		ROW(-EINVAL, nanosleep, AT(before), 0),
		ROW(0, nanosleep, AT(zeros), 0),
		ROW(-EINVAL, clock_nanosleep, 1, 0, AT(too_many_ns), 0),
		ROW(0, clock_nanosleep, 1, 1, AT(second), 0), /* long ago */
		ROW(-EOPNOTSUPP, clock_nanosleep, 3, 1, AT(second),
		    0), /* the thread's own time stands still meanwhile */
		ROW(-EINVAL, clock_gettime, 10, AT(buf)),
		ROW(-EINVAL, clock_gettime, 99, AT(buf)),
		ROW(-EINVAL, clock_getres, 99, AT(buf)),
		ROW(0, clock_getres, 1, 0),
		ROW(-EINVAL, getitimer, 3, AT(buf)),
		ROW(-EINVAL, getitimer, -1, AT(buf)),
		ROW(0, getitimer, 2, AT(buf)),
		ROW(-EINVAL, setitimer, 0, AT(bad_timer), 0),
		ROW(-EINVAL, setitimer, 0, AT(bad_interval), 0),
		ROW(-EINVAL, setitimer, 3, AT(zeros), 0),
		ROW(0, setitimer, 0, AT(timer), 0),
		ROW(0, setitimer, 0, AT(zeros), AT(buf)),
		ROW(-EINVAL, timerfd_create, 99, 0),
		ROW(-EINVAL, timerfd_create, 1, 1),
		ROW(-EINVAL, timerfd_settime, file, 0, AT(zeros), 0),
		ROW(-EINVAL, pselect6, -1, 0, 0, 0, AT(zeros), 0),
		ROW(-EINVAL, pselect6, 0, 0, 0, 0, AT(too_many_ns), 0),
		ROW(0, pselect6, 0, 0, 0, 0, AT(zeros), 0),
		ROW(-EINVAL, ppoll, AT(buf), 1025, AT(zeros), 0, 8),
		ROW(-EINVAL, ppoll, AT(buf), 0, AT(less), 0, 8),
		ROW(0, ppoll, AT(buf), 0, AT(zeros), 0, 8),
	};

	CHECK_ROWS(rows);
	/* What the descriptor counts: all but the last number, and no more than fits. */
	int fd = CHECK_CALL(CALL(eventfd2, 0, O_NONBLOCK));

	CHECK_EQ(CALL(write, fd, &all_but_one, 8), 8);
	CHECK_ERRNO(CALL(write, fd, &one, 8), EAGAIN);
	CHECK_ERRNO(CALL(write, fd, &all, 8), EINVAL);
	CHECK_ERRNO(CALL(write, fd, &one, 7), EINVAL);
	CHECK_ERRNO(CALL(read, fd, buf, 7), EINVAL);
	CHECK_EQ(CALL(read, fd, buf, 8), 8);
	CHECK(!memcmp(buf, &all_but_one, 8));
	CHECK_ERRNO(CALL(read, fd, buf, 8), EAGAIN);
	close(fd);
}

#ifndef __linux__
/* A name of 64 bytes is the longest, and nothing stays of it behind a shorter one. Root's machine is not the host. */
static void names_of_the_machine(void)
{
	static char uts[6][65];
	const struct row rows[] = {
		ROW(-EINVAL, sethostname, AT(buf), 65),	  ROW(-EINVAL, sethostname, AT(buf), -1),
		ROW(-EINVAL, setdomainname, AT(buf), 65), ROW(0, sethostname, AT(buf), 64),
		ROW(0, setdomainname, AT(buf), 64),	  ROW(0, newuname, AT(uts)),
	};

	memset(buf, 'n', sizeof(buf));
	CHECK_ROWS(rows);
	CHECK_EQ(strlen(uts[1]), 64);
	CHECK_EQ(strlen(uts[5]), 64);
	CHECK_EQ(CALL(sethostname, "vitrine", 7), 0);
	CHECK_EQ(CALL(setdomainname, "(none)", 6), 0);
	CHECK_EQ(CALL(newuname, uts), 0);
	CHECK(!strcmp(uts[1], "vitrine") && !strcmp(uts[5], "(none)"));
	for (int i = 7; i < 65; i++)
		CHECK_EQ(uts[1][i], 0);
}
#endif

/*
 * Each call that takes a descriptor, with numbers that stand for no open file: below 0, behind the last one that is
 * open, and behind what any table can hold. All else is what the call could use.
 */
static void descriptors(void)
{
	static const long bad[] = {-1, 1000, 1024, 0x7fffffff};
	const long name = AT("name"), cwd = AT_FDCWD, b = AT(buf), v = AT(vecs);

	vecs[0].base = buf;
	vecs[0].len = 1;
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		const long fd = bad[i];
		const struct row rows[] = {
			ROW(-EBADF, read, fd, b, 1),
			ROW(-EBADF, write, fd, b, 1),
			ROW(-EBADF, readv, fd, v, 1),
			ROW(-EBADF, writev, fd, v, 1),
			ROW(-EBADF, pread64, fd, b, 1, 0),
			ROW(-EBADF, pwrite64, fd, b, 1, 0),
			ROW(-EBADF, preadv, fd, v, 1, 0),
			ROW(-EBADF, pwritev, fd, v, 1, 0),
			ROW(-EBADF, lseek, fd, 0, 0),
			ROW(-EBADF, getdents64, fd, b, sizeof(buf)),
			ROW(-EBADF, ioctl, fd, 0x5401, b),
			ROW(-EBADF, fcntl, fd, 1),
			ROW(-EBADF, flock, fd, 2),
			ROW(-EBADF, dup, fd),
			ROW(-EBADF, dup3, fd, 100, 0),
			ROW(-EBADF, close, fd),
			ROW(-EBADF, fsync, fd),
			ROW(-EBADF, fdatasync, fd),
			ROW(-EBADF, syncfs, fd),
			ROW(-EBADF, fstatfs, fd, b),
			ROW(-EBADF, ftruncate, fd, 0),
			ROW(-EBADF, fallocate, fd, 0, 0, 1),
			ROW(-EBADF, fadvise64, fd, 0, 0, 0),
			ROW(-EBADF, fchdir, fd),
			ROW(-EBADF, fchmod, fd, 0644),
			ROW(-EBADF, fchown, fd, -1, -1),
			ROW(-EBADF, utimensat, fd, 0, 0, 0),
			ROW(-EBADF, sendfile64, fd, file, 0, 1),
			ROW(-EBADF, sendfile64, pipes[1], fd, 0, 1),
			ROW(-EBADF, splice, fd, 0, pipes[1], 0, 1, 0),
			ROW(-EBADF, splice, pipes[0], 0, fd, 0, 1, 0),
			ROW(-EBADF, mmap, 0, PAGE, PROT_READ, MAP_PRIVATE, fd, 0),
			ROW(-EBADF, epoll_ctl, fd, 1, pipes[0], b),
			ROW(-EBADF, epoll_pwait, fd, b, 1, 0, 0, 0),
			ROW(-EBADF, timerfd_settime, fd, 0, AT(timer), 0),
			ROW(-EBADF, timerfd_gettime, fd, b),
			ROW(-EBADF, inotify_add_watch, fd, AT("."), 2),
			ROW(-EBADF, inotify_rm_watch, fd, 1),
			ROW(-EBADF, pidfd_send_signal, fd, 0, 0, 0),
			ROW(-EBADF, bind, fd, b, 16),
			ROW(-EBADF, listen, fd, 1),
			ROW(-EBADF, accept, fd, 0, 0),
			ROW(-EBADF, accept4, fd, 0, 0, 0),
			ROW(-EBADF, connect, fd, b, 16),
			ROW(-EBADF, getsockname, fd, b, AT(&one)),
			ROW(-EBADF, getpeername, fd, b, AT(&one)),
			ROW(-EBADF, sendto, fd, b, 1, 0, 0, 0),
			ROW(-EBADF, recvfrom, fd, b, 1, 0, 0, 0),
			ROW(-EBADF, setsockopt, fd, 1, 2, AT(&one), 4),
			ROW(-EBADF, getsockopt, fd, 1, 2, b, AT(&one)),
			ROW(-EBADF, shutdown, fd, 0),
			ROW(-EBADF, openat, fd, name, O_RDONLY, 0),
			ROW(-EBADF, mkdirat, fd, name, 0700),
			ROW(-EBADF, unlinkat, fd, name, 0),
			ROW(-EBADF, symlinkat, name, fd, name),
			ROW(-EBADF, linkat, fd, name, cwd, AT("other"), 0),
			ROW(-EBADF, linkat, cwd, AT(FILE_NAME), fd, name, 0),
			ROW(-EBADF, readlinkat, fd, name, b, 1),
			ROW(-EBADF, newfstatat, fd, name, b, 0),
			ROW(-EBADF, statx, fd, name, 0, 0x7ff, b),
			ROW(-EBADF, faccessat, fd, name, 0),
			ROW(-EBADF, fchmodat, fd, name, 0644),
			ROW(-EBADF, fchownat, fd, name, -1, -1, 0),
			ROW(-EBADF, renameat2, fd, name, cwd, AT("other"), 0),
			ROW(-EBADF, execveat, fd, name, AT(zeros), AT(zeros), 0),
		};

		CHECK_ROWS(rows);
	}
}

/* Lengths of addresses: 128 bytes at most, and enough for the family. */
static void addresses(void)
{
	const long to = AT(zeros), b = AT(buf), negative = AT(&all), room = AT(&one);
	const long u = CHECK_CALL(CALL(socket, 1, 2, 0)), i = CHECK_CALL(CALL(socket, 2, 2, 0));
	const struct row rows[] = {
		ROW(-EINVAL, bind, u, to, -1),
		ROW(-EINVAL, bind, u, to, 129),
		ROW(-EINVAL, bind, u, to, 128), /* of no family */
		ROW(-EINVAL, bind, u, to, 0),
		ROW(-EINVAL, bind, i, to, -1),
		ROW(-EINVAL, bind, i, to, 129),
		ROW(-EINVAL, bind, i, to, 15),
		ROW(-EINVAL, connect, u, to, -1),
		ROW(-EINVAL, connect, u, to, 129),
		ROW(-EINVAL, connect, i, to, -1),
		ROW(-EINVAL, connect, i, to, 129),
		ROW(-EINVAL, connect, i, to, 1),
		ROW(-EINVAL, sendto, u, b, 1, 0, to, -1),
		ROW(-EINVAL, sendto, u, b, 1, 0, to, 129),
		ROW(-EINVAL, sendto, i, b, 1, 0, to, -1),
		ROW(-EINVAL, sendto, i, b, 1, 0, to, 129),
		ROW(-EINVAL, sendto, i, b, 1, 0, to, 15),
		ROW(-EINVAL, getsockname, u, b, negative),
		ROW(-EINVAL, getsockname, i, b, negative),
		ROW(-ENOTCONN, getpeername, u, b, room),
		ROW(-EINVAL, shutdown, u, 3),
		ROW(-EINVAL, shutdown, u, -1),
		ROW(-EOPNOTSUPP, listen, u, 1),
		ROW(-EOPNOTSUPP, accept, i, 0, 0),
	};

	CHECK_ROWS(rows);
	CALL(close, u);
	CALL(close, i);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"memory", memory},
		{"files", files},
		{"descriptors", descriptors},
		{"names", names},
		{"addresses", addresses},
		{"processes", processes},
		{"options", options},
		{"times-and-counts", times_and_counts},
		{"short-reads", short_reads},
#ifndef __linux__
		{"names-of-the-machine", names_of_the_machine},
#endif
	};

	pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(pages != MAP_FAILED);
	file = CHECK_CALL(open(FILE_NAME, O_RDWR | O_CREAT | O_TRUNC, 0644));
	CHECK_EQ(write(file, "x", 1), 1);
	CHECK_CALL(CALL(pipe2, pipes, 0));
	CHECK_EQ(CALL(prlimit64, 0, 7, same_limits, 0), 0);
	check_seconds = 20;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
