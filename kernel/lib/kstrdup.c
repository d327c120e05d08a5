/* Copies of strings and memory in memory of their own. */
#include <lib/string.h>
#include <mm/slab.h>

void *kmemdup(const void *p, size_t n, gfp_t gfp)
{
	void *copy = kmalloc(n, gfp);

	return copy ? memcpy(copy, p, n) : NULL;
}

char *kstrndup(const char *s, size_t max, gfp_t gfp)
{
	size_t n = strnlen(s, max);
	char *copy = kmalloc(n + 1, gfp);

	if (!copy)
		return NULL;
	memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *kstrdup(const char *s, gfp_t gfp)
{
	return kmemdup(s, strlen(s) + 1, gfp);
}
