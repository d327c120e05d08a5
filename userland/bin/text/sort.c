/*
 * sort [-nru] [-k FIRST[,LAST][nr]]... [-t SEPARATOR] [FILE...]: lines in order.
 *
 * By bytes. All input is held in memory. Left out: -c, -m, -o, -b, -f, -h, byte positions in keys.
 *
 *     sort -t: -k 3,3n /etc/passwd      the key is field 3 between colons, compared as a number
 *     sort -k 1,1 -k 2,2nr              lines with the same field 1: the one with the largest field 2 comes first
 *
 * qsort() does not keep the order of equal lines, so equal keys are decided by the whole line.
 */
#include <vt.h>
#include <ctype.h>
#include <limits.h>

#define KEYS_MAX 16

/* A part of the line and how it is compared. */
struct key {
	int first, last; /* fields, from 1; first 0: the whole line */
	bool numeric, reverse;
};

static bool numeric, reverse, unique;
static struct key keys[KEYS_MAX] = {{.last = INT_MAX}}; /* the earlier ones count more */
static size_t key_count;
static char separator; /* '\0': runs of blanks */

struct line {
	char *text;    /* allocated by itself; nothing is freed, as the program ends with the list */
	size_t number; /* its place in the input */
};

struct line_list {
	struct line *v;
	size_t n, size;
};

/*
 * Step over one field and what ends it. Without -t a field begins with the blanks in front of it, as
 * POSIX has it; with -t each separator ends one, so two in a row have an empty field between them.
 */
static const char *skip_field(const char *s)
{
	if (separator) {
		s += strcspn(s, (char[]){separator, '\0'});
		return *s ? s + 1 : s;
	}
	s += strspn(s, " \t");
	return s + strcspn(s, " \t");
}

/* The key's place in a line and its length. */
static const char *key_of(const struct key *key, const char *line, size_t *length)
{
	const char *start = line, *end;

	if (!key->first) {
		*length = strlen(line);
		return line;
	}
	for (int i = 1; i < key->first; i++)
		start = skip_field(start);
	end = start;
	for (int i = key->first; i <= key->last && *end; i++)
		end = skip_field(end);
	/* The separator behind the last field is no part of the key. */
	if (separator && key->last != INT_MAX && end > start && end[-1] == separator)
		end--;
	*length = (size_t)(end - start);
	return start;
}

/* How many of the first bytes, up to `end`, are among these. */
static size_t span(const char *s, const char *end, const char *bytes)
{
	size_t n = strspn(s, bytes);

	return n < (size_t)(end - s) ? n : (size_t)(end - s);
}

/*
 * Compare decimal numbers of any length, with sign and fraction: as text they would be compared
 * wrongly (9 and 10), and as integers they could overflow. Without leading zeros the longer one is the
 * larger. Each ends with its key: what stands behind that is no fraction of it, as in 10.9 with -t .
 */
static int compare_numbers(const char *a, const char *a_end, const char *b, const char *b_end)
{
	bool minus_a, minus_b;
	size_t na, nb;
	int order = 0;

	a += span(a, a_end, " \t");
	b += span(b, b_end, " \t");
	minus_a = span(a, a_end, "-") > 0;
	minus_b = span(b, b_end, "-") > 0;
	a += minus_a;
	b += minus_b;
	a += span(a, a_end, "0");
	b += span(b, b_end, "0");
	na = span(a, a_end, "0123456789");
	nb = span(b, b_end, "0123456789");
	if (na != nb)
		order = na < nb ? -1 : 1;
	else
		order = strncmp(a, b, na);
	if (!order && (span(a + na, a_end, ".") || span(b + nb, b_end, "."))) {
		const char *fa = span(a + na, a_end, ".") ? a + na + 1 : a_end,
			   *fb = span(b + nb, b_end, ".") ? b + nb + 1 : b_end;

		while (!order && (span(fa, a_end, "0123456789") || span(fb, b_end, "0123456789"))) {
			int da = span(fa, a_end, "0123456789") ? *fa++ : '0',
			    db = span(fb, b_end, "0123456789") ? *fb++ : '0';

			order = da - db;
		}
	} else if (!order && !na) {
		return 0; /* both are 0, whatever their signs */
	}
	if (minus_a != minus_b)
		return minus_a ? -1 : 1;
	return minus_a ? -order : order;
}

