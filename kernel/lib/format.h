/* What the parts of vsnprintf share: where text goes, and one parsed conversion. Private to kernel/lib. */
#pragma once

#include <lib/types.h>

/* Text under construction: bytes from `room` on are counted, not stored, so that the full length is known. */
struct text_out {
	char *buf;
	size_t room; /* bytes of buf that may hold text (one more is kept for the terminator) */
	size_t len;  /* bytes of text so far, stored or not */
};

#define FORMAT_LEFT  0x01 /* '-' */
#define FORMAT_PLUS  0x02 /* '+' */
#define FORMAT_SPACE 0x04 /* ' ' */
#define FORMAT_ALT   0x08 /* '#' */
#define FORMAT_ZERO  0x10 /* '0' */
#define FORMAT_UPPER 0x20 /* X */
#define FORMAT_STAR_WIDTH     0x40 /* '*': the width is the next argument, */
#define FORMAT_STAR_PRECISION 0x80 /* and so is the precision */

struct format_spec {
	u8 flags;      /* FORMAT_* */
	u8 base;       /* 8, 10, 16 */
	char length;   /* 'H' for hh, 'h', 0, 'l', 'L' for ll; z, t and j count as 'l' */
	int width;     /* 0: none */
	int precision; /* -1: none */
};

/* Everything between '%' and the conversion letter; returns where that stands. For each star then: format_star. */
const char *format_parse(const char *fmt, struct format_spec *spec);
void format_star_width(struct format_spec *spec, int width);
void format_star_precision(struct format_spec *spec, int precision);

static inline void put_char(struct text_out *out, char c)
{
	if (out->len < out->room)
		out->buf[out->len] = c;
	out->len++;
}
void put_fill(struct text_out *out, char c, int n); /* n <= 0: nothing */
void put_bytes(struct text_out *out, const char *s, size_t n);

const char *printable_string(const char *s); /* or what to print in place of an address that is none */
void format_string(struct text_out *out, const char *s, const struct format_spec *spec);
void format_number(struct text_out *out, u64 v, bool negative, const struct format_spec *spec);
/* %p and what letters follow it; returns how many of them belong to the conversion. */
int format_pointer(struct text_out *out, const char *letters, const void *p, const struct format_spec *spec);

struct dentry;
/* %pd. The caller's reference keeps the dentry; a rename under way may show either name. */
const char *format_dentry_name(const struct dentry *dentry);
