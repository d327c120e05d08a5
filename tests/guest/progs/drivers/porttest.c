/*
 * porttest: console ports, one case at a time, as test_virtio.py on the host's side asks for them. Port
 * "file" leads to a file, port "line" to a socket that somebody connects to or not. Whatever goes through is
 * the numbers of pattern().
 */
#include <check.h>
#include <fcntl.h>
#include <numbers.h>
#include <sched.h>
#include <signal.h>
#include <uapi/poll.h>
#include <watch.h>

#define FILE_PORT "/dev/virtio-ports/file"
#define LINE_PORT "/dev/virtio-ports/line"
#define NEXT_PORT "/dev/virtio-ports/next"

#define BIG	   (8UL << 20)
#define BIG_SPLICE (2UL << 20) /* of these by splice */
#define MORE	   300000UL

static unsigned words[BIG / sizeof(unsigned)];

/* The n bytes from `at` on of all that may be sent: words i * 2654435761. */
static const char *pattern(unsigned long at)
{
	if (!words[1])
		for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
			words[i] = i * 2654435761U;
	return (const char *)words + at;
}

static int open_port(const char *name, int flags)
{
	return (int)CHECK_CALL(open(name, flags));
}

static int poll_now(int fd)
{
	struct {
		int fd;
		short events, revents;
	} file = {fd, POLLIN | POLLOUT, 0};
	struct timespec now = {0, 0};

	CHECK_RANGE(vt_syscall(SYS_ppoll, (long)&file, 1, (long)&now, 0, 0, 0), 0, 1);
	return file.revents;
}

/* A child sleeps in what it does: give it a moment to get there. */
static void let_sleep(void)
{
	check_sleep(50000000);
}

static void manners(void)
{
	int fd = open_port(FILE_PORT, O_RDWR | O_NONBLOCK);
	char byte;

	CHECK_ERRNO(open(FILE_PORT, O_RDONLY), EBUSY);
	CHECK_ERRNO(open("/dev/vport0p1", O_WRONLY), EBUSY);
	CHECK_ERRNO(lseek(fd, 0, SEEK_SET), ESPIPE);
	CHECK_ERRNO(read(fd, &byte, 1), EAGAIN);
	CHECK_ERRNO(write(fd, (void *)8, 1), EFAULT);
	CHECK_EQ(poll_now(fd), POLLOUT);
	CHECK_EQ(write(fd, &byte, 0), 0);
	close(fd);
	close(open_port(FILE_PORT, O_WRONLY));
}

static void talk_meanwhile(void)
{
	for (;;) {
		printf("The console is for everybody, all the time.\n");
		fflush(stdout);
		check_sleep(2000000);
	}
}

static void write_all(int fd, unsigned long at, unsigned long end)
{
	static const unsigned long sizes[] = {1, 4095, 4096, 4097, 100, 65536, 200001, 8191};

	for (unsigned i = 0; at < end && !check_failures; i++) {
		unsigned long n = sizes[i % ARRAY_SIZE(sizes)];

		n = n < end - at ? n : end - at;
		CHECK_EQ(write(fd, pattern(at), n), n);
		at += n;
	}
}

static void splice_all(int fd, unsigned long at, unsigned long end)
{
	unsigned long seed = 7, done = at;
	int ends[2];
	pid_t writer;

	CHECK_CALL(pipe(ends));
	writer = check_fork();
	if (!writer) {
		write_all(ends[1], at, end);
		_exit(check_failures != 0);
	}
	close(ends[1]);
	while (done < end) {
		long n = CHECK_CALL(splice(ends[0], NULL, fd, NULL, 1 + watch_random(&seed) % 70000, 0));

		if (n <= 0)
			break;
		done += n;
	}
	CHECK_EQ(done, end);
	CHECK_EQ(check_wait(writer), 0);
}

static void big(void)
{
	int fd = open_port(FILE_PORT, O_WRONLY);
	pid_t talker = check_fork();

	if (!talker)
		talk_meanwhile();
	write_all(fd, 0, BIG - BIG_SPLICE);
	splice_all(fd, BIG - BIG_SPLICE, BIG);
	kill(talker, SIGKILL);
	check_wait(talker);
	CHECK_EQ(close(fd), 0);
}

/* Nobody is at the other end. */
static void alone(void)
{
	int fd = open_port(LINE_PORT, O_RDWR), status;
	pid_t writer;
	char byte;

	CHECK_EQ(read(fd, &byte, 1), 0);
	CHECK_EQ(poll_now(fd), POLLIN | POLLHUP);
	CHECK_CALL(fcntl(fd, F_SETFL, O_NONBLOCK));
	CHECK_ERRNO(write(fd, "x", 1), EAGAIN);
	CHECK_CALL(fcntl(fd, F_SETFL, 0));
	writer = check_fork();
	if (!writer)
		_exit(write(fd, "x", 1) != 1);
	let_sleep();
	kill(writer, SIGTERM);
	status = check_wait(writer);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	close(fd);
}

