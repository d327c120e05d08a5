/*
 * What a line under edit looks like on a terminal.
 *
 *     $ echo a long line that the termi|      row 0: the prompt's last row
 *     nal wraps_                              row 1: the cursor at row 1, column 9
 *
 * Prompt and text are one long text that the terminal wraps into rows. A place is a row, counted
 * from the prompt's last one, and a column. Characters are UTF-8 and take no column (they combine),
 * one, or two; one of two that does not fit into the last column begins the next row. A TAB is
 * drawn as blanks, another control character as ^X, a byte that is no character as '?', a newline
 * of a pasted text begins a row. The terminal is not asked what it can do: carriage return, cursor
 * up, down and right, and erasing to the end of row and screen are understood by all.
 */
#include "lineview.h"

/* Output is put together here: a system call for each character would be slow. */
static char out[512];
static size_t used;

/* Write what was put together. */
static void flush(void)
{
	terminal_write(out, used);
	used = 0;
}

/*
 * Put n bytes into the output. More than fits into the buffer is written at once, behind what is
 * there.
 */
static void add(const char *s, size_t n)
{
	if (used + n > sizeof(out))
		flush();
	if (n > sizeof(out)) {
		terminal_write(s, n);
		return;
	}
	memcpy(out + used, s, n);
	used += n;
}

static void add_string(const char *s)
{
	add(s, strlen(s));
}

/* A control sequence that moves the cursor; count 0 must not be sent, it means 1. */
static void add_move(size_t count, char direction)
{
	char sequence[24];

	if (count == 0)
		return;
	sprintf(sequence, "\033[%d%c", (int)count, direction);
	add_string(sequence);
}

/*
 * A walk over text, which computes where each character stands on the screen. With `draw` it also
 * writes what it walks over: so one piece of arithmetic serves for drawing and for asking where the
 * cursor would be, and the two cannot disagree.
 */
struct walk {
	struct place at;
	size_t columns;
	bool draw;
	bool full; /* the row before is full: most terminals wait in its last column for what comes */
};

/*
 * Bring the terminal's cursor to where the arithmetic has it. After a character in the last column
 * most terminals leave the cursor there and wrap only when the next character comes. A blank makes
 * them wrap; the carriage return takes the cursor back over it.
 *
 *     column 79 of 80:  |....x|   cursor waits on x       after " \r":  row below, column 0
 */
static void settle(struct walk *w)
{
	if (w->full && w->draw)
		add_string(" \r");
	w->full = false;
}

/*
 * Walk over n bytes that take so many columns (0 for a mark that combines with the character before).
 * A wide character that does not fit into the last column begins the next row; a blank fills that
 * column.
 */
static void step(struct walk *w, const char *s, size_t n, size_t columns)
{
	if (columns > w->columns - w->at.column) {
		if (w->draw)
			add(" ", 1);
		w->at = (struct place){w->at.row + 1, 0};
	}
	if (w->draw)
		add(s, n);
	if (columns)
		w->full = false;
	w->at.column += columns;
	if (w->at.column == w->columns) {
		w->at = (struct place){w->at.row + 1, 0};
		w->full = true;
	}
}

/* A newline within the text begins a row; the rest of the old row may hold old text and is erased. */
static void step_newline(struct walk *w)
{
	settle(w);
	if (w->draw)
		add_string("\033[K\n");
	w->at = (struct place){w->at.row + 1, 0};
}

/*
 * A control character is drawn as ^X, since sent as it is it would move the cursor or worse. A TAB is
 * blanks up to the next multiple of 8, because the terminal's tab stops are not known.
 */
static void step_control(struct walk *w, char c)
{
	char text[2] = {'^', (char)(c ^ 0100)};

	if (c == '\n') {
		step_newline(w);
	} else if (c == '\t') {
		do
			step(w, " ", 1, 1);
		while (w->at.column % 8);
	} else {
		step(w, text, 1, 1);
		step(w, text + 1, 1, 1);
	}
}

