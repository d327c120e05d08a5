/*
 * wc [-lwc] [FILE...]: count lines, words and bytes.
 *
 * Left out: -m (characters), -L. The last line counts only with its newline, as POSIX has it.
 */
#include <vt.h>
#include <ctype.h>

struct wc {
	bool lines, words, bytes;
	long total[3]; /* of all files: lines, words, bytes */
	bool padded;   /* several columns or files are lined up */
};

/*
 * Print the numbers that were asked for, and the file's name; standard input ("-") has no name to
 * print.
 */
static void print_counts(const struct wc *w, const long *n, const char *name)
{
	const bool shown[] = {w->lines, w->words, w->bytes};
	const char *between = "";

	for (int i = 0; i < 3; i++) {
		if (!shown[i])
			continue;
		printf(w->padded ? "%s%7ld" : "%s%ld", between, n[i]);
		between = " ";
	}
	printf(strcmp(name, "-") ? " %s\n" : "\n", name);
}

/*
 * For vt_each_file(). A word begins at a byte that is no blank and follows one; it may lie across two
 * blocks, so in_word lives outside of both loops.
 */
static int wc(int fd, const char *name, void *arg)
{
	static char buf[8192];
	struct wc *w = arg;
	long n[3] = {0};
	bool in_word = false;
	ssize_t got;

	while ((got = vt_read(fd, buf, sizeof(buf))) > 0) {
		n[2] += got;
		for (ssize_t i = 0; i < got; i++) {
			bool space = isspace((unsigned char)buf[i]);

			n[0] += buf[i] == '\n';
			n[1] += !space && !in_word;
			in_word = !space;
		}
	}
	if (got < 0) {
		vt_warn_errno(name);
		return 1;
	}
	for (int i = 0; i < 3; i++)
		w->total[i] += n[i];
	print_counts(w, n, name);
	return 0;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "wc [-lwc] [FILE...]", .options = "lwc", .bad_status = 1};
	struct wc w = {0};
	int c, status;

	while ((c = vt_option(&o, argc, argv)) != -1)
		*(c == 'l' ? &w.lines : c == 'w' ? &w.words : &w.bytes) = true;
	if (!w.lines && !w.words && !w.bytes)
		w.lines = w.words = w.bytes = true;
	/* One number alone is printed bare, so that a script can use it as it is. */
	w.padded = w.lines + w.words + w.bytes > 1 || argc - o.index > 1;
	status = vt_each_file(argv + o.index, 1, wc, &w);
	if (argc - o.index > 1)
		print_counts(&w, w.total, "total");
	return vt_finish(status);
}
