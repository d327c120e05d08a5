/*
 * Reading numbers and words out of a text by a format, for modules: the conversions of Linux's sscanf(), which are
 * those of C without floating point, but a + is no sign, only %d and %i take a -, and a number that is too large for
 * its type is cut to it. Each function here moves the caller's position past what it has read.
 */
#include <kernel/export.h>
#include <lib/printf.h>
#include <lib/string.h>

/* What stands between a % and its letter. */
struct conversion {
	bool skip;	/* '*': it is read and stored nowhere */
	unsigned width; /* characters at most */
	unsigned size;	/* bytes of the variable, for numbers */
};

/* Behind the white space that begins here. */
static const char *scan_space(const char *at)
{
	while (isspace(*at))
		at++;
	return at;
}

/* Two letters of length mean the next type in the same direction: hh is a char, ll as long as l on our machines. */
static struct conversion scan_conversion(const char **fmt)
{
	struct conversion c = {.width = U32_MAX, .size = sizeof(int)};

	if (**fmt == '*') {
		c.skip = true;
		++*fmt;
	}
	if (isdigit(**fmt))
		for (c.width = 0; isdigit(**fmt); ++*fmt)
			c.width = c.width * 10 + **fmt - '0';
	for (; **fmt == 'h'; ++*fmt)
		c.size /= 2;
	for (; **fmt == 'l' || **fmt == 'L' || **fmt == 'q' || **fmt == 'z'; ++*fmt)
		c.size = sizeof(long);
	return c;
}

/* The base: by the letter, for %i by the prefix of the text. hex: the text begins with 0x and a digit. */
static unsigned scan_base(char letter, const char *at, bool hex)
{
	unsigned base = letter == 'o' ? 8 : letter == 'x' || letter == 'X' ? 16 : letter == 'i' ? 0 : 10;

	return base ?: hex ? 16 : *at == '0' ? 8 : 10;
}

/* Little endian: the first bytes of the wide number are the narrow one. False: there is no number. */
static bool scan_number(const char **text, char letter, const struct conversion *c, void *to)
{
	const char *at = scan_space(*text), *digits;
	bool negative = *at == '-' && (letter == 'd' || letter == 'i');
	unsigned width = c->width, base;
	u64 value = 0;
	bool hex;

	at += negative;
	width -= negative;
	hex = width > 2 && at[0] == '0' && (at[1] | 0x20) == 'x' && isxdigit(at[2]); /* "0xyz" is a 0 */
	base = scan_base(letter, at, hex);
	if (base == 16 && hex) {
		at += 2;
		width -= 2;
	}
	for (digits = at; width && digit_value(*at) < base; at++, width--)
		value = value * base + digit_value(*at);
	if (at == digits)
		return false;
	*text = at;
	if (negative)
		value = -value;
	if (to)
		memcpy(to, &value, c->size);
	return true;
}

/*
 * A word for %s, without the white space in front; for %c exactly `width` characters, 1 if none is given, and no zero.
 */
static bool scan_text(const char **text, char letter, const struct conversion *c, char *to)
{
	const char *at = letter == 's' ? scan_space(*text) : *text;
	unsigned width = letter == 'c' && c->width == U32_MAX ? 1 : c->width, n = 0;

	while (n < width && at[n] && (letter == 'c' || !isspace(at[n])))
		n++;
	if (!n || (letter == 'c' && n < width))
		return false;
	if (to) {
		memcpy(to, at, n);
		if (letter == 's')
			to[n] = '\0';
	}
	*text = at + n;
	return true;
}

/*
 * One conversion, whose % has been read. 1: its variable is set; 0: there is none to set; -1: the text is another, or
 * the format has a letter that is unknown here.
 */
static int scan_one(const char *begin, const char **text, const char **fmt, va_list *args)
{
	struct conversion c = scan_conversion(fmt);
	char letter = **fmt;
	void *to;

	if (!letter || !strchr("diuxXoscn", letter))
		return -1;
	++*fmt;
	to = c.skip ? NULL : va_arg(*args, void *);
	if (letter == 'n') {
		if (to)
			*(int *)to = *text - begin;
		return 0;
	}
	if (!(letter == 's' || letter == 'c' ? scan_text(text, letter, &c, to) : scan_number(text, letter, &c, to)))
		return -1;
	return !c.skip;
}

/*
 * How many variables have been set. White space in the format stands for any amount of it in the text. %n, how many
 * characters were read by then, does not count.
 */
int vsscanf(const char *text, const char *fmt, va_list args)
{
	const char *at = text;
	int stored = 0, set;
	va_list rest;

	va_copy(rest, args);
	while (*fmt) {
		if (isspace(*fmt)) {
			fmt = scan_space(fmt);
			at = scan_space(at);
		} else if (*fmt == '%' && fmt[1] != '%') {
			fmt++;
			set = scan_one(text, &at, &fmt, &rest);
			if (set < 0)
				break;
			stored += set;
		} else {
			fmt += *fmt == '%';
			if (*at != *fmt)
				break;
			at++;
			fmt++;
		}
	}
	va_end(rest);
	return stored;
}
EXPORT_SYMBOL(vsscanf);

int sscanf(const char *text, const char *fmt, ...)
{
	va_list args;
	int stored;

	va_start(args, fmt);
	stored = vsscanf(text, fmt, args);
	va_end(args);
	return stored;
}
EXPORT_SYMBOL(sscanf);
