/* fdtest: descriptors: which is given, what is shared by copies and what is each one's own, what an exec
 * closes. */
/* also on Linux */
#include <callnumbers.h>
#include <posix.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#define HIGH   200 /* several words of a bit map of descriptors */
#define BEYOND 1000
#define MOST   65536

static const char *self;

static int null(int flags)
{
	return (int)CHECK_CALL(open("/dev/null", O_RDWR | flags));
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) != -1;
}

static void close_from(int fd)
{
	for (; fd < BEYOND; fd++)
		close(fd);
}

/* Always the lowest that is free. */
static void lowest(void)
{
	int ends[2];

	close_from(3);
	for (int fd = 3; fd < HIGH; fd++)
		CHECK_EQ(null(0), fd);
	for (int fd = HIGH - 1; fd >= 5; fd -= 3)
		CHECK_CALL(close(fd));
	for (int fd = (HIGH - 1 - 5) % 3 + 5; fd < HIGH; fd += 3)
		CHECK_EQ(dup(0), fd);
	CHECK_EQ(dup(0), HIGH);
	CHECK_CALL(close(63));
	CHECK_CALL(close(64));
	CHECK_CALL(close(150));
	CHECK_EQ(fcntl(0, F_DUPFD, 64), 64);
	CHECK_EQ(fcntl(0, F_DUPFD, 64), 150);
	CHECK_EQ(fcntl(0, F_DUPFD, 0), 63);
	CHECK_EQ(fcntl(0, F_DUPFD, HIGH + 50), HIGH + 50);
	CHECK_CALL(close(7));
	CHECK_CALL(close(100));
	CHECK_CALL(pipe(ends));
	CHECK_EQ(ends[0], 7);
	CHECK_EQ(ends[1], 100);
	CHECK_EQ(dup(0), HIGH + 1);
	CHECK_CALL(close(3));
	CHECK_ERRNO(close(3), EBADF);
	CHECK_ERRNO(dup(3), EBADF);
	CHECK_ERRNO(fcntl(3, F_DUPFD, 0), EBADF);
	CHECK_ERRNO(fcntl(0, F_DUPFD, -1), EINVAL);
}

