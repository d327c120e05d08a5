/* ptytest: pseudo terminals. */
/* also on Linux */
#include <callnumbers.h>
#include <posix.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>

#define NUMBER	  0x80045430 /* TIOCGPTN */
#define LOCK	  0x40045431 /* TIOCSPTLCK */
#define IS_LOCKED 0x80045439 /* TIOCGPTLCK */
#define NONBLOCK  04000
#define NOCTTY	  0400
#define PATH_ONLY 010000000 /* O_PATH */
#define NO_CR	  020	    /* ONOCR */

static char path[32]; /* of the slave */

static int open_master(void)
{
	int fd = (int)CHECK_CALL(open("/dev/ptmx", O_RDWR | NOCTTY)), number = -1, off = 0, locked = -1;

	CHECK_CALL(ioctl(fd, NUMBER, &number));
	CHECK(number >= 0);
	sniprintf(path, sizeof(path), "/dev/pts/%d", number);
	CHECK_CALL(ioctl(fd, IS_LOCKED, &locked));
	CHECK_EQ(locked, 1);
	CHECK_ERRNO(open(path, O_RDWR | NOCTTY), EIO);
	CHECK_CALL(ioctl(fd, LOCK, &off));
	return fd;
}

static int open_slave(void)
{
	return (int)CHECK_CALL(open(path, O_RDWR | NOCTTY));
}

/* Read what comes until it is as long as this text, and compare. */
static void expect(int fd, const char *text)
{
	char got[256] = "";
	size_t n = 0, all = strlen(text);

	while (n < all) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		long part;

		if (poll(&p, 1, 5000) != 1)
			break;
		part = read(fd, got + n, all - n);
		if (part <= 0)
			break;
		n += part;
	}
	CHECK(n == all && !memcmp(got, text, all));
	if (n != all || memcmp(got, text, all))
		printf("  got \"%s\", not \"%s\"\n", got, text);
}

static void type(int fd, const char *text)
{
	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
}

static int ready(int fd, int events, int ms)
{
	struct pollfd p = {.fd = fd, .events = (short)events};

	CHECK_CALL(poll(&p, 1, ms));
	return p.revents;
}

/* The line discipline stands between the two ends. */
static void lines(void)
{
	int master = open_master(), slave = open_slave();
	struct termios t;
	struct stat st;

	CHECK_CALL(fstat(slave, &st));
	CHECK(S_ISCHR(st.st_mode));
	CHECK_EQ(st.st_rdev >> 8, 136);
	CHECK(isatty(slave));
	type(master, "ab\177c\n");
	expect(slave, "ac\n");
	expect(master, "ab\b \bc\r\n"); /* the echo */
	type(slave, "out\n");
	expect(master, "out\r\n");
	CHECK_CALL(tcgetattr(slave, &t));
	t.c_lflag &= ~(ICANON | ECHO | ISIG);
	t.c_oflag &= ~OPOST;
	CHECK_CALL(tcsetattr(master, TCSANOW, &t)); /* the slave's, from the other side */
	memset(&t, 0, sizeof(t));
	CHECK_CALL(tcgetattr(slave, &t));
	CHECK_EQ(t.c_lflag & (ICANON | ECHO), 0);
	type(master, "\3x");
	expect(slave, "\3x");
	type(slave, "raw\n");
	expect(master, "raw\n");
	CHECK_EQ(ready(master, POLLIN | POLLOUT, 0), POLLOUT);
	CHECK_CALL(fcntl(master, F_SETFL, NONBLOCK));
	CHECK_ERRNO(read(master, &t, 1), EAGAIN);
}

/* How many bytes can be read: a ^D ends a line, and is no byte itself. */
static void counted(void)
{
	int master = open_master(), slave = open_slave(), n = -1;
	char got[16];

	type(master, "abc\4");
	CHECK_EQ(ready(slave, POLLIN, 5000), POLLIN);
	CHECK_CALL(ioctl(slave, FIONREAD, &n));
	CHECK_EQ(n, 3);
	CHECK_EQ(read(slave, got, sizeof(got)), 3);
	type(master, "\4");
	CHECK_EQ(ready(slave, POLLIN, 5000), POLLIN);
	CHECK_CALL(ioctl(slave, FIONREAD, &n));
	CHECK_EQ(n, 0);
	CHECK_EQ(read(slave, got, sizeof(got)), 0);
	type(master, "kept\n");
	CHECK_EQ(ready(slave, POLLIN, 5000), POLLIN);
	CHECK_ERRNO(ioctl(master, TCSETSF, 8L), EFAULT); /* then the input is not thrown away */
	CHECK_CALL(ioctl(slave, FIONREAD, &n));
	CHECK_EQ(n, 5);
}

