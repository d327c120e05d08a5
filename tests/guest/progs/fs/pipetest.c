/* pipetest: what a pipe promises. */
/* also on Linux */
#include <callnumbers.h>
#include <check.h>
#include <fcntl.h>
#include <numbers.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>

#define PIPE_BUF_BYTES 4096 /* POSIX's PIPE_BUF on Linux: writes up to here are in one piece */
#define CAPACITY       65536

static void end_of_file(void)
{
	char buf[8];
	int ends[2];

	CHECK_CALL(pipe(ends));
	CHECK_EQ(write(ends[1], "abc", 3), 3);
	close(ends[1]);
	CHECK_EQ(read(ends[0], buf, sizeof(buf)), 3);
	CHECK_EQ(read(ends[0], buf, sizeof(buf)), 0);
}

static void wrong_ends(void)
{
	char c = 0;
	int ends[2];

	CHECK_CALL(pipe(ends));
	CHECK_ERRNO(read(ends[1], &c, 1), EBADF);
	CHECK_ERRNO(write(ends[0], &c, 1), EBADF);
	CHECK_ERRNO(lseek(ends[0], 0, SEEK_CUR), ESPIPE);
	CHECK_ERRNO(write(ends[1], (void *)8, 1), EFAULT);
	CHECK_ERRNO(check_syscall(SYS_pipe2, 8, 0, 0, 0, 0, 0), EFAULT);
}

static volatile sig_atomic_t sigpipes;

static void on_sigpipe(int sig)
{
	sigpipes++;
}

static void write_to_nobody(void)
{
	int ends[2];

	CHECK_CALL(pipe(ends));
	close(ends[0]);
	write(ends[1], "x", 1);
	_exit(0); /* not reached: SIGPIPE ends us */
}

static void no_reader(void)
{
	int ends[2], status = check_in_child(write_to_nobody);

	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGPIPE);
	signal(SIGPIPE, on_sigpipe);
	CHECK_CALL(pipe(ends));
	close(ends[0]);
	CHECK_ERRNO(write(ends[1], "x", 1), EPIPE);
	CHECK_EQ(sigpipes, 1);
}

static void never_waiting(void)
{
	static char block[CAPACITY];
	int ends[2];
	char c;

	CHECK_CALL(pipe2(ends, O_NONBLOCK | O_CLOEXEC));
	CHECK_ERRNO(read(ends[0], &c, 1), EAGAIN);
	CHECK_EQ(write(ends[1], block, CAPACITY), CAPACITY);
	CHECK_ERRNO(write(ends[1], &c, 1), EAGAIN);
	CHECK_EQ(read(ends[0], block, 4096), 4096);
	CHECK_EQ(write(ends[1], block, 4096), 4096);
	CHECK_EQ(fcntl(ends[0], F_GETFD, 0), FD_CLOEXEC);
	CHECK_ERRNO(pipe2(ends, 0x40000000), EINVAL);
}

/* Four writers of records of one page: each must come out in one piece, and each writer's in order. */
static void atomic_writes(void)
{
	enum { WRITERS = 4, RECORDS = 64 };
	static unsigned record[PIPE_BUF_BYTES / sizeof(unsigned)];
	unsigned next[WRITERS] = {0}, torn = 0;
	pid_t pids[WRITERS];
	int ends[2];

	CHECK_CALL(pipe(ends));
	for (unsigned w = 0; w < WRITERS; w++) {
		pids[w] = check_fork();
		for (unsigned r = 0; pids[w] == 0 && r < RECORDS; r++) {
			for (unsigned i = 0; i < ARRAY_SIZE(record); i++)
				record[i] = w << 16 | r;
			if (write(ends[1], record, sizeof(record)) != sizeof(record))
				_exit(1);
		}
		if (pids[w] == 0)
			_exit(0);
	}
	close(ends[1]);
	for (unsigned n = 0; n < WRITERS * RECORDS; n++) {
		size_t have = 0;

		while (have < sizeof(record)) {
			ssize_t got = read(ends[0], (char *)record + have, sizeof(record) - have);

			if (!CHECK(got > 0))
				return;
			have += (size_t)got;
		}
		for (unsigned i = 1; i < ARRAY_SIZE(record); i++)
			torn += record[i] != record[0];
		if (record[0] >> 16 < WRITERS)
			CHECK_EQ(record[0] & 0xffff, next[record[0] >> 16]++);
	}
	CHECK_EQ(torn, 0);
	CHECK_EQ(read(ends[0], record, 1), 0);
	for (unsigned w = 0; w < WRITERS; w++)
		CHECK_EQ(check_wait(pids[w]), 0);
}

