/* Device control requests. */
#ifndef VT_SYS_IOCTL_H
#define VT_SYS_IOCTL_H

#define TCGETS	   0x5401
#define TCSETS	   0x5402
#define TIOCSCTTY  0x540e
#define TIOCGPGRP  0x540f
#define TIOCSPGRP  0x5410
#define TIOCSTI	   0x5412
#define TIOCGWINSZ 0x5413
#define TIOCSWINSZ 0x5414
#define FIONREAD   0x541b

struct winsize {
	unsigned short ws_row, ws_col; /* characters; 0: not known */
	unsigned short ws_xpixel, ws_ypixel;
};

/* The third argument is a pointer or a long. Returns what the request returns, or -1 with errno. */
int ioctl(int fd, unsigned long request, ...);

#endif
