/*
 * more [-RS] [FILE...], less [-RS] [FILE...]: show text a screen at a time.
 *
 * Keys: blank, f or Page Down: a screen on; d: half of one; Enter, j or Down: a line on; b or Page Up: a
 * screen back; u: half of one; k or Up: a line back; g or Home, G or End: to the first, to the last line;
 * /EXPRESSION: search on; n: again; ?EXPRESSION, N: back; q: end. more ends with the text, less waits there.
 * -S: cut long lines off; -R: colours pass. Control characters and bytes that are no text are shown as ^X and
 * <9F>. Where output is no terminal it only copies.
 *
 * All lines are kept in memory, since input may be a pipe that cannot be read twice. The last row of
 * the screen is the prompt's; keys come from standard error, as standard input may be the text.
 */
#include <vt.h>
#include <vt_term.h>
#include <poll.h>
#include <signal.h>

#define KEYS	STDERR_FILENO /* the terminal also when input is a pipe */
#define RESIZED 256	      /* no key: the screen is to be drawn again */
#define GONE	257	      /* no key: the terminal has gone */

static struct {
	char **files; /* those not opened yet; NULL at the end */
	struct vt_lines input;
	bool open, failed;

	char **lines; /* what was read so far; all is kept, for going back */
	long count, size;

	long rows, columns; /* of the screen; the last row is for the prompt */
	long top, next;	    /* line at the top, and the first one below the screen */
	bool stay;	    /* less */
	bool chop, colours; /* -S, -R */
	bool back;	    /* the last search went back */
	struct vt_regex *regex;
	const char *message;	       /* instead of the prompt, once */
	bool special;		       /* the last key was one of several bytes, and stands for a letter */
	struct termios cooked, raw;    /* modes of the terminal, as it was and for keys */
	volatile sig_atomic_t resized; /* SIGWINCH has come, or another program may have written */
} more;

/* --- text --- */

/* Open the next file that can be opened; one that cannot is reported and passed over. */
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

/*
 * A copy of a line that is safe to show, in new memory. A file that is no text, or an escape sequence
 * in a log, must not change the terminal: control characters become ^X, and bytes that are no UTF-8
 * <9F>.
 */
static char *visible(const char *text, size_t n)
{
	char *shown = vt_malloc(4 * n + 1), *to = shown;

	for (size_t length; n; text += length, n -= length) {
		unsigned c;

		length = vt_char(text, n, &c);
		if (*text == '\t' || (*text == '\033' && more.colours && n > 1 && text[1] == '[')) {
			*to++ = *text;
		} else if ((unsigned char)*text < ' ' || *text == 0x7f) {
			*to++ = '^';
			*to++ = (char)(*text ^ 0x40);
		} else if ((unsigned char)*text >= 0x80 && (length == 1 || c < 0xa0)) {
			length = 1;
			to += sprintf(to, "<%02X>", (unsigned char)*text);
		} else {
			memcpy(to, text, length);
			to += length;
		}
	}
	*to = '\0';
	return shown;
}

/* Line n from 0, or NULL behind the last. Reads as far as is needed and no farther: a trace_pipe has no end.
 */
static const char *line(long n)
{
	char *text;
	size_t length;

	while (n >= more.count && (more.open || open_next())) {
		if (!vt_line(&more.input, &text, &length)) {
			close_input();
			continue;
		}
		if (more.count == more.size) {
			more.size = 2 * more.size + 64;
			more.lines = vt_realloc(more.lines, sizeof(*more.lines) * (size_t)more.size);
		}
		more.lines[more.count++] = visible(text, length);
	}
	return n < more.count ? more.lines[n] : NULL;
}

/* --- screen --- */

/*
 * How many rows a text takes: long lines go on in the next row, and tabs reach to the next multiple of
 * 8. *first gets how many of its bytes are in the first row, for -S.
 */
static long measure(const char *text, size_t *first)
{
	long column = 0, rows = 1;
	size_t n = strlen(text);
	const char *from = text;

	*first = n;
	for (size_t length; n; text += length, n -= length) {
		unsigned c;
		long width;

		length = vt_char(text, n, &c);
		/* -R: the sequence up to its letter takes no columns. */
		if (c == '\033') {
			length = 1 + strcspn(text + 1, "ABCDEFGHJKSTfhlmnsu");
			length += length < n;
			continue;
		}
		width = c == '\t' ? 8 - column % 8 : (long)vt_char_columns(c);
		if (column + (c == '\t' ? 1 : width) > more.columns) {
			if (rows++ == 1)
				*first = (size_t)(text - from);
			column = 0;
		}
		column += width;
	}
	return rows;
}

