/*
 * stty [-a | -g] [-F DEVICE] [SETTING...]: show or change the modes of the terminal on standard input.
 *
 * Without settings what differs from `stty sane` is shown, with -a everything, with -g all in one word that
 * stty takes back. The names are POSIX's and Linux's. Left out: speeds and parity: the terminals
 * here have only one.
 *
 *     Return --ICRNL--> newline --ICANON--> line edited, ^C to a signal (ISIG), shown (ECHO) --> read()
 *     write() --OPOST, ONLCR: newline becomes CR LF--> the screen
 *
 * A terminal thus has four words of modes (control, input, output, local) and a table of characters.
 */
#include <vt.h>
#include <vt_term.h>
#include <ctype.h>

static int terminal = STDIN_FILENO;

/* Which of the four words of modes. */
enum word { CONTROL, INPUT, OUTPUT, LOCAL };

struct mode {
	const char *name;
	enum word word;
	tcflag_t bits;
};

/* In the order in which they are shown. */
static const struct mode known[] = {
	{"parenb", CONTROL, PARENB},   {"parodd", CONTROL, PARODD}, {"hupcl", CONTROL, HUPCL},
	{"cstopb", CONTROL, CSTOPB},   {"cread", CONTROL, CREAD},   {"clocal", CONTROL, CLOCAL},
	{"crtscts", CONTROL, CRTSCTS}, {"ignbrk", INPUT, IGNBRK},   {"brkint", INPUT, BRKINT},
	{"ignpar", INPUT, IGNPAR},     {"parmrk", INPUT, PARMRK},   {"inpck", INPUT, INPCK},
	{"istrip", INPUT, ISTRIP},     {"inlcr", INPUT, INLCR},	    {"igncr", INPUT, IGNCR},
	{"icrnl", INPUT, ICRNL},       {"ixon", INPUT, IXON},	    {"ixoff", INPUT, IXOFF},
	{"iuclc", INPUT, IUCLC},       {"ixany", INPUT, IXANY},	    {"imaxbel", INPUT, IMAXBEL},
	{"iutf8", INPUT, IUTF8},       {"opost", OUTPUT, OPOST},    {"olcuc", OUTPUT, OLCUC},
	{"ocrnl", OUTPUT, OCRNL},      {"onlcr", OUTPUT, ONLCR},    {"onocr", OUTPUT, ONOCR},
	{"onlret", OUTPUT, ONLRET},    {"isig", LOCAL, ISIG},	    {"icanon", LOCAL, ICANON},
	{"iexten", LOCAL, IEXTEN},     {"echo", LOCAL, ECHO},	    {"echoe", LOCAL, ECHOE},
	{"echok", LOCAL, ECHOK},       {"echonl", LOCAL, ECHONL},   {"noflsh", LOCAL, NOFLSH},
	{"tostop", LOCAL, TOSTOP},     {"echoprt", LOCAL, ECHOPRT}, {"echoctl", LOCAL, ECHOCTL},
	{"echoke", LOCAL, ECHOKE},
};

static const struct {
	const char *name;
	int index; /* in c_cc */
} characters[] = {
	{"intr", VINTR}, {"quit", VQUIT},     {"erase", VERASE},   {"kill", VKILL},   {"eof", VEOF},
	{"eol", VEOL},	 {"eol2", VEOL2},     {"swtch", VSWTC},	   {"start", VSTART}, {"stop", VSTOP},
	{"susp", VSUSP}, {"rprnt", VREPRINT}, {"werase", VWERASE}, {"lnext", VLNEXT}, {"discard", VDISCARD},
};

/* The word of modes that a mode's bits belong to, for reading and for changing. */
static tcflag_t *word_of(struct termios *t, enum word word)
{
	tcflag_t *const words[] = {&t->c_cflag, &t->c_iflag, &t->c_oflag, &t->c_lflag};

	return words[word];
}

/* ^C for 3, ^? for 127, <undef> for 0, in text. Returns text. */
static const char *character_text(cc_t c, char text[8])
{
	if (!c)
		return "<undef>";
	sprintf(text, c < ' ' || c == 127 ? "^%c" : "%c", c < ' ' || c == 127 ? c ^ 0100 : c);
	return text;
}

/* "^C", "C", "undef" or "^-" into a character; a word of another kind ends the program. */
static cc_t character(const char *text)
{
	long number;

	if (!strcmp(text, "undef") || !strcmp(text, "^-"))
		return 0;
	if (text[0] && !text[1])
		return (cc_t)text[0];
	if (text[0] == '^' && text[1] && !text[2])
		return text[1] == '?' ? 127 : (cc_t)(toupper((unsigned char)text[1]) & 037);
	if (vt_number(text, 0, 255, &number))
		vt_die(1, "%s: no character", text);
	return (cc_t)number;
}

/* --- showing --- */

/*
 * Print one more word on the line, or begin the next if it would pass the terminal's edge. NULL ends
 * the line.
 */
