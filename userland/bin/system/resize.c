/*
 * resize: ask the terminal how large it is, and tell the kernel.
 *
 * The window of a terminal emulator may change its size at any time, and a serial line tells nobody. What is
 * printed is for `eval $(resize)`, as xterm's program of this name prints it. A terminal that does not answer
 * leaves everything as it was.
 *
 *     program: ESC 7, ESC [ 999;999 H, ESC [ 6n, ESC 8        go to the far corner, ask where that is, come back
 *     terminal:                     ESC [ 24 ; 80 R           as if it had been typed
 */
#include <vt.h>
#include <vt_term.h>
#include <poll.h>
#include <time.h>

#define WAIT_MS 2000 /* for an answer: what lies between may be slow */

static struct termios cooked;
static int terminal;

static void restore(void)
{
	if (tcsetattr(terminal, TCSADRAIN, &cooked) < 0)
		vt_warn_errno("terminal");
}

/* Bytes one by one, without echo. ^C still ends the program. */
static void take_terminal(void)
{
	struct termios raw;

	if (tcgetattr(terminal, &cooked) < 0)
		vt_die_errno(1, "terminal");
	raw = cooked;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(terminal, TCSADRAIN, &raw) < 0)
		vt_die_errno(1, "terminal");
}

/*
 * Put what somebody has typed while this program waited back into the terminal's input, for the shell.
 */
static void give_back(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ioctl(terminal, TIOCSTI, &s[i]) < 0) {
			vt_warn_errno("what was typed meanwhile is lost");
			return;
		}
	}
}

/*
 * Look for the answer ESC [ ROWS ; COLUMNS R at the end of the n bytes at s. It is read backwards, as
 * keys may stand in front of it. Returns its length, or 0 when it is not complete.
 */
static size_t answer(const char *s, size_t n, struct winsize *size)
{
	unsigned long number[2] = {0};
	size_t at = n;
	int which = 1;

	if (!n || s[--at] != 'R')
		return 0;
	for (unsigned long unit = 1; at && ((s[at - 1] >= '0' && s[at - 1] <= '9') || s[at - 1] == ';'); at--) {
		if (s[at - 1] == ';') {
			if (--which < 0)
				return 0;
			unit = 1;
			continue;
		}
		number[which] += (unsigned long)(s[at - 1] - '0') * unit;
		unit *= 10;
	}
	if (which || at < 2 || s[at - 1] != '[' || s[at - 2] != '\033' || !number[0] || !number[1])
		return 0;
	size->ws_row = (unsigned short)number[0];
	size->ws_col = (unsigned short)number[1];
	return n - at + 2;
}

/*
 * Ask the terminal and wait for at most WAIT_MS. Returns whether it has answered. Keys may come before
 * the answer; they are what is given back.
 */
static bool ask(struct winsize *size)
{
	struct pollfd wait = {.fd = terminal, .events = POLLIN};
	struct timespec start, now;
	char typed[256];
	size_t n = 0, length = 0;

	if (clock_gettime(CLOCK_MONOTONIC, &start) < 0 ||
	    vt_write_all(terminal, VT_ASK_SIZE, sizeof(VT_ASK_SIZE) - 1) < 0)
		return false;
	while (!length && n < sizeof(typed)) {
		int left;

		clock_gettime(CLOCK_MONOTONIC, &now);
		left = WAIT_MS - (int)(vt_elapsed(&start, &now) / 1000);
		if (left <= 0 || poll(&wait, 1, left) <= 0 || vt_read(terminal, typed + n, 1) != 1)
			break;
		length = answer(typed, ++n, size);
	}
	give_back(typed, n - length);
	return length != 0;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "resize", .options = "", .bad_status = 2};
	struct winsize size;
	bool answered;

	if (vt_option(&o, argc, argv) != -1 || o.index != argc)
		vt_usage(&o);
	terminal = open("/dev/tty", O_RDWR);
	if (terminal < 0)
		vt_die_errno(1, "/dev/tty");
	size = vt_terminal_size(terminal);
	take_terminal();
	answered = ask(&size);
	restore();
	if (!answered)
		vt_die(1, "the terminal does not answer; stty rows N cols N sets the size by hand");
	if (ioctl(terminal, TIOCSWINSZ, &size) < 0)
		vt_die_errno(1, "cannot set the size");
	printf("COLUMNS=%d;\nLINES=%d;\nexport COLUMNS LINES;\n", size.ws_col, size.ws_row);
	return vt_finish(0);
}
