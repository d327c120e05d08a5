/* User memory on the host is memory; what lies in the first page faults. */
#pragma once
#include <lib/errno.h>
#include <lib/types.h>

static inline bool host_user_bad(const void *p)
{
	return (unsigned long)p < 4096;
}
static inline unsigned long copy_to_user(void *to, const void *from, unsigned long n)
{
	if (host_user_bad(to))
		return n;
	__builtin_memcpy(to, from, n);
	return 0;
}
static inline unsigned long copy_from_user(void *to, const void *from, unsigned long n)
{
	if (host_user_bad(from))
		return n;
	__builtin_memcpy(to, from, n);
	return 0;
}
#define put_user(v, p) (host_user_bad(p) ? -EFAULT : (*(p) = (v), 0))
#define get_user(v, p) (host_user_bad(p) ? -EFAULT : ((v) = *(p), 0))
