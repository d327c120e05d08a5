/*
 * tail [-fqv] [-n [+]LINES | -c [+]BYTES | -LINES] [FILE...]: the last lines or bytes of a file, and
 * what is added to it.
 *
 * The whole file is read into memory. -F is -f. Left out: following several files, or a name, -s, --pid.
 * With +N it begins at line or byte N.
 *
 *     tail -f /sys/kernel/tracing/trace_pipe      would never begin: a file without an end has no last lines
 */
#include <vt.h>
#include <limits.h>
#include <time.h>

struct tail {
	long count; /* lines or bytes; N of +N */
	bool bytes, from_start, follow, titles, first;
};

/* Where the last `count` lines begin, looked for backwards from the end. */
static size_t last_lines(const char *text, size_t size, long count)
{
	size_t at = size;

	if (at && text[at - 1] == '\n')
		at--; /* the newline that ends the last line */
	if (!count)
		return size;
	for (; at > 0; at--) {
		if (text[at - 1] == '\n' && --count == 0)
			break;
	}
	return at;
}

/* +N: where line N begins, counted from 1. */
static size_t from_line(const char *text, size_t size, long count)
{
	size_t at = 0;

	while (count > 1 && at < size)
		count -= text[at++] == '\n';
	return at;
}

/*
 * Read what can be read, into memory that the caller frees; *size gets its length. An error is
 * reported and makes *status 1, and what came before it is kept.
 */
static char *read_all(int fd, const char *name, size_t *size, int *status)
{
	size_t room = 65536;
	char *text = vt_malloc(room);
	ssize_t n;

	*size = 0;
	while ((n = vt_read(fd, text + *size, room - *size)) > 0) {
		*size += (size_t)n;
		if (room - *size < 4096)
			text = vt_realloc(text, room *= 2);
	}
	if (n < 0) {
		vt_warn("error reading '%s': %s", name, strerror(errno));
		*status = 1;
	}
	return text;
}

/*
 * -f: copy what is added, for ever. There is no way to be told of a change, so it looks five times a
 * second.
 */
static void follow(int fd)
{
	struct timespec pause = {.tv_nsec = 200000000};

	while (vt_copy(fd, STDOUT_FILENO) == 0) {
		if (nanosleep(&pause, NULL) < 0 && errno != EINTR)
			break;
	}
	vt_die_errno(1, "follow");
}

/*
 * The end of one file, or with +N what begins there. It is read whole, so a pipe is as good as a file; with -f what is
 * appended follows. For vt_each_file().
 */
static int tail(int fd, const char *name, void *arg)
{
	struct tail *t = arg;
	size_t size, at;
	int status = 0;
	char *text;

	/* The title goes through stdio, what follows by write(2): it has to be out first. */
	if (t->titles) {
		printf("%s==> %s <==\n", t->first ? "" : "\n", strcmp(name, "-") ? name : "standard input");
		if (vt_finish(0))
			exit(1);
		t->first = false;
	}
	text = read_all(fd, name, &size, &status);
	if (t->bytes && t->from_start)
		at = t->count > 0 && (size_t)t->count - 1 < size ? (size_t)t->count - 1 : t->count ? size : 0;
	else if (t->bytes)
		at = (size_t)t->count < size ? size - (size_t)t->count : 0;
	else
		at = t->from_start ? from_line(text, size, t->count) : last_lines(text, size, t->count);
	if (vt_write_all(STDOUT_FILENO, text + at, size - at) < 0)
		vt_die_errno(1, "write error");
	free(text);
	if (t->follow)
		follow(fd);
	return status;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "tail [-fqv] [-n [+]LINES | -c [+]BYTES | -LINES] [FILE...]",
			       .options = "n:c:fFqv0123456789",
			       .bad_status = 1};
	struct tail t = {.count = 10, .first = true};
	bool quiet = false, verbose = false, digits = false;
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'n' || c == 'c') {
			t.from_start = *o.arg == '+';
			t.count = vt_number_or_die(1, o.arg + (*o.arg == '+' || *o.arg == '-'), 0, LONG_MAX);
			t.bytes = c == 'c';
		} else if (c == 'f' || c == 'F') {
			t.follow = true;
		} else if (c == 'q' || c == 'v') {
			quiet = c == 'q';
			verbose = c == 'v';
		} else {
			t.count = (digits ? t.count * 10 : 0) + (c - '0');
			digits = true;
		}
	}
	t.titles = (argc - o.index > 1 || verbose) && !quiet;
	return vt_each_file(argv + o.index, 1, tail, &t);
}