/* Length of a control sequence in a prompt (colours), 0: there is none at s. */
static size_t sequence_length(const char *s, size_t n)
{
	size_t i = 2;

	if (n < 3 || s[0] != '\033' || s[1] != '[')
		return 0;
	while (i < n && s[i] < '@')
		i++;
	return i < n ? i + 1 : 0;
}

/*
 * Walk over n bytes of text. In a prompt, control sequences (colours) are handed on and take no place;
 * in the line that is typed they are text.
 */
static void walk(struct walk *w, const char *s, size_t n, bool prompt)
{
	for (size_t length; n; s += length, n -= length) {
		unsigned c;

		length = prompt ? sequence_length(s, n) : 0;
		if (length) {
			if (w->draw)
				add(s, length);
			continue;
		}
		length = vt_char(s, n, &c);
		if (c < ' ' || c == 127)
			step_control(w, (char)c);
		else if (c == VT_NO_CHAR && length == 1)
			step(w, "?", 1, 1);
		else
			step(w, s, length, vt_char_columns(c));
	}
}

/* The last row of the prompt, which is drawn together with the line. */
static const char *last_row(const char *prompt)
{
	const char *newline = strrchr(prompt, '\n');

	return newline ? newline + 1 : prompt;
}

/* Move the terminal's cursor to this place. */
static void go(struct view *v, struct place to)
{
	if (to.row < v->cursor.row)
		add_move(v->cursor.row - to.row, 'A');
	else
		add_move(to.row - v->cursor.row, 'B');
	add_string("\r");
	add_move(to.column, 'C');
	v->cursor = to;
}

/* The place behind prompt and n bytes of text. */
static struct place place_of(const struct view *v, const char *prompt, const char *text, size_t n)
{
	struct walk w = {.columns = v->columns};

	prompt = last_row(prompt);
	walk(&w, prompt, strlen(prompt), true);
	walk(&w, text, n, false);
	return w.at;
}

void view_prompt(struct view *v, const char *prompt)
{
	const char *last = last_row(prompt);
	struct walk w = {.columns = v->columns, .draw = true};

	add(prompt, (size_t)(last - prompt));
	walk(&w, last, strlen(last), true);
	settle(&w);
	v->cursor = w.at;
	flush();
}

void view_append(struct view *v, const char *text, size_t n)
{
	struct walk w = {.at = v->cursor, .columns = v->columns, .draw = true};

	walk(&w, text, n, false);
	settle(&w);
	v->cursor = w.at;
	flush();
}

/*
 * Everything is drawn over what was there, and what remains behind it is erased at the end (\033[J):
 * to erase first would flicker.
 */
void view_draw(struct view *v, const char *prompt, const char *text, size_t n, size_t at)
{
	struct walk w = {.columns = v->columns, .draw = true};

	go(v, (struct place){0, 0});
	prompt = last_row(prompt);
	walk(&w, prompt, strlen(prompt), true);
	walk(&w, text, n, false);
	settle(&w);
	v->cursor = w.at;
	add_string("\033[J");
	if (at < n)
		go(v, place_of(v, prompt, text, at));
	flush();
}

void view_move(struct view *v, const char *prompt, const char *text, size_t at)
{
	go(v, place_of(v, prompt, text, at));
	flush();
}

/*
 * The rows of a line must not be drawn over by what the command prints, so the cursor goes behind its
 * end first, wherever it was while the line was edited.
 */
void view_leave(struct view *v, const char *prompt, const char *text, size_t n, const char *mark)
{
	struct place end = place_of(v, prompt, text, n);

	if (end.row != v->cursor.row || end.column != v->cursor.column)
		go(v, end);
	add_string(mark);
	/* Text that filled its row has an empty one below it already. */
	if (*mark || end.column || !end.row)
		add_string("\n");
	flush();
	v->cursor = (struct place){0, 0};
}
