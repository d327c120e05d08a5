/*
 * more [FILE...], less [FILE...]: show text a screen at a time.
 *
 * Keys: blank or f: a screen on; Enter or j: a line on; b: a screen back; k: a line back; g, G: to the first,
 * to the last line; /EXPRESSION: search on; n: again; q: end. more ends with the text, less waits there.
 * Where output is no terminal it only copies.
 */
#include <vt.h>
#include <vt_term.h>
#include <signal.h>

#define KEYS	STDERR_FILENO /* the terminal also when input is a pipe */
#define RESIZED 256	      /* no key: the screen is to be drawn again */

static struct {
	char **files; /* those not opened yet; NULL at the end */
	struct vt_lines input;
	bool open, failed;

	char **lines; /* what was read so far; all is kept, for going back */
	long count, size;

	long rows, columns; /* of the screen; the last row is for the prompt */
	long top, next;	    /* line at the top, and the first one below the screen */
	bool stay;	    /* less */
	struct vt_regex *regex;
	const char *message; /* instead of the prompt, once */
	struct termios cooked;
	volatile sig_atomic_t resized; /* SIGWINCH has come */
} more;

/* --- text --- */

static bool open_next(void)
{
	while (*more.files) {
		const char *name = *more.files++;
		int fd = strcmp(name, "-") ? open(name, O_RDONLY) : STDIN_FILENO;

		if (fd >= 0) {
			vt_lines_open(&more.input, fd);
			more.open = true;
			return true;
		}
		vt_warn_errno(name);
		more.failed = true;
	}
	return false;
}

static void close_input(void)
{
	if (more.input.error) {
		errno = more.input.error;
		vt_warn_errno(more.files[-1]);
		more.failed = true;
	}
	if (more.input.fd != STDIN_FILENO)
		close(more.input.fd);
	vt_lines_free(&more.input);
	more.open = false;
}

/* Line n from 0, or NULL behind the last. Reads as far as is needed and no farther: a trace_pipe has no end.
 */
static const char *line(long n)
{
	char *text;

	while (n >= more.count && (more.open || open_next())) {
		if (!vt_line(&more.input, &text, NULL)) {
			close_input();
			continue;
		}
		if (more.count == more.size) {
			more.size = 2 * more.size + 64;
			more.lines = vt_realloc(more.lines, sizeof(*more.lines) * (size_t)more.size);
		}
		more.lines[more.count++] = vt_strdup(text);
	}
	return n < more.count ? more.lines[n] : NULL;
}

/* --- screen --- */

/* Rows that a text takes: long lines go on in the next one, tabs reach to the next multiple of 8. */
static long rows_of(const char *text)
{
	long column = 0, rows = 1;
	size_t n = strlen(text);

	for (size_t length; n; text += length, n -= length) {
		unsigned c;
		long width;

		length = vt_char(text, n, &c);
		width = c == '\t' ? 8 - column % 8 : c < ' ' ? 1 : (long)vt_char_columns(c);
		if (column + (c == '\t' ? 1 : width) > more.columns) {
			rows++;
			column = 0;
		}
		column += width;
	}
	return rows;
}

/* Show lines from first on until rows are full. A line that is longer than the screen is shown whole. */
static void show(long first, long rows)
{
	const char *text;

	for (more.next = first; (text = line(more.next)); more.next++) {
		rows -= rows_of(text);
		if (rows < 0 && more.next > first)
			break;
		puts(text);
	}
}

/* Draw the screen anew with first at the top. */
static void draw(long first)
{
	more.top = first < 0 ? 0 : first;
	printf("\033[H\033[J");
	show(more.top, more.rows - 1);
}

/* The line that has to be at the top for rows to be full above line n. */
static long top_for(long n, long rows)
{
	while (n > 0 && (rows -= rows_of(more.lines[n - 1])) >= 0)
		n--;
	return n;
}

/* Let a few lines come up from below. */
static void scroll(long rows)
{
	show(more.next, rows);
	more.top = top_for(more.next, more.rows - 1);
}

/* --- keys --- */

static void restore_terminal(void)
{
	tcsetattr(KEYS, TCSADRAIN, &more.cooked);
}

static void on_interrupt(int sig)
{
	static const char newline = '\n';

	restore_terminal();
	write(STDOUT_FILENO, &newline, 1);
	_exit(128 + sig);
}

static void on_winch(int sig)
{
	more.resized = 1;
}

