/*
 * The texts of error numbers.
 *
 * newlib's own table is by newlib's numbers, which are not the kernel's from 35 up. The kernel's own come with their
 * texts; a number that neither it nor the library can return has none.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const error_texts[] = {
#include <uapi/errno_texts.h>
	[ENOTBLK] = "Block device required",
	[ENOLCK] = "No locks available",
	[ETIME] = "Timer expired",
	[EILSEQ] = "Invalid or incomplete multibyte or wide character",
};

/* Returns the text for err; for a number without one, a text with the number, overwritten by the next such
 * call. */
char *strerror(int err)
{
	static char unknown[32];

	if (err >= 0 && err < (int)(sizeof(error_texts) / sizeof(error_texts[0])) && error_texts[err])
		return (char *)error_texts[err];
	siprintf(unknown, "Unknown error %d", err);
	return unknown;
}
