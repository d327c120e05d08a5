/*
 * The parser of bootconfig, and ways through its tree. <lib/bootconfig.h> is the contract, docs/bootconfig.md the form.
 *
 * The text stays where it is: a node holds the place at which its word or value begins, and the byte behind it becomes
 * a zero as soon as it has been read. So the tree has no text of its own, and a place tells where an error is. Every
 * step stops at the zero at the text's end, and every new node is counted against the places there are.
 */
#include <lib/bootconfig.h>
#include <lib/errno.h>
#include <lib/string.h>

/* Where the parser stands. */
struct parser {
	struct bootconfig *bc;
	char *at;			       /* the next byte */
	u16 open[BOOTCONFIG_DEPTH_MAX];	       /* the keys whose braces are open */
	unsigned braces[BOOTCONFIG_DEPTH_MAX]; /* where each of these braces stands */
	unsigned depth;			       /* how many there are */
};

/* What ends a value that has no quotes. */
#define VALUE_ENDS ",;\n#}"

static int parse_error(struct parser *p, const char *at, const char *wrong)
{
	p->bc->wrong = wrong;
	p->bc->at = at - p->bc->text;
	return -EINVAL;
}

/* ---- Nodes */

static bool is_value(const struct bootconfig *bc, unsigned node)
{
	return bc->nodes[node].text & BOOTCONFIG_VALUE;
}

/*
 * A new child of `parent`: a value goes behind its values and before its words, a word goes to the end. 0: there is no
 * place for it.
 */
static unsigned add_node(struct bootconfig *bc, unsigned parent, const char *text, bool value)
{
	unsigned new = bc->nr;
	u16 *link = &bc->nodes[parent].child;

	if (new == bc->max)
		return 0;
	bc->nr++;
	while (*link && (!value || is_value(bc, *link)))
		link = &bc->nodes[*link].next;
	bc->nodes[new] = (struct bootconfig_node){
		.text = (text - bc->text) | (value ? BOOTCONFIG_VALUE : 0), .parent = parent, .next = *link};
	*link = new;
	return new;
}

/* The word `word` of `len` bytes below `parent`, or 0. */
static unsigned find_word(const struct bootconfig *bc, unsigned parent, const char *word, size_t len)
{
	unsigned k;

	bootconfig_for_each_key(bc, parent, k) {
		const char *text = bootconfig_text(bc, k);

		if (!strncmp(text, word, len) && !text[len])
			return k;
	}
	return 0;
}

/* ---- Parsing */

static bool is_word_char(char c)
{
	return isalnum(c) || c == '-' || c == '_';
}

static void skip_comment(struct parser *p)
{
	while (*p->at && *p->at != '\n')
		p->at++;
}

/* Blanks, and with `lines` also ends of lines and comments. */
static void skip_space(struct parser *p, bool lines)
{
	for (;;) {
		while (isspace(*p->at) && (lines || *p->at != '\n'))
			p->at++;
		if (!lines || *p->at != '#')
			return;
		skip_comment(p);
	}
}

/* Read the byte and put a zero in its place: it ends what stands before it. At the end of the text it stays there. */
static char cut(struct parser *p)
{
	char c = *p->at;

	if (c)
		*p->at++ = '\0';
	return c;
}

/* Bytes of all words of a key, with a dot or a zero behind each. */
static size_t key_size(const struct bootconfig *bc, unsigned key)
{
	size_t size = 0;

	for (; key; key = bc->nodes[key].parent)
		size += strlen(bootconfig_text(bc, key)) + 1;
	return size;
}

/*
 * The words of a key: each is found or made below the one before it, beginning with the key whose brace is open. *key
 * is the last one and *end the byte behind it, which is cut off.
 */