static void take_size(void)
{
	struct winsize size = vt_terminal_size(STDOUT_FILENO);

	more.rows = size.ws_row > 1 ? size.ws_row : 24;
	more.columns = size.ws_col;
}

/* Returns false where nobody can press keys. */
static bool take_terminal(void)
{
	struct sigaction act = {.sa_handler = on_interrupt};
	struct sigaction winch = {.sa_handler = on_winch}; /* without SA_RESTART: key() is to come back */
	struct termios raw;

	if (!isatty(STDOUT_FILENO) || tcgetattr(KEYS, &more.cooked) < 0)
		return false;
	if (sigaction(SIGINT, &act, NULL) < 0 || sigaction(SIGTERM, &act, NULL) < 0 ||
	    sigaction(SIGWINCH, &winch, NULL) < 0)
		vt_warn_errno("sigaction");
	take_size();
	raw = more.cooked;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	return tcsetattr(KEYS, TCSADRAIN, &raw) == 0;
}

/* Returns 'q' when the terminal has gone, RESIZED when it has another size. */
static int key(void)
{
	unsigned char c;
	ssize_t n;

	do
		n = more.resized ? -1 : read(KEYS, &c, 1);
	while (n < 0 && errno == EINTR && !more.resized);
	if (!more.resized)
		return n == 1 ? c : 'q';
	more.resized = 0;
	take_size();
	return RESIZED;
}

/* Write text over the prompt's row. */
static void prompt(const char *text)
{
	printf("\r\033[J%s", text);
	fflush(stdout);
}

/* Read an expression on the prompt's row into a new regex. An empty one keeps the last. */
static void ask_expression(void)
{
	char pattern[120] = "/";
	size_t n = 1;
	struct vt_regex *regex;
	int c;

	for (prompt(pattern); (c = key()) != '\n' && c != '\r' && n; prompt(pattern)) {
		if (c == '\b' || c == 0x7f)
			n--;
		else if (c >= ' ' && c != RESIZED && n < sizeof(pattern) - 1)
			pattern[n++] = (char)c;
		pattern[n] = '\0';
	}
	if (n < 2)
		return;
	regex = vt_regex_compile(pattern + 1, false, false, &more.message);
	if (regex)
		more.regex = regex; /* the old one stays: there are few, and none can be given back */
}

/* Put the next line below the top that matches to the top. */
static void search(void)
{
	const char *text;
	size_t start, end;

	for (long n = more.top + 1; more.regex && (text = line(n)); n++) {
		if (vt_regex_search(more.regex, text, 0, &start, &end)) {
			draw(n);
			return;
		}
	}
	if (!more.message)
		more.message = more.regex ? "not found" : "no expression yet";
}

/* What one key does. Returns false when it ends the program. */
static bool act(int c)
{
	long page = more.rows - 1;

	prompt("");
	if (c == 'q' || c == 'Q')
		return false;
	if (c == ' ' || c == 'f') {
		scroll(page);
	} else if (c == '\r' || c == '\n' || c == 'j') {
		scroll(1);
	} else if (c == 'b') {
		draw(top_for(more.top, page));
	} else if (c == RESIZED) {
		draw(more.top);
	} else if (c == 'k') {
		draw(more.top - 1);
	} else if (c == 'g') {
		draw(0);
	} else if (c == 'G') {
		while (line(more.count))
			;
		draw(top_for(more.count, page));
	} else if (c == '/') {
		ask_expression();
		prompt("");
		search();
	} else if (c == 'n') {
		search();
	} else {
		more.message = "blank: on  b: back  /text: search  n: again  g G: begin, end  q: quit";
	}
	return true;
}

static void page_through(void)
{
	bool at_end;

	show(0, more.rows - 1);
	do {
		at_end = !line(more.next);
		if (at_end && !more.stay)
			return;
		prompt(more.message ? more.message : at_end ? "(END)" : "--More--");
		more.message = NULL;
	} while (act(key()));
}

int main(int argc, char **argv)
{
	static char *only_stdin[] = {"-", NULL};
	struct vt_options o = {.usage = "more [FILE...]", .options = "", .bad_status = 1};

	if (vt_option(&o, argc, argv) != -1 || (o.index == argc && isatty(STDIN_FILENO)))
		vt_usage(&o);
	more.files = o.index < argc ? argv + o.index : only_stdin;
	more.stay = !strcmp(vt_name, "less");
	if (take_terminal()) {
		page_through();
		restore_terminal();
	} else {
		for (long n = 0; line(n); n++)
			puts(line(n));
	}
	return vt_finish(more.failed);
}
