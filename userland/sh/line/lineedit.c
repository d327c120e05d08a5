/*
 * Editing a line on a terminal that knows a few of ECMA-48's control sequences.
 *
 * Keys are emacs's, as in other shells; keys.c has them from bytes, lineview.c draws. The terminal is in raw
 * mode only while a line is edited, so that programs find it as it was. A line is UTF-8: it is moved over and
 * erased by characters, each with the marks that combine with it. A pasted text is put in as it is, TABs and
 * lines too, and runs when Return is pressed. Left out: a line taller than the screen, undo, a kill buffer.
 */
#include "keys.h"
#include "lineview.h"
#include <ctype.h>

/* One line being edited. */
struct edit {
	const char *prompt; /* not owned */
	char *buf;	    /* owned until it is handed to the caller */
	size_t n, at, size; /* bytes, place of the cursor, room in buf */
	size_t history;	    /* entry shown; history_count(): the line being typed */
	char *draft;	    /* that line, while an entry is shown */
	struct view view;
	int tabs; /* pressed in a row */
};

#define SEARCH_SIZE 64 /* bytes of what ^R looks for */

/* Room for n bytes, a newline and a zero. */
static void reserve(struct edit *e, size_t n)
{
	if (n + 2 > e->size)
		e->buf = vt_realloc(e->buf, e->size = (n + 2) * 2);
}

/*
 * Draw the line again, with the cursor in its place. lineview.c draws the prompt's last row with
 * it.
 */
static void redraw(struct edit *e)
{
	view_draw(&e->view, e->prompt, e->buf, e->n, e->at);
}

/* What was drawn stays; the cursor goes to an empty row below it. */
static void leave_line(struct edit *e, const char *mark)
{
	view_leave(&e->view, e->prompt, e->buf, e->n, mark);
}

/*
 * The columns of the character at a byte of the line. A control character counts as 1: what matters
 * here is only whether a character stands by itself or combines with the one before (0).
 */
static unsigned columns_at(const struct edit *e, size_t at)
{
	unsigned c;

	vt_char(e->buf + at, e->n - at, &c);
	return c < ' ' || c == DELETE ? 1 : vt_char_columns(c);
}

/*
 * Where the character before the cursor begins. Bytes of the form 10xxxxxx continue a character of
 * UTF-8; marks without columns belong to the character that they combine with, so both go together.
 */
static size_t char_before(const struct edit *e)
{
	size_t at = e->at;

	while (at > 0) {
		do
			at--;
		while (at > 0 && ((unsigned char)e->buf[at] & 0xc0) == 0x80);
		if (columns_at(e, at))
			break;
	}
	return at;
}

/* Where the character behind the cursor ends, with the marks that combine with it. */
static size_t char_behind(const struct edit *e)
{
	size_t at = e->at;
	unsigned c;

	do
		at += vt_char(e->buf + at, e->n - at, &c);
	while (at < e->n && !columns_at(e, at));
	return at;
}

/* Put n bytes in at the cursor, which moves behind them. The bytes behind make room. */
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
		view_append(&e->view, s, n);
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

/* Move the cursor to a byte of the line, on the screen too. */
static void move(struct edit *e, size_t to)
{
	e->at = to;
	view_move(&e->view, e->prompt, e->buf, to);
}

/*
 * One entry up or down; the line being typed is kept as the newest. An entry that is changed and left
 * again keeps its old text in the history: entries are never written.
 */
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

/*
 * Show the search in the place of the prompt, as bash does: what was typed, and the entry that was
 * found.
 */
static void show_search(struct edit *e, const char *text, size_t found)
{
	const char *entry = found < history_count() ? history_get(found) : "";
	char prompt[SEARCH_SIZE + 16];

	sprintf(prompt, "(search) '%s': ", text);
	view_draw(&e->view, prompt, entry, strlen(entry), strlen(entry));
}

/*
 * ^R: search the history while a part of an entry is typed; ^R again goes on to older ones, Backspace
 * takes a character back. Returns the key that ended the search, which the caller then does on the
 * entry that was found: Return runs it, an arrow begins to edit it.
 */
