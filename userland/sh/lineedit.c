/*
 * Editing a line on a terminal that knows a few of ECMA-48's control sequences.
 *
 * The line is one long text that the terminal wraps into rows; place n of it (counted from the start
 * of the prompt) is in row n / columns. No terminal is asked what it can do; carriage return, cursor
 * up, down and right and erase to the end of the screen are understood by all. Keys are emacs's, as
 * in bash; the terminal is in raw mode only while a line is edited, so that programs find it as it
 * was. Left out: a line taller than the screen, undo, a kill buffer, bytes above 127 as more than
 * one column.
 */
#include "sh.h"
#include <ctype.h>
#include <sys/ioctl.h>
#include <termios.h>

/* One line being edited. */
struct edit {
	const char *prompt;  /* not owned */
	size_t prompt_width; /* after its last newline */
	char *buf;	     /* owned until it is handed to the caller */
	size_t n, at, size;  /* bytes, place of the cursor, room in buf */
	size_t history;	     /* entry shown; history_count(): the line being typed */
	char *draft;	     /* that line, while an entry is shown */
	size_t columns;	     /* of the terminal */
	size_t row;	     /* the cursor is in, counted from the prompt's */
	int tabs;	     /* pressed in a row */
};

enum {
	CTRL_A = 1,
	CTRL_B,
	CTRL_C,
	CTRL_D,
	CTRL_E,
	CTRL_F,
	BELL = 7,
	CTRL_H,
	TAB,
	LINE_FEED,
	CTRL_K,
	CTRL_L,
	RETURN,
	CTRL_N,
	CTRL_P = 16,
	CTRL_R = 18,
	CTRL_U = 21,
	CTRL_W = 23,
	ESCAPE = 27,
	DELETE = 127,
	KEY_UP = 256,
	KEY_DOWN,
	KEY_RIGHT,
	KEY_LEFT,
	KEY_HOME,
	KEY_END,
	KEY_DELETE,
	KEY_NONE
};

/* A terminal that takes no more output is met again at the next read. */
static void put(const char *s, size_t n)
{
	vt_write_all(STDOUT_FILENO, s, n);
}

static void put_string(const char *s)
{
	put(s, strlen(s));
}

#define SEARCH_SIZE 64 /* bytes of what ^R looks for */

/* One byte, so that what was typed ahead stays for the program that is started next. Returns -1 at the end.
 */
static int get(void)
{
	unsigned char c;
	ssize_t n;

	/* A ^C that came before the terminal was switched arrives as a signal. */
	do
		n = sh.interrupted ? -1 : read(STDIN_FILENO, &c, 1);
	while (n < 0 && errno == EINTR && !sh.interrupted);
	if (sh.interrupted)
		return CTRL_C;
	return n == 1 ? c : -1;
}

/* Room for n bytes, a newline and a zero. */
static void reserve(struct edit *e, size_t n)
{
	if (n + 2 > e->size)
		e->buf = vt_realloc(e->buf, e->size = (n + 2) * 2);
}

/* The part of the prompt that shares its row with the line. */
static const char *last_prompt_row(const char *prompt)
{
	const char *newline = strrchr(prompt, '\n');

	return newline ? newline + 1 : prompt;
}

/* A control sequence that moves the cursor; count 0 must not be sent, it means 1. */
static void move_cursor(size_t count, char direction)
{
	char sequence[24];

	if (count == 0)
		return;
	sprintf(sequence, "\033[%d%c", (int)count, direction);
	put_string(sequence);
}

/*
 * After text that ends at `place`. At the end of a row the cursor of most terminals waits in the last
 * column for what comes; a blank makes it wrap, so that it is where the arithmetic says.
 */
static void text_ends(struct edit *e, size_t place)
{
	if (place && place % e->columns == 0)
		put_string(" \r");
	e->row = place / e->columns;
}

