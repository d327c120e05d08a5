/* Terminal settings in the kernel's layout. */
#ifndef VT_TERMIOS_H
#define VT_TERMIOS_H

#include <sys/types.h>

typedef unsigned int tcflag_t;
typedef unsigned char cc_t;

/* The kernel's structure of TCGETS and TCSETS, not glibc's, which is longer. */
#define NCCS 19
struct termios {
	tcflag_t c_iflag;
	tcflag_t c_oflag;
	tcflag_t c_cflag;
	tcflag_t c_lflag;
	cc_t c_line;
	cc_t c_cc[NCCS];
};

/* Linux's uapi/asm-generic/termbits.h: those that userland uses. */
#define VMIN  6
#define VTIME 5

#define BRKINT 0000002
#define ISTRIP 0000040
#define INLCR  0000100
#define ICRNL  0000400
#define IXON   0002000

#define OPOST 0000001
#define ONLCR 0000004

#define ISIG   0000001
#define ICANON 0000002
#define ECHO   0000010
#define IEXTEN 0100000

#define TCSANOW	  0
#define TCSADRAIN 1
#define TCSAFLUSH 2

/* Return 0, or -1 with errno. */
int tcgetattr(int fd, struct termios *t);
int tcsetattr(int fd, int when, const struct termios *t);

#endif
