/*
 * printf(1): %s %b %c %d %i %u %o %x %X %% with flags, width and precision.
 *
 * The format's escapes are done while it is printed, and it is used again until the arguments are
 * used up: POSIX has it so. Left out: floating point, * as a width, %q, %(date)T.
 *
 *     printf '%s=%d\n' a 1 b 2      prints two lines: the format is used twice
 *
 * Output is gathered and written by one write(2), so that a line that is written to a file of tracefs
 * arrives there as one command.
 */
#include <vt.h>

/* Everything is gathered here and written at once. */
struct out {
	char *text; /* owned */
	size_t used, size;
};

/* Append n bytes, doubling the room. */
static void out_bytes(struct out *o, const char *s, size_t n)
{
	if (o->used + n > o->size)
		o->text = vt_realloc(o->text, o->size = (o->used + n) * 2);
	memcpy(o->text + o->used, s, n);
	o->used += n;
}

/* Append one byte, which may be zero: printf '\0' prints it. */
static void out_byte(struct out *o, int c)
{
	char byte = (char)c;

	out_bytes(o, &byte, 1);
}

/* %b: append the argument with its escapes done. Returns false after \c, which ends all output. */
static bool out_escaped(struct out *o, const char *s)
{
	while (*s) {
		int c = (unsigned char)*s++;

		if (c == '\\')
			c = vt_escape(&s);
		if (c < 0)
			return false;
		out_byte(o, c);
	}
	return true;
}

/* 'x (the value of a character) or a number; a bad one counts as 0 and makes the status 1. */
static long number_argument(const char *arg, int *status)
{
	char *end;
	long n;

	if (arg[0] == '\'' || arg[0] == '"')
		return (unsigned char)arg[1];
	errno = 0;
	n = strtol(arg, &end, 0);
	/* 0xffffffffffffffff is a fair argument of %x. */
	if (errno == ERANGE)
		n = (long)strtoul(arg, &end, 0);
	if (*end) {
		vt_warn("invalid number '%s'", arg);
		*status = 1;
	}
	return n;
}

/*
 * Format one argument by "%<spec><letter>" with the C library's own printf. spec is flags, width and
 * precision, at most 12 bytes (convert() refuses more); the length becomes `l`, since the shell's
 * numbers have 64 bits.
 */
static void out_number(struct out *o, const char *spec, size_t n, char letter, long value)
{
	char format[20] = "%", text[64], *whole = text;
	int length;

	memcpy(format + 1, spec, n);
	sprintf(format + 1 + n, "l%c", letter);
	length = snprintf(text, sizeof(text), format, value);
	if (length >= (int)sizeof(text)) {
		whole = vt_malloc((size_t)length + 1);
		snprintf(whole, (size_t)length + 1, format, value);
	}
	out_bytes(o, whole, length < 0 ? 0 : (size_t)length);
	if (whole != text)
		free(whole);
}

/* %s and %c are padded by hand: an argument may be longer than any buffer. */
static void out_string(struct out *o, const char *spec, const char *s, size_t length)
{
	bool left = false;
	size_t width;
	char *end;

	for (; *spec && strchr("-+ #0", *spec); spec++)
		left |= *spec == '-';
	width = strtoul(spec, &end, 10);
	/* A precision cuts the string; it need not end in a zero within it. */
	if (*end == '.') {
		size_t most = strtoul(end + 1, NULL, 10);

		length = most < length ? most : length;
	}
	for (size_t i = length; !left && i < width; i++)
		out_byte(o, ' ');
	out_bytes(o, s, length);
	for (size_t i = length; left && i < width; i++)
		out_byte(o, ' ');
}

/*
 * Do the conversion whose '%' stands before *format, with the next argument of *args if it takes one.
 * Returns 0, 1 after \c, or -1 when there is no such conversion.
 */
static int convert(struct out *o, const char **format, char ***args, int *status)
{
	size_t n = strspn(*format, "-+ #0123456789.");
	const char *spec = *format, *arg = **args ? **args : "";
	char letter = spec[n];

	if (letter == '%' && n == 0) {
		++*format;
		out_byte(o, '%');
		return 0;
	}
	/* Left out: floating point, * for a width, %q. */
	if (!letter || !strchr("sbcdiuoxX", letter) || n > 12)
		return -1;
	*format += n + 1;
	if (**args)
		++*args;
	if (letter == 's')
		out_string(o, spec, arg, strlen(arg));
	else if (letter == 'c')
		out_string(o, spec, arg, *arg ? 1 : 0);
	else if (letter == 'b')
		return out_escaped(o, arg) ? 0 : 1;
	else
		out_number(o, spec, n, letter, number_argument(arg, status));
	return 0;
}

/* Print the format once. Returns as convert() does. */
static int format_once(struct out *o, const char *format, char ***args, int *status)
{
	while (*format) {
		int c = (unsigned char)*format++, result;

		if (c == '%') {
			result = convert(o, &format, args, status);
			if (result)
				return result;
			continue;
		}
		if (c == '\\')
			c = vt_escape(&format);
		if (c < 0)
			return 1;
		out_byte(o, c);
	}
	return 0;
}

/* The format is used again as long as arguments are left and it takes some. */
int vt_printf(int argc, char **argv)
{
	struct out o = {NULL, 0, 0};
	int status = 0, result;
	char **args, **before;

	if (argc > 1 && !strcmp(argv[1], "--"))
		argv++, argc--;
	if (argc < 2) {
		vt_warn("Usage: printf FORMAT [ARG...]");
		return 2;
	}
	args = argv + 2;
	do {
		before = args;
		result = format_once(&o, argv[1], &args, &status);
		/* A format that takes no argument is printed once, however many are left. */
	} while (result == 0 && *args && args != before);
	if (result < 0) {
		vt_warn("invalid format '%s'", argv[1]);
		status = 1;
	}
	if (vt_write_all(STDOUT_FILENO, o.text, o.used) < 0) {
		vt_warn_errno(strcmp(vt_name, "printf") ? "printf: write error" : "write error");
		status = 1;
	}
	free(o.text);
	return status;
}