static void put_cursor(struct edit *e, size_t place)
{
	size_t row = place / e->columns;

	if (row < e->row)
		move_cursor(e->row - row, 'A');
	else
		move_cursor(row - e->row, 'B');
	put_string("\r");
	move_cursor(place % e->columns, 'C');
	e->row = row;
}

/* Draw over what was drawn before: prompt and n bytes of text, the cursor at byte `at` of it. */
static void draw(struct edit *e, const char *prompt, const char *text, size_t n, size_t at)
{
	size_t width = strlen(prompt);

	put_cursor(e, 0);
	put_string(prompt);
	put(text, n);
	text_ends(e, width + n);
	put_string("\033[J");
	if (at < n)
		put_cursor(e, width + at);
}

static void redraw(struct edit *e)
{
	draw(e, last_prompt_row(e->prompt), e->buf, e->n, e->at);
}

/* What was drawn stays; the cursor goes to an empty row below it. */
static void leave_line(struct edit *e, const char *mark)
{
	size_t end = e->prompt_width + e->n;

	if (e->at < e->n)
		put_cursor(e, end);
	put_string(mark);
	/* Text that filled its row has an empty one below it already. */
	if (*mark || end == 0 || end % e->columns)
		put_string("\n");
	e->row = 0;
}

static void insert(struct edit *e, const char *s, size_t n)
{
	bool at_end = e->at == e->n;

	reserve(e, e->n + n);
	memmove(e->buf + e->at + n, e->buf + e->at, e->n - e->at);
	memcpy(e->buf + e->at, s, n);
	e->n += n;
	e->at += n;
	/* The common case, and what keeps a pasted page cheap: nothing but the new text is written. */
	if (at_end) {
		put(s, n);
		text_ends(e, e->prompt_width + e->n);
	} else {
		redraw(e);
	}
}

/* Take away what lies between two places. */
static void cut(struct edit *e, size_t from, size_t to)
{
	memmove(e->buf + from, e->buf + to, e->n - to);
	e->n -= to - from;
	e->at = from;
	redraw(e);
}

/* Replace all of it, with the cursor at the end. */
static void set_line(struct edit *e, const char *text)
{
	size_t n = strlen(text);

	reserve(e, n);
	memcpy(e->buf, text, n);
	e->n = e->at = n;
	redraw(e);
}

static void move(struct edit *e, size_t to)
{
	e->at = to;
	put_cursor(e, e->prompt_width + to);
}

/* One entry up or down; the line being typed is kept as the newest. */
static void browse(struct edit *e, int step)
{
	size_t count = history_count();

	if ((step < 0 && e->history == 0) || (step > 0 && e->history == count))
		return;
	/* Leaving the line being typed: it must be there when browsing comes back down. */
	if (e->history == count) {
		free(e->draft);
		e->buf[e->n] = '\0';
		e->draft = vt_strdup(e->buf);
	}
	/* step -1 wraps round to a subtraction, as size_t arithmetic does. */
	e->history += (size_t)step;
	set_line(e, e->history == count ? e->draft : history_get(e->history));
}

/* The newest entry before `before` that contains text. Returns history_count() if none does. */
static size_t search_back(const char *text, size_t before)
{
	while (before-- > 0) {
		if (strstr(history_get(before), text))
			return before;
	}
	return history_count();
}

/* In the place of the prompt, in the way of bash. */
static void show_search(struct edit *e, const char *text, size_t found)
{
	const char *entry = found < history_count() ? history_get(found) : "";
	char prompt[SEARCH_SIZE + 16];

	sprintf(prompt, "(search) '%s': ", text);
	draw(e, prompt, entry, strlen(entry), strlen(entry));
}

/* ^R: type a part of an entry, ^R again for older ones. Returns the key that ended it, to be done on what was
 * found. */