static long rows_of(const char *text)
{
	size_t first;

	return more.chop ? 1 : measure(text, &first);
}

static void put_line(const char *text)
{
	size_t first = strlen(text);

	if (more.chop)
		measure(text, &first);
	printf("%.*s\n", (int)first, text);
}

/* Show lines from first on until rows are full. A line that is longer than the screen is shown whole. */
static void show(long first, long rows)
{
	const char *text;

	for (more.next = first; (text = line(more.next)); more.next++) {
		rows -= rows_of(text);
		if (rows < 0 && more.next > first)
			break;
		put_line(text);
	}
}

/* Clear the screen and draw it with the line `first` at the top. */
static void draw(long first)
{
	more.top = first < 0 ? 0 : first;
	printf("\033[H\033[J");
	show(more.top, more.rows - 1);
}

/*
 * The line that must be at the top so that `rows` rows above line n are full. It goes back line by
 * line, as each may take several rows.
 */
static long top_for(long n, long rows)
{
	while (n > 0 && (rows -= rows_of(more.lines[n - 1])) >= 0)
		n--;
	return n;
}

/*
 * Let `rows` more rows come up from below. The terminal scrolls by itself when its last row is written
 * to.
 */
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

/*
 * The terminal must not stay without echo. _exit() and write() may be called in a handler; stdio may
 * not.
 */
static void on_interrupt(int sig)
{
	static const char newline = '\n';

	restore_terminal();
	write(STDOUT_FILENO, &newline, 1);
	_exit(128 + sig);
}

/* ^Z: a shell need not put the modes back, nor set them again when more goes on. */
static void on_stop(int sig)
{
	restore_terminal();
	raise(SIGSTOP);
	tcsetattr(KEYS, TCSADRAIN, &more.raw);
	more.resized = 1;
}

/* Drawing is the main program's to do: ppoll() comes back with EINTR, and key() returns RESIZED. */
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

/*
 * Take the terminal for single keys without echo. Returns false where nobody can press keys: then the
 * text is only copied. Signals of keys (^C) stay on.
 */
static bool take_terminal(void)
{
	struct sigaction act = {.sa_handler = on_interrupt};
	struct sigaction winch = {.sa_handler = on_winch};
	struct sigaction stop = {.sa_handler = on_stop};

	if (!isatty(STDOUT_FILENO) || tcgetattr(KEYS, &more.cooked) < 0)
		return false;
	if (sigaction(SIGINT, &act, NULL) < 0 || sigaction(SIGTERM, &act, NULL) < 0 ||
	    sigaction(SIGWINCH, &winch, NULL) < 0 || sigaction(SIGTSTP, &stop, NULL) < 0)
		vt_warn_errno("sigaction");
	take_size();
	more.raw = more.cooked;
	more.raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	more.raw.c_cc[VMIN] = 1;
	more.raw.c_cc[VTIME] = 0;
	return tcsetattr(KEYS, TCSADRAIN, &more.raw) == 0;
}

/*
 * The letter that does the same as a special key, or 0. A terminal sends such a key as several bytes
 * that begin with Escape (ESC [ A is Up). Escape alone sends nothing behind it, so 50 ms without a
 * byte end it.
 */
static int special_key(void)
{
	struct pollfd keys = {.fd = KEYS, .events = POLLIN};
	char text[8] = "";
	static const struct {
		const char *text;
		char key;
	} known[] = {
		{"[A", 'k'}, {"OA", 'k'}, {"[B", 'j'},	{"OB", 'j'}, {"[5~", 'b'}, {"[6~", ' '},
		{"[H", 'g'}, {"OH", 'g'}, {"[1~", 'g'}, {"[F", 'G'}, {"OF", 'G'},  {"[4~", 'G'},
	};

	for (size_t n = 0; n < sizeof(text) - 1 && poll(&keys, 1, 50) == 1; n++) {
		if (read(KEYS, text + n, 1) != 1)
			break;
		if (n && (text[n] >= '@' && text[n] <= '~'))
			break;
	}
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!strcmp(text, known[i].text))
			return known[i].key;
	}
	return 0;
}