static int parse_key(struct parser *p, unsigned *key, char *end)
{
	char *begin = p->at, *word;
	unsigned depth = 1;

	*key = p->depth ? p->open[p->depth - 1] : 0;
	for (unsigned k = *key; k; k = p->bc->nodes[k].parent)
		depth++;
	do {
		unsigned found;

		word = p->at;
		while (is_word_char(*p->at))
			p->at++;
		if (p->at == word)
			return parse_error(p, word, "Invalid keyword");
		if (depth++ > BOOTCONFIG_DEPTH_MAX)
			return parse_error(p, word, "Too many key words");
		found = find_word(p->bc, *key, word, p->at - word);
		*end = cut(p);
		if (!found)
			found = add_node(p->bc, *key, word, false);
		if (!found)
			return parse_error(p, word, "Too many nodes");
		*key = found;
	} while (*end == '.');
	return key_size(p->bc, *key) > BOOTCONFIG_KEY_MAX ? parse_error(p, begin, "Too long key length") : 0;
}

/* A value between quotes, which is cut off behind it. *end is what follows it: one of VALUE_ENDS, or the text's end. */
static int parse_quoted(struct parser *p, char *end)
{
	char *begin = p->at, quote = *p->at++;

	while (*p->at && *p->at != quote) {
		if (!isprint(*p->at) && !isspace(*p->at))
			return parse_error(p, p->at, "Non printable value");
		p->at++;
	}
	if (!*p->at)
		return parse_error(p, begin, "No closing quotes");
	cut(p);
	skip_space(p, false);
	if (*p->at && !strchr(VALUE_ENDS, *p->at))
		return parse_error(p, p->at, "No value delimiter");
	*end = *p->at;
	if (*end)
		p->at++;
	return 0;
}

/* A value without quotes; blanks at its end are not part of it. *end as above. */
static int parse_plain(struct parser *p, char *end)
{
	char *last = p->at; /* behind the last byte that is not blank */

	for (; *p->at && !strchr(VALUE_ENDS, *p->at); p->at++) {
		if (!isprint(*p->at) && !isspace(*p->at))
			return parse_error(p, p->at, "Non printable value");
		if (!isspace(*p->at))
			last = p->at + 1;
	}
	*end = cut(p);
	*last = '\0';
	return 0;
}

/*
 * The values behind an operator, up to what ends the last one, which is *end; a comment ends it as a newline does. As
 * in Linux a value may begin on a later line than its operator or comma, with comments between.
 */
static int parse_values(struct parser *p, unsigned key, char *end)
{
	do {
		char *value;
		int ret;

		skip_space(p, true);
		value = p->at;
		if (*value == '"' || *value == '\'') {
			value++;
			ret = parse_quoted(p, end);
		} else {
			ret = parse_plain(p, end);
		}
		if (ret)
			return ret;
		if (!add_node(p->bc, key, value, true))
			return parse_error(p, value, "Too many nodes");
	} while (*end == ',');
	if (*end == '#') {
		skip_comment(p);
		*end = '\n';
	}
	return 0;
}

/* Take the values of a key away. Their nodes are lost, which the limit on nodes allows for. */
static void drop_values(struct bootconfig *bc, unsigned key)
{
	while (bootconfig_first_value(bc, key))
		bc->nodes[key].child = bc->nodes[bc->nodes[key].child].next;
}

/*
 * Behind a key: `op` is the operator's first byte, which has been read. = is for a key without a value, += adds to what
 * there is, := takes its place.
 */
static int parse_assignment(struct parser *p, unsigned key, char op, char *end)
{
	char *at = p->at - 1;

	if (op != '=' && *p->at++ != '=')
		return parse_error(p, at, op == '+' ? "Wrong '+' operator" : "Wrong ':' operator");
	if (op == '=' && bootconfig_first_value(p->bc, key))
		return parse_error(p, at, "Value is redefined");
	if (op == ':')
		drop_values(p->bc, key);
	return parse_values(p, key, end);
}

static int open_brace(struct parser *p, unsigned key)
{
	char *at = p->at - 1;

	if (p->depth == BOOTCONFIG_DEPTH_MAX)
		return parse_error(p, at, "Exceed max depth of braces");
	p->braces[p->depth] = at - p->bc->text;
	p->open[p->depth++] = key;
	return 0;
}

static int close_brace(struct parser *p, const char *at)
{
	if (!p->depth)
		return parse_error(p, at, "Unexpected closing brace");
	p->depth--;
	return 0;
}

