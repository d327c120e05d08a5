/* The kernel's pointer conversions: symbols, bit lists, bytes in hex, dentry names. */
#include <kernel/ksyms.h>
#include <lib/bitmap.h>
#include <lib/printf.h>
#include <lib/string.h>

#include "format.h"

static void format_address(struct text_out *out, const void *p, const struct format_spec *spec)
{
	struct format_spec hex = {.flags = spec->flags, .base = 16, .width = spec->width, .precision = 16};

	format_number(out, (unsigned long)p, false, &hex);
}

/*
 * S: name+0x10/0x40. B: the same for a return address, which may already lie in the next function when the
 * call was the last instruction of its own; so what is looked up is the byte before. s: the name alone.
 */
static void format_symbol(struct text_out *out, char kind, unsigned long addr, const struct format_spec *spec)
{
	char name[KSYM_NAME_LEN], text[KSYM_SYMBOL_LEN];
	unsigned long size, offset, back = kind == 'B';

	if (!kallsyms_lookup(addr - back, &size, &offset, name))
		scnprintf(text, sizeof(text), "0x%lx", addr);
	else if (kind == 's')
		strscpy(text, name, sizeof(text));
	else
		scnprintf(text, sizeof(text), "%s+0x%lx/0x%lx", name, offset + back, size);
	format_string(out, text, spec);
}

/* %*ph "00 01 02", with C 00:01:02, D 00-01-02, N 000102; the width is the number of bytes, at most 64. */
static int format_hex(struct text_out *out, const char *letters, const u8 *bytes,
		      const struct format_spec *spec)
{
	static const char digits[] = "0123456789abcdef";
	char letter = letters[1], separator = letter == 'C' ? ':' : letter == 'D' ? '-' : ' ';
	int n = clamp(spec->width, 1, 64);

	for (int i = 0; i < n; i++) {
		if (i && letter != 'N')
			put_char(out, separator);
		put_char(out, digits[bytes[i] >> 4]);
		put_char(out, digits[bytes[i] & 15]);
	}
	return 1 + (letter == 'C' || letter == 'D' || letter == 'N');
}

/* %*pb hexadecimal, %*pbl "0-3,5"; the width is the number of bits. */
static int format_bitmap(struct text_out *out, const char *letters, const unsigned long *map,
			 const struct format_spec *spec)
{
	bool list = letters[1] == 'l';
	char *to = out->len < out->room ? out->buf + out->len : NULL;
	size_t room =
		to ? out->room - out->len + 1 : 0; /* the printers put a terminator where ours may stand */

	out->len += list ? bitmap_print_list(to, room, map, spec->width)
			 : bitmap_print(to, room, map, spec->width);
	return 1 + list;
}

int format_pointer(struct text_out *out, const char *letters, const void *p, const struct format_spec *spec)
{
	switch (*letters) {
	case 'S':
	case 's':
	case 'B':
		format_symbol(out, *letters, (unsigned long)p, spec);
		return 1;
	case 'd':
		format_string(out, format_dentry_name(p), spec);
		return 1;
	case 'h':
		return format_hex(out, letters, p, spec);
	case 'b':
		return format_bitmap(out, letters, p, spec);
	case 'x':
		format_address(out, p, spec);
		return 1;
	}
	format_address(out, p, spec);
	return 0;
}
