/* vsnprintf: a format walked conversion by conversion into a buffer. */
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>

#include "format.h"

void put_fill(struct text_out *out, char c, int n)
{
	while (n-- > 0)
		put_char(out, c);
}

void put_bytes(struct text_out *out, const char *s, size_t n)
{
	size_t fits = out->len < out->room ? min(n, out->room - out->len) : 0;

	if (fits)
		memcpy(out->buf + out->len, s, fits);
	out->len += n;
}

/* Addresses that are plainly no strings: what a bad caller passes most is NULL with an offset, or an ERR_PTR.
 */
const char *printable_string(const char *s)
{
	if ((unsigned long)s < 4096)
		return "(null)";
	return IS_ERR(s) ? "(efault)" : s;
}

void format_string(struct text_out *out, const char *s, const struct format_spec *spec)
{
	size_t n;

	s = printable_string(s);
	n = spec->precision >= 0 ? strnlen(s, spec->precision) : strlen(s);
	if (!(spec->flags & FORMAT_LEFT))
		put_fill(out, ' ', spec->width - (int)n);
	put_bytes(out, s, n);
	if (spec->flags & FORMAT_LEFT)
		put_fill(out, ' ', spec->width - (int)n);
}

/* The digits of v, without sign or prefix, at the start of `text`; returns their number, none for 0 with
 * precision 0. */
static int digits_of(char *text, u64 v, const struct format_spec *spec)
{
	const char *digits = spec->flags & FORMAT_UPPER ? "0123456789ABCDEF" : "0123456789abcdef";
	unsigned shift = spec->base == 16 ? 4 : 3;
	int n = 0, at;

	if (!v && spec->precision == 0)
		return 0;
	if (spec->base == 10)
		return put_dec(text, v, 0, ' ') - text;
	for (u64 rest = v; rest; rest >>= shift)
		n++;
	n += !v;
	for (at = n; at; v >>= shift)
		text[--at] = digits[v & (spec->base - 1)];
	return n;
}

static int prefix_of(char *text, u64 v, bool negative, const struct format_spec *spec)
{
	int n = 0;

	if (negative)
		text[n++] = '-';
	else if (spec->flags & FORMAT_PLUS)
		text[n++] = '+';
	else if (spec->flags & FORMAT_SPACE)
		text[n++] = ' ';
	if (v && spec->base == 16 && spec->flags & FORMAT_ALT) {
		text[n++] = '0';
		text[n++] = spec->flags & FORMAT_UPPER ? 'X' : 'x';
	}
	return n;
}

void format_number(struct text_out *out, u64 v, bool negative, const struct format_spec *spec)
{
	char digits[24], prefix[4];
	int n = digits_of(digits, v, spec);
	int np = prefix_of(prefix, v, negative, spec);
	int zeros = max(spec->precision - n, 0), pad;

	/* '#o' asks for a leading zero, which the precision may already have given. */
	if (spec->base == 8 && spec->flags & FORMAT_ALT && !zeros && (n == 0 || digits[0] != '0'))
		zeros = 1;
	if (spec->precision < 0 && (spec->flags & (FORMAT_ZERO | FORMAT_LEFT)) == FORMAT_ZERO)
		zeros = max(zeros, spec->width - np - n);
	pad = spec->width - np - zeros - n;
	if (!(spec->flags & FORMAT_LEFT))
		put_fill(out, ' ', pad);
	put_bytes(out, prefix, np);
	put_fill(out, '0', zeros);
	put_bytes(out, digits, n);
	if (spec->flags & FORMAT_LEFT)
		put_fill(out, ' ', pad);
}

static void format_char(struct text_out *out, char c, const struct format_spec *spec)
{
	if (!(spec->flags & FORMAT_LEFT))
		put_fill(out, ' ', spec->width - 1);
	put_char(out, c);
	if (spec->flags & FORMAT_LEFT)
		put_fill(out, ' ', spec->width - 1);
}

static u8 flag_of(char c)
{
	switch (c) {
	case '-':
		return FORMAT_LEFT;
	case '+':
		return FORMAT_PLUS;
	case ' ':
		return FORMAT_SPACE;
	case '#':
		return FORMAT_ALT;
	case '0':
		return FORMAT_ZERO;
	}
	return 0;
}

static const char *parse_int(const char *fmt, int *v)
{
	for (*v = 0; isdigit(*fmt); fmt++)
		*v = *v < 100000 ? *v * 10 + (*fmt - '0') : *v;
	return fmt;
}

static const char *parse_length(const char *fmt, char *length)
{
	*length = 0;
	switch (*fmt) {
	case 'h':
	case 'l':
		*length = *fmt++;
		if (*fmt == *length) {
			*length ^= 'a' ^ 'A';
			fmt++;
		}
		break;
	case 'L': /* with integers the same as ll */
		*length = *fmt++;
		break;
	case 'z':
	case 't':
	case 'j':
		*length = 'l';
		fmt++;
	}
	return fmt;
}