/* One statement: a key, and what stands behind it up to the end of the statement. p->at is at the key. */
static int parse_statement(struct parser *p)
{
	unsigned key;
	char end;
	int ret = parse_key(p, &key, &end);

	if (ret)
		return ret;
	if (isspace(end) && end != '\n') {
		skip_space(p, false);
		end = *p->at;
		if (end)
			p->at++;
	}
	if (end == '=' || end == '+' || end == ':')
		ret = parse_assignment(p, key, end, &end);
	else if (end == '{')
		return open_brace(p, key);
	else if (end == '#')
		skip_comment(p);
	else if (end && !strchr(";\n}", end))
		return parse_error(p, p->at - 1, "Invalid keyword");
	if (ret)
		return ret;
	return end == '}' ? close_brace(p, p->at - 1) : 0;
}

/* Statement after statement, with blanks, comments and closing braces between them. */
static int parse_all(struct parser *p)
{
	int ret = 0;

	while (!ret) {
		skip_space(p, true);
		if (!*p->at)
			return p->depth ? parse_error(p, p->bc->text + p->braces[p->depth - 1], "Brace is not closed")
					: 0;
		if (*p->at == ';')
			p->at++;
		else if (*p->at == '}')
			ret = close_brace(p, p->at++);
		else
			ret = parse_statement(p);
	}
	return ret;
}

/* A text without a key is refused, as in Linux. */
int bootconfig_parse(struct bootconfig *bc, char *text, struct bootconfig_node *nodes, unsigned max)
{
	struct parser p = {.bc = bc, .at = text};
	int ret;

	max = min(max, BOOTCONFIG_NODES_MAX);
	*bc = (struct bootconfig){.text = text, .nodes = nodes, .nr = 1, .max = max};
	nodes[0] = (struct bootconfig_node){};
	if (strlen(text) >= BOOTCONFIG_TEXT_MAX)
		ret = parse_error(&p, text, "Config data is too big");
	else
		ret = parse_all(&p);
	if (!ret && bc->nr == 1)
		ret = parse_error(&p, text, "Empty config");
	if (ret)
		bc->nr = 0;
	return ret;
}

/* Each node but the root takes a byte at least: its own, or, of an empty value, the operator or comma before it. */
unsigned bootconfig_nodes_for(size_t length)
{
	return min_t(size_t, length + 2, BOOTCONFIG_NODES_MAX);
}

void bootconfig_place(const char *text, unsigned at, unsigned *line, unsigned *column)
{
	*line = *column = 1;
	for (unsigned i = 0; i < at && text[i]; i++) {
		if (text[i] == '\n') {
			++*line;
			*column = 1;
		} else {
			++*column;
		}
	}
}

/* ---- At the end of a file */

u32 bootconfig_checksum(const char *bytes, size_t n)
{
	u32 sum = 0;

	while (n--)
		sum += (u8)*bytes++;
	return sum;
}

static u32 little_endian(const u8 *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (u32)p[3] << 24;
}

/*
 * Found backwards: the magic is the last thing but for GRUB's filling, in front of it are the sum and the size, and in
 * front of these the text. Each number is checked against what there is before it is used.
 */
const char *bootconfig_at_end(const char *start, const char *end, size_t *bytes, const char **wrong)
{
	const char *footer, *text = NULL;
	unsigned more = 0;
	u32 size;

	*bytes = 0;
	*wrong = NULL;
	if (end - start < (ptrdiff_t)(sizeof(struct bootconfig_footer) + BOOTCONFIG_ALIGN))
		return NULL;
	while (more < BOOTCONFIG_ALIGN &&
	       memcmp(end - more - strlen(BOOTCONFIG_MAGIC), BOOTCONFIG_MAGIC, strlen(BOOTCONFIG_MAGIC)))
		more++;
	if (more == BOOTCONFIG_ALIGN)
		return NULL;
	footer = end - more - sizeof(struct bootconfig_footer);
	size = little_endian((const u8 *)footer);
	if (size > (size_t)(footer - start))
		*wrong = "its size is larger than the file";
	else if (size >= BOOTCONFIG_TEXT_MAX + BOOTCONFIG_ALIGN)
		*wrong = "it is larger than 32 KiB";
	else if (!size || footer[-1])
		*wrong = "its text has no end";
	else if (bootconfig_checksum(footer - size, size) != little_endian((const u8 *)footer + sizeof(u32)))
		*wrong = "checksum failed";
	else
		text = footer - size;
	if (text)
		*bytes = end - text;
	return text;
}

