/* Widths of characters, for erasing them on a terminal. */
#include <lib/char_width.h>
#include <lib/char_width_table.h>

/* Returns how many bytes the character has, 0 if its first one begins none or the last is missing. */
static unsigned decode(const char *s, unsigned n, unsigned *c)
{
	unsigned length = n ? char_bytes((unsigned char)s[0]) : 0;

	if (!length || length > n)
		return 0;
	*c = length == 1 ? (unsigned char)s[0] : (unsigned char)s[0] & (0xff >> (length + 1));
	for (unsigned i = 1; i < length; i++)
		*c = *c << 6 | ((unsigned char)s[i] & 0x3f);
	return length;
}

unsigned utf8_columns(const char *s, unsigned n)
{
	unsigned c;

	return decode(s, n, &c) ? char_columns(c) : 1;
}

/* Not shown: control characters of both sets, what has no width (as direction marks), and forms that are too long. */
unsigned utf8_shown(const char *s, unsigned n)
{
	static const unsigned least[] = { 0, 0x20, 0xa0, 0x800, 0x10000 };
	unsigned c, length = decode(s, n, &c);

	for (unsigned i = 1; i < length; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 0;
	}
	if (!length || c < least[length] || c == 0x7f || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	return char_columns(c) ? length : 0;
}
