/*
 * Characters of UTF-8, and how many columns of a terminal they take.
 *
 *     0xxxxxxx                                 U+0000 to U+007F
 *     110xxxxx 10xxxxxx                        U+0080 to U+07FF
 *     1110xxxx 10xxxxxx 10xxxxxx               U+0800 to U+FFFF
 *     11110xxx 10xxxxxx 10xxxxxx 10xxxxxx      U+10000 to U+10FFFF
 *
 * The kernel's terminal erases characters by the same table (char_width_table.h): if the shell and the
 * kernel disagreed about a width, the cursor would stand in a wrong column after each such character.
 */
#include <vt_term.h>
#include "../../../include/lib/char_width_table.h"

/*
 * A byte that begins no character counts as one character of its own (VT_NO_CHAR), so a caller that
 * steps by the result always gets on, whatever the text holds.
 */
size_t vt_char(const char *s, size_t n, unsigned *c)
{
	size_t length = n ? char_bytes((unsigned char)*s) : 0;

	*c = VT_NO_CHAR;
	if (!length || length > n)
		return n != 0;
	for (size_t i = 1; i < length; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 1;
	}
	/*
	 * The lead byte of n bytes begins with n ones and a zero; the remaining bits are the highest.
	 */
	*c = length == 1 ? (unsigned char)*s : (unsigned char)*s & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++)
		*c = *c << 6 | ((unsigned char)s[i] & 0x3f);
	return length;
}

unsigned vt_char_length(unsigned char lead)
{
	return char_bytes(lead);
}

unsigned vt_char_columns(unsigned c)
{
	return char_columns(c);
}

size_t vt_columns(const char *s, size_t n)
{
	size_t columns = 0, length;
	unsigned c;

	for (; n; s += length, n -= length) {
		length = vt_char(s, n, &c);
		columns += char_columns(c);
	}
	return columns;
}
