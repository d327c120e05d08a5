/*
 * Bytes of the terminal into keys, and what the terminal says itself: its size, and where a pasted text
 * begins and ends.
 *
 * A serial line does not tell how large the terminal at its other end is, so it is asked. The answer is a control
 * sequence like that of a key and is taken when it comes. Nobody waits for it: the terminal may not be there at all (a
 * program types, or what we write goes into a file). The question is put when the editor has
 * begun to read and nothing waits to be read, so the answer stands in front of what is typed as a reply to
 * the prompt. It can reach a program only when a whole line was typed before the terminal had seen the
 * question. A terminal that has answered is one: from then on it is asked to mark what is pasted, and
 * $CLICOLOR lets programs use colours. TERM=dumb says that there is no terminal to ask.
 */
#include "keys.h"
#include <ctype.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <vt_term.h>

#define PASTE_END "\033[201~"

static bool asked, answered;
static volatile sig_atomic_t size_changed;
static struct sigaction before; /* what SIGWINCH does while no line is edited */
static void (*on_resize)(void *arg);
static void *resize_arg;
static int unread = -1;

static void on_winch(int sig)
{
	size_changed = 1;
}

void key_begin(void (*resized)(void *arg), void *arg)
{
	/* Without SA_RESTART: read() is to come back. */
	struct sigaction act = {.sa_handler = on_winch};

	on_resize = resized;
	resize_arg = arg;
	if (sigaction(SIGWINCH, &act, &before) < 0)
		vt_warn_errno("sigaction");
}

void key_end(void)
{
	if (sigaction(SIGWINCH, &before, NULL) < 0)
		vt_warn_errno("sigaction");
}

void key_unread(int byte)
{
	unread = byte;
}

/* One byte at a time, so that what was typed ahead stays for the program that is started next. */
int key_byte(void)
{
	unsigned char c;
	ssize_t n;

	if (unread >= 0) {
		c = (unsigned char)unread;
		unread = -1;
		return c;
	}
	do {
		if (size_changed) {
			size_changed = 0;
			on_resize(resize_arg);
		}
		/* A ^C that came before the terminal was switched arrives as a signal. */
		n = sh.interrupted ? -1 : terminal_read(STDIN_FILENO, &c, 1);
	} while (n < 0 && errno == EINTR && !sh.interrupted);
	if (sh.interrupted)
		return CTRL_C;
	return n == 1 ? c : -1;
}

/* The bytes of a key come together; 50 ms are enough for a slow line. A byte that begins no sequence stays a key. */
bool key_follows(void)
{
	struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
	int c;

	if (unread < 0 && poll(&wait, 1, 50) != 1)
		return false;
	c = key_byte();
	key_unread(c);
	return c == '[' || c == 'O';
}

/*
 * A serial line does not say how large the terminal at its other end is, or whether there is one.
 * So the shell writes a question (move to the far corner, CSI 6n, move back) before its first
 * prompt and goes on. The answer is a control sequence in the input, which the line editor takes as
 * it takes a cursor key, whenever it comes. No time is right to wait: a slow link needs seconds,
 * and a script at the other end never answers.
 *
 * Three things keep the answer from a program's input. The question is put only when nothing waits
 * to be read. What a person types as a reply to the prompt comes behind the answer, since the
 * terminal answers before it draws the prompt. What is not a terminal does not answer. What is
 * left is a whole line that was typed after the shell had looked and before the terminal had seen
 * the question, whose program reads its input.
 *
 * `vrun --interactive` without a terminal passes TERM=dumb, and then nothing is asked. What depends
 * on a terminal that interprets sequences (marked pastes, $CLICOLOR) begins with the answer, so
 * that output into a file or a pipe has none of it.
 */
void key_ask_size(void)
{
	const char *term = var_get("TERM");
	int waiting = 0;

	if (asked || (term && !strcmp(term, "dumb")) || ioctl(STDIN_FILENO, FIONREAD, &waiting) < 0 || waiting)
		return;
	asked = true;
	terminal_write(VT_ASK_SIZE, sizeof(VT_ASK_SIZE) - 1);
}

