/* Widths of characters on a terminal. */
#pragma once

/* Columns (0, 1 or 2) of the character of UTF-8 that the n bytes at s are; bytes that are none take one. */
unsigned utf8_columns(const char *s, unsigned n);
