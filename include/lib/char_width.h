/* Widths of characters on a terminal. */
#pragma once

/* Columns (0, 1 or 2) of the character of UTF-8 that the n bytes at s are; bytes that are none take one. */
unsigned utf8_columns(const char *s, unsigned n);
/* Bytes of the character at s, of which n may be read, if it is one that a terminal shows; 0: it is not. */
unsigned utf8_shown(const char *s, unsigned n);
