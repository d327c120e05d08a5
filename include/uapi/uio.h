/* Scattered buffers of readv(2) and writev(2). */
#pragma once

#include <uapi/types.h>

struct iovec {
	void *iov_base; /* of the program */
	__u64 iov_len;
};
#define UIO_MAXIOV  1024
#define UIO_FASTIOV 8 /* vectors of so many parts need no allocation */
/* The most one read or write moves: Linux's MAX_RW_COUNT. */
#define MAX_RW_COUNT 0x7ffff000UL
