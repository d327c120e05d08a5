/* Texts for files of tracefs (trace_words.h). */
#include "trace_words.h"

#include <ctype.h>
#include <vt.h>

struct list {
	char **word;
	unsigned n;
};
static struct list tracers, functions, events, options;
static struct list systems; /* the first event of each */
static struct list readme;  /* its lines */

/* What a text is made for. */
struct writing {
	const char *file;
	char event[WORDS_PATH]; /* "SYSTEM/EVENT" of the file, or of any event */
	char *text;
	size_t n; /* bytes of it */
};

unsigned long words_seed;
static unsigned long state;

void words_begin(unsigned who)
{
	state = words_seed * 31 + who;
	words_below(2);
}

unsigned words_below(unsigned n)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return n ? (state >> 33) % n : 0;
}

static const char *any(const struct list *list)
{
	return list->n ? list->word[words_below(list->n)] : "";
}

/* Each system as often as any other, however many events it has: one line in a row of lines with the same system. */
const char *words_event(void)
{
	const char *name = any(&systems);
	unsigned first = 0, n = 0;
	size_t length = strcspn(name, ":");

	for (unsigned i = 0; i < events.n; i++)
		if (!strncmp(events.word[i], name, length + 1) && !n++)
			first = i;
	return events.n ? events.word[first + words_below(n)] : "";
}

const char *words_option(void)
{
	return any(&options);
}

/* The pieces of `text`, which is cut where it lies. */
static struct list split(char *text, const char *between)
{
	struct list list = {};

	for (char *word = text ? strtok(text, between) : NULL; word; word = strtok(NULL, between)) {
		if (list.n % 256 == 0)
			list.word = vt_realloc(list.word, (list.n + 256) * sizeof(*list.word));
		list.word[list.n++] = word;
	}
	return list;
}

void words_learn(void)
{
	tracers = split(vt_read_file("available_tracers", NULL), " \n");
	functions = split(vt_read_file("available_filter_functions", NULL), "\n");
	events = split(vt_read_file("available_events", NULL), "\n");
	readme = split(vt_read_file("README", NULL), "\n");
	options.word = vt_names("options");
	while (options.word && options.word[options.n])
		options.n++;
	systems.word = vt_malloc((events.n + 1) * sizeof(*systems.word));
	for (unsigned i = 0; i < events.n; i++)
		if (!i || strncmp(events.word[i], events.word[i - 1], strcspn(events.word[i], ":") + 1))
			systems.word[systems.n++] = events.word[i];
}

/* ---- Pieces */

static void put(struct writing *w, const char *text)
{
	while (*text && w->n < WORDS_TEXT - 1)
		w->text[w->n++] = *text++;
	w->text[w->n] = '\0';
}

static void put_number(struct writing *w)
{
	static const char *const numbers[] = {"0",  "1",   "0",	 "1",	 "2",	  "3",	     "7",
					      "64", "100", "-1", "1000", "65537", "1000000", "0x7fffffffffffffff"};
	/* Not more memory than there is: that is another test's subject. */
	bool small = strstr(w->file, "size") || strstr(w->file, "events");

	put(w, numbers[words_below(small ? 11 : ARRAY_SIZE(numbers))]);
}

/* A function, or a pattern of some. */
static void put_functions(struct writing *w)
{
	const char *name = any(&functions);
	char part[8];

	snprintf(part, sizeof(part), "%s", name);
	switch (words_below(6)) {
	case 0:
		put(w, "*");
		return;
	case 1:
		put(w, "*");
		put(w, part + 1);
		put(w, "*");
		return;
	case 2:
		put(w, part);
		put(w, "*");
		return;
	default:
		put(w, name);
	}
}

