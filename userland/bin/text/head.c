/*
 * head [-qv] [-n [-]LINES | -c [-]BYTES | -LINES] [FILE...]: the first lines or bytes of files; with a - before the
 * number all but the last, which are known and shown when the end has come.
 *
 * Left out: -z.
 */
#include <vt.h>
#include <limits.h>

struct head {
	long count;		   /* of lines, or of bytes with -c */
	bool bytes, titles, first; /* -c; several files, so each is named; no file has been shown yet */
	bool but_last;		   /* all but so many */
};

/* Write as much of buf as the count allows. Returns how many bytes. */
static size_t head_block(const struct head *h, long *left, const char *buf, size_t n)
{
	size_t keep = 0;

	if (h->bytes) {
		keep = n < (size_t)*left ? n : (size_t)*left;
		*left -= (long)keep;
	} else {
		while (keep < n && *left)
			*left -= buf[keep++] == '\n';
	}
	if (vt_write_all(STDOUT_FILENO, buf, keep) < 0)
		vt_die_errno(1, "write error");
	return keep;
}

/* All but the last lines or bytes. A last line without a newline is one. Returns 0, or 1 after a message. */
static int head_but_last(const struct head *h, int fd, const char *name)
{
	size_t n, keep;
	char *text = vt_read_to_end(fd, &n);

	if (!text) {
		vt_warn_errno(name);
		return 1;
	}
	keep = n;
	for (long left = h->count; left && keep; left--)
		for (keep--; !h->bytes && keep && text[keep - 1] != '\n';)
			keep--;
	if (vt_write_all(STDOUT_FILENO, text, keep) < 0)
		vt_die_errno(1, "write error");
	free(text);
	return 0;
}

/*
 * For vt_each_file(). What was read beyond the count is lost to the next reader of the same pipe,
 * as POSIX allows; in a file its place goes back.
 */
static int head(int fd, const char *name, void *arg)
{
	static char buf[4096];
	struct head *h = arg;
	long left = h->count;
	size_t taken = 0;
	ssize_t n = 0;

	/* The title goes through stdio, what follows by write(2): it has to be out first. */
	if (h->titles) {
		printf("%s==> %s <==\n", h->first ? "" : "\n", strcmp(name, "-") ? name : "standard input");
		if (vt_finish(0))
			exit(1);
		h->first = false;
	}
	if (h->but_last)
		return head_but_last(h, fd, name);
	while (left > 0) {
		n = vt_read(fd, buf, sizeof(buf));
		if (n < 0)
			vt_warn_errno(name);
		if (n <= 0)
			return n < 0;
		taken = head_block(h, &left, buf, (size_t)n);
	}
	/* POSIX: who reads a file on after us begins behind what was shown. A pipe cannot be moved in: ESPIPE. */
	if (fd == STDIN_FILENO && n > (ssize_t)taken)
		lseek(fd, (off_t)taken - n, SEEK_CUR);
	return 0;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "head [-qv] [-n [-]LINES | -c [-]BYTES | -LINES] [FILE...]",
			       .options = "n:c:qv0123456789",
			       .bad_status = 1};
	struct head h = {.count = 10, .first = true};
	bool quiet = false, verbose = false, digits = false;
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'n' || c == 'c') {
			h.but_last = *o.arg == '-';
			h.count = vt_number_or_die(1, o.arg + h.but_last, 0, LONG_MAX);
			h.bytes = c == 'c';
		} else if (c == 'q' || c == 'v') {
			quiet = c == 'q';
			verbose = c == 'v';
		} else { /* -20 */
			h.count = (digits ? h.count * 10 : 0) + (c - '0');
			digits = true;
		}
	}
	h.titles = (argc - o.index > 1 || verbose) && !quiet;
	return vt_each_file(argv + o.index, 1, head, &h);
}
