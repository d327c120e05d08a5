/*
 * String functions and the searches in memory; memcpy, memmove and memset are the machine's own assembly. They are
 * plain loops over bytes: nearly all strings of a kernel are short. Only vsnprintf() copies text in words (vsprintf.c).
 *
 * The folder is compiled without call sites (NOTRACE in mk/kernel.mk), because tracers call these functions themselves.
 * There is no state; every context may call them.
 */
#include <kernel/export.h>
#include <lib/errno.h>
#include <lib/string.h>

/* Without this, gcc recognises such a loop and replaces it by a call of the very function whose body it is. */
#ifndef __clang__
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

int memcmp(const void *a, const void *b, size_t n)
{
	const u8 *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}
EXPORT_SYMBOL(memcmp);

void *memchr(const void *s, int c, size_t n)
{
	for (const u8 *p = s; n; n--, p++)
		if (*p == (u8)c)
			return (void *)p;
	return NULL;
}
EXPORT_SYMBOL(memchr);

size_t strlen(const char *s)
{
	const char *p = s;

	while (*p)
		p++;
	return p - s;
}
EXPORT_SYMBOL(strlen);

size_t strnlen(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && s[n])
		n++;
	return n;
}
EXPORT_SYMBOL(strnlen);

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (u8)*a - (u8)*b;
}
EXPORT_SYMBOL(strcmp);

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++)
		if (*a != *b || !*a)
			return (u8)*a - (u8)*b;
	return 0;
}
EXPORT_SYMBOL(strncmp);

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++)
		if (!*s)
			return NULL;
	return (char *)s;
}
EXPORT_SYMBOL(strchr);

char *strrchr(const char *s, int c)
{
	const char *last = NULL;

	do {
		if (*s == (char)c)
			last = s;
	} while (*s++);
	return (char *)last;
}
EXPORT_SYMBOL(strrchr);

/* Compares at each place that leaves room for the needle. An empty needle is found at the start. */
char *strnstr(const char *haystack, const char *needle, size_t len)
{
	size_t n = strlen(needle);

	len = strnlen(haystack, len);
	for (; len >= n; haystack++, len--)
		if (!memcmp(haystack, needle, n))
			return (char *)haystack;
	return NULL;
}
EXPORT_SYMBOL(strnstr);

char *strstr(const char *haystack, const char *needle)
{
	return strnstr(haystack, needle, SIZE_MAX);
}
EXPORT_SYMBOL(strstr);

/* The length of the start of s whose bytes are all in `set` (`in` true), or all not in it. */
static size_t span(const char *s, const char *set, bool in)
{
	size_t n = 0;

	while (s[n] && !!strchr(set, s[n]) == in)
		n++;
	return n;
}

size_t strspn(const char *s, const char *accept)
{
	return span(s, accept, true);
}
EXPORT_SYMBOL(strspn);

size_t strcspn(const char *s, const char *reject)
{
	return span(s, reject, false);
}
EXPORT_SYMBOL(strcspn);

char *strsep(char **s, const char *delim)
{
	char *token = *s, *end;

	if (!token)
		return NULL;
	end = token + strcspn(token, delim);
	*s = *end ? end + 1 : NULL;
	*end = '\0';
	return token;
}
EXPORT_SYMBOL(strsep);

ssize_t strscpy(char *dst, const char *src, size_t size)
{
	size_t n = strnlen(src, size);

	if (!size)
		return -E2BIG;
	if (n == size) {
		memcpy(dst, src, size - 1);
		dst[size - 1] = '\0';
		return -E2BIG;
	}
	memcpy(dst, src, n);
	dst[n] = '\0';
	return n;
}
EXPORT_SYMBOL(strscpy);

ssize_t strscpy_pad(char *dst, const char *src, size_t size)
{
	ssize_t n = strscpy(dst, src, size);

	if (n >= 0)
		memset(dst + n, 0, size - n);
	return n;
}
EXPORT_SYMBOL(strscpy_pad);

char *strim(char *s)
{
	size_t n = strlen(s);

	while (n && isspace(s[n - 1]))
		n--;
	s[n] = '\0';
	while (isspace(*s))
		s++;
	return s;
}
EXPORT_SYMBOL(strim);