static int search(struct edit *e)
{
	size_t found = history_count(), n = 0;
	char text[SEARCH_SIZE] = "";
	int c;

	for (;;) {
		show_search(e, text, found);
		c = key_byte();
		if (c == ESCAPE && key_follows())
			c = key_sequence();
		if (c == KEY_NONE)
			continue;
		if (c == CTRL_R && found < history_count()) {
			/* Nothing older: what is shown stays. */
			size_t older = search_back(text, found);

			found = older < history_count() ? older : found;
		} else if ((c == CTRL_H || c == DELETE) && n) {
			do
				n--;
			while (n && ((unsigned char)text[n] & 0xc0) == 0x80);
			text[n] = '\0';
			found = search_back(text, history_count());
		} else if (c >= ' ' && c < 256 && c != DELETE && n + 1 < sizeof(text)) {
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

/*
 * List the names below the line, left to right, each as wide as it is, without the directory that they
 * have in common. The line is drawn again underneath.
 */
static void list_names(struct edit *e, char **names)
{
	size_t used = 0;

	leave_line(e, "");
	for (; *names; names++) {
		size_t n = strlen(*names), from = n ? n - 1 : 0, columns;

		/* The last byte may be the slash of a directory. */
		while (from > 0 && (*names)[from - 1] != '/')
			from--;
		n -= from;
		for (char *c = *names; *c; c++)
			*c = iscntrl((unsigned char)*c) ? '?' : *c; /* a terminal would obey it */
		columns = vt_columns(*names + from, n);

		if (used && used + columns + 2 > e->view.columns) {
			terminal_write("\r\n", 2);
			used = 0;
		}
		terminal_write(*names + from, n);
		terminal_write("  ", 2);
		used += columns + 2;
	}
	terminal_write("\r\n", 2);
	redraw(e);
}

/*
 * TAB. A single match is put in with a blank behind it (a directory has its slash instead and may go
 * on); of several the part that they have in common, and the second TAB in a row lists them.
 */
static void complete(struct edit *e)
{
	size_t typed, common;
	char **names, *text, quote;

	/* reserve() keeps room for it. */
	e->buf[e->n] = '\0';
	names = complete_word(e->buf, e->at, &typed, &quote);
	if (names[0]) {
		common = common_prefix(names);
		/* Not half of a character. */
		while (common > typed && ((unsigned char)names[0][common] & 0xc0) == 0x80)
			common--;
		if (common > typed) {
			text = complete_quoted(names[0] + typed, common - typed, quote);
			insert(e, text, strlen(text));
			free(text);
		}
		/* A directory may go on; anything else is a finished word. */
		if (!names[1] && e->buf[e->at - 1] != '/') {
			char end[] = {quote ? quote : ' ', ' ', '\0'};

			insert(e, end, quote ? 2 : 1);
		} else if (names[1] && e->tabs > 1) {
			list_names(e, names);
		}
	}
	for (char **name = names; *name; name++)
		free(*name);
	free(names);
}

/* Whether only blanks stand before the cursor in its row of the text. */
static bool at_line_start(const struct edit *e)
{
	size_t at = e->at;

	while (at > 0 && strchr(" \t", e->buf[at - 1]))
		at--;
	return at == 0 || e->buf[at - 1] == '\n';
}

/*
 * Put in what was pasted, as text: a newline in it does not run anything. A ^C in its middle ends the
 * line like a typed one. Returns the key to go on with.
 */
static int paste(struct edit *e)
{
	char *text = key_paste();

	if (!text)
		return CTRL_C;
	insert(e, text, strlen(text));
	free(text);
	return KEY_NONE;
}

/*
 * Put in a character whose first byte is c, when all its bytes have come. A byte that does not belong
 * to it is the next key: a damaged character must not swallow it.
 */
static void type_char(struct edit *e, int c)
{
	char bytes[4] = {(char)c};
	unsigned n = 1, length = vt_char_length((unsigned char)c);

	for (; n < length; n++) {
		int next = key_byte();

		if (next < 0 || (next & 0xc0) != 0x80) {
			key_unread(next);
			break;
		}
		bytes[n] = (char)next;
	}
	insert(e, bytes, n);
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
			move(e, char_before(e));
		break;
	case CTRL_F:
	case KEY_RIGHT:
		if (e->at < e->n)
			move(e, char_behind(e));
		break;
	case CTRL_H:
	case DELETE:
		if (e->at)
			cut(e, char_before(e), e->at);
		break;
	case CTRL_D:
	case KEY_DELETE:
		if (e->at < e->n)
			cut(e, e->at, char_behind(e));
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
		terminal_write("\033[H\033[2J", 7);
		e->view.cursor = (struct place){0, 0};
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

/*
 * Leave the line. Pastes are no longer marked, as programs do not expect the marks. The newline is the
 * last byte written: the kernel begins a line of its log in a new row unless that was the last byte.
 */
static void finish_line(struct edit *e, const char *mark)
{
	key_mark_pastes(false);
	leave_line(e, mark);
}

/*
 * Take keys until the line is finished. Returns false at the end of input (^D on an empty line, or no
 * more bytes). Several lines of a paste are one line here, with newlines in it.
 */
static bool edit_line(struct edit *e)
{
	for (;;) {
		int c = key_byte();

		if (c == ESCAPE)
			c = key_sequence();
		if (c == CTRL_R)
			c = search(e);
		if (c == KEY_PASTE)
			c = paste(e);
		e->tabs = c == TAB ? e->tabs + 1 : 0;
		/* ^D on an empty line is the end of input, otherwise a delete. */
		if (c < 0 || (c == CTRL_D && e->n == 0)) {
			finish_line(e, "");
			return false;
		}
		if (c == RETURN || c == LINE_FEED) {
			finish_line(e, "");
			return true;
		}
		/* In raw mode ^C is a byte like any other, not a signal. */
		if (c == CTRL_C) {
			finish_line(e, "^C");
			e->n = 0;
			sh.interrupted = INTERRUPT_SHOWN;
			return true;
		}
		/* Nobody asks for all commands there are: it is a line with an indent, pasted where pastes
		 * are not marked. */
		if (c == TAB && at_line_start(e))
			insert(e, "\t", 1);
		else if (c == TAB)
			complete(e);
		else if (c >= ' ' && c < 256 && c != DELETE)
			type_char(e, c);
		else
			edit_key(e, c);
	}
}

/* A console that cannot be switched to single bytes edits its lines itself. */
static bool plain_line(struct edit *e)
{
	int c;

	while ((c = key_byte()) >= 0 && c != '\n' && !sh.interrupted) {
		reserve(e, e->n + 1);
		e->buf[e->n++] = (char)c;
	}
	return c >= 0 || e->n;
}

/* Learn how many columns the terminal has; 80 if it does not say or says nonsense. */
static void take_size(struct edit *e)
{
	struct winsize size = vt_terminal_size(STDOUT_FILENO);

	e->view.columns = size.ws_col < 4 ? 80 : size.ws_col;
}

/* For key_begin(): the terminal has wrapped the line again, or cut it; it is drawn again from where its first
 * row was. */
static void on_resize(void *arg)
{
	struct edit *e = arg;

	take_size(e);
	redraw(e);
}

/* With the terminal in raw mode. Returns false at the end of input. */
static bool raw_line(struct edit *e)
{
	bool line;

	key_begin(on_resize, e);
	key_ask_size();
	key_mark_pastes(true);
	view_prompt(&e->view, e->prompt);
	line = edit_line(e);
	key_end();
	return line;
}

/*
 * ICANON and ECHO off: bytes come one by one, and nothing but this editor draws. ISIG off: ^C and ^Z
 * are bytes. ICRNL off: Return (13) and ^J (10) differ. VMIN 1, VTIME 0: a read waits for one byte.
 */
char *lineedit_read(const char *prompt)
{
	struct edit e = {.prompt = prompt, .history = history_count()};
	struct termios cooked, raw;
	bool line;

	reserve(&e, 64);
	take_size(&e);
	if (tcgetattr(STDIN_FILENO, &cooked) < 0) {
		terminal_write(prompt, strlen(prompt));
		line = plain_line(&e);
	} else {
		raw = cooked;
		raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IXON);
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
		raw.c_cc[VMIN] = 1;
		raw.c_cc[VTIME] = 0;
		/* Not TCSAFLUSH: what was typed ahead is kept. Before the prompt: a person or program that
		 * waits for it may type anything then. */
		if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) < 0)
			vt_warn_errno("terminal");
		line = raw_line(&e);
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