static int search(struct edit *e)
{
	size_t found = history_count(), n = 0;
	char text[SEARCH_SIZE] = "";
	int c;

	for (;;) {
		show_search(e, text, found);
		c = get();
		if (c == CTRL_R && found < history_count()) {
			/* Nothing older: what is shown stays. */
			size_t older = search_back(text, found);

			found = older < history_count() ? older : found;
		} else if ((c == CTRL_H || c == DELETE) && n) {
			text[--n] = '\0';
			found = search_back(text, history_count());
		} else if (c >= ' ' && c < DELETE && n + 1 < sizeof(text)) {
			text[n++] = (char)c;
			text[n] = '\0';
			found = search_back(text, history_count());
		} else if (c != CTRL_R) {
			break;
		}
	}
	if (c != CTRL_C && found < history_count())
		set_line(e, history_get(found));
	else
		redraw(e);
	/* ^C and Escape only leave the search; any other key does its work on the line. */
	return c == CTRL_C || c == ESCAPE ? KEY_NONE : c;
}

/* Length that all names have in common. */
static size_t common_prefix(char **names)
{
	size_t n = strlen(names[0]);

	for (size_t i = 1; names[i]; i++) {
		size_t same = 0;

		while (same < n && names[i][same] == names[0][same])
			same++;
		n = same;
	}
	return n;
}

/* Left to right, as wide as each is: completion lists are short. */
static void list_names(struct edit *e, char **names)
{
	size_t used = 0;

	leave_line(e, "");
	for (; *names; names++) {
		size_t n = strlen(*names);

		if (used && used + n + 2 > e->columns) {
			put_string("\r\n");
			used = 0;
		}
		put(*names, n);
		put_string("  ");
		used += n + 2;
	}
	put_string("\r\n");
	redraw(e);
}

/* One match is put in; of several the common part, and at the second tab they are listed. */
static void complete(struct edit *e)
{
	size_t start, typed, common;
	char **names;

	/* reserve() keeps room for it. */
	e->buf[e->n] = '\0';
	names = complete_word(e->buf, e->at, &start);
	typed = e->at - start;
	if (names[0]) {
		common = common_prefix(names);
		if (common > typed) {
			insert(e, names[0] + typed, common - typed);
			e->tabs = 0;
		}
		/* A directory may go on; anything else is a finished word. */
		if (!names[1] && e->buf[e->at - 1] != '/')
			insert(e, " ", 1);
		else if (names[1] && e->tabs > 1)
			list_names(e, names);
	}
	for (char **name = names; *name; name++)
		free(*name);
	free(names);
}

/* The rest of a control sequence: letters, or a number and a tilde. */
static int escape_key(void)
{
	static const char letters[] = "ABCDHF";
	static const int keys[] = {KEY_UP, KEY_DOWN, KEY_RIGHT, KEY_LEFT, KEY_HOME, KEY_END};
	int c = get(), number = 0;
	const char *known;

	/* CSI, or SS3, which keypads in application mode send. */
	if (c != '[' && c != 'O')
		return KEY_NONE;
	for (c = get(); isdigit(c) || c == ';'; c = get())
		/* After a semicolon come modifiers, which are not told apart. */
		number = c == ';' ? 0 : number * 10 + c - '0';
	known = c > 0 ? strchr(letters, c) : NULL;
	if (known)
		return keys[known - letters];
	if (c != '~')
		return KEY_NONE;
	if (number == 3)
		return KEY_DELETE;
	return number == 1 || number == 7 ? KEY_HOME : number == 4 || number == 8 ? KEY_END : KEY_NONE;
}

/* Back over blanks, then over what is not blank: the terminal's own idea of a word. */
static void erase_word(struct edit *e)
{
	size_t from = e->at, to = e->at;

	while (from > 0 && e->buf[from - 1] == ' ')
		from--;
	while (from > 0 && e->buf[from - 1] != ' ')
		from--;
	cut(e, from, to);
}

