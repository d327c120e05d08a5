/*
 * Messages to standard error, and memory that is there or ends the program.
 *
 * A program of this size has nothing better to do without memory than to say so: every allocation
 * that is not checked by its caller comes from here.
 *
 * Messages go to standard error, so that they appear on the terminal although standard output is a
 * file or a pipe. Each begins with the program's name: in a pipeline one must see who speaks.
 */
#include <vt.h>
#include <stdarg.h>

/*
 * Put a message together and write it with one write(2), so that those of several processes do not mix
 * within a line. A message that is too long is cut, but keeps its newline.
 */
static void message(const char *format, va_list args, const char *tail)
{
	char text[512];
	int n = sniprintf(text, sizeof(text), "%.256s: ", vt_name); /* it is what the caller of execve() likes */

	n += vsniprintf(text + n, sizeof(text) - n, format, args);
	if (n >= (int)sizeof(text))
		n = sizeof(text) - 1;
	n += sniprintf(text + n, sizeof(text) - n, tail ? ": %s\n" : "\n", tail);
	if (n >= (int)sizeof(text)) {
		n = sizeof(text);
		text[n - 1] = '\n';
	}
	/* There is nowhere left to report to when this fails. */
	vt_write_all(STDERR_FILENO, text, (size_t)n);
}

/* err is a value: the caller's errno may change on the way to strerror(). */
static void message_errno(int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message(format, args, strerror(err));
	va_end(args);
}

/*
 * The three forms differ in what follows the text: nothing, errno's text, the end of the program.
 */
void vt_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message(format, args, NULL);
	va_end(args);
}

void vt_warn_errno(const char *what)
{
	message_errno(errno, "%s", what);
}

void vt_die(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message(format, args, NULL);
	va_end(args);
	exit(status);
}

/* errno is read before exit() runs handlers. */
void vt_die_errno(int status, const char *what)
{
	vt_warn_errno(what);
	exit(status);
}

void *vt_malloc(size_t size)
{
	return vt_realloc(NULL, size);
}

/* A size of 0 would make realloc() free p, and NULL could then mean either. */
void *vt_realloc(void *p, size_t size)
{
	p = realloc(p, size ? size : 1);
	if (!p)
		vt_die(2, "out of memory");
	return p;
}

char *vt_strdup(const char *s)
{
	return strcpy(vt_malloc(strlen(s) + 1), s);
}