static void show(const char *text)
{
	static size_t used;
	size_t n = text ? strlen(text) : 0;

	if (used && (!text || used + 1 + n > (size_t)vt_terminal_size(terminal).ws_col)) {
		printf("\n");
		used = 0;
	}
	if (!text)
		return;
	used += (size_t)printf("%s%s", used ? " " : "", text);
}

/* The speed, and with -a the size. */
static void show_head(bool all)
{
	struct winsize size = vt_terminal_size(terminal);

	printf("speed 115200 baud;");
	if (all)
		printf(" rows %d; columns %d;", size.ws_row, size.ws_col);
	printf(" line = 0;\n");
}

/*
 * Show characters and modes: all of them, or those that differ from what `sane` makes. Most often
 * nothing differs, and the output is one line.
 */
static void show_modes(struct termios *t, bool all)
{
	struct termios sane = *t;
	char text[40], key[8];

	vt_sane_modes(&sane, false);
	show_head(all);
	for (size_t i = 0; i < ARRAY_SIZE(characters); i++) {
		cc_t c = t->c_cc[characters[i].index];

		sprintf(text, "%s = %s;", characters[i].name, character_text(c, key));
		if (all || c != sane.c_cc[characters[i].index])
			show(text);
	}
	sprintf(text, "min = %d; time = %d;", t->c_cc[VMIN], t->c_cc[VTIME]);
	if (all || t->c_cc[VMIN] != 1 || t->c_cc[VTIME])
		show(text);
	show(NULL);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		tcflag_t now = *word_of(t, known[i].word) & known[i].bits;

		if (i && known[i].word != known[i - 1].word)
			show(NULL);
		if (known[i].word == CONTROL && known[i].bits == HUPCL && all)
			show("cs8"); /* where other systems show it */
		sprintf(text, "%s%s", now ? "" : "-", known[i].name);
		if (all || now != (*word_of(&sane, known[i].word) & known[i].bits))
			show(text);
	}
	show(NULL);
}

/*
 * -g: everything in one word, for `saved=$(stty -g); ...; stty $saved`. Four words of modes and the
 * characters, in hexadecimal, with colons between.
 */
static void show_word(const struct termios *t)
{
	printf("%x:%x:%x:%x", t->c_iflag, t->c_oflag, t->c_cflag, t->c_lflag);
	for (int i = 0; i < NCCS; i++)
		printf(":%x", t->c_cc[i]);
	printf("\n");
}

/* --- changing --- */

/* Take back what -g has shown. Returns whether text is such a word; *t is changed only if it is. */
static bool take_word(const char *text, struct termios *t)
{
	unsigned long value[4 + NCCS];
	char *end;

	for (size_t i = 0; i < ARRAY_SIZE(value); i++) {
		value[i] = strtoul(text, &end, 16);
		if (end == text || *end != (i + 1 < ARRAY_SIZE(value) ? ':' : '\0'))
			return false;
		text = end + 1;
	}
	t->c_iflag = (tcflag_t)value[0];
	t->c_oflag = (tcflag_t)value[1];
	t->c_cflag = (tcflag_t)value[2];
	t->c_lflag = (tcflag_t)value[3];
	for (int i = 0; i < NCCS; i++)
		t->c_cc[i] = (cc_t)value[4 + i];
	return true;
}

/*
 * raw: every byte comes as it is and at once, and no key sends a signal; else cooked: lines,
 * signals, output processing.
 */
static void make_raw(struct termios *t, bool on)
{
	tcflag_t input = BRKINT | ICRNL | IGNPAR | ISTRIP | IXON;

	if (!on) {
		t->c_iflag |= BRKINT | ICRNL | IGNPAR | IXON;
		t->c_oflag |= OPOST;
		t->c_lflag |= ICANON | ISIG;
		return;
	}
	t->c_iflag &= ~(input | IGNBRK | PARMRK | INPCK | INLCR | IGNCR | IXOFF | IUCLC | IXANY | IMAXBEL);
	t->c_oflag &= ~(tcflag_t)OPOST;
	t->c_lflag &= ~(tcflag_t)(ICANON | ISIG);
	t->c_cc[VMIN] = 1;
	t->c_cc[VTIME] = 0;
}

/* A word that stands for several modes. Returns whether it does. */
static bool take_combination(const char *name, bool on, struct termios *t)
{
	if (!strcmp(name, "sane") && on) {
		vt_sane_modes(t, (t->c_iflag & IUTF8) != 0);
	} else if (!strcmp(name, "raw") || !strcmp(name, "cooked")) {
		make_raw(t, on == !strcmp(name, "raw"));
	} else if (!strcmp(name, "cbreak")) {
		t->c_lflag = on ? t->c_lflag & ~(tcflag_t)ICANON : t->c_lflag | ICANON;
	} else if (!strcmp(name, "nl")) {
		t->c_iflag = on ? t->c_iflag & ~(tcflag_t)ICRNL : (t->c_iflag | ICRNL) & ~(tcflag_t)(INLCR | IGNCR);
		t->c_oflag = on ? t->c_oflag & ~(tcflag_t)ONLCR : (t->c_oflag | ONLCR) & ~(tcflag_t)(OCRNL | ONLRET);
	} else if (!strcmp(name, "ek") && on) {
		t->c_cc[VERASE] = 127;
		t->c_cc[VKILL] = 21;
	} else {
		return false;
	}
	return true;
}

