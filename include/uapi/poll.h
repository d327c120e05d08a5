/* poll(2) and select(2). */
#pragma once

#include <uapi/types.h>

#define POLLIN	   0x0001u
#define POLLPRI	   0x0002u
#define POLLOUT	   0x0004u
#define POLLERR	   0x0008u
#define POLLHUP	   0x0010u
#define POLLNVAL   0x0020u
#define POLLRDNORM 0x0040u
#define POLLRDBAND 0x0080u
#define POLLWRNORM 0x0100u
#define POLLWRBAND 0x0200u
#define POLLRDHUP  0x2000u

struct pollfd {
	__s32 fd;	       /* negative: passed over */
	__s16 events, revents; /* POLL* asked for, and what is there */
};
#define __FD_SETSIZE 1024 /* a C library has a number of its own for its fd_set */