/* A line of the event's format has "field:TYPE NAME;" or "NAME[N];". */
static void put_field(struct writing *w)
{
	char path[WORDS_PATH + 16], *text, *at, *end;
	unsigned n = 1 + words_below(12);

	snprintf(path, sizeof(path), "events/%s/format", w->event);
	text = vt_read_file(path, NULL);
	for (at = text; at && n; n--)
		at = strstr(at + 1, "\tfield:");
	end = at ? strpbrk(at + 1, ";[") : NULL;
	if (end) {
		for (at = end; at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_'); at--)
			;
		*end = '\0';
	}
	put(w, end ? at : "common_pid");
	free(text);
}

static void put_condition(struct writing *w)
{
	static const char *const operators[] = {" == ", " != ", " < ", " >= ", " & ", " ~ "};

	put_field(w);
	put(w, operators[words_below(ARRAY_SIZE(operators))]);
	if (words_below(4))
		put_number(w);
	else
		put(w, "\"*a*\"");
	if (!words_below(3)) {
		put(w, words_below(2) ? " || " : " && ");
		put_condition(w);
	}
}

/* ---- The README as a grammar */

/* Is this the line where the README begins to speak about something? */
static bool is_head(const char *line)
{
	return line[0] == ' ' && line[1] == ' ' && line[2] != ' ';
}

/* Does the head name the file? Names stand before " - " or ':', maybe several, of directories with a slash behind. */
static bool head_names(const char *head, const char *file)
{
	const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file, *end = strstr(head, " - ");
	char names[80], *name;

	if (!end)
		end = strchr(head, ':');
	snprintf(names, sizeof(names), "%.*s", end ? (int)(end - head) : 0, head);
	for (name = strtok(names, " ,"); name; name = strtok(NULL, " ,")) {
		size_t length = strlen(name);

		if (!strcmp(vt_basename(name), base))
			return true;
		if (name[length - 1] == '/' && strstr(file, name))
			return true;
	}
	return false;
}

/* A line of the README about the file, or NULL. */
static const char *line_about(const char *file)
{
	unsigned found = 0;
	bool about = false;
	const char *line = NULL;

	for (unsigned i = 0; i < readme.n; i++) {
		if (is_head(readme.word[i]))
			about = head_names(readme.word[i], file);
		if (about && !words_below(++found))
			line = readme.word[i];
	}
	return line;
}

/* A word of such a line; what is in quotes is one. False: nothing is said about the file. */
static bool word_about(const char *file, char *word)
{
	const char *line = line_about(file), *at;
	unsigned found = 0;

	*word = '\0';
	if (!line)
		return false;
	for (at = line; *at;) {
		size_t length = strcspn(at, " \t,;");

		if (*at == '\'' && strchr(at + 1, '\''))
			length = strchr(at + 1, '\'') - at;
		if (length && !words_below(++found))
			snprintf(word, WORDS_TEXT, "%.*s", (int)length - (*at == '\''), at + (*at == '\''));
		at += length + !!at[length];
	}
	return *word;
}

static void put_word_about(struct writing *w, unsigned depth);

/* One of the ways in which a probe event gets a value, or a place. Registers are a machine's own. */
static void put_argument(struct writing *w)
{
	static const char *const values[] = {
		"$comm",      "$arg1",	    "$retval",		 "$stack0",    "$stack",
		"+0($stack)", "+u0($arg2)", "+8(+0($arg1)):x64", "name=\\1",   "a=$arg1:string",
		"@jiffies",   "$arg3:u8",   "+0($arg1):ustring", "$common_pid"};

	put(w, values[words_below(ARRAY_SIZE(values))]);
}

/* Few names, so that what one line makes another one finds. */
static void put_group(struct writing *w)
{
	static const char *const groups[] = {"fuzz", "grp", "sched"};

	put(w, groups[words_below(ARRAY_SIZE(groups))]);
}

static void put_event(struct writing *w)
{
	static const char *const names[] = {"e0", "e1", "e2", "sched_switch"};
	const char *colon = strchr(words_event(), ':');

	put(w, words_below(3) || !colon ? names[words_below(ARRAY_SIZE(names))] : colon + 1);
}

static void put_place(struct writing *w)
{
	put(w, strstr(w->file, "uprobe") ? "/bin/true:0x100" : any(&functions));
}

static void put_variable(struct writing *w)
{
	put(w, words_below(2) ? "v0" : "v1");
}

/* What names of the grammar stand for: the first row whose text is in the name, or is the name. */
static const struct meaning {
	const char *text;
	bool whole;
	void (*put)(struct writing *w);
} meanings[] = {
	{"group", false, put_group},   {"GROUP", true, put_group},	{"system", true, put_group},
	{"event", false, put_event},   {"EVENT", true, put_event},	{"tracepoint", false, put_event},
	{"func", false, put_place},    {"symbol", false, put_place},	{"place", false, put_place},
	{"name", true, put_functions}, {"field", false, put_field},	{"FIELDS", true, put_field},
	{"arg", false, put_argument},  {"FILTER", true, put_condition}, {"filter", true, put_condition},
	{"N", true, put_number},       {"count", true, put_number},	{"COUNT", true, put_number},
	{"number", false, put_number}, {"literal", false, put_number},	{"offset", false, put_number},
	{"var", false, put_variable},
};

/* A name in < > or a word of the grammar. */
static void put_meaning(struct writing *w, const char *name, unsigned depth)
{
	if ((!strcmp(name, "command") || !strcmp(name, "COMMAND")) && depth < 3) {
		put_word_about(w, depth + 1);
		return;
	}
	for (const struct meaning *m = meanings; m < meanings + ARRAY_SIZE(meanings); m++)
		if (m->whole ? !strcmp(name, m->text) : strstr(name, m->text) != NULL) {
			m->put(w);
			return;
		}
	put(w, name);
}

/*
 * The end of the part that begins at `at`, behind its closing bracket. from, to: one of its alternatives, at random.
 */
static const char *close_of(const char *at, char open, char close, const char **from, const char **to)
{
	const char *begin = ++at;
	unsigned depth = 1, found = 0;

	*from = *to = at;
	for (;; at++) {
		if (!*at || (*at == close && !--depth) || (*at == '|' && depth == 1)) {
			if (!words_below(++found)) {
				*from = begin;
				*to = at;
			}
			if (*at != '|')
				return *at ? at + 1 : at;
			begin = at + 1;
		} else if (*at == open) {
			depth++;
		}
	}
}

/* `length` bytes of the README's text. */
static void expand(struct writing *w, const char *at, size_t length, unsigned depth)
{
	const char *end = at + length, *from, *to, *next;
	char name[40];

	while (at < end && *at && w->n < WORDS_TEXT - 1) {
		if (*at == '[' && at[1] != ']') {
			next = close_of(at, '[', ']', &from, &to);
			if (words_below(2) && depth < 6)
				expand(w, from, to - from, depth + 1);
			at = next;
		} else if (*at == '<') {
			next = close_of(at, '<', '>', &from, &to);
			snprintf(name, sizeof(name), "%.*s", (int)(to - from), from);
			put_meaning(w, name, depth);
			at = next;
		} else if (isalpha((unsigned char)*at)) {
			for (next = at; next < end && (isalnum((unsigned char)*next) || *next == '_'); next++)
				;
			snprintf(name, sizeof(name), "%.*s", (int)(next - at), at);
			put_meaning(w, name, depth);
			at = next;
		} else if (!strncmp(at, "...", 3)) {
			at += 3;
		} else {
			snprintf(name, sizeof(name), "%c", *at++);
			put(w, name);
		}
	}
}

static void put_word_about(struct writing *w, unsigned depth)
{
	char word[WORDS_TEXT];

	if (word_about(w->file, word))
		expand(w, word, strlen(word), depth);
}

static void put_line_about(struct writing *w)
{
	const char *line = line_about(w->file);

	line += line ? strspn(line, " \t") : 0;
	if (line)
		expand(w, line, strlen(line), 0);
}

/* ---- Shapes */

/* What the file holds: one of its first lines, or a word of that. Brackets mark what is in force. */
static void put_own(struct writing *w, bool remove)
{
	char held[2048], *word;
	int fd = open(w->file, O_RDONLY | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, held, sizeof(held) - 1);
	struct list list;

	if (fd >= 0)
		close(fd);
	held[n < 0 ? 0 : n] = '\0';
	list = split(held, words_below(2) ? "\n" : " \n[]");
	word = list.n ? list.word[words_below(list.n)] : held;
	if (remove && strchr("pref", *word) && strchr(word, ':')) {
		put(w, "-:");
		put(w, strcspn(word, " ") < strlen(word) ? strtok(strchr(word, ':') + 1, " ") : "fuzz/e0");
	} else {
		put(w, remove ? (words_below(3) ? "!" : "no") : "");
		put(w, word);
	}
	free(list.word);
}

/* What a name may be of: the files that list them have it in their own names, and so have files that take them. */
static const struct {
	const char *stem; /* set_event: available_events; stack_trace_filter: available_filter_functions */
	const struct list *list;
} kinds[] = {{"tracer", &tracers},
	     {"filter", &functions},
	     {"function", &functions},
	     {"event", &events},
	     {"option", &options}};

/* Mostly of the kind that goes by the file's name. */
static const struct list *names_for(const char *file)
{
	const char *base = vt_basename(file);

	for (unsigned i = 0; i < ARRAY_SIZE(kinds) && words_below(8); i++)
		if (strstr(base, kinds[i].stem))
			return kinds[i].list;
	return kinds[words_below(ARRAY_SIZE(kinds))].list;
}

static void put_name(struct writing *w)
{
	const struct list *names = names_for(w->file);

	if (names == &functions) {
		put_functions(w);
		return;
	}
	put(w, names == &options && words_below(2) ? "no" : "");
	put(w, names == &events ? words_event() : any(names));
	if (names == &events && words_below(2)) { /* all of a system */
		w->text[strcspn(w->text, ":")] = '\0';
		w->n = strlen(w->text);
		put(w, words_below(2) ? ":*" : "");
	}
}

static void put_garbage(struct writing *w)
{
	for (unsigned n = words_below(WORDS_TEXT - 1); n--;) {
		char c[] = {(char)(1 + words_below(255)), '\0'};

		put(w, c);
	}
}

/* The event of a file of an event, else any one. */
static void name_event(struct writing *w)
{
	const char *at = strstr(w->file, "events/"), *end = at ? strrchr(at, '/') : NULL;
	char *colon;

	if (end && end > at + 7 && memchr(at + 7, '/', end - (at + 7))) {
		snprintf(w->event, sizeof(w->event), "%.*s", (int)(end - (at + 7)), at + 7);
		return;
	}
	snprintf(w->event, sizeof(w->event), "%s", words_event());
	colon = strchr(w->event, ':');
	if (colon)
		*colon = '/';
}

void words_text(char *text, enum words_shape shape, const char *file)
{
	struct writing w = {.file = file, .text = text};

	*text = '\0';
	name_event(&w);
	switch (shape) {
	case WORDS_NUMBER:
		put_number(&w);
		break;
	case WORDS_OWN:
	case WORDS_REMOVE:
		put_own(&w, shape == WORDS_REMOVE);
		break;
	case WORDS_README:
		put_word_about(&w, 0);
		break;
	case WORDS_LINE:
		put_line_about(&w);
		break;
	case WORDS_NAME:
		put_name(&w);
		break;
	case WORDS_COMMAND:
		put_functions(&w);
		put(&w, ":");
		put_word_about(&w, 0);
		break;
	case WORDS_CONDITION:
		if (words_below(2)) {
			put_word_about(&w, 0);
			put(&w, " if ");
		}
		put_condition(&w);
		break;
	case WORDS_GARBAGE:
		put_garbage(&w);
		break;
	case WORDS_EMPTY:
	case NR_WORDS_SHAPES:
		break;
	}
}

bool words_may_be_written(const char *text)
{
	return !strstr(text, "dump") && !strstr(text, "PANIC");
}
