/*
 * ttyjobs: whose terminal it is, who may read, write and change it, and whom its signals reach. On the host's
 * Linux it is a pseudo terminal, in a guest the console's serial port, into which TIOCSTI types.
 */
/* also on Linux */
#include <posix.h>
#include <thread.h>
#include <sys/ioctl.h>
#include <termios.h>

#ifndef TIOCNOTTY
#endif

static char path[64];
static int tty;
static int *shared; /* what processes count for each other */
static volatile sig_atomic_t seen[NSIG];

static void on_signal(int sig, siginfo_t *info, void *context)
{
	seen[sig]++;
	__atomic_add_fetch(&shared[sig], 1, __ATOMIC_SEQ_CST);
}

#ifdef __linux__
static int keyboard; /* the pseudo terminal's other side */
#endif

static void find_terminal(void)
{
#ifdef __linux__
	keyboard = open("/dev/ptmx", O_RDWR | O_NOCTTY);
	CHECK_CALL(grantpt(keyboard));
	CHECK_CALL(unlockpt(keyboard));
	CHECK_CALL(ptsname_r(keyboard, path, sizeof(path)));
#else
	strcpy(path, access("/dev/ttyS0", F_OK) ? "/dev/ttyAMA0" : "/dev/ttyS0");
#endif
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void type(const char *text)
{
	for (; *text; text++)
#ifdef __linux__
		CHECK_EQ(write(keyboard, text, 1), 1);
#else
		CHECK_CALL(ioctl(tty, TIOCSTI, text));
#endif
}

/* No echo, which would be among the other output of a guest. */
static void set_mode(unsigned on, unsigned off)
{
	struct termios t;

	CHECK_CALL(tcgetattr(tty, &t));
	t.c_lflag = (t.c_lflag | ISIG | ICANON | on) & ~(ECHO | TOSTOP | NOFLSH | off);
	t.c_lflag |= on;
	CHECK_CALL(tcsetattr(tty, TCSANOW, &t));
}

/* Run f in a session of its own that has the terminal. */
static void in_session(void (*f)(void))
{
	struct termios old;
	pid_t pid;
	int status;

	find_terminal();
	tty = open(path, O_RDWR | O_NOCTTY);
	CHECK_CALL(tcgetattr(tty, &old));
	pid = check_fork();
	if (pid == 0) {
		CHECK_EQ(setsid(), getpid());
		close(tty);
		tty = open(path, O_RDWR);
		CHECK(tty >= 0);
		set_mode(0, 0);
		f();
		signal(SIGHUP, SIG_IGN);
		signal(SIGTTOU, SIG_IGN);
		tcsetpgrp(tty, getpgrp());
		fflush(stdout);
		_exit(check_failures ? 1 : 0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	signal(SIGTTOU, SIG_IGN);
	tcsetattr(tty, TCSAFLUSH, &old);
}

/* A member of the group pgid (0: its own) that runs f, which says with READY that it waits. */
enum { READY = NSIG, RESULT, ERROR, END };
static pid_t member(pid_t pgid, void (*f)(void))
{
	int ready = shared[READY];
	pid_t pid = check_fork();

	if (pid == 0) {
		setpgid(0, pgid);
		check_failures = 0;
		f();
		fflush(stdout);
		_exit(check_failures ? 1 : 0);
	}
	setpgid(pid, pgid ? pgid : pid);
	for (int i = 0; i < 5000 && shared[READY] == ready; i++)
		check_sleep(MS);
	return pid;
}

static void says_ready(void)
{
	__atomic_add_fetch(&shared[READY], 1, __ATOMIC_SEQ_CST);
}

static void counts(void)
{
	static const int sigs[] = {SIGINT, SIGQUIT, SIGTSTP, SIGHUP, SIGCONT, SIGWINCH};

	for (size_t i = 0; i < ARRAY_SIZE(sigs); i++)
		handle_with(sigs[i], on_signal, 0, NULL);
	says_ready();
	sleep_on();
}

static void wait_shared(int what, int n)
{
	for (int i = 0; i < 20000 && shared[what] < n; i++)
		check_sleep(MS);
	CHECK_EQ(shared[what], n);
}

/* --- whose it is --- */

static pid_t tty_session(void)
{
	pid_t sid = -1;

	return ioctl(tty, TIOCGSID, &sid) ? -1 : sid;
}

static void another_session(void)
{
	CHECK_EQ(setsid(), getpid());
	CHECK_ERRNO(open("/dev/tty", O_RDWR), ENXIO); /* it has none */
	CHECK_ERRNO(tcgetpgrp(tty), ENOTTY);
	CHECK_ERRNO(tcsetpgrp(tty, getpgrp()), ENOTTY);
	CHECK_EQ(tty_session(), -1);
	CHECK_ERRNO(ioctl(tty, TIOCSCTTY, 0), EPERM); /* it is another's */
	CHECK(open(path, O_RDWR) >= 0);		      /* which does not take it, either */
	CHECK_ERRNO(tcgetpgrp(tty), ENOTTY);
	CHECK_CALL(write(tty, "", 0));
}

static void no_leader(void)
{
	CHECK_CALL(ioctl(tty, TIOCNOTTY, 0)); /* for itself only */
	CHECK_ERRNO(open("/dev/tty", O_RDWR), ENXIO);
	CHECK_ERRNO(ioctl(tty, TIOCNOTTY, 0), ENOTTY);
	CHECK_ERRNO(ioctl(tty, TIOCSCTTY, 0), EPERM);
	CHECK(open(path, O_RDWR) >= 0);
	CHECK_ERRNO(tcgetpgrp(tty), ENOTTY);
}

static void owned(void)
{
	struct pollfd polled = {tty, POLLIN | POLLOUT, 0};
	int fd;

	CHECK_EQ(poll(&polled, 1, 5000),
		 1); /* nothing was typed, and there is room, as soon as earlier output has gone */
	CHECK_EQ(polled.revents, POLLOUT);
	CHECK_EQ(tcgetpgrp(tty), getpgrp());
	CHECK_EQ(tty_session(), getpid());
	CHECK_CALL(ioctl(tty, TIOCSCTTY, 0)); /* has it already */
	fd = open("/dev/tty", O_RDWR);
	CHECK(fd >= 0);
	CHECK_EQ(tcgetpgrp(fd), getpgrp());
	CHECK_EQ(check_in_child(another_session), 0);
	CHECK_EQ(check_in_child(no_leader), 0);
	CHECK_EQ(tcgetpgrp(tty), getpgrp());
	handle_with(SIGHUP, on_signal, 0, NULL);
	handle_with(SIGCONT, on_signal, 0, NULL);
	CHECK_CALL(ioctl(tty, TIOCNOTTY, 0)); /* the leader: for all */
	CHECK_EQ(seen[SIGHUP], 1);
	CHECK_EQ(seen[SIGCONT], 1);
	CHECK_ERRNO(open("/dev/tty", O_RDWR), ENXIO);
	CHECK_ERRNO(tcgetpgrp(tty), ENOTTY);
	handle_with(SIGINT, on_signal, 0, NULL);
	type("\x03"); /* there is no foreground group */
	check_sleep(10 * MS);
	CHECK_EQ(seen[SIGINT], 0);
	fd = open(path, O_RDWR | O_NOCTTY);
	CHECK_ERRNO(tcgetpgrp(fd), ENOTTY);
	CHECK_CALL(ioctl(tty, TIOCSCTTY, 0)); /* free again */
	CHECK_EQ(tcgetpgrp(tty), getpgrp());
}

static void whose(void)
{
	in_session(owned);
}

static void waits_for_end(void *arg)
{
	while (!shared[END])
		check_sleep(MS);
}

/* The terminal of a session whose only process has lost its first thread is not free. */
static void without_leader(void)
{
	pid_t pid;

	find_terminal();
	tty = open(path, O_RDWR | O_NOCTTY);
	CHECK(tty >= 0);
	pid = check_fork();
	if (pid == 0) {
		CHECK_EQ(setsid(), getpid());
		CHECK(open(path, O_RDWR) >= 0);
		CHECK_EQ(tty_session(), getpid());
		thread_start_in_group(waits_for_end, NULL);
		vt_syscall(SYS_exit, check_failures != 0, 0, 0, 0, 0, 0);
	}
	for (int i = 0; i < 5000 && thread_state(pid, pid) != 'Z'; i++)
		check_sleep(MS);
	CHECK_EQ(thread_state(pid, pid), 'Z');
	CHECK_EQ(check_in_child(another_session), 0);
	shared[END] = 1;
	CHECK_EQ(check_wait(pid), 0);
}

/* --- the foreground --- */

static void change_foreground(void)
{
	sigset_t ttou = SET_OF(SIGTTOU);

	says_ready();
	CHECK_CALL(tcsetpgrp(tty, getpgrp())); /* stops us first: we are in the background */
	shared[RESULT] = 1;
	CHECK_EQ(tcgetpgrp(tty), getpgrp());
	CHECK_CALL(tcsetpgrp(tty, getppid()));
	change_mask(SIG_BLOCK, ttou);
	CHECK_CALL(tcsetpgrp(tty, getpgrp())); /* in the background, and not to be stopped */
	CHECK_CALL(tcsetpgrp(tty, getppid()));
	change_mask(SIG_UNBLOCK, ttou);
	signal(SIGTTOU, SIG_IGN);
	CHECK_CALL(tcsetpgrp(tty, getpgrp()));
}

static void foregrounds(void)
{
	pid_t pid = member(0, change_foreground), other;
	int status;

	CHECK_EQ(news_of(pid, &status, WUNTRACED), pid);
	CHECK_EQ(status, SIGTTOU << 8 | 0x7f);
	CHECK_EQ(shared[RESULT], 0);
	CHECK_EQ(tcgetpgrp(tty), getpgrp());
	CHECK_CALL(tcsetpgrp(tty, pid));
	CHECK_CALL(kill(pid, SIGCONT));
	CHECK_EQ(news_of(pid, &status, WUNTRACED), pid);
	CHECK_EQ(status, 0);
	signal(SIGTTOU, SIG_IGN);
	CHECK_CALL(tcsetpgrp(tty, getpgrp()));
	CHECK_ERRNO(tcsetpgrp(tty, -5), EINVAL);
	CHECK_ERRNO(tcsetpgrp(tty, 0x3ffffff), ESRCH);
	CHECK_ERRNO(tcsetpgrp(tty, getppid()), EPERM); /* a group of another session */
	other = member(0, counts);
	CHECK_CALL(tcsetpgrp(tty, other));
	CHECK_EQ(tcgetpgrp(tty), other);
	finish(other);
}

static void foreground(void)
{
	in_session(foregrounds);
}

/* --- reading, writing and setting in the background --- */

static void reads(void)
{
	char line[16] = "";

	says_ready();
	CHECK_EQ(read(tty, line, sizeof(line)), 4);
	CHECK(!memcmp(line, "abc\n", 4));
}

static void reads_nothing(void)
{
	sigset_t ttin = SET_OF(SIGTTIN);
	char line[16];

	says_ready();
	signal(SIGTTIN, SIG_IGN);
	CHECK_ERRNO(read(tty, line, sizeof(line)), EIO);
	signal(SIGTTIN, SIG_DFL);
	change_mask(SIG_BLOCK, ttin);
	CHECK_ERRNO(read(tty, line, sizeof(line)), EIO);
}

static void writes(void)
{
	says_ready();
	CHECK_EQ(write(tty, "\n", 1), 1);
}

static void sets(void)
{
	struct termios t;

	says_ready();
	CHECK_CALL(tcgetattr(tty, &t)); /* looking is for everybody */
	CHECK_CALL(tcsetattr(tty, TCSANOW, &t));
}

static void drains(void)
{
	says_ready();
	CHECK_CALL(ioctl(tty, TCSBRK, 1)); /* tcdrain(3) */
}

static void writes_ignored(void)
{
	signal(SIGTTOU, SIG_IGN);
	writes();
	sets();
}

/* A group whose members have no parent outside of it in the session: nobody would continue it. */
static void orphan(void)
{
	struct termios t;
	char line[16];

	setpgid(0, 0);
	says_ready();
	while (getppid() == shared[RESULT])
		check_sleep(MS);
	CHECK_ERRNO(read(tty, line, sizeof(line)), EIO);
	CHECK_ERRNO(write(tty, "\n", 1), EIO);
	CHECK_CALL(tcgetattr(tty, &t));
	CHECK_ERRNO(tcsetattr(tty, TCSANOW, &t), EIO);
	CHECK_ERRNO(ioctl(tty, TCSBRK, 1), EIO);
	CHECK_ERRNO(tcsetpgrp(tty, getpgrp()), ENOTTY); /* Linux says so of this one */
	shared[ERROR] = check_failures ? 1 : 2;
}

static void leaves_orphan(void)
{
	shared[RESULT] = getpid();
	member(0, orphan);
}

static void stops(void (*f)(void), int sig)
{
	pid_t pid = member(0, f);
	int status = 0;

	CHECK_EQ(news_of(pid, &status, WUNTRACED), pid);
	if (!sig) {
		CHECK_EQ(status, 0);
		return;
	}
	CHECK_EQ(status, sig << 8 | 0x7f);
	CHECK_CALL(tcsetpgrp(tty, pid));
	CHECK_CALL(kill(pid, SIGCONT));
	if (sig == SIGTTIN) {
		process_gets(pid, 'S'); /* the read goes on, and waits for a line */
		type("abc\n");
	}
	CHECK_EQ(news_of(pid, &status, WUNTRACED), pid);
	CHECK_EQ(status, 0);
	signal(SIGTTOU, SIG_IGN);
	CHECK_CALL(tcsetpgrp(tty, getpgrp()));
	signal(SIGTTOU, SIG_DFL);
}

/* The whole group of who reads stops. */
static void stops_group(void)
{
	pid_t a = member(0, counts), b = member(a, reads);
	int status = 0;

	CHECK_EQ(news_of(b, &status, WUNTRACED), b);
	CHECK_EQ(status, SIGTTIN << 8 | 0x7f);
	process_gets(a, 'T');
	CHECK_EQ(waitpid(a, &status, WUNTRACED | WNOHANG), a);
	CHECK_EQ(status, SIGTTIN << 8 | 0x7f);
	finish(a);
	finish(b);
}

static void backgrounds(void)
{
	stops_group();
	stops(reads, SIGTTIN);
	stops(reads_nothing, 0);
	stops(writes, 0);
	stops(sets, SIGTTOU);
	stops(drains, SIGTTOU);
	set_mode(TOSTOP, 0);
	stops(writes, SIGTTOU);
	stops(writes_ignored, 0);
	CHECK_EQ(check_in_child(leaves_orphan), 0);
	wait_shared(ERROR, 2);
}

static void background(void)
{
	in_session(backgrounds);
}

/* --- keys --- */

static void keys(void)
{
	static const struct {
		const char *key;
		int sig;
	} rows[] = {{"\x03", SIGINT}, {"\x1c", SIGQUIT}, {"\x1a", SIGTSTP}};
	pid_t a, b, c;
	char line[16];

	signal(SIGTTOU, SIG_IGN);
	a = member(0, counts);
	b = member(a, counts);
	c = member(0, counts);
	handle_with(SIGINT, on_signal, 0, NULL);
	CHECK_CALL(tcsetpgrp(tty, a));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		type(rows[i].key);
		wait_shared(rows[i].sig, 2); /* the foreground's two, not c and not us */
	}
	CHECK_EQ(seen[SIGINT], 0);
	CHECK_EQ(shared[SIGHUP] + shared[SIGCONT], 0);
	CHECK_CALL(tcsetpgrp(tty, getpgrp()));
	type("gone\x03"
	     "left\n"); /* what was typed before is forgotten */
	wait_shared(SIGINT, 3);
	CHECK_EQ(read(tty, line, sizeof(line)), 5);
	CHECK(!memcmp(line, "left\n", 5));
	set_mode(NOFLSH, 0);
	type("kept\x03"
	     "left\n");
	wait_shared(SIGINT, 4);
	CHECK_EQ(read(tty, line, sizeof(line)), 9);
	CHECK(!memcmp(line, "keptleft\n", 9));
	set_mode(0, ISIG);
	type("\x03\n");
	CHECK_EQ(read(tty, line, sizeof(line)), 2);
	CHECK_EQ(line[0], 3);
	CHECK_EQ(shared[SIGINT], 4);
	finish(a);
	finish(b);
	finish(c);
}

static void typed(void)
{
	in_session(keys);
}

static void sized(void)
{
	struct winsize old, size;
	pid_t pid = member(0, counts);

	CHECK_CALL(ioctl(tty, TIOCGWINSZ, &old));
	CHECK_CALL(tcsetpgrp(tty, pid));
	CHECK_CALL(ioctl(tty, TIOCSWINSZ, &old)); /* nothing new */
	check_sleep(10 * MS);
	CHECK_EQ(shared[SIGWINCH], 0);
	size = old;
	size.ws_row++;
	CHECK_CALL(ioctl(tty, TIOCSWINSZ, &size));
	wait_shared(SIGWINCH, 1);
	CHECK_CALL(ioctl(tty, TIOCSWINSZ, &old));
	wait_shared(SIGWINCH, 2);
	finish(pid);
}

static void window(void)
{
	in_session(sized);
}

/* A read that a signal interrupts: again with SA_RESTART, else EINTR. */
static void reads_on(void)
{
	pid_t me = getpid(), pid;
	char line[16];

	for (int flags = 0; flags <= SA_RESTART; flags += SA_RESTART) {
		handle_with(SIGUSR1, on_signal, flags, NULL);
		pid = check_fork();
		if (pid == 0) {
			process_gets(me, 'S');
			kill(me, SIGUSR1);
			process_gets(me, 'S');
			if (flags)
				type("x\n");
			_exit(!!check_failures);
		}
		if (flags)
			CHECK_EQ(read(tty, line, sizeof(line)), 2);
		else
			CHECK_ERRNO(read(tty, line, sizeof(line)), EINTR);
		CHECK_EQ(check_wait(pid), 0);
	}
	CHECK_EQ(seen[SIGUSR1], 2);
}

static void interrupted(void)
{
	in_session(reads_on);
}

/* --- the end of a session --- */

static void leader(void)
{
	signal(SIGTTOU, SIG_IGN);
	shared[RESULT] = member(0, counts);
	shared[ERROR] = member(0, counts);
	CHECK_CALL(tcsetpgrp(tty, shared[RESULT]));
	_exit(check_failures ? 1 : 0);
}

/* The foreground is told that the terminal is gone, the others are not, and the next session may have it. */
static void last(void)
{
	pid_t pid;

	find_terminal();
	tty = open(path, O_RDWR | O_NOCTTY);
	pid = check_fork();
	if (pid == 0) {
		setsid();
		tty = open(path, O_RDWR);
		leader();
	}
	CHECK_EQ(check_wait(pid), 0);
	wait_shared(SIGHUP, 1);
	check_sleep(10 * MS);
	CHECK_EQ(shared[SIGHUP], 1);
	CHECK_EQ(shared[SIGCONT], 0);
	pid = check_fork();
	if (pid == 0) {
		setsid();
		CHECK_CALL(ioctl(tty, TIOCSCTTY, 0));
		CHECK_EQ(tcgetpgrp(tty), getpid());
		_exit(check_failures ? 1 : 0);
	}
	CHECK_EQ(check_wait(pid), 0);
	kill(shared[RESULT], SIGKILL);
	kill(shared[ERROR], SIGKILL);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"whose", whose},
		{"without-leader", without_leader},
		{"foreground", foreground},
		{"background", background},
		{"typed", typed},
		{"window", window},
		{"interrupted", interrupted},
		{"hang-up", last},
	};

	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