/* Keys that move or take away. */
static void edit_key(struct edit *e, int c)
{
	switch (c) {
	case CTRL_A:
	case KEY_HOME:
		move(e, 0);
		break;
	case CTRL_E:
	case KEY_END:
		move(e, e->n);
		break;
	case CTRL_B:
	case KEY_LEFT:
		if (e->at)
			move(e, e->at - 1);
		break;
	case CTRL_F:
	case KEY_RIGHT:
		if (e->at < e->n)
			move(e, e->at + 1);
		break;
	case CTRL_H:
	case DELETE:
		if (e->at)
			cut(e, e->at - 1, e->at);
		break;
	case CTRL_D:
	case KEY_DELETE:
		if (e->at < e->n)
			cut(e, e->at, e->at + 1);
		break;
	case CTRL_K:
		cut(e, e->at, e->n);
		break;
	case CTRL_U:
		cut(e, 0, e->at);
		break;
	case CTRL_W:
		erase_word(e);
		break;
	case CTRL_L:
		put_string("\033[H\033[2J");
		e->row = 0;
		redraw(e);
		break;
	case CTRL_P:
	case KEY_UP:
		browse(e, -1);
		break;
	case CTRL_N:
	case KEY_DOWN:
		browse(e, 1);
		break;
	}
}

/* Until a line is finished. Returns false at the end of input. */
static bool edit_line(struct edit *e)
{
	for (;;) {
		int c = get();

		if (c == ESCAPE)
			c = escape_key();
		if (c == CTRL_R)
			c = search(e);
		e->tabs = c == TAB ? e->tabs + 1 : 0;
		/* ^D on an empty line is the end of input, otherwise a delete. */
		if (c < 0 || (c == CTRL_D && e->n == 0)) {
			leave_line(e, "");
			return false;
		}
		if (c == RETURN || c == LINE_FEED) {
			leave_line(e, "");
			return true;
		}
		/* In raw mode ^C is a byte like any other, not a signal. */
		if (c == CTRL_C) {
			leave_line(e, "^C");
			e->n = 0;
			sh.interrupted = 1;
			return true;
		}
		if (c == TAB) {
			complete(e);
		} else if (c >= ' ' && c < 256 && c != DELETE) {
			char byte = (char)c;

			insert(e, &byte, 1);
		} else {
			edit_key(e, c);
		}
	}
}

/* A console that cannot be switched to single bytes edits its lines itself. */
static bool plain_line(struct edit *e)
{
	int c;

	while ((c = get()) >= 0 && c != '\n' && !sh.interrupted) {
		reserve(e, e->n + 1);
		e->buf[e->n++] = (char)c;
	}
	return c >= 0 || e->n;
}

/* Rows and columns that the terminal does not tell are taken for 80. */
static size_t terminal_columns(void)
{
	struct winsize size = {0};

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return 80;
}

char *lineedit_read(const char *prompt)
{
	struct edit e = {.prompt = prompt, .history = history_count(), .columns = terminal_columns()};
	struct termios cooked, raw;
	bool line;

	reserve(&e, 64);
	e.prompt_width = strlen(last_prompt_row(prompt));
	if (tcgetattr(STDIN_FILENO, &cooked) < 0) {
		put_string(prompt);
		line = plain_line(&e);
	} else {
		raw = cooked;
		raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IXON);
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
		raw.c_cc[VMIN] = 1;
		raw.c_cc[VTIME] = 0;
		/* Not TCSAFLUSH: what was typed ahead is kept. */
		if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) < 0)
			vt_warn_errno("terminal");
		/* After the switch: who waits for the prompt may then type anything. */
		put_string(prompt);
		text_ends(&e, e.prompt_width);
		line = edit_line(&e);
		if (tcsetattr(STDIN_FILENO, TCSADRAIN, &cooked) < 0)
			vt_warn_errno("terminal");
	}
	free(e.draft);
	if (!line) {
		free(e.buf);
		return NULL;
	}
	e.buf[e.n] = '\n';
	e.buf[e.n + 1] = '\0';
	return e.buf;
}
