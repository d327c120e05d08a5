/*
 * The kernel's own pointer conversions: %px an address, %pS %ps %pB a symbol, %pd a dentry's name, %*ph bytes in
 * hexadecimal, %*pb and %*pbl a bitmap. They are in a file of their own because they need tables of other parts of the
 * kernel; vsprintf.c does not.
 *
 * Addresses are printed as they are. Files that ordinary users may read must not print them; see docs/permissions.md.
 */
#include <kernel/ksyms.h>
#include <lib/bitmap.h>
#include <lib/printf.h>
#include <lib/string.h>

#include "format.h"

/* Sixteen digits, so that columns of addresses are aligned. */
static void format_address(struct text_out *out, const void *p, const struct format_spec *spec)
{
	struct format_spec hex = {.flags = spec->flags, .base = 16, .width = spec->width, .precision = 16};

	format_number(out, (unsigned long)p, false, &hex);
}

/*
 * S gives name+0x10/0x40 and s the name alone, both with the name of the module in brackets. B is the form of S for a
 * return address: it may lie in the next function already, when the call was the last instruction of its own function,
 * so the byte before it is looked up.
 */
static void format_symbol(struct text_out *out, char kind, unsigned long addr, const struct format_spec *spec)
{
	char name[KSYM_NAME_LEN], module[KSYM_MODULE_LEN], text[KSYM_SYMBOL_LEN];
	unsigned long size, offset, back = kind == 'B';
	size_t n;

	if (!kallsyms_lookup_module(addr - back, &size, &offset, module, name)) {
		scnprintf(text, sizeof(text), "0x%lx", addr);
		format_string(out, text, spec);
		return;
	}
	n = scnprintf(text, sizeof(text), "%s", name);
	if (kind != 's')
		n += scnprintf(text + n, sizeof(text) - n, "+0x%lx/0x%lx", offset + back, size);
	if (*module)
		scnprintf(text + n, sizeof(text) - n, " [%s]", module);
	format_string(out, text, spec);
}

/*
 * %*ph gives "00 01 02"; with C it is 00:01:02, with D 00-01-02 and with N 000102. The width is the number of bytes, 64
 * at most.
 */
static int format_hex(struct text_out *out, const char *letters, const u8 *bytes, const struct format_spec *spec)
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

/*
 * %*pb gives hexadecimal groups and %*pbl a list such as "0-3,5". The width is the number of bits. The printers store
 * straight into the buffer and return the full length, as snprintf does, so out->len counts on when the text does not
 * fit.
 */
static int format_bitmap(struct text_out *out, const char *letters, const unsigned long *map,
			 const struct format_spec *spec)
{
	bool list = letters[1] == 'l';
	char *to = out->len < out->room ? out->buf + out->len : NULL;
	size_t room = to ? out->room - out->len + 1 : 0; /* the printers store a terminator where ours may stand */

	out->len += list ? bitmap_print_list(to, room, map, spec->width) : bitmap_print(to, room, map, spec->width);
	return 1 + list;
}

/* A letter that is not known belongs to the text behind the conversion, and the pointer is printed as an address. */
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
