/*
 * Reading and writing in blocks, in lines and as whole files.
 *
 * All reading is begun again after EINTR: a program here that is interrupted has no reason to stop,
 * and one that has (the shell) calls read() itself.
 *
 * A program of this kind is a filter: bytes come in by read(2), of any length the kernel likes, and go
 * out by write(2), which may take a part only. These functions hide both.
 */
#include <vt.h>

ssize_t vt_read(int fd, void *buf, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	return n;
}

/* A pipe or a terminal may take less than it was given: short writes are no errors. */
int vt_write_all(int fd, const void *buf, size_t size)
{
	const char *at = buf;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO; /* no file does this for size > 0; going on would be for ever */
		if (n <= 0)
			return -1;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

/*
 * 16 KB at a time: each system call costs as much as copying some thousand bytes. Reading and writing
 * errors have different results, as the message names another file.
 */
int vt_copy(int from, int to)
{
	/* Not on the stack: that has a single page when a program begins. */
	static char buf[16384];

	for (;;) {
		ssize_t n = vt_read(from, buf, sizeof(buf));

		if (n == 0)
			return 0;
		if (n < 0)
			return -1;
		if (vt_write_all(to, buf, (size_t)n) < 0)
			return -2;
	}
}

/* Files of /proc say that they are 0 bytes long: read until the end comes, doubling. */
char *vt_read_to_end(int fd, size_t *size)
{
	size_t room = 4096, used = 0;
	char *text = vt_malloc(room);

	for (;;) {
		ssize_t n = vt_read(fd, text + used, room - used - 1);

		if (n < 0) {
			free(text);
			return NULL;
		}
		if (n == 0)
			break;
		used += (size_t)n;
		if (room - used < 1024)
			text = vt_realloc(text, room *= 2);
	}
	text[used] = '\0';
	if (size)
		*size = used;
	return text;
}

char *vt_read_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text;
	int err;

	if (fd < 0)
		return NULL;
	text = vt_read_to_end(fd, size);
	err = errno;
	close(fd);
	errno = err;
	return text;
}

/*
 * Standard output is buffered, so a full file system is often noticed only when the buffer is written at the end. A
 * program that ignored this would report success for a file that is cut off. errno is cleared first: of an earlier
 * flush that failed only the flag is left, and its number is lost.
 */
int vt_finish(int status)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return status;
	if (errno)
		vt_warn_errno("write error");
	else
		vt_warn("write error");
	return 1;
}

/* The descriptor stays the caller's to close. */
void vt_lines_open(struct vt_lines *l, int fd)
{
	*l = (struct vt_lines){.fd = fd, .newline = '\n', .size = 8192};
	l->buf = vt_malloc(l->size);
}

void vt_lines_free(struct vt_lines *l)
{
	free(l->buf);
	l->buf = NULL;
}

/*
 * Make room and read more. What is there moves to the front, so that the buffer need not grow for
 * ever; it grows only when one line fills it. Two bytes stay free: one to read into, one for the zero.
 */
static void lines_fill(struct vt_lines *l)
{
	ssize_t n;

	if (l->at) {
		memmove(l->buf, l->buf + l->at, l->end - l->at);
		l->end -= l->at;
		l->at = 0;
	}
	if (l->size - l->end < 2)
		l->buf = vt_realloc(l->buf, l->size *= 2);
	n = vt_read(l->fd, l->buf + l->end, l->size - l->end - 1);
	if (n > 0) {
		l->end += (size_t)n;
		return;
	}
	l->eof = true;
	if (n < 0)
		l->error = errno;
}

/*
 * The bytes that were looked at without finding a newline are not looked at again (`seen`), so a very
 * long line costs time in proportion to its length.
 *
 *     buf:  | taken ... | at: the line \0 | next line ... end | room |
 */
int vt_line(struct vt_lines *l, char **line, size_t *length)
{
	size_t seen = 0;
	char *newline;

	for (;;) {
		newline = memchr(l->buf + l->at + seen, l->newline, l->end - l->at - seen);
		if (newline || l->eof)
			break;
		seen = l->end - l->at;
		lines_fill(l);
	}
	/*
	 * The last line may lack its newline; POSIX calls that an incomplete line and wants it
	 * treated as one.
	 */
	if (l->error || (!newline && l->at == l->end))
		return 0;
	l->cut = !newline;
	if (!newline)
		newline = l->buf + l->end; /* lines_fill() always leaves room for a zero */
	*newline = '\0';
	*line = l->buf + l->at;
	if (length)
		*length = (size_t)(newline - *line);
	l->at = (size_t)(newline - l->buf) + 1;
	if (l->at > l->end)
		l->at = l->end;
	return 1;
}

/*
 * Call `work` for each file, - and an empty list meaning standard input. Returns 0, or `bad` if a file could not be
 * opened or work returned another value than 0.
 */
int vt_each_file(char **names, int bad, int (*work)(int fd, const char *name, void *arg), void *arg)
{
	static char *standard_input[] = {"-", NULL};
	int status = 0;

	if (!*names)
		names = standard_input;
	for (; *names; names++) {
		bool standard = !strcmp(*names, "-");
		int fd = standard ? STDIN_FILENO : open(*names, O_RDONLY);

		/* One missing file does not stop the others. */
		if (fd < 0) {
			vt_warn_errno(*names);
			status = bad;
			continue;
		}
		if (work(fd, *names, arg))
			status = bad;
		if (!standard)
			close(fd);
	}
	return status;
}
