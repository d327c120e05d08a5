/* Widths of characters, for erasing them on a terminal. */
#include <lib/char_width.h>
#include <lib/char_width_table.h>

unsigned utf8_columns(const char *s, unsigned n)
{
	unsigned length = n ? char_bytes((unsigned char)s[0]) : 0, c;

	if (!length || length > n)
		return 1;
	c = length == 1 ? (unsigned char)s[0] : (unsigned char)s[0] & (0xff >> (length + 1));
	for (unsigned i = 1; i < length; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	return char_columns(c);
}
