/*
 * Widths of UTF-8 characters on a terminal. The line discipline needs them to erase a character: a wide one takes two
 * columns and has up to four bytes. <lib/char_width_table.h> has the data; this file decodes. No state, no lock.
 */
#include <lib/char_width.h>
#include <lib/char_width_table.h>

/*
 * Decode the character at s into *c; at most n bytes are read. Returns its length in bytes, or 0 when its first
 * byte cannot begin a character or its last one is missing. The bytes after the first are not checked: see
 * utf8_shown().
 */
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

/*
 * Three kinds of characters are not shown: control characters (C0 and C1), characters without a width of their own such
 * as direction marks, and encodings that are longer than they need be or lie outside Unicode. least[n] is the smallest
 * code point that n bytes may stand for and that is shown: 0x20 ends C0, and 0xa0 ends C1.
 */
unsigned utf8_shown(const char *s, unsigned n)
{
	static const unsigned least[] = {0, 0x20, 0xa0, 0x800, 0x10000};
	unsigned c, length = decode(s, n, &c);

	for (unsigned i = 1; i < length; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 0;
	}
	if (!length || c < least[length] || c == 0x7f || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	return char_columns(c) ? length : 0;
}