#define BIG (8L << 20)

static unsigned char pattern(long at)
{
	return (unsigned char)(at ^ at >> 8 ^ at >> 16);
}

static void send_pattern(int fd)
{
	static unsigned char block[10007]; /* fits no page */
	long at = 0;

	while (at < BIG) {
		long n = BIG - at < (long)sizeof(block) ? BIG - at : (long)sizeof(block);

		for (long i = 0; i < n; i++)
			block[i] = pattern(at + i);
		if (vt_write_all(fd, block, (size_t)n))
			_exit(1);
		at += n;
	}
	_exit(0);
}

static void big_transfer(void)
{
	static unsigned char block[12345];
	long at = 0, wrong = 0;
	ssize_t n;
	int ends[2];
	pid_t pid;

	CHECK_CALL(pipe(ends));
	pid = check_fork();
	if (pid == 0)
		send_pattern(ends[1]);
	close(ends[1]);
	while ((n = read(ends[0], block, sizeof(block))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			wrong += block[i] != pattern(at + i);
		at += n;
	}
	CHECK_EQ(at, BIG);
	CHECK_EQ(wrong, 0);
	CHECK_EQ(check_wait(pid), 0);
}

/* A reader that is gone while the writer waits for room wakes it. */
static void reader_leaves(void)
{
	static char block[2 * CAPACITY];
	int ends[2], ready[2];
	pid_t pid;

	CHECK_CALL(pipe(ends));
	CHECK_CALL(pipe(ready));
	pid = check_fork();
	if (pid == 0) {
		signal(SIGPIPE, SIG_IGN);
		close(ends[0]);
		check_give(ready[1], 'r');
		_exit(write(ends[1], block, sizeof(block)) == CAPACITY ? 0 : 1);
	}
	close(ends[1]);
	check_take(ready[0]);
	check_sleep(20000000); /* so that it waits by now; the answer is the same if not */
	close(ends[0]);
	CHECK(check_wait(pid) >= 0);
}

/* ---- PIPE_BUF to the byte. A page is what Linux gives out, so these numbers are the same there. */

static long in_pipe(int fd)
{
	int n = -1;

	CHECK_CALL(ioctl(fd, FIONREAD, &n));
	return n;
}

/* Neither end waits. All but `room` bytes are filled, in writes of whole pages and one byte in the last. */
static void fill_but(int ends[2], long room)
{
	static char page[PIPE_BUF_BYTES];

	CHECK_CALL(pipe2(ends, O_NONBLOCK));
	for (long n = CAPACITY; n >= room + PIPE_BUF_BYTES; n -= PIPE_BUF_BYTES)
		CHECK_EQ(write(ends[1], page, PIPE_BUF_BYTES), PIPE_BUF_BYTES);
	if (room % PIPE_BUF_BYTES)
		CHECK_EQ(write(ends[1], page, PIPE_BUF_BYTES - room % PIPE_BUF_BYTES),
			 PIPE_BUF_BYTES - room % PIPE_BUF_BYTES);
	CHECK_EQ(in_pipe(ends[0]), CAPACITY - room);
}

/* Up to PIPE_BUF all or nothing; one byte more is taken as far as there is room. */
static void all_or_nothing(void)
{
	static char block[2 * PIPE_BUF_BYTES];
	int ends[2];

	fill_but(ends, PIPE_BUF_BYTES - 1);
	CHECK_ERRNO(write(ends[1], block, PIPE_BUF_BYTES), EAGAIN);
	CHECK_EQ(in_pipe(ends[0]), CAPACITY - PIPE_BUF_BYTES + 1);
	CHECK_EQ(write(ends[1], block, PIPE_BUF_BYTES - 1), PIPE_BUF_BYTES - 1);
	CHECK_EQ(in_pipe(ends[0]), CAPACITY);
	fill_but(ends, PIPE_BUF_BYTES);
	CHECK_EQ(write(ends[1], block, PIPE_BUF_BYTES), PIPE_BUF_BYTES);
	CHECK_ERRNO(write(ends[1], block, 1), EAGAIN);
	fill_but(ends, PIPE_BUF_BYTES);
	CHECK_EQ(write(ends[1], block, PIPE_BUF_BYTES + 1), PIPE_BUF_BYTES);
	CHECK_ERRNO(write(ends[1], block, PIPE_BUF_BYTES + 1), EAGAIN);
	fill_but(ends, 2 * PIPE_BUF_BYTES);
	CHECK_EQ(write(ends[1], block, 2 * PIPE_BUF_BYTES), 2 * PIPE_BUF_BYTES);
	CHECK_EQ(read(ends[0], block, PIPE_BUF_BYTES), PIPE_BUF_BYTES);
	CHECK_EQ(write(ends[1], block, 2 * PIPE_BUF_BYTES), PIPE_BUF_BYTES);
	CHECK_EQ(in_pipe(ends[0]), CAPACITY);
}

static short ready(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};

	CHECK_RANGE(poll(&p, 1, 0), 0, 1);
	return p.revents;
}

