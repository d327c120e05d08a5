/*
 * head [-n LINES | -c BYTES | -LINES] [FILE...]: the first lines or bytes of files.
 *
 * Left out: negative counts (all but the last), -z.
 */
#include <vt.h>
#include <limits.h>

struct head {
	long count;		   /* of lines, or of bytes with -c */
	bool bytes, titles, first; /* -c; several files, so each is named; no file has been shown yet */
};

/* Write as much of buf as the count allows. Returns false when it is used up. */
static bool head_block(const struct head *h, long *left, const char *buf, size_t n)
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
	return *left > 0;
}

/*
 * For vt_each_file(). What was read beyond the count is lost to the next reader of the same pipe,
 * as POSIX allows.
 */
static int head(int fd, const char *name, void *arg)
{
	static char buf[4096];
	struct head *h = arg;
	long left = h->count;
	ssize_t n;

	/* The title goes through stdio, what follows by write(2): it has to be out first. */
	if (h->titles) {
		printf("%s==> %s <==\n", h->first ? "" : "\n", strcmp(name, "-") ? name : "standard input");
		if (vt_finish(0))
			exit(1);
		h->first = false;
	}
	while (left > 0) {
		n = vt_read(fd, buf, sizeof(buf));
		if (n < 0)
			vt_warn_errno(name);
		if (n <= 0)
			return n < 0;
		if (!head_block(h, &left, buf, (size_t)n))
			break;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "head [-n LINES | -c BYTES | -LINES] [FILE...]",
			       .options = "n:c:q0123456789",
			       .bad_status = 1};
	struct head h = {.count = 10, .first = true};
	bool quiet = false, digits = false;
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'n' || c == 'c') {
			h.count = vt_number_or_die(1, o.arg, 0, LONG_MAX);
			h.bytes = c == 'c';
		} else if (c == 'q') {
			quiet = true;
		} else { /* -20 */
			h.count = (digits ? h.count * 10 : 0) + (c - '0');
			digits = true;
		}
	}
	h.titles = argc - o.index > 1 && !quiet;
	return vt_each_file(argv + o.index, 1, head, &h);
}
