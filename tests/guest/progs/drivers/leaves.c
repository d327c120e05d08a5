/*
 * leaves WHAT [STATUS]: leaves the terminal on standard input in a state that no shell wants, and ends with
 * STATUS (0); -1: by SIGTERM.
 *
 * raw: without lines, echo and signals; nonblock: O_NONBLOCK on the open file; pgrp: its own process group in
 * the foreground, which then has no process any more; again: a child goes on setting O_NONBLOCK, a hundred
 * times, after the parent has ended.
 */
#include <vt.h>
#include <vt_term.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>

static void leave_raw(void)
{
	struct termios t;

	if (tcgetattr(STDIN_FILENO, &t) < 0)
		vt_die_errno(3, "tcgetattr");
	t.c_iflag &= ~(tcflag_t)ICRNL;
	t.c_oflag &= ~(tcflag_t)OPOST;
	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
	if (tcsetattr(STDIN_FILENO, TCSANOW, &t) < 0)
		vt_die_errno(3, "tcsetattr");
}

static void leave_nonblock(void)
{
	if (fcntl(STDIN_FILENO, F_SETFL, O_RDWR | O_NONBLOCK) < 0)
		vt_die_errno(3, "fcntl");
}

/* From the background: nobody is stopped who ignores SIGTTOU. */
static void leave_pgrp(void)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	pid_t group = getpgrp();

	if (sigaction(SIGTTOU, &ignore, NULL) < 0 || ioctl(STDIN_FILENO, TIOCSPGRP, &group) < 0)
		vt_die_errno(3, "foreground");
}

static void leave_again(void)
{
	struct timespec pause = {.tv_nsec = 10000000};

	if (fork())
		return;
	for (int i = 0; i < 100; i++) {
		leave_nonblock();
		nanosleep(&pause, NULL);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	long status = argc > 2 ? vt_number_or_die(3, argv[2], -1, 255) : 0;
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "raw"))
		leave_raw();
	else if (!strcmp(what, "nonblock"))
		leave_nonblock();
	else if (!strcmp(what, "pgrp"))
		leave_pgrp();
	else if (!strcmp(what, "again"))
		leave_again();
	else
		vt_die(3, "%s: nothing to leave", what);
	if (status < 0)
		raise(SIGTERM);
	return (int)status;
}