/* What poll() says agrees with what the calls do. */
static void polled(void)
{
	static char block[CAPACITY];
	int ends[2];

	CHECK_CALL(pipe(ends));
	CHECK_EQ(ready(ends[0], POLLIN), 0);
	CHECK_EQ(ready(ends[1], POLLOUT), POLLOUT);
	CHECK_EQ(ready(ends[0], POLLOUT), 0);
	CHECK_EQ(ready(ends[1], POLLIN), 0);
	CHECK_EQ(write(ends[1], "ab", 2), 2);
	CHECK_EQ(ready(ends[0], POLLIN), POLLIN);
	CHECK_EQ(read(ends[0], block, 1), 1);
	CHECK_EQ(ready(ends[0], POLLIN), POLLIN);
	CHECK_EQ(in_pipe(ends[0]), 1);
	CHECK_EQ(in_pipe(ends[1]), 1);
	CHECK_EQ(read(ends[0], block, 1), 1);
	CHECK_EQ(ready(ends[0], POLLIN), 0);
	CHECK_EQ(write(ends[1], "x", 1), 1);
	CHECK_CALL(close(ends[1]));
	CHECK_EQ(ready(ends[0], POLLIN), POLLIN | POLLHUP);
	CHECK_EQ(read(ends[0], block, 2), 1);
	CHECK_EQ(ready(ends[0], POLLIN), POLLHUP);
	CHECK_EQ(ready(ends[0], 0), POLLHUP);
	fill_but(ends, PIPE_BUF_BYTES);
	CHECK_EQ(ready(ends[1], POLLOUT), POLLOUT);
	CHECK_EQ(write(ends[1], block, PIPE_BUF_BYTES), PIPE_BUF_BYTES);
	CHECK_EQ(ready(ends[1], POLLOUT), 0);
	CHECK_EQ(read(ends[0], block, PIPE_BUF_BYTES), PIPE_BUF_BYTES);
	CHECK_EQ(ready(ends[1], POLLOUT), POLLOUT);
	CHECK_CALL(close(ends[0]));
	CHECK_EQ(ready(ends[1], POLLOUT), POLLOUT | POLLERR);
	CHECK_EQ(ready(ends[1], 0), POLLERR);
}

/* A part was written when the last reader leaves: that is what the call returns, and SIGPIPE comes all the
 * same. */
static void reader_leaves_within(void)
{
	static char block[2 * CAPACITY];
	int ends[2];
	pid_t pid;

	signal(SIGPIPE, on_sigpipe);
	CHECK_CALL(pipe(ends));
	pid = check_fork();
	if (pid == 0) {
		close(ends[1]);
		for (long n = 0; n < 3 * PIPE_BUF_BYTES;)
			n += read(ends[0], block, 3 * PIPE_BUF_BYTES - n);
		while (in_pipe(ends[0]) < CAPACITY)
			check_sleep(1000000);
		_exit(0);
	}
	close(ends[0]);
	CHECK_EQ(write(ends[1], block, sizeof(block)), CAPACITY + 3 * PIPE_BUF_BYTES);
	CHECK_EQ(sigpipes, 1);
	CHECK_EQ(check_wait(pid), 0);
	CHECK_ERRNO(write(ends[1], block, PIPE_BUF_BYTES), EPIPE);
	CHECK_EQ(sigpipes, 2);
	CHECK_EQ(write(ends[1], block, 0), 0);
	CHECK_EQ(sigpipes, 2);
}

