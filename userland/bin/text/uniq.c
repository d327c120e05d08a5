/*
 * uniq [-cdu] [FILE]: one of each run of equal lines.
 *
 * Left out: -f, -s, -w, -i, an output file.
 *
 *     sort words | uniq -c | sort -n      how often each word comes, the rarest first
 */
#include <vt.h>

static bool opt_count, opt_repeated, opt_single;

/* A run is over: count lines were equal to line. */
static void show(const char *line, long count)
{
	if ((opt_repeated && count < 2) || (opt_single && count > 1))
		return;
	if (opt_count)
		printf("%7ld ", count);
	printf("%s\n", line);
}

/* For vt_each_file(). Only neighbours are compared: sort first to have each line once. */
static int uniq(int fd, const char *name, void *arg)
{
	struct vt_lines lines;
	char *line, *last = NULL;
	long count = 0;

	vt_lines_open(&lines, fd);
	while (vt_line(&lines, &line, NULL)) {
		if (last && !strcmp(last, line)) {
			count++;
			continue;
		}
		if (last)
			show(last, count);
		free(last);
		last = vt_strdup(line);
		count = 1;
	}
	if (last)
		show(last, count);
	free(last);
	if (lines.error)
		vt_warn("%s: %s", name, strerror(lines.error));
	vt_lines_free(&lines);
	return lines.error;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "uniq [-cdu] [FILE]", .options = "cdu", .bad_status = 1};
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1)
		*(c == 'c' ? &opt_count : c == 'd' ? &opt_repeated : &opt_single) = true;
	if (argc - o.index > 1)
		vt_usage(&o);
	return vt_finish(vt_each_file(argv + o.index, 1, uniq, NULL));
}
