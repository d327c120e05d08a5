/* Texts and memory. */
#pragma once

#include <lib/string.h>

/* Examples use them. strscpy() is better: it writes no further than the size that it is told. */
static inline char *strcpy(char *dst, const char *src)
{
	memcpy(dst, src, strlen(src) + 1);
	return dst;
}
static inline char *strncpy(char *dst, const char *src, size_t n)
{
	size_t len = strnlen(src, n);

	memcpy(dst, src, len);
	memset(dst + len, 0, n - len);
	return dst;
}
static inline char *strcat(char *dst, const char *src)
{
	strcpy(dst + strlen(dst), src);
	return dst;
}
static inline char *strncat(char *dst, const char *src, size_t n)
{
	char *end = dst + strlen(dst);
	size_t len = strnlen(src, n);

	memcpy(end, src, len);
	end[len] = '\0';
	return dst;
}