/* A writer that waits goes on when there is room for its piece, not before; nothing is lost between. */
static void writer_waits(void)
{
	static char block[CAPACITY];
	int ends[2];
	pid_t pid;

	fill_but(ends, 0);
	CHECK_CALL(fcntl(ends[1], F_SETFL, 0));
	pid = check_fork();
	if (pid == 0) {
		memset(block, 'w', PIPE_BUF_BYTES);
		_exit(write(ends[1], block, PIPE_BUF_BYTES) == PIPE_BUF_BYTES ? 0 : 1);
	}
	CHECK_EQ(read(ends[0], block, PIPE_BUF_BYTES - 1), PIPE_BUF_BYTES - 1);
	check_sleep(30000000);
	CHECK_EQ(in_pipe(ends[0]), CAPACITY - PIPE_BUF_BYTES + 1);
	CHECK_EQ(read(ends[0], block, 1), 1);
	CHECK_EQ(check_wait(pid), 0);
	CHECK_EQ(in_pipe(ends[0]), CAPACITY);
	for (long n = 0; n < CAPACITY - PIPE_BUF_BYTES; n += PIPE_BUF_BYTES)
		CHECK_EQ(read(ends[0], block, PIPE_BUF_BYTES), PIPE_BUF_BYTES);
	CHECK_EQ(read(ends[0], block, CAPACITY), PIPE_BUF_BYTES);
	CHECK_EQ(block[0], 'w');
	CHECK_EQ(block[PIPE_BUF_BYTES - 1], 'w');
}

/* Scattered reads end with the first part that is not filled: they do not wait for the rest. */
static void scattered(void)
{
	struct {
		void *at;
		unsigned long n;
	} parts[2];
	char a[2] = "", b[6] = "";
	struct pollfd read_it = {.events = POLLIN};
	int ends[2], gate[2];
	pid_t pid;

	parts[0].at = a;
	parts[0].n = sizeof(a);
	parts[1].at = b;
	parts[1].n = sizeof(b);
	CHECK_CALL(pipe(ends));
	CHECK_CALL(pipe(gate));
	CHECK_EQ(write(ends[1], "x", 1), 1);
	pid = check_fork();
	if (pid == 0) {
		read_it.fd = gate[0];
		poll(&read_it, 1, 5000); /* a read that waits for the rest gets it at last */
		_exit(write(ends[1], "yz", 2) != 2);
	}
	CHECK_EQ(check_syscall(SYS_readv, ends[0], (long)parts, 2, 0, 0, 0), 1);
	check_give(gate[1], 'r');
	CHECK_EQ(check_wait(pid), 0);
	CHECK_EQ(write(ends[1], "123", 3), 3);
	CHECK_EQ(check_syscall(SYS_readv, ends[0], (long)parts, 2, 0, 0, 0), 5);
	CHECK(!memcmp(a, "yz", 2) && !memcmp(b, "123", 3));
	CHECK_EQ(check_syscall(SYS_writev, ends[1], (long)parts, 2, 0, 0, 0), 8);
	CHECK_EQ(in_pipe(ends[0]), 8);
}

/* A signal ends the wait: with what was written, or EINTR when nothing was. */
static void on_alarm(int sig)
{
}

static void interrupted(void)
{
	static char block[2 * CAPACITY];
	struct sigaction act = {.sa_handler = on_alarm};
	int ends[2];
	pid_t pid;

	CHECK_CALL(sigaction(SIGUSR1, &act, NULL));
	CHECK_CALL(pipe(ends));
	for (int i = 0; i < 3; i++) {
		pid = check_fork();
		if (pid == 0) {
			pid = getppid();
			while (thread_state(pid, pid) != 'S') /* in its call */
				check_sleep(1000000);
			_exit(kill(pid, SIGUSR1));
		}
		if (i == 0)
			CHECK_ERRNO(read(ends[0], block, 1), EINTR);
		else if (i == 1)
			CHECK_EQ(write(ends[1], block, sizeof(block)), CAPACITY);
		else
			CHECK_ERRNO(write(ends[1], block, 1), EINTR);
		CHECK_EQ(check_wait(pid), 0);
	}
	CHECK_EQ(in_pipe(ends[0]), CAPACITY);
}

#define SET_SIZE 1031 /* F_SETPIPE_SZ, which newlib does not know */
#define GET_SIZE 1032

/* Bytes number `from` and on, as they come out of a pipe that they were written to in order. */
static void numbered(char *to, size_t n, size_t from)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (char)((from + i) * 7 + (from + i) / 251);
}

static void put_numbered(int fd, size_t n, size_t from)
{
	static char bytes[4 * CAPACITY];

	numbered(bytes, n, from);
	CHECK_EQ(write(fd, bytes, n), n);
}

static void get_numbered(int fd, size_t n, size_t from)
{
	static char want[4 * CAPACITY], got[4 * CAPACITY];

	numbered(want, n, from);
	for (size_t done = 0; done < n && !check_failures;)
		done += (size_t)CHECK_CALL(read(fd, got + done, n - done));
	CHECK(!memcmp(want, got, n));
}

