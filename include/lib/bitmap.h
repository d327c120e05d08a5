/* Bit searches over arrays of unsigned long, and their text forms ("0-3,5" and hexadecimal). */
#pragma once

#include <lib/types.h>

#define BITS_TO_LONGS(n) DIV_ROUND_UP(n, 64)
/* The first bit at or after `from` that is set (or clear), or `size` when no bit is. No lock: see bitmap.c. */
unsigned find_next_bit(const unsigned long *map, unsigned size, unsigned from);
unsigned find_next_zero_bit(const unsigned long *map, unsigned size, unsigned from);
#define find_first_bit(map, size)      find_next_bit(map, size, 0)
#define find_first_zero_bit(map, size) find_next_zero_bit(map, size, 0)
/* How many of the first `size` bits are set. */
unsigned bitmap_weight(const unsigned long *map, unsigned size);

/*
 * Parse hexadecimal groups of at most 8 digits between commas and white space, in the text's first line, as
 * tracing_cpumask takes them. A text without a group gives an empty map. Returns 0, -EINVAL, or -EOVERFLOW for a longer
 * group, more groups than `size` needs, or a set bit at or behind it; the map may then hold anything. Any context.
 */
int bitmap_parse(const char *text, unsigned long *map, unsigned size);
/*
 * Print in that form, with as many hexadecimal digits as `size` needs. Returns the length that the whole text needs, as
 * snprintf does. Any context.
 */
int bitmap_print(char *buf, size_t len, const unsigned long *map, unsigned size);
/* Print as ranges, "0-3,5"; an empty map gives an empty text. Returns as bitmap_print does. */
int bitmap_print_list(char *buf, size_t len, const unsigned long *map, unsigned size);
