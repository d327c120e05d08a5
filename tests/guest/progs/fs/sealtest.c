/* sealtest: fallocate(2), and seals of memfd_create(2). */
/* also on Linux */
#include <thread.h>
#include <posix.h>
#include <fcntl.h>
#include <sys/stat.h>

#define PAGE 4096L
#define RW   (PROT_READ | PROT_WRITE)
enum { KEEP = 1, PUNCH = 2, ADD_SEALS = 1033, GET_SEALS };
enum { SEAL = 1, SHRINK = 2, GROW = 4, WRITE = 8, FUTURE = 16, EXEC = 32 };
enum { ALLOW = 2, NOEXEC = 8, MFD_EXEC_ = 16 };

static int memory_file(long flags)
{
	return (int)CHECK_CALL(check_syscall(SYS_memfd_create, (long)"sealtest", flags, 0, 0, 0, 0));
}

static long room(int fd, long mode, long at, long size)
{
	return check_syscall(SYS_fallocate, fd, mode, at, size, 0, 0);
}

static long seals(int fd)
{
	return check_syscall(SYS_fcntl, fd, GET_SEALS, 0, 0, 0, 0);
}

static long seal(int fd, long what)
{
	return check_syscall(SYS_fcntl, fd, ADD_SEALS, what, 0, 0, 0);
}

static long protect(void *at, long size, long prot)
{
	return check_syscall(SYS_mprotect, (long)at, size, prot, 0, 0, 0);
}

static long put_at(int fd, const void *from, long size, long at)
{
	return check_syscall(SYS_pwrite64, fd, (long)from, size, at, 0, 0);
}

static long get_at(int fd, void *to, long size, long at)
{
	return check_syscall(SYS_pread64, fd, (long)to, size, at, 0, 0);
}

static struct stat stat_of(int fd)
{
	struct stat st;

	CHECK_CALL(fstat(fd, &st));
	return st;
}

static void makes_room(void)
{
	int fd = memory_file(0), ends[2];
	char byte = 1;

	CHECK_CALL(pipe(ends));
	CHECK_EQ(room(fd, 0, 100, 2 * PAGE), 0);
	CHECK_EQ(stat_of(fd).st_size, 100 + 2 * PAGE);
	CHECK_EQ(stat_of(fd).st_blocks, 3 * 8);
	CHECK_EQ(room(fd, KEEP, 8 * PAGE, PAGE), 0);
	CHECK_EQ(stat_of(fd).st_size, 100 + 2 * PAGE);
	CHECK_EQ(stat_of(fd).st_blocks, 4 * 8);
	CHECK_EQ(put_at(fd, (void *)8, 1, 8 * PAGE), -1); /* and the room stays when a write fails */
	CHECK_EQ(stat_of(fd).st_blocks, 4 * 8);
	CHECK_EQ(put_at(fd, (void *)8, 1, 20 * PAGE), -1);
#ifndef __linux__ /* there the page may stay */
	CHECK_EQ(stat_of(fd).st_blocks, 4 * 8);
#endif
	CHECK_CALL(ftruncate(fd, 100 + 2 * PAGE)); /* the same length: what lies behind goes */
	CHECK_EQ(stat_of(fd).st_blocks, 3 * 8);
	CHECK_EQ(get_at(fd, &byte, 1, 2 * PAGE), 1);
	CHECK_EQ(byte, 0);
	CHECK_ERRNO(room(fd, 0, -1, 5), EINVAL);
	CHECK_ERRNO(room(fd, 0, 0, 0), EINVAL);
	CHECK_ERRNO(room(fd, 0, 0, -5), EINVAL);
	CHECK_ERRNO(room(fd, PUNCH, 0, PAGE), EOPNOTSUPP);
	CHECK_ERRNO(room(fd, 0x8000, 0, PAGE), EOPNOTSUPP);
	CHECK_ERRNO(room(fd, 0, 0x7fffffffffffffff, 5), EFBIG);
	CHECK_ERRNO(room(ends[1], 0, 0, 5), ESPIPE);
	CHECK_ERRNO(room(ends[0], 0, 0, 5), EBADF);
	CHECK_ERRNO(room(999, 0, 0, 5), EBADF);
	CHECK_ERRNO(room(open("/dev/null", O_RDWR), 0, 0, 5), ENODEV);
	CHECK_ERRNO(room(open(".", O_RDONLY), 0, 0, 5), EBADF);
}