/* A copy shares the position and the flags of the file, not that it closes on exec. */
static void copies(void)
{
	int fd, copy, other;
	char c = 0;

	close_from(3);
	fd = CHECK_CALL(open("fdtest.file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
	CHECK_EQ(write(fd, "abcdef", 6), 6);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	copy = CHECK_CALL(dup(fd));
	other = CHECK_CALL(open("fdtest.file", O_RDONLY));
	CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(fcntl(copy, F_GETFD), 0);
	CHECK_EQ(read(copy, &c, 1), 1);
	CHECK_EQ(lseek(fd, 0, SEEK_CUR), 1);
	CHECK_EQ(lseek(other, 0, SEEK_CUR), 0);
	CHECK_CALL(fcntl(copy, F_SETFL, O_APPEND | O_NONBLOCK));
	CHECK_EQ(fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK | O_CREAT | O_TRUNC | O_CLOEXEC),
		 O_RDWR | O_APPEND | O_NONBLOCK);
	CHECK_EQ(fcntl(other, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK), O_RDONLY);
	CHECK_CALL(fcntl(fd, F_SETFL, O_WRONLY | O_CREAT | O_TRUNC)); /* the mode of access stays */
	CHECK_EQ(fcntl(copy, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK | O_CREAT | O_TRUNC), O_RDWR);
	CHECK_CALL(close(fd));
	CHECK_EQ(read(copy, &c, 1), 1);
	CHECK_EQ(c, 'b');
	CHECK_EQ(dup2(other, copy), copy); /* what was there is closed */
	CHECK_EQ(read(copy, &c, 1), 1);
	CHECK_EQ(c, 'a');
	CHECK_EQ(dup2(copy, copy), copy);
	CHECK_ERRNO(dup2(99, 99), EBADF);
	CHECK_ERRNO(dup2(99, copy), EBADF);
	CHECK(is_open(copy));
	CHECK_ERRNO(CALL(dup3, copy, copy, 0), EINVAL);
	CHECK_ERRNO(CALL(dup3, copy, 50, O_NONBLOCK), EINVAL);
	CHECK_EQ(CALL(dup3, copy, 50, O_CLOEXEC), 50);
	CHECK_EQ(fcntl(50, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(dup2(copy, 50), 50);
	CHECK_EQ(fcntl(50, F_GETFD), 0);
	CHECK_CALL(unlink("fdtest.file"));
}

/* The end of a pipe that a dup2() takes the place of is closed at once: the reader sees the end of the file.
 */
static void replaced(void)
{
	int ends[2];
	char c;

	CHECK_CALL(pipe(ends));
	CHECK_CALL(fcntl(ends[0], F_SETFL, O_NONBLOCK));
	CHECK_ERRNO(read(ends[0], &c, 1), EAGAIN);
	CHECK_EQ(dup2(0, ends[1]), ends[1]);
	CHECK_EQ(read(ends[0], &c, 1), 0);
}

/* After the exec: those of the first list are open, those of the second are not. */
static const int stay[] = {3, 63, 65, 128, 191}, go[] = {4, 62, 64, 66, 127, 129, 192, 250, 5, 70};

static int after_exec(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(stay); i++)
		if (!is_open(stay[i]))
			vt_die(1, "%d was closed by the exec", stay[i]);
	for (int fd = 0; fd < 3; fd++)
		if (!is_open(fd))
			_exit(1); /* nobody would see what we say */
	for (size_t i = 0; i < ARRAY_SIZE(go); i++)
		if (is_open(go[i]))
			vt_die(1, "%d is still open after the exec", go[i]);
	return 0;
}

/* All ways of saying that an exec closes it, and of taking that back. */
static void closed_by_exec(void)
{
	char *argv[] = {(char *)self, "after-exec", NULL};

	close_from(3);
	for (size_t i = 0; i < ARRAY_SIZE(stay); i++)
		CHECK_EQ(CALL(dup3, 0, stay[i], i % 2 ? O_CLOEXEC : 0), stay[i]);
	for (size_t i = 0; i < ARRAY_SIZE(go); i++)
		CHECK_EQ(CALL(dup3, 0, go[i], i % 2 ? O_CLOEXEC : 0), go[i]);
	for (size_t i = 0; i < ARRAY_SIZE(stay); i++)
		CHECK_CALL(fcntl(stay[i], F_SETFD, 0));
	for (size_t i = 0; i < ARRAY_SIZE(go); i++)
		CHECK_CALL(fcntl(go[i], F_SETFD, FD_CLOEXEC));
	CHECK_CALL(ioctl(stay[1], FIOCLEX, 0));
	CHECK_CALL(ioctl(stay[1], FIONCLEX, 0));
	CHECK_CALL(ioctl(go[1], FIONCLEX, 0));
	CHECK_CALL(ioctl(go[1], FIOCLEX, 0));
	CHECK_CALL(close(go[8]));
	CHECK_EQ(open("/dev/null", O_RDONLY | O_CLOEXEC), go[8]);
	CHECK_CALL(close(go[9]));
	CHECK_EQ(fcntl(0, F_DUPFD_CLOEXEC, go[9]), go[9]);
	CHECK_EQ(fcntl(go[9], F_GETFD), FD_CLOEXEC);
	/* A number that was used for one that closes says nothing about the next. */
	CHECK_CALL(fcntl(stay[0], F_SETFD, FD_CLOEXEC));
	CHECK_CALL(close(stay[0]));
	CHECK_EQ(open("/dev/null", O_RDONLY), stay[0]);
	execvp(self, argv);
	CHECK_CALL(-1);
}

/* A fork copies the table of descriptors: what is open, and which of them an exec closes. */
static void forked(void)
{
	int fd;
	pid_t pid;

	close_from(3);
	fd = null(0);
	CHECK_EQ(fcntl(0, F_DUPFD, HIGH), HIGH);
	CHECK_EQ(null(O_CLOEXEC), fd + 1);
	CHECK_EQ(fcntl(0, F_DUPFD_CLOEXEC, HIGH - 1), HIGH - 1);
	pid = check_fork();
	if (pid == 0) {
		bool both = is_open(fd) && is_open(HIGH) && !is_open(HIGH + 1);

		if (fcntl(fd, F_GETFD) || fcntl(fd + 1, F_GETFD) != FD_CLOEXEC || fcntl(HIGH, F_GETFD) ||
		    fcntl(HIGH - 1, F_GETFD) != FD_CLOEXEC)
			_exit(2);
		close(fd + 1);
		close(fd);
		fcntl(HIGH, F_SETFD, FD_CLOEXEC);
		_exit(both && null(0) == fd && null(0) == fd + 1 ? 0 : 1);
	}
	CHECK_EQ(check_wait(pid), 0);
	CHECK(is_open(fd) && is_open(fd + 1) && !is_open(fd + 2));
	CHECK_EQ(fcntl(HIGH, F_GETFD), 0);
}

static void ranges(void)
{
	close_from(3);
	for (int fd = 3; fd < HIGH; fd++)
		null(0);
	CHECK_CALL(CALL(close_range, 60, 130, 0));
	CHECK(is_open(59) && !is_open(60) && !is_open(64) && !is_open(128) && !is_open(130) && is_open(131));
	CHECK_EQ(dup(0), 60);
	CHECK_CALL(CALL(close_range, 140, ~0U, 4)); /* CLOSE_RANGE_CLOEXEC */
	CHECK_EQ(fcntl(139, F_GETFD), 0);
	CHECK_EQ(fcntl(140, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(fcntl(HIGH - 1, F_GETFD), FD_CLOEXEC);
	CHECK_ERRNO(CALL(close_range, 10, 9, 0), EINVAL);
}

/* With a limit that leaves no number, there are too many open files, and nothing is wrong with the arguments. */
static void no_number_left(void)
{
	struct rlimit limit;

	CHECK_CALL(getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = 0;
	CHECK_CALL(setrlimit(RLIMIT_NOFILE, &limit));
	CHECK_ERRNO(dup(0), EMFILE);
	CHECK_ERRNO(fcntl(0, F_DUPFD, 0), EINVAL);
}

/*
 * The highest number that there can be, which a child has as well. More than MOST this kernel has not; a user of Linux
 * may not have so many.
 */
static void highest(void)
{
	struct rlimit limit = {MOST, MOST};
	int last;
	pid_t pid;

	if (setrlimit(RLIMIT_NOFILE, &limit)) {
		CHECK_CALL(getrlimit(RLIMIT_NOFILE, &limit));
		limit.rlim_cur = limit.rlim_max;
		CHECK_CALL(setrlimit(RLIMIT_NOFILE, &limit));
	}
	last = (int)limit.rlim_max - 1;
	CHECK_EQ(dup2(0, last), last);
	CHECK_ERRNO(dup2(0, last + 1), EBADF);
	pid = check_fork();
	if (!pid)
		_exit(!is_open(last));
	CHECK_EQ(check_wait(pid), 0);
}

/* A descriptor of O_PATH names a file. It is good for what concerns names, and for the descriptor itself. */
static void only_a_name(void)
{
	char *const argv[] = {(char *)self, "run", NULL};
	struct pollfd polled = {.events = POLLIN};
	struct stat st;
	pid_t pid;
	int fd;

	check_put("fdtest.file", "text");
	fd = CHECK_CALL(open("fdtest.file", O_PATH));
	CHECK_CALL(CALL(newfstat, fd, &st));
	CHECK_EQ(st.st_size, 4);
	CHECK_CALL(fcntl(fd, F_SETFD, FD_CLOEXEC));
	CHECK(fcntl(fd, F_GETFL) & O_PATH);
	CHECK_CALL(close(CHECK_CALL(dup(fd))));
	CHECK_ERRNO(CALL(ftruncate, fd, 0), EBADF);
	CHECK_ERRNO(CALL(fsync, fd), EBADF);
	CHECK_ERRNO(CALL(syncfs, fd), EBADF);
	CHECK_ERRNO(CALL(lseek, fd, 0, SEEK_SET), EBADF);
	CHECK_ERRNO(CALL(fchmod, fd, 0600), EBADF);
	CHECK_ERRNO(fcntl(fd, F_SETFL, O_APPEND), EBADF);
	CHECK_ERRNO(ioctl(fd, FIOCLEX, 0), EBADF);
	CHECK_ERRNO(CALL(mmap, 0, 4096, PROT_READ, MAP_PRIVATE, fd, 0), EBADF);
	polled.fd = fd;
	CHECK_EQ(poll(&polled, 1, 0), 1);
	CHECK_EQ(polled.revents, POLLNVAL);
	CHECK_CALL(unlink("fdtest.file"));
	CHECK_CALL(close(CHECK_CALL(open(".", O_PATH | O_DIRECTORY | O_CREAT, 0644)))); /* there are no other flags */
	fd = CHECK_CALL(open("/proc/self/exe", O_PATH));
	pid = check_fork();
	if (!pid)
		_exit((int)CALL(execveat, fd, "", argv, argv + 2, AT_EMPTY_PATH));
	CHECK_EQ(check_wait(pid), 7 << 8);
}

/* An empty name means the open file itself, also of a pipe, which no name leads to. */
static void empty_names(void)
{
	int ends[2];
	struct stat st;

	CHECK_CALL(pipe(ends));
	CHECK_CALL(CALL(fchownat, ends[0], "", getuid(), -1, AT_EMPTY_PATH));
	CHECK_CALL(CALL(faccessat2, ends[0], "", 4, AT_EMPTY_PATH));
	CHECK_ERRNO(CALL(fchownat, ends[0], "x", -1, -1, AT_EMPTY_PATH), ENOTDIR);
	CHECK_CALL(CALL(newfstatat, CHECK_CALL(open("/dev", O_RDONLY)), "null", &st, AT_EMPTY_PATH));
	CHECK(S_ISCHR(st.st_mode));
	CHECK_ERRNO(CALL(readlinkat, ends[0], "", &st, sizeof(st)), ENOENT);
	CHECK_ERRNO(CALL(execveat, ends[0], "", NULL, NULL, AT_EMPTY_PATH), EACCES);
	CHECK_ERRNO(CALL(execveat, ends[0], "", NULL, NULL, 0), ENOENT);
}

/* Mode 3 asks for the rights to read and write, and gives a descriptor for neither. */
static void no_access(void)
{
	char c = 'x';
	int fd;

	fd = CHECK_CALL(open("fdtest.file", O_ACCMODE | O_CREAT, 0644));
	CHECK_EQ(fcntl(fd, F_GETFL) & O_ACCMODE, O_ACCMODE);
	CHECK_ERRNO(read(fd, &c, 1), EBADF);
	CHECK_ERRNO(write(fd, &c, 1), EBADF);
	CHECK_ERRNO(ftruncate(fd, 0), EINVAL);
	CHECK_CALL(CALL(fchmod, fd, 0600));
	CHECK_CALL(close(fd));
	CHECK_ERRNO(open(".", O_ACCMODE), EISDIR);
	CHECK_CALL(CALL(mknodat, AT_FDCWD, "fdtest.fifo", S_IFIFO | 0600, 0));
	CHECK_ERRNO(open("fdtest.fifo", O_ACCMODE | O_NONBLOCK), EINVAL);
	CHECK_CALL(unlink("fdtest.fifo"));
	CHECK_CALL(unlink("fdtest.file"));
}

/* Advice on how a file will be used (fadvise64): it is taken for all but pipes, and what it says must make sense. */
static void advice(void)
{
	int ends[2], file = (int)CHECK_CALL(open("fdtest.file", O_RDWR | O_CREAT | O_TRUNC, 0600));
	int name = (int)CHECK_CALL(open("fdtest.file", O_PATH));

	for (int known = 0; known <= 5; known++)
		CHECK_EQ(CALL(fadvise64, file, 0, 1000000, known), 0);
	CHECK_EQ(CALL(fadvise64, file, 5, 0, 2), 0);
	CHECK_EQ(CALL(fadvise64, null(0), 0, 0, 2), 0);
	CHECK_ERRNO(CALL(fadvise64, file, 0, 0, 6), EINVAL);
	CHECK_ERRNO(CALL(fadvise64, file, 0, 0, -1), EINVAL);
	CHECK_ERRNO(CALL(fadvise64, file, 0, -1, 0), EINVAL);
	CHECK_CALL(pipe(ends));
	CHECK_ERRNO(CALL(fadvise64, ends[0], 0, -1, 6), ESPIPE);
	CHECK_ERRNO(CALL(fadvise64, ends[1], 0, 0, 0), ESPIPE);
	CHECK_ERRNO(CALL(fadvise64, name, 0, 0, 0), EBADF);
	CHECK_ERRNO(CALL(fadvise64, BEYOND, 0, 0, 6), EBADF);
	CHECK_CALL(unlink("fdtest.file"));
}

static const struct check_case cases[] = {
	{"lowest", lowest},
	{"copies", copies},
	{"replaced", replaced},
	{"closed-by-exec", closed_by_exec},
	{"forked", forked},
	{"ranges", ranges},
	{"no-number-left", no_number_left},
	{"highest", highest},
	{"only-a-name", only_a_name},
	{"empty-names", empty_names},
	{"no-access", no_access},
	{"advice", advice},
};

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc == 2 && !strcmp(argv[1], "after-exec"))
		return after_exec();
	if (argc == 2 && !strcmp(argv[1], "run"))
		return 7;
	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
