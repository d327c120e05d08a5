/*
 * vsnprintf: a format is walked conversion by conversion into a buffer. There are two ways through a format.
 *
 * The fast one, format_plain(), takes text and the conversions %s %d %u %x and %ld %lu %lx %lld %llu %llx without
 * flags, width or precision, as long as the buffer has plenty of room. It copies text in whole words and checks the
 * room once for each conversion. Nearly all lines of a trace consist of these.
 *
 * The general one, format_rest(), takes one conversion of any kind, with a check for every byte, and then hands back to
 * the fast one. Both store the same text; bytes that do not fit are only counted, so that the result is the length of
 * the whole text.
 *
 * Any context; no lock, no allocation.
 */
#include <asm/page.h>
#include <kernel/export.h>
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

/*
 * Addresses that are plainly no strings. What a caller passes by mistake is mostly NULL with a small offset (the first
 * page is never mapped), or an ERR_PTR.
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

/*
 * Put the digits of v, without sign or prefix, at the start of `text`, and return how many there are. Zero with
 * precision 0 has no digits, as C99 wants it.
 */
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

/*
 * The sign and the "0x" that stand before the digits and before zeros that fill up; returns their length. An octal
 * prefix is a digit and is made in format_number().
 */
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

/*
 * In order: blanks, prefix, zeros, digits, blanks. Zeros come from the precision, or from flag 0 when no precision is
 * given and the number is not left-aligned.
 */
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

/* A character in its width; a zero byte is a character like others. */
static void format_char(struct text_out *out, char c, const struct format_spec *spec)
{
	if (!(spec->flags & FORMAT_LEFT))
		put_fill(out, ' ', spec->width - 1);
	put_char(out, c);
	if (spec->flags & FORMAT_LEFT)
		put_fill(out, ' ', spec->width - 1);
}

/* The flag that a character stands for, or 0 when the flags end there. */
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

/* Digits into *v. A number that is absurdly large stops growing at six digits, so it cannot overflow. */
static const char *parse_int(const char *fmt, int *v)
{
	for (*v = 0; isdigit(*fmt); fmt++)
		*v = *v < 100000 ? *v * 10 + (*fmt - '0') : *v;
	return fmt;
}

/*
 * The length modifier as one letter: a doubled letter becomes its capital (hh is 'H', ll is 'L'). On both machines
 * long, size_t, ptrdiff_t and intmax_t have 64 bits, so z, t and j count as 'l'.
 */
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
	case 'L': /* means the same as ll where the argument is an integer */
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

/* A negative width means left-aligned, as in C99. */
void format_star_width(struct format_spec *spec, int width)
{
	spec->width = width;
	if (width < 0) {
		spec->width = -width;
		spec->flags |= FORMAT_LEFT;
	}
}

/* A negative precision counts as a missing one. */
void format_star_precision(struct format_spec *spec, int precision)
{
	spec->precision = max(precision, -1);
}

/*
 * Flags, width, precision, length modifier, in this order. Only the presence of stars is noted: bin_printf.c takes
 * their numbers from another place than an argument list.
 */
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

/*
 * Parse a conversion and take the arguments of its stars. `args` is a pointer so that a star moves the caller's list.
 */
static const char *parse_spec(const char *fmt, struct format_spec *spec, va_list *args)
{
	fmt = format_parse(fmt, spec);
	if (spec->flags & FORMAT_STAR_WIDTH)
		format_star_width(spec, va_arg(*args, int));
	if (spec->flags & FORMAT_STAR_PRECISION)
		format_star_precision(spec, va_arg(*args, int));
	return fmt;
}

/*
 * The next argument, cut to the width that the length modifier names, with its sign. Types below int are passed as int.
 */
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

/* The same without a sign. */
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

/*
 * Print one conversion, whose letter is at *fmt, from the argument list. Returns where the format goes on: behind the
 * letter, or at its end after an unknown letter.
 */
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
		/* The type of an unknown conversion's argument is not known, so nothing after it can be trusted. */
		put_bytes(out, "(bad format)", 12);
		return fmt + strlen(fmt);
	}
	return fmt + 1;
}

/* ---- The common case: most of a format is text, and most conversions are a letter alone */

#define WORDS_ROOM   64		   /* bytes that the fast way keeps free: no number is so long; a word may go too far */
#define SPRINTF_ROOM (INT_MAX - 1) /* what sprintf() claims to have, and so the mark of a caller without a limit */
#define EACH_BYTE(c) (0x0101010101010101UL * (u8)(c))
/*
 * A word with bits set where `word` has zero bytes. The lowest bit set is the highest bit of the first byte that is 0;
 * borrows may set bits above it, which mean nothing (Warren, Hacker's Delight, 6-1).
 */
#define ZERO_BYTES(word) (((word)-EACH_BYTE(1)) & ~(word)&EACH_BYTE(0x80))

/*
 * ASan checks each byte that a load touches. A load of a whole word may reach behind a string, which is harmless here,
 * so in such a build this function stays one of its own, without checks.
 */
#ifdef __SANITIZE_ADDRESS__
#define WORDWISE __attribute__((no_sanitize("address"))) static noinline
#else
#define WORDWISE static __always_inline
#endif

/*
 * Copy text to `to`, up to a zero byte or `stop`, or as far as it goes by whole words; *from moves behind what was
 * copied. Returns where the copy ends.
 *
 * A word may reach over the end of the text. Reading it is safe, because no word is read that lies in two pages, and
 * the page holds at least one byte of the text. Storing it is safe because `end` is at least WORDS_ROOM away: the bytes
 * that are stored too much are overwritten by what follows or lie behind the terminator. Near the end of a small buffer
 * the function does nothing, since bytes behind the text belong to the buffer's owner.
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

/* Hexadecimal digits from the highest that is not 0; the number of leading zeros tells where that is. */
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
 * The fast way. Works at *at, which moves behind what was put there, and stops when the room shrinks below WORDS_ROOM
 * or a conversion is not one of the plain ones. Returns where the format goes on: at its end, at a '%' whose argument
 * is not taken yet, or at text.
 *
 * A string that does not fit is cut at `end`, but the rest of its length is still added to *at, since the result counts
 * it; `to` may so pass `end`, and the loop ends.
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
			if (*s) /* it did not fit, but its length counts */
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

/*
 * The general way for one stretch of text and one conversion. Returns where the format goes on; format_plain() takes
 * over there.
 */
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

/*
 * The two ways alternate until the format ends. For sprintf(), which does not know the room, `end` is set so that the
 * fast way never runs: it could store a word behind the caller's buffer.
 */
int vsnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	struct text_out out = {.buf = buf, .room = size ? size - 1 : 0};
	const char *end = out.room < SPRINTF_ROOM ? buf + out.room : buf;
	va_list copy;
	char *to;

	va_copy(copy, args); /* a va_list parameter may be an array in disguise: only a copy's address can be passed */
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
EXPORT_SYMBOL(vsnprintf);

int vscnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	size_t n = vsnprintf(buf, size, fmt, args);

	return size ? min(n, size - 1) : 0;
}
EXPORT_SYMBOL(vscnprintf);

int snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return n;
}
EXPORT_SYMBOL(snprintf);

int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vscnprintf(buf, size, fmt, args);
	va_end(args);
	return n;
}
EXPORT_SYMBOL(scnprintf);

int sprintf(char *buf, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(buf, SPRINTF_ROOM + 1, fmt, args);
	va_end(args);
	return n;
}
EXPORT_SYMBOL(sprintf);