static void punches(void)
{
	int fd = memory_file(0);
	char *shared, *private, line[16];

	CHECK_CALL(ftruncate(fd, 8 * PAGE));
	shared = mmap(NULL, 8 * PAGE, RW, MAP_SHARED, fd, 0);
	private = mmap(NULL, 8 * PAGE, RW, MAP_PRIVATE, fd, 0);
	memset(shared, 'x', 8 * PAGE);
	private[3 * PAGE] = 'p'; /* a copy, which is no page of the file any more */
	CHECK_EQ(private[4 * PAGE], 'x');
	CHECK_EQ(stat_of(fd).st_blocks, 8 * 8);
	CHECK_EQ(room(fd, KEEP | PUNCH, 2 * PAGE + 10, 3 * PAGE), 0);
	CHECK_EQ(stat_of(fd).st_size, 8 * PAGE);
	CHECK_EQ(stat_of(fd).st_blocks, 6 * 8);
	CHECK_EQ(shared[2 * PAGE + 9], 'x');
	CHECK_EQ(shared[2 * PAGE + 10], 0);
	CHECK_EQ(shared[4 * PAGE], 0);
	CHECK_EQ(shared[5 * PAGE + 9], 0);
	CHECK_EQ(shared[5 * PAGE + 10], 'x');
	CHECK_EQ(private[3 * PAGE], 'p');
	CHECK_EQ(private[3 * PAGE + 1], 'x');
	CHECK_EQ(private[4 * PAGE], 0);
	shared[3 * PAGE] = 'n'; /* the new page is the file's */
	CHECK_EQ(get_at(fd, line, 1, 3 * PAGE), 1);
	CHECK_EQ(line[0], 'n');
	CHECK_EQ(room(fd, KEEP | PUNCH, 6 * PAGE + 1, 2), 0); /* within one page */
	CHECK_EQ(shared[6 * PAGE], 'x');
	CHECK_EQ(shared[6 * PAGE + 1] | shared[6 * PAGE + 2], 0);
	CHECK_EQ(shared[6 * PAGE + 3], 'x');
	CHECK_EQ(room(fd, KEEP | PUNCH, 100 * PAGE, PAGE), 0);
	CHECK_EQ(room(fd, KEEP | PUNCH, 0, 100 * PAGE), 0);
	CHECK_EQ(stat_of(fd).st_blocks, 0);
	CHECK_EQ(shared[0], 0);
}

static char *seen;
static int seen_fd;
static volatile int stop;

static void touches(void *arg)
{
	while (!stop)
		for (int i = 0; i < 8; i++)
			((volatile char *)seen)[i * PAGE] = 1;
}

/* Faults while pages go: at the end mapping and file show one memory. */
static void punches_while_touched(void)
{
	pid_t threads[1];
	char byte;

	seen_fd = memory_file(0);
	CHECK_CALL(ftruncate(seen_fd, 8 * PAGE));
	seen = mmap(NULL, 8 * PAGE, RW, MAP_SHARED, seen_fd, 0);
	threads[0] = thread_start(-1, touches, NULL);
	for (int i = 0; i < 400; i++)
		if (room(seen_fd, KEEP | PUNCH, 0, 8 * PAGE))
			check_failures++;
	stop = 1;
	CHECK(thread_join(threads, 1));
	for (int i = 0; i < 8; i++) {
		seen[i * PAGE] = (char)(i + 40);
		CHECK_EQ(get_at(seen_fd, &byte, 1, i * PAGE), 1);
		CHECK_EQ(byte, i + 40);
	}
}

static void unsealed(void)
{
	int fd = memory_file(0);

	CHECK_EQ(seals(fd), SEAL);
	CHECK_ERRNO(seal(fd, GROW), EPERM);
	CHECK_ERRNO(seals(open("/dev/null", O_RDWR)), EINVAL);
	CHECK_ERRNO(seal(open("/dev/null", O_RDWR), GROW), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_memfd_create, (long)"", MFD_EXEC_ | NOEXEC, 0, 0, 0, 0), EINVAL);
	fd = memory_file(ALLOW);
	CHECK_EQ(seals(fd), 0);
	CHECK_ERRNO(seal(fd, 0x400), EINVAL);
	CHECK_EQ(seal(fd, SEAL), 0);
	CHECK_ERRNO(seal(fd, GROW), EPERM);
}

static void sizes(void)
{
	int fd = memory_file(ALLOW);
	char text[2 * PAGE];

	memset(text, 'a', sizeof(text));
	CHECK_CALL(ftruncate(fd, PAGE));
	CHECK_EQ(seal(fd, GROW), 0);
	CHECK_EQ(seals(fd), GROW);
	CHECK_ERRNO(ftruncate(fd, PAGE + 1), EPERM);
	CHECK_ERRNO(room(fd, 0, PAGE, PAGE), EPERM);
	CHECK_ERRNO(room(fd, KEEP, PAGE, PAGE), EPERM);
	CHECK_EQ(put_at(fd, text, 10, PAGE - 5), 5); /* page by page */
	CHECK_ERRNO(put_at(fd, text, 10, PAGE), EPERM);
	CHECK_EQ(put_at(fd, text, 10, PAGE - 10), 10);
	CHECK_EQ(ftruncate(fd, 100), 0);
	CHECK_EQ(seal(fd, SHRINK), 0);
	CHECK_ERRNO(ftruncate(fd, 99), EPERM);
	CHECK_EQ(ftruncate(fd, 100), 0);
	CHECK_EQ(put_at(fd, text, 10, 0), 10);
	CHECK_EQ(seals(fd), GROW | SHRINK);
}

static void *map(int fd, int prot, int flags)
{
	return mmap(NULL, PAGE, prot, flags, fd, 0);
}

