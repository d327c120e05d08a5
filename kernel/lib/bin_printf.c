/*
 * Messages in two parts: arguments now, text later. Numbers lie at multiples of four bytes, in four or eight of them,
 * strings with their ending zero behind what went before; a star's number stands before its argument.
 */
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>

#include "format.h"

/* What readers of such records know: anything else in a conversion is for the text. */
#define BIN_FLAGS (FORMAT_ZERO | FORMAT_STAR_WIDTH | FORMAT_STAR_PRECISION)

/* Bytes under construction, or being read. */
struct bin_args {
	u8 *bytes;
	size_t at, size;
};

/* 4 or 8 bytes; the size is of whole words. */
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
		to[1] = value >> 32; /* low half first, as both machines have it */
	bin->at += bytes;
	return true;
}

static u64 get_number(struct bin_args *bin, unsigned bytes)
{
	size_t at = (bin->at + 3) & ~3UL;
	u64 value = 0;

	if (at + bytes <= bin->size)
		memcpy(&value, bin->bytes + at, bytes);
	bin->at = at + bytes;
	return value;
}

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

static const char *get_string(struct bin_args *bin)
{
	size_t room = bin->at < bin->size ? bin->size - bin->at : 0;
	const char *text = (const char *)bin->bytes + bin->at;
	size_t n = strnlen(text, room);

	bin->at += n + 1;
	return n < room ? text : "";
}

/* Bytes of a number; 0: it is none that can be kept. */
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

/* One conversion's argument. 0, -EINVAL, -E2BIG. */
static int keep(struct bin_args *bin, const char *letter, struct format_spec *spec, va_list *args)
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
 * Bytes of the number that the conversion at *fmt, behind its '%', keeps if it is one of the plain ones that nearly all
 * are, with *fmt moved behind it; else 0, and format_parse must look.
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
			ret = keep(&bin, fmt++, &spec, &copy);
	}
	va_end(copy);
	if (ret)
		return ret;
	/* What is behind the last string in its word goes to user space, too. */
	while (bin.at % sizeof(*words))
		bin.bytes[bin.at++] = 0;
	return bin.at / sizeof(*words);
}

static void show_number(struct text_out *out, char letter, u64 value, unsigned bytes, struct format_spec *spec)
{
	s64 number = bytes == 8 ? (s64)value : (s32)value;
	bool negative = (letter == 'd' || letter == 'i') && number < 0;

	spec->base = letter == 'o' ? 8 : letter == 'x' || letter == 'X' ? 16 : 10;
	if (letter == 'X')
		spec->flags |= FORMAT_UPPER;
	format_number(out, negative ? -(u64)number : value, negative, spec);
}

/* Returns where the format goes on. */
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