void key_mark_pastes(bool on)
{
	if (answered)
		terminal_write(on ? "\033[?2004h" : "\033[?2004l", 8);
}

/* The terminal has so many rows and columns. The kernel sends SIGWINCH if it knew that otherwise, to this
 * process too; of a pseudo-terminal that has no size yet it knew 0 by 0. */
static void take_answer(unsigned rows, unsigned columns)
{
	struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};

	if (ioctl(STDIN_FILENO, TIOCSWINSZ, &size) < 0)
		vt_warn_errno("the terminal's size");
	if (answered)
		return;
	answered = true;
	key_mark_pastes(true);
	if (!var_get("CLICOLOR")) {
		var_set("CLICOLOR", "1");
		var_export("CLICOLOR");
	}
}

/* Keys whose sequence ends with a tilde. */
static int numbered_key(unsigned number)
{
	static const struct {
		unsigned number;
		int key;
	} keys[] = {{1, KEY_HOME}, {3, KEY_DELETE}, {4, KEY_END}, {7, KEY_HOME}, {8, KEY_END}, {200, KEY_PASTE}};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (keys[i].number == number)
			return keys[i].key;
	}
	return KEY_NONE;
}

/*
 * What follows an ESC: a key that sends several bytes, or the terminal's answer to a question about the cursor.
 * KEY_NONE: nothing that we know.
 */
int key_sequence(void)
{
	static const char letters[] = "ABCDHF";
	static const int keys[] = {KEY_UP, KEY_DOWN, KEY_RIGHT, KEY_LEFT, KEY_HOME, KEY_END};
	unsigned number[2] = {0}, which = 0;
	int c = key_byte();
	const char *known;

	/* CSI, or SS3, which keypads in application mode send. */
	if (c != '[' && c != 'O')
		return KEY_NONE;
	for (c = key_byte(); isdigit(c) || c == ';'; c = key_byte()) {
		/* After a semicolon come modifiers of a key, which are not told apart. */
		if (c == ';')
			which = 1;
		else if (number[which] < 10000)
			number[which] = number[which] * 10 + (unsigned)(c - '0');
	}
	/* One row is what F3 with a modifier looks like. */
	if (c == 'R' && number[0] > 1 && number[1] > 1 && number[0] < 10000 && number[1] < 10000)
		take_answer(number[0], number[1]);
	known = c > 0 ? strchr(letters, c) : NULL;
	if (known)
		return keys[known - letters];
	return c == '~' ? numbered_key(number[0]) : KEY_NONE;
}

/*
 * Text between the marks of a bracketed paste, in one piece, so that pasted lines are not run one by one. NULL: the
 * input ended, or Ctrl-C. The caller frees it.
 */
char *key_paste(void)
{
	size_t n = 0, size = 256, end = 0;
	char *text = vt_malloc(size);
	int c = 0;

	while (end < sizeof(PASTE_END) - 1) {
		bool after_return = c == RETURN;

		c = key_byte();

		if (c < 0 || c == CTRL_C) {
			free(text);
			return NULL;
		}
		/* A sequence that is not the end has no business in a command; its letters stay. */
		end = c == PASTE_END[end] ? end + 1 : c == PASTE_END[0];
		/* Terminals send a line's end as the key would: RETURN, or both. */
		if ((c < ' ' && c != TAB && c != LINE_FEED && c != RETURN) || c == DELETE ||
		    (c == LINE_FEED && after_return))
			continue;
		if (n + 2 > size)
			text = vt_realloc(text, size *= 2);
		text[n++] = c == RETURN ? '\n' : (char)c;
	}
	/* Of the end's sequence all but ESC was taken for text. */
	n -= sizeof(PASTE_END) - 2;
	while (n && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	return text;
}