static void writes(void)
{
	int fd = memory_file(ALLOW);
	char *p, *read_only;

	CHECK_CALL(ftruncate(fd, PAGE));
	p = map(fd, RW, MAP_SHARED);
	CHECK_ERRNO(seal(fd, WRITE), EBUSY);
	CHECK_CALL(protect(p, PAGE, PROT_READ));
	CHECK_ERRNO(seal(fd, WRITE), EBUSY); /* it may become so again */
	CHECK_EQ(seals(fd), 0);
	CHECK_CALL(munmap(p, PAGE));
	p = map(fd, RW, MAP_PRIVATE);
	CHECK_EQ(seal(fd, WRITE), 0);
	*p = 1; /* its own */
	CHECK_ERRNO(write(fd, "x", 1), EPERM);
	CHECK_EQ(write(fd, "x", 0), 0);
	CHECK_ERRNO(room(fd, KEEP | PUNCH, 0, PAGE), EPERM);
	CHECK(map(fd, RW, MAP_SHARED) == MAP_FAILED && errno == EPERM);
	CHECK(map(fd, RW, MAP_PRIVATE) != MAP_FAILED);
	read_only = map(fd, PROT_READ, MAP_SHARED);
	if (read_only != MAP_FAILED) /* between Linux 6.7 and 6.12 not */
		CHECK_ERRNO(protect(read_only, PAGE, RW), EACCES);
	CHECK_EQ(ftruncate(fd, 2 * PAGE), 0); /* sizes have seals of their own */
}

static void future_writes(void)
{
	int fd = memory_file(ALLOW);
	char *p, byte;

	CHECK_CALL(ftruncate(fd, PAGE));
	p = map(fd, RW, MAP_SHARED);
	CHECK_EQ(seal(fd, FUTURE), 0);
	*p = 'm';
	CHECK_EQ(get_at(fd, &byte, 1, 0), 1);
	CHECK_EQ(byte, 'm');
	CHECK_ERRNO(write(fd, "x", 1), EPERM);
	CHECK(map(fd, RW, MAP_SHARED) == MAP_FAILED && errno == EPERM);
	p = map(fd, PROT_READ, MAP_SHARED);
	CHECK(p != MAP_FAILED);
	CHECK_ERRNO(protect(p, PAGE, RW), EACCES);
}

static void rights_to_execute(void)
{
	int fd = memory_file(NOEXEC);
	char path[40];

	CHECK_EQ(stat_of(fd).st_mode & 0777, 0666);
	CHECK_EQ(seals(fd), EXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_ERRNO(chmod(path, 0777), EPERM);
	CHECK_EQ(chmod(path, 0600), 0);
	fd = memory_file(ALLOW);
	CHECK_EQ(seal(fd, EXEC), 0); /* it can be executed: so it must not be written */
	CHECK_EQ(seals(fd), EXEC | SHRINK | GROW | WRITE | FUTURE);
}

static void seen_by_others(void)
{
	int fd = memory_file(ALLOW), other;
	char path[40];

	CHECK_CALL(ftruncate(fd, PAGE));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	other = open(path, O_RDONLY);
	CHECK_ERRNO(seal(other, GROW), EPERM);
	CHECK_EQ(seal(fd, GROW), 0);
	CHECK_EQ(seals(other), GROW);
}

static int raced_fd;
static volatile int won;

static void maps_it(void *arg)
{
	for (int i = 0; i < 2000; i++) {
		long p = vt_syscall(SYS_mmap, 0, PAGE, RW, MAP_SHARED, raced_fd, 0);

		if (p > 0 || p < -4096)
			vt_syscall(SYS_munmap, p, PAGE, 0, 0, 0, 0);
		else if (p == -EPERM)
			won = 1;
		else
			vt_syscall(SYS_exit, 1, 0, 0, 0, 0, 0);
		if (won)
			break;
	}
}

/* A seal against a mapping that is being made: whoever comes second fails. */
static void race(void)
{
	pid_t threads[1];

	for (int round = 0; round < 40; round++) {
		raced_fd = memory_file(ALLOW);
		CHECK_CALL(ftruncate(raced_fd, PAGE));
		won = 0;
		threads[0] = thread_start(-1, maps_it, NULL);
		while (seal(raced_fd, WRITE))
			if (errno != EBUSY) {
				CHECK_EQ(errno, EBUSY);
				break;
			}
		CHECK(thread_join(threads, 1));
		CHECK(map(raced_fd, RW, MAP_SHARED) == MAP_FAILED && errno == EPERM);
		CHECK_ERRNO(write(raced_fd, "x", 1), EPERM);
		close(raced_fd);
	}
}

static const struct check_case cases[] = {
	{"makes_room", makes_room},
	{"punches", punches},
	{"punches_while_touched", punches_while_touched},
	{"unsealed", unsealed},
	{"sizes", sizes},
	{"writes", writes},
	{"future_writes", future_writes},
	{"rights_to_execute", rights_to_execute},
	{"seen_by_others", seen_by_others},
	{"race", race},
};

int main(int argc, char **argv)
{
	check_seconds = 60;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
