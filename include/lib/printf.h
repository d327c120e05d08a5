/*
 * Formatted text into a buffer. ISO C99 conversions without floats, and the kernel's pointer forms:
 * %p %px address, %pS name+0x1/0x2, %ps name, %pB as %pS for a return address, %pd dentry name, %*pbl bit list,
 * %*ph bytes in hex. Context: any; takes no lock, allocates nothing, is not traced.
 */
#pragma once

#include <lib/types.h>

/* Return the length that the whole text needs, as in C99, even if it was cut. size 0: nothing is stored. */
int vsnprintf(char *buf, size_t size, const char *fmt, va_list args);
int snprintf(char *buf, size_t size, const char *fmt, ...) __printf(3, 4);
/* Return the length that was stored, without the terminator: never more than size - 1. */
int vscnprintf(char *buf, size_t size, const char *fmt, va_list args);
int scnprintf(char *buf, size_t size, const char *fmt, ...) __printf(3, 4);
/* The caller must know that the text fits. */
int sprintf(char *buf, const char *fmt, ...) __printf(2, 3);
/*
 * A message in two parts: the arguments are kept as words now, and the text is made of them later with the same format
 * (in Linux's layout, which libtraceevent reads). See bin_printf.c.
 *
 * vbin_printf returns how many words it used; -EINVAL when the format has what only a text can keep (flags other than
 * 0, %c, pointers to structures); -E2BIG when the words are too few. bstr_printf returns the length that was stored, as
 * vscnprintf does; arguments that are missing from the words read as zeros. Any context.
 */
int vbin_printf(u32 *words, size_t n, const char *fmt, va_list args);
int bstr_printf(char *buf, size_t size, const char *fmt, const u32 *words, size_t n);
/* A text in kmalloc'ed memory, or NULL when out of memory. Context: that of gfp. */
char *kasprintf(gfp_t gfp, const char *fmt, ...) __printf(2, 3);
/*
 * The other way round (sscanf.c): how many variables have been set. %d %i %u %x %o with hh h l ll z, %s %c %n, a width,
 * and * for what is not stored. Any context.
 */
int vsscanf(const char *text, const char *fmt, va_list args);
int sscanf(const char *text, const char *fmt, ...) __attribute__((format(scanf, 2, 3)));
/*
 * Store the digits of `v`, right-aligned in `width` columns that are filled up with `pad`; returns the end of them and
 * stores no terminator. For output paths that are hot.
 */
char *put_dec(char *p, u64 v, int width, char pad);

/*
 * Store exactly `digits` digits, a constant; v must not have more. It needs no call and no division by a variable,
 * because a line of a trace has several such numbers.
 */
static __always_inline char *put_dec_fixed(char *p, u32 v, int digits)
{
	for (int i = digits - 1; i >= 0; i--, v /= 10)
		p[i] = '0' + v % 10;
	return p + digits;
}

/*
 * Store as many digits as v has. Most numbers of a trace are pids and priorities, so short ones take the way without a
 * call.
 */
static __always_inline char *put_dec_short(char *p, u64 v)
{
	if (v >= 1000)
		return put_dec(p, v, 0, ' ');
	if (v < 10)
		return put_dec_fixed(p, v, 1);
	return v < 100 ? put_dec_fixed(p, v, 2) : put_dec_fixed(p, v, 3);
}