/*
 * The next key. Returns GONE when the terminal has gone, and RESIZED when it has another size or another program may
 * have written on it. ppoll() alone lets the signals in that say so: one that came between a look at more.resized and
 * a read() would wait for the next key.
 */
static int key(void)
{
	struct pollfd keys = {.fd = KEYS, .events = POLLIN};
	sigset_t told, before;
	unsigned char c;
	ssize_t n = 0;
	bool resized;

	sigemptyset(&told);
	sigaddset(&told, SIGWINCH);
	sigaddset(&told, SIGTSTP);
	sigprocmask(SIG_BLOCK, &told, &before);
	while (!more.resized && ppoll(&keys, 1, NULL, &before) < 0 && errno == EINTR)
		;
	resized = more.resized;
	more.resized = 0;
	if (!resized)
		n = read(KEYS, &c, 1);
	sigprocmask(SIG_SETMASK, &before, NULL);
	more.special = n == 1 && c == '\033';
	if (resized)
		take_size();
	return resized ? RESIZED : n != 1 ? GONE : more.special ? special_key() : c;
}

/* Write text over the prompt's row. */
static void prompt(const char *text)
{
	printf("\r\033[J%s", text);
	fflush(stdout);
}

/*
 * Read an expression on the prompt's row into a new regex. An empty one keeps the last. Returns whether to search: not
 * after a bad expression, or when the mark itself has been erased. Keys of several bytes do nothing here.
 */
static bool ask_expression(char mark)
{
	char pattern[120] = {mark};
	size_t n = 1;
	struct vt_regex *regex;
	int c = 0;

	for (prompt(pattern); n && (c = key()) != '\n' && c != '\r' && c != GONE; prompt(pattern)) {
		if (c == '\b' || c == 0x7f)
			do
				n--;
			while (n > 1 && ((unsigned char)pattern[n] & 0xc0) == 0x80);
		else if (!more.special && c >= ' ' && c != RESIZED && n < sizeof(pattern) - 1)
			pattern[n++] = (char)c;
		pattern[n] = '\0';
	}
	if (n < 2 || c == GONE)
		return n == 1 && c != GONE;
	regex = vt_regex_compile(pattern + 1, false, false, &more.message);
	if (regex)
		more.regex = regex; /* the old one stays: there are few, and none can be given back */
	return regex != NULL;
}

/* Bring the next line that matches, below the top or with `back` above it, to the top. */
static void search(bool back)
{
	const char *text;

	for (long n = more.top; more.regex && (n += back ? -1 : 1) >= 0 && (text = line(n));) {
		if (vt_regex_matches(more.regex, text)) {
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
	if (c == 'q' || c == 'Q' || c == GONE)
		return false;
	if (c == ' ' || c == 'f') {
		scroll(page);
	} else if (c == 'd') {
		scroll(page / 2);
	} else if (c == 'u') {
		draw(top_for(more.top, page / 2));
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
	} else if (c == '/' || c == '?') {
		more.back = c == '?';
		if (ask_expression((char)c)) {
			prompt("");
			search(more.back);
		}
	} else if (c == 'n' || c == 'N') {
		search(more.back != (c == 'N'));
	} else {
		more.message = "blank: on  b: back  /text ?text: search on, back  n N: again  g G: begin, end  q: quit";
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

/* Without a terminal there are no keys: byte by byte, as cat does it. For vt_each_file(). */
static int copy(int fd, const char *name, void *arg)
{
	int err = vt_copy(fd, STDOUT_FILENO);

	if (err == -2)
		vt_die_errno(1, "write error");
	if (err)
		vt_warn_errno(name);
	return err;
}

int main(int argc, char **argv)
{
	static char *only_stdin[] = {"-", NULL};
	struct vt_options o = {.usage = "more [-RS] [FILE...]",
			       .options = "RSeiFX",
			       .help = "  -S  cut long lines off; -R  colours pass\n"
				       "  -e -i -F -X  taken for less's sake: they change nothing\n",
			       .bad_status = 1};
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		more.chop |= c == 'S';
		more.colours |= c == 'R';
	}
	if (o.index == argc && isatty(STDIN_FILENO))
		vt_usage(&o);
	more.files = o.index < argc ? argv + o.index : only_stdin;
	more.stay = !strcmp(vt_name, "less");
	if (take_terminal()) {
		page_through();
		restore_terminal();
	} else {
		return vt_each_file(more.files, 1, copy, NULL);
	}
	return vt_finish(more.failed);
}
