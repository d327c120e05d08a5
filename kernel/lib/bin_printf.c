/*
 * Messages in two parts: the arguments are kept now, the text is made later. trace_printk() uses this, so that the
 * traced code pays for copying a few words and the reader pays for the formatting. The format itself is not kept: the
 * caller must still have it, unchanged, when it asks for the text.
 *
 * The layout is Linux's, because libtraceevent reads it. A number takes four or eight bytes and begins at a multiple of
 * four. A string follows directly what was kept before it and ends with a zero byte. The number for a star in a width
 * or a precision stands before the argument of its conversion.
 *
 * Both directions walk the format by the same rules: number_size() decides for both how many bytes an argument has.
 * There is no shared state and no lock; the caller owns the words.
 */
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>

#include "format.h"

/* The flags that every reader of such records understands. A conversion with another flag can only be kept as text. */
#define BIN_FLAGS (FORMAT_ZERO | FORMAT_STAR_WIDTH | FORMAT_STAR_PRECISION)

/*
 * The words under construction, or being read, as bytes. `at` is where the next argument begins; when reading damaged
 * words it may lie behind `size`.
 */
struct bin_args {
	u8 *bytes;
	size_t at, size;
};

/*
 * Append a number of 4 or 8 bytes behind padding to a multiple of four. Padding never leaves the buffer, because `size`
 * is a whole number of words. Returns false when the number does not fit.
 */
static __always_inline bool put_number(struct bin_args *bin, u64 value, unsigned bytes)
{
	u32 *to;

	while (bin->at & 3)
		bin->bytes[bin->at++] = 0;
	if (bin->at + bytes > bin->size)
		return false;
	to = (u32 *)(void *)(bin->bytes + bin->at);
	to[0] = value;
	if (bytes == 8)
		to[1] = value >> 32; /* in halves: only 4 bytes of alignment are sure; little-endian */
	bin->at += bytes;
	return true;
}

/*
 * The opposite of put_number(). Words that end too early read as 0: they may come from a record that was cut, and the
 * rest of the text must still be printed.
 */
static u64 get_number(struct bin_args *bin, unsigned bytes)
{
	size_t at = (bin->at + 3) & ~3UL;
	u64 value = 0;

	if (at + bytes <= bin->size)
		memcpy(&value, bin->bytes + at, bytes);
	bin->at = at + bytes;
	return value;
}

/*
 * Append at most `precision` bytes of a string (-1: all of it) and a zero. Returns false when they do not fit. The
 * search for the end stops at the room that is left, so a string that lacks its zero is not read far.
 */
static bool put_string(struct bin_args *bin, const char *text, int precision)
{
	size_t room = bin->size - bin->at, n;

	text = printable_string(text);
	n = strnlen(text, precision >= 0 ? min((size_t)precision, room) : room);
	if (n >= room)
		return false;
	memcpy(bin->bytes + bin->at, text, n);
	bin->bytes[bin->at + n] = '\0';
	bin->at += n + 1;
	return true;
}

/*
 * The string at the current place, or "" when the words end before its zero. The pointer leads into the words
 * themselves.
 */
static const char *get_string(struct bin_args *bin)
{
	size_t room = bin->at < bin->size ? bin->size - bin->at : 0;
	const char *text = (const char *)bin->bytes + bin->at;
	size_t n = strnlen(text, room);

	bin->at += n + 1;
	return n < room ? text : "";
}

/*
 * How many bytes the argument of the conversion at `letter` takes, or 0 when it is not a number that can be kept.
 * Pointers that stand for a structure (%pd, %ph, %pb) give 0: only their text can be kept, since the structure may be
 * gone when the text is made. Of %pS and %ps only %ps is kept: it and %px need the address alone.
 */
static unsigned number_size(const char *letter, const struct format_spec *spec)
{
	switch (*letter) {
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		return spec->length == 'l' || spec->length == 'L' ? 8 : spec->length ? 0 : 4;
	case 'p':
		return letter[1] == 's' || letter[1] == 'x' || !isalnum(letter[1]) ? 8 : 0;
	}
	return 0;
}

/*
 * Keep the argument of one conversion, and before it the numbers of its stars. A star's precision is applied at once,
 * because put_string() needs it to know how much of the string to keep.
 *
 * Returns 0, -EINVAL for a conversion that cannot be kept, or -E2BIG when the words are too few.
 */
static int bin_keep(struct bin_args *bin, const char *letter, struct format_spec *spec, va_list *args)
{
	unsigned bytes = number_size(letter, spec);
	bool fits = true;
	int star;

	if ((spec->flags & ~BIN_FLAGS) || (!bytes && *letter != 's' && *letter != '%'))
		return -EINVAL;
	if (spec->flags & FORMAT_STAR_WIDTH)
		fits = put_number(bin, va_arg(*args, int), 4);
	if (spec->flags & FORMAT_STAR_PRECISION) {
		star = va_arg(*args, int);
		format_star_precision(spec, star);
		fits = fits && put_number(bin, star, 4);
	}
	if (*letter == 's')
		fits = fits && put_string(bin, va_arg(*args, const char *), spec->precision);
	else if (bytes)
		fits = fits && put_number(bin, bytes == 8 ? va_arg(*args, u64) : va_arg(*args, u32), bytes);
	return fits ? 0 : -E2BIG;
}