/* ---- The tree */

unsigned bootconfig_first_value(const struct bootconfig *bc, unsigned key)
{
	unsigned child = bc->nodes[key].child;

	return child && is_value(bc, child) ? child : 0;
}

unsigned bootconfig_next_value(const struct bootconfig *bc, unsigned value)
{
	unsigned next = bc->nodes[value].next;

	return next && is_value(bc, next) ? next : 0;
}

unsigned bootconfig_first_key(const struct bootconfig *bc, unsigned key)
{
	unsigned child = bc->nodes[key].child;

	while (child && is_value(bc, child))
		child = bc->nodes[child].next;
	return child;
}

unsigned bootconfig_find(const struct bootconfig *bc, unsigned from, const char *words)
{
	size_t len;

	if (!bc->nr)
		return 0;
	do {
		len = strcspn(words, ".");
		from = find_word(bc, from, words, len);
		words += len + 1;
	} while (from && words[-1]);
	return from;
}

/* The next key in the order in which the words were first named, whether it is a leaf or not; 0: none below root. */
static unsigned next_key(const struct bootconfig *bc, unsigned root, unsigned key)
{
	unsigned next = bootconfig_first_key(bc, key);

	while (!next && key != root) {
		next = bc->nodes[key].next;
		key = bc->nodes[key].parent;
	}
	return next;
}

unsigned bootconfig_next_leaf(const struct bootconfig *bc, unsigned root, unsigned key)
{
	if (!bc->nr)
		return 0;
	do {
		key = next_key(bc, root, key);
	} while (key && !bootconfig_first_value(bc, key) && bootconfig_first_key(bc, key));
	return key;
}

/* From the last word to the first, since a node knows its parent alone; then to the front of buf. */
void bootconfig_name(const struct bootconfig *bc, unsigned root, unsigned key, char *buf)
{
	char *at = &buf[BOOTCONFIG_KEY_MAX - 1];

	*at = '\0';
	for (; key != root; key = bc->nodes[key].parent) {
		const char *word = bootconfig_text(bc, key);
		size_t len = strlen(word), dot = *at != '\0';

		if (len + dot > (size_t)(at - buf))
			len = at - buf - dot;
		if (dot)
			*--at = '.';
		at -= len;
		memcpy(at, word, len);
		if (at == buf)
			break;
	}
	memmove(buf, at, buf + BOOTCONFIG_KEY_MAX - at);
}

char bootconfig_quote(const char *value)
{
	return strchr(value, '"') ? '\'' : '"';
}

/* Append what fits; the length counts all of it. */
static void put_text(char *buf, size_t size, size_t *len, const char *text)
{
	for (; *text; text++, ++*len)
		if (*len + 1 < size)
			buf[*len] = *text;
}

/* Called twice by those who allocate: for the length, and for the words. */
size_t bootconfig_words(const struct bootconfig *bc, unsigned root, char *buf, size_t size)
{
	unsigned key = root, value;
	char name[BOOTCONFIG_KEY_MAX];
	size_t len = 0;

	while ((key = bootconfig_next_leaf(bc, root, key))) {
		bootconfig_name(bc, root, key, name);
		if (!bootconfig_first_value(bc, key)) {
			put_text(buf, size, &len, name);
			put_text(buf, size, &len, " ");
		}
		bootconfig_for_each_value(bc, key, value) {
			const char *text = bootconfig_text(bc, value),
				   *quote = text[strcspn(text, " \t\n")] ? "\"" : "";

			put_text(buf, size, &len, name);
			put_text(buf, size, &len, "=");
			put_text(buf, size, &len, quote);
			put_text(buf, size, &len, text);
			put_text(buf, size, &len, quote);
			put_text(buf, size, &len, " ");
		}
	}
	if (size)
		buf[min(len, size - 1)] = '\0';
	return len;
}