/* NAME or -NAME. Returns whether it is a mode. */
static bool take_mode(const char *text, struct termios *t)
{
	bool on = text[0] != '-';
	const char *name = on ? text : text + 1;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		tcflag_t *word = word_of(t, known[i].word);

		if (strcmp(known[i].name, name))
			continue;
		*word = on ? *word | known[i].bits : *word & ~known[i].bits;
		return true;
	}
	return take_combination(name, on, t);
}

/* NAME VALUE: a character, min, time, or the size of the window. Returns whether name takes a value. */
static bool take_value(const char *name, const char *value, struct termios *t, struct winsize *size)
{
	for (size_t i = 0; i < ARRAY_SIZE(characters); i++) {
		if (strcmp(characters[i].name, name))
			continue;
		t->c_cc[characters[i].index] = character(value);
		return true;
	}
	if (!strcmp(name, "min") || !strcmp(name, "time"))
		t->c_cc[*name == 'm' ? VMIN : VTIME] = (cc_t)vt_number_or_die(1, value, 0, 255);
	else if (!strcmp(name, "rows"))
		size->ws_row = (unsigned short)vt_number_or_die(1, value, 0, 65535);
	else if (!strcmp(name, "cols") || !strcmp(name, "columns"))
		size->ws_col = (unsigned short)vt_number_or_die(1, value, 0, 65535);
	else
		return false;
	return true;
}

/*
 * Make the settings that stand on the command line. All of them are read first: if one is
 * unknown, nothing is changed. Then the kernel is asked what it has made of them.
 */
static void change(char **args, struct termios *t)
{
	struct termios before = *t, after;
	struct winsize size = {0}, old;

	/* The size that the kernel has may be 0 by 0. The one that is shown in its place would not be set. */
	if (ioctl(terminal, TIOCGWINSZ, &size) < 0)
		vt_die_errno(1, "size");
	old = size;
	for (; *args; args++) {
		if (!strcmp(*args, "size")) {
			printf("%d %d\n", size.ws_row ?: 24, size.ws_col ?: 80);
		} else if (!strcmp(*args, "speed")) {
			printf("115200\n");
		} else if (args[1] && take_value(*args, args[1], t, &size)) {
			args++;
		} else if (!take_mode(*args, t) && !take_word(*args, t)) {
			vt_die(1, "%s: no setting, or its value is missing", *args);
		}
	}
	if (memcmp(t, &before, sizeof(before)) && tcsetattr(terminal, TCSADRAIN, t) < 0)
		vt_die_errno(1, "cannot set modes");
	if (memcmp(&size, &old, sizeof(size)) && ioctl(terminal, TIOCSWINSZ, &size) < 0)
		vt_die_errno(1, "cannot set the size");
	/* The kernel takes of a mode what the terminal has, and says nothing of the rest. */
	if (tcgetattr(terminal, &after) < 0 || memcmp(&after, t, sizeof(after)))
		vt_die(1, "not all settings could be made");
}

/*
 * Step *args over the options. They are not read by vt_option(), as -echo is a setting and no option.
 */
static void options(char ***args, const struct vt_options *o, bool *all, bool *word)
{
	for (; **args && ***args == '-'; ++*args) {
		const char *text = **args;

		if (!strcmp(text, "-a") || !strcmp(text, "--all")) {
			*all = true;
		} else if (!strcmp(text, "-g") || !strcmp(text, "--save")) {
			*word = true;
		} else if (!strcmp(text, "-F") && (*args)[1]) {
			terminal = open(*++*args, O_RDONLY | O_NONBLOCK | O_NOCTTY);
			if (terminal < 0)
				vt_die_errno(1, **args);
		} else if (!strcmp(text, "--help")) {
			vt_help(o);
		} else {
			break;
		}
	}
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "stty [-a | -g] [-F DEVICE] [SETTING...]", .bad_status = 1};
	bool all = false, word = false;
	struct termios t;

	argv++;
	options(&argv, &o, &all, &word);
	if (tcgetattr(terminal, &t) < 0)
		vt_die_errno(1, terminal == STDIN_FILENO ? "standard input" : "terminal");
	if (*argv && (all || word))
		vt_usage(&o);
	if (word)
		show_word(&t);
	else if (all || !*argv)
		show_modes(&t, all);
	else
		change(argv, &t);
	return vt_finish(0);
}
