/* vsnprintf: a format walked conversion by conversion into a buffer. */
#include <asm/page.h>
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

/* ---- The common case: most of a format is text, and most conversions are a letter alone */

#define WORDS_ROOM   64 /* longer than any number, too */
#define SPRINTF_ROOM (INT_MAX - 1)
#define EACH_BYTE(c)	 (0x0101010101010101UL * (u8)(c))
/* The lowest bit that is set is the highest of the first byte that is 0; those above it mean nothing. */
#define ZERO_BYTES(word) (((word) - EACH_BYTE(1)) & ~(word) & EACH_BYTE(0x80))

/* ASan counts the bytes of a word one by one: there the functions that read whole words must stay functions. */
#ifdef __SANITIZE_ADDRESS__
#define WORDWISE __attribute__((no_sanitize("address"))) static noinline
#else
#define WORDWISE static __always_inline
#endif

/*
 * Copies text up to a zero or `stop` to `to`, or as far as it goes by whole words; *from moves behind it. A word may
 * reach over the end of the text, so none is read that lies in two pages, and none is written less than WORDS_ROOM in
 * front of `end`: what stands behind the text in a small buffer is its owner's.
 */
WORDWISE char *copy_words(char *to, const char *end, const char **from, char stop)
{
	const char *s = *from;
	unsigned long word, hits;

	while (end - to >= WORDS_ROOM && ((unsigned long)s & (PAGE_SIZE - 1)) <= PAGE_SIZE - sizeof(word)) {
		__builtin_memcpy(&word, s, sizeof(word));
		__builtin_memcpy(to, &word, sizeof(word));
		hits = ZERO_BYTES(word) | (stop ? ZERO_BYTES(word ^ EACH_BYTE(stop)) : 0);
		if (hits) {
			*from = s + __builtin_ctzl(hits) / 8;
			return to + __builtin_ctzl(hits) / 8;
		}
		to += sizeof(word);
		s += sizeof(word);
	}
	*from = s;
	return to;
}

static __always_inline char *put_plain_hex(char *p, u64 v)
{
	for (int shift = v ? (63 - __builtin_clzl(v)) & ~3 : 0; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[v >> shift & 15];
	return p;
}

static __always_inline char *put_plain_signed(char *p, s64 v)
{
	if (v < 0)
		*p++ = '-';
	return put_dec_short(p, v < 0 ? -(u64)v : (u64)v);
}

/*
 * The start of a format, text and conversions without flags, width and precision, as long as there is a lot of room: at
 * `to`, which moves behind what was put there. Returns where the format goes on: at its end, at a '%' whose argument is
 * not taken yet, or at text.
 */
static __always_inline const char *format_plain(char **at, const char *end, const char *fmt, va_list *args)
{
	char *to = *at;
	const char *s, *letter;

	while (end - to >= WORDS_ROOM) {
		if (*fmt != '%')
			to = copy_words(to, end, &fmt, '%');
		if (*fmt != '%')
			break;
		letter = fmt + 1;
		if (*letter == 's') {
			s = va_arg(*args, const char *);
			s = printable_string(s);
			to = copy_words(to, end, &s, '\0');
			while (*s && to < end)
				*to++ = *s++;
			if (*s) /* how long it is counts: not for this loop */
				to += strlen(s);
		} else if (*letter == 'd') {
			to = put_plain_signed(to, va_arg(*args, int));
		} else if (*letter == 'u') {
			to = put_dec_short(to, va_arg(*args, unsigned));
		} else if (*letter == 'x') {
			to = put_plain_hex(to, va_arg(*args, unsigned));
		} else if (*letter == 'l') {
			letter += 1 + (letter[1] == 'l');
			if (*letter == 'd')
				to = put_plain_signed(to, va_arg(*args, s64));
			else if (*letter == 'u')
				to = put_dec_short(to, va_arg(*args, u64));
			else if (*letter == 'x')
				to = put_plain_hex(to, va_arg(*args, u64));
			else
				break;
		} else {
			break;
		}
		fmt = letter + 1;
	}
	*at = to;
	return fmt;
}

/* The same with anything in it, until the common case may come again. */
static const char *format_rest(struct text_out *out, const char *fmt, va_list *args)
{
	struct format_spec spec;

	while (*fmt && *fmt != '%')
		put_char(out, *fmt++);
	if (!*fmt)
		return fmt;
	fmt = parse_spec(fmt + 1, &spec, args);
	return convert(out, fmt, &spec, args);
}

int vsnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	struct text_out out = {.buf = buf, .room = size ? size - 1 : 0};
	/* sprintf() does not know how much room there is. */
	const char *end = out.room < SPRINTF_ROOM ? buf + out.room : buf;
	va_list copy;
	char *to;

	va_copy(copy, args); /* a va_list parameter may be an array in disguise: only a copy has an address to
				pass */
	for (;;) {
		to = buf + out.len;
		fmt = format_plain(&to, end, fmt, &copy);
		out.len = to - buf;
		if (!*fmt)
			break;
		fmt = format_rest(&out, fmt, &copy);
		if (!*fmt)
			break;
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
	n = vsnprintf(buf, SPRINTF_ROOM + 1, fmt, args);
	va_end(args);
	return n;
}
