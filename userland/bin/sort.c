/*
 * sort [-nru] [-k FIRST[,LAST]] [-t SEPARATOR] [FILE...]: lines in order.
 *
 * By bytes. All input is held in memory. Left out: -c, -m, -o, -b, -f, -h, more than one key, byte
 * positions in keys.
 *
 *     sort -t: -k 3,3n /etc/passwd      the key is field 3 between colons, compared as a number
 *
 * qsort() does not keep the order of equal lines, so equal keys are decided by the whole line.
 */
#include <vt.h>
#include <ctype.h>
#include <limits.h>

static bool numeric, reverse, unique;
static int key_first, key_last = INT_MAX; /* fields, from 1; first 0: the whole line */
static char separator;			  /* '\0': runs of blanks */

struct line_list {
	char **v; /* each line allocated by itself; nothing is freed, as the program ends with the list */
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
static const char *key_of(const char *line, size_t *length)
{
	const char *start = line, *end;

	if (!key_first) {
		*length = strlen(line);
		return line;
	}
	for (int i = 1; i < key_first; i++)
		start = skip_field(start);
	end = start;
	for (int i = key_first; i <= key_last && *end; i++)
		end = skip_field(end);
	/* The separator behind the last field is no part of the key. */
	if (separator && key_last != INT_MAX && end > start && end[-1] == separator)
		end--;
	*length = (size_t)(end - start);
	return start;
}

/*
 * Compare decimal numbers of any length, with sign and fraction: as text they would be compared
 * wrongly (9 and 10), and as integers they could overflow. Without leading zeros the longer one is the
 * larger.
 */
static int compare_numbers(const char *a, const char *b)
{
	bool minus_a, minus_b;
	size_t na, nb;
	int order = 0;

	a += strspn(a, " \t");
	b += strspn(b, " \t");
	minus_a = *a == '-';
	minus_b = *b == '-';
	a += minus_a;
	b += minus_b;
	a += strspn(a, "0");
	b += strspn(b, "0");
	na = strspn(a, "0123456789");
	nb = strspn(b, "0123456789");
	if (na != nb)
		order = na < nb ? -1 : 1;
	else
		order = strncmp(a, b, na);
	if (!order && (a[na] == '.' || b[nb] == '.')) {
		const char *fa = a[na] == '.' ? a + na + 1 : "", *fb = b[nb] == '.' ? b + nb + 1 : "";

		while (!order && (isdigit((unsigned char)*fa) || isdigit((unsigned char)*fb))) {
			int da = isdigit((unsigned char)*fa) ? *fa++ : '0',
			    db = isdigit((unsigned char)*fb) ? *fb++ : '0';

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
static int compare_keys(const char *a, const char *b)
{
	size_t na, nb;
	int order;

	a = key_of(a, &na);
	b = key_of(b, &nb);
	if (numeric)
		return compare_numbers(a, b);
	order = memcmp(a, b, na < nb ? na : nb);
	return order ? order : na < nb ? -1 : na > nb;
}

static int compare(const void *x, const void *y)
{
	const char *a = *(char *const *)x, *b = *(char *const *)y;
	int order = compare_keys(a, b);

	/* Equal keys: the whole line decides, so that the result does not depend on the method. */
	if (!order && !unique)
		order = strcmp(a, b);
	return reverse ? -order : order;
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
		list->v[list->n++] = vt_strdup(line);
	}
	if (lines.error)
		vt_warn("%s: %s", name, strerror(lines.error));
	vt_lines_free(&lines);
	return lines.error;
}

/* A key "2", "2,3", "2n" or "2,2nr": its first and last field, and how it is compared. */
static void parse_key(const char *text)
{
	char *end;

	key_first = (int)strtol(text, &end, 10);
	if (*end == ',')
		key_last = (int)strtol(end + 1, &end, 10);
	for (; *end == 'n' || *end == 'r'; end++)
		*(*end == 'n' ? &numeric : &reverse) = true;
	if (key_first < 1 || key_last < key_first || *end)
		vt_die(2, "invalid key '%s'", text);
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "sort [-nru] [-k FIRST[,LAST]] [-t SEPARATOR] [FILE...]",
			       .options = "nruk:t:",
			       .bad_status = 2};
	struct line_list list = {0};
	int c, status;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'k')
			parse_key(o.arg);
		else if (c == 't')
			separator = o.arg[0];
		else
			*(c == 'n' ? &numeric : c == 'r' ? &reverse : &unique) = true;
	}
	status = vt_each_file(argv + o.index, 2, read_lines, &list);
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), compare);
	for (size_t i = 0; i < list.n; i++) {
		/* -u compares keys only: of equal ones the first is kept. */
		if (!unique || i == 0 || compare_keys(list.v[i - 1], list.v[i]))
			printf("%s\n", list.v[i]);
	}
	return vt_finish(status);
}