void format_star_width(struct format_spec *spec, int width)
{
	spec->width = width;
	if (width < 0) {
		spec->width = -width;
		spec->flags |= FORMAT_LEFT;
	}
}

void format_star_precision(struct format_spec *spec, int precision)
{
	spec->precision = max(precision, -1);
}

const char *format_parse(const char *fmt, struct format_spec *spec)
{
	spec->flags = 0;
	spec->base = 10;
	spec->precision = -1;
	for (u8 flag; (flag = flag_of(*fmt)); fmt++)
		spec->flags |= flag;
	fmt = parse_int(fmt, &spec->width);
	if (*fmt == '*') {
		fmt++;
		spec->flags |= FORMAT_STAR_WIDTH;
	}
	if (*fmt == '.') {
		fmt = parse_int(fmt + 1, &spec->precision);
		if (*fmt == '*') {
			fmt++;
			spec->flags |= FORMAT_STAR_PRECISION;
		}
	}
	return parse_length(fmt, &spec->length);
}

/* `args` is a pointer so that a star moves the caller's list. */
static const char *parse_spec(const char *fmt, struct format_spec *spec, va_list *args)
{
	fmt = format_parse(fmt, spec);
	if (spec->flags & FORMAT_STAR_WIDTH)
		format_star_width(spec, va_arg(*args, int));
	if (spec->flags & FORMAT_STAR_PRECISION)
		format_star_precision(spec, va_arg(*args, int));
	return fmt;
}

static s64 signed_arg(char length, va_list *args)
{
	switch (length) {
	case 'H':
		return (s8)va_arg(*args, int);
	case 'h':
		return (s16)va_arg(*args, int);
	case 'l':
	case 'L':
		return va_arg(*args, s64);
	}
	return va_arg(*args, int);
}

static u64 unsigned_arg(char length, va_list *args)
{
	switch (length) {
	case 'H':
		return (u8)va_arg(*args, unsigned);
	case 'h':
		return (u16)va_arg(*args, unsigned);
	case 'l':
	case 'L':
		return va_arg(*args, u64);
	}
	return va_arg(*args, unsigned);
}

static void convert_unsigned(struct text_out *out, u8 base, struct format_spec *spec, va_list *args)
{
	spec->base = base;
	spec->flags &= ~(FORMAT_PLUS | FORMAT_SPACE);
	format_number(out, unsigned_arg(spec->length, args), false, spec);
}

static void convert_signed(struct text_out *out, struct format_spec *spec, va_list *args)
{
	s64 v = signed_arg(spec->length, args);

	format_number(out, v < 0 ? -(u64)v : (u64)v, v < 0, spec);
}

/* One conversion, its letter at *fmt; returns where the format goes on. */
static const char *convert(struct text_out *out, const char *fmt, struct format_spec *spec, va_list *args)
{
	switch (*fmt) {
	case 's':
		format_string(out, va_arg(*args, const char *), spec);
		break;
	case 'd':
	case 'i':
		convert_signed(out, spec, args);
		break;
	case 'u':
		convert_unsigned(out, 10, spec, args);
		break;
	case 'X':
		spec->flags |= FORMAT_UPPER;
		fallthrough;
	case 'x':
		convert_unsigned(out, 16, spec, args);
		break;
	case 'o':
		convert_unsigned(out, 8, spec, args);
		break;
	case 'c':
		format_char(out, va_arg(*args, int), spec);
		break;
	case 'p':
		return fmt + 1 + format_pointer(out, fmt + 1, va_arg(*args, const void *), spec);
	case '%':
		put_char(out, '%');
		break;
	default:
		/* An unknown conversion: its argument's type is not known, so nothing after it can be
		 * trusted. */
		put_bytes(out, "(bad format)", 12);
		return fmt + strlen(fmt);
	}
	return fmt + 1;
}

int vsnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	struct text_out out = {.buf = buf, .room = size ? size - 1 : 0};
	struct format_spec spec;
	va_list copy;

	va_copy(copy, args); /* a va_list parameter may be an array in disguise: only a copy has an address to
				pass */
	while (*fmt) {
		const char *start = fmt;

		while (*fmt && *fmt != '%')
			fmt++;
		if (fmt != start)
			put_bytes(&out, start, fmt - start);
		if (*fmt) {
			fmt = parse_spec(fmt + 1, &spec, &copy);
			fmt = convert(&out, fmt, &spec, &copy);
		}
	}
	va_end(copy);
	if (size)
		buf[min(out.len, out.room)] = '\0';
	return out.len;
}

int vscnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	size_t n = vsnprintf(buf, size, fmt, args);

	return size ? min(n, size - 1) : 0;
}

int snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return n;
}

int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vscnprintf(buf, size, fmt, args);
	va_end(args);
	return n;
}

int sprintf(char *buf, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(buf, INT_MAX, fmt, args);
	va_end(args);
	return n;
}