/* The mode changes while bytes wait: without lines all of them can be read; with lines again what is there counts as
 * one. */
static void modes_change(void)
{
	int master = open_master(), slave = open_slave(), n = -1;
	struct termios lines, raw;
	char got[16];

	CHECK_CALL(tcgetattr(slave, &lines));
	raw = lines;
	raw.c_lflag &= ~ICANON;
	type(master, "one\nab");
	expect(slave, "one\n");
	CHECK_EQ(ready(slave, POLLIN, 0), 0);
	CHECK_CALL(tcsetattr(slave, TCSANOW, &raw));
	CHECK_EQ(ready(slave, POLLIN, 0), POLLIN);
	CHECK_CALL(ioctl(slave, FIONREAD, &n));
	CHECK_EQ(n, 2);
	expect(slave, "ab");
	type(master, "cd");
	CHECK_EQ(ready(slave, POLLIN, 5000), POLLIN);
	CHECK_CALL(tcsetattr(slave, TCSANOW, &lines));
	CHECK_EQ(ready(slave, POLLIN, 0), POLLIN);
	CHECK_EQ(read(slave, got, sizeof(got)), 2);
	type(master, "e");
	CHECK_EQ(ready(slave, POLLIN, 0), 0);
	type(master, "f\n");
	expect(slave, "ef\n");
}

/* More than all buffers hold, in both directions. */
static void floods(void)
{
	static char data[200000], back[4096];
	int master = open_master(), slave = open_slave();
	struct termios t;

	CHECK_CALL(tcgetattr(slave, &t));
	t.c_lflag &= ~(ICANON | ECHO | ISIG);
	t.c_iflag &= ~(ICRNL | IXON);
	t.c_oflag &= ~OPOST;
	CHECK_CALL(tcsetattr(slave, TCSANOW, &t));
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 13 + i / 1000);
	for (int way = 0; way < 2; way++) {
		int from = way ? master : slave, to = way ? slave : master;
		size_t got = 0;
		bool same = true;
		pid_t pid = check_fork();

		if (pid == 0)
			_exit(write(from, data, sizeof(data)) == (long)sizeof(data) ? 0 : 1);
		while (got < sizeof(data)) {
			long part = read(to, back, sizeof(back));

			if (part <= 0)
				break;
			same = same && !memcmp(back, data + got, part);
			got += part;
		}
		CHECK_EQ(got, sizeof(data));
		CHECK(same);
		CHECK_EQ(check_wait(pid), 0);
	}
}

/* One writer sleeps until there is room. Another with O_NONBLOCK does not wait for it. */
static void not_blocking(void)
{
	static const char data[200000];
	int master = open_master(), slave = open_slave();
	int other = (int)CHECK_CALL(open(path, O_RDWR | NOCTTY | NONBLOCK));
	struct termios t;

	CHECK_CALL(tcgetattr(slave, &t));
	t.c_lflag &= ~(ICANON | ECHO | ISIG);
	CHECK_CALL(tcsetattr(slave, TCSANOW, &t));
	for (int way = 0; way < 2; way++) {
		int from = way ? master : slave;
		pid_t pid = check_fork();

		if (pid == 0)
			_exit(write(from, data, sizeof(data)) == -1);
		process_gets(pid, 'S');
		if (way)
			CHECK_CALL(fcntl(master, F_SETFL, O_RDWR | NONBLOCK));
		CHECK_ERRNO(write(way ? master : other, "x", 1), EAGAIN);
		finish(pid);
	}
}

static volatile sig_atomic_t seen[NSIG];

static void on_signal(int sig, siginfo_t *info, void *context)
{
	seen[sig]++;
}

