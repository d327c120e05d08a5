/*
 * Bit searches over arrays of unsigned long, a word at a time, and the count of set bits. Bit n is bit n % 64 of word n
 * / 64, as set_bit() numbers them.
 *
 * No lock is taken. Other CPUs may change the words meanwhile: each word is read once, so a search returns a bit that
 * was as wanted at the moment when its word was read. A caller that must own the bit takes it with test_and_set_bit()
 * and searches again when that fails.
 */
#include <kernel/export.h>
#include <lib/bitmap.h>

/*
 * The first bit at or after `from` that is set in the words XORed with `invert`: 0 finds set bits, ~0 finds clear ones.
 * The last word may hold such a bit behind `size`, so the result is limited to `size`.
 */
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
EXPORT_SYMBOL(find_next_bit);

unsigned find_next_zero_bit(const unsigned long *map, unsigned size, unsigned from)
{
	return find_bit(map, size, from, ~0UL);
}

/*
 * Count the set bits of a word without a population-count instruction, which the kernel's flags do not promise.
 * Neighbouring fields are added in parallel: two bits, then four, then eight; the multiplication adds the eight bytes
 * up in the highest one (Warren, Hacker's Delight, 5-1).
 */
static unsigned weight64(unsigned long v)
{
	v -= (v >> 1) & 0x5555555555555555UL;
	v = (v & 0x3333333333333333UL) + ((v >> 2) & 0x3333333333333333UL);
	return (((v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fUL) * 0x0101010101010101UL) >> 56;
}

/* Bits behind `size` in the last word do not count. */
unsigned bitmap_weight(const unsigned long *map, unsigned size)
{
	unsigned n = 0;

	for (unsigned i = 0; i < size / 64; i++)
		n += weight64(map[i]);
	if (size % 64)
		n += weight64(map[size / 64] & (BIT(size % 64) - 1));
	return n;
}
EXPORT_SYMBOL(bitmap_weight);
