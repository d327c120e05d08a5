/*
 * Bitmaps as text, in the two forms that Linux uses for sets of CPUs: hexadecimal groups of 32 bits with commas between
 * them ("ff,00000001", highest bits first), and lists of ranges ("0-3,5").
 *
 * Parsing goes from the last group to the first, because the last one holds the lowest bits and only from there the
 * place of each group is known. Printing uses snprintf's rule: the length that the whole text needs is counted on after
 * the buffer is full.
 */
#include <lib/bitmap.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>

/*
 * Read the hexadecimal digits that end before `end`, at most eight and not before `text`, from right to left. Returns
 * where they start; `end` itself when there is no digit.
 */
static const char *parse_group(const char *text, const char *end, u32 *value)
{
	const char *p = end;

	*value = 0;
	for (unsigned shift = 0; p > text && isxdigit(p[-1]) && shift < 32; shift += 4)
		*value |= digit_value(*--p) << shift;
	return p;
}

/* May it stand between groups? */
static bool between_groups(char c)
{
	return c == ',' || isspace(c);
}

/* OR the 32 bits of a group into the map at bit `at`. -EOVERFLOW: the map has no such group, or not all of its bits. */
static int store_group(unsigned long *map, unsigned size, unsigned at, u32 value)
{
	if (at >= size || (size - at < 32 && value >> (size - at)))
		return -EOVERFLOW;
	map[at / 64] |= (unsigned long)value << (at % 64);
	return 0;
}

/*
 * Groups from right to left, of the text's first line. Commas and white space may stand before, between and behind
 * groups, in any number. What stands before a group must be one of these or the start of the text: another hexadecimal
 * digit there means that the group had more than eight.
 */
int bitmap_parse(const char *text, unsigned long *map, unsigned size)
{
	const char *end = text + strcspn(text, "\n");

	memset(map, 0, BITS_TO_LONGS(size) * sizeof(*map));
	for (unsigned at = 0;; at += 32) {
		const char *start;
		u32 value;
		int ret;

		while (end > text && between_groups(end[-1]))
			end--;
		if (end == text)
			return 0;
		start = parse_group(text, end, &value);
		if (start == end)
			return -EINVAL;
		if (start > text && !between_groups(start[-1]))
			return isxdigit(start[-1]) ? -EOVERFLOW : -EINVAL;
		ret = store_group(map, size, at, value);
		if (ret)
			return ret;
		end = start;
	}
}

/*
 * Groups of 32 bits from the highest. The first group has only as many digits as it has bits, the others have eight. A
 * NULL `buf` is never added to, so that a call may ask for the length alone.
 */
int bitmap_print(char *buf, size_t len, const unsigned long *map, unsigned size)
{
	size_t used = 0;

	for (unsigned at = ALIGN(size, 32u); at; at -= 32) {
		unsigned from = at - 32, bits = min(size - from, 32u);
		u32 value = map[from / 64] >> (from % 64);

		if (bits < 32)
			value &= BIT(bits) - 1;
		used += snprintf(buf ? buf + min(used, len) : NULL, used < len ? len - used : 0, "%s%0*x",
				 at < size ? "," : "", (int)DIV_ROUND_UP(bits, 4), value);
	}
	return used;
}

/* Each round prints one run of set bits: `first` is its first bit, and `end` the first clear bit behind it. */
int bitmap_print_list(char *buf, size_t len, const unsigned long *map, unsigned size)
{
	size_t used = 0;
	unsigned first = find_first_bit(map, size);

	if (len)
		buf[0] = '\0';
	while (first < size) {
		unsigned end = find_next_zero_bit(map, size, first);

		used += snprintf(buf ? buf + min(used, len) : NULL, used < len ? len - used : 0,
				 end - first > 1 ? "%s%u-%u" : "%s%u", used ? "," : "", first, end - 1);
		first = find_next_bit(map, size, end);
	}
	return used;
}