/* As strcmp(), but for that part of each line that is the key. */
static int compare_key(const struct key *key, const char *a, const char *b)
{
	size_t na, nb;
	int order;

	a = key_of(key, a, &na);
	b = key_of(key, b, &nb);
	if (key->numeric)
		return compare_numbers(a, a + na, b, b + nb);
	order = memcmp(a, b, na < nb ? na : nb);
	return order ? order : na < nb ? -1 : na > nb;
}

/* By the first key in which the lines differ; without -k that is the whole line. */
static int compare_keys(const char *a, const char *b)
{
	int order = 0;

	for (size_t i = 0; !order && i < (key_count ? key_count : 1); i++)
		order = keys[i].reverse ? compare_key(&keys[i], b, a) : compare_key(&keys[i], a, b);
	return order;
}

static int compare(const void *x, const void *y)
{
	const struct line *a = x, *b = y;
	int order = compare_keys(a->text, b->text);

	/*
	 * Equal keys: the whole line decides, so that the result does not depend on the method; with -u, which
	 * keeps the first of them, the place in the input.
	 */
	if (!order && !unique)
		order = reverse ? strcmp(b->text, a->text) : strcmp(a->text, b->text);
	if (!order)
		order = a->number < b->number ? -1 : a->number > b->number;
	return order;
}

/* For vt_each_file(): add the file's lines to the list, each in memory of its own. */
static int read_lines(int fd, const char *name, void *arg)
{
	struct line_list *list = arg;
	struct vt_lines lines;
	char *line;

	vt_lines_open(&lines, fd);
	while (vt_line(&lines, &line, NULL)) {
		if (list->n == list->size)
			list->v = vt_realloc(list->v, sizeof(*list->v) * (list->size = list->size * 2 + 256));
		list->v[list->n] = (struct line){vt_strdup(line), list->n};
		list->n++;
	}
	if (lines.error)
		vt_warn("%s: %s", name, strerror(lines.error));
	vt_lines_free(&lines);
	return lines.error;
}

/* A key "2", "2,3", "2n" or "2,2nr": its first and last field, and how it is compared. */
static void parse_key(const char *text)
{
	struct key *key = &keys[key_count];
	char *end;

	if (key_count++ == KEYS_MAX)
		vt_die(2, "more than %d keys", KEYS_MAX);
	*key = (struct key){.first = (int)strtol(text, &end, 10), .last = INT_MAX};
	if (*end == ',')
		key->last = (int)strtol(end + 1, &end, 10);
	for (; *end == 'n' || *end == 'r'; end++)
		*(*end == 'n' ? &key->numeric : &key->reverse) = true;
	if (key->first < 1 || key->last < key->first || *end)
		vt_die(2, "invalid key '%s'", text);
}

/* POSIX: -n and -r outside of the keys are for keys that say neither, and for the whole line. */
static void complete_keys(void)
{
	for (size_t i = 0; i < (key_count ? key_count : 1); i++) {
		if (keys[i].numeric || keys[i].reverse)
			continue;
		keys[i].numeric = numeric;
		keys[i].reverse = reverse;
	}
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "sort [-nru] [-k FIRST[,LAST][nr]]... [-t SEPARATOR] [FILE...]",
			       .options = "nruk:t:",
			       .bad_status = 2};
	struct line_list list = {0};
	int c, status;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'k')
			parse_key(o.arg);
		else if (c == 't' && (!o.arg[0] || o.arg[1]))
			vt_die(2, "the separator must be one byte: '%s'", o.arg);
		else if (c == 't')
			separator = o.arg[0];
		else
			*(c == 'n' ? &numeric : c == 'r' ? &reverse : &unique) = true;
	}
	complete_keys();
	status = vt_each_file(argv + o.index, 2, read_lines, &list);
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), compare);
	for (size_t i = 0; i < list.n; i++) {
		/* -u compares keys only: of equal ones the first is kept. */
		if (!unique || i == 0 || compare_keys(list.v[i - 1].text, list.v[i].text))
			printf("%s\n", list.v[i].text);
	}
	return vt_finish(status);
}
