/* Widths of UTF-8 characters on a terminal. Any context, no lock. */
#pragma once

/* How many columns (0, 1 or 2) the character in the n bytes at s takes. Bytes that are not UTF-8 take one. */
unsigned utf8_columns(const char *s, unsigned n);
/* How many bytes the character at s has, if a terminal shows it; 0 if it does not. Reads at most n bytes. */
unsigned utf8_shown(const char *s, unsigned n);
