/*
 * kasprintf: formatted text in memory of its own. The text is formatted twice, first without a buffer to learn its
 * length. The arguments must not change in between; the second pass is limited to the length of the first, so a string
 * that grows is cut and never overflows.
 */
#include <kernel/export.h>
#include <lib/printf.h>
#include <mm/slab.h>

/* The first pass measures, the second one stores. A va_list can be walked only once, so it is started twice. */
char *kasprintf(gfp_t gfp, const char *fmt, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	text = kmalloc(n + 1, gfp);
	if (!text)
		return NULL;
	va_start(args, fmt);
	vsnprintf(text, n + 1, fmt, args);
	va_end(args);
	return text;
}
EXPORT_SYMBOL(kasprintf);
