/* User memory on the host is memory; what lies in the first page faults. */
#pragma once
#include <lib/errno.h>
#include <lib/types.h>

static inline bool host_user_bad(const void *p)
{
	return (unsigned long)p < 4096;
}
static inline bool access_ok(const void *p, unsigned long n)
{
	return !host_user_bad(p);
}
static inline unsigned long __copy_user(void *to, const void *from, unsigned long n)
{
	__builtin_memcpy(to, from, n);
	return 0;
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
/* Another task of the program does this between the load and the exchange. NULL: nothing. Once. */
static void (*host_before_exchange)(void);
struct user_value {
	u64 value;
	long error;
};
static inline struct user_value __cmpxchg_user_4(u32 from, u32 to, u32 *p)
{
	void (*before)(void) = host_before_exchange;

	host_before_exchange = NULL;
	if (host_user_bad(p))
		return (struct user_value){0, -EFAULT};
	if (before)
		before();
	__atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return (struct user_value){from, 0};
}
#define put_user(v, p) (host_user_bad(p) ? -EFAULT : (*(p) = (v), 0))
#define get_user(v, p) (host_user_bad(p) ? -EFAULT : ((v) = *(p), 0))
