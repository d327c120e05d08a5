/* Terminal settings in the kernel's layout. */
#ifndef VT_TERMIOS_H
#define VT_TERMIOS_H

#include <sys/types.h>
#include <uapi/termios.h> /* the structure of TCGETS and TCSETS, not glibc's, which is longer */

typedef unsigned int tcflag_t;
typedef unsigned char cc_t;

#define TCSANOW	  0
#define TCSADRAIN 1
#define TCSAFLUSH 2

/* Return 0, or -1 with errno. */
int tcgetattr(int fd, struct termios *t);
int tcsetattr(int fd, int when, const struct termios *t);

#endif
