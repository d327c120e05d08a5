/*
 * Copies of strings and of memory in kmalloc'ed memory of their own, which the caller frees with kfree(). Context: that
 * of the gfp flags.
 */
#include <kernel/export.h>
#include <lib/string.h>
#include <mm/slab.h>

void *kmemdup(const void *p, size_t n, gfp_t gfp)
{
	void *copy = kmalloc(n, gfp);

	return copy ? memcpy(copy, p, n) : NULL;
}
EXPORT_SYMBOL(kmemdup);

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
EXPORT_SYMBOL(kstrndup);

char *kstrdup(const char *s, gfp_t gfp)
{
	return kmemdup(s, strlen(s) + 1, gfp);
}
EXPORT_SYMBOL(kstrdup);
