/* A piece of kernel memory, for calls that take several. */
#pragma once

#include <lib/types.h>

struct kvec {
	void *iov_base; /* linear map, unless the call says otherwise */
	size_t iov_len; /* bytes */
};