/* A session on the slave, as a shell in a window is. Each step is told by a byte. */
static void session(int say, int hear)
{
	int slave;
	char c;

	CHECK_CALL(setsid());
	slave = (int)CHECK_CALL(open(path, O_RDWR)); /* becomes its terminal */
	handle_with(SIGINT, on_signal, SA_RESTART, NULL);
	handle_with(SIGWINCH, on_signal, SA_RESTART, NULL);
	handle_with(SIGHUP, on_signal, SA_RESTART, NULL);
	CHECK_EQ(tcgetpgrp(slave), getpid());
	check_give(say, 'r');
	for (int ms = 0; ms < 5000 && !(seen[SIGINT] && seen[SIGWINCH]); ms++)
		check_sleep(MS);
	CHECK_EQ(seen[SIGINT], 1);
	CHECK_EQ(seen[SIGWINCH], 1);
	{
		struct winsize w = {0, 0, 0, 0};

		CHECK_CALL(ioctl(slave, TIOCGWINSZ, &w));
		CHECK_EQ(w.ws_row, 30);
		CHECK_EQ(w.ws_col, 100);
		CHECK_CALL(open("/dev/tty", O_RDWR));
	}
	check_give(say, 'g');
	check_take(hear); /* the master is closed */
	for (int ms = 0; ms < 5000 && !seen[SIGHUP]; ms++)
		check_sleep(MS);
	CHECK_EQ(seen[SIGHUP], 1);
	CHECK_EQ(read(slave, &c, 1), 0);
	CHECK_ERRNO(write(slave, "x", 1), EIO);
	CHECK_ERRNO(ioctl(slave, TIOCGWINSZ, &(struct winsize){0}), EIO);
	CHECK_ERRNO(tcsetpgrp(slave, getpid()), ENOTTY);
	CHECK_ERRNO(open("/dev/tty", O_RDWR), ENXIO);
	CHECK_ERRNO(open(path, O_RDWR), ENOENT);
	CHECK_EQ(ready(slave, POLLIN, 0) & (POLLIN | POLLHUP), POLLIN | POLLHUP);
}

static void sessions(void)
{
	int master = open_master(), say[2], hear[2];
	struct winsize w = {30, 100, 0, 0};
	pid_t pid;

	CHECK_CALL(pipe(say));
	CHECK_CALL(pipe(hear));
	pid = check_fork();
	if (pid == 0) {
		close(master);
		session(say[1], hear[0]);
		fflush(stdout);
		_exit(check_failures ? 1 : 0);
	}
	CHECK_EQ(check_take(say[0]), 'r');
	type(master, "\3");
	CHECK_CALL(ioctl(master, TIOCSWINSZ, &w));
	CHECK_CALL(ioctl(master, TIOCSWINSZ, &w)); /* no change, no signal */
	CHECK_EQ(check_take(say[0]), 'g');
	CHECK_CALL(close(master));
	check_give(hear[1], 'c');
	CHECK_EQ(check_wait(pid), 0);
}

static void sleep_in_foreground(int say)
{
	int slave;
	pid_t job;

	CHECK_CALL(setsid());
	slave = (int)CHECK_CALL(open(path, O_RDWR));
	job = check_fork();
	if (job == 0) {
		setpgid(0, 0);
		sleep_on();
	}
	CHECK_CALL(setpgid(job, job));
	CHECK_CALL(tcsetpgrp(slave, job));
	CHECK_EQ(write(say, &job, sizeof(job)), sizeof(job));
	sleep_on();
}

