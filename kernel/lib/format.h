/*
 * What the parts of vsnprintf share: where text goes (struct text_out), one parsed conversion (struct format_spec), and
 * the functions that print one value. Private to kernel/lib; vsprintf.c, vsprintf_pointer.c and bin_printf.c include
 * it.
 *
 * All functions here may be called in any context. They take no lock, allocate nothing and cannot fail: what does not
 * fit is counted and dropped.
 */
#pragma once

#include <lib/types.h>

/*
 * Text under construction. Bytes behind `room` are counted but not stored, so that the length of the whole text is
 * known in the end.
 */
struct text_out {
	char *buf;
	size_t room; /* bytes of buf that may hold text (one more is kept for the terminator) */
	size_t len;  /* bytes of text so far, stored or not */
};

#define FORMAT_LEFT	      0x01 /* '-' */
#define FORMAT_PLUS	      0x02 /* '+' */
#define FORMAT_SPACE	      0x04 /* ' ' */
#define FORMAT_ALT	      0x08 /* '#' */
#define FORMAT_ZERO	      0x10 /* '0' */
#define FORMAT_UPPER	      0x20 /* X */
#define FORMAT_STAR_WIDTH     0x40 /* '*': the width is an argument that comes before the value */
#define FORMAT_STAR_PRECISION 0x80 /* the same for the precision; it comes after the width */

/* One conversion as format_parse() read it. */
struct format_spec {
	u8 flags;      /* FORMAT_* */
	u8 base;       /* 8, 10, 16 */
	char length;   /* 'H' for hh, 'h', 0, 'l', 'L' for ll; z, t and j count as 'l' */
	int width;     /* least number of columns; 0 when the format gives no width */
	int precision; /* -1 when the format gives no precision */
};

/*
 * Parse what stands between '%' (fmt points behind it) and the conversion letter; returns a pointer to the letter. For
 * each FORMAT_STAR_* flag the caller must take an int argument and pass it to the function of that name below.
 */
const char *format_parse(const char *fmt, struct format_spec *spec);
void format_star_width(struct format_spec *spec, int width);
void format_star_precision(struct format_spec *spec, int precision);

static inline void put_char(struct text_out *out, char c)
{
	if (out->len < out->room)
		out->buf[out->len] = c;
	out->len++;
}
void put_fill(struct text_out *out, char c, int n); /* n times; n <= 0: nothing */
/* What does not fit is counted and not stored. Any context. */
void put_bytes(struct text_out *out, const char *s, size_t n);

/* `s` itself, or a text to print in its place when it is NULL, close to it, or an ERR_PTR. */
const char *printable_string(const char *s);
/* A string with the width and precision of spec. */
void format_string(struct text_out *out, const char *s, const struct format_spec *spec);
/* The number v (its absolute value when `negative`) in spec->base. */
void format_number(struct text_out *out, u64 v, bool negative, const struct format_spec *spec);
/*
 * Print %p and its variants. `letters` points behind the 'p'; returns how many letters from there belong to the
 * conversion.
 */
int format_pointer(struct text_out *out, const char *letters, const void *p, const struct format_spec *spec);

struct dentry;
/*
 * The name for %pd. The caller's reference keeps the dentry; during a rename this may be the old name or the new one.
 */
const char *format_dentry_name(const struct dentry *dentry);