/*
 * The fast path of vbin_printf(). *fmt points behind a '%'. For %d, %u, %x and the same with one `l`, which are nearly
 * all conversions of traces, it returns the bytes of the number and moves *fmt behind the letter. For all others it
 * returns 0 and leaves *fmt alone, and format_parse() must look.
 */
static __always_inline unsigned plain_size(const char **fmt)
{
	const char *at = *fmt;
	unsigned bytes = 4;

	if (*at == 'l') {
		at++;
		bytes = 8;
	}
	if (*at != 'd' && *at != 'u' && *at != 'x')
		return 0;
	*fmt = at + 1;
	return bytes;
}

/*
 * One pass over the format. The list is copied because a va_list parameter may be an array in disguise, whose address
 * cannot be passed on. Text between conversions is skipped: it is in the format, which the reader has too.
 */
int vbin_printf(u32 *words, size_t n, const char *fmt, va_list args)
{
	struct bin_args bin = {.bytes = (u8 *)words, .size = n * sizeof(*words)};
	struct format_spec spec;
	va_list copy;
	int ret = 0;

	va_copy(copy, args);
	while (!ret && *fmt) {
		unsigned bytes;

		if (*fmt++ != '%')
			continue;
		bytes = plain_size(&fmt);
		if (likely(bytes)) {
			if (!put_number(&bin, bytes == 8 ? va_arg(copy, u64) : va_arg(copy, u32), bytes))
				ret = -E2BIG;
			continue;
		}
		fmt = format_parse(fmt, &spec);
		if (!*fmt)
			ret = -EINVAL;
		else
			ret = bin_keep(&bin, fmt++, &spec, &copy);
	}
	va_end(copy);
	if (ret)
		return ret;
	/* The last word goes to user space as a whole, so the bytes of it behind a string must not be stale memory. */
	while (bin.at % sizeof(*words))
		bin.bytes[bin.at++] = 0;
	return bin.at / sizeof(*words);
}

/*
 * Print a number that was kept. A four-byte number counts as negative by its own bit 31, so that %d of -1 does not
 * become 4294967295; the letters without a sign print the value as it was kept.
 */
static void show_number(struct text_out *out, char letter, u64 value, unsigned bytes, struct format_spec *spec)
{
	s64 number = bytes == 8 ? (s64)value : (s32)value;
	bool negative = (letter == 'd' || letter == 'i') && number < 0;

	spec->base = letter == 'o' ? 8 : letter == 'x' || letter == 'X' ? 16 : 10;
	if (letter == 'X')
		spec->flags |= FORMAT_UPPER;
	format_number(out, negative ? -(u64)number : value, negative, spec);
}

/*
 * Print one conversion from the words: stars, then the argument. `letter` is its letter; returns where the format goes
 * on. The mirror of bin_keep().
 */
static const char *show(struct text_out *out, const char *letter, struct format_spec *spec, struct bin_args *bin)
{
	unsigned bytes = number_size(letter, spec);

	if (spec->flags & FORMAT_STAR_WIDTH)
		format_star_width(spec, get_number(bin, 4));
	if (spec->flags & FORMAT_STAR_PRECISION)
		format_star_precision(spec, get_number(bin, 4));
	if (*letter == 'p')
		return letter + 1 + format_pointer(out, letter + 1, (void *)get_number(bin, 8), spec);
	if (bytes)
		show_number(out, *letter, get_number(bin, bytes), bytes, spec);
	else if (*letter == 's')
		format_string(out, get_string(bin), spec);
	else
		put_char(out, *letter);
	return letter + 1;
}

/*
 * Text goes out byte by byte and conversions through show(). A conversion that the format cuts short at its end prints
 * nothing.
 */
int bstr_printf(char *buf, size_t size, const char *fmt, const u32 *words, size_t n)
{
	struct bin_args bin = {.bytes = (u8 *)words, .size = n * sizeof(*words)};
	struct text_out out = {.buf = buf, .room = size ? size - 1 : 0};
	struct format_spec spec;

	while (*fmt) {
		if (*fmt != '%') {
			put_char(&out, *fmt++);
			continue;
		}
		fmt = format_parse(fmt + 1, &spec);
		if (*fmt)
			fmt = show(&out, fmt, &spec, &bin);
	}
	if (size)
		buf[min(out.len, out.room)] = '\0';
	return min(out.len, out.room);
}
