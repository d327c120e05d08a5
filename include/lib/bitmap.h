/* Bit searches over arrays of unsigned long, and their text forms ("0-3,5" and hexadecimal). */
#pragma once

#include <lib/types.h>

#define BITS_TO_LONGS(n) DIV_ROUND_UP(n, 64)
/* Return the number of the bit, or `size` when there is none. */
unsigned find_next_bit(const unsigned long *map, unsigned size, unsigned from);
unsigned find_next_zero_bit(const unsigned long *map, unsigned size, unsigned from);
#define find_first_bit(map, size)      find_next_bit(map, size, 0)
#define find_first_zero_bit(map, size) find_next_zero_bit(map, size, 0)
unsigned bitmap_weight(const unsigned long *map, unsigned size);

/*
 * Parse hexadecimal groups of at most 8 digits separated by commas, as tracing_cpumask takes; white space around
 * them is ignored, no group at all is 0. Returns 0, -EINVAL, or -EOVERFLOW for a longer group or a set bit at or past
 * `size`; on error the map holds anything.
 */
int bitmap_parse(const char *text, unsigned long *map, unsigned size);
/* Print so: as many hex digits as `size` needs. Returns the length that the whole text needs, as snprintf does. */
int bitmap_print(char *buf, size_t len, const unsigned long *map, unsigned size);
/* Print as ranges, "0-3,5", empty for none. Returns as bitmap_print. */
int bitmap_print_list(char *buf, size_t len, const unsigned long *map, unsigned size);
