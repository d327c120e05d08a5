/* Device control requests. */
#ifndef VT_SYS_IOCTL_H
#define VT_SYS_IOCTL_H

#include <uapi/termios.h>

/* The third argument is a pointer or a long. Returns what the request returns, or -1 with errno. */
int ioctl(int fd, unsigned long request, ...);

#endif