/* Neither its write nor the close that its end brings waits for the other end. */
static void killed_while_full(int fd)
{
	pid_t writer = check_fork();
	bool had_to_be_killed;
	int status;

	if (!writer)
		_exit(write(fd, "x", 1) != 1);
	let_sleep();
	kill(writer, SIGTERM);
	status = watch_child(writer, 5000, &had_to_be_killed);
	CHECK(!had_to_be_killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

/* The other end takes nothing, then all. */
static void full(void)
{
	int fd = open_port(LINE_PORT, O_RDWR | O_NONBLOCK);
	unsigned long at = 0;
	pid_t writer;
	long n;

	watch_init();
	while ((n = write(fd, pattern(at), 10000)) > 0)
		at += n;
	CHECK_ERRNO(n, EAGAIN);
	/* What was under way may have gone on since. */
	for (int quiet = 0; quiet < 5;) {
		check_sleep(20000000);
		n = write(fd, pattern(at), 4096);
		quiet = n > 0 ? 0 : quiet + 1;
		at += n > 0 ? n : 0;
	}
	CHECK_EQ(poll_now(fd), 0);
	CHECK_CALL(fcntl(fd, F_SETFL, 0));
	killed_while_full(fd);
	writer = check_fork();
	if (!writer) {
		write_all(fd, at, at + MORE);
		_exit(check_failures != 0);
	}
	let_sleep();
	printf("full %lu\n", at + MORE);
	fflush(stdout);
	CHECK_EQ(check_wait(writer), 0);
	CHECK_EQ(close(fd), 0);
}

/* The other end sends until it hangs up; somebody else comes, to whom a writer that waits already can write.
 */
static void answer(void)
{
	int fd = open_port(LINE_PORT, O_RDWR);
	static char got[5000];
	unsigned long at = 0;
	long n;

	printf("listening\n");
	fflush(stdout);
	while (at < MORE && (n = CHECK_CALL(read(fd, got, sizeof(got)))) > 0) {
		CHECK(!memcmp(got, pattern(at), n));
		at += n;
	}
	CHECK_EQ(at, MORE);
	printf("heard\n"); /* QEMU 7.2 drops what it has not passed on when its socket is closed */
	fflush(stdout);
	CHECK_EQ(read(fd, got, sizeof(got)), 0);
	CHECK_EQ(poll_now(fd), POLLIN | POLLHUP);
	printf("hung up\n");
	fflush(stdout);
	CHECK_EQ(write(fd, "again", 5), 5);
	CHECK_EQ(close(fd), 0);
}

/* What came for a file, and was not read or in part, is not there for the next one. */
static void stale(void)
{
	char got[16];

	for (int part = 0; part < 2; part++) {
		int fd = open_port(LINE_PORT, O_RDWR);

		printf("tell %d\n", part);
		fflush(stdout);
		while (!(poll_now(fd) & POLLIN))
			check_sleep(1000000);
		if (part)
			CHECK_EQ(read(fd, got, 2), 2);
		CHECK_EQ(close(fd), 0);
		fd = open_port(LINE_PORT, O_RDWR);
		CHECK_EQ(poll_now(fd), POLLOUT);
		printf("tell again %d\n", part);
		fflush(stdout);
		CHECK_EQ(read(fd, got, sizeof(got)), 3);
		CHECK(!memcmp(got, "new", 3));
		CHECK_EQ(close(fd), 0);
	}
}

/*
 * When open(2) returns, the host knows of it; else what it writes could be lost. The task does not sleep afterwards,
 * and no worker of this CPU can run beside it.
 */
static void known(void)
{
	struct sched_param param = {10};
	int fd = open_port(LINE_PORT, O_RDWR);
	cpu_set_t one = {{2}};
	char byte;
	long end;

	close(fd);
	let_sleep(); /* the host knows that it is closed */
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	CHECK_EQ(sched_setscheduler(0, SCHED_FIFO, &param), 0);
	printf("opening\n");
	fflush(stdout);
	let_sleep();
	fd = open_port(LINE_PORT, O_RDWR);
	end = check_now() + 30000000000;
	while (!(poll_now(fd) & POLLIN) && check_now() < end)
		;
	CHECK_EQ(poll_now(fd), POLLIN | POLLOUT);
	CHECK_EQ(read(fd, &byte, 1), 1);
	close(fd);
}

/* The port is pulled out while somebody reads, and somebody else has it open. */
static void unplug(void)
{
	int fd = open_port(LINE_PORT, O_RDWR);
	pid_t reader = check_fork();
	char byte;

	if (!reader) {
		CHECK_ERRNO(read(fd, &byte, 1), ENODEV);
		_exit(check_failures != 0);
	}
	let_sleep();
	printf("pull\n");
	fflush(stdout);
	CHECK_EQ(check_wait(reader), 0);
	CHECK_ERRNO(write(fd, "x", 1), ENODEV);
	CHECK_EQ(poll_now(fd), POLLHUP);
	while (!access(LINE_PORT, F_OK))
		check_sleep(1000000);
	CHECK_ERRNO(open("/dev/vport0p2", O_RDWR), ENOENT);
	close(fd);
}

/* A port of the same number has come under another name. */
static void plug(void)
{
	int fd;

	while (access(NEXT_PORT, F_OK))
		check_sleep(1000000);
	fd = open_port("/dev/vport0p2", O_WRONLY);
	CHECK_EQ(write(fd, "next", 4), 4);
	CHECK_EQ(close(fd), 0);
}

static const struct check_case cases[] = {
	{"manners", manners}, {"big", big},	  {"alone", alone},   {"full", full}, {"stale", stale},
	{"known", known},     {"answer", answer}, {"unplug", unplug}, {"plug", plug},
};

int main(int argc, char **argv)
{
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
