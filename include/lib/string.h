/*
 * Memory and string functions, with the meaning of their ISO C namesakes where they have one. None of them is traced:
 * tracers and the oops path use them. Any context, no lock, except for the kmalloc'ed copies, which take the context of
 * their gfp flags.
 */
#pragma once

#include <lib/types.h>

/* As in ISO C. memcpy, memmove and memset are the machine's own; gcc also calls them by itself for structs. */
void *memcpy(void *dst, const void *src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);
/* As in ISO C and POSIX. strnstr looks at no more than `len` bytes of the haystack. */
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t max);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
char *strstr(const char *haystack, const char *needle);
char *strnstr(const char *haystack, const char *needle, size_t len);
size_t strspn(const char *s, const char *accept);
size_t strcspn(const char *s, const char *reject);
/*
 * Split at a character of `delim`: returns the token at *s and moves *s behind it, to NULL after the last. As
 * strsep(3).
 */
char *strsep(char **s, const char *delim);
/*
 * Copies at most size - 1 bytes and a terminator. Returns the length that was copied, or -E2BIG when the text was cut.
 */
ssize_t strscpy(char *dst, const char *src, size_t size);
ssize_t strscpy_pad(char *dst, const char *src, size_t size); /* the same, with zeros to the end */
/* Cuts white space off the end, and returns the first byte that is not white space. */
char *strim(char *s);
/* Does `name` match the shell pattern `pat` (* ? [a-z] [!a-z] \x)? '*' matches '/' as well. */
bool glob_match(const char *pat, const char *name);
/* The same for a name that ends after `max` bytes if no zero byte comes before. */
bool glob_match_len(const char *pat, const char *name, size_t max);

/* kmalloc'ed copies, or NULL when out of memory. kstrndup copies at most `max` bytes and adds the terminator. */
char *kstrdup(const char *s, gfp_t gfp);
char *kstrndup(const char *s, size_t max, gfp_t gfp);
void *kmemdup(const void *p, size_t n, gfp_t gfp);

static inline int isspace(int c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}
static inline int isdigit(int c)
{
	return c >= '0' && c <= '9';
}
static inline int isalpha(int c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}
static inline int isalnum(int c)
{
	return isdigit(c) || isalpha(c);
}
static inline int isprint(int c)
{
	return c >= ' ' && c < 127;
}
static inline int isxdigit(int c)
{
	return isdigit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}
/* The value of a digit in bases up to 36; a character that is not a digit gives 255, too much for every base. */
static inline unsigned digit_value(char c)
{
	return isdigit(c) ? c - '0' : isalpha(c) ? (c | 32) - 'a' + 10 : 255;
}
static inline int tolower(int c)
{
	return c >= 'A' && c <= 'Z' ? c | 32 : c;
}
static inline int toupper(int c)
{
	return c >= 'a' && c <= 'z' ? c & ~32 : c;
}

/*
 * Strict conversion of a whole string to a number. A sign is taken where it makes sense; `base` 0 takes the prefixes 0x
 * and 0; one newline at the end is allowed. Returns 0, -EINVAL for anything else, or -ERANGE when the value does not
 * fit; *res is written on success only.
 */
int kstrtoull(const char *s, unsigned base, u64 *res);
int kstrtoll(const char *s, unsigned base, s64 *res);
int kstrtoul(const char *s, unsigned base, unsigned long *res);
int kstrtol(const char *s, unsigned base, long *res);
int kstrtoint(const char *s, unsigned base, int *res);
int kstrtouint(const char *s, unsigned base, unsigned *res);
/* y n t f 1 0 on off, in upper or lower case. Returns 0 or -EINVAL. */
int kstrtobool(const char *s, bool *res);
/*
 * "64K", "1M", "2G" (up to E): the value in bytes, or U64_MAX if it is larger; *end (NULL: not wanted) is where parsing
 * stopped.
 */
u64 memparse(const char *s, char **end);
/* A number at the start of a text. No sign, no error: without a digit it is 0 and *end is s; U64_MAX for more. */
u64 simple_strtoull(const char *s, char **end, unsigned base);