/* The session's leader is told that the master is closed, and ends; then the job in its foreground is. */
static void foreground_job(void)
{
	int master = open_master(), say[2], status = 0;
	pid_t pid, job = 0;

	CHECK_CALL(pipe(say));
	CHECK_CALL(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	pid = check_fork();
	if (pid == 0) {
		close(master);
		sleep_in_foreground(say[1]);
	}
	CHECK_EQ(read(say[0], &job, sizeof(job)), sizeof(job));
	process_gets(job, 'S');
	CHECK_CALL(close(master));
	CHECK_EQ(news_of(pid, &status, 0), pid);
	CHECK_EQ(status, SIGHUP);
	CHECK_EQ(news_of(job, &status, 0), job);
	CHECK_EQ(status, SIGHUP);
	kill(job, SIGKILL);
}

/* As long as the slave has not been opened its master waits, and finds no end; also in a pair that is used again. */
static void not_opened_yet(void)
{
	char c;

	for (int i = 0; i < 2; i++) {
		int master = open_master();

		CHECK_EQ(ready(master, POLLIN | POLLOUT, 0), POLLOUT);
		CHECK_CALL(fcntl(master, F_SETFL, O_RDWR | NONBLOCK));
		CHECK_ERRNO(read(master, &c, 1), EAGAIN);
		CHECK_CALL(close(open_slave()));
		CHECK_EQ(ready(master, POLLIN, 3000) & POLLHUP, POLLHUP);
		CHECK_CALL(close(master));
	}
}

/* The master finds the slave's last file closed, after it has read what was written, and opened again. */
static void slave_closed(void)
{
	int master = open_master(), slave = open_slave();
	char c;

	type(slave, "last");
	CHECK_CALL(close(slave));
	expect(master, "last");
	CHECK_EQ(ready(master, POLLIN, 3000) & POLLHUP, POLLHUP);
	CHECK_ERRNO(read(master, &c, 1), EIO);
	slave = open_slave();
	type(slave, "again");
	expect(master, "again");
	/* A reader that sleeps is told. */
	{
		pid_t pid = check_fork();

		if (pid == 0) {
			close(slave);
			_exit(read(master, &c, 1) == -1 && errno == EIO ? 0 : 1);
		}
		process_gets(pid, 'S');
		CHECK_CALL(close(slave));
		CHECK_EQ(check_wait(pid), 0);
	}
}

/* One that is still open after its master is not used for another pair. */
static void not_shared(void)
{
	int master = open_master(), slave = open_slave(), other;
	char old[32], c;

	strcpy(old, path);
	CHECK_CALL(close(master));
	CHECK_EQ(read(slave, &c, 1), 0);
	other = open_master();
	type(open_slave(), "secret\n");
	expect(other, "secret\r\n");
	CHECK_EQ(read(slave, &c, 1), 0);
	CHECK_ERRNO(write(slave, "x", 1), EIO);
#ifndef __linux__ /* there an index is free at once */
	CHECK(strcmp(old, path) != 0);
#endif
	CHECK_CALL(close(slave));
	for (int i = 0; i < 200; i++) {
		CHECK_CALL(close(other));
		other = open_master();
	}
}

/* A node that was reached when its pair was there does not lead to the next pair of this number, which is another's. */
static void not_reached(void)
{
	int master = open_master(), node = (int)CHECK_CALL(open(path, PATH_ONLY)), other;
	char old[32], link[32];

	strcpy(old, path);
	sniprintf(link, sizeof(link), "/proc/self/fd/%d", node);
	CHECK_CALL(close(open(link, O_RDWR | NOCTTY)));
	CHECK_CALL(close(master));
	CHECK_ERRNO(open(link, O_RDWR | NOCTTY), EIO);
	other = open_master();
	CHECK(!strcmp(old, path));
	CHECK_ERRNO(open(link, O_RDWR | NOCTTY), EIO);
	CHECK_CALL(close(other));
}

/* A pair that is used again begins in the first column: there ONOCR sends no carriage return. */
static void from_the_first_column(void)
{
	int master = open_master(), slave = open_slave();
	struct termios t;
	char old[32];

	strcpy(old, path);
	type(slave, "abc");
	expect(master, "abc");
	CHECK_CALL(close(slave));
	CHECK_CALL(close(master));
	master = open_master();
	CHECK(!strcmp(old, path));
	slave = open_slave();
	CHECK_CALL(tcgetattr(slave, &t));
	t.c_oflag |= OPOST | NO_CR;
	CHECK_CALL(tcsetattr(slave, TCSANOW, &t));
	type(slave, "\rx\ry");
	expect(master, "x\ry");
}

/* The structure of System V's TCGETA: the lower halves of the flags, and the first eight keys. */
struct old_modes {
	unsigned short iflag, oflag, cflag, lflag;
	unsigned char line, keys[8];
};
enum { GETA = 0x5405, SETA, SETAW, SETAF, GET_LOCKED = 0x5456, SET_LOCKED };
/* Linux's own structure, of the kernel and not of the C library. */
struct kernel_modes {
	unsigned iflag, oflag, cflag, lflag;
	unsigned char line, keys[19];
};
enum { GETS = 0x5401, SETS };

static struct kernel_modes modes_of(int fd)
{
	struct kernel_modes m = {0};

	CHECK_CALL(ioctl(fd, GETS, &m));
	return m;
}

static void old_modes(void)
{
	int master = open_master(), slave = open_slave();
	struct kernel_modes all = modes_of(slave), now;
	struct old_modes old;

	memset(&old, 0x55, sizeof(old));
	CHECK_CALL(ioctl(slave, GETA, &old));
	CHECK_EQ(((unsigned char *)&old)[sizeof(old) - 1], 0); /* behind the keys */
	CHECK_EQ(old.iflag, all.iflag & 0xffff);
	CHECK_EQ(old.oflag, all.oflag & 0xffff);
	CHECK_EQ(old.lflag, all.lflag & 0xffff);
	CHECK(!memcmp(old.keys, all.keys, sizeof(old.keys)));
	old.lflag &= ~ECHO;
	old.keys[0] = 1; /* VINTR */
	CHECK_CALL(ioctl(slave, SETA, &old));
	now = modes_of(slave);
	CHECK_EQ(now.lflag, all.lflag & ~ECHO);
	CHECK_EQ(now.keys[0], 1);
	CHECK(!memcmp(now.keys + 8, all.keys + 8, 11)); /* what has no place in it stays */
	old.lflag |= ECHO;
	CHECK_CALL(ioctl(slave, SETAW, &old));
	CHECK_EQ(modes_of(slave).lflag, all.lflag);
	CHECK_CALL(ioctl(master, GETA, &old)); /* the master's are the slave's */
	CHECK_EQ(old.keys[0], 1);
	old.lflag &= ~(ECHO | ICANON);
	type(master, "thrown away");
	expect(master, "thrown away"); /* the echo: it has reached the slave */
	CHECK_CALL(ioctl(master, SETAF, &old));
	CHECK_EQ(modes_of(slave).lflag, all.lflag & ~(ECHO | ICANON));
	CHECK_CALL(fcntl(slave, F_SETFL, O_RDWR | NONBLOCK));
	CHECK_ERRNO(read(slave, &old, 1), EAGAIN);
	CHECK_ERRNO(ioctl(slave, GETA, 8), EFAULT);
	CHECK_ERRNO(ioctl(slave, SETA, 8), EFAULT);
}

/* A mode that is locked stays as it is, whoever sets it. */
static void locked_modes(void)
{
	int master = open_master(), slave = open_slave();
	struct kernel_modes all = modes_of(slave), locked = {.iflag = 1}, now;

	CHECK_CALL(ioctl(slave, GET_LOCKED, &locked));
	CHECK(!locked.iflag && !locked.lflag && !locked.keys[0]); /* nothing is */
	locked.lflag = ECHO;
	locked.keys[1] = 1; /* VQUIT */
	if (geteuid()) {
		CHECK_ERRNO(ioctl(slave, SET_LOCKED, &locked), EPERM);
		return;
	}
	CHECK_CALL(ioctl(master, SET_LOCKED, &locked));
	now = all;
	now.lflag &= ~(ECHO | ICANON);
	now.keys[0] = now.keys[1] = 2;
	CHECK_CALL(ioctl(slave, SETS, &now));
	now = modes_of(slave);
	CHECK_EQ(now.lflag, all.lflag & ~ICANON);
	CHECK_EQ(now.keys[0], 2);
	CHECK_EQ(now.keys[1], all.keys[1]);
	CHECK_CALL(ioctl(slave, GET_LOCKED, &now));
	CHECK_EQ(now.lflag, ECHO);
	CHECK_EQ(now.keys[1], 1);
	CHECK_ERRNO(ioctl(slave, SET_LOCKED, 8), EFAULT);
	CHECK_CALL(close(slave));
	CHECK_CALL(close(master));
	master = open_master(); /* another pair begins without locks */
	CHECK_CALL(ioctl(master, GET_LOCKED, &now));
	CHECK(!now.lflag && !now.keys[1]);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"lines", lines},
		{"counted", counted},
		{"modes-change", modes_change},
		{"floods", floods},
		{"not-blocking", not_blocking},
		{"sessions", sessions},
		{"foreground-job", foreground_job},
		{"not-opened-yet", not_opened_yet},
		{"slave-closed", slave_closed},
		{"not-shared", not_shared},
		{"not-reached", not_reached},
		{"from-the-first-column", from_the_first_column},
		{"old-modes", old_modes},
		{"locked-modes", locked_modes},
	};

	check_seconds = 20;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
