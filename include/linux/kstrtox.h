/* Texts to numbers. The kernel has one lenient function, for numbers without a sign; Linux has four. */
#pragma once

#include <lib/string.h>

static inline unsigned long simple_strtoul(const char *text, char **end, unsigned int base)
{
	return simple_strtoull(text, end, base);
}

static inline long simple_strtol(const char *text, char **end, unsigned int base)
{
	if (*text != '-')
		return simple_strtoull(text, end, base);
	return -(long)simple_strtoull(text + 1, end, base);
}

static inline s64 simple_strtoll(const char *text, char **end, unsigned int base)
{
	return simple_strtol(text, end, base);
}
