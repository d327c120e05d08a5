/*
 * Formatted text into a buffer. ISO C99 conversions without floats, and the kernel's pointer forms:
 * %p %px address, %pS name+0x1/0x2, %ps name, %pB as %pS for a return address, %pd dentry name, %*pbl bit list,
 * %*ph bytes in hex. Context: any; takes no lock, allocates nothing, is not traced.
 */
#pragma once

#include <lib/types.h>

/* Return the length the whole text needs, as in C99. */
int vsnprintf(char *buf, size_t size, const char *fmt, va_list args);
int snprintf(char *buf, size_t size, const char *fmt, ...) __printf(3, 4);
/* Return the length written, without the terminator: never more than size-1. */
int vscnprintf(char *buf, size_t size, const char *fmt, va_list args);
int scnprintf(char *buf, size_t size, const char *fmt, ...) __printf(3, 4);
int sprintf(char *buf, const char *fmt, ...) __printf(2, 3);
/*
 * A message in two parts: what its arguments are is kept as words now, the text is made of them later, by the same
 * format (Linux's form, which libtraceevent reads). vbin_printf: how many words, or -EINVAL: the format has what only
 * the text can keep (flags but 0, %c, pointers to things); -E2BIG: there are not so many words. bstr_printf: the
 * length written, as vscnprintf; arguments that are not in the words read as zeros.
 */
int vbin_printf(u32 *words, size_t n, const char *fmt, va_list args);
int bstr_printf(char *buf, size_t size, const char *fmt, const u32 *words, size_t n);
/* kmalloc'ed text, NULL when out of memory. */
char *kasprintf(gfp_t gfp, const char *fmt, ...) __printf(2, 3);
/* Digits of `v`, right aligned in `width` columns padded with `pad`; returns the end. For hot output paths. */
char *put_dec(char *p, u64 v, int width, char pad);

/* `digits` of them, a constant; v has no more. Without a call or a division, as lines of traces have several. */
static __always_inline char *put_dec_fixed(char *p, u32 v, int digits)
{
	for (int i = digits - 1; i >= 0; i--, v /= 10)
		p[i] = '0' + v % 10;
	return p + digits;
}

/* As many as it has. Most numbers of a trace are pids and priorities: short. */
static __always_inline char *put_dec_short(char *p, u64 v)
{
	if (v >= 1000)
		return put_dec(p, v, 0, ' ');
	if (v < 10)
		return put_dec_fixed(p, v, 1);
	return v < 100 ? put_dec_fixed(p, v, 2) : put_dec_fixed(p, v, 3);
}
