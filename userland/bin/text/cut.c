/*
 * cut -f LIST [-d SEPARATOR] [-s] [FILE...] | cut -c LIST [FILE...]: parts of lines.
 *
 * A LIST is numbers and ranges with commas between: 1,3-5,7- . -b is -c, as a character is a byte
 * here. Left out: --complement, --output-delimiter.
 *
 *     echo a:b:c:d | cut -d: -f 1,3-      prints      a:c:d
 *
 * Parts come in the order of the line, whatever the order of the list.
 */
#include <vt.h>
#include <ctype.h>

#define CUT_MAX 1024 /* fields or bytes that can be named one by one */

struct cut {
	bool wanted[CUT_MAX + 1]; /* [n]: field or byte n; [0] is not used */
	long open_end;		  /* everything from here on; 0: none */
	bool fields, only_separated;
	char separator;
};

/*
 * Read a list such as "1,3-5,7-". A range without an end reaches to the line's end; of several only
 * the first counts, as it holds the others.
 */
static void parse_list(struct cut *cut, const char *list)
{
	const char *at = list;
	char *end;

	do {
		long first = 1, last;

		if (*at != '-')
			first = strtol(at, &end, 10);
		else
			end = (char *)at;
		last = first;
		if (*end == '-') {
			at = end + 1;
			last = isdigit((unsigned char)*at) ? strtol(at, &end, 10) : (end++, 0);
		}
		if (first < 1 || first > CUT_MAX || last > CUT_MAX || (last && last < first) || (*end && *end != ','))
			vt_die(1, "invalid list '%s'", list);
		if (!last && (!cut->open_end || first < cut->open_end))
			cut->open_end = first;
		for (; first <= last; first++)
			cut->wanted[first] = true;
		at = end + 1;
	} while (*end);
}

static bool is_wanted(const struct cut *cut, long n)
{
	return (cut->open_end && n >= cut->open_end) || (n <= CUT_MAX && cut->wanted[n]);
}

/* A line without the separator is printed whole, unless -s: POSIX has it so. */
static void cut_fields(const struct cut *cut, const char *line)
{
	const char ends[] = {cut->separator, '\0'};
	bool first = true;

	if (!strchr(line, cut->separator)) {
		if (!cut->only_separated)
			printf("%s\n", line);
		return;
	}
	for (long n = 1;; n++) {
		size_t length = strcspn(line, ends);

		if (is_wanted(cut, n)) {
			printf("%s%.*s", first ? "" : ends, (int)length, line);
			first = false;
		}
		if (!line[length])
			break;
		line += length + 1;
	}
	printf("\n");
}

/* For vt_each_file(). Returns non-zero when reading failed. */
static int cut_file(int fd, const char *name, void *arg)
{
	const struct cut *cut = arg;
	struct vt_lines lines;
	char *line;

	vt_lines_open(&lines, fd);
	while (vt_line(&lines, &line, NULL)) {
		if (cut->fields) {
			cut_fields(cut, line);
			continue;
		}
		for (long n = 1; line[n - 1]; n++) {
			if (is_wanted(cut, n))
				printf("%c", line[n - 1]);
		}
		printf("\n");
	}
	if (lines.error)
		vt_warn("%s: %s", name, strerror(lines.error));
	vt_lines_free(&lines);
	return lines.error;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "cut -f LIST [-d SEPARATOR] [-s] [FILE...] | cut -c LIST [FILE...]",
			       .options = "f:c:b:d:s",
			       .bad_status = 1};
	static struct cut cut = {.separator = '\t'};
	bool list = false;
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 's') {
			cut.only_separated = true;
		} else if (c == 'd') {
			if (!o.arg[0] || o.arg[1])
				vt_die(1, "the separator must be one byte");
			cut.separator = o.arg[0];
		} else {
			parse_list(&cut, o.arg);
			cut.fields = c == 'f';
			list = true;
		}
	}
	if (!list)
		vt_usage(&o);
	return vt_finish(vt_each_file(argv + o.index, 1, cut_file, &cut));
}
