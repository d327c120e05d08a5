/* Terminals: their modes, their size, and the width of what is written on them. */
#ifndef VT_TERM_H
#define VT_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <termios.h>

/* --- terminal.c --- */

/*
 * Set the modes that a session begins with, `stty sane`: lines are edited and echoed, keys send signals.
 * Speed and size of characters stay. utf8: what is typed is UTF-8, and is erased by characters.
 */
void vt_sane_modes(struct termios *t, bool utf8);
/* Take O_NONBLOCK away from fd, which somebody may have left on it. Returns whether it was there. */
bool vt_set_blocking(int fd);
/*
 * The size of the terminal fd: 24 by 80 where it does not say, or fd is no terminal.
 */
struct winsize vt_terminal_size(int fd);
/*
 * The colours that `ls` and `grep` use where nobody has chosen: on a terminal, and if $CLICOLOR says that it
 * shows them. The shell sets $CLICOLOR when the terminal has answered it.
 */
bool vt_colours(int fd);

/*
 * Take the words --color[=always|auto|never] (or --colour) out of argv, up to a "--". Returns whether to use
 * colours: as the last of them says, auto and no WHEN at all being "on a terminal"; without any,
 * vt_colours(). A bad WHEN ends the program with bad_status.
 */
bool vt_colour_option(int *argc, char **argv, int bad_status);

/*
 * What a terminal is sent to make it tell its size: the cursor goes to the farthest corner, tells where it
 * is, and comes back (ECMA-48: CUP, DSR 6; DECSC, DECRC of the VT100). The answer, ESC [ ROWS ; COLUMNS R,
 * comes as input.
 */
#define VT_ASK_SIZE "\0337\033[999;999H\033[6n\0338"

/* --- char_width.c --- */

#define VT_NO_CHAR \
	0xfffd /* stands for a byte that belongs to no character: U+FFFD, REPLACEMENT CHARACTER \
		*/

/* The character of UTF-8 at s, of which there are n bytes. Returns how many it has: one when it is not UTF-8; 0
 * if n is 0. */
size_t vt_char(const char *s, size_t n, unsigned *c);
/* How many bytes a character has that begins with this one; 0: none begins so. */
unsigned vt_char_length(unsigned char lead);
/* Columns of a character that is no control character: 0 (it combines with the one before), 1 or 2. */
unsigned vt_char_columns(unsigned c);
/* Columns of n bytes of text without control characters. */
size_t vt_columns(const char *s, size_t n);

#endif
