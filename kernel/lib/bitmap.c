/* Bit searches over arrays of unsigned long. */
#include <lib/bitmap.h>

/* First bit from `from` on in the words XORed with `invert`; whole words at a time. */
static unsigned find_bit(const unsigned long *map, unsigned size, unsigned from, unsigned long invert)
{
	unsigned word = from / 64;
	unsigned long bits;

	if (from >= size)
		return size;
	bits = (READ_ONCE(map[word]) ^ invert) & (~0UL << (from % 64));
	while (!bits) {
		if (++word >= BITS_TO_LONGS(size))
			return size;
		bits = READ_ONCE(map[word]) ^ invert;
	}
	return min(size, word * 64 + (unsigned)__builtin_ctzl(bits));
}

unsigned find_next_bit(const unsigned long *map, unsigned size, unsigned from)
{
	return find_bit(map, size, from, 0);
}

unsigned find_next_zero_bit(const unsigned long *map, unsigned size, unsigned from)
{
	return find_bit(map, size, from, ~0UL);
}

/* Bits set, without a population-count instruction: pairs, nibbles, bytes, then their sum by multiplication.
 */
static unsigned weight64(unsigned long v)
{
	v -= (v >> 1) & 0x5555555555555555UL;
	v = (v & 0x3333333333333333UL) + ((v >> 2) & 0x3333333333333333UL);
	return (((v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fUL) * 0x0101010101010101UL) >> 56;
}

unsigned bitmap_weight(const unsigned long *map, unsigned size)
{
	unsigned n = 0;

	for (unsigned i = 0; i < size / 64; i++)
		n += weight64(map[i]);
	if (size % 64)
		n += weight64(map[size / 64] & (BIT(size % 64) - 1));
	return n;
}