/* Whole pages, a power of two of them; what is in the pipe stays, also where the ring goes round within a page. */
static void sizes(void)
{
	static const struct {
		long asked, got;
	} list[] = {{0, 4096}, {1, 4096}, {4097, 8192}, {65536, 65536}, {100000, 131072}, {1 << 20, 1 << 20}};
	int ends[2];

	CHECK_CALL(pipe(ends));
	CHECK_EQ(fcntl(ends[0], GET_SIZE), CAPACITY);
	for (unsigned i = 0; i < ARRAY_SIZE(list); i++) {
		CHECK_EQ(fcntl(ends[i % 2], SET_SIZE, list[i].asked), list[i].got);
		CHECK_EQ(fcntl(ends[0], GET_SIZE), list[i].got);
	}
	CHECK_ERRNO(fcntl(ends[0], SET_SIZE, 0x80000001u), EINVAL);
	CHECK_ERRNO(fcntl(open("/dev/null", O_RDWR), SET_SIZE, 4096), EBADF);
	CHECK_EQ(fcntl(ends[0], SET_SIZE, CAPACITY), CAPACITY);
	put_numbered(ends[1], CAPACITY, 0);
	get_numbered(ends[0], 10000, 0);
	put_numbered(ends[1], 8192, CAPACITY);
	CHECK_EQ(fcntl(ends[1], SET_SIZE, 4 * CAPACITY), 4 * CAPACITY);
	CHECK_EQ(in_pipe(ends[0]), CAPACITY + 8192 - 10000);
	put_numbered(ends[1], 3 * CAPACITY, CAPACITY + 8192);
	CHECK_ERRNO(fcntl(ends[1], SET_SIZE, 2 * CAPACITY), EBUSY);
	CHECK_EQ(fcntl(ends[1], GET_SIZE), 4 * CAPACITY);
	get_numbered(ends[0], 3 * CAPACITY + 20000, 10000);
	CHECK_EQ(fcntl(ends[1], SET_SIZE, CAPACITY), CAPACITY);
	get_numbered(ends[0], CAPACITY + 8192 - 30000, 3 * CAPACITY + 30000);
	CHECK_EQ(in_pipe(ends[0]), 0);
	put_numbered(ends[1], CAPACITY, 5);
	get_numbered(ends[0], CAPACITY, 5);
}

/* More than /proc/sys/fs/pipe-max-size is for root alone, and a writer that waits goes on in a larger pipe. */
static void larger(void)
{
	int ends[2], status;
	pid_t child;

	CHECK_CALL(pipe(ends));
	put_numbered(ends[1], CAPACITY, 0);
	child = check_fork();
	if (!child) {
		CHECK_EQ(write(ends[1], "x", 1), 1);
		_exit(check_failures != 0);
	}
	check_sleep(20000000);
	CHECK_EQ(fcntl(ends[0], SET_SIZE, 2 * CAPACITY), 2 * CAPACITY);
	CHECK_EQ(check_wait(child), 0);
	CHECK_EQ(in_pipe(ends[0]), CAPACITY + 1);
	child = check_fork();
	if (!child) {
		if (fcntl(ends[0], SET_SIZE, 4 << 20) != 4 << 20)
			_exit(1 + (errno == EPERM)); /* in a container root may lack the right */
		become_user(1234);
		CHECK_ERRNO(fcntl(ends[0], SET_SIZE, 8 << 20), EPERM);
		CHECK_EQ(fcntl(ends[0], GET_SIZE), 4 << 20);
		CHECK_EQ(fcntl(ends[0], SET_SIZE, 2 << 20), 2 << 20); /* less is always allowed */
		CHECK_EQ(fcntl(ends[0], SET_SIZE, 1 << 20), 1 << 20);
		CHECK_ERRNO(fcntl(ends[0], SET_SIZE, 2 << 20), EPERM);
		_exit(check_failures != 0);
	}
	status = check_wait(child);
#ifdef __linux__
	if (status == 2 << 8)
		return;
#endif
	CHECK_EQ(status, 0);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"end-of-file", end_of_file},
		{"wrong-ends", wrong_ends},
		{"no-reader", no_reader},
		{"never-waiting", never_waiting},
		{"atomic-writes", atomic_writes},
		{"big-transfer", big_transfer},
		{"reader-leaves", reader_leaves},
		{"all-or-nothing", all_or_nothing},
		{"polled", polled},
		{"reader-leaves-within", reader_leaves_within},
		{"writer-waits", writer_waits},
		{"interrupted", interrupted},
		{"scattered", scattered},
		{"sizes", sizes},
		{"larger", larger},
	};

	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
