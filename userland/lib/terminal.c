/*
 * Modes and size of terminals, and whether to use colours.
 *
 * A terminal edits and echoes lines in the kernel (ICANON, ECHO), turns keys such as ^C into signals
 * (ISIG), and Return into a newline (ICRNL). A program that reads single keys turns these off and must
 * put them back; vt_sane_modes() is the state to return to when one has not.
 */
#include <vt.h>
#include <vt_term.h>

/*
 * The keys that mean something: 3 is ^C, 28 is ^\, 127 is Backspace, 4 is ^D, 26 is ^Z. POSIX leaves
 * the values open; these are Linux's.
 */
static const cc_t sane_characters[NCCS] = {
	[VINTR] = 3,  [VQUIT] = 28, [VERASE] = 127,  [VKILL] = 21,    [VEOF] = 4,     [VMIN] = 1,    [VSTART] = 17,
	[VSTOP] = 19, [VSUSP] = 26, [VREPRINT] = 18, [VDISCARD] = 15, [VWERASE] = 23, [VLNEXT] = 22,
};

void vt_sane_modes(struct termios *t, bool utf8)
{
	t->c_iflag = BRKINT | ICRNL | IXON | IMAXBEL | (utf8 ? IUTF8 : 0);
	t->c_oflag = OPOST | ONLCR;
	t->c_cflag |= CREAD;
	t->c_lflag = ISIG | ICANON | IEXTEN | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE;
	memcpy(t->c_cc, sane_characters, sizeof(t->c_cc));
}

/*
 * The flag belongs to the open file, which all processes on the terminal share: one program that sets
 * it and dies would make the reads of every later one fail with EAGAIN.
 */
bool vt_set_blocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && flags & O_NONBLOCK && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0;
}

/* A serial line does not know the size of the window at its other end and says 0 by 0. */
struct winsize vt_terminal_size(int fd)
{
	struct winsize size = {0};

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || !size.ws_row)
		size.ws_row = 24;
	if (!size.ws_col)
		size.ws_col = 80;
	return size;
}

bool vt_colours(int fd)
{
	const char *wanted = getenv("CLICOLOR"), *term = getenv("TERM");

	return wanted && *wanted && !(term && !strcmp(term, "dumb")) && isatty(fd);
}

/* What WHEN of --color=WHEN asks for. Another word ends the program. */
static bool colours_when(const char *when, int bad_status)
{
	if (!strcmp(when, "always") || !strcmp(when, "yes"))
		return true;
	if (!strcmp(when, "never") || !strcmp(when, "no"))
		return false;
	if (strcmp(when, "auto"))
		vt_die(bad_status, "--color=%s: always, auto or never is wanted", when);
	return isatty(STDOUT_FILENO);
}

/*
 * A long option with an optional argument is beyond vt_option(); so it is taken out of argv before.
 * Words behind "--" are operands and stay.
 */
bool vt_colour_option(int *argc, char **argv, int bad_status)
{
	bool use = vt_colours(STDOUT_FILENO), options = true;
	int kept = 1;

	for (int i = 1; i < *argc; i++) {
		const char *word = argv[i], *when;
		size_t n = !strncmp(word, "--colour", 8) ? 8 : !strncmp(word, "--color", 7) ? 7 : 0;

		options &= strcmp(word, "--") != 0;
		if (!options || !n || (word[n] && word[n] != '=')) {
			argv[kept++] = argv[i];
			continue;
		}
		when = word[n] ? word + n + 1 : "auto";
		use = colours_when(when, bad_status);
	}
	argv[ *argc = kept] = NULL;
	return use;
}
