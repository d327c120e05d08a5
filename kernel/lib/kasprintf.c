/* Formatted text in memory of its own. */
#include <lib/printf.h>
#include <mm/slab.h>

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
