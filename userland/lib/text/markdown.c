/*
 * Markdown as plain text for a terminal: as much of the language as this tree's documents use. It
 * goes line by line: a line of text joins the paragraph that is being gathered (md.text), any other
 * line first prints that. Paragraphs and items of lists are filled to the width; code, tables and
 * sessions stay as they are, headings become capitals.
 *
 *     - a [raw](raw.md) with `code`      becomes      - a raw (raw.md) with code
 */
#include <vt.h>
#include <vt_term.h>
#include <ctype.h>

static struct {
	size_t width;
	char *text; /* the paragraph that is being gathered; room is for its bytes */
	size_t n, room;
	size_t indent, hang; /* columns by which its first line, and the others, are indented */
	bool gap;	     /* a blank line is due before the next text */
	bool any;	     /* there was text before */
	bool fenced;	     /* between two lines of ``` */
	bool code;	     /* between two backquotes, which may stand in different lines of the paragraph */
} md;

/* One more byte of the paragraph. */
static void put(char c)
{
	if (md.n == md.room) {
		md.room = md.room ? md.room * 2 : 1024;
		md.text = vt_realloc(md.text, md.room);
	}
	md.text[md.n++] = c;
}

/*
 * "[text](target)" at *s becomes the text, and the target in brackets where it says something else.
 * Returns false, with *s unmoved, when this bracket begins no link.
 */
static bool put_link(const char **s)
{
	const char *text = *s + 1, *middle = strstr(text, "]("), *end = middle ? strchr(middle, ')') : NULL;
	size_t n = middle ? (size_t)(middle - text) : 0;

	if (!end || memchr(text, '[', n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (text[i] != '`')
			put(text[i]);
	if (n != (size_t)(end - middle - 2) || strncmp(text, middle + 2, n)) {
		put(' ');
		put('(');
		for (const char *c = middle + 2; c < end; c++)
			put(*c);
		put(')');
	}
	*s = end + 1;
	return true;
}

/* Add a line to the paragraph, without the marks of code, stress and links. What is code stays as it is. */
static void gather(const char *s)
{
	if (md.n)
		put(' ');
	while (*s) {
		if (*s == '`') {
			md.code = !md.code;
			s++;
		} else if (!md.code && s[0] == '*' && s[1] == '*') {
			s += 2;
		} else if (md.code || *s != '[' || !put_link(&s)) {
			put(*s++);
		}
	}
}

/* The blank line that is due before the next text, but none before the first. */
static void begin_text(void)
{
	if (md.gap && md.any)
		printf("\n");
	md.gap = false;
	md.any = true;
}

/*
 * Print the paragraph, broken between words. Columns are counted, not bytes: a character of UTF-8 may
 * have three bytes and one column. A word that is longer than the line stands alone on it.
 */
static void flush(void)
{
	size_t column = 0;

	md.code = false;
	if (!md.n)
		return;
	put('\0');
	begin_text();
	for (char *rest = md.text, *word; (word = strsep(&rest, " "));) {
		size_t n = vt_columns(word, strlen(word));

		if (!n)
			continue;
		if (column && column + 1 + n > md.width) {
			printf("\n");
			column = 0;
			md.indent = md.hang;
		}
		printf("%*s%s", column ? 1 : (int)md.indent, "", word);
		column += (column ? 1 : md.indent) + n;
	}
	printf("\n");
	md.n = 0;
}

/* The length of an item's mark ("- ", "* ", "12. ") with the blanks behind it, or 0. */
static size_t item_mark(const char *line)
{
	size_t n = strspn(line, "0123456789");

	if (n ? line[n] == '.' && line[n + 1] == ' ' : (*line == '-' || *line == '*') && line[1] == ' ')
		return n + 2;
	return 0;
}

/*
 * A heading in capitals, between blank lines. A heading is always one line of the source, so nothing
 * is gathered.
 */
static void heading(const char *line)
{
	flush();
	md.gap = true;
	begin_text();
	line += strspn(line, "# ");
	for (; *line; line++)
		if (*line != '`')
			printf("%c", toupper((unsigned char)*line));
	printf("\n");
	md.gap = true;
}

/* A line of code or of a table. */
static void as_it_is(const char *line)
{
	flush();
	begin_text();
	printf("%s\n", line);
}

/*
 * A line of a paragraph. An item's mark begins a new one, whose later lines are indented behind the
 * mark.
 */
static void text_line(const char *line)
{
	size_t blanks = strspn(line, " "), mark = item_mark(line + blanks);

	if (mark || !md.n) {
		flush();
		md.indent = blanks;
		md.hang = blanks + mark;
	}
	gather(line + blanks);
}

/*
 * Decide what the line is. Four blanks mean code only where no paragraph is being gathered: within
 * an item they are its continuation.
 */
static void one_line(const char *line)
{
	if (!strncmp(line, "```", 3)) {
		flush();
		md.fenced = !md.fenced;
	} else if (md.fenced || (!strncmp(line, "    ", 4) && !md.n) || *line == '\t' || *line == '|') {
		as_it_is(line);
	} else if (*line == '#') {
		heading(line);
	} else if (!strncmp(line, "<!--", 4)) {
		flush();
	} else if (!line[strspn(line, " ")]) {
		flush();
		md.gap = true;
	} else {
		text_line(line);
	}
}

void vt_markdown(char *text, size_t width)
{
	md.width = width;
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		one_line(line);
	flush();
	free(md.text);
	md.text = NULL;
	md.n = md.room = 0;
}
